//! `layout.gen.ts`: offsets and sizes of every record, sections, constants and the layout hash.

use std::fmt::Write;

use table::layout::{CONSTANTS, LAYOUT_HASH, RECORDS, SECTIONS};

use crate::naming::{banner, camel, quoted, upper};

/// The text of the file.
pub fn print() -> String {
    let mut out = banner("native/crates/table/src/layout.rs");
    write(&mut out).expect("a String takes any text");
    out
}

fn write(out: &mut String) -> std::fmt::Result {
    writeln!(out, "/** Hash of every name, offset and constant below; a table of another hash is refused. */")?;
    writeln!(out, "export const LAYOUT_HASH = 0x{LAYOUT_HASH:016x}n;\n")?;
    for record in RECORDS.iter().copied().flatten() {
        let fields = record.fields.iter().map(|f| format!("{} {}", camel(f.name), f.kind)).collect::<Vec<_>>();
        writeln!(out, "/** Byte size and field offsets of `{}`: {}. */", record.name, fields.join(", "))?;
        writeln!(out, "export const {} = {{", upper(record.name))?;
        writeln!(out, "  size: {},", record.size)?;
        for field in record.fields {
            writeln!(out, "  {}: {},", camel(field.name), field.offset)?;
        }
        writeln!(out, "}} as const;\n")?;
    }
    writeln!(out, "/** Sections of a table in the order of the directory, with the bytes of one record. */")?;
    writeln!(out, "export const SECTIONS = [")?;
    for (name, size) in SECTIONS {
        writeln!(out, "  {{ name: {}, size: {size} }},", quoted(&camel(name)))?;
    }
    writeln!(out, "] as const;\n")?;
    writeln!(out, "/** Name of a section. */")?;
    writeln!(out, "export type SectionName = (typeof SECTIONS)[number]['name'];\n")?;
    for (name, value) in CONSTANTS {
        writeln!(out, "export const {name} = {value};")?;
    }
    Ok(())
}
