//! Lookup of a host name in a trie of reversed labels, exact and multi-label wildcard. No allocation; case folded on the fly.
//! The values found are walked from the most specific to the least by going up the parents, so no list of them is kept.

use crate::hash::State;
use crate::layout::{HostEdge, HostNode, NONE, Section, VirtualHostRecord};
use crate::table::{ListenerIdx, Table, VirtualHostIdx};

/// The values that fit a host name, most specific first: exact, then wildcards from deep to shallow, then "any name".
#[derive(Debug)]
pub struct HostMatches<'t, B> {
    table: &'t Table<B>,
    /// Node whose wildcard is looked at next.
    node: u32,
    exact: u32,
}

impl<B: AsRef<[u8]>> Iterator for HostMatches<'_, B> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.exact != NONE {
            return Some(core::mem::replace(&mut self.exact, NONE));
        }
        // Ends, for a parent always stands before its children (checked by `validate`).
        while self.node != NONE {
            let node: HostNode = self.table.record(Section::HostNodes, self.node);
            self.node = if node.parent < self.node { node.parent } else { NONE };
            if node.wildcard != NONE {
                return Some(node.wildcard);
            }
        }
        None
    }
}

impl<B: AsRef<[u8]>> Table<B> {
    /// Listeners of a socket that fit `host`, most specific first; the first one owns the request.
    ///
    /// `root`: `Socket::listener_root`. Host and cost: see `hosts`.
    #[inline]
    pub fn listeners(&self, root: u32, host: &[u8]) -> impl Iterator<Item = ListenerIdx> {
        self.hosts(root, host).map(ListenerIdx)
    }

    /// Virtual hosts of a listener that fit `host`, most specific first; a request falls through to the next.
    ///
    /// `root`: `Listener::route_root`. Host and cost: see `hosts`.
    #[inline]
    pub fn virtual_hosts(&self, root: u32, host: &[u8]) -> impl Iterator<Item = VirtualHostIdx> {
        self.hosts(root, host).flat_map(move |first| {
            core::iter::successors(Some(VirtualHostIdx(first)), move |host| self.next_virtual_host(*host))
        })
    }

    /// Values of a trie that fit `host`, most specific first.
    ///
    /// `host`: without port, any case, one trailing dot allowed. A wildcard takes one or more labels; a root's value takes
    /// any name, the empty one included. Cost: O(labels of the deepest name in the trie), no allocation.
    #[inline]
    pub fn hosts(&self, root: u32, host: &[u8]) -> HostMatches<'_, B> {
        let mut rest = host.strip_suffix(b".").unwrap_or(host);
        let mut node = root;
        if root >= self.directory.count(Section::HostNodes) {
            return HostMatches { table: self, node: NONE, exact: NONE };
        }
        while !rest.is_empty() {
            let start = rest.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
            let mut hash = State::new(self.header.hash_seed, node);
            for &byte in &rest[start..] {
                hash.push(byte.to_ascii_lowercase());
            }
            let Some(child) = self.host_child(node, hash.finish(0), &rest[start..]) else {
                // Something is left of `node`'s own name, so its wildcard and those above fit.
                return HostMatches { table: self, node, exact: NONE };
            };
            node = child;
            if start == 1 {
                // A name with an empty first label is neither this node's own name nor one below it.
                let leading_dot: HostNode = self.record(Section::HostNodes, node);
                return HostMatches { table: self, node: leading_dot.parent, exact: NONE };
            }
            rest = &rest[..start.saturating_sub(1)];
        }
        if node == root {
            return HostMatches { table: self, node, exact: NONE };
        }
        // The whole name is used up: this node's exact value fits, its wildcard (one label more at least) does not.
        let found: HostNode = self.record(Section::HostNodes, node);
        HostMatches { table: self, node: found.parent, exact: found.exact }
    }

    #[inline]
    fn next_virtual_host(&self, i: VirtualHostIdx) -> Option<VirtualHostIdx> {
        let r: VirtualHostRecord = self.record(Section::VirtualHosts, i.0);
        // Ends, for the next one always stands later (checked by `validate`).
        VirtualHostIdx::some(r.next).filter(|next| *next > i)
    }

    #[inline(always)]
    fn host_child(&self, parent: u32, hash: u32, label: &[u8]) -> Option<u32> {
        let slots = self.directory.count(Section::HostEdges);
        let mask = slots.wrapping_sub(1);
        for step in 0..self.header.host_probe {
            let edge: HostEdge = self.record(Section::HostEdges, hash.wrapping_add(step) & mask);
            if edge.child == NONE || slots == 0 {
                return None;
            }
            if edge.hash == hash {
                let node: HostNode = self.record(Section::HostNodes, edge.child);
                let text = self.directory.text(self.bytes.as_ref(), node.label_offset, node.label_length);
                if node.parent == parent && text.eq_ignore_ascii_case(label) {
                    return Some(edge.child);
                }
            }
        }
        None
    }
}
