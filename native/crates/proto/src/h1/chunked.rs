//! The chunked transfer coding, decoded strictly and without buffering (RFC 9112 §7.1).
//! Not here: where the data goes; re-framing beyond `write_chunk_head`.
//! Serves both directions of the engine: `feed` to take chunks apart, `scan` to find the end while passing bytes through.
//!
//! ```text
//!            ┌──────────────────────────────────────────────┐
//!            ▼                                              │
//! ──▶ SizeFirst ─▶ Size ─┬─▶ Blank ─▶ Extension ─┐          │
//!                        └───────▶ SizeLf ◀──────┘          │
//!                                    │ size > 0   Data ─▶ DataCr ─▶ DataLf
//!                                    │ size = 0
//!                                    ▼
//!       LineFirst ─▶ Name ─▶ Value ─▶ ValueLf ─▶ (LineFirst)
//!           └─ CR ─▶ EndLf ─▶ Done
//! ```

use std::ops::Range;

use thiserror::Error;

use super::KnownName;
use super::names::TOKEN;

/// Longest extension of one chunk; signed uploads use about 85 bytes.
const MAX_EXTENSION: u16 = 1024;
/// Extensions of a body may exceed its data by this much, so that tiny chunks with long extensions are no amplifier (cf. CVE-2023-39326).
const MAX_EXTENSION_EXCESS: u64 = 16 * 1024;
/// Bytes of all trailer lines.
const MAX_TRAILER: u16 = 8 * 1024;
/// Digits of a chunk size; leading zeros count.
const MAX_DIGITS: u8 = 16;
/// Longest trailer name that is compared with the forbidden ones, plus one.
const NAME_BYTES: usize = 18;

/// The end of a body that has no trailers, when the proxy writes the chunks itself.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
/// What follows the data of each chunk.
pub const CHUNK_END: &[u8] = b"\r\n";

/// A fault in a chunked body; the message cannot be delimited any more, so the connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum ChunkError {
    #[error("chunk size is not a hexadecimal number")]
    Size,
    #[error("chunk size is larger than 2^63-1")]
    SizeTooLarge,
    #[error("chunk line does not end with CRLF")]
    LineEnd,
    #[error("chunk data is not followed by CRLF")]
    DataEnd,
    #[error("control character in a chunk extension or trailer")]
    ControlCharacter,
    #[error("chunk extensions are too long")]
    ExtensionTooLong,
    #[error("trailer section is larger than 8 KiB")]
    TrailerTooLarge,
    #[error("trailer line is not `name: value`")]
    Trailer,
    #[error("trailer names a field that must come before the body")]
    TrailerForbidden,
}

/// What one `feed` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkStep {
    /// Bytes taken from the front, framing and data.
    pub consumed: usize,
    /// The data among them, always at their end; may be empty.
    pub data: Range<usize>,
    /// The body ended after `consumed`; what follows is the next message.
    pub done: bool,
}

/// What one `scan` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// Bytes that belong to the body.
    pub consumed: usize,
    /// The body ended after `consumed`.
    pub done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    SizeFirst,
    Size,
    Blank,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    LineFirst,
    Name,
    Value,
    ValueLf,
    EndLf,
    Done,
}

/// The decoder: a few words of state, no buffer. Any cutting of the bytes gives the same result.
#[derive(Debug, Clone)]
pub struct Chunked {
    state: State,
    digits: u8,
    /// Size being read, then data bytes still to come.
    left: u64,
    extension: u16,
    /// Data seen minus extension bytes seen, plus the allowance.
    allowance: u64,
    trailer: u16,
    name: [u8; NAME_BYTES],
    name_len: u8,
}

impl Default for Chunked {
    fn default() -> Self {
        Self::new()
    }
}

impl Chunked {
    /// A decoder at the start of a body.
    pub const fn new() -> Self {
        Self {
            state: State::SizeFirst,
            digits: 0,
            left: 0,
            extension: 0,
            allowance: MAX_EXTENSION_EXCESS,
            trailer: 0,
            name: [0; NAME_BYTES],
            name_len: 0,
        }
    }

