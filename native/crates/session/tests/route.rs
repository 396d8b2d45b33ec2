//! `route` on small tables, and against a slow judge over the description that the table was made from.

use proptest::prelude::*;
use session::{HeaderLookup, RequestKey, Routed, route};
use table::Table;
use table::testing::{
    HostSpec, ListenerSpec, MatchSpec, SocketSpec, Spec, encode, exact, host, listener, prefix, sample,
};

struct Fields<'a>(&'a [(&'a str, &'a str)]);

impl HeaderLookup for Fields<'_> {
    fn find(&self, lower_name: &[u8]) -> Option<&[u8]> {
        let found = self.0.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(lower_name));
        found.map(|(_, value)| value.as_bytes())
    }
}

#[derive(Clone, Copy, Debug)]
struct Request<'a> {
    method: &'a str,
    host: &'a str,
    path: &'a str,
    fields: &'a [(&'a str, &'a str)],
}

/// Listener and action by number; `None` where there is none.
type Verdict = (Option<u32>, Option<u32>);

fn routed(table: &Table<Vec<u8>>, socket: u32, request: Request<'_>) -> Verdict {
    let key = RequestKey {
        method: request.method.as_bytes(),
        host: request.host.as_bytes(),
        path: request.path.as_bytes(),
        headers: &Fields(request.fields),
    };
    match route(table, socket, &key) {
        Routed::NoListener => (None, None),
        Routed::NoRoute(listener) => (Some(listener.get()), None),
        Routed::Action(listener, action) => (Some(listener.get()), Some(action.get())),
    }
}

fn get<'a>(host: &'a str, path: &'a str) -> Request<'a> {
    Request { method: "GET", host, path, fields: &[] }
}

fn spec_of(listeners: Vec<ListenerSpec>) -> Spec {
    let sockets = vec![SocketSpec::Http((0..listeners.len() as u32).collect())];
    Spec { sockets, listeners, ..sample() }
}

fn table_of(listeners: Vec<ListenerSpec>) -> Table<Vec<u8>> {
    Table::parse(encode(&spec_of(listeners), 0)).expect("the spec is valid")
}

#[test]
fn a_less_specific_listener_never_serves_the_host_of_another() {
    let table = table_of(vec![
        listener("", vec![host("", vec![prefix("/", 0)])]),
        listener("*.foo.com", vec![host("*.foo.com", vec![prefix("/a", 1)])]),
        listener("x.foo.com", vec![]),
    ]);
    assert_eq!(routed(&table, 0, get("y.foo.com", "/a")), (Some(1), Some(1)));
    assert_eq!(routed(&table, 0, get("y.foo.com", "/b")), (Some(1), None));
    assert_eq!(routed(&table, 0, get("x.foo.com", "/a")), (Some(2), None));
    assert_eq!(routed(&table, 0, get("foo.com", "/a")), (Some(0), Some(0)));
}

#[test]
fn a_request_falls_through_to_less_specific_virtual_hosts() {
    let table = table_of(vec![listener(
        "",
        vec![
            host("a.com", vec![exact("/x", 0)]),
            host("a.com", vec![exact("/y", 1)]),
            host("*.com", vec![exact("/z", 2)]),
            host("", vec![prefix("/", 3)]),
        ],
    )]);
    for (path, action) in [("/x", 0), ("/y", 1), ("/w", 3)] {
        assert_eq!(routed(&table, 0, get("a.com", path)), (Some(0), Some(action)), "{path}");
    }
    assert_eq!(routed(&table, 0, get("b.com", "/z")), (Some(0), Some(2)));
    assert_eq!(routed(&table, 0, get("a.com", "/z")), (Some(0), Some(2)));
}

#[test]
fn path_comes_before_method_and_headers_and_order_decides_within_a_path() {
    let wanted = |mut spec: MatchSpec, method: &str, headers: &[(&str, &str)]| {
        spec.method = method.to_owned();
        spec.headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        spec
    };
    let matches = vec![
        wanted(prefix("/a", 0), "POST", &[("x-team", "blue")]),
        wanted(prefix("/a", 1), "POST", &[]),
        wanted(prefix("/", 2), "", &[("x-team", "blue")]),
        prefix("/", 3),
    ];
    let table = table_of(vec![listener("", vec![host("", matches)])]);
    let ask = |method, path, fields| routed(&table, 0, Request { method, host: "h", path, fields }).1;
    assert_eq!(ask("POST", "/a/b", &[("X-Team", "blue")]), Some(0));
    assert_eq!(ask("POST", "/a/b", &[("X-Team", "red"), ("x-team", "blue")]), Some(1));
    assert_eq!(ask("post", "/a/b", &[("x-team", "blue")]), Some(2));
    assert_eq!(ask("GET", "/a", &[]), Some(3));
}

