//! What goes out: request heads to backends, response heads and own answers to clients, chunk framing.

use std::net::IpAddr;

use proto::h1::{
    CHUNK_END, Chunked, ForwardOptions, LAST_CHUNK, Limits, Parsed, RequestHead, ResponseHead, ResponseOptions,
    parse_request, parse_response, simple_response, write_chunk_head, write_request_head, write_response_head,
};

fn forward(text: &str, change: impl FnOnce(&mut ForwardOptions<'_>)) -> String {
    let mut options =
        ForwardOptions { peer: "192.0.2.7".parse::<IpAddr>().expect("address"), ..ForwardOptions::default() };
    change(&mut options);
    let mut head = RequestHead::new();
    assert_eq!(parse_request(text.as_bytes(), &Limits::default(), &mut head), Ok(Parsed::Complete), "{text:?}");
    let mut out = Vec::new();
    write_request_head(&mut out, text.as_bytes(), &head, &options);
    String::from_utf8(out).expect("text")
}

fn answer(text: &str, is_head: bool, options: ResponseOptions) -> String {
    let mut head = ResponseHead::new();
    let parsed = parse_response(text.as_bytes(), &Limits::default(), &mut head, is_head, false);
    assert_eq!(parsed, Ok(Parsed::Complete), "{text:?}");
    let mut out = Vec::new();
    write_response_head(&mut out, text.as_bytes(), &head, &options);
    String::from_utf8(out).expect("text")
}

const ADDED: &str = "x-forwarded-for: 192.0.2.7\r\nx-forwarded-proto: http\r\nx-forwarded-host: a.test\r\n";
const CLIENT_11: ResponseOptions = ResponseOptions {
    client_minor: 1,
    close: false,
    keep_alive_10: false,
    chunked_from_close: false,
    dechunk: false,
    via: false,
};

#[test]
fn unchanged_fields_keep_their_bytes_and_order() {
    let text =
        "GET /a?b HTTP/1.1\r\nHost: a.test\r\nACCEPT:  x \r\nConnection: keep-alive\r\ncookie: \u{e9}\r\nB:\r\n\r\n";
    let want = format!("GET /a?b HTTP/1.1\r\nHost: a.test\r\nACCEPT:  x \r\ncookie: \u{e9}\r\nB:\r\n{ADDED}\r\n");
    assert_eq!(forward(text, |_| {}), want);
}

#[test]
fn hop_by_hop_fields_are_dropped_and_framing_is_written_once() {
    let text = "POST / HTTP/1.1\r\nContent-Length: 018, 018\r\nHost: a.test\r\nTE: x\r\nKeep-Alive: 1\r\nConnection: x-mine\r\nX-Mine: 1\r\n\r\n";
    assert_eq!(forward(text, |_| {}), format!("POST / HTTP/1.1\r\nHost: a.test\r\n{ADDED}content-length: 18\r\n\r\n"));
    let text = "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: \tChunked\r\nTrailer: T\r\n\r\n";
    let want = format!("POST / HTTP/1.1\r\nHost: a.test\r\nTrailer: T\r\n{ADDED}transfer-encoding: chunked\r\n\r\n");
    assert_eq!(forward(text, |_| {}), want);
}

#[test]
fn an_untrusted_peer_cannot_set_forwarding_fields() {
    let text = "GET / HTTP/1.1\r\nX-Forwarded-For: 203.0.113.9\r\nHost: a.test\r\nForwarded: for=x\r\nX-Forwarded-Proto: https\r\n\
         X-Forwarded-Host: evil\r\nX-Forwarded-Port: 1\r\nX_Forwarded_For: 203.0.113.9\r\nx-forwarded-for: y\r\n\r\n";
    assert_eq!(forward(text, |_| {}), format!("GET / HTTP/1.1\r\nHost: a.test\r\n{ADDED}\r\n"));
}

#[test]
fn a_trusted_peer_is_appended_to_and_its_other_fields_are_kept() {
    let text = "GET / HTTP/1.1\r\nX-Forwarded-For: 203.0.113.9\r\nHost: a.test\r\nForwarded: for=x\r\nX-Forwarded-Proto: https\r\n\
         X-Forwarded-Host: outer\r\nX-Forwarded-Port: 1\r\nx-forwarded-for: ::1\r\nX-Forwarded-For:\r\n\r\n";
    let want = "GET / HTTP/1.1\r\nHost: a.test\r\nForwarded: for=x\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: outer\r\n\
         X-Forwarded-Port: 1\r\nx-forwarded-for: 203.0.113.9, ::1, 192.0.2.7\r\n\r\n";
    assert_eq!(forward(text, |options| options.trusted = true), want);
    let text = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    assert_eq!(
        forward(text, |options| options.trusted = true),
        format!("GET / HTTP/1.1\r\nHost: a.test\r\n{ADDED}\r\n")
    );
}

#[test]
fn a_mapped_peer_is_written_as_ipv4_and_ipv6_in_its_short_form() {
    for (peer, written) in
        [("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:0:0::1", "2001:db8::1"), ("255.0.10.1", "255.0.10.1")]
    {
        let out = forward("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", |options| options.peer = peer.parse().expect(peer));
        assert!(out.contains(&format!("x-forwarded-for: {written}\r\n")), "{out:?}");
    }
}

#[test]
fn an_absolute_form_target_becomes_origin_form_with_its_authority_as_host() {
    let cases = [
        ("GET http://shop.test?id=7 HTTP/1.1", "GET /?id=7 HTTP/1.1"),
        ("GET http://shop.test HTTP/1.1", "GET / HTTP/1.1"),
        ("GET http://shop.test/a?b HTTP/1.0", "GET /a?b HTTP/1.1"),
        ("OPTIONS http://shop.test HTTP/1.1", "OPTIONS * HTTP/1.1"),
    ];
    for (line, want) in cases {
        let out = forward(&format!("{line}\r\nX: y\r\nHost: evil.test\r\n\r\n"), |_| {});
        let want = format!(
            "{want}\r\nhost: shop.test\r\nX: y\r\nx-forwarded-for: 192.0.2.7\r\nx-forwarded-proto: http\r\nx-forwarded-host: shop.test\r\n\r\n"
        );
        assert_eq!(out, want);
    }
    assert!(
        forward("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n", |_| {})
            .starts_with("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n")
    );
}

#[test]
fn a_1_0_request_without_host_gets_the_fallback() {
    let out = forward("GET / HTTP/1.0\r\n\r\n", |options| options.fallback_host = b"192.0.2.8:80");
    assert_eq!(
        out,
        "GET / HTTP/1.1\r\nhost: 192.0.2.8:80\r\nx-forwarded-for: 192.0.2.7\r\nx-forwarded-proto: http\r\n\r\n"
    );
}

#[test]
fn an_upgrade_is_passed_on_and_h2c_is_not() {
    let request = |protocol: &str| {
        format!(
            "GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: {protocol}\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x\r\n\r\n"
        )
    };
    let want = format!("GET / HTTP/1.1\r\nHost: a.test\r\n{ADDED}connection: upgrade\r\nupgrade: websocket\r\n\r\n");
    assert_eq!(forward(&request("websocket"), |_| {}), want);
    assert_eq!(forward(&request("h2c"), |_| {}), format!("GET / HTTP/1.1\r\nHost: a.test\r\n{ADDED}\r\n"));
}

#[test]
fn options_add_via_and_close_and_expect_is_passed_on() {
    let text = "PUT / HTTP/1.1\r\nHost: a.test\r\nVia: 1.0 x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
    let out = forward(text, |options| {
        options.via = true;
        options.keep_alive_upstream = false;
        options.scheme = "https";
    });
    assert!(out.starts_with("PUT / HTTP/1.1\r\nHost: a.test\r\nVia: 1.0 x\r\nExpect: 100-continue\r\n"), "{out:?}");
    assert!(out.contains("x-forwarded-proto: https\r\n"), "{out:?}");
    assert!(out.ends_with("content-length: 1\r\nvia: 1.1 weirgate\r\nconnection: close\r\n\r\n"), "{out:?}");
}

#[test]
fn a_response_keeps_status_and_reason_and_gets_its_framing_once() {
    let text = "HTTP/1.0 299 So So\r\nA: b\r\nConnection: x\r\nX: y\r\nContent-Length: 05\r\nC: d\r\n\r\n";
    assert_eq!(answer(text, false, CLIENT_11), "HTTP/1.1 299 So So\r\nA: b\r\nC: d\r\ncontent-length: 5\r\n\r\n");
    let text = "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n";
    assert_eq!(answer(text, false, CLIENT_11), "HTTP/1.1 200 \r\nTrailer: T\r\ntransfer-encoding: chunked\r\n\r\n");
}

#[test]
fn a_body_whose_end_only_the_close_shows_closes_the_connection() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n";
    let until_close = "HTTP/1.1 200 OK\r\n\r\n";
    let client_10 = ResponseOptions { client_minor: 0, keep_alive_10: true, ..CLIENT_11 };
    let closed = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    assert_eq!(answer(chunked, false, client_10), closed);
    assert_eq!(answer(chunked, false, ResponseOptions { dechunk: true, ..CLIENT_11 }), closed);
    assert_eq!(answer(until_close, false, client_10), closed);
    assert_eq!(answer(until_close, false, CLIENT_11), closed);
    // A 1.0 client cannot read chunks, whatever the engine asks for.
    assert_eq!(answer(until_close, false, ResponseOptions { chunked_from_close: true, ..client_10 }), closed);
    let rechunked = ResponseOptions { chunked_from_close: true, ..CLIENT_11 };
    assert_eq!(answer(until_close, false, rechunked), "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
}

#[test]
fn head_and_304_say_the_length_and_204_says_none() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
    assert_eq!(answer(text, true, CLIENT_11), "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n");
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(answer(text, true, CLIENT_11), "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    let text = "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n";
    assert_eq!(answer(text, false, CLIENT_11), "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n");
    let text = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(answer(text, false, CLIENT_11), "HTTP/1.1 204 No Content\r\n\r\n");
}

#[test]
fn connection_options_follow_the_client() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n";
    assert_eq!(
        answer(text, false, ResponseOptions { close: true, ..CLIENT_11 }),
        format!("{head}connection: close\r\n\r\n")
    );
    let kept = ResponseOptions { client_minor: 0, keep_alive_10: true, ..CLIENT_11 };
    assert_eq!(answer(text, false, kept), format!("{head}connection: keep-alive\r\n\r\n"));
    assert_eq!(
        answer(text, false, ResponseOptions { via: true, ..CLIENT_11 }),
        format!("{head}via: 1.1 weirgate\r\n\r\n")
    );
}

