//! The records that carry a ClientHello (RFC 8446 §5.1): found while they arrive, put together when all are there.
//!
//! A hello may come in any number of TCP segments and of records, so that nothing is known about where it is cut. The bytes stay with the
//! caller, who passes them on unchanged; this only remembers how far it has looked, so that a hello that comes byte by byte
//! costs no more than one that comes at once.

use super::{HelloError, MAX_HELLO};

const RECORD_HEADER: usize = 5;
const HANDSHAKE_HEADER: usize = 4;
const HANDSHAKE_RECORD: u8 = 22;
const CLIENT_HELLO: u8 = 1;
/// RFC 8446 §5.1: the length of a plaintext fragment.
const MAX_FRAGMENT: usize = 1 << 14;

/// What is known after the bytes so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// The ClientHello is complete: `message` has it.
    Complete,
}

/// Looks for the end of the first handshake message of a stream.
#[derive(Debug, Clone, Default)]
pub struct HelloRecords {
    /// Where the next record header begins.
    next: usize,
    /// Bytes of fragments in the records before `next`.
    collected: usize,
    /// Message with its header, once the first four bytes are known.
    wanted: Option<usize>,
    /// First bytes of the message, as far as they have come: they may lie in several records.
    header: [u8; HANDSHAKE_HEADER],
    known: usize,
}

impl HelloRecords {
    /// Looks at a stream from its first byte on; it must begin with what was given before. Cost: one step for each new record.
    ///
    /// # Errors
    /// As soon as the bytes cannot become a ClientHello; that is final.
    pub fn feed(&mut self, stream: &[u8]) -> Result<Progress, HelloError> {
        loop {
            let Some(header) = stream.get(self.next..) else { return Ok(Progress::More) };
            check_header_start(header)?;
            let Some((fragment, is_whole)) = fragment_of(header)? else { return Ok(Progress::More) };
            self.learn_header(fragment)?;
            if self.wanted.is_some_and(|wanted| self.collected + fragment.len() >= wanted) {
                return Ok(Progress::Complete);
            }
            if !is_whole {
                return Ok(Progress::More);
            }
            self.collected += fragment.len();
            self.next += RECORD_HEADER + fragment.len();
        }
    }

    /// Returns the body of the ClientHello, without its handshake header; `None` before `feed` said `Complete`.
    /// `scratch` is used only if several records carry it.
    pub fn message<'a>(&self, stream: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let wanted = self.wanted?;
        if self.next == 0 {
            return stream.get(RECORD_HEADER + HANDSHAKE_HEADER..RECORD_HEADER + wanted);
        }
        scratch.clear();
        let mut rest = stream;
        while scratch.len() < wanted {
            let (fragment, _) = fragment_of(rest).ok()??;
            scratch.extend_from_slice(&fragment[..fragment.len().min(wanted - scratch.len())]);
            rest = rest.get(RECORD_HEADER + fragment.len()..).unwrap_or_default();
        }
        scratch.get(HANDSHAKE_HEADER..)
    }

    fn learn_header(&mut self, fragment: &[u8]) -> Result<(), HelloError> {
        // A fragment that grew is seen again from its start.
        let already = self.known.saturating_sub(self.collected);
        for &byte in fragment.iter().skip(already) {
            if self.known == HANDSHAKE_HEADER {
                break;
            }
            self.header[self.known] = byte;
            self.known += 1;
        }
        if self.known > 0 && self.header[0] != CLIENT_HELLO {
            return Err(HelloError::NotClientHello);
        }
        if self.known == HANDSHAKE_HEADER && self.wanted.is_none() {
            let [_, high, middle, low] = self.header;
            let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
            if length > MAX_HELLO {
                return Err(HelloError::TooLarge);
            }
            self.wanted = Some(HANDSHAKE_HEADER + length);
        }
        Ok(())
    }
}

/// Judges what there is of a record header, so that other protocols are told at their first byte.
fn check_header_start(header: &[u8]) -> Result<(), HelloError> {
    let is_tls =
        header.first().is_none_or(|&kind| kind == HANDSHAKE_RECORD) && header.get(1).is_none_or(|&major| major == 3);
    if is_tls { Ok(()) } else { Err(HelloError::NotTls) }
}

/// What there is of the fragment of the record at the front, and whether it is all of it; `None` before its header is complete.
fn fragment_of(record: &[u8]) -> Result<Option<(&[u8], bool)>, HelloError> {
    let Some((header, rest)) = record.split_at_checked(RECORD_HEADER) else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
    if length == 0 || length > MAX_FRAGMENT {
        return Err(HelloError::RecordLength);
    }
    Ok(Some((&rest[..rest.len().min(length)], rest.len() >= length)))
}
