//! A cursor over vectors with length prefixes (RFC 8446 §3.4). Every read is checked.

use super::HelloError;

#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], HelloError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(HelloError::Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn u8(&mut self) -> Result<u8, HelloError> {
        let taken = self.take(1)?;
        Ok(taken[0])
    }

    pub fn u16(&mut self) -> Result<u16, HelloError> {
        let taken = self.take(2)?;
        Ok(u16::from_be_bytes([taken[0], taken[1]]))
    }

    /// A vector whose length stands before it in one byte.
    pub fn vector8(&mut self) -> Result<&'a [u8], HelloError> {
        let length = self.u8()?;
        self.take(usize::from(length))
    }

    /// A vector whose length stands before it in two bytes.
    pub fn vector16(&mut self) -> Result<&'a [u8], HelloError> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }

    /// Ends the reading: nothing may be left.
    pub fn finish(self) -> Result<(), HelloError> {
        if self.is_empty() { Ok(()) } else { Err(HelloError::Malformed) }
    }
}
