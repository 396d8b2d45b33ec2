//! Lookups by host and path, trust and backends, on small tables.

use std::net::IpAddr;

use table::layout::NONE;
use table::testing::{
    HostSpec, ListenerSpec, MatchSpec, SocketSpec, Spec, encode, exact, host, listener, prefix, sample,
};
use table::{BackendChoice, Protocol, Table};

/// The table of a spec, which must be valid.
fn parsed(spec: &Spec) -> Table<Vec<u8>> {
    Table::parse(encode(spec, 0)).expect("the spec is valid")
}

fn hosts_of(names: &[&str], asked: &str) -> Vec<u32> {
    let hosts = names.iter().map(|name| host(name, vec![])).collect();
    let spec =
        Spec { sockets: vec![SocketSpec::Http(vec![0])], listeners: vec![listener("", hosts)], ..Default::default() };
    let table = parsed(&spec);
    let first = table.listeners(table.socket(0).unwrap().listener_root, b"x").next().unwrap();
    table.virtual_hosts(table.listener(first).route_root, asked.as_bytes()).map(|host| host.get()).collect()
}

#[test]
fn a_host_yields_exact_then_deep_then_shallow_wildcards_then_any() {
    let names = ["", "*.com", "*.example.com", "a.example.com", "b.example.com"];
    for (asked, expected) in [
        ("a.example.com", vec![3, 2, 1, 0]),
        ("A.Example.COM", vec![3, 2, 1, 0]),
        ("a.example.com.", vec![3, 2, 1, 0]),
        ("x.example.com", vec![2, 1, 0]),
        ("x.y.example.com", vec![2, 1, 0]),
        ("x.a.example.com", vec![2, 1, 0]),
        ("example.com", vec![1, 0]),
        ("other.com", vec![1, 0]),
        ("com", vec![0]),
        ("xcom", vec![0]),
        ("", vec![0]),
        (".", vec![0]),
        (".com", vec![0]),
        (".example.com", vec![1, 0]),
        ("..example.com", vec![2, 1, 0]),
        ("a.example.com..", vec![0]),
        ("[::1]", vec![0]),
    ] {
        assert_eq!(hosts_of(&names, asked), expected, "host {asked:?}");
    }
}

#[test]
fn a_wildcard_does_not_fit_its_own_domain_and_nothing_fits_without_a_catch_all() {
    assert_eq!(hosts_of(&["*.example.com"], "example.com"), [] as [u32; 0]);
    assert_eq!(hosts_of(&["*.example.com"], "example.org"), [] as [u32; 0]);
    assert_eq!(hosts_of(&[], "example.org"), [] as [u32; 0]);
}

#[test]
fn virtual_hosts_of_one_name_follow_each_other_in_order() {
    assert_eq!(hosts_of(&["a.b", "*.b", "a.b", "a.b"], "a.b"), [0, 2, 3, 1]);
}

fn actions_of(matches: Vec<MatchSpec>, path: &str) -> Vec<u32> {
    let spec = Spec { listeners: vec![listener("", vec![host("", matches)])], ..sample() };
    let spec = Spec { sockets: vec![SocketSpec::Http(vec![0])], ..spec };
    let table = parsed(&spec);
    let first = table.listeners(table.socket(0).unwrap().listener_root, b"x").next().unwrap();
    let virtual_host = table.virtual_hosts(table.listener(first).route_root, b"x").next().unwrap();
    let runs = table.paths(virtual_host, path.as_bytes());
    runs.flat_map(|run| table.matches(run).map(|found| found.action.get()).collect::<Vec<_>>()).collect()
}

#[test]
fn a_path_yields_exact_then_longer_then_shorter_prefixes_by_whole_elements() {
    let matches = || vec![prefix("/", 0), prefix("/v2", 1), exact("/v2", 2), prefix("/v2/x/", 3)];
    for (path, expected) in [
        ("/v2", vec![2, 1, 0]),
        ("/v2/", vec![1, 0]),
        ("/v2/x", vec![3, 1, 0]),
        ("/v2/x/y/z", vec![3, 1, 0]),
        ("/v2x", vec![0]),
        ("/V2", vec![0]),
        ("/v2//x", vec![1, 0]),
        ("//v2", vec![0]),
        ("/", vec![0]),
        ("", vec![0]),
        ("*", vec![0]),
    ] {
        assert_eq!(actions_of(matches(), path), expected, "path {path:?}");
    }
}

#[test]
fn a_virtual_host_without_prefixes_knows_exact_paths_only() {
    assert_eq!(actions_of(vec![exact("/a/", 1)], "/a/"), [1]);
    assert_eq!(actions_of(vec![exact("/a/", 1)], "/a"), [] as [u32; 0]);
}

