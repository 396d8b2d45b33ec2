//! What a ClientHello says, and what is refused, byte for byte.

use std::fs;
use std::path::Path;

use proto::tls::{ClientHello, HelloError, HelloRecords, MAX_HELLO, Progress};

fn seed(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/client_hello").join(name)).expect("seed")
}

fn message(stream: &[u8]) -> Vec<u8> {
    let mut records = HelloRecords::default();
    assert_eq!(records.feed(stream), Ok(Progress::Complete));
    records.message(stream, &mut Vec::new()).expect("complete").to_vec()
}

fn record(handshake: &[u8]) -> Vec<u8> {
    let length = u16::try_from(handshake.len()).expect("one record").to_be_bytes();
    [&[22, 3, 1][..], &length, handshake].concat()
}

fn vector16(body: &[u8]) -> Vec<u8> {
    [&u16::try_from(body.len()).expect("short").to_be_bytes()[..], body].concat()
}

fn extension(kind: u16, body: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &vector16(body)].concat()
}

fn name_extension(names: &[(u8, &[u8])]) -> Vec<u8> {
    let list: Vec<u8> = names.iter().flat_map(|(kind, name)| [&[*kind][..], &vector16(name)].concat()).collect();
    extension(0, &vector16(&list))
}

/// The body of a hello with these extensions; `None`: the message ends before them.
fn body(extensions: Option<&[u8]>) -> Vec<u8> {
    let mut body = [&[3, 3][..], &[7; 32], &[0], &[0, 2, 0x13, 0x01], &[1, 0]].concat();
    if let Some(extensions) = extensions {
        body.extend(vector16(extensions));
    }
    body
}

fn server_name(names: &[(u8, &[u8])]) -> Result<Option<Vec<u8>>, HelloError> {
    let body = body(Some(&name_extension(names)));
    ClientHello::parse(&body).map(|hello| hello.server_name.map(<[u8]>::to_vec))
}

#[test]
fn a_client_of_tls_1_3_is_read() {
    let message = message(&seed("tls13"));
    let hello = ClientHello::parse(&message).expect("openssl sends a good hello");
    assert_eq!(hello.server_name, Some(&b"shop.example.com"[..]));
    assert_eq!(hello.alpn.iter().collect::<Vec<_>>(), [&b"h2"[..], b"http/1.1"]);
    assert!(hello.offers_version(0x0304) && hello.offers_version(0x0303));
    assert!(hello.cipher_suites.contains(0x1301));
    assert!(hello.signature_schemes.contains(0x0403) && hello.groups.contains(0x001d));
    assert!(!hello.is_ech_outer);
}

#[test]
fn a_client_of_tls_1_2_offers_nothing_newer() {
    let message = message(&seed("tls12"));
    let hello = ClientHello::parse(&message).expect("openssl sends a good hello");
    assert!(hello.versions.is_empty());
    assert!(hello.offers_version(0x0303) && !hello.offers_version(0x0304));
}

#[test]
fn no_name_and_an_address_are_no_name() {
    for name in ["no-name", "address"] {
        let message = message(&seed(name));
        assert_eq!(ClientHello::parse(&message).expect("good").server_name, None, "{name}");
    }
    assert_eq!(server_name(&[(0, b"2001:db8::1")]), Ok(None));
}

#[test]
fn a_name_keeps_its_case_and_loses_one_dot() {
    assert_eq!(server_name(&[(0, b"Shop.Example.COM.")]), Ok(Some(b"Shop.Example.COM".to_vec())));
    assert_eq!(server_name(&[(0, b"_srv.a")]), Ok(Some(b"_srv.a".to_vec())));
    assert_eq!(server_name(&[(9, b"other"), (0, b"a")]), Ok(Some(b"a".to_vec())));
    assert_eq!(server_name(&[(9, b"other")]), Ok(None));
}

