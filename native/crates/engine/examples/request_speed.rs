//! Prints what one request costs beside its bytes: finding its route among many host names, and counting it.
//! `cargo run --release -p engine --example request_speed TABLE HOSTS`; `bench/micro` writes the table and runs this.
//! The table's socket 0 routes host-000000.bench.example and so on. Figures are medians of rounds, as one JSON line.

use std::hint::black_box;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use engine::shared::region::{COUNTERS_BYTES, CURSORS_BYTES, GAUGES_BYTES};
use engine::shared::{Counters, Cursors, Gauges};
use engine::sys::memory::{Mapping, create_region};
use session::{HeaderLookup, RequestKey, Routed, route};
use table::Table;

const ROUNDS: usize = 9;
const REQUESTS: usize = 200_000;
/// Slots that the counted requests are spread over, so that not all of them sit in the first-level cache.
const SLOTS: u32 = 1000;
/// What the engine counts for a proxied request: listener, action and endpoint cells.
const CELLS: usize = 4;

struct NoFields;

impl HeaderLookup for NoFields {
    fn find(&self, _: &[u8]) -> Option<&[u8]> {
        None
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(count)) = (arguments.next(), arguments.next().and_then(|text| text.parse().ok())) else {
        eprintln!("usage: request_speed TABLE HOSTS");
        std::process::exit(2);
    };
    let bytes = std::fs::read(&file).unwrap_or_else(|error| fail(&format!("{file}: {error}")));
    let table = Table::parse(bytes).unwrap_or_else(|error| fail(&format!("{file}: {error}")));
    let routed = route_ns(&table, count);
    let counted = count_ns().unwrap_or_else(|error| fail(&format!("shared memory: {error}")));
    println!("{{\"hosts\":{count},\"routeNs\":{routed:.1},\"countNs\":{counted:.1}}}");
}

fn fail(message: &str) -> ! {
    eprintln!("request_speed: {message}");
    std::process::exit(1)
}

/// Nanoseconds from host and path to the action; host names in an order that no cache foresees.
fn route_ns(table: &Table<Vec<u8>>, count: usize) -> f64 {
    let hosts: Vec<String> = (0..REQUESTS).map(|i| format!("host-{:06}.bench.example", scattered(i) % count)).collect();
    median(|| {
        for host in &hosts {
            let key =
                RequestKey { method: b"GET", host: host.as_bytes(), path: b"/catalogue/items", headers: &NoFields };
            match route(table, 0, black_box(&key)) {
                Routed::Action(listener, action) => black_box((listener, action)),
                other => fail(&format!("{host}: {other:?}, an action expected")),
            };
        }
    })
}

/// Nanoseconds for all counters, gauges and cursors of one request.
fn count_ns() -> std::io::Result<f64> {
    let map = |len: usize| -> std::io::Result<Arc<Mapping>> {
        let fd = create_region("request_speed", len as u64)?;
        Mapping::map(fd.as_fd(), len).map(Arc::new)
    };
    let counters = Counters::new(map(COUNTERS_BYTES)?);
    let gauges = Gauges::new(map(GAUGES_BYTES)?);
    let cursors = Cursors::new(map(CURSORS_BYTES)?);
    let slots: Vec<u32> = (0..REQUESTS).map(|i| scattered(i) as u32 % SLOTS).collect();
    Ok(median(|| {
        for &slot in &slots {
            let trio = [slot, slot + SLOTS, slot + 2 * SLOTS];
            trio.iter().for_each(|&slot| gauges.inc(slot));
            black_box(cursors.next(trio[1]));
            black_box(cursors.next(trio[2]));
            for &slot in &trio {
                (0..CELLS).for_each(|cell| counters.add(slot, cell, black_box(117)));
            }
            counters.reason(36);
            trio.iter().for_each(|&slot| gauges.dec(slot));
        }
    }))
}

/// Multiplicative hashing: a fixed order without locality.
fn scattered(i: usize) -> usize {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 17
}

fn median(mut round: impl FnMut()) -> f64 {
    let mut figures: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_nanos() as f64 / REQUESTS as f64
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    figures[ROUNDS / 2]
}
