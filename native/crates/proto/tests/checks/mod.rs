//! What must hold for any bytes: shared by the fuzz targets (native/fuzz) and by `tests/corpus.rs`, which needs no nightly.

use std::net::{IpAddr, Ipv4Addr};

use proto::h1::{
    ChunkError, Chunked, ForwardOptions, HeadScan, Limits, Parsed, RequestHead, ResponseHead, ResponseOptions,
    parse_request, parse_request_from, parse_response, parse_response_from, write_request_head, write_response_head,
};
use proto::tls::{ClientHello, HelloError, HelloRecords, Progress};

const LIMITS: Limits = Limits { max_head_bytes: 4096, max_headers: 64 };

/// A cut that depends on the bytes, so that a fuzzer can move it.
fn cut(bytes: &[u8]) -> usize {
    let sum = bytes.iter().fold(bytes.len(), |sum, &byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    sum % (bytes.len() + 1)
}

/// Cutting changes nothing; what is accepted can be forwarded and is accepted again with the same meaning.
#[allow(dead_code)] // Each user of this file checks some of it.
pub fn request(bytes: &[u8]) {
    let mut head = RequestHead::new();
    let whole = parse_request(bytes, &LIMITS, &mut head);
    let mut pieces = RequestHead::new();
    let mut scan = HeadScan::new();
    let first = parse_request_from(&bytes[..cut(bytes)], &LIMITS, &mut scan, &mut pieces);
    let second = match first {
        Ok(Parsed::Incomplete) => parse_request_from(bytes, &LIMITS, &mut scan, &mut pieces),
        decided => decided,
    };
    assert_eq!(second, whole);
    if whole != Ok(Parsed::Complete) {
        return;
    }
    assert!(head.len() <= bytes.len() && head.path(bytes).starts_with(b"/"));
    assert_eq!((head.headers(), head.len(), head.body), (pieces.headers(), pieces.len(), pieces.body));
    for trusted in [false, true] {
        let options = ForwardOptions {
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trusted,
            fallback_host: b"fallback.test",
            ..ForwardOptions::default()
        };
        let mut out = Vec::new();
        write_request_head(&mut out, bytes, &head, &options);
        let mut again = RequestHead::new();
        let limits = Limits { max_head_bytes: out.len(), max_headers: 70 };
        assert_eq!(parse_request(&out, &limits, &mut again), Ok(Parsed::Complete), "{}", out.escape_ascii());
        assert_eq!((again.len(), again.body, again.method_kind), (out.len(), head.body, head.method_kind));
        assert_eq!((again.path(&out), again.query(&out)), (head.path(bytes), head.query(bytes)));
        let host = if head.host(bytes).is_empty() { options.fallback_host } else { head.host(bytes) };
        assert_eq!(again.host(&out), host);
        assert_eq!(again.upgrade.map(|span| span.of(&out)), head.upgrade.map(|span| span.of(bytes)));
    }
}

/// Cutting changes nothing; what is accepted can be passed on and is accepted again.
#[allow(dead_code)]
pub fn response(bytes: &[u8]) {
    for is_head in [false, true] {
        let mut head = ResponseHead::new();
        let whole = parse_response(bytes, &LIMITS, &mut head, is_head, false);
        let mut pieces = ResponseHead::new();
        let mut scan = HeadScan::new();
        let first = parse_response_from(&bytes[..cut(bytes)], &LIMITS, &mut scan, &mut pieces, is_head, false);
        let second = match first {
            Ok(Parsed::Incomplete) => parse_response_from(bytes, &LIMITS, &mut scan, &mut pieces, is_head, false),
            decided => decided,
        };
        assert_eq!(second, whole);
        if whole != Ok(Parsed::Complete) {
            continue;
        }
        assert_eq!((head.headers(), head.len(), head.body), (pieces.headers(), pieces.len(), pieces.body));
        for client_minor in [0, 1] {
            let options = ResponseOptions { client_minor, ..ResponseOptions::default() };
            let mut out = Vec::new();
            write_response_head(&mut out, bytes, &head, &options);
            let mut again = ResponseHead::new();
            let limits = Limits { max_head_bytes: out.len(), max_headers: 70 };
            assert_eq!(parse_response(&out, &limits, &mut again, is_head, false), Ok(Parsed::Complete));
            assert_eq!((again.len(), again.status), (out.len(), head.status));
            if client_minor == 1 {
                assert_eq!(again.body, head.body);
            }
        }
    }
}

/// Cutting changes nothing; data never reaches beyond the input; the end is where it is.
#[allow(dead_code)]
pub fn chunked(bytes: &[u8]) {
    let whole = decode(&[bytes]);
    let (left, right) = bytes.split_at(cut(bytes));
    assert_eq!(decode(&[left, right]), whole);
    let mut scanner = Chunked::new();
    match (scanner.scan(bytes), whole) {
        (Ok(scan), Ok((_, end, done))) => assert_eq!((scan.consumed, scan.done), (end, done)),
        (Err(fault), Err(other)) => assert_eq!(fault, other),
        (scan, whole) => panic!("scan gave {scan:?}, feed {whole:?}"),
    }
}

fn decode(segments: &[&[u8]]) -> Result<(Vec<u8>, usize, bool), ChunkError> {
    let mut decoder = Chunked::new();
    let mut data = Vec::new();
    let mut end = 0;
    for segment in segments {
        let mut rest = *segment;
        while !rest.is_empty() && !decoder.is_done() {
            let step = decoder.feed(rest)?;
            data.extend_from_slice(&rest[step.data]);
            end += step.consumed;
            rest = &rest[step.consumed..];
        }
    }
    Ok((data, end, decoder.is_done()))
}

/// Cutting a stream, and cutting its message into records of another size, changes nothing.
#[allow(dead_code)]
pub fn client_hello(bytes: &[u8]) {
    let whole = read_hello(&[bytes.len()], bytes);
    let at = cut(bytes);
    assert_eq!(read_hello(&[at, bytes.len()], bytes), whole);
    let every: Vec<_> = (1..=bytes.len().min(600)).chain([bytes.len()]).collect();
    assert_eq!(read_hello(&every, bytes), whole);
    let Ok(Some(message)) = whole else { return };
    let mut handshake = vec![1, 0];
    handshake.extend_from_slice(&u16::try_from(message.len()).unwrap_or(0).to_be_bytes());
    handshake.extend_from_slice(&message);
    if message.len() <= usize::from(u16::MAX) {
        for size in [1, 3, 5, 127] {
            let records: Vec<u8> = handshake
                .chunks(size)
                .flat_map(|part| [&[22, 3, 1, 0, u8::try_from(part.len()).unwrap_or(0)], part].concat())
                .collect();
            assert_eq!(read_hello(&[records.len()], &records), Ok(Some(message.clone())));
        }
    }
    if let Ok(hello) = ClientHello::parse(&message) {
        assert!(hello.server_name.is_none_or(|name| !name.is_empty() && name.len() <= 253));
        assert!(hello.alpn.iter().all(|name| !name.is_empty()));
        assert_eq!(hello.cipher_suites.iter().next().is_none(), hello.cipher_suites.is_empty());
    }
}

/// Gives a stream up to each of the ends; returns the message as soon as it is complete.
fn read_hello(ends: &[usize], stream: &[u8]) -> Result<Option<Vec<u8>>, HelloError> {
    let mut records = HelloRecords::default();
    for &end in ends {
        if records.feed(&stream[..end])? == Progress::Complete {
            let message = records.message(&stream[..end], &mut Vec::new()).map(<[u8]>::to_vec);
            assert!(message.is_some(), "a complete hello has a message");
            return Ok(message);
        }
    }
    Ok(None)
}