    /// Whether the body has ended.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes framing up to and with the next piece of data, or all of `bytes`, or up to the end of the body. Call again with the rest
    /// until it is empty or `done`. Cost: a step per framing byte, none per data byte. Never allocates.
    /// # Errors  `ChunkError`; the decoder is then of no more use.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<ChunkStep, ChunkError> {
        let mut at = 0;
        while at < bytes.len() && self.state != State::Done {
            if self.state == State::Data {
                let taken = usize::try_from(self.left).map_or(bytes.len() - at, |left| left.min(bytes.len() - at));
                self.left -= taken as u64;
                self.allowance = self.allowance.saturating_add(taken as u64);
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                return Ok(ChunkStep { consumed: at + taken, data: at..at + taken, done: false });
            }
            self.step(bytes[at])?;
            at += 1;
        }
        Ok(ChunkStep { consumed: at, data: at..at, done: self.state == State::Done })
    }

    /// Takes everything that belongs to the body, for passing it through as it is.
    /// # Errors  As `feed`.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<Scan, ChunkError> {
        let mut consumed = 0;
        while consumed < bytes.len() && self.state != State::Done {
            consumed += self.feed(&bytes[consumed..])?.consumed;
        }
        Ok(Scan { consumed, done: self.state == State::Done })
    }

    fn step(&mut self, byte: u8) -> Result<(), ChunkError> {
        self.state = match self.state {
            State::SizeFirst => {
                self.left = 0;
                self.digits = 0;
                self.extension = 0;
                self.digit(byte)?;
                State::Size
            }
            State::Size => match byte {
                b'\r' => State::SizeLf,
                b';' => self.extension_byte(State::Extension)?,
                b' ' | b'\t' => self.extension_byte(State::Blank)?,
                _ => {
                    self.digit(byte)?;
                    State::Size
                }
            },
            State::Blank => match byte {
                b' ' | b'\t' => self.extension_byte(State::Blank)?,
                b';' => self.extension_byte(State::Extension)?,
                _ => return Err(ChunkError::Size),
            },
            State::Extension => match byte {
                b'\r' => State::SizeLf,
                b'\n' => return Err(ChunkError::LineEnd),
                _ if is_text(byte) => self.extension_byte(State::Extension)?,
                _ => return Err(ChunkError::ControlCharacter),
            },
            State::SizeLf => match byte {
                b'\n' if self.left == 0 => State::LineFirst,
                b'\n' => State::Data,
                _ => return Err(ChunkError::LineEnd),
            },
            State::DataCr if byte == b'\r' => State::DataLf,
            State::DataLf if byte == b'\n' => State::SizeFirst,
            State::DataCr | State::DataLf => return Err(ChunkError::DataEnd),
            State::LineFirst if byte == b'\r' => State::EndLf,
            State::LineFirst => {
                self.name_len = 0;
                self.name_byte(byte)?
            }
            State::Name if byte == b':' => {
                if self.is_forbidden() {
                    return Err(ChunkError::TrailerForbidden);
                }
                self.trailer_byte(State::Value)?
            }
            State::Name => self.name_byte(byte)?,
            State::Value => match byte {
                b'\r' => State::ValueLf,
                b'\n' => return Err(ChunkError::LineEnd),
                _ if is_text(byte) => self.trailer_byte(State::Value)?,
                _ => return Err(ChunkError::ControlCharacter),
            },
            State::ValueLf if byte == b'\n' => State::LineFirst,
            State::EndLf if byte == b'\n' => State::Done,
            State::ValueLf | State::EndLf => return Err(ChunkError::LineEnd),
            // `feed` handles both without a step.
            State::Data | State::Done => self.state,
        };
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<(), ChunkError> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'\n' => return Err(ChunkError::LineEnd),
            _ => return Err(ChunkError::Size),
        };
        let size = (self.left << 4) | u64::from(digit);
        // 16 digits never overflow a u64, so only the sign bit can be too much.
        if self.digits == MAX_DIGITS || size > i64::MAX as u64 {
            return Err(ChunkError::SizeTooLarge);
        }
        self.left = size;
        self.digits += 1;
        Ok(())
    }

    fn extension_byte(&mut self, next: State) -> Result<State, ChunkError> {
        if self.extension == MAX_EXTENSION || self.allowance == 0 {
            return Err(ChunkError::ExtensionTooLong);
        }
        self.extension += 1;
        self.allowance -= 1;
        Ok(next)
    }

    fn name_byte(&mut self, byte: u8) -> Result<State, ChunkError> {
        if !TOKEN[byte as usize] {
            return Err(ChunkError::Trailer);
        }
        let next = self.trailer_byte(State::Name)?;
        if let Some(cell) = self.name.get_mut(self.name_len as usize) {
            *cell = byte;
            self.name_len += 1;
        }
        Ok(next)
    }

    fn trailer_byte(&mut self, next: State) -> Result<State, ChunkError> {
        if self.trailer == MAX_TRAILER {
            return Err(ChunkError::TrailerTooLarge);
        }
        self.trailer += 1;
        Ok(next)
    }

    /// Framing, routing and forwarding fields mean nothing behind the body, and a backend that merges trailers would believe them
    /// (RFC 9110 §6.5.1). A name that fills the buffer is longer than all of them.
    fn is_forbidden(&self) -> bool {
        let name = &self.name[..self.name_len as usize];
        name.len() < NAME_BYTES && KnownName::of(name) != KnownName::Other
    }
}

/// Tab, visible characters, space and bytes above ASCII.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= 0x20 && byte != 0x7f)
}

/// Appends the line before `len` bytes of data; the data and `CHUNK_END` follow. `len` must not be 0, which would end the body.
pub fn write_chunk_head(out: &mut Vec<u8>, len: usize) {
    debug_assert!(len > 0, "a chunk of 0 bytes ends the body");
    let digits = (usize::BITS - len.leading_zeros()).div_ceil(4).max(1);
    out.extend((0..digits).rev().map(|place| b"0123456789abcdef"[(len >> (place * 4)) & 15]));
    out.extend_from_slice(b"\r\n");
}
