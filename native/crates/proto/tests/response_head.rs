//! What is accepted as a response head, and how its body is delimited (RFC 9112 §6.3).

use proto::h1::{HeadError, Limits, Parsed, ResponseBody, ResponseHead, parse_response};

fn parse_to(text: &str, is_head: bool, was_connect: bool) -> Result<ResponseHead, HeadError> {
    let mut head = ResponseHead::new();
    match parse_response(text.as_bytes(), &Limits::default(), &mut head, is_head, was_connect)? {
        Parsed::Complete => Ok(head),
        Parsed::Incomplete => panic!("{text:?} is incomplete"),
    }
}

fn parse(text: &str) -> Result<ResponseHead, HeadError> {
    parse_to(text, false, false)
}

#[test]
fn a_status_line_is_version_code_and_perhaps_a_reason() {
    let cases = [
        ("HTTP/1.1 200 OK\r\n\r\n", 200, "OK"),
        ("HTTP/1.1 404 Not Found at all\r\n\r\n", 404, "Not Found at all"),
        ("HTTP/1.1 200 \r\n\r\n", 200, ""),
        ("HTTP/1.1 200\r\n\r\n", 200, ""),
        ("HTTP/1.0 999 \u{e9}\r\n\r\n", 999, "\u{e9}"),
    ];
    for (text, status, reason) in cases {
        let head = parse(text).expect(text);
        assert_eq!(head.status, status, "{text:?}");
        assert_eq!(head.reason.of(text.as_bytes()), reason.as_bytes(), "{text:?}");
        assert_eq!(head.len(), text.len());
    }
    let cases = [
        ("HTTP/1.1 20 OK\r\n\r\n", HeadError::StatusLine),
        ("HTTP/1.1 2000 OK\r\n\r\n", HeadError::StatusLine),
        ("HTTP/1.1 099 OK\r\n\r\n", HeadError::StatusLine),
        ("HTTP/1.1  200 OK\r\n\r\n", HeadError::StatusLine),
        ("HTTP/1.1 200\tOK\r\n\r\n", HeadError::StatusLine),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", HeadError::StatusLine),
        ("\r\n\r\n", HeadError::StatusLine),
        ("ICY 200 OK\r\n\r\n", HeadError::StatusLine),
        ("HTTP/2.0 200 OK\r\n\r\n", HeadError::VersionUnsupported),
        ("HTTP/1.2 200 OK\r\n\r\n", HeadError::VersionUnsupported),
        ("HTTP/1.1 200 OK\n\n", HeadError::BareLf),
        ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", HeadError::ObsFold),
    ];
    for (text, fault) in cases {
        assert_eq!(parse(text).err(), Some(fault), "{text:?}");
    }
}

#[test]
fn the_body_is_delimited_as_status_method_and_fields_say() {
    let cases = [
        ("200 OK", "Content-Length: 5\r\n", ResponseBody::Length(5)),
        ("200 OK", "Content-Length: 5, 5\r\n", ResponseBody::Length(5)),
        ("200 OK", "Transfer-Encoding: CHUNKED\r\n", ResponseBody::Chunked),
        ("200 OK", "", ResponseBody::UntilClose),
        ("100 Continue", "", ResponseBody::None),
        ("103 Early Hints", "Link: </a>\r\n", ResponseBody::None),
        ("101 Switching Protocols", "Connection: upgrade\r\nUpgrade: x\r\n", ResponseBody::None),
        ("204 No Content", "Content-Length: 5\r\n", ResponseBody::None),
        ("204 No Content", "Transfer-Encoding: chunked\r\n", ResponseBody::None),
        ("304 Not Modified", "Content-Length: 5\r\n", ResponseBody::None),
        ("205 Reset Content", "", ResponseBody::UntilClose),
    ];
    for (status, lines, body) in cases {
        let text = format!("HTTP/1.1 {status}\r\n{lines}\r\n");
        assert_eq!(parse(&text).expect(&text).body, body, "{text:?}");
        assert_eq!(parse_to(&text, true, false).expect(&text).body, ResponseBody::None, "HEAD {text:?}");
    }
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(parse_to(text, false, true).map(|head| head.body), Ok(ResponseBody::None));
    let text = "HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(parse_to(text, false, true).map(|head| head.body), Ok(ResponseBody::Length(5)));
}

#[test]
fn ambiguous_framing_of_a_response_is_refused_even_where_no_body_follows() {
    let cases = [
        ("Content-Length: 1\r\nContent-Length: 1\r\n", HeadError::ContentLengthRepeated),
        ("Content-Length: 1, 2\r\n", HeadError::ContentLengthRepeated),
        ("Content-Length: x\r\n", HeadError::ContentLength),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", HeadError::LengthAndEncoding),
        ("Transfer-Encoding: gzip, chunked\r\n", HeadError::TransferCoding),
        ("Transfer-Encoding: gzip\r\n", HeadError::TransferEncoding),
    ];
    for (lines, fault) in cases {
        for (status, is_head) in [("200 OK", false), ("200 OK", true), ("304 Not Modified", false)] {
            let text = format!("HTTP/1.1 {status}\r\n{lines}\r\n");
            assert_eq!(parse_to(&text, is_head, false).err(), Some(fault), "{text:?}");
        }
    }
    let text = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(parse(text).err(), Some(HeadError::TransferEncodingVersion));
}

#[test]
fn a_connection_is_kept_only_if_the_backend_keeps_it_and_the_body_has_an_end() {
    let cases = [
        ("1.1 200 OK", "Content-Length: 0\r\n", true),
        ("1.1 200 OK", "Content-Length: 0\r\nConnection: close\r\n", false),
        ("1.1 200 OK", "", false),
        ("1.0 200 OK", "Content-Length: 0\r\n", false),
        ("1.0 200 OK", "Content-Length: 0\r\nConnection: keep-alive\r\n", true),
        ("1.1 304 Not Modified", "", true),
        ("1.1 101 Switching Protocols", "Connection: upgrade\r\nUpgrade: x\r\n", false),
    ];
    for (line, lines, kept) in cases {
        let text = format!("HTTP/{line}\r\n{lines}\r\n");
        assert_eq!(parse(&text).expect(&text).keep_alive, kept, "{text:?}");
    }
}

#[test]
fn interim_heads_in_one_segment_are_parsed_one_after_another() {
    let text = "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let mut at = 0;
    let mut seen = Vec::new();
    loop {
        let head = parse(&text[at..]).expect("head");
        at += head.len();
        seen.push(head.status);
        if !head.is_interim() {
            assert_eq!(&text[at..], "hi");
            break;
        }
    }
    assert_eq!(seen, [103, 100, 200]);
}
