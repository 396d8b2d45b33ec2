//! Any bytes as a peer's request head; see the checks for what must hold.
#![no_main]

#[path = "../../crates/proto/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::request(bytes));
