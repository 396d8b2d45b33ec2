//! Tables that several tests read.

use table::Table;
use table::testing::{ActionSpec, HostSpec, ListenerSpec, MatchSpec, SocketSpec, Spec, encode};

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

/// The parsed table of a spec, which must be valid.
pub fn parsed(spec: &Spec) -> Table<Vec<u8>> {
    Table::parse(encode(spec, 0)).expect("the spec is valid")
}
