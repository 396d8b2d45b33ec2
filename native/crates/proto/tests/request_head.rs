//! What is accepted as a request head and what is not, case by case (RFC 9112; incidents H3, H4, H5, H13).

use proto::h1::{BodyLength, HeadError, KnownName, Limits, MethodKind, Parsed, RequestHead, parse_request};

fn parse(text: &str) -> Result<(RequestHead, Parsed), HeadError> {
    let mut head = RequestHead::new();
    let parsed = parse_request(text.as_bytes(), &Limits::default(), &mut head)?;
    Ok((head, parsed))
}

#[track_caller]
fn accept(text: &str) -> RequestHead {
    match parse(text) {
        Ok((head, Parsed::Complete)) => head,
        other => panic!("{text:?} gave {other:?}"),
    }
}

#[track_caller]
fn refuse(text: &str, fault: HeadError, status: u16) {
    match parse(text) {
        Err(found) => {
            assert_eq!(found, fault, "{text:?}");
            assert_eq!(found.status(), status, "{text:?}");
        }
        Ok(parsed) => panic!("{text:?} was accepted: {parsed:?}"),
    }
}

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n\r\n")
}

fn with(lines: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a.test\r\n{lines}\r\n")
}

#[test]
fn a_plain_request_is_taken_apart() {
    let text =
        "GET /a/b?c=d?e HTTP/1.1\r\nHost: Shop.Corp.Test:8080\r\nX-Empty:\r\nAccept: \t text/html \t\r\n\r\nBODY";
    let bytes = text.as_bytes();
    let head = accept(text);
    assert_eq!(head.len(), text.len() - 4);
    assert_eq!(head.method(bytes), b"GET");
    assert_eq!(head.method_kind, MethodKind::Get);
    assert_eq!(head.target(bytes), b"/a/b?c=d?e");
    assert_eq!(head.path(bytes), b"/a/b");
    assert_eq!(head.query(bytes), Some(&b"c=d?e"[..]));
    assert_eq!(head.host(bytes), b"Shop.Corp.Test:8080");
    assert_eq!(head.host_name(bytes), b"Shop.Corp.Test");
    assert_eq!(head.find(bytes, b"accept"), Some(&b"text/html"[..]));
    assert_eq!(head.find(bytes, b"x-empty"), Some(&b""[..]));
    assert_eq!(head.find(bytes, b"absent"), None);
    assert_eq!(head.headers().len(), 3);
    assert!(head.keep_alive && !head.absolute_form && !head.is_head && !head.expect_continue);
    assert_eq!(head.body, BodyLength::None);
}

#[test]
fn accessors_given_other_bytes_give_nothing_instead_of_panicking() {
    let head = accept(&get("/a?b"));
    assert_eq!(head.path(b""), b"/");
    assert_eq!(head.query(b"GET"), Some(&b""[..]));
    assert_eq!(head.host(b"x"), b"");
    assert_eq!(head.find(b"", b"host"), None);
}

#[test]
fn one_empty_line_before_the_request_line_is_skipped_and_counted() {
    let text = format!("\r\n{}", get("/x"));
    let head = accept(&text);
    assert_eq!(head.len(), text.len());
    assert_eq!(head.path(text.as_bytes()), b"/x");
    refuse(&format!("\r\n\r\n{}", get("/")), HeadError::RequestLine, 400);
    refuse(&format!("\n{}", get("/")), HeadError::BareLf, 400);
    refuse(&format!(" {}", get("/")), HeadError::Method, 400);
}

