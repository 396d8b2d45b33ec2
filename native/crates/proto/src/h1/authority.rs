//! `host[:port]` as a Host field or an absolute-form target carries it.
//! Not here: matching of names (crate `table`).
//! Serves the request parser.

use super::HeadError;

/// Longest host name taken, a DNS name with its trailing dot (RFC 1035 §2.3.4).
const MAX_HOST_BYTES: usize = 255;

/// Length of the host name part of an authority: without port, without one trailing dot.
///
/// Accepted: letters, digits, `-`, `.`, `_`, `~`, or an IP literal in brackets; then nothing, `:` (the default port, RFC 3986 §3.2.3),
/// or `:` and a number up to 65535. Refused although RFC 3986 would allow them: percent-encoding and `!$&'()*+,;=`, which no host has.
/// # Errors  `UserInfo` for `@`, else `HostInvalid`.
pub(crate) fn host_name_len(authority: &[u8]) -> Result<usize, HeadError> {
    let name_end = if authority.first() == Some(&b'[') {
        let close = authority.iter().position(|&byte| byte == b']').ok_or(HeadError::HostInvalid)?;
        let literal = &authority[1..close];
        let plausible = literal.contains(&b':')
            && literal.iter().all(|&byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.');
        if !plausible {
            return Err(fault(authority));
        }
        close + 1
    } else {
        let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        authority.iter().position(|byte| !is_host(byte)).unwrap_or(authority.len())
    };
    match authority.get(name_end..) {
        None | Some([]) => {}
        Some([b':', port @ ..]) if is_port(port) => {}
        Some(_) => return Err(fault(authority)),
    }
    let mut name = &authority[..name_end];
    if let [rest @ .., b'.'] = name {
        name = rest;
    }
    if name.is_empty() || name_end > MAX_HOST_BYTES { Err(HeadError::HostInvalid) } else { Ok(name.len()) }
}

fn fault(authority: &[u8]) -> HeadError {
    if authority.contains(&b'@') { HeadError::UserInfo } else { HeadError::HostInvalid }
}

fn is_port(digits: &[u8]) -> bool {
    digits.len() <= 5
        && digits.iter().all(u8::is_ascii_digit)
        && digits.iter().fold(0u32, |port, digit| port * 10 + u32::from(digit - b'0')) <= 65_535
}
