//! `counters.gen.ts`: what each counter cell means, by kind of slot.

use std::fmt::Write;

use session::CloseReason;
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
    writeln!(out, "}} as const;\n")?;
    writeln!(out, "/** Why a connection or request ended. */")?;
    writeln!(out, "export interface CloseReasonInfo {{")?;
    writeln!(out, "  /** Counter cell and wire number. */\n  readonly number: number;")?;
    writeln!(out, "  /** Log word and metric label `reason`. */\n  readonly word: string;")?;
    writeln!(out, "  /** Who brought it about; metric label `side`. */\n  readonly side: string;")?;
    writeln!(out, "  /** Status of the answer that names it; 0: none. */\n  readonly status: number;")?;
    writeln!(out, "  readonly help: string;\n}}\n")?;
    writeln!(out, "/** Every close reason; its number is its index. */")?;
    writeln!(out, "export const CLOSE_REASONS: readonly CloseReasonInfo[] = [")?;
    for info in CloseReason::ALL {
        writeln!(
            out,
            "  {{ number: {}, word: {}, side: {}, status: {}, help: {} }},",
            info.reason as u8,
            quoted(info.word),
            quoted(info.side.label()),
            info.status,
            quoted(info.help.trim())
        )?;
    }
    writeln!(out, "];")
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
