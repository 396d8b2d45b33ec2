//! Finds the end of a head and refuses bytes that no head may hold, reading each byte once however it arrives.
//! Not here: what the lines mean.
//! Serves both parsers; a connection with a partial head keeps one `HeadScan` beside its bytes.

use memchr::{memchr_iter, memchr2};

use super::HeadError;

/// How far a partial head was read. Start with `HeadScan::new()`, keep it while the answer is `Incomplete` and pass the same
/// bytes plus more; after `Complete` or an error start anew. 1-byte segments cost O(n) over the whole head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeadScan {
    /// Everything before this offset is known to be clean.
    clean: u32,
    /// Where the current line begins.
    line: u32,
    /// Set once the first line has been judged, so that it is judged once.
    pub(crate) first_line_judged: bool,
}

impl HeadScan {
    /// A scan that has seen nothing.
    pub const fn new() -> Self {
        Self { clean: 0, line: 0, first_line_judged: false }
    }

    /// The offset after the head's empty line, or `None` when more bytes are needed. One empty line before the first line is skipped
    /// (RFC 9112 §2.2).
    /// # Errors  The first byte, in order, that no head may hold; then `HeadTooLarge` or `RequestLineTooLong`.
    pub(crate) fn advance(&mut self, bytes: &[u8], max_head_bytes: usize) -> Result<Option<usize>, HeadError> {
        let limit = max_head_bytes.min(u32::MAX as usize);
        let window = &bytes[..bytes.len().min(limit)];
        let from = (self.clean as usize).min(window.len());
        let mut line = self.line as usize;
        let mut lines = 0;
        let mut end = None;
        for at in memchr_iter(b'\n', &window[from..]) {
            let lf = from + at;
            if lf == 0 || window[lf - 1] != b'\r' {
                return Err(first_fault(window, from));
            }
            lines += 1;
            if lf - 1 == line && line != 0 {
                end = Some(lf + 1);
                break;
            }
            line = lf + 1;
        }
        // A CR in last place may still be followed by its LF.
        let stop = end.unwrap_or(window.len() - usize::from(window.len() > from && window.ends_with(b"\r")));
        if !is_clean(&window[from..stop], lines) {
            return Err(first_fault(window, from));
        }
        if end.is_none() && bytes.len() >= limit {
            let in_first_line = line == 0 || (line == 2 && window.starts_with(b"\r\n"));
            return Err(if in_first_line { HeadError::RequestLineTooLong } else { HeadError::HeadTooLarge });
        }
        self.clean = stop as u32;
        self.line = line as u32;
        Ok(end)
    }
}

/// Where the first line begins: after at most one empty line.
#[inline]
pub(crate) fn first_line_start(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\r\n") { 2 } else { 0 }
}

/// The first line without its CRLF, if it is complete and clean.
pub(crate) fn first_line(bytes: &[u8]) -> Option<(usize, usize)> {
    let start = first_line_start(bytes);
    let end = start + memchr2(b'\r', b'\n', &bytes[start..])?;
    (bytes[end..].starts_with(b"\r\n") && is_clean(&bytes[start..end], 0)).then_some((start, end))
}

/// Whether `bytes` holds no control character but tab, CR and LF, and exactly `lines` CRs. Each LF was seen behind a CR,
/// so an equal count means that no CR is bare. Branch-free over blocks, so that the compiler vectorises it.
#[inline]
fn is_clean(bytes: &[u8], lines: usize) -> bool {
    let mut bad = 0u8;
    let mut returns = 0usize;
    // A block of at most 255 bytes cannot overflow its u8 counter.
    for block in bytes.chunks(224) {
        let mut count = 0u8;
        for &byte in block {
            let control = (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
            bad |= u8::from(control | (byte == 0x7f));
            count += u8::from(byte == b'\r');
        }
        returns += usize::from(count);
    }
    bad == 0 && returns == lines
}

/// Names the first faulty byte at or after `from`. Called only when there is one.
#[cold]
fn first_fault(window: &[u8], from: usize) -> HeadError {
    for (at, &byte) in window.iter().enumerate().skip(from) {
        match byte {
            b'\r' if window.get(at + 1).is_some_and(|&next| next != b'\n') => return HeadError::BareCr,
            b'\n' if at == 0 || window[at - 1] != b'\r' => return HeadError::BareLf,
            0 => return HeadError::Nul,
            // A TLS record of type handshake.
            0x16 if at == 0 => return HeadError::Tls,
            b'\t' | b'\n' | b'\r' => {}
            0..0x20 | 0x7f => return HeadError::ControlCharacter,
            _ => {}
        }
    }
    HeadError::ControlCharacter
}