#[test]
fn sockets_that_are_absent_or_speak_tcp_have_no_listener_for_a_request() {
    let table = Table::parse(encode(&sample(), 0)).unwrap();
    for socket in [1, 2, 3, u32::MAX] {
        assert_eq!(routed(&table, socket, get("h", "/")), (None, None), "socket {socket}");
    }
}

/// A hostname of the notation of the IR; `name` is folded.
fn covers(hostname: &str, name: &str) -> bool {
    match hostname.strip_prefix('*') {
        Some(suffix) => name.len() > suffix.len() && name.ends_with(suffix),
        None => hostname.is_empty() || hostname == name,
    }
}

fn host_rank(hostname: &str) -> usize {
    match hostname {
        "" => 0,
        _ => 2 * hostname.split('.').count() - usize::from(hostname.starts_with('*')),
    }
}

fn fits(wanted: &MatchSpec, request: Request<'_>) -> bool {
    let prefix = wanted.path.trim_end_matches('/');
    let rest = request.path.strip_prefix(prefix);
    let by_element = rest.is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'));
    let path_fits = if wanted.exact { wanted.path == request.path } else { by_element };
    let fields = Fields(request.fields);
    path_fits
        && (wanted.method.is_empty() || wanted.method == request.method)
        && wanted.headers.iter().all(|(name, value)| fields.find(name.as_bytes()) == Some(value.as_bytes()))
}

fn path_rank(wanted: &MatchSpec) -> usize {
    if wanted.exact { usize::MAX } else { wanted.path.trim_end_matches('/').len() }
}

/// The slow judge.
fn judged(spec: &Spec, request: Request<'_>) -> Verdict {
    let lower = request.host.to_ascii_lowercase();
    let name = lower.strip_suffix('.').unwrap_or(&lower);
    let covering = (0u32..).zip(&spec.listeners).filter(|(_, listener)| covers(&listener.hostname, name));
    let Some((index, listener)) = covering.max_by_key(|(_, listener)| host_rank(&listener.hostname)) else {
        return (None, None);
    };
    let mut hosts: Vec<&HostSpec> = listener.hosts.iter().filter(|host| covers(&host.hostname, name)).collect();
    hosts.sort_by_key(|host| core::cmp::Reverse(host_rank(&host.hostname)));
    for host in hosts {
        let fitting: Vec<&MatchSpec> = host.matches.iter().filter(|wanted| fits(wanted, request)).collect();
        let best = fitting.iter().map(|wanted| path_rank(wanted)).max();
        if let Some(first) = fitting.iter().find(|wanted| Some(path_rank(wanted)) == best) {
            return (Some(index), Some(first.action));
        }
    }
    (Some(index), None)
}

fn hostnames() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "(\\*\\.)?(a|b|c)(\\.(a|b)){0,3}"]
}

fn matches() -> impl Strategy<Value = MatchSpec> {
    let headers = prop::collection::btree_map("x-[ab]", "[12]?", 0..2);
    (any::<bool>(), "/(a|bb|)(/(a|bb|)){0,3}", "(GET|POST)?", headers, 0..4u32).prop_map(
        |(exact, path, method, headers, action)| MatchSpec {
            exact,
            path,
            method,
            headers: headers.into_iter().collect(),
            action,
        },
    )
}

fn specs() -> impl Strategy<Value = Spec> {
    let hosts = prop::collection::vec((hostnames(), prop::collection::vec(matches(), 0..6)), 0..6);
    prop::collection::btree_map(hostnames(), hosts, 1..4).prop_map(|listeners| {
        let hosts_of = |hosts: Vec<(String, Vec<MatchSpec>)>| {
            hosts.into_iter().map(|(name, matches)| host(&name, matches)).collect()
        };
        spec_of(listeners.into_iter().map(|(name, hosts)| listener(&name, hosts_of(hosts))).collect())
    })
}

/// Method, host, path, fields.
type Sent = (String, String, String, Vec<(String, String)>);

fn requests() -> impl Strategy<Value = Vec<Sent>> {
    let host = "(a|b|C|)(\\.(a|b|A|)){0,4}\\.?";
    let fields = prop::collection::vec(("[xX]-[ab]", "[12]?"), 0..3);
    prop::collection::vec(("GET|POST", host, "(/(a|bb|)){0,5}|\\*", fields), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_request_goes_where_the_slow_judge_sends_it(spec in specs(), seed in any::<u32>(), requests in requests()) {
        let table = Table::parse(encode(&spec, seed)).expect("the spec is valid");
        for (method, host, path, fields) in &requests {
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let request = Request { method, host, path, fields: &fields };
            prop_assert_eq!(routed(&table, 0, request), judged(&spec, request), "{:?}", request);
        }
    }

    #[test]
    fn no_request_panics(
        host in prop::collection::vec(any::<u8>(), 0..300),
        path in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let table = Table::parse(encode(&sample(), 0)).unwrap();
        route(&table, 0, &RequestKey { method: b"GET", host: &host, path: &path, headers: &Fields(&[]) });
    }
}
