//! The runs themselves.

use table::counters;

use super::super::accept::RESERVED;
use super::fixture::{HTTP_SLOTS, HTTP_SOCKET, Rig, SLOTS, TCP_SLOTS, TCP_SOCKET, endpoint, rig, rig_with};
use super::kernel::{Shared as Net, network};
use super::peers::{HttpBackend, HttpClient, Request, TcpPeer};
use super::random::Random;

/// Steps after which a run that has not ended has forgotten somebody.
const MOST_STEPS: usize = 2_000_000;

/// One step in so many is a turn of the loop: a slow loop meets full buffers and streams that have ended meanwhile.
const PACES: [usize; 3] = [4, 40, 400];

fn seeds(default: u64) -> Vec<u64> {
    match std::env::var("SIM_SEED").ok().and_then(|s| s.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..default).collect(),
    }
}

/// Prints the seed of a run that panics.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("replay with SIM_SEED={}", self.0);
        }
    }
}

pub fn settle(rig: &mut Rig, net: &Net) {
    for _ in 0..400 {
        rig.engine.turn().expect("turn");
        net.borrow_mut().establish();
    }
}

pub fn assert_nothing_left(rig: &Rig) {
    for slot in SLOTS.iter().chain(&HTTP_SLOTS).chain(&TCP_SLOTS) {
        assert_eq!(rig.engine.core.shared.gauges.read(*slot), 0, "in-flight count of slot {slot}");
    }
    assert_eq!(rig.engine.connections(), 0);
}

fn http_run(seed: u64, clients: usize, refusing: bool, giving_up: u64) {
    let _told = Told(seed);
    let net = network(seed);
    let mut random = Random::new(seed ^ 0xdead_beef);
    if refusing {
        net.borrow_mut().refusing.push(endpoint(0));
    }
    let mut rig = rig(&net);
    let pace = PACES[(seed / 3 % 3) as usize];
    let mut clients: Vec<HttpClient> = (0..clients)
        .map(|c| {
            let requests =
                (0..1 + random.below(6)).map(|r| Request::random((c * 100 + r) as u64, &mut random)).collect();
            let gives_up = random.chance(giving_up).then(|| 1 + random.below(300));
            HttpClient::new(&mut net.borrow_mut(), HTTP_SOCKET, requests, gives_up)
        })
        .collect();
    let mut backends: Vec<HttpBackend> = Vec::new();
    for step in 0.. {
        assert!(
            step < MOST_STEPS,
            "somebody is forgotten: {} clients wait",
            clients.iter().filter(|c| !c.done).count()
        );
        match random.below(pace) {
            0 => drop(rig.engine.turn().expect("turn")),
            n if n % 3 == 1 => {
                if let Some(socket) = net.borrow_mut().establish() {
                    backends.push(HttpBackend::new(socket));
                }
            }
            n if n % 3 == 2 => {
                let at = random.below(clients.len());
                clients[at].step(&mut net.borrow_mut());
            }
            _ => {
                if !backends.is_empty() {
                    let at = random.below(backends.len());
                    backends[at].step(&mut net.borrow_mut());
                }
            }
        }
        backends.retain(|b| !b.done);
        if clients.iter().all(|c| c.done) {
            break;
        }
    }
    settle(&mut rig, &net);
    for _ in 0..50 {
        backends.iter_mut().for_each(|b| b.step(&mut net.borrow_mut()));
        settle(&mut rig, &net);
    }
    assert_nothing_left(&rig);
}

#[test]
fn every_http_exchange_is_answered_with_its_own_bytes() {
    for seed in seeds(60) {
        http_run(seed, 8, false, 0);
    }
}

#[test]
fn a_refusing_endpoint_costs_no_request() {
    for seed in seeds(30) {
        http_run(seed, 6, true, 0);
    }
}

#[test]
fn clients_that_vanish_leave_nothing_behind() {
    for seed in seeds(60) {
        http_run(seed, 10, false, 50);
    }
}

