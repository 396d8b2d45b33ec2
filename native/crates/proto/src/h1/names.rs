//! The field names that a proxy must know, told apart by length and first letter.
//! Not here: what is done with them.
//! Serves the field parser and the writers.

/// A header field name with a meaning for a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KnownName {
    Connection,
    TransferEncoding,
    ContentLength,
    Host,
    KeepAlive,
    ProxyConnection,
    Te,
    Trailer,
    Upgrade,
    Expect,
    Via,
    XForwardedFor,
    XForwardedProto,
    XForwardedHost,
    XForwardedPort,
    Forwarded,
    /// `X_Forwarded_For` and the like: CGI-style backends read `_` as `-`, so an untrusted peer may not send them.
    ForwardedLookalike,
    Other,
}

impl KnownName {
    /// Classifies a field name of any case. Cost: one length switch, at most two comparisons.
    #[inline]
    pub fn of(name: &[u8]) -> Self {
        let Some(&first) = name.first() else { return Self::Other };
        match (name.len(), first | 0x20) {
            (2, b't') => named(name, b"te", Self::Te),
            (3, b'v') => named(name, b"via", Self::Via),
            (4, b'h') => named(name, b"host", Self::Host),
            (6, b'e') => named(name, b"expect", Self::Expect),
            (7, b't') => named(name, b"trailer", Self::Trailer),
            (7, b'u') => named(name, b"upgrade", Self::Upgrade),
            (9, b'f') => named(name, b"forwarded", Self::Forwarded),
            (10, b'c') => named(name, b"connection", Self::Connection),
            (10, b'k') => named(name, b"keep-alive", Self::KeepAlive),
            (14, b'c') => named(name, b"content-length", Self::ContentLength),
            (16, b'p') => named(name, b"proxy-connection", Self::ProxyConnection),
            (17, b't') => named(name, b"transfer-encoding", Self::TransferEncoding),
            (15..=17, b'x') => x_forwarded(name),
            _ => Self::Other,
        }
    }

    /// Whether the field belongs to one connection and is never forwarded (RFC 9110 §7.6.1); framing included, because it is written anew.
    #[inline]
    pub fn is_hop_by_hop(self) -> bool {
        matches!(
            self,
            Self::Connection
                | Self::TransferEncoding
                | Self::ContentLength
                | Self::KeepAlive
                | Self::ProxyConnection
                | Self::Te
                | Self::Upgrade
        )
    }
}

#[inline]
fn named(name: &[u8], lower: &[u8], known: KnownName) -> KnownName {
    if name.eq_ignore_ascii_case(lower) { known } else { KnownName::Other }
}

fn x_forwarded(name: &[u8]) -> KnownName {
    const KNOWN: [(&[u8], KnownName); 4] = [
        (b"x-forwarded-for", KnownName::XForwardedFor),
        (b"x-forwarded-proto", KnownName::XForwardedProto),
        (b"x-forwarded-host", KnownName::XForwardedHost),
        (b"x-forwarded-port", KnownName::XForwardedPort),
    ];
    for (lower, known) in KNOWN {
        if name.eq_ignore_ascii_case(lower) {
            return known;
        }
        let alike = |(have, want): (&u8, &u8)| have.eq_ignore_ascii_case(want) || (*have == b'_' && *want == b'-');
        if name.len() == lower.len() && name.iter().zip(lower).all(alike) {
            return KnownName::ForwardedLookalike;
        }
    }
    KnownName::Other
}

/// `tchar` of RFC 9110 §5.6.2, by byte.
pub(crate) const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(byte as u8, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*'
            | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~');
        byte += 1;
    }
    table
};

/// Length of the token at the start of `bytes`.
#[inline]
pub(crate) fn token_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !TOKEN[byte as usize]).unwrap_or(bytes.len())
}
