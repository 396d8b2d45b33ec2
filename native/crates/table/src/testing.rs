//! A second, plain writer of tables, for the tests of this crate, of `session` and for fuzzing. Not part of a release build.
//! It shares no code with `src/compile`, so that each judges the other's reading of the format.

use std::collections::BTreeMap;

use crate::hash::State;
use crate::layout::*;

/// A whole configuration in few words. Indexes refer to the vectors here.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    pub generation: u64,
    /// Socket ids are the positions.
    pub sockets: Vec<SocketSpec>,
    pub listeners: Vec<ListenerSpec>,
    pub actions: Vec<ActionSpec>,
}

/// One socket.
#[derive(Clone, Debug)]
pub enum SocketSpec {
    Absent,
    /// Listener indexes.
    Http(Vec<u32>),
    Tcp(u32),
}

/// One listener.
#[derive(Clone, Debug, Default)]
pub struct ListenerSpec {
    pub name: String,
    pub hostname: String,
    /// TCP when given: its action or none.
    pub tcp: Option<Option<u32>>,
    /// Sorted, disjoint ranges: family, low, high.
    pub trusted: Vec<(u32, [u8; 16], [u8; 16])>,
    pub hosts: Vec<HostSpec>,
}

/// One virtual host.
#[derive(Clone, Debug, Default)]
pub struct HostSpec {
    pub hostname: String,
    /// In order of precedence.
    pub matches: Vec<MatchSpec>,
}

/// One match.
#[derive(Clone, Debug, Default)]
pub struct MatchSpec {
    pub exact: bool,
    pub path: String,
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub action: u32,
}

/// One action.
#[derive(Clone, Debug, Default)]
pub struct ActionSpec {
    pub name: String,
    /// `Ok(set)` or `Err(status)`, with a weight.
    pub backends: Vec<(Result<u32, u32>, u32)>,
    /// Written as given.
    pub sequence: Vec<u16>,
}

/// Bytes of a table with this content; `seed` only moves hash slots.
pub fn encode(spec: &Spec, seed: u32) -> Vec<u8> {
    Writer::default().table(spec, seed)
}

/// A prefix match of one action.
pub fn prefix(path: &str, action: u32) -> MatchSpec {
    MatchSpec { path: path.to_owned(), action, ..MatchSpec::default() }
}

/// An exact match of one action.
pub fn exact(path: &str, action: u32) -> MatchSpec {
    MatchSpec { exact: true, ..prefix(path, action) }
}

/// A virtual host.
pub fn host(hostname: &str, matches: Vec<MatchSpec>) -> HostSpec {
    HostSpec { hostname: hostname.to_owned(), matches }
}

/// An HTTP listener.
pub fn listener(hostname: &str, hosts: Vec<HostSpec>) -> ListenerSpec {
    ListenerSpec {
        name: format!("default/edge/{hostname}"),
        hostname: hostname.to_owned(),
        hosts,
        ..Default::default()
    }
}

/// One HTTP and one TCP socket with something of everything.
pub fn sample() -> Spec {
    let catch_all = listener("", vec![host("", vec![exact("/a", 0), prefix("/a", 1), prefix("/", 2)])]);
    let mut wild = listener(
        "*.example.com",
        vec![
            host("api.example.com", vec![MatchSpec { method: "GET".to_owned(), ..prefix("/v2", 1) }]),
            host("*.example.com", vec![prefix("/", 2)]),
            host("*.example.com", vec![prefix("/late", 0)]),
        ],
    );
    wild.hosts[0].matches[0].headers.push(("x-team".to_owned(), "blue".to_owned()));
    let (mut low, mut high) = ([0; 16], [0; 16]);
    low[12..].copy_from_slice(&[10, 0, 0, 0]);
    high[12..].copy_from_slice(&[10, 255, 255, 255]);
    wild.trusted = vec![(4, low, high), (6, [0xfd; 16], [0xfe; 16])];
    let tcp = ListenerSpec { name: "default/edge/tcp".to_owned(), tcp: Some(Some(0)), ..Default::default() };
    let action = |name: &str, backends, sequence| ActionSpec { name: name.to_owned(), backends, sequence };
    Spec {
        generation: 7,
        sockets: vec![SocketSpec::Http(vec![0, 1]), SocketSpec::Absent, SocketSpec::Tcp(2)],
        listeners: vec![catch_all, wild, tcp],
        actions: vec![
            action("one", vec![(Ok(5), 1)], vec![]),
            action("split", vec![(Ok(5), 80), (Ok(6), 20)], vec![0, 0, 1, 0, 0]),
            action("fine", vec![(Ok(5), 9_999), (Err(500), 1)], vec![]),
            action("empty", vec![], vec![]),
        ],
    }
}

