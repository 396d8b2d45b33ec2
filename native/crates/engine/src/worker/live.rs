//! The engine on the real kernel, in one process with its clients and backends: fairness under a mix, bulk without stalls.
//!
//! A TCP backend does what the first byte of a session says: `E` echoes, `S` sends for ever, `C` counts until the FIN and
//! answers the count.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::accept::RESERVED;
use super::core::Core;
use super::os::Linux;
use super::simulation::fixture::{HTTP_SOCKET, TCP_SOCKET, memory, table};
use super::turn::Loop;
use crate::sys::epoll::{Event, Poller};

/// No step of any of these tests takes longer unless something is stuck.
const PATIENCE: Duration = Duration::from_secs(60);
/// The standard library's 128 are too few for 2,000 connections at once.
const BACKLOG: i32 = 4096;

/// The engine and its backends on threads of their own; ends with the test.
struct Live {
    http: SocketAddr,
    tcp: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Live {
    fn start(most_pipes: usize) -> Self {
        Self::start_with(most_pipes, 18_000, BACKLOG)
    }

    fn start_with(most_pipes: usize, descriptors: usize, backlog: i32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (http_backend, tcp_backend) = (listener(), listener());
        let (http_at, tcp_at) = (http_backend.local_addr().unwrap(), tcp_backend.local_addr().unwrap());
        let (http_front, tcp_front) = (listener(), listener());
        rustix::net::listen(&http_front, backlog).unwrap();
        let (http, tcp) = (http_front.local_addr().unwrap(), tcp_front.local_addr().unwrap());
        let flags = [stop.clone(), stop.clone(), stop.clone()];
        let [engine_stop, http_stop, tcp_stop] = flags;
        let engine = std::thread::spawn(move || {
            let (_memory, shared) = memory([http_at, http_at, tcp_at, tcp_at]);
            let mut core = Core::new(Linux { poller: Poller::new().unwrap() }, shared, most_pipes, usize::MAX, 1);
            core.table = Some(table());
            let mut engine = Loop::new(core, descriptors);
            engine.listeners.add(&mut engine.core, HTTP_SOCKET, 0, OwnedFd::from(http_front));
            engine.listeners.add(&mut engine.core, TCP_SOCKET, 0, OwnedFd::from(tcp_front));
            while !engine_stop.load(Ordering::Relaxed) {
                engine.turn().unwrap();
            }
        });
        let threads = vec![
            engine,
            std::thread::spawn(move || serve(&http_backend, &http_stop, Backend::Http)),
            std::thread::spawn(move || serve(&tcp_backend, &tcp_stop, Backend::FirstByte)),
        ];
        Self { http, tcp, stop, threads }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !std::thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

fn listener() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, BACKLOG).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

#[derive(Clone, Copy, PartialEq)]
enum Backend {
    Http,
    FirstByte,
}

struct Served {
    stream: TcpStream,
    kind: u8,
    out: Vec<u8>,
    counted: u64,
    input: Vec<u8>,
    ended: bool,
}

fn serve(listener: &TcpListener, stop: &AtomicBool, backend: Backend) {
    let mut poller = Poller::new().unwrap();
    poller.add_level(listener, u64::MAX).unwrap();
    let mut served: Vec<Option<Served>> = Vec::new();
    let mut events: Vec<Event> = Vec::new();
    let mut buffer = vec![0u8; 64 * 1024];
    while !stop.load(Ordering::Relaxed) {
        events.clear();
        poller.wait(50, &mut events).unwrap();
        for event in &events {
            if event.token == u64::MAX {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true).unwrap();
                    stream.set_nodelay(true).unwrap();
                    poller.add_edge(&stream, served.len() as u64).unwrap();
                    served.push(Some(Served {
                        stream,
                        kind: 0,
                        out: Vec::new(),
                        counted: 0,
                        input: Vec::new(),
                        ended: false,
                    }));
                }
                continue;
            }
            let place = &mut served[event.token as usize];
            let gone = place.as_mut().is_some_and(|s| s.step(backend, &mut buffer).is_err());
            if gone {
                *place = None;
            }
        }
    }
}