#[test]
fn prefixes_deeper_than_the_kept_hashes_are_found() {
    let deep = "/a".repeat(70);
    let shallow = "/a".repeat(33);
    let matches = || vec![prefix(&deep, 0), prefix(&shallow, 1), prefix("/a", 2)];
    assert_eq!(actions_of(matches(), &format!("{deep}/b")), [0, 1, 2]);
    assert_eq!(actions_of(matches(), &"/a".repeat(69)), [1, 2]);
    assert_eq!(actions_of(matches(), &"/a".repeat(32)), [2]);
}

#[test]
fn an_action_shares_tickets_as_its_weights_say() {
    let table = parsed(&sample());
    let tcp = table.socket(2).unwrap().tcp_listener.unwrap();
    let one = table.listener(tcp).tcp_action.unwrap();
    assert_eq!(table.choose_backend(one, 9), BackendChoice::Cluster { set: 5 });

    let by_name = |name: &str| table.actions().find(|a| table.str(table.action(*a).name) == name.as_bytes());
    let split = by_name("split").unwrap();
    let sets = (0..1000).filter(|t| table.choose_backend(split, *t) == BackendChoice::Cluster { set: 6 }).count();
    assert_eq!(sets, 200);
    let fine = by_name("fine").unwrap();
    let invalid =
        (0..100_000).filter(|t| table.choose_backend(fine, *t) == BackendChoice::Invalid { status: 500 }).count();
    assert!((9..=11).contains(&invalid), "{invalid} of 100,000 for a weight of 1 in 10,000");
    assert_eq!(table.choose_backend(by_name("empty").unwrap(), 0), BackendChoice::None);
}

#[test]
fn trust_is_by_family_and_range() {
    let table = parsed(&sample());
    let root = table.socket(0).unwrap().listener_root;
    let wild = table.listeners(root, b"x.example.com").next().unwrap();
    let any = table.listeners(root, b"elsewhere").next().unwrap();
    for (ip, expected) in [
        ("10.0.0.0", true),
        ("10.255.255.255", true),
        ("9.255.255.255", false),
        ("11.0.0.0", false),
        ("::ffff:10.1.2.3", true),
        ("fe00::1", true),
        ("fd00::1", false),
        ("::1", false),
    ] {
        let ip: IpAddr = ip.parse().unwrap();
        assert_eq!(table.is_trusted(wild, ip), expected, "{ip}");
        assert!(!table.is_trusted(any, ip), "{ip} at a listener that trusts nobody");
    }
}

#[test]
fn sockets_listeners_and_settings_read_back() {
    let table = parsed(&sample());
    assert_eq!(table.generation(), 7);
    assert_eq!(table.socket(1), None);
    assert_eq!(table.socket(99), None);
    let tcp = table.socket(2).unwrap();
    assert_eq!((tcp.protocol, tcp.listener_root), (Protocol::Tcp, NONE));
    assert_eq!(table.str(tcp.key), b"tcp/127.0.0.1:8002");
    let listener = table.listener(tcp.tcp_listener.unwrap());
    assert_eq!((listener.slot, listener.timeouts.connect_ms), (1002, 5_000));
    assert_eq!(table.str(table.settings().access_log_target), b"stderr");
}

#[test]
fn an_index_of_another_table_is_harmless() {
    let large = parsed(&sample());
    let small = parsed(&Spec::default());
    let listener = large.socket(2).unwrap().tcp_listener.unwrap();
    assert_eq!(small.str(large.listener(listener).name), b"");
    assert_eq!(small.choose_backend(large.listener(listener).tcp_action.unwrap(), 3), BackendChoice::None);
    assert!(!small.is_trusted(listener, "10.0.0.1".parse().unwrap()));
    assert_eq!(small.hosts(large.socket(0).unwrap().listener_root, b"a").count(), 0);
}

#[test]
fn ten_thousand_names_are_all_found() {
    let hosts = (0..10_000).map(|i| HostSpec { hostname: format!("host-{i}.example.com"), matches: vec![] }).collect();
    let spec = Spec { listeners: vec![ListenerSpec { hosts, ..Default::default() }], ..Default::default() };
    let table = parsed(&spec);
    let root = table.listener(table.all_listeners().next().unwrap()).route_root;
    for i in 0..10_000u32 {
        let found: Vec<u32> = table.hosts(root, format!("HOST-{i}.example.com").as_bytes()).collect();
        assert_eq!(found, [i]);
    }
}
