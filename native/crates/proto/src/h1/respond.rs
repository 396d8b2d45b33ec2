//! Writes the response head that a client gets.
//! Not here: answers of our own (simple.rs), header filters of routes.
//! Serves the downstream side of the engine.

use std::io::Write;

use super::forward::{copy, write_content_length};
use super::{KnownName, ResponseBody, ResponseHead};

/// How the response is framed towards the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseOptions {
    /// Minor version of the client's request.
    pub client_minor: u8,
    /// Add `Connection: close`.
    pub close: bool,
    /// Add `Connection: keep-alive`, which a 1.0 client that asked for it needs.
    pub keep_alive_10: bool,
    /// The engine writes a body that lasts until close as chunks; only for a 1.1 client.
    pub chunked_from_close: bool,
    /// The engine takes the chunks apart and closes at the end; implied for a 1.0 client.
    pub dechunk: bool,
    /// Add `Via: 1.1 weirgate`.
    pub via: bool,
}

/// Appends the head to `out`: version 1.1, status and reason as received, hop-by-hop fields removed, framing written once.
///
/// A body whose end the client can only learn from the close gets `Connection: close` whatever `close` says. Interim responses (1xx) get
/// neither framing nor a connection option; 101 keeps its upgrade.
pub fn write_response_head(out: &mut Vec<u8>, bytes: &[u8], head: &ResponseHead, options: &ResponseOptions) {
    out.reserve(head.len() + 128);
    out.extend_from_slice(b"HTTP/1.1 ");
    let hundreds = [head.status / 100 % 10, head.status / 10 % 10, head.status % 10];
    out.extend(hundreds.map(|digit| b'0' + digit as u8));
    out.push(b' ');
    out.extend_from_slice(head.reason.of(bytes));
    out.extend_from_slice(b"\r\n");
    let dechunk = options.dechunk || options.client_minor == 0;
    copy_fields(out, bytes, head, dechunk && head.declared_chunked);
    let ends_by_close = write_framing(out, head, options, dechunk);
    if options.via {
        let _infallible = write!(out, "via: 1.{} weirgate\r\n", head.minor_version());
    }
    match head.upgrade {
        Some(protocol) if head.status == 101 || head.status == 426 => {
            out.extend_from_slice(b"connection: upgrade");
            // 426 is a final response: it may close as well.
            if head.status == 426 && (options.close || ends_by_close) {
                out.extend_from_slice(b", close");
            }
            out.extend_from_slice(b"\r\nupgrade: ");
            out.extend_from_slice(protocol.of(bytes));
            out.extend_from_slice(b"\r\n");
        }
        _ if head.status < 200 => {}
        _ if options.close || ends_by_close => out.extend_from_slice(b"connection: close\r\n"),
        _ if options.keep_alive_10 => out.extend_from_slice(b"connection: keep-alive\r\n"),
        _ => {}
    }
    out.extend_from_slice(b"\r\n");
}

fn copy_fields(out: &mut Vec<u8>, bytes: &[u8], head: &ResponseHead, loses_trailers: bool) {
    let (start, end) = head.field_lines();
    let mut run = start;
    let mut fields = head.headers().iter().peekable();
    while let Some(field) = fields.next() {
        if field.hop || (loses_trailers && field.kind == KnownName::Trailer) {
            copy(out, bytes, run, field.name.start as usize);
            run = fields.peek().map_or(end, |next| next.name.start as usize);
        }
    }
    copy(out, bytes, run, end);
}

/// Writes the framing fields; true when the body ends with the connection.
fn write_framing(out: &mut Vec<u8>, head: &ResponseHead, options: &ResponseOptions, dechunk: bool) -> bool {
    const CHUNKED: &[u8] = b"transfer-encoding: chunked\r\n";
    match head.body {
        // 1xx and 204 must not carry framing; HEAD and 304 say what a GET would have got (RFC 9110 §8.6).
        ResponseBody::None if head.status < 200 || head.status == 204 => false,
        ResponseBody::None => {
            if let Some(length) = head.declared_length {
                write_content_length(out, length);
            } else if head.declared_chunked && !dechunk {
                out.extend_from_slice(CHUNKED);
            }
            false
        }
        ResponseBody::Length(length) => {
            write_content_length(out, length);
            false
        }
        ResponseBody::Chunked if dechunk => true,
        ResponseBody::Chunked => {
            out.extend_from_slice(CHUNKED);
            false
        }
        ResponseBody::UntilClose if options.chunked_from_close && options.client_minor > 0 => {
            out.extend_from_slice(CHUNKED);
            false
        }
        ResponseBody::UntilClose => true,
    }
}
