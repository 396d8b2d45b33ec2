//! The fields of a ClientHello that decide where it goes and which certificate answers it.

use std::net::IpAddr;
use std::str::FromStr;

use super::HelloError;
use super::reader::Reader;

/// Numbers of extensions (IANA, "TLS ExtensionType Values").
mod extension {
    pub const SERVER_NAME: u16 = 0;
    pub const SUPPORTED_GROUPS: u16 = 10;
    pub const SIGNATURE_ALGORITHMS: u16 = 13;
    pub const ALPN: u16 = 16;
    pub const SUPPORTED_VERSIONS: u16 = 43;
    pub const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;
}

/// Most extensions that are looked at for repetition; browsers send under 30.
const MAX_EXTENSIONS: usize = 128;
/// Longest host name (RFC 1035 §2.3.4, without the root's dot).
const MAX_NAME: usize = 253;

/// What a client says first. Unknown values and those of GREASE (RFC 8701) stand in the lists like others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientHello<'a> {
    /// As sent, without one dot at its end, in any case. `None`: not sent, or an address, which is no name (RFC 6066 §3).
    pub server_name: Option<&'a [u8]>,
    pub cipher_suites: Numbers<'a>,
    /// Of `supported_versions`; without that extension `legacy_version` alone counts.
    pub versions: Numbers<'a>,
    pub legacy_version: u16,
    /// `signature_algorithms`; empty: not sent.
    pub signature_schemes: Numbers<'a>,
    /// `supported_groups`; empty: not sent.
    pub groups: Numbers<'a>,
    /// Names of ALPN in the client's order; empty: not sent.
    pub alpn: Names<'a>,
    /// The hello is the outer one of an encrypted hello: its server name is that of a front.
    pub is_ech_outer: bool,
}

impl<'a> ClientHello<'a> {
    /// Reads the body of a ClientHello, as `HelloRecords::message` gives it. Cost: one pass.
    ///
    /// # Errors
    /// `Malformed`, `RepeatedExtension` or `ServerName`; whatever is not one of the fields above is not judged.
    pub fn parse(message: &'a [u8]) -> Result<Self, HelloError> {
        let mut reader = Reader::new(message);
        let legacy_version = reader.u16()?;
        let _random = reader.take(32)?;
        if reader.vector8()?.len() > 32 {
            return Err(HelloError::Malformed);
        }
        let cipher_suites = Numbers::new(reader.vector16()?)?;
        let _compression = reader.vector8()?;
        let mut hello = Self {
            server_name: None,
            cipher_suites,
            versions: Numbers::default(),
            legacy_version,
            signature_schemes: Numbers::default(),
            groups: Numbers::default(),
            alpn: Names::default(),
            is_ech_outer: false,
        };
        // TLS 1.2 and older may end here (RFC 5246 §7.4.1.2).
        if reader.is_empty() {
            return Ok(hello);
        }
        hello.read_extensions(reader.vector16()?)?;
        reader.finish()?;
        Ok(hello)
    }

    fn read_extensions(&mut self, extensions: &'a [u8]) -> Result<(), HelloError> {
        let mut seen = [0u16; MAX_EXTENSIONS];
        let mut count = 0;
        let mut reader = Reader::new(extensions);
        while !reader.is_empty() {
            let kind = reader.u16()?;
            let body = reader.vector16()?;
            if seen[..count].contains(&kind) {
                return Err(HelloError::RepeatedExtension);
            }
            *seen.get_mut(count).ok_or(HelloError::Malformed)? = kind;
            count += 1;
            self.read_extension(kind, body)?;
        }
        Ok(())
    }

    fn read_extension(&mut self, kind: u16, body: &'a [u8]) -> Result<(), HelloError> {
        let mut reader = Reader::new(body);
        match kind {
            extension::SERVER_NAME => self.server_name = read_server_name(reader.vector16()?)?,
            extension::SUPPORTED_GROUPS => self.groups = Numbers::new(reader.vector16()?)?,
            extension::SIGNATURE_ALGORITHMS => self.signature_schemes = Numbers::new(reader.vector16()?)?,
            extension::SUPPORTED_VERSIONS => self.versions = Numbers::new(reader.vector8()?)?,
            extension::ALPN => self.alpn = Names::new(reader.vector16()?)?,
            // The inner hello is never seen here: it begins with 1 (RFC 9849, "encrypted_client_hello").
            extension::ENCRYPTED_CLIENT_HELLO => {
                self.is_ech_outer = reader.u8()? == 0;
                return Ok(());
            }
            _ => return Ok(()),
        }
        reader.finish()
    }

    /// True when the client can speak this version (`0x0303`: TLS 1.2, `0x0304`: TLS 1.3).
    pub fn offers_version(&self, version: u16) -> bool {
        if self.versions.is_empty() {
            self.legacy_version >= version && version <= 0x0303
        } else {
            self.versions.contains(version)
        }
    }
}

/// The first and only host name of a `server_name` extension (RFC 6066 §3).
fn read_server_name(list: &[u8]) -> Result<Option<&[u8]>, HelloError> {
    const HOST_NAME: u8 = 0;
    let mut reader = Reader::new(list);
    let mut name = None;
    if reader.is_empty() {
        return Err(HelloError::Malformed);
    }
    while !reader.is_empty() {
        let kind = reader.u8()?;
        let value = reader.vector16()?;
        if kind != HOST_NAME {
            continue;
        }
        if name.replace(value).is_some() {
            return Err(HelloError::ServerName);
        }
    }
    name.map_or(Ok(None), judge_name)
}

fn judge_name(sent: &[u8]) -> Result<Option<&[u8]>, HelloError> {
    let name = sent.strip_suffix(b".").unwrap_or(sent);
    let text = std::str::from_utf8(name).map_err(|_| HelloError::ServerName)?;
    if IpAddr::from_str(text).is_ok() {
        return Ok(None);
    }
    let is_name = !name.is_empty()
        && name.len() <= MAX_NAME
        && name.split(|&byte| byte == b'.').all(|label| {
            (1..=63).contains(&label.len())
                && label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        });
    if is_name { Ok(Some(name)) } else { Err(HelloError::ServerName) }
}

/// A list of 16-bit numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers<'a>(&'a [u8]);

impl<'a> Numbers<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, HelloError> {
        if bytes.is_empty() || !bytes.len().is_multiple_of(2) { Err(HelloError::Malformed) } else { Ok(Self(bytes)) }
    }

    /// In the client's order.
    pub fn iter(self) -> impl Iterator<Item = u16> + 'a {
        self.0.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
    }

    pub fn contains(self, number: u16) -> bool {
        self.iter().any(|each| each == number)
    }

    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// A list of names, each with its length before it (RFC 7301 §3.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Names<'a>(&'a [u8]);

impl<'a> Names<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, HelloError> {
        let mut reader = Reader::new(bytes);
        if reader.is_empty() {
            return Err(HelloError::Malformed);
        }
        while !reader.is_empty() {
            if reader.vector8()?.is_empty() {
                return Err(HelloError::Malformed);
            }
        }
        Ok(Self(bytes))
    }

    /// In the client's order.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || if reader.is_empty() { None } else { reader.vector8().ok() })
    }

    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}
