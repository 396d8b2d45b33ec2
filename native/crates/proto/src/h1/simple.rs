//! Answers that the proxy gives itself: a status, one line of text naming the cause.
//! Not here: when they are given.
//! Serves the engine for refusals and upstream failures.

use super::forward::{write_content_length, write_decimal};

/// An answer of our own, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleResponse {
    pub bytes: Vec<u8>,
    /// How many of them are the head; the body follows.
    pub head_bytes: usize,
}

impl SimpleResponse {
    /// Bytes of the body; 0 for a HEAD request.
    pub fn body_bytes(&self) -> usize {
        self.bytes.len() - self.head_bytes
    }
}

/// A whole response: `text/plain`, one line such as
/// `502 bad gateway: no endpoint of Service/default/web accepted the connection`.
///
/// `close` adds `Connection: close`; for a HEAD request the body is left out and its length kept. Control characters in `detail` become
/// spaces. 503 carries `Retry-After: 1`.
pub fn simple_response(status: u16, detail: &str, close: bool, head_request: bool) -> SimpleResponse {
    let phrase = reason_phrase(status);
    let mut body = Vec::with_capacity(detail.len() + 48);
    write_decimal(&mut body, u64::from(status));
    body.push(b' ');
    body.extend(phrase.bytes().map(|byte| byte.to_ascii_lowercase()));
    if !detail.is_empty() {
        body.extend_from_slice(b": ");
        body.extend(detail.bytes().map(|byte| if byte.is_ascii_control() { b' ' } else { byte }));
    }
    body.push(b'\n');

    let mut out = Vec::with_capacity(body.len() + 160);
    out.extend_from_slice(b"HTTP/1.1 ");
    write_decimal(&mut out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(phrase.as_bytes());
    out.extend_from_slice(b"\r\ncontent-type: text/plain; charset=utf-8\r\n");
    write_content_length(&mut out, body.len() as u64);
    if status == 503 {
        out.extend_from_slice(b"retry-after: 1\r\n");
    }
    if close {
        out.extend_from_slice(b"connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
    let head_bytes = out.len();
    if !head_request {
        out.extend_from_slice(&body);
    }
    SimpleResponse { bytes: out, head_bytes }
}

/// The phrase of RFC 9110 for the statuses that a proxy gives; `Error` for others.
pub fn reason_phrase(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        414 => "URI Too Long",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}
