//! What holds for all heads: any cutting gives the same result, any bytes give an answer, rewriting is stable,
//! and what is accepted is what an independent parser (httparse) reads.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proto::h1::{
    ForwardOptions, HeadError, HeadScan, Limits, Parsed, RequestHead, ResponseHead, ResponseOptions, parse_request,
    parse_request_from, parse_response, parse_response_from, write_request_head, write_response_head,
};

const LIMITS: Limits = Limits { max_head_bytes: 600, max_headers: 12 };

/// Heads that are mostly right, with single bytes wrong now and then.
fn head_bytes(first: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let lines = vec![
        "Host: a.test",
        "Host: a.test:80",
        "host:b",
        "Content-Length: 5",
        "Content-Length: 5, 5",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Connection: close",
        "Connection: upgrade, x-a",
        "Upgrade: websocket",
        "X-A: 1",
        "Expect: 100-continue",
        "X-Forwarded-For: 192.0.2.1",
        "Accept: \t*/* ",
        "Empty:",
        "Trailer: t",
        "Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ];
    let noise = prop::collection::vec(
        (any::<prop::sample::Index>(), prop::sample::select(b"\r\n\0 \t:\x01,aA1#@\xe9".to_vec())),
        0..3,
    );
    let noise = prop_oneof![2 => Just(Vec::new()), 1 => noise];
    (
        prop::sample::select(vec!["", "", "", "\r\n"]),
        prop::sample::select(first.to_vec()),
        prop::collection::vec(prop::sample::select(lines), 0..14),
        noise,
        prop::collection::vec(any::<u8>(), 0..8),
    )
        .prop_map(|(lead, first, lines, noise, rest)| {
            let mut bytes = format!("{lead}{first}\r\n").into_bytes();
            for line in lines {
                bytes.extend_from_slice(line.as_bytes());
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"\r\n");
            for (at, byte) in noise {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.extend_from_slice(&rest);
            bytes
        })
}

fn request_bytes() -> impl Strategy<Value = Vec<u8>> {
    head_bytes(&[
        "GET / HTTP/1.1",
        "GET /a?b HTTP/1.1",
        "POST /x HTTP/1.1",
        "GET /old HTTP/1.0",
        "OPTIONS * HTTP/1.1",
        "GET http://c.test?q HTTP/1.1",
        "HEAD http://c.test:8080/p HTTP/1.1",
    ])
}

fn response_bytes() -> impl Strategy<Value = Vec<u8>> {
    head_bytes(&[
        "HTTP/1.1 200 OK",
        "HTTP/1.1 204 No Content",
        "HTTP/1.0 200",
        "HTTP/1.1 304 ",
        "HTTP/1.1 103 Hints",
        "HTTP/1.1 101 S",
    ])
}

/// Everything a request head says, for comparison.
fn request_facts(bytes: &[u8], head: &RequestHead) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?} {} {:?}",
        head.method(bytes),
        head.target(bytes),
        head.host(bytes),
        head.body,
        head.upgrade,
        head.keep_alive,
        head.headers()
    )
}

fn whole_request(bytes: &[u8]) -> Result<Option<String>, HeadError> {
    let mut head = RequestHead::new();
    let parsed = parse_request(bytes, &LIMITS, &mut head)?;
    Ok((parsed == Parsed::Complete).then(|| request_facts(bytes, &head)))
}

/// The same from growing prefixes: the first answer that is not `Incomplete`.
fn cut_request(bytes: &[u8], cuts: &[usize]) -> Result<Option<String>, HeadError> {
    let mut head = RequestHead::new();
    let mut scan = HeadScan::new();
    for &cut in cuts {
        let prefix = &bytes[..cut];
        if parse_request_from(prefix, &LIMITS, &mut scan, &mut head)? == Parsed::Complete {
            return Ok(Some(request_facts(prefix, &head)));
        }
    }
    Ok(None)
}

