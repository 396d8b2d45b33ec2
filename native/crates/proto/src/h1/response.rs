//! Response heads (RFC 9112 §4, §6.3): parsed as strictly as requests, since a backend's ambiguity is the next client's poison.
//! Not here: writing them to a client (respond.rs).
//! Serves the upstream side of the engine; every error means 502 for the client.

use super::fields::{Encoding, parse_fields};
use super::request::find;
use super::scan::first_line;
use super::{HeadError, HeadScan, HeaderField, Limits, Parsed, Span};

/// How the body of a response is delimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResponseBody {
    #[default]
    None,
    /// Exactly this many bytes, perhaps 0.
    Length(u64),
    Chunked,
    /// Up to the end of the connection.
    UntilClose,
}

/// A parsed response head, reused like `RequestHead`.
#[derive(Debug, Clone, Default)]
pub struct ResponseHead {
    /// 100 to 999.
    pub status: u16,
    /// The reason phrase, perhaps empty.
    pub reason: Span,
    pub body: ResponseBody,
    /// Whether the backend keeps the connection, once the body has ended. False for `UntilClose` and 101.
    pub keep_alive: bool,
    /// Value of `Upgrade`, when `Connection: upgrade` is there too; of use with 101.
    pub upgrade: Option<Span>,
    /// Content-Length as declared, also where no body follows (HEAD, 304).
    pub declared_length: Option<u64>,
    /// Whether chunked was declared, also where no body follows (HEAD, 304).
    pub declared_chunked: bool,
    minor: u8,
    fields_start: u32,
    len: u32,
    fields: Vec<HeaderField>,
}

impl ResponseHead {
    /// Storage for a head, empty.
    pub fn new() -> Self {
        Self { fields: Vec::with_capacity(32), ..Self::default() }
    }

    /// Whether another head follows: 1xx, except 101, which ends HTTP on the connection.
    pub fn is_interim(&self) -> bool {
        self.status < 200 && self.status != 101
    }

    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub fn minor_version(&self) -> u8 {
        self.minor
    }

    /// Bytes of the head with its final CRLF: the body or the next head begins here.
    #[allow(clippy::len_without_is_empty)] // A head is never empty.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// All header fields in order.
    pub fn headers(&self) -> &[HeaderField] {
        &self.fields
    }

    /// Value of the first field of this name (given in lower case). Cost: O(fields).
    pub fn find<'a>(&self, bytes: &'a [u8], lower_name: &[u8]) -> Option<&'a [u8]> {
        find(&self.fields, bytes, lower_name)
    }

    /// Where the field lines begin and end.
    pub(crate) fn field_lines(&self) -> (usize, usize) {
        (self.fields_start as usize, (self.len as usize).saturating_sub(2))
    }
}

/// Parses the response head at the start of `bytes`, which may go on behind it.
/// # Errors  The first fault; the client gets a 502 and the connection is not used again.
pub fn parse_response(
    bytes: &[u8],
    limits: &Limits,
    head: &mut ResponseHead,
    request_method_is_head: bool,
    was_connect: bool,
) -> Result<Parsed, HeadError> {
    parse_response_from(bytes, limits, &mut HeadScan::new(), head, request_method_is_head, was_connect)
}

/// Like `parse_response`, going on from where `scan` stopped. The result does not depend on how the bytes arrived.
/// # Errors  The first fault; `scan` is then of no more use.
pub fn parse_response_from(
    bytes: &[u8],
    limits: &Limits,
    scan: &mut HeadScan,
    head: &mut ResponseHead,
    request_method_is_head: bool,
    was_connect: bool,
) -> Result<Parsed, HeadError> {
    match scan.advance(bytes, limits.max_head_bytes) {
        Ok(Some(end)) => {
            parse_complete(bytes, end, limits, head, request_method_is_head, was_connect)?;
            Ok(Parsed::Complete)
        }
        Ok(None) => {
            if !scan.first_line_judged
                && let Some((start, end)) = first_line(bytes)
            {
                parse_status_line(bytes, start, end, head)?;
                scan.first_line_judged = true;
            }
            Ok(Parsed::Incomplete)
        }
        Err(fault) => {
            if let Some((start, end)) = first_line(&bytes[..bytes.len().min(limits.max_head_bytes)]) {
                parse_status_line(bytes, start, end, head)?;
            }
            Err(fault)
        }
    }
}

fn parse_complete(
    bytes: &[u8],
    len: usize,
    limits: &Limits,
    head: &mut ResponseHead,
    request_method_is_head: bool,
    was_connect: bool,
) -> Result<(), HeadError> {
    let line_end = memchr::memchr(b'\r', &bytes[..len]).ok_or(HeadError::StatusLine)?;
    parse_status_line(bytes, 0, line_end, head)?;
    head.fields_start = (line_end + 2) as u32;
    head.len = len as u32;
    let summary = parse_fields(bytes, line_end + 2, len - 2, limits, &mut head.fields)?;
    if summary.encoding == Encoding::Chunked && head.minor == 0 {
        return Err(HeadError::TransferEncodingVersion);
    }
    head.declared_length = summary.length;
    head.declared_chunked = summary.encoding == Encoding::Chunked;
    let no_body = request_method_is_head
        || matches!(head.status, 100..=199 | 204 | 304)
        || (was_connect && matches!(head.status, 200..=299));
    head.body = match (summary.encoding, summary.length) {
        _ if no_body => ResponseBody::None,
        (Encoding::Chunked, _) => ResponseBody::Chunked,
        (Encoding::Absent, Some(length)) => ResponseBody::Length(length),
        (Encoding::Absent, None) => ResponseBody::UntilClose,
    };
    head.keep_alive = !summary.close
        && (head.minor == 1 || summary.keep_alive)
        && head.body != ResponseBody::UntilClose
        && head.status != 101;
    head.upgrade = summary.upgrade.filter(|_| head.minor == 1);
    Ok(())
}

/// `HTTP/1.1 200 OK`; the space before an empty reason may be missing, as many servers leave it out.
fn parse_status_line(bytes: &[u8], start: usize, end: usize, head: &mut ResponseHead) -> Result<(), HeadError> {
    let line = &bytes[start..end];
    let [b'H', b'T', b'T', b'P', b'/', major, b'.', minor, b' ', a, b, c, rest @ ..] = line else {
        return Err(HeadError::StatusLine);
    };
    if start != 0 || !major.is_ascii_digit() || !minor.is_ascii_digit() {
        return Err(HeadError::StatusLine);
    }
    if *major != b'1' || *minor > b'1' {
        return Err(HeadError::VersionUnsupported);
    }
    let is_code = (b'1'..=b'9').contains(a) && b.is_ascii_digit() && c.is_ascii_digit();
    if !is_code || rest.first().is_some_and(|&byte| byte != b' ') {
        return Err(HeadError::StatusLine);
    }
    head.minor = minor - b'0';
    head.status = u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0');
    head.reason = Span::new((start + 13).min(end), end);
    Ok(())
}
