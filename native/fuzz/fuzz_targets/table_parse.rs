//! Any bytes as a table, and any edits of a valid one: refused, or no accessor panics.
#![no_main]

#[path = "../../crates/table/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    checks::bytes(bytes);
    checks::edits(bytes);
});
