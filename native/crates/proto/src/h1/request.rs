//! Request heads (RFC 9112 §3, §6): parsed strictly into offsets.
//! Not here: writing them to a backend (forward.rs), routing.
//! Serves the downstream side of the engine.

use super::authority::host_name_len;
use super::fields::{Encoding, Summary, parse_fields};
use super::names::token_len;
use super::scan::{first_line, first_line_start};
use super::target::{Target, parse_target};
use super::{HeadError, HeadScan, HeaderField, KnownName, Limits, Parsed, Span};

/// How the body of a request is delimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BodyLength {
    #[default]
    None,
    /// Exactly this many bytes, perhaps 0.
    Length(u64),
    Chunked,
}

/// The method as far as a proxy cares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum MethodKind {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Delete,
    Options,
    Trace,
    Patch,
    Other,
}

impl MethodKind {
    /// Whether repeating the request has the effect of one (RFC 9110 §9.2.2).
    pub fn is_idempotent(self) -> bool {
        match self {
            Self::Get | Self::Head | Self::Put | Self::Delete | Self::Options | Self::Trace => true,
            Self::Post | Self::Patch | Self::Other => false,
        }
    }

    fn of(method: &[u8]) -> Self {
        match method {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            b"OPTIONS" => Self::Options,
            b"TRACE" => Self::Trace,
            b"PATCH" => Self::Patch,
            _ => Self::Other,
        }
    }
}

/// A parsed request head: offsets into the bytes that were parsed, which every accessor takes again. Keep one and parse into it over
/// and over; after the first few requests nothing allocates. Before a `Complete` its contents mean nothing.
#[derive(Debug, Clone, Default)]
pub struct RequestHead {
    pub body: BodyLength,
    /// What the peer asked for: keep-alive by default in 1.1, on request in 1.0.
    pub keep_alive: bool,
    /// `Expect: 100-continue` from a 1.1 peer.
    pub expect_continue: bool,
    /// Value of `Upgrade`, when `Connection: upgrade` is there too; never h2c.
    pub upgrade: Option<Span>,
    pub absolute_form: bool,
    pub is_head: bool,
    pub method_kind: MethodKind,
    method: Span,
    target: Target,
    host: Span,
    host_name: Span,
    minor: u8,
    fields_start: u32,
    len: u32,
    fields: Vec<HeaderField>,
}

impl RequestHead {
    /// Storage for a head, empty.
    pub fn new() -> Self {
        Self { fields: Vec::with_capacity(32), ..Self::default() }
    }

    /// The method, a token, case kept.
    pub fn method<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.method.of(bytes)
    }

    /// Path and query as received. Of an absolute-form target the part behind the authority, which may lack its leading `/` (see
    /// `target_needs_slash`): `http://h?x` gives `?x`, `http://h` nothing.
    pub fn target<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.target.origin.of(bytes)
    }

    /// Whether a `/` belongs before `target`.
    pub fn target_needs_slash(&self) -> bool {
        self.target.needs_slash
    }

    /// The path to match routes with, without query, never empty: `/` when an absolute-form target has none, and for `*`.
    pub fn path<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let path = self.target.path.of(bytes);
        if path.first() == Some(&b'/') { path } else { b"/" }
    }

    /// What follows the first `?` of the target.
    pub fn query<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        self.target.query.map(|query| query.of(bytes))
    }

    /// Whether the request is about the server as a whole (`OPTIONS *`).
    pub fn is_asterisk(&self) -> bool {
        self.target.asterisk
    }

    /// The authority as received: of an absolute-form target if there is one, else of Host. Empty only for 1.0 without Host.
    pub fn host<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.host.of(bytes)
    }

    /// The host without port and without one trailing dot, case kept; an IPv6 literal keeps its brackets.
    pub fn host_name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.host_name.of(bytes)
    }

    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub fn minor_version(&self) -> u8 {
        self.minor
    }

    /// Bytes of the head, a skipped empty line and the final CRLF included: the body begins here.
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

pub(crate) fn find<'a>(fields: &[HeaderField], bytes: &'a [u8], lower_name: &[u8]) -> Option<&'a [u8]> {
    fields
        .iter()
        .find(|field| {
            field.name.len as usize == lower_name.len() && field.name.of(bytes).eq_ignore_ascii_case(lower_name)
        })
        .map(|field| field.value.of(bytes))
}

/// Parses the request head at the start of `bytes`, which may go on behind it. For heads that come in pieces keep a `HeadScan` and
/// call `parse_request_from`, else each call reads all bytes again.
/// # Errors  The first fault; see `HeadError`.
pub fn parse_request(bytes: &[u8], limits: &Limits, head: &mut RequestHead) -> Result<Parsed, HeadError> {
    parse_request_from(bytes, limits, &mut HeadScan::new(), head)
}

