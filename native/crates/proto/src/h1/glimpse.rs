//! What can be told of a head that was refused or never became complete.
//! Not here: any judgement; nothing but log lines and counters may depend on it.
//! Serves the engine's refusals: whoever runs a listener wants to know who was refused, and what they asked for.

use super::authority::host_name_len;
use super::names::token_len;
use super::scan::first_line_start;

/// Bytes that are looked at: a request line and a Host lie at the front, and garbage is not worth more.
const MOST: usize = 8 * 1024;

/// The readable parts of a head; what cannot be read is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Glimpse<'a> {
    pub method: &'a [u8],
    /// Without the query, which may hold secrets; empty unless the target is a path (a URL may name a user). May be cut.
    pub path: &'a [u8],
    /// Value of the first Host as received; empty when it names a user.
    pub host: &'a [u8],
    /// The same without port; empty when it is none that a listener could serve.
    pub host_name: &'a [u8],
    pub user_agent: &'a [u8],
    /// The request line ends with `HTTP/1.0`.
    pub is_http10: bool,
}

/// Reads what can be read at the front of `bytes`, which no parser has accepted. Fields count once their line has ended.
/// Cost: one pass over at most 8 KiB.
pub fn glimpse(bytes: &[u8]) -> Glimpse<'_> {
    let bytes = &bytes[..bytes.len().min(MOST)];
    let mut lines = bytes[first_line_start(bytes)..].split_inclusive(|&byte| byte == b'\n');
    let mut seen = Glimpse::default();
    let Some(line) = lines.next() else { return seen };
    let line = without_end(line).unwrap_or(line);
    let method = token_len(line);
    if method == 0 || line.get(method) != Some(&b' ') {
        return seen;
    }
    seen.method = &line[..method];
    let target = &line[method + 1..];
    if target.starts_with(b"/") {
        let end = target.iter().position(|&byte| byte == b' ' || byte == b'?' || byte == b'#');
        seen.path = &target[..end.unwrap_or(target.len())];
    }
    seen.is_http10 = line.ends_with(b" HTTP/1.0");
    for line in lines.map_while(without_end).take_while(|line| !line.is_empty()) {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if seen.host.is_empty() && name.eq_ignore_ascii_case(b"host") {
            seen.host = if value.contains(&b'@') { b"" } else { value };
            seen.host_name = host_name_len(value).map_or(b"", |len| &value[..len]);
        } else if seen.user_agent.is_empty() && name.eq_ignore_ascii_case(b"user-agent") {
            seen.user_agent = value;
        }
    }
    seen
}

/// A line without its LF or CRLF; `None` while it has not ended.
fn without_end(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n")?;
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> [String; 5] {
        let seen = glimpse(bytes);
        [seen.method, seen.path, seen.host, seen.host_name, seen.user_agent]
            .map(|part| String::from_utf8_lossy(part).into_owned())
    }

    #[test]
    fn a_refused_head_shows_what_is_readable_and_neither_queries_nor_users() {
        for (bytes, seen) in [
            (
                &b"GET /a?k=s HTTP/1.1\nHost: A.test:80\nUser-Agent: me \r\n"[..],
                ["GET", "/a", "A.test:80", "A.test", "me"],
            ),
            (b"\r\nPUT /a#b HTTP/1.1\r\nHost : b.test\r\n\r\nHost: body", ["PUT", "/a", "b.test", "b.test", ""]),
            (b"GET / HTTP/1.1\r\nHost: user:word@h.test\r\n", ["GET", "/", "", "", ""]),
            (b"GET / HTTP/1.1\r\nno colon\r\nhost: one\r\nhost: two\r\n", ["GET", "/", "one", "one", ""]),
            (b"GET http://user:word@h.test/ HTTP/1.1\r\nHost: a b\r\n", ["GET", "", "a b", "", ""]),
            (b"GET /cut", ["GET", "/cut", "", "", ""]),
            (b"GET / HTTP/1.1\r\nHost: half.te", ["GET", "/", "", "", ""]),
            (b"GET", ["", "", "", "", ""]),
            (b"\x16\x03\x01\x02\x00\x01\nHost: x\n", ["", "", "", "", ""]),
            (b" / HTTP/1.1\r\nHost: x\r\n", ["", "", "", "", ""]),
            (b"", ["", "", "", "", ""]),
        ] {
            assert_eq!(words(bytes), seen, "{}", bytes.escape_ascii());
        }
        assert!(glimpse(b"GET / HTTP/1.0\r\n").is_http10 && !glimpse(b"GET / HTTP/1.1\r\n").is_http10);
    }
}