#[test]
fn what_is_no_host_name_is_refused() {
    let long = [b'a'; 64];
    let wide = [&b"a.".repeat(127)[..], b"b"].concat();
    for bad in [&b""[..], b".", b"a..b", b".a", b"a..", b"a b", b"a\0b", b"\xc3\xa9.test", b"a/b", b"*.a", &long, &wide]
    {
        assert_eq!(server_name(&[(0, bad)]), Err(HelloError::ServerName), "{}", bad.escape_ascii());
    }
    assert_eq!(server_name(&[(0, b"a"), (0, b"b")]), Err(HelloError::ServerName));
    assert_eq!(server_name(&[]), Err(HelloError::Malformed));
}

#[test]
fn grease_and_post_quantum_sizes_pass() {
    // A key share of X25519MLKEM768 (1,216 + 32 bytes) among values that mean nothing.
    let share = vec![5; 1248];
    let extensions = [
        extension(0x0a0a, &[]),
        name_extension(&[(0, b"vault.corp.test")]),
        extension(10, &vector16(&[0x1a, 0x1a, 0x11, 0xec, 0x00, 0x1d])),
        extension(43, &[6, 0x2a, 0x2a, 3, 4, 3, 3]),
        extension(51, &vector16(&[&[0x11, 0xec][..], &vector16(&share)].concat())),
        extension(0xfe0d, &[0, 0, 1, 0, 1, 9, 0, 0, 0, 0]),
        extension(0x3a3a, &[0]),
    ]
    .concat();
    let body = body(Some(&extensions));
    let hello = ClientHello::parse(&body).expect("good");
    assert_eq!(hello.server_name, Some(&b"vault.corp.test"[..]));
    assert!(hello.offers_version(0x0304) && hello.groups.contains(0x11ec) && hello.is_ech_outer);
}

#[test]
fn a_hello_without_extensions_ends_with_its_compression_methods() {
    let body = body(None);
    let hello = ClientHello::parse(&body).expect("good");
    assert_eq!((hello.server_name, hello.alpn.is_empty()), (None, true));
}

#[test]
fn contradicting_lengths_and_repeated_extensions_are_refused() {
    let good = body(Some(&name_extension(&[(0, b"a")])));
    for end in 0..good.len() {
        // The end of the compression methods is where a message without extensions ends.
        if end != body(None).len() {
            assert_eq!(ClientHello::parse(&good[..end]), Err(HelloError::Malformed), "cut at {end}");
        }
    }
    assert_eq!(ClientHello::parse(&[&good[..], &[0]].concat()), Err(HelloError::Malformed));
    let twice = [name_extension(&[(0, b"a")]), name_extension(&[(0, b"a")])].concat();
    assert_eq!(ClientHello::parse(&body(Some(&twice))), Err(HelloError::RepeatedExtension));
}

#[test]
fn other_protocols_are_told_at_their_first_byte() {
    for bytes in [&b"G"[..], b"GET / HTTP/1.1\r\n", b"\x80\x2e\x01\x03\x01", b"\x15\x03\x01", b"\x16\x02", b"SSH-2.0"] {
        assert_eq!(HelloRecords::default().feed(bytes), Err(HelloError::NotTls), "{}", bytes.escape_ascii());
    }
    assert_eq!(HelloRecords::default().feed(&record(&[2])), Err(HelloError::NotClientHello));
    assert_eq!(HelloRecords::default().feed(b""), Ok(Progress::More));
}

#[test]
fn records_and_messages_have_limits() {
    assert_eq!(HelloRecords::default().feed(&[22, 3, 1, 0, 0]), Err(HelloError::RecordLength));
    assert_eq!(HelloRecords::default().feed(&[22, 3, 1, 0x40, 1]), Err(HelloError::RecordLength));
    let length = u32::try_from(MAX_HELLO + 1).expect("fits").to_be_bytes();
    let header = [1, length[1], length[2], length[3]];
    assert_eq!(HelloRecords::default().feed(&record(&header)), Err(HelloError::TooLarge));
    // The header of the message may lie in records of its own.
    let apart: Vec<u8> = header.iter().flat_map(|byte| record(&[*byte])).collect();
    assert_eq!(HelloRecords::default().feed(&apart), Err(HelloError::TooLarge));
}

#[test]
fn bytes_behind_the_hello_change_nothing() {
    let hello = seed("tls13");
    let more = [&hello[..], b"\x14\x03\x03\x00\x01\x01garbage"].concat();
    assert_eq!(message(&more), message(&hello));
}
