//! Any bytes as the start of a TLS connection; see the checks for what must hold.
#![no_main]

#[path = "../../crates/proto/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::client_hello(bytes));
