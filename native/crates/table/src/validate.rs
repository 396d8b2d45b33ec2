//! The one strict check of a table: every length, index, order and hash slot. What passes cannot make an accessor fail.
//! Cycles are impossible by construction: a node's parent stands before it, and every run lies right after the one before.
//! The indexes (`host_edges`, `path_slots`) are checked in `validate_index`.

use std::collections::HashMap;

use crate::error::TableError;
use crate::layout::{
    ActionRecord, BACKEND_CLUSTER, BACKEND_INVALID, BackendRecord, FLAG_ACCESS_LOG, FLAG_VIA, Header, HeaderRecord,
    HostNode, LAYOUT_HASH, ListenerRecord, MAGIC, MAX_LABELS, MAX_SEQUENCE, MAX_SETS, MAX_SLOTS, MAX_SOCKETS,
    MAX_TABLE_BYTES, MatchRecord, NONE, NetworkRecord, PATH_EXACT, PATH_PREFIX, PREFIX_LEVELS_NONE, PROTOCOL_HTTP,
    PROTOCOL_NONE, PROTOCOL_TCP, PathEntry, Record, SECTION_COUNT, SECTIONS, Section, SectionEntry, SequenceEntry,
    SettingsRecord, SocketRecord, VirtualHostRecord,
};
use crate::reader::Directory;
use crate::validate_index;

/// Checks all of `bytes` and returns what accessors need.
pub(crate) fn check(bytes: &[u8]) -> Result<(Header, Directory), TableError> {
    let header = check_header(bytes)?;
    let directory = check_directory(bytes, header.length)?;
    let checker = Checker { bytes, directory, header };
    checker.settings()?;
    checker.listeners()?;
    let tries = checker.sockets()?;
    checker.host_nodes(tries)?;
    validate_index::host_edges(&checker)?;
    checker.virtual_hosts()?;
    checker.path_entries()?;
    validate_index::path_slots(&checker)?;
    checker.matches()?;
    checker.header_conditions()?;
    checker.actions()?;
    Ok((header, directory))
}

fn check_header(bytes: &[u8]) -> Result<Header, TableError> {
    let least = Header::SIZE + SECTION_COUNT * SectionEntry::SIZE;
    if bytes.len() < least || bytes.len() > MAX_TABLE_BYTES {
        return Err(TableError::Length { expected: least as u64, got: bytes.len() as u64 });
    }
    let header = Header::read(bytes);
    if header.magic != MAGIC {
        return Err(TableError::Magic { expected: MAGIC, got: header.magic });
    }
    if header.layout_hash != LAYOUT_HASH || header.sections as usize != SECTION_COUNT {
        return Err(TableError::LayoutHash { expected: LAYOUT_HASH, got: header.layout_hash });
    }
    if header.length as usize != bytes.len() {
        return Err(TableError::Length { expected: u64::from(header.length), got: bytes.len() as u64 });
    }
    Ok(header)
}

fn check_directory(bytes: &[u8], length: u32) -> Result<Directory, TableError> {
    let mut entries = [SectionEntry { offset: 0, count: 0 }; SECTIONS.len()];
    let mut end = (Header::SIZE + SECTION_COUNT * SectionEntry::SIZE) as u64;
    for (i, &(section, size)) in SECTIONS.iter().enumerate() {
        let entry = SectionEntry::read(&bytes[Header::SIZE + i * SectionEntry::SIZE..]);
        let start = u64::from(entry.offset);
        let stop = start + u64::from(entry.count) * size as u64;
        if start % 8 != 0 || start < end || stop > u64::from(length) {
            return Err(TableError::Section { section, offset: entry.offset, count: entry.count });
        }
        end = stop;
        entries[i] = entry;
    }
    Ok(Directory(entries))
}

/// What the values of a trie are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trie {
    Unused,
    Listeners,
    VirtualHosts,
}

