//! Header fields of one head, and what they say about framing and the connection.
//! Not here: the first line; which status an inconsistency gets.
//! Serves both parsers.

use memchr::memchr;

use super::names::{TOKEN, token_len};
use super::{HeadError, KnownName, Limits, Span};

/// Connection options taken from one head: naming fields costs options × fields.
const MAX_CONNECTION_OPTIONS: usize = 64;

/// One header field line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderField {
    /// The field name as received; the line begins with it.
    pub name: Span,
    /// The value without whitespace around it.
    pub value: Span,
    /// What the name means to a proxy.
    pub kind: KnownName,
    /// Must not be forwarded: hop-by-hop, framing (which is written anew), or named by `Connection`.
    pub hop: bool,
}

/// What `Transfer-Encoding` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Absent,
    Chunked,
}

/// What the fields say together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Summary {
    pub(crate) host: Option<Span>,
    pub(crate) hosts: usize,
    pub(crate) length: Option<u64>,
    pub(crate) encoding: Encoding,
    /// `Connection: close`
    pub(crate) close: bool,
    /// `Connection: keep-alive`
    pub(crate) keep_alive: bool,
    /// The one `Upgrade` field, when `Connection: upgrade` is there too and it does not offer h2c.
    pub(crate) upgrade: Option<Span>,
    /// The `Expect` field, by index.
    pub(crate) expect: Option<usize>,
}

/// Parses the field lines in `start..end` (the empty line excluded) into `fields`. The bytes have passed `HeadScan`.
pub(crate) fn parse_fields(
    bytes: &[u8],
    start: usize,
    end: usize,
    limits: &Limits,
    fields: &mut Vec<HeaderField>,
) -> Result<Summary, HeadError> {
    fields.clear();
    let mut summary = Summary::default();
    let mut lengths = 0usize;
    let mut encodings = 0usize;
    let mut encoding = Span::default();
    let mut upgrades = 0usize;
    let mut upgrade = Span::default();
    let mut options = Options::default();
    let mut at = start;
    while at < end {
        if fields.len() == limits.max_headers {
            return Err(HeadError::TooManyHeaders);
        }
        let (field, line_end) = parse_line(bytes, at, end)?;
        match field.kind {
            KnownName::Host => {
                summary.hosts += 1;
                summary.host = summary.host.or(Some(field.value));
            }
            KnownName::ContentLength => {
                lengths += 1;
                summary.length = Some(parse_length(field.value.of(bytes))?);
            }
            KnownName::TransferEncoding => {
                encodings += 1;
                encoding = field.value;
            }
            KnownName::Connection => options.read(field.value.of(bytes))?,
            KnownName::Upgrade => {
                upgrades += 1;
                upgrade = field.value;
            }
            KnownName::Expect => summary.expect = Some(fields.len()),
            KnownName::KeepAlive
            | KnownName::ProxyConnection
            | KnownName::Te
            | KnownName::Trailer
            | KnownName::Via
            | KnownName::XForwardedFor
            | KnownName::XForwardedProto
            | KnownName::XForwardedHost
            | KnownName::XForwardedPort
            | KnownName::Forwarded
            | KnownName::ForwardedLookalike
            | KnownName::Other => {}
        }
        fields.push(field);
        at = line_end + 2;
    }
    if lengths > 0 && encodings > 0 {
        return Err(HeadError::LengthAndEncoding);
    }
    if lengths > 1 {
        return Err(HeadError::ContentLengthRepeated);
    }
    if encodings > 1 {
        return Err(HeadError::TransferEncoding);
    }
    if encodings == 1 {
        summary.encoding = parse_encoding(encoding.of(bytes))?;
    }
    if upgrades == 1 && options.upgrade && !upgrade.is_empty() && !offers_h2c(upgrade.of(bytes)) {
        summary.upgrade = Some(upgrade);
    }
    summary.close = options.close;
    summary.keep_alive = options.keep_alive;
    if options.names_fields {
        mark_named(bytes, fields);
    }
    Ok(summary)
}

/// The field whose line begins at `start`, and where its CRLF is.
#[inline]
fn parse_line(bytes: &[u8], start: usize, end: usize) -> Result<(HeaderField, usize), HeadError> {
    let name_end = start + token_len(&bytes[start..end]);
    if bytes[name_end] != b':' || name_end == start {
        return Err(name_fault(bytes, start, name_end));
    }
    let mut value_start = name_end + 1;
    while is_blank(bytes[value_start]) {
        value_start += 1;
    }
    let line_end = memchr(b'\r', &bytes[value_start..end]).map_or(end, |at| value_start + at);
    let mut value_end = line_end;
    while value_end > value_start && is_blank(bytes[value_end - 1]) {
        value_end -= 1;
    }
    let kind = KnownName::of(&bytes[start..name_end]);
    let field = HeaderField {
        name: Span::new(start, name_end),
        value: Span::new(value_start, value_end),
        kind,
        hop: kind.is_hop_by_hop(),
    };
    Ok((field, line_end))
}

