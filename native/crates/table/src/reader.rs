//! Bounds-checked reads of records by section and index; what lies outside reads as zero. Serves every accessor of `Table`.

use crate::layout::{Record, SECTIONS, Section, SectionEntry};

/// Where the sections of one table lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Directory(pub(crate) [SectionEntry; SECTIONS.len()]);

impl Directory {
    /// Records in a section.
    #[inline(always)]
    pub(crate) fn count(&self, section: Section) -> u32 {
        self.0[section as usize].count
    }

    /// The record at `index`, or one of zeros when there is none.
    #[inline(always)]
    pub(crate) fn record<R: Record>(&self, bytes: &[u8], section: Section, index: u32) -> R {
        let entry = self.0[section as usize];
        if index >= entry.count {
            return R::read(&[]);
        }
        let at = entry.offset as usize + index as usize * R::SIZE;
        R::read(bytes.get(at..).unwrap_or(&[]))
    }

    /// Bytes `offset..offset + length` of the strings, or nothing when they are not all there.
    #[inline(always)]
    pub(crate) fn text<'b>(&self, bytes: &'b [u8], offset: u32, length: u32) -> &'b [u8] {
        let entry = self.0[Section::Strings as usize];
        if u64::from(offset) + u64::from(length) > u64::from(entry.count) {
            return &[];
        }
        let at = entry.offset as usize + offset as usize;
        bytes.get(at..at + length as usize).unwrap_or(&[])
    }
}
