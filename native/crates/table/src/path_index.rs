//! Lookup of a path within a virtual host: the exact path, then prefixes by path element, longest first; and the matches of each.
//! Paths are compared as received: no decoding, case-sensitive. No allocation.

use crate::hash::State;
use crate::layout::{
    HeaderRecord, MatchRecord, NONE, PATH_EXACT, PATH_PREFIX, PREFIX_LEVELS_NONE, PathEntry, PathSlot, Section,
    VirtualHostRecord,
};
use crate::table::{ActionIdx, Range, StrRef, Table, VirtualHostIdx};

/// Hashes of element boundaries that are kept; deeper ones (configured prefixes of more elements) are computed again.
const KEPT_LEVELS: usize = 32;

/// Matches that share one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRun {
    pub(crate) matches: Range,
}

/// The runs whose path fits, most specific first: exact, then prefixes from long to short.
#[derive(Debug)]
pub struct PathRuns<'t, 'p, B> {
    table: &'t Table<B>,
    virtual_host: u32,
    path: &'p [u8],
    exact: Option<u32>,
    /// State of the hash at the first boundaries, with their positions.
    kept: [(State, u32); KEPT_LEVELS],
    /// Boundaries not yet tried.
    levels: u32,
}

/// One match after host and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// What the request gets.
    pub action: ActionIdx,
    /// Empty: any method.
    pub method: StrRef,
    /// Header conditions; read them with `Table::header_condition`.
    pub headers: Range,
}

/// The matches of a run in order.
#[derive(Debug)]
pub struct Matches<'t, B> {
    table: &'t Table<B>,
    next: u32,
    end: u32,
}

impl<B: AsRef<[u8]>> Table<B> {
    /// Runs of matches whose path fits `path` (no query), most specific first.
    ///
    /// A prefix matches whole elements: `/v2` fits `/v2`, `/v2/` and `/v2/x`, not `/v2x`; the prefix `/` fits every path,
    /// `*` included. Cost: O(bytes + elements) up to the depth of the deepest prefix of the virtual host.
    #[inline]
    pub fn paths<'t, 'p>(&'t self, virtual_host: VirtualHostIdx, path: &'p [u8]) -> PathRuns<'t, 'p, B> {
        let host: VirtualHostRecord = self.record(Section::VirtualHosts, virtual_host.0);
        let start = State::new(self.header.hash_seed, virtual_host.0);
        let mut runs = PathRuns {
            table: self,
            virtual_host: virtual_host.0,
            path,
            exact: (host.has_exact != 0).then(|| start.extend(path).finish(PATH_EXACT)),
            kept: [(start, 0); KEPT_LEVELS],
            levels: 0,
        };
        if host.prefix_levels != PREFIX_LEVELS_NONE {
            runs.collect_boundaries(start, host.prefix_levels);
        }
        runs
    }

    /// A condition on a header: lower-case name, exact value.
    #[inline]
    pub fn header_condition(&self, index: u32) -> (&[u8], &[u8]) {
        let r: HeaderRecord = self.record(Section::Headers, index);
        let bytes = self.bytes.as_ref();
        (
            self.directory.text(bytes, r.name_offset, r.name_length),
            self.directory.text(bytes, r.value_offset, r.value_length),
        )
    }

    /// The matches of a run in order of precedence.
    #[inline]
    pub fn matches(&self, run: PathRun) -> Matches<'_, B> {
        Matches { table: self, next: run.matches.first, end: run.matches.first.saturating_add(run.matches.count) }
    }

    fn path_entry(&self, virtual_host: u32, kind: u32, hash: u32, path: &[u8]) -> Option<PathRun> {
        let slots = self.directory.count(Section::PathSlots);
        let mask = slots.wrapping_sub(1);
        for step in 0..self.header.path_probe {
            let slot: PathSlot = self.record(Section::PathSlots, hash.wrapping_add(step) & mask);
            if slot.entry == NONE || slots == 0 {
                return None;
            }
            if slot.hash == hash {
                let entry: PathEntry = self.record(Section::PathEntries, slot.entry);
                let text = self.directory.text(self.bytes.as_ref(), entry.path_offset, entry.path_length);
                if entry.virtual_host == virtual_host && entry.kind == kind && text == path {
                    return Some(PathRun { matches: Range { first: entry.match_first, count: entry.match_count } });
                }
            }
        }
        None
    }
}

impl<B: AsRef<[u8]>> PathRuns<'_, '_, B> {
    /// Records the hash at each boundary: before the first element (the prefix `/`), then after each element.
    #[inline(always)]
    fn collect_boundaries(&mut self, start: State, deepest: u32) {
        self.levels = 1;
        let mut hash = start;
        let mut position = 0;
        while self.levels <= deepest && position < self.path.len() {
            hash.push(self.path[position]);
            position += 1;
            while position < self.path.len() && self.path[position] != b'/' {
                hash.push(self.path[position]);
                position += 1;
            }
            if let Some(kept) = self.kept.get_mut(self.levels as usize) {
                *kept = (hash, position as u32);
            }
            self.levels += 1;
        }
    }

    /// Hash and end of the boundary at `level`; O(1) for the first levels, O(bytes) beyond.
    #[inline(always)]
    fn boundary(&self, level: u32) -> (State, usize) {
        if let Some(&(hash, position)) = self.kept.get(level as usize) {
            return (hash, position as usize);
        }
        let (mut hash, position) = self.kept[KEPT_LEVELS - 1];
        let mut position = position as usize;
        for _ in KEPT_LEVELS as u32 - 1..level {
            let mut first = true;
            while position < self.path.len() && (first || self.path[position] != b'/') {
                hash.push(self.path[position]);
                position += 1;
                first = false;
            }
        }
        (hash, position)
    }
}

impl<B: AsRef<[u8]>> Iterator for PathRuns<'_, '_, B> {
    type Item = PathRun;

    #[inline]
    fn next(&mut self) -> Option<PathRun> {
        if let Some(hash) = self.exact.take()
            && let Some(run) = self.table.path_entry(self.virtual_host, PATH_EXACT, hash, self.path)
        {
            return Some(run);
        }
        while self.levels > 0 {
            self.levels -= 1;
            let (hash, end) = self.boundary(self.levels);
            let prefix = &self.path[..end];
            if let Some(run) = self.table.path_entry(self.virtual_host, PATH_PREFIX, hash.finish(PATH_PREFIX), prefix) {
                return Some(run);
            }
        }
        None
    }
}

impl<B: AsRef<[u8]>> Iterator for Matches<'_, B> {
    type Item = Match;

    #[inline]
    fn next(&mut self) -> Option<Match> {
        if self.next >= self.end {
            return None;
        }
        let r: MatchRecord = self.table.record(Section::Matches, self.next);
        self.next += 1;
        Some(Match {
            action: ActionIdx(r.action),
            method: StrRef { offset: r.method_offset, length: r.method_length },
            headers: Range { first: r.header_first, count: r.header_count },
        })
    }
}
