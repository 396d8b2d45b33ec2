//! Prints the TypeScript side of what Rust declares: binary layouts, counter cells, close reasons.
//! `cargo run -p xtask -- gen` writes the files, `-- check` exits 1 and names those that differ. No other output exists.

mod counters_ts;
mod layout_ts;
mod naming;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let folder = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest) => PathBuf::from(manifest).join("../../src/native"),
        None => return fail("run it by cargo: cargo run -p xtask -- gen", 2),
    };
    let files = [("layout.gen.ts", layout_ts::print()), ("counters.gen.ts", counters_ts::print())];
    let mut stale = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        match command.as_str() {
            "gen" => {
                if let Err(error) = std::fs::write(&path, text) {
                    return fail(&format!("{name} cannot be written: {error}"), 1);
                }
            }
            "check" => {
                if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
                    stale.push(name);
                }
            }
            _ => return fail("usage: xtask gen | check", 2),
        }
    }
    if stale.is_empty() {
        return ExitCode::SUCCESS;
    }
    fail(&format!("src/native: {} not what Rust declares; run: cargo run -p xtask -- gen", stale.join(", ")), 1)
}

fn fail(message: &str, code: u8) -> ExitCode {
    eprintln!("xtask: {message}");
    ExitCode::from(code)
}
