//! Why a table is refused. The text reaches people through the primary's log, so it names section, record and cause.

use thiserror::Error;

/// Why `Table::parse` refused some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// Fewer bytes than header and directory, or than the header says.
    #[error("table refused: {got} bytes, expected {expected}")]
    Length { expected: u64, got: u64 },
    /// Not a table at all.
    #[error("table refused: it starts with {got:#010x}, expected {expected:#010x}")]
    Magic { expected: u32, got: u32 },
    /// Written by another release.
    #[error(
        "table refused: layout hash {got:016x} from the primary, {expected:016x} here; restart the worker with the same release"
    )]
    LayoutHash { expected: u64, got: u64 },
    /// A section that is out of bounds, overlaps its neighbour or is not aligned.
    #[error("table refused: section {section} at {offset} with {count} records does not fit")]
    Section { section: &'static str, offset: u32, count: u32 },
    /// A section with a number of records that cannot be.
    #[error("table refused: section {section} has {count} records: {why}")]
    Count { section: &'static str, count: u32, why: &'static str },
    /// A field of a record that names something that does not exist or breaks an order.
    #[error("table refused: {section}[{index}].{field} is {value}: {why}")]
    Field { section: &'static str, index: u32, field: &'static str, value: u32, why: &'static str },
}