#[test]
fn bytes_that_no_head_may_hold_are_refused_wherever_they_stand() {
    let cases = [
        ("GET / HTTP/1.1\nHost: a.test\n\n", HeadError::BareLf),
        ("GET / HTTP/1.1\r\nHost: a.test\n\r\n", HeadError::BareLf),
        ("GET / HTTP/1.1\r\nHost: a.test\r\n\n", HeadError::BareLf),
        ("GET / HTTP/1.1\rHost: a.test\r\n\r\n", HeadError::BareCr),
        ("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", HeadError::BareCr),
        ("GET / HTTP/1.1\r\nHost: a.test\r\r\n\r\n", HeadError::BareCr),
        ("GET /\0 HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::Nul),
        ("GET / HTTP/1.1\r\nHost: a.test\r\nX: a\0b\r\n\r\n", HeadError::Nul),
        ("GET / HTTP/1.1\r\nHost: a.test\r\nX: a\x0bb\r\n\r\n", HeadError::ControlCharacter),
        ("GET / HTTP/1.1\r\nHost: a.test\r\nX: a\x7fb\r\n\r\n", HeadError::ControlCharacter),
        ("GET / HTTP/1.1\r\nHost: a.test\r\nX\x01: b\r\n\r\n", HeadError::ControlCharacter),
        ("\x16\x03\x01\x02\x00\x01\x00\x01", HeadError::Tls),
    ];
    for (text, fault) in cases {
        refuse(text, fault, 400);
    }
}

#[test]
fn a_request_line_has_three_parts_with_single_spaces() {
    let cases = [
        ("GET /\r\nHost: a.test\r\n\r\n", HeadError::RequestLine, 400),
        ("GET\r\nHost: a.test\r\n\r\n", HeadError::RequestLine, 400),
        ("GET  / HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::TargetCharacter, 400),
        ("GET /  HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::TargetCharacter, 400),
        ("GET / HTTP/1.1 \r\nHost: a.test\r\n\r\n", HeadError::RequestLine, 400),
        ("GET\t/ HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::Method, 400),
        ("GET HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::RequestLine, 400),
        ("GET  HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::RequestLine, 400),
        (" / HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::Method, 400),
        ("G@T / HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::Method, 400),
        ("GET / http/1.1\r\nHost: a.test\r\n\r\n", HeadError::RequestLine, 400),
        ("GET / HTTP/1.10\r\nHost: a.test\r\n\r\n", HeadError::RequestLine, 400),
        ("GET / HTTP/1.2\r\nHost: a.test\r\n\r\n", HeadError::VersionUnsupported, 505),
        ("GET / HTTP/2.0\r\nHost: a.test\r\n\r\n", HeadError::VersionUnsupported, 505),
        ("GET / HTTP/0.9\r\nHost: a.test\r\n\r\n", HeadError::VersionUnsupported, 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HeadError::Http2Preface, 505),
        ("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::Connect, 501),
    ];
    for (text, fault, status) in cases {
        refuse(text, fault, status);
    }
}

#[test]
fn a_wrong_request_line_is_refused_before_the_head_is_complete() {
    refuse("SSH-2.0-OpenSSH_9.2\r\n", HeadError::RequestLine, 400);
    refuse("PRI * HTTP/2.0\r\n", HeadError::Http2Preface, 505);
    refuse("GET / HTTP/3.0\r\nHost", HeadError::VersionUnsupported, 505);
}

#[test]
fn targets_are_visible_ascii_in_origin_absolute_or_asterisk_form() {
    for target in ["/a b", "/a#b", "/\u{e9}", "http://a.test/#x"] {
        refuse(&get(target), HeadError::TargetCharacter, 400);
    }
    for target in ["a", "*", "?a", "ftp://a.test/", "http:/a.test", "a.test:80", "//"] {
        if target == "//" {
            accept(&get(target));
        } else {
            refuse(&get(target), HeadError::TargetForm, 400);
        }
    }
    for target in ["/%2e%2e/", "/{a|b}^[c]\"<>\\`", "/?", "/a?/b", "/;x=1"] {
        accept(&get(target));
    }
}

#[test]
fn an_absolute_form_target_names_the_host_and_the_host_field_loses() {
    // target, host, host name, path, query, target as forwarded lacks its slash
    let cases = [
        ("http://shop.corp.test?id=7", "shop.corp.test", "shop.corp.test", "/", Some("id=7"), true),
        ("http://shop.corp.test:8080", "shop.corp.test:8080", "shop.corp.test", "/", None, true),
        ("HTTP://SHOP.corp.TEST/a", "SHOP.corp.TEST", "SHOP.corp.TEST", "/a", None, false),
        ("https://shop.corp.test/a?b/c", "shop.corp.test", "shop.corp.test", "/a", Some("b/c"), false),
        ("http://[2001:db8::1]:80/", "[2001:db8::1]:80", "[2001:db8::1]", "/", None, false),
    ];
    for (target, host, name, path, query, lacks_slash) in cases {
        let text = format!("GET {target} HTTP/1.1\r\nHost: evil.corp.test\r\n\r\n");
        let bytes = text.as_bytes();
        let head = accept(&text);
        assert!(head.absolute_form);
        assert_eq!(head.host(bytes), host.as_bytes(), "{target}");
        assert_eq!(head.host_name(bytes), name.as_bytes(), "{target}");
        assert_eq!(head.path(bytes), path.as_bytes(), "{target}");
        assert_eq!(head.query(bytes), query.map(str::as_bytes), "{target}");
        assert_eq!(head.target_needs_slash(), lacks_slash, "{target}");
    }
    refuse(&get("http://user@shop.corp.test/"), HeadError::UserInfo, 400);
    refuse(&get("http://user:pass@shop.corp.test/"), HeadError::UserInfo, 400);
    refuse(&get("http://"), HeadError::HostInvalid, 400);
    refuse(&get("http:///a"), HeadError::HostInvalid, 400);
    refuse(&get("http://:80/a"), HeadError::HostInvalid, 400);
    refuse("GET http://a.test/ HTTP/1.1\r\n\r\n", HeadError::HostMissing, 400);
    refuse("GET http://a.test/ HTTP/1.1\r\nHost: a b\r\n\r\n", HeadError::HostInvalid, 400);
}

#[test]
fn asterisk_is_for_options_alone_and_is_routed_as_the_root() {
    let text = "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let head = accept(text);
    assert!(head.is_asterisk());
    assert_eq!(head.path(text.as_bytes()), b"/");
    assert_eq!(head.method_kind, MethodKind::Options);
    assert!(accept("OPTIONS http://a.test HTTP/1.1\r\nHost: a.test\r\n\r\n").is_asterisk());
    assert!(!accept("OPTIONS http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n").is_asterisk());
    refuse("OPTIONS *a HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadError::TargetForm, 400);
}

#[test]
fn a_1_1_request_has_exactly_one_valid_host() {
    let host = |value: &str| format!("GET / HTTP/1.1\r\nHost:{value}\r\n\r\n");
    let accepted = [
        ("api.corp.test", "api.corp.test"),
        ("api.corp.test:8443", "api.corp.test"),
        ("api.corp.test:9999", "api.corp.test"),
        ("API.Corp.Test:8443", "API.Corp.Test"),
        // An empty port is the default port (RFC 3986 §3.2.3).
        ("api.corp.test:", "api.corp.test"),
        ("api.corp.test.", "api.corp.test"),
        ("api.corp.test.:80", "api.corp.test"),
        ("192.0.2.1:80", "192.0.2.1"),
        ("[::1]:8080", "[::1]"),
        ("under_score", "under_score"),
        ("a:00080", "a"),
    ];
    for (value, name) in accepted {
        let text = host(&format!(" {value}\t"));
        let head = accept(&text);
        assert_eq!(head.host(text.as_bytes()), value.as_bytes());
        assert_eq!(head.host_name(text.as_bytes()), name.as_bytes());
    }
    let long = "a".repeat(256);
    let refused = [
        "",
        " ",
        " :80",
        " .",
        " api.corp.test:x",
        " a:8o",
        " a:-1",
        " a:65536",
        " a:000080",
        " a b",
        " a,b",
        " a/b",
        " a?b",
        " u@a",
        " *.a",
        " a%41",
        " [::1",
        " [1]",
        " []",
        " [::1]x",
        " [fe80::1%25eth0]",
        " a:80:80",
        &format!(" {long}"),
    ];
    for value in refused {
        refuse(&host(value), HeadError::HostInvalid, 400);
    }
    refuse("GET / HTTP/1.1\r\n\r\n", HeadError::HostMissing, 400);
    refuse("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", HeadError::HostRepeated, 400);
    refuse("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", HeadError::HostRepeated, 400);
    assert_eq!(accept("GET / HTTP/1.0\r\n\r\n").host(b""), b"");
    refuse("GET / HTTP/1.0\r\nHost: a b\r\n\r\n", HeadError::HostInvalid, 400);
}

#[test]
fn field_lines_are_name_colon_value_without_folding() {
    let cases = [
        ("X : a\r\n", HeadError::SpaceBeforeColon),
        ("X\t: a\r\n", HeadError::SpaceBeforeColon),
        ("Transfer-Encoding : chunked\r\n", HeadError::SpaceBeforeColon),
        ("X: a\r\n b\r\n", HeadError::ObsFold),
        ("X: a\r\n\tb\r\n", HeadError::ObsFold),
        (" X: a\r\n", HeadError::ObsFold),
        (": a\r\n", HeadError::FieldName),
        ("X\r\n", HeadError::MissingColon),
        ("X Y: a\r\n", HeadError::FieldName),
        ("X@: a\r\n", HeadError::FieldName),
        ("X\u{e9}: a\r\n", HeadError::FieldName),
        ("{X}: a\r\n", HeadError::FieldName),
    ];
    for (line, fault) in cases {
        refuse(&with(line), fault, 400);
    }
    accept(&with("X: \u{e9}\"quoted\" (comment) : ;\r\n"));
    accept(&with("!#$%&'*+-.^_`|~09azAZ: any\r\n"));
}

#[test]
fn content_length_is_digits_or_a_list_of_one_number() {
    let cases = [
        ("18", 18),
        ("0", 0),
        ("018", 18),
        ("18, 18", 18),
        ("18,18,\t18", 18),
        ("9223372036854775807", i64::MAX as u64),
    ];
    for (value, length) in cases {
        assert_eq!(accept(&with(&format!("Content-Length: {value}\r\n"))).body, BodyLength::Length(length), "{value}");
    }
    let cases = [
        ("", HeadError::ContentLength),
        (" ", HeadError::ContentLength),
        ("+18", HeadError::ContentLength),
        ("-0", HeadError::ContentLength),
        ("0x12", HeadError::ContentLength),
        ("18;", HeadError::ContentLength),
        ("1 8", HeadError::ContentLength),
        ("18,", HeadError::ContentLength),
        (",18", HeadError::ContentLength),
        ("18 , , 18", HeadError::ContentLength),
        ("1e2", HeadError::ContentLength),
        ("\u{661}", HeadError::ContentLength),
        ("18, 19", HeadError::ContentLengthRepeated),
        ("9223372036854775808", HeadError::ContentLengthTooLarge),
        ("18446744073709551634", HeadError::ContentLengthTooLarge),
        ("0000000000000000000000018", HeadError::ContentLengthTooLarge),
        ("1111111111111111111111111", HeadError::ContentLengthTooLarge),
    ];
    for (value, fault) in cases {
        refuse(&with(&format!("Content-Length: {value}\r\n")), fault, 400);
    }
    refuse(&with("Content-Length: 18\r\nContent-Length: 18\r\n"), HeadError::ContentLengthRepeated, 400);
    refuse(&with("Content-Length: 18\r\ncontent-LENGTH: 19\r\n"), HeadError::ContentLengthRepeated, 400);
}

#[test]
fn transfer_encoding_is_exactly_chunked() {
    for value in ["chunked", "Chunked", "CHUNKED", " chunked \t"] {
        assert_eq!(accept(&with(&format!("Transfer-Encoding:{value}\r\n"))).body, BodyLength::Chunked, "{value:?}");
    }
    let cases = [
        ("xchunked", HeadError::TransferEncoding, 400),
        ("chunkedx", HeadError::TransferEncoding, 400),
        ("chunked, identity", HeadError::TransferEncoding, 400),
        ("chunked, chunked", HeadError::TransferEncoding, 400),
        ("chunked;q=1", HeadError::TransferEncoding, 400),
        ("chunk\ted", HeadError::TransferEncoding, 400),
        ("identity", HeadError::TransferEncoding, 400),
        ("gzip", HeadError::TransferEncoding, 400),
        ("", HeadError::TransferEncoding, 400),
        (",chunked", HeadError::TransferEncoding, 400),
        ("\"chunked\"", HeadError::TransferEncoding, 400),
        ("gzip, chunked", HeadError::TransferCoding, 501),
        ("gzip;level=9, br, chunked", HeadError::TransferCoding, 501),
    ];
    for (value, fault, status) in cases {
        refuse(&with(&format!("Transfer-Encoding: {value}\r\n")), fault, status);
    }
    refuse(&with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), HeadError::TransferEncoding, 400);
    refuse(&with("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), HeadError::TransferEncoding, 400);
    refuse("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", HeadError::TransferEncodingVersion, 400);
}

#[test]
fn no_spelling_of_transfer_encoding_beside_content_length_is_accepted() {
    let spellings = [
        "Transfer-Encoding: chunked\t",
        "Transfer-Encoding:\tchunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding: Chunked",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\r\n chunked",
        "transfer-encoding: CHUNKED",
        "Transfer-Encoding: \"chunked\"",
    ];
    for spelling in spellings {
        for lines in [format!("{spelling}\r\nContent-Length: 37\r\n"), format!("Content-Length: 37\r\n{spelling}\r\n")]
        {
            let fault = parse(&with(&lines)).expect_err(&lines);
            assert_eq!(fault.status(), 400, "{lines:?}");
        }
    }
}

#[test]
fn keep_alive_follows_version_and_connection() {
    let cases = [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: Keep-Alive, CLOSE\r\n", false),
        ("1.1", "Connection: x\r\nConnection: close\r\n", false),
        ("1.1", "Connection: not-close\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: keep-alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
        ("1.0", "Proxy-Connection: keep-alive\r\n", false),
    ];
    for (version, lines, kept) in cases {
        let head = accept(&format!("GET / HTTP/{version}\r\nHost: a\r\n{lines}\r\n"));
        assert_eq!(head.keep_alive, kept, "{version} {lines:?}");
    }
}

#[test]
fn hop_by_hop_fields_and_those_that_connection_names_are_marked() {
    let text = with(
        "Connection: X-Secret, keep-alive,x-also, Host, Content-Length, X-Forwarded-For\r\nKeep-Alive: 5\r\nTE: trailers\r\n\
         x-secret: 1\r\nX-ALSO: 2\r\nX-Stays: 3\r\nProxy-Connection: x\r\nTrailer: T\r\nX-Forwarded-For: 192.0.2.1\r\n",
    );
    let head = accept(&text);
    let marked = |name: &str| {
        let field =
            head.headers().iter().find(|field| field.name.of(text.as_bytes()).eq_ignore_ascii_case(name.as_bytes()));
        field.expect(name).hop
    };
    for name in ["connection", "keep-alive", "te", "x-secret", "x-also", "proxy-connection"] {
        assert!(marked(name), "{name}");
    }
    for name in ["x-stays", "host", "trailer", "x-forwarded-for"] {
        assert!(!marked(name), "{name}");
    }
    let many = format!("Connection: {}\r\n", ["a"; 65].join(","));
    refuse(&with(&many), HeadError::ConnectionOptions, 400);
}

#[test]
fn an_upgrade_needs_both_fields_and_is_never_h2c() {
    let upgrade = |lines: &str| {
        let text = format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
        accept(&text).upgrade.map(|span| String::from_utf8_lossy(span.of(text.as_bytes())).into_owned())
    };
    assert_eq!(upgrade("Connection: Upgrade\r\nUpgrade: websocket\r\n").as_deref(), Some("websocket"));
    assert_eq!(upgrade("Upgrade: a, b/1\r\nConnection: keep-alive, upgrade\r\n").as_deref(), Some("a, b/1"));
    for lines in [
        "Upgrade: websocket\r\n",
        "Connection: upgrade\r\n",
        "Connection: upgrade\r\nUpgrade:\r\n",
        "Connection: upgrade\r\nUpgrade: h2c\r\n",
        "Connection: upgrade\r\nUpgrade: websocket, H2C\r\n",
        "Connection: upgrade\r\nUpgrade: h2c/1\r\n",
        "Connection: upgrade\r\nUpgrade: a\r\nUpgrade: b\r\n",
    ] {
        assert_eq!(upgrade(lines), None, "{lines:?}");
    }
    assert!(accept("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n").upgrade.is_none());
}

#[test]
fn expect_continue_counts_in_1_1_only() {
    assert!(accept(&with("Expect: 100-Continue\r\nContent-Length: 1\r\n")).expect_continue);
    assert!(!accept(&with("Expect: other\r\n")).expect_continue);
    let text = "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
    let head = accept(text);
    assert!(!head.expect_continue && head.headers()[0].hop);
}

#[test]
fn limits_count_bytes_and_fields() {
    let text = get("/");
    let mut head = RequestHead::new();
    let mut parse = |text: &str, max_head_bytes, max_headers| {
        parse_request(text.as_bytes(), &Limits { max_head_bytes, max_headers }, &mut head)
    };
    assert_eq!(parse(&text, text.len(), 1), Ok(Parsed::Complete));
    assert_eq!(parse(&text, text.len() - 1, 1), Err(HeadError::HeadTooLarge));
    assert_eq!(parse(&text, text.len(), 0), Err(HeadError::TooManyHeaders));
    // A head that has used its bytes up is refused without waiting for more.
    assert_eq!(parse(&text[..30], 30, 9), Err(HeadError::HeadTooLarge));
    assert_eq!(parse(&text[..29], 30, 9), Ok(Parsed::Incomplete));
    assert_eq!(parse("GET /aaaaaaaaaaaaaaaaaaaaaaaa", 20, 9), Err(HeadError::RequestLineTooLong));
    assert_eq!(parse("\r\nGET /aaaaaaaaaaaaaaaaaaaaaaaa", 20, 9), Err(HeadError::RequestLineTooLong));
    assert_eq!(parse("", 0, 0), Err(HeadError::RequestLineTooLong));
    assert_eq!(HeadError::RequestLineTooLong.status(), 414);
    assert_eq!(HeadError::HeadTooLarge.status(), 431);
    assert_eq!(HeadError::TooManyHeaders.status(), 431);
}

#[test]
fn known_names_are_found_in_any_case_and_lookalikes_apart() {
    let cases = [
        ("ConNection", KnownName::Connection),
        ("via", KnownName::Via),
        ("X-Forwarded-Port", KnownName::XForwardedPort),
        ("x_forwarded_for", KnownName::ForwardedLookalike),
        ("X-Forwarded_Proto", KnownName::ForwardedLookalike),
        ("x-forwarded-fox", KnownName::Other),
        ("content_length", KnownName::Other),
        ("user-agent", KnownName::Other),
        ("", KnownName::Other),
    ];
    for (name, known) in cases {
        assert_eq!(KnownName::of(name.as_bytes()), known, "{name}");
    }
}