#[test]
fn interim_responses_carry_neither_framing_nor_connection_options() {
    let closing = ResponseOptions { close: true, ..CLIENT_11 };
    assert_eq!(
        answer("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: close\r\n\r\n", false, closing),
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    );
    assert_eq!(
        answer(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nA: b\r\n\r\n",
            false,
            closing
        ),
        "HTTP/1.1 101 Switching Protocols\r\nA: b\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
    );
    assert_eq!(
        answer(
            "HTTP/1.1 426 Upgrade Required\r\nupgrade: x\r\nconnection: Upgrade\r\nContent-Length: 0\r\n\r\n",
            false,
            closing
        ),
        "HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: upgrade, close\r\nupgrade: x\r\n\r\n"
    );
}

#[test]
fn an_own_answer_is_one_line_that_names_the_cause() {
    let out = simple_response(502, "no endpoint of Service/default/web accepted the connection", true, false).bytes;
    let want = "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 76\r\nconnection: close\r\n\r\n\
        502 bad gateway: no endpoint of Service/default/web accepted the connection\n";
    assert_eq!(String::from_utf8_lossy(&out), want);
}

#[test]
fn own_answers_of_every_status_parse_as_responses() {
    for status in 400..=599 {
        for (detail, close, is_head) in [("", false, false), ("a\r\nb\0", true, false), ("x", false, true)] {
            let answer = simple_response(status, detail, close, is_head);
            let out = &answer.bytes;
            let mut head = ResponseHead::new();
            let parsed = parse_response(out, &Limits::default(), &mut head, false, false);
            assert_eq!(parsed, Ok(Parsed::Complete), "{status}");
            assert_eq!((head.len(), out.len() - head.len()), (answer.head_bytes, answer.body_bytes()));
            assert_eq!((head.status, head.keep_alive), (status, !close));
            let body = &out[head.len()..];
            assert_eq!(is_head, body.is_empty());
            assert!(is_head || head.declared_length == Some(body.len() as u64));
            assert_eq!(body.iter().filter(|byte| byte.is_ascii_control()).count(), usize::from(!is_head));
        }
    }
}

#[test]
fn written_chunks_are_read_back() {
    for len in [1usize, 9, 15, 16, 255, 256, 4095, 65_536, 1 << 20] {
        let mut wire = Vec::new();
        write_chunk_head(&mut wire, len);
        wire.resize(wire.len() + len, b'x');
        wire.extend_from_slice(CHUNK_END);
        wire.extend_from_slice(LAST_CHUNK);
        let mut decoder = Chunked::new();
        let step = decoder.feed(&wire).expect("chunk");
        assert_eq!(step.data.len(), len);
        let rest = decoder.scan(&wire[step.consumed..]).expect("end");
        assert!(rest.done && step.consumed + rest.consumed == wire.len());
    }
}
