//! Writes the request head that a backend gets.
//! Not here: the choice of the backend, header filters of routes.
//! Serves the upstream side of the engine; the hot path of every request.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};

use super::{BodyLength, KnownName, RequestHead};

/// What the proxy adds to a request.
#[derive(Debug, Clone, Copy)]
pub struct ForwardOptions<'a> {
    /// Address of the peer on the connection, for X-Forwarded-For; an IPv4-mapped address is written as IPv4.
    pub peer: IpAddr,
    /// Whether the peer is a trusted proxy, whose own forwarding fields are kept.
    pub trusted: bool,
    /// `http` or `https`, as the client spoke to us.
    pub scheme: &'a str,
    /// Add `Via: 1.1 weirgate`.
    pub via: bool,
    /// False adds `Connection: close`.
    pub keep_alive_upstream: bool,
    /// Host for a 1.0 request that has none; the endpoint's `address:port` fits.
    pub fallback_host: &'a [u8],
}

impl Default for ForwardOptions<'_> {
    fn default() -> Self {
        Self {
            peer: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            trusted: false,
            scheme: "http",
            via: false,
            keep_alive_upstream: true,
            fallback_host: b"",
        }
    }
}

/// Appends the head to `out`: origin-form target, version 1.1, Host as received (or the authority of an absolute-form target),
/// hop-by-hop fields removed, framing written once, forwarding fields set, an upgrade kept.
///
/// X-Forwarded-For, -Proto and -Host are always there. Of a trusted peer the first is appended to, the others are kept if present;
/// of any other peer all of them, X-Forwarded-Port and Forwarded are dropped. Runs of unchanged field lines are copied whole.
pub fn write_request_head(out: &mut Vec<u8>, bytes: &[u8], head: &RequestHead, options: &ForwardOptions<'_>) {
    // The longest of what is added: forwarding fields, framing, upgrade, one Host twice more.
    out.reserve(head.len() + 2 * head.host(bytes).len() + options.fallback_host.len() + 256);
    out.extend_from_slice(head.method(bytes));
    out.push(b' ');
    if head.is_asterisk() {
        out.push(b'*');
    } else {
        if head.target_needs_slash() {
            out.push(b'/');
        }
        out.extend_from_slice(head.target(bytes));
    }
    out.extend_from_slice(b" HTTP/1.1\r\n");
    write_host(out, bytes, head, options);
    let kept = copy_fields(out, bytes, head, options);
    write_forwarded(out, bytes, head, options, kept);
    match head.body {
        BodyLength::None => {}
        BodyLength::Length(length) => write_content_length(out, length),
        BodyLength::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
    }
    if options.via {
        let _infallible = write!(out, "via: 1.{} weirgate\r\n", head.minor_version());
    }
    if let Some(protocol) = head.upgrade {
        out.extend_from_slice(b"connection: upgrade\r\nupgrade: ");
        out.extend_from_slice(protocol.of(bytes));
        out.extend_from_slice(b"\r\n");
    } else if !options.keep_alive_upstream {
        out.extend_from_slice(b"connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// Host is written here only when the field cannot be copied: absolute-form target, or 1.0 without it.
fn write_host(out: &mut Vec<u8>, bytes: &[u8], head: &RequestHead, options: &ForwardOptions<'_>) {
    let host = head.host(bytes);
    if head.absolute_form || host.is_empty() {
        out.extend_from_slice(b"host: ");
        out.extend_from_slice(if host.is_empty() { options.fallback_host } else { host });
        out.extend_from_slice(b"\r\n");
    }
}

/// Which forwarding fields of a trusted peer are there.
#[derive(Debug, Default, Clone, Copy)]
struct Kept {
    addresses: bool,
    proto: bool,
    host: bool,
}

fn copy_fields(out: &mut Vec<u8>, bytes: &[u8], head: &RequestHead, options: &ForwardOptions<'_>) -> Kept {
    let (start, end) = head.field_lines();
    let mut kept = Kept::default();
    let mut run = start;
    let mut fields = head.headers().iter().peekable();
    while let Some(field) = fields.next() {
        let dropped = match field.kind {
            KnownName::XForwardedFor => {
                kept.addresses = options.trusted;
                true
            }
            KnownName::XForwardedProto => {
                kept.proto = options.trusted;
                !options.trusted
            }
            KnownName::XForwardedHost => {
                kept.host = options.trusted;
                !options.trusted
            }
            KnownName::XForwardedPort | KnownName::Forwarded | KnownName::ForwardedLookalike => !options.trusted,
            _ => false,
        };
        if dropped || head.drops(field) {
            copy(out, bytes, run, field.name.start as usize);
            run = fields.peek().map_or(end, |next| next.name.start as usize);
        }
    }
    copy(out, bytes, run, end);
    kept
}

/// Appends `bytes[start..end]`; nothing when the head was not parsed from these bytes.
#[inline]
pub(crate) fn copy(out: &mut Vec<u8>, bytes: &[u8], start: usize, end: usize) {
    out.extend_from_slice(bytes.get(start..end).unwrap_or(&[]));
}

fn write_forwarded(out: &mut Vec<u8>, bytes: &[u8], head: &RequestHead, options: &ForwardOptions<'_>, kept: Kept) {
    out.extend_from_slice(b"x-forwarded-for: ");
    if kept.addresses {
        for field in head.headers().iter().filter(|field| field.kind == KnownName::XForwardedFor) {
            let value = field.value.of(bytes);
            if !value.is_empty() {
                out.extend_from_slice(value);
                out.extend_from_slice(b", ");
            }
        }
    }
    write_ip(out, options.peer);
    out.extend_from_slice(b"\r\n");
    if !kept.proto {
        out.extend_from_slice(b"x-forwarded-proto: ");
        out.extend_from_slice(options.scheme.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    let host = head.host(bytes);
    if !kept.host && !host.is_empty() {
        out.extend_from_slice(b"x-forwarded-host: ");
        out.extend_from_slice(host);
        out.extend_from_slice(b"\r\n");
    }
}

pub(crate) fn write_content_length(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(b"content-length: ");
    write_decimal(out, length);
    out.extend_from_slice(b"\r\n");
}

/// Without the machinery of `fmt`, which costs more than the rest of the rewriting.
pub(crate) fn write_decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn write_ip(out: &mut Vec<u8>, address: IpAddr) {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            for (index, octet) in address.octets().into_iter().enumerate() {
                if index > 0 {
                    out.push(b'.');
                }
                write_decimal(out, u64::from(octet));
            }
        }
        IpAddr::V6(address) => {
            let _infallible = write!(out, "{address}");
        }
    }
}