impl Served {
    fn step(&mut self, backend: Backend, buffer: &mut [u8]) -> std::io::Result<()> {
        while !self.ended {
            match self.stream.read(buffer) {
                Ok(0) => {
                    self.ended = true;
                    match self.kind {
                        b'C' => self.out = self.counted.to_le_bytes().to_vec(),
                        b'E' => {}
                        _ => return Err(ErrorKind::UnexpectedEof.into()),
                    }
                }
                Ok(n) if backend == Backend::Http => {
                    self.input.extend_from_slice(&buffer[..n]);
                    while let Some(end) = self.input.windows(4).position(|w| w == b"\r\n\r\n") {
                        self.input.drain(..end + 4);
                        self.out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }
                }
                Ok(n) => {
                    let first = self.kind == 0;
                    if first {
                        self.kind = buffer[0];
                    }
                    match self.kind {
                        b'E' => self.out.extend_from_slice(&buffer[usize::from(first)..n]),
                        b'C' => self.counted += (n - usize::from(first)) as u64,
                        _ => {}
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        loop {
            if self.kind == b'S' && self.out.is_empty() {
                self.out = vec![b's'; 256 * 1024];
            }
            if self.out.is_empty() {
                if self.ended {
                    self.stream.shutdown(Shutdown::Write)?;
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                return Ok(());
            }
            match self.stream.write(&self.out) {
                Ok(n) => drop(self.out.drain(..n)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

fn connect(to: SocketAddr, first: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(first).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

fn raise_descriptor_limit() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
}

#[test]
fn small_exchanges_are_not_starved_by_streams_and_pipelines() {
    const STREAMS: usize = 8;
    const PINGERS: usize = 500;
    const PIPELINERS: usize = 100;
    const ROUND_TRIPS: usize = 20;
    const BATCH: usize = 16;
    raise_descriptor_limit();
    let live = Live::start(64);
    let mut poller = Poller::new().unwrap();
    let streams: Vec<TcpStream> = (0..STREAMS).map(|_| connect(live.tcp, b"S")).collect();
    let batch = b"GET / HTTP/1.1\r\nHost: live.test\r\n\r\n".repeat(BATCH);
    let pipeliners: Vec<TcpStream> = (0..PIPELINERS).map(|_| connect(live.http, &batch)).collect();
    let pingers: Vec<TcpStream> = (0..PINGERS).map(|_| connect(live.tcp, b"Ep")).collect();
    let all: Vec<&TcpStream> = streams.iter().chain(&pipeliners).chain(&pingers).collect();
    for (token, stream) in all.iter().enumerate() {
        poller.add_level(*stream, token as u64).unwrap();
    }
    let started = Instant::now();
    let mut sent_at = vec![started; PINGERS];
    let mut left = vec![ROUND_TRIPS; PINGERS];
    let mut waiting = PINGERS;
    let mut times: Vec<Duration> = Vec::new();
    let (mut streamed, mut answered) = (0usize, vec![0usize; PIPELINERS]);
    let mut buffer = vec![0u8; 256 * 1024];
    let mut events = Vec::new();
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len();
    while waiting > 0 {
        assert!(started.elapsed() < PATIENCE, "{waiting} of {PINGERS} ping-pong clients are stuck");
        events.clear();
        poller.wait(1000, &mut events).unwrap();
        for event in &events {
            let token = event.token as usize;
            let mut stream = all[token];
            let Ok(n) = stream.read(&mut buffer) else { continue };
            assert!(n > 0, "connection {token} was closed");
            if token < STREAMS {
                streamed += n;
            } else if token < STREAMS + PIPELINERS {
                let bytes = &mut answered[token - STREAMS];
                *bytes += n;
                if *bytes == answer * BATCH {
                    *bytes = 0;
                    stream.write_all(&batch).unwrap();
                }
            } else {
                let pinger = token - STREAMS - PIPELINERS;
                times.push(sent_at[pinger].elapsed());
                left[pinger] -= 1;
                if left[pinger] == 0 {
                    waiting -= 1;
                    continue;
                }
                sent_at[pinger] = Instant::now();
                stream.write_all(b"p").unwrap();
            }
        }
    }
    times.sort();
    let p99 = times[times.len() * 99 / 100];
    println!("ping-pong p50 {:?} p99 {p99:?}, {} MB streamed", times[times.len() / 2], streamed / 1_000_000);
    assert!(p99 < Duration::from_secs(2), "ping-pong p99 is {p99:?}");
    assert!(streamed > 1_000_000, "the streams starved: {streamed} bytes");
}

#[test]
fn bulk_of_one_byte_segments_arrives() {
    const BYTES: usize = 60_000;
    let live = Live::start(64);
    let mut stream = TcpStream::connect(live.tcp).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // Enough at once to be taken for bulk, then single bytes.
    stream.write_all(&[b'C'; 200_001]).unwrap();
    for _ in 0..BYTES {
        stream.write_all(b"x").unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    let mut count = [0u8; 8];
    stream.read_exact(&mut count).unwrap();
    assert_eq!(u64::from_le_bytes(count), 200_000 + BYTES as u64);
}

#[test]
fn two_thousand_bulk_streams_all_arrive_with_few_pipes() {
    const STREAMS: usize = 2_000;
    const BYTES: usize = 200_000;
    raise_descriptor_limit();
    let live = Live::start(16);
    let mut poller = Poller::new().unwrap();
    let mut streams: Vec<(TcpStream, usize)> = (0..STREAMS).map(|_| (connect(live.tcp, b"C"), 0)).collect();
    for (token, (stream, _)) in streams.iter().enumerate() {
        poller.add_edge(stream, token as u64).unwrap();
    }
    let started = Instant::now();
    let piece = vec![b'b'; 64 * 1024];
    let mut done = 0;
    let mut events = Vec::new();
    let mut ready: Vec<usize> = (0..STREAMS).collect();
    while done < STREAMS {
        assert!(started.elapsed() < PATIENCE, "{} streams are stuck", STREAMS - done);
        for token in std::mem::take(&mut ready) {
            let (stream, sent) = &mut streams[token];
            while *sent < BYTES {
                match stream.write(&piece[..piece.len().min(BYTES - *sent)]) {
                    Ok(n) => *sent += n,
                    Err(_) => break,
                }
                if *sent == BYTES {
                    stream.shutdown(Shutdown::Write).unwrap();
                }
            }
            let mut count = [0u8; 8];
            if *sent == BYTES
                && let Ok(n) = stream.read(&mut count)
                && n > 0
            {
                assert_eq!(u64::from_le_bytes(count), BYTES as u64, "stream {token}");
                done += 1;
            }
        }
        events.clear();
        poller.wait(1000, &mut events).unwrap();
        ready.extend(events.iter().map(|e| e.token as usize));
    }
}

#[test]
fn a_full_backlog_is_served_once_descriptors_are_free_without_a_new_connection() {
    const INSIDE: usize = 8;
    const BACKLOG: usize = 4;
    // The kernel queues one more than the backlog says.
    const QUEUED: usize = BACKLOG + 1;
    // Two listening sockets, the reserve, and two descriptors for each connection.
    let live = Live::start_with(0, RESERVED + 2 + 2 * INSIDE, BACKLOG as i32);
    let ask = |stream: &mut TcpStream| stream.write_all(b"GET / HTTP/1.1\r\nHost: live.test\r\n\r\n").unwrap();
    let answer = |stream: &mut TcpStream| {
        let mut bytes = [0u8; b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len()];
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.read_exact(&mut bytes).unwrap();
        assert!(bytes.starts_with(b"HTTP/1.1 200 OK"));
    };
    let mut inside: Vec<TcpStream> = (0..INSIDE).map(|_| TcpStream::connect(live.http).unwrap()).collect();
    for stream in &mut inside {
        ask(stream);
        answer(stream);
    }
    let mut queued: Vec<TcpStream> = (0..QUEUED).map(|_| TcpStream::connect(live.http).unwrap()).collect();
    queued.iter_mut().for_each(ask);
    let refused = TcpStream::connect_timeout(&live.http, Duration::from_millis(300));
    assert_eq!(refused.map(drop).map_err(|e| e.kind()), Err(ErrorKind::TimedOut), "the backlog is not full");
    drop(inside);
    queued.iter_mut().for_each(answer);
}