fn tcp_run(seed: u64, sessions: usize, tiny: bool, resets: u64) {
    let _told = Told(seed);
    let net = network(seed);
    let mut random = Random::new(seed ^ 0x0bad_cafe);
    let mut rig = rig(&net);
    let most = if tiny { 600 } else { 1_500_000 };
    // All backends send the same stream, so that it does not matter which client's session one serves.
    let (up_len, down_len) = (random.size(most), random.size(most));
    let (up, down) = ((7, up_len), (8, down_len));
    let mut peers: Vec<TcpPeer> = (0..sessions)
        .map(|_| {
            let mut peer = TcpPeer::new(net.borrow_mut().dial(TCP_SOCKET), up.0, up.1, down, tiny);
            peer.lenient = resets > 0;
            peer.resets_in = random.chance(resets).then(|| 1 + random.below(400));
            peer
        })
        .collect();
    let mut backends: Vec<TcpPeer> = Vec::new();
    let pace = PACES[(seed / 3 % 3) as usize];
    for step in 0.. {
        assert!(step < MOST_STEPS, "somebody is forgotten: {} sessions wait", peers.iter().filter(|p| !p.done).count());
        match random.below(pace) {
            0 => drop(rig.engine.turn().expect("turn")),
            n if n % 3 == 1 => {
                if let Some(socket) = net.borrow_mut().establish() {
                    let mut backend = TcpPeer::new(socket, down.0, down.1, up, tiny);
                    backend.lenient = resets > 0;
                    backend.resets_in = random.chance(resets).then(|| 1 + random.below(400));
                    backends.push(backend);
                }
            }
            n if n % 3 == 2 => {
                let at = random.below(peers.len());
                peers[at].step(&mut net.borrow_mut());
            }
            _ => {
                if !backends.is_empty() {
                    let at = random.below(backends.len());
                    backends[at].step(&mut net.borrow_mut());
                }
            }
        }
        if peers.iter().all(|p| p.done) {
            break;
        }
    }
    for _ in 0..50 {
        backends.iter_mut().for_each(|b| b.step(&mut net.borrow_mut()));
        settle(&mut rig, &net);
    }
    if resets == 0 {
        assert!(peers.iter().all(|p| !p.broken), "a session was reset");
        let counted = rig.engine.core.shared.counters.read(SLOTS[2], counters::listener::BYTES_IN);
        assert_eq!(counted, (up_len * sessions) as u64);
    }
    assert_nothing_left(&rig);
}

#[test]
fn every_tcp_stream_arrives_whole_in_both_directions() {
    for seed in seeds(60) {
        tcp_run(seed, 5, false, 0);
    }
}

#[test]
fn streams_of_tiny_segments_do_not_stall() {
    for seed in seeds(30) {
        tcp_run(seed, 8, true, 0);
    }
}

#[test]
fn a_reset_of_either_side_ends_the_session_and_its_counts() {
    for seed in seeds(60) {
        tcp_run(seed, 6, false, 40);
    }
}

#[test]
fn at_the_descriptor_limit_members_are_registered_for_a_batch_of_departures_and_for_a_few_after_a_while() {
    const ROOM: usize = 160;
    /// A sixteenth of the room.
    const BATCH: usize = 10;
    // Two listening sockets and three pipes.
    const DESCRIPTORS: usize = RESERVED + 2 + 6 + 2 * ROOM;
    let net = network(1);
    let mut rig = rig_with(&net, DESCRIPTORS, usize::MAX);
    let mut clients: Vec<u32> = (0..3 * ROOM).map(|_| net.borrow_mut().dial(HTTP_SOCKET)).collect();
    settle(&mut rig, &net);
    assert_eq!(rig.engine.connections(), ROOM);
    let pauses = |rig: &Rig| rig.engine.core.shared.counters.read_engine(counters::engine::ACCEPT_PAUSES);
    assert_eq!(pauses(&rig), 1);
    let mut leave = |rig: &mut Rig| {
        // The queue is first in, first out.
        net.borrow_mut().close(clients.remove(0));
        for _ in 0..4 {
            rig.engine.turn().expect("turn");
        }
    };
    let fill = |rig: &mut Rig| {
        let begun_ms = rig.engine.core.now_ms;
        while rig.engine.connections() < ROOM {
            rig.engine.turn().expect("turn");
            assert!(rig.engine.core.now_ms - begun_ms < 100, "the last places stay empty");
        }
    };
    for _ in 0..ROOM {
        leave(&mut rig);
    }
    fill(&mut rig);
    assert!((3..=2 + (ROOM / BATCH) as u64).contains(&pauses(&rig)), "{} pauses", pauses(&rig));
    for _ in 0..BATCH / 2 {
        leave(&mut rig);
    }
    assert_eq!(rig.engine.connections(), ROOM - BATCH / 2, "too few to look at once");
    fill(&mut rig);
}