fn cut_response(bytes: &[u8], cuts: &[usize], is_head: bool) -> Result<Option<String>, HeadError> {
    let mut head = ResponseHead::new();
    let mut scan = HeadScan::new();
    for &cut in cuts {
        if parse_response_from(&bytes[..cut], &LIMITS, &mut scan, &mut head, is_head, false)? == Parsed::Complete {
            return Ok(Some(format!("{head:?}")));
        }
    }
    Ok(None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn a_request_cut_at_every_byte_gives_what_the_whole_gives(bytes in request_bytes()) {
        let every: Vec<usize> = (0..=bytes.len()).collect();
        prop_assert_eq!(cut_request(&bytes, &every), whole_request(&bytes));
        for cut in 0..bytes.len() {
            prop_assert_eq!(cut_request(&bytes, &[cut, bytes.len()]), whole_request(&bytes), "cut at {}", cut);
        }
    }

    #[test]
    fn a_response_cut_at_every_byte_gives_what_the_whole_gives(bytes in response_bytes(), is_head: bool) {
        let every: Vec<usize> = (0..=bytes.len()).collect();
        let whole = cut_response(&bytes, &[bytes.len()], is_head);
        prop_assert_eq!(cut_response(&bytes, &every, is_head), whole);
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_request(&bytes, &LIMITS, &mut RequestHead::new());
        let _ = parse_response(&bytes, &LIMITS, &mut ResponseHead::new(), false, false);
    }

    #[test]
    fn a_forwarded_request_is_accepted_and_forwarded_alike(bytes in request_bytes(), trusted: bool, via: bool) {
        let mut head = RequestHead::new();
        if parse_request(&bytes, &LIMITS, &mut head) == Ok(Parsed::Complete) {
            let peer = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
            let options = ForwardOptions { peer, trusted, via, fallback_host: b"f.test", ..ForwardOptions::default() };
            let (mut once, mut twice) = (Vec::new(), Vec::new());
            write_request_head(&mut once, &bytes, &head, &options);
            let (method, body, host) = (head.method_kind, head.body, head.host(&bytes).to_vec());
            let path = head.path(&bytes).to_vec();
            let query = head.query(&bytes).map(<[u8]>::to_vec);
            let upgrade = head.upgrade.map(|span| span.of(&bytes).to_vec());

            let limits = Limits::default();
            prop_assert_eq!(parse_request(&once, &limits, &mut head), Ok(Parsed::Complete), "{}", String::from_utf8_lossy(&once));
            prop_assert_eq!(head.len(), once.len());
            prop_assert_eq!((head.method_kind, head.body), (method, body));
            prop_assert_eq!(head.host(&once), if host.is_empty() { b"f.test" } else { &host[..] });
            prop_assert_eq!(head.path(&once), &path[..]);
            prop_assert_eq!(head.query(&once), query.as_deref());
            prop_assert_eq!(head.upgrade.map(|span| span.of(&once).to_vec()), upgrade);
            if !trusted && !host.is_empty() {
                // What we wrote is dropped and written again: nothing piles up.
                let options = ForwardOptions { via: false, ..options };
                write_request_head(&mut twice, &once, &head, &options);
                prop_assert_eq!(sorted_lines(&twice), sorted_lines(&once));
            }
        }
    }

    #[test]
    fn a_passed_response_is_accepted_and_passed_alike(bytes in response_bytes(), is_head: bool) {
        let mut head = ResponseHead::new();
        if parse_response(&bytes, &LIMITS, &mut head, is_head, false) == Ok(Parsed::Complete) {
            let options = ResponseOptions { client_minor: 1, chunked_from_close: true, ..ResponseOptions::default() };
            let (mut once, mut twice) = (Vec::new(), Vec::new());
            write_response_head(&mut once, &bytes, &head, &options);
            let status = head.status;
            prop_assert_eq!(parse_response(&once, &LIMITS, &mut head, is_head, false), Ok(Parsed::Complete));
            prop_assert_eq!((head.len(), head.status), (once.len(), status));
            write_response_head(&mut twice, &once, &head, &options);
            prop_assert_eq!(sorted_lines(&twice), sorted_lines(&once));
        }
    }

    #[test]
    fn what_is_accepted_is_what_httparse_reads(bytes in request_bytes()) {
        let mut head = RequestHead::new();
        if parse_request(&bytes, &LIMITS, &mut head) == Ok(Parsed::Complete) {
            let mut fields = [httparse::EMPTY_HEADER; 32];
            let mut other = httparse::Request::new(&mut fields);
            let len = other.parse(&bytes).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
            prop_assert_eq!(len, httparse::Status::Complete(head.len()));
            prop_assert_eq!(other.method.unwrap_or("").as_bytes(), head.method(&bytes));
            prop_assert_eq!(other.version, Some(head.minor_version()));
            prop_assert_eq!(other.headers.len(), head.headers().len());
            for (ours, theirs) in head.headers().iter().zip(other.headers.iter()) {
                prop_assert_eq!(ours.name.of(&bytes), theirs.name.as_bytes());
                prop_assert_eq!(ours.value.of(&bytes), theirs.value.trim_ascii());
            }
        }
    }
}

fn sorted_lines(head: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<_> = head.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.sort();
    lines
}

#[test]
fn a_64_kib_head_in_segments_of_one_byte_costs_no_more_than_a_few_reads_of_it() {
    let mut bytes = b"GET / HTTP/1.1\r\nHost: a.test\r\nX: ".to_vec();
    bytes.resize(64 * 1024 - 5, b'x');
    bytes.extend_from_slice(b"\r\n\r\n");
    let limits = Limits::default();
    let mut head = RequestHead::new();
    let mut scan = HeadScan::new();
    let start = Instant::now();
    for end in 0..bytes.len() {
        assert_eq!(parse_request_from(&bytes[..end], &limits, &mut scan, &mut head), Ok(Parsed::Incomplete));
    }
    assert_eq!(parse_request_from(&bytes, &limits, &mut scan, &mut head), Ok(Parsed::Complete));
    // 64 k calls take a few milliseconds; reading from the start each time would take 2^31 byte visits.
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}