#[derive(Default)]
struct Writer {
    sections: [Vec<u8>; SECTIONS.len()],
    texts: BTreeMap<String, u32>,
    /// (parent, label, node), (virtual host, kind, path, entry): what the indexes file.
    edges: Vec<(u32, String, u32)>,
    paths: Vec<(u32, u32, String, u32)>,
}

impl Writer {
    fn push<R: Record>(&mut self, section: Section, record: R) -> u32 {
        let bytes = &mut self.sections[section as usize];
        let at = bytes.len();
        bytes.resize(at + R::SIZE, 0);
        record.write(&mut bytes[at..]);
        (at / R::SIZE) as u32
    }

    fn patch<R: Record>(&mut self, section: Section, index: u32, change: impl FnOnce(&mut R)) {
        let bytes = &mut self.sections[section as usize][index as usize * R::SIZE..];
        let mut record = R::read(bytes);
        change(&mut record);
        record.write(bytes);
    }

    fn count(&self, section: Section) -> u32 {
        (self.sections[section as usize].len() / SECTIONS[section as usize].1) as u32
    }

    fn text(&mut self, text: &str) -> (u32, u32) {
        let strings = &mut self.sections[Section::Strings as usize];
        let offset = *self.texts.entry(text.to_owned()).or_insert_with(|| {
            strings.extend_from_slice(text.as_bytes());
            (strings.len() - text.len()) as u32
        });
        (offset, text.len() as u32)
    }

    fn table(mut self, spec: &Spec, seed: u32) -> Vec<u8> {
        self.settings();
        spec.actions.iter().for_each(|action| self.action(action));
        spec.listeners.iter().enumerate().for_each(|(i, listener)| self.listener(i as u32, listener));
        spec.sockets.iter().for_each(|socket| self.socket(socket, &spec.listeners));
        let edges = self
            .edges
            .iter()
            .map(|(parent, label, node)| (State::new(seed, *parent).extend(label.as_bytes()).finish(0), *node));
        let (edges, host_probe) = index(&edges.collect::<Vec<_>>());
        let paths = self
            .paths
            .iter()
            .map(|(host, kind, path, entry)| (State::new(seed, *host).extend(path.as_bytes()).finish(*kind), *entry));
        let (paths, path_probe) = index(&paths.collect::<Vec<_>>());
        for (hash, child) in edges {
            self.push(Section::HostEdges, HostEdge { hash, child });
        }
        for (hash, entry) in paths {
            self.push(Section::PathSlots, PathSlot { hash, entry });
        }
        self.assemble(spec.generation, seed, host_probe, path_probe)
    }

    fn assemble(&self, generation: u64, hash_seed: u32, host_probe: u32, path_probe: u32) -> Vec<u8> {
        let mut out = vec![0; Header::SIZE + SECTION_COUNT * SectionEntry::SIZE];
        for (i, body) in self.sections.iter().enumerate() {
            out.resize(out.len().next_multiple_of(8), 0);
            let entry = SectionEntry { offset: out.len() as u32, count: (body.len() / SECTIONS[i].1) as u32 };
            entry.write(&mut out[Header::SIZE + i * SectionEntry::SIZE..]);
            out.extend_from_slice(body);
        }
        let header = Header {
            magic: MAGIC,
            sections: SECTION_COUNT as u32,
            layout_hash: LAYOUT_HASH,
            generation,
            length: out.len() as u32,
            hash_seed,
            host_probe,
            path_probe,
        };
        header.write(&mut out);
        out
    }

    fn settings(&mut self) {
        let (log_target_offset, log_target_length) = self.text("stderr");
        self.push(
            Section::Settings,
            SettingsRecord {
                workers: 2,
                max_head_bytes: 65_536,
                max_headers: 100,
                max_idle_per_endpoint: 32,
                flags: FLAG_ACCESS_LOG,
                log_target_offset,
                log_target_length,
                reserved: 0,
            },
        );
    }

