//! `counters.gen.ts`: what each counter cell means, by kind of slot.

use std::fmt::Write;

use table::counters::{Cell, KINDS};

use crate::naming::{banner, camel, quoted};

/// The text of the file.
pub fn print() -> String {
    let mut out = banner("native/crates/table/src/counters.rs and native/crates/session/src/close_reason.rs");
    write(&mut out).expect("a String takes any text");
    out
}

fn write(out: &mut String) -> std::fmt::Result {
    writeln!(out, "/** One counter cell of a kind of slot. */")?;
    writeln!(out, "export interface CounterCell {{")?;
    writeln!(
        out,
        "  /** Index within the slot (kind `engine`: within the engine-wide cells). */\n  readonly number: number;"
    )?;
    writeln!(out, "  readonly name: string;")?;
    writeln!(out, "  /** Metric family without `_total`; families repeat when labels tell cells apart. */")?;
    writeln!(out, "  readonly metric: string;\n  readonly labels: Readonly<Record<string, string>>;")?;
    writeln!(
        out,
        "  /** Cell value × scale = metric value. */\n  readonly scale: number;\n  readonly help: string;\n}}\n"
    )?;
    writeln!(out, "/** All cells by kind of slot. */")?;
    writeln!(out, "export const COUNTER_CELLS = {{")?;
    for (kind, cells) in KINDS {
        writeln!(out, "  {}: [", camel(kind))?;
        for cell in *cells {
            writeln!(out, "    {},", literal(cell))?;
        }
        writeln!(out, "  ],")?;
    }
    writeln!(out, "}} as const satisfies Readonly<Record<string, readonly CounterCell[]>>;\n")?;
    writeln!(out, "/** Cell numbers by kind of slot and name. */")?;
    writeln!(out, "export const CELL = {{")?;
    for (kind, cells) in KINDS {
        let numbers = cells.iter().map(|c| format!("{}: {}", camel(c.name), c.number)).collect::<Vec<_>>();
        writeln!(out, "  {}: {{ {} }},", camel(kind), numbers.join(", "))?;
    }
    writeln!(out, "}} as const;")
}

fn literal(cell: &Cell) -> String {
    let labels = match cell.label.split_once('=') {
        Some((name, value)) => format!("{{ {name}: {} }}", quoted(value)),
        None => "{}".to_owned(),
    };
    let scale = match cell.per_million {
        1_000_000 => "1",
        _ => "1e-6",
    };
    format!(
        "{{ number: {}, name: {}, metric: {}, labels: {labels}, scale: {scale}, help: {} }}",
        cell.number,
        quoted(&camel(cell.name)),
        quoted(cell.metric),
        quoted(cell.help)
    )
}
