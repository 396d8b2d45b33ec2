//! Replays the fuzz seeds and mutations of them on the stable toolchain: the same checks as native/fuzz, a fixed seed, no libFuzzer.

mod checks;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const MUTATIONS: u32 = 20_000;

/// The seeds of a target, by file name, so that every run mutates the same bytes.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut paths: Vec<_> =
        fs::read_dir(&folder).expect("folder of seeds").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("seed")).collect()
}

fn replay(target: &str, check: fn(&[u8])) {
    let seeds = seeds(target);
    assert!(seeds.len() >= 5, "{target} has {} seeds", seeds.len());
    seeds.iter().for_each(|seed| check(seed));

    // Bytes that change the meaning of what stands around them.
    let sharp = b"\r\n\r\n\0 \t:;,/?#@*0159afHh\x16\x7f\x80\xff".to_vec();
    let edit = (any::<prop::sample::Index>(), 0..4u8, prop::sample::select(sharp));
    let strategy =
        (prop::sample::select(seeds.clone()), prop::sample::select(seeds), prop::collection::vec(edit, 1..6));
    let config = Config { cases: MUTATIONS, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let outcome = TestRunner::new_with_rng(config, rng).run(&strategy, |(mut bytes, other, edits)| {
        for (at, kind, byte) in edits {
            let at = at.index(bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => bytes[at] = byte,
                2 if at < bytes.len() => drop(bytes.remove(at)),
                _ => {
                    let from = at.min(other.len());
                    bytes.splice(at.., other[from..].iter().copied());
                }
            }
        }
        check(&bytes);
        Ok(())
    });
    if let Err(fault) = outcome {
        panic!("{target}: {fault}");
    }
}

#[test]
fn request_seeds_and_their_mutations_hold() {
    replay("h1_request", checks::request);
}

#[test]
fn response_seeds_and_their_mutations_hold() {
    replay("h1_response", checks::response);
}

#[test]
fn chunked_seeds_and_their_mutations_hold() {
    replay("chunked", checks::chunked);
}

#[test]
fn client_hello_seeds_and_their_mutations_hold() {
    replay("client_hello", checks::client_hello);
}