    fn action(&mut self, action: &ActionSpec) {
        let (name_offset, name_length) = self.text(&action.name);
        let record = ActionRecord {
            slot: 1 + self.count(Section::Actions),
            request_timeout_ms: 0,
            backend_request_timeout_ms: 0,
            backend_first: self.count(Section::Backends),
            backend_count: action.backends.len() as u32,
            sequence_first: self.count(Section::Sequences),
            sequence_count: action.sequence.len() as u32,
            name_offset,
            name_length,
        };
        self.push(Section::Actions, record);
        let mut cumulative = 0;
        for (target, weight) in &action.backends {
            cumulative += weight;
            let (kind, value) = match *target {
                Ok(set) => (BACKEND_CLUSTER, set),
                Err(status) => (BACKEND_INVALID, status),
            };
            self.push(Section::Backends, BackendRecord { kind, value, weight: *weight, cumulative });
        }
        for &backend in &action.sequence {
            self.push(Section::Sequences, SequenceEntry { backend });
        }
    }

    fn listener(&mut self, index: u32, listener: &ListenerSpec) {
        let (name_offset, name_length) = self.text(&listener.name);
        let (hostname_offset, hostname_length) = self.text(&listener.hostname);
        let trusted_first = self.count(Section::Networks);
        for &(family, low, high) in &listener.trusted {
            self.push(Section::Networks, NetworkRecord { low, high, family, reserved: 0 });
        }
        let (protocol, route_root, tcp_action) = match listener.tcp {
            Some(action) => (PROTOCOL_TCP, NONE, action.unwrap_or(NONE)),
            None => (PROTOCOL_HTTP, self.hosts(&listener.hosts), NONE),
        };
        self.push(
            Section::Listeners,
            ListenerRecord {
                slot: 1000 + index,
                protocol,
                idle_ms: 75_000,
                header_ms: 10_000,
                connect_ms: 5_000,
                stream_idle_ms: 60_000,
                tunnel_idle_ms: 3_600_000,
                half_closed_ms: 30_000,
                route_root,
                tcp_action,
                trusted_first,
                trusted_count: listener.trusted.len() as u32,
                name_offset,
                name_length,
                hostname_offset,
                hostname_length,
            },
        );
    }

    fn socket(&mut self, socket: &SocketSpec, listeners: &[ListenerSpec]) {
        let id = self.count(Section::Sockets);
        let (key_offset, key_length) = self.text(&format!("tcp/127.0.0.1:{}", 8000 + id));
        let (protocol, listener_root, tcp_listener) = match socket {
            SocketSpec::Absent => (PROTOCOL_NONE, NONE, NONE),
            SocketSpec::Tcp(listener) => (PROTOCOL_TCP, NONE, *listener),
            SocketSpec::Http(indexes) => {
                let names = indexes.iter().map(|&i| (listeners[i as usize].hostname.clone(), i)).collect::<Vec<_>>();
                (PROTOCOL_HTTP, self.trie(&names), NONE)
            }
        };
        let first_listener = match socket {
            SocketSpec::Absent => NONE,
            SocketSpec::Http(indexes) => indexes.first().copied().unwrap_or(NONE),
            SocketSpec::Tcp(listener) => *listener,
        };
        let record = SocketRecord { protocol, listener_root, tcp_listener, key_offset, key_length, first_listener };
        self.push(Section::Sockets, record);
    }

    fn hosts(&mut self, hosts: &[HostSpec]) -> u32 {
        let mut names: Vec<(String, u32)> = Vec::new();
        for host in hosts {
            let index = self.host(host);
            match names.iter().position(|(name, _)| *name == host.hostname) {
                None => names.push((host.hostname.clone(), index)),
                Some(first) => {
                    let mut last = names[first].1;
                    loop {
                        let bytes = &self.sections[Section::VirtualHosts as usize];
                        let next = VirtualHostRecord::read(&bytes[last as usize * VirtualHostRecord::SIZE..]).next;
                        if next == NONE {
                            break;
                        }
                        last = next;
                    }
                    self.patch(Section::VirtualHosts, last, |record: &mut VirtualHostRecord| record.next = index);
                }
            }
        }
        self.trie(&names)
    }