#[cold]
fn name_fault(bytes: &[u8], start: usize, name_end: usize) -> HeadError {
    match bytes[name_end] {
        b' ' | b'\t' if name_end == start => HeadError::ObsFold,
        b' ' | b'\t' => {
            let blanks = bytes[name_end..].iter().take_while(|&&byte| is_blank(byte)).count();
            if bytes.get(name_end + blanks) == Some(&b':') { HeadError::SpaceBeforeColon } else { HeadError::FieldName }
        }
        b'\r' => HeadError::MissingColon,
        _ => HeadError::FieldName,
    }
}

#[inline]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Reads a Content-Length: digits, or a list of the same number over and over (`18, 18`; RFC 9112 §6.3). Leading zeros are taken
/// (`018` is 18, the grammar is 1*DIGIT) and not passed on, since the field is written anew.
fn parse_length(value: &[u8]) -> Result<u64, HeadError> {
    if let Some(number) = digits(value)? {
        return Ok(number);
    }
    let mut agreed = None;
    for element in value.split(|&byte| byte == b',') {
        let number = digits(element.trim_ascii())?.ok_or(HeadError::ContentLength)?;
        if *agreed.get_or_insert(number) != number {
            return Err(HeadError::ContentLengthRepeated);
        }
    }
    agreed.ok_or(HeadError::ContentLength)
}

/// The number when `text` is all digits; 19 digits hold every number below 2^63.
fn digits(text: &[u8]) -> Result<Option<u64>, HeadError> {
    let mut number = 0u64;
    for &byte in text {
        if !byte.is_ascii_digit() {
            return Ok(None);
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
    }
    match text.len() {
        0 => Ok(None),
        // 10^19 - 1 fits u64, so nothing has wrapped.
        1..=19 if number <= i64::MAX as u64 => Ok(Some(number)),
        _ => Err(HeadError::ContentLengthTooLarge),
    }
}

/// Exactly `chunked` in any case is served. A list of codings that ends in the one `chunked` is well-formed and gets 501; everything else
/// leaves the length unknown and gets 400 (RFC 9112 §6.1, §6.3).
fn parse_encoding(value: &[u8]) -> Result<Encoding, HeadError> {
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(Encoding::Chunked);
    }
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let mut codings = value.rsplit(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let ends_chunked = codings.next().is_some_and(is_chunked);
    let mut before = 0;
    for coding in codings {
        let name = &coding[..token_len(coding)];
        if name.is_empty() || is_chunked(name) {
            return Err(HeadError::TransferEncoding);
        }
        before += 1;
    }
    Err(if ends_chunked && before > 0 { HeadError::TransferCoding } else { HeadError::TransferEncoding })
}

/// A proxy that relays `Upgrade: h2c` opens a tunnel past its own routing; such an offer is not passed on.
fn offers_h2c(value: &[u8]) -> bool {
    value.split(|&byte| byte == b',').any(|protocol| {
        let name = protocol.trim_ascii();
        name.len() >= 3
            && name[..3].eq_ignore_ascii_case(b"h2c")
            && name.get(3).is_none_or(|&byte| !TOKEN[byte as usize])
    })
}

#[derive(Debug, Default)]
struct Options {
    close: bool,
    keep_alive: bool,
    upgrade: bool,
    names_fields: bool,
    seen: usize,
}

impl Options {
    fn read(&mut self, value: &[u8]) -> Result<(), HeadError> {
        for option in value.split(|&byte| byte == b',') {
            let option = option.trim_ascii();
            match option.len() {
                0 => continue,
                5 if option.eq_ignore_ascii_case(b"close") => self.close = true,
                7 if option.eq_ignore_ascii_case(b"upgrade") => self.upgrade = true,
                10 if option.eq_ignore_ascii_case(b"keep-alive") => self.keep_alive = true,
                _ => self.names_fields = true,
            }
            self.seen += 1;
            if self.seen > MAX_CONNECTION_OPTIONS {
                return Err(HeadError::ConnectionOptions);
            }
        }
        Ok(())
    }
}

/// Marks the fields that `Connection` names. Host and the forwarding fields cannot be named away: a peer must not decide which of them
/// the backend sees.
#[cold]
fn mark_named(bytes: &[u8], fields: &mut [HeaderField]) {
    for index in 0..fields.len() {
        if fields[index].kind != KnownName::Connection {
            continue;
        }
        let value = fields[index].value;
        for option in value.of(bytes).split(|&byte| byte == b',') {
            let option = option.trim_ascii();
            for field in fields.iter_mut() {
                if may_be_named(field.kind) && field.name.of(bytes).eq_ignore_ascii_case(option) {
                    field.hop = true;
                }
            }
        }
    }
}

fn may_be_named(kind: KnownName) -> bool {
    matches!(
        kind,
        KnownName::Other | KnownName::Trailer | KnownName::Expect | KnownName::Via | KnownName::ForwardedLookalike
    )
}