/// Like `parse_request`, going on from where `scan` stopped; all calls together read a head about twice. The request line is judged as
/// soon as it is there, so that a peer of another protocol need not be waited for. The result does not depend on how the bytes arrived.
/// # Errors  The first fault; `scan` is then of no more use.
pub fn parse_request_from(
    bytes: &[u8],
    limits: &Limits,
    scan: &mut HeadScan,
    head: &mut RequestHead,
) -> Result<Parsed, HeadError> {
    match scan.advance(bytes, limits.max_head_bytes) {
        Ok(Some(end)) => {
            parse_complete(bytes, end, limits, head)?;
            Ok(Parsed::Complete)
        }
        Ok(None) => {
            if !scan.first_line_judged
                && let Some((start, end)) = first_line(bytes)
            {
                parse_request_line(bytes, start, end, head)?;
                scan.first_line_judged = true;
            }
            Ok(Parsed::Incomplete)
        }
        Err(fault) => {
            if let Some((start, end)) = first_line(&bytes[..bytes.len().min(limits.max_head_bytes)]) {
                parse_request_line(bytes, start, end, head)?;
            }
            Err(fault)
        }
    }
}

fn parse_complete(bytes: &[u8], len: usize, limits: &Limits, head: &mut RequestHead) -> Result<(), HeadError> {
    let start = first_line_start(bytes);
    let line_end = start + memchr::memchr(b'\r', &bytes[start..len]).ok_or(HeadError::RequestLine)?;
    parse_request_line(bytes, start, line_end, head)?;
    head.fields_start = (line_end + 2) as u32;
    head.len = len as u32;
    let summary = parse_fields(bytes, line_end + 2, len - 2, limits, &mut head.fields)?;
    judge_host(bytes, &summary, head)?;
    head.body = match (summary.encoding, summary.length) {
        (Encoding::Chunked, _) if head.minor == 0 => return Err(HeadError::TransferEncodingVersion),
        (Encoding::Chunked, _) => BodyLength::Chunked,
        (Encoding::Absent, Some(length)) => BodyLength::Length(length),
        (Encoding::Absent, None) => BodyLength::None,
    };
    head.keep_alive = !summary.close && (head.minor == 1 || summary.keep_alive);
    head.upgrade = summary.upgrade.filter(|_| head.minor == 1);
    head.expect_continue = false;
    if let Some(field) = summary.expect.and_then(|index| head.fields.get_mut(index)) {
        if head.minor == 0 {
            // An expectation in a 1.0 request is ignored, so it is not passed on in a 1.1 request (RFC 9110 §10.1.1).
            field.hop = true;
        } else {
            head.expect_continue = field.value.of(bytes).eq_ignore_ascii_case(b"100-continue");
        }
    }
    Ok(())
}

fn parse_request_line(bytes: &[u8], start: usize, end: usize, head: &mut RequestHead) -> Result<(), HeadError> {
    let line = &bytes[start..end];
    if line == b"PRI * HTTP/2.0" {
        return Err(HeadError::Http2Preface);
    }
    let method_len = token_len(line);
    if line.get(method_len) != Some(&b' ') {
        return Err(if line.contains(&b' ') { HeadError::Method } else { HeadError::RequestLine });
    }
    if method_len == 0 {
        return Err(HeadError::Method);
    }
    let target_start = method_len + 1;
    // ` HTTP/1.1` is 9 bytes.
    let Some(version_gap) = line.len().checked_sub(9).filter(|&gap| gap > target_start) else {
        return Err(HeadError::RequestLine);
    };
    let minor = match &line[version_gap..] {
        b" HTTP/1.1" => 1,
        b" HTTP/1.0" => 0,
        [b' ', b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            return Err(HeadError::VersionUnsupported);
        }
        _ => return Err(HeadError::RequestLine),
    };
    let method = &line[..method_len];
    if method == b"CONNECT" {
        return Err(HeadError::Connect);
    }
    head.minor = minor;
    head.method = Span::new(start, start + method_len);
    head.method_kind = MethodKind::of(method);
    head.is_head = head.method_kind == MethodKind::Head;
    head.target =
        parse_target(bytes, start + target_start, start + version_gap, head.method_kind == MethodKind::Options)?;
    head.absolute_form = head.target.authority.is_some();
    if let Some(authority) = head.target.authority {
        let name_len = host_name_len(authority.of(bytes))?;
        head.host = authority;
        head.host_name = Span { len: name_len as u32, ..authority };
    }
    Ok(())
}

/// Exactly one valid Host in 1.1, at most one in 1.0, even beside an absolute-form target, which then wins (RFC 9112 §3.2).
fn judge_host(bytes: &[u8], summary: &Summary, head: &mut RequestHead) -> Result<(), HeadError> {
    if summary.hosts > 1 {
        return Err(HeadError::HostRepeated);
    }
    let Some(host) = summary.host else {
        if head.minor == 1 {
            return Err(HeadError::HostMissing);
        }
        if !head.absolute_form {
            head.host = Span::default();
            head.host_name = Span::default();
        }
        return Ok(());
    };
    let name_len = match host_name_len(host.of(bytes)) {
        Ok(len) => len,
        Err(_) => return Err(HeadError::HostInvalid),
    };
    if !head.absolute_form {
        head.host = host;
        head.host_name = Span { len: name_len as u32, ..host };
    }
    Ok(())
}

impl RequestHead {
    /// Whether the field is dropped on the way to a backend because of what it is, whoever the peer.
    pub(crate) fn drops(&self, field: &HeaderField) -> bool {
        field.hop || (self.absolute_form && field.kind == KnownName::Host)
    }
}