    fn host(&mut self, host: &HostSpec) -> u32 {
        let index = self.count(Section::VirtualHosts);
        let (hostname_offset, hostname_length) = self.text(&host.hostname);
        let mut groups: BTreeMap<(u32, String), Vec<&MatchSpec>> = BTreeMap::new();
        for candidate in &host.matches {
            let key = match candidate.exact {
                true => (PATH_EXACT, candidate.path.clone()),
                false => (PATH_PREFIX, candidate.path.trim_end_matches('/').to_owned()),
            };
            groups.entry(key).or_default().push(candidate);
        }
        let levels =
            groups.keys().filter(|key| key.0 == PATH_PREFIX).map(|key| key.1.matches('/').count() as u32).max();
        let record = VirtualHostRecord {
            hostname_offset,
            hostname_length,
            entry_first: self.count(Section::PathEntries),
            entry_count: groups.len() as u32,
            prefix_levels: levels.unwrap_or(PREFIX_LEVELS_NONE),
            has_exact: u32::from(groups.keys().any(|key| key.0 == PATH_EXACT)),
            next: NONE,
            reserved: 0,
        };
        self.push(Section::VirtualHosts, record);
        for ((kind, path), matches) in groups {
            let (path_offset, path_length) = self.text(&path);
            let entry = PathEntry {
                virtual_host: index,
                kind,
                path_offset,
                path_length,
                match_first: self.count(Section::Matches),
                match_count: matches.len() as u32,
            };
            let entry = self.push(Section::PathEntries, entry);
            self.paths.push((index, kind, path, entry));
            matches.into_iter().for_each(|candidate| self.candidate(candidate));
        }
        index
    }

    fn candidate(&mut self, candidate: &MatchSpec) {
        let (method_offset, method_length) = self.text(&candidate.method);
        let record = MatchRecord {
            action: candidate.action,
            method_offset,
            method_length,
            header_first: self.count(Section::Headers),
            header_count: candidate.headers.len() as u32,
        };
        self.push(Section::Matches, record);
        for (name, value) in &candidate.headers {
            let (name_offset, name_length) = self.text(name);
            let (value_offset, value_length) = self.text(value);
            self.push(Section::Headers, HeaderRecord { name_offset, name_length, value_offset, value_length });
        }
    }

    fn trie(&mut self, names: &[(String, u32)]) -> u32 {
        let root = self.node(NONE, "");
        let mut known: BTreeMap<(u32, String), u32> = BTreeMap::new();
        for (hostname, value) in names {
            let wildcard = hostname.is_empty() || hostname.starts_with("*.");
            let mut node = root;
            for label in hostname.trim_start_matches("*.").rsplit('.').filter(|label| !label.is_empty()) {
                node = match known.get(&(node, label.to_owned())) {
                    Some(&child) => child,
                    None => {
                        let child = self.node(node, label);
                        known.insert((node, label.to_owned()), child);
                        self.edges.push((node, label.to_owned(), child));
                        child
                    }
                };
            }
            self.patch(Section::HostNodes, node, |record: &mut HostNode| {
                if wildcard { record.wildcard = *value } else { record.exact = *value }
            });
        }
        root
    }

    fn node(&mut self, parent: u32, label: &str) -> u32 {
        let (label_offset, label_length) = self.text(label);
        self.push(Section::HostNodes, HostNode { parent, label_offset, label_length, exact: NONE, wildcard: NONE })
    }
}

/// Slots of an open-addressed index at most half full, and the longest probe.
fn index(values: &[(u32, u32)]) -> (Vec<(u32, u32)>, u32) {
    if values.is_empty() {
        return (Vec::new(), 0);
    }
    let slots = (values.len() * 2).next_power_of_two();
    let mut filed = vec![(0, NONE); slots];
    let mut longest = 0;
    for &(hash, value) in values {
        let mut step = 0;
        while filed[(hash as usize + step) & (slots - 1)].1 != NONE {
            step += 1;
        }
        filed[(hash as usize + step) & (slots - 1)] = (hash, value);
        longest = longest.max(step as u32 + 1);
    }
    (filed, longest)
}