pub(crate) struct Checker<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) directory: Directory,
    pub(crate) header: Header,
}

/// A record under check: builds the error for one of its fields.
#[derive(Clone, Copy)]
pub(crate) struct At {
    section: Section,
    index: u32,
}

impl At {
    pub(crate) fn require(
        self,
        good: bool,
        field: &'static str,
        value: u32,
        why: &'static str,
    ) -> Result<(), TableError> {
        if good {
            return Ok(());
        }
        Err(TableError::Field { section: SECTIONS[self.section as usize].0, index: self.index, field, value, why })
    }
}

/// Runs of one section that must follow each other without gap from 0 to its end.
struct Runs {
    next: u32,
    total: u32,
}

impl Runs {
    fn take(&mut self, at: At, field: &'static str, first: u32, count: u32) -> Result<(), TableError> {
        at.require(first == self.next, field, first, "runs must follow each other without a gap")?;
        at.require(count <= self.total - self.next, field, count, "run ends beyond its section")?;
        self.next += count;
        Ok(())
    }

    fn finish(self, section: Section) -> Result<(), TableError> {
        if self.next == self.total {
            return Ok(());
        }
        Err(count_error(section, self.total, "some records belong to no run"))
    }
}

pub(crate) fn count_error(section: Section, count: u32, why: &'static str) -> TableError {
    TableError::Count { section: SECTIONS[section as usize].0, count, why }
}

impl<'b> Checker<'b> {
    pub(crate) fn count(&self, section: Section) -> u32 {
        self.directory.count(section)
    }

    pub(crate) fn record<R: Record>(&self, section: Section, index: u32) -> R {
        self.directory.record(self.bytes, section, index)
    }

