//! The request target in its forms (RFC 9112 §3.2).
//! Not here: normalisation and matching of paths.
//! Serves the request parser.

use super::{HeadError, Span};

/// A request target taken apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// Path and query as received; of an absolute-form target what follows the authority, so perhaps empty or from the `?` on.
    pub(crate) origin: Span,
    /// Set when `origin` lacks its leading `/`.
    pub(crate) needs_slash: bool,
    /// Path alone, as received, perhaps empty.
    pub(crate) path: Span,
    /// What follows the first `?`.
    pub(crate) query: Option<Span>,
    /// Authority of an absolute-form target.
    pub(crate) authority: Option<Span>,
    /// `*`, or an absolute-form OPTIONS without path and query, which means the same (RFC 9112 §3.2.4).
    pub(crate) asterisk: bool,
}

/// Takes the target at `start..end` apart.
/// # Errors  `TargetCharacter` for anything but visible ASCII, and for `#`; `TargetForm` for another form or scheme.
pub(crate) fn parse_target(bytes: &[u8], start: usize, end: usize, is_options: bool) -> Result<Target, HeadError> {
    let target = &bytes[start..end];
    let mut bad = false;
    let mut question = false;
    for &byte in target {
        bad |= !(0x21..=0x7e).contains(&byte) | (byte == b'#');
        question |= byte == b'?';
    }
    if bad {
        return Err(HeadError::TargetCharacter);
    }
    match target {
        [b'/', ..] => Ok(split(bytes, start, end, question)),
        [b'*'] if is_options => Ok(Target {
            origin: Span::new(start, end),
            path: Span::new(start, end),
            asterisk: true,
            ..Target::default()
        }),
        _ => {
            let authority = start + scheme_len(target).ok_or(HeadError::TargetForm)?;
            let path = bytes[authority..end]
                .iter()
                .position(|byte| matches!(byte, b'/' | b'?'))
                .map_or(end, |at| authority + at);
            let mut parsed = split(bytes, path, end, question);
            parsed.authority = Some(Span::new(authority, path));
            parsed.needs_slash = bytes[path..end].first() != Some(&b'/');
            parsed.asterisk = is_options && path == end;
            Ok(parsed)
        }
    }
}

fn split(bytes: &[u8], start: usize, end: usize, question: bool) -> Target {
    let mark = if question { memchr::memchr(b'?', &bytes[start..end]).map(|at| start + at) } else { None };
    Target {
        origin: Span::new(start, end),
        path: Span::new(start, mark.unwrap_or(end)),
        query: mark.map(|at| Span::new(at + 1, end)),
        ..Target::default()
    }
}

/// Length of `http://` or `https://` in any case.
fn scheme_len(target: &[u8]) -> Option<usize> {
    [&b"http://"[..], b"https://"]
        .into_iter()
        .find(|scheme| target.get(..scheme.len()).is_some_and(|have| have.eq_ignore_ascii_case(scheme)))
        .map(<[u8]>::len)
}
