//! A worker with little memory, and clients that take no answers.

use rustix::io::Errno;
use session::CloseReason;

use super::super::budget::Pressure;
use super::super::bytes::owned;
use super::fixture::{HTTP_SOCKET, Rig, TCP_SOCKET, rig_with};
use super::kernel::{Shared as Net, network};
use super::peers::HttpBackend;
use super::runs::{assert_nothing_left, settle};

const SHARE: usize = 2 << 20;
const CLIENTS: usize = 200;
/// What one connection may add while memory is short: what it was just below, and one read.
const TIGHT_BYTES: usize = 2 * 16 * 1024;

struct Scene {
    net: Net,
    rig: Rig,
    backends: Vec<HttpBackend>,
}

impl Scene {
    fn turn(&mut self) {
        self.rig.engine.turn().expect("turn");
        if let Some(socket) = self.net.borrow_mut().establish() {
            self.backends.push(HttpBackend::new(socket));
        }
        self.backends.iter_mut().for_each(|backend| backend.step(&mut self.net.borrow_mut()));
        self.backends.retain(|backend| !backend.done);
    }

    fn pressure(&self) -> Pressure {
        self.rig.engine.core.pressure()
    }

    fn ask(&mut self, path: &str) -> u32 {
        let client = self.net.borrow_mut().dial(HTTP_SOCKET);
        let request = format!("GET {path} HTTP/1.1\r\nHost: sim.test\r\n\r\n");
        let mut left = request.as_bytes();
        while !left.is_empty() {
            match self.net.borrow_mut().write(client, left) {
                Ok(n) => left = &left[n..],
                Err(Errno::AGAIN) => {}
                Err(error) => panic!("{error}"),
            }
            self.turn();
        }
        client
    }

    /// The head of an answer, or why there is none.
    fn answer(&mut self, client: u32) -> Result<String, Errno> {
        let mut text = String::new();
        for _ in 0..10_000 {
            self.turn();
            match self.net.borrow_mut().read(client, 4096) {
                Ok(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
                Err(Errno::AGAIN) => {}
                Err(error) => return Err(error),
            }
            if let Some(end) = text.find("\r\n\r\n") {
                text.truncate(end);
                return Ok(text);
            }
        }
        panic!("no answer: {text}");
    }
}

#[test]
fn clients_that_take_no_answers_cost_no_more_than_the_share_and_those_that_come_later_are_served_again() {
    // Sockets of 24 kB: most of an answer has to stay here.
    let net = network(1);
    let mut scene = Scene { rig: rig_with(&net, 100_000, 4 * SHARE), net, backends: Vec::new() };
    let before = owned();
    let mut clients: Vec<u32> = (0..CLIENTS).map(|n| scene.ask(&format!("/{n}/600000/chunked"))).collect();
    let mut peak = 0;
    for _ in 0..20_000 {
        scene.turn();
        peak = peak.max(owned());
        if scene.pressure() == Pressure::Full {
            break;
        }
    }
    assert_eq!(scene.pressure(), Pressure::Full, "{} kB at most", peak >> 10);

    let refused = scene.ask("/900/10/length");
    let answer = scene.answer(refused).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after: 1"), "{answer}");
    let session = scene.net.borrow_mut().dial(TCP_SOCKET);
    settle(&mut scene.rig, &scene.net);
    assert_eq!(scene.net.borrow_mut().read(session, 1), Err(Errno::CONNRESET));
    clients.extend([refused, session]);

    // Nobody leaves: the worker has to make room by itself, and goes on doing so.
    let mut late = Vec::new();
    for _ in 0..500 {
        scene.turn();
        peak = peak.max(owned());
        if scene.pressure() != Pressure::Full && late.is_empty() {
            let client = scene.ask("/901/10/length");
            late.push(scene.answer(client).expect("an answer"));
            clients.push(client);
        }
    }
    assert!(late.first().is_some_and(|answer| answer.starts_with("HTTP/1.1 200 ")), "{late:?}");
    assert!(peak <= SHARE + CLIENTS * TIGHT_BYTES, "{} kB", peak >> 10);
    let ended = scene.rig.engine.core.shared.counters.read_reason(CloseReason::MemoryPressure as usize);
    assert!(ended >= 3, "{ended}: the refused request and session, and those that were ended to make room");
    assert!(owned() > SHARE / 2, "{} kB: more were ended than had to be", owned() >> 10);

    for client in clients {
        scene.net.borrow_mut().close(client);
    }
    for _ in 0..50 {
        scene.backends.iter_mut().for_each(|backend| backend.step(&mut scene.net.borrow_mut()));
        settle(&mut scene.rig, &scene.net);
    }
    assert_nothing_left(&scene.rig);
    drop(scene);
    assert_eq!(owned(), before, "the account is off");
}