    /// All records of a section with their place for errors.
    fn all<R: Record>(&self, section: Section) -> impl Iterator<Item = (At, R)> + '_ {
        (0..self.count(section)).map(move |index| (At { section, index }, self.record(section, index)))
    }

    pub(crate) fn at(&self, section: Section, index: u32) -> At {
        At { section, index }
    }

    fn runs(&self, section: Section) -> Runs {
        Runs { next: 0, total: self.count(section) }
    }

    /// The text at offset and length, which must lie within the strings.
    pub(crate) fn text(&self, at: At, field: &'static str, offset: u32, length: u32) -> Result<&'b [u8], TableError> {
        let fits = u64::from(offset) + u64::from(length) <= u64::from(self.count(Section::Strings));
        at.require(fits, field, offset, "text ends beyond the strings")?;
        Ok(self.directory.text(self.bytes, offset, length))
    }

    fn settings(&self) -> Result<(), TableError> {
        let count = self.count(Section::Settings);
        if count != 1 {
            return Err(count_error(Section::Settings, count, "must be one"));
        }
        let at = self.at(Section::Settings, 0);
        let r: SettingsRecord = self.record(Section::Settings, 0);
        at.require(r.flags & !(FLAG_VIA | FLAG_ACCESS_LOG) == 0, "flags", r.flags, "unknown flag")?;
        at.require(r.max_head_bytes > 0, "max_head_bytes", 0, "must not be 0")?;
        at.require(r.max_headers > 0, "max_headers", 0, "must not be 0")?;
        let target = self.text(at, "log_target", r.log_target_offset, r.log_target_length)?;
        let wants_target = r.flags & FLAG_ACCESS_LOG != 0;
        at.require(target.is_empty() != wants_target, "log_target", r.log_target_length, "must go with the access log")
    }

    fn listeners(&self) -> Result<(), TableError> {
        let mut networks = self.runs(Section::Networks);
        for (at, r) in self.all::<ListenerRecord>(Section::Listeners) {
            at.require((r.slot as usize) < MAX_SLOTS, "slot", r.slot, "no such slot")?;
            match r.protocol {
                PROTOCOL_HTTP => {
                    at.require(r.tcp_action == NONE, "tcp_action", r.tcp_action, "must be none for HTTP")?;
                }
                PROTOCOL_TCP => {
                    at.require(r.route_root == NONE, "route_root", r.route_root, "must be none for TCP")?;
                    let known = r.tcp_action == NONE || r.tcp_action < self.count(Section::Actions);
                    at.require(known, "tcp_action", r.tcp_action, "no such action")?;
                }
                other => return at.require(false, "protocol", other, "unknown protocol"),
            }
            networks.take(at, "trusted", r.trusted_first, r.trusted_count)?;
            self.networks(r.trusted_first, r.trusted_count)?;
            self.text(at, "name", r.name_offset, r.name_length)?;
            self.text(at, "hostname", r.hostname_offset, r.hostname_length)?;
        }
        networks.finish(Section::Networks)
    }

    fn networks(&self, first: u32, count: u32) -> Result<(), TableError> {
        let mut last = None;
        for index in first..first + count {
            let at = self.at(Section::Networks, index);
            let r: NetworkRecord = self.record(Section::Networks, index);
            let high_half_is_zero = r.low[..12] == [0; 12] && r.high[..12] == [0; 12];
            at.require(r.family == 6 || r.family == 4 && high_half_is_zero, "family", r.family, "must be 4 or 6")?;
            at.require(r.low <= r.high, "high", index, "must not be below low")?;
            at.require(last < Some((r.family, r.low)), "low", index, "must be sorted and disjoint")?;
            last = Some((r.family, r.high));
        }
        Ok(())
    }

    /// Checks sockets and returns what each node is the root of.
    fn sockets(&self) -> Result<Vec<Trie>, TableError> {
        let count = self.count(Section::Sockets);
        if count as usize > MAX_SOCKETS {
            return Err(count_error(Section::Sockets, count, "too many"));
        }
        let mut tries = vec![Trie::Unused; self.count(Section::HostNodes) as usize];
        for (at, r) in self.all::<SocketRecord>(Section::Sockets) {
            self.text(at, "key", r.key_offset, r.key_length)?;
            match r.protocol {
                PROTOCOL_NONE => {}
                PROTOCOL_HTTP => {
                    self.require_listener(at, "first_listener", r.first_listener, PROTOCOL_HTTP)?;
                    at.require(r.tcp_listener == NONE, "tcp_listener", r.tcp_listener, "must be none for HTTP")?;
                    self.claim_root(&mut tries, at, "listener_root", r.listener_root, Trie::Listeners)?;
                }
                PROTOCOL_TCP => {
                    at.require(r.listener_root == NONE, "listener_root", r.listener_root, "must be none for TCP")?;
                    self.require_listener(at, "tcp_listener", r.tcp_listener, PROTOCOL_TCP)?;
                    self.require_listener(at, "first_listener", r.first_listener, PROTOCOL_TCP)?;
                }
                other => at.require(false, "protocol", other, "unknown protocol")?,
            }
        }
        for (at, r) in self.all::<ListenerRecord>(Section::Listeners) {
            if r.protocol == PROTOCOL_HTTP {
                self.claim_root(&mut tries, at, "route_root", r.route_root, Trie::VirtualHosts)?;
            }
        }
        Ok(tries)
    }

    fn claim_root(
        &self,
        tries: &mut [Trie],
        at: At,
        field: &'static str,
        root: u32,
        kind: Trie,
    ) -> Result<(), TableError> {
        let slot = tries.get_mut(root as usize);
        at.require(slot.is_some(), field, root, "no such node")?;
        let node: HostNode = self.record(Section::HostNodes, root);
        at.require(node.parent == NONE, field, root, "names a node that is no root")?;
        if let Some(slot) = slot {
            at.require(*slot == Trie::Unused, field, root, "root is used twice")?;
            *slot = kind;
        }
        Ok(())
    }

    fn require_listener(&self, at: At, field: &'static str, index: u32, protocol: u32) -> Result<(), TableError> {
        at.require(index < self.count(Section::Listeners), field, index, "no such listener")?;
        let r: ListenerRecord = self.record(Section::Listeners, index);
        at.require(r.protocol == protocol, field, index, "listener of another protocol")
    }

    /// `tries` holds the kind of each root; it is handed down to the children, which come later.
    fn host_nodes(&self, mut tries: Vec<Trie>) -> Result<(), TableError> {
        let mut depths = vec![0u8; tries.len()];
        for (at, r) in self.all::<HostNode>(Section::HostNodes) {
            let index = at.index as usize;
            let label = self.text(at, "label", r.label_offset, r.label_length)?;
            if r.parent == NONE {
                at.require(label.is_empty(), "label", r.label_length, "a root has no label")?;
                at.require(r.exact == NONE, "exact", r.exact, "a root has no exact value")?;
            } else {
                at.require(r.parent < at.index, "parent", r.parent, "must stand before its children")?;
                let plain = !label.is_empty() && label.iter().all(|b| *b != b'.' && !b.is_ascii_uppercase());
                at.require(plain, "label", r.label_length, "must be a lower-case label")?;
                depths[index] = depths[r.parent as usize].saturating_add(1);
                at.require(usize::from(depths[index]) <= MAX_LABELS, "parent", r.parent, "too deep")?;
                tries[index] = tries[r.parent as usize];
            }
            for (field, value) in [("exact", r.exact), ("wildcard", r.wildcard)] {
                if value == NONE {
                    continue;
                }
                match tries[index] {
                    Trie::Listeners => self.require_listener(at, field, value, PROTOCOL_HTTP)?,
                    Trie::VirtualHosts => {
                        at.require(value < self.count(Section::VirtualHosts), field, value, "no such virtual host")?;
                    }
                    Trie::Unused => at.require(false, field, value, "belongs to no socket or listener")?,
                }
            }
        }
        Ok(())
    }

    fn virtual_hosts(&self) -> Result<(), TableError> {
        let mut entries = self.runs(Section::PathEntries);
        for (at, r) in self.all::<VirtualHostRecord>(Section::VirtualHosts) {
            self.text(at, "hostname", r.hostname_offset, r.hostname_length)?;
            entries.take(at, "entries", r.entry_first, r.entry_count)?;
            at.require(r.has_exact <= 1, "has_exact", r.has_exact, "must be 0 or 1")?;
            let next_is_later = r.next == NONE || r.next > at.index && r.next < self.count(Section::VirtualHosts);
            at.require(next_is_later, "next", r.next, "must be a later virtual host")?;
            let (mut has_exact, mut levels) = (0, PREFIX_LEVELS_NONE);
            for index in r.entry_first..r.entry_first + r.entry_count {
                let entry: PathEntry = self.record(Section::PathEntries, index);
                let place = self.at(Section::PathEntries, index);
                place.require(
                    entry.virtual_host == at.index,
                    "virtual_host",
                    entry.virtual_host,
                    "entry of another host",
                )?;
                let path = self.text(place, "path", entry.path_offset, entry.path_length)?;
                if entry.kind == PATH_EXACT {
                    has_exact = 1;
                } else {
                    let own = path.iter().filter(|b| **b == b'/').count() as u32;
                    levels = if levels == PREFIX_LEVELS_NONE { own } else { levels.max(own) };
                }
            }
            at.require(r.has_exact == has_exact, "has_exact", r.has_exact, "does not fit the entries")?;
            at.require(r.prefix_levels == levels, "prefix_levels", r.prefix_levels, "does not fit the entries")?;
        }
        entries.finish(Section::PathEntries)
    }

    fn path_entries(&self) -> Result<(), TableError> {
        let mut matches = self.runs(Section::Matches);
        for (at, r) in self.all::<PathEntry>(Section::PathEntries) {
            let path = self.text(at, "path", r.path_offset, r.path_length)?;
            match r.kind {
                PATH_EXACT => {}
                PATH_PREFIX => {
                    at.require(!path.ends_with(b"/"), "path", r.path_length, "a prefix has no trailing slash")?
                }
                other => at.require(false, "kind", other, "unknown kind of path")?,
            }
            matches.take(at, "matches", r.match_first, r.match_count)?;
            at.require(r.match_count > 0, "matches", 0, "a path needs a match")?;
        }
        matches.finish(Section::Matches)
    }

    fn matches(&self) -> Result<(), TableError> {
        let mut headers = self.runs(Section::Headers);
        for (at, r) in self.all::<MatchRecord>(Section::Matches) {
            at.require(r.action < self.count(Section::Actions), "action", r.action, "no such action")?;
            self.text(at, "method", r.method_offset, r.method_length)?;
            headers.take(at, "headers", r.header_first, r.header_count)?;
        }
        headers.finish(Section::Headers)
    }

    fn header_conditions(&self) -> Result<(), TableError> {
        for (at, r) in self.all::<HeaderRecord>(Section::Headers) {
            let name = self.text(at, "name", r.name_offset, r.name_length)?;
            let plain = !name.is_empty() && !name.iter().any(u8::is_ascii_uppercase);
            at.require(plain, "name", r.name_length, "must be a lower-case name")?;
            self.text(at, "value", r.value_offset, r.value_length)?;
        }
        Ok(())
    }

    fn actions(&self) -> Result<(), TableError> {
        let mut backends = self.runs(Section::Backends);
        let mut sequences = self.runs(Section::Sequences);
        // Largest backend in each run of a sequence. Only whole runs are shared, so each is read once.
        let mut largest = HashMap::new();
        for (at, r) in self.all::<ActionRecord>(Section::Actions) {
            at.require((r.slot as usize) < MAX_SLOTS, "slot", r.slot, "no such slot")?;
            self.text(at, "name", r.name_offset, r.name_length)?;
            backends.take(at, "backends", r.backend_first, r.backend_count)?;
            self.backends(r.backend_first, r.backend_count)?;
            if r.sequence_count == 0 {
                continue;
            }
            at.require(r.sequence_count as usize <= MAX_SEQUENCE, "sequence", r.sequence_count, "too long")?;
            let run = (r.sequence_first, r.sequence_count);
            let largest = match largest.get(&run) {
                Some(&known) => known,
                None => {
                    sequences.take(at, "sequence", r.sequence_first, r.sequence_count)?;
                    *largest.entry(run).or_insert(self.largest_backend(run))
                }
            };
            at.require(largest < r.backend_count, "sequence", largest, "names a backend that is not there")?;
        }
        backends.finish(Section::Backends)?;
        sequences.finish(Section::Sequences)
    }

    fn largest_backend(&self, (first, count): (u32, u32)) -> u32 {
        let backend_at = |i| u32::from(self.record::<SequenceEntry>(Section::Sequences, i).backend);
        (first..first + count).map(backend_at).max().unwrap_or(0)
    }

    fn backends(&self, first: u32, count: u32) -> Result<(), TableError> {
        let mut sum = 0u32;
        for index in first..first + count {
            let at = self.at(Section::Backends, index);
            let r: BackendRecord = self.record(Section::Backends, index);
            let known = match r.kind {
                BACKEND_CLUSTER => (r.value as usize) < MAX_SETS,
                BACKEND_INVALID => (100..=599).contains(&r.value),
                other => return at.require(false, "kind", other, "unknown kind of backend"),
            };
            at.require(known, "value", r.value, "no such endpoint set or status")?;
            at.require(r.weight > 0, "weight", 0, "must not be 0")?;
            let next = sum.checked_add(r.weight);
            at.require(next == Some(r.cumulative), "cumulative", r.cumulative, "is not the sum of the weights")?;
            sum = r.cumulative;
        }
        Ok(())
    }
}
