//! Clients and backends of the simulation. Each does a little at a time, as much as the network happens to take.

use rustix::io::Errno;

use super::kernel::Net;
use super::random::{Random, byte_of, bytes_of};

/// How a backend frames an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length,
    Chunked,
    UntilClose,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub id: u64,
    pub body: usize,
    pub chunked_body: bool,
    pub answer: usize,
    pub framing: Framing,
}

impl Request {
    pub fn random(id: u64, random: &mut Random) -> Self {
        let framing = match random.below(6) {
            0 => Framing::UntilClose,
            1 | 2 => Framing::Chunked,
            _ => Framing::Length,
        };
        let body = if random.chance(30) { random.size(200_000) } else { 0 };
        Self { id, body, chunked_body: random.chance(50), answer: random.size(600_000), framing }
    }

    fn encode(&self) -> Vec<u8> {
        let method = if self.body > 0 { "POST" } else { "GET" };
        let framing = match self.framing {
            Framing::Length => "length",
            Framing::Chunked => "chunked",
            Framing::UntilClose => "close",
        };
        let mut out =
            format!("{method} /{}/{}/{framing} HTTP/1.1\r\nHost: sim.test\r\n", self.id, self.answer).into_bytes();
        let body = bytes_of(self.id, 0..self.body);
        if self.body == 0 {
            out.extend_from_slice(b"\r\n");
        } else if self.chunked_body {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            chunk(&mut out, &body);
        } else {
            out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            out.extend_from_slice(&body);
        }
        out
    }
}

fn chunk(out: &mut Vec<u8>, body: &[u8]) {
    for piece in body.chunks(7_001) {
        out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

/// A message whose end is known: head, decoded body, bytes used.
struct Message {
    head: String,
    body: Vec<u8>,
    used: usize,
}

fn parse(bytes: &[u8], ended: bool) -> Option<Message> {
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let lower = head.to_ascii_lowercase();
    if lower.contains("transfer-encoding: chunked") {
        let (mut at, mut body) = (end, Vec::new());
        loop {
            let line = bytes[at..].windows(2).position(|w| w == b"\r\n")?;
            let size = usize::from_str_radix(std::str::from_utf8(&bytes[at..at + line]).ok()?.trim(), 16).ok()?;
            at += line + 2;
            let piece = bytes.get(at..at + size + 2)?;
            body.extend_from_slice(&piece[..size]);
            at += size + 2;
            if size == 0 {
                return Some(Message { head, body, used: at });
            }
        }
    }
    if let Some(at) = lower.find("content-length: ") {
        let n: usize = lower[at + 16..].lines().next()?.trim().parse().ok()?;
        let body = bytes.get(end..end + n)?.to_vec();
        return Some(Message { head, body, used: end + n });
    }
    if lower.starts_with("http/1.1 200") {
        return ended.then(|| Message { head, body: bytes[end..].to_vec(), used: bytes.len() });
    }
    Some(Message { head, body: Vec::new(), used: end })
}

pub struct HttpClient {
    socket: u32,
    requests: Vec<Request>,
    answered: usize,
    sent: usize,
    pipelined: bool,
    out: Vec<u8>,
    input: Vec<u8>,
    /// Closes without a word after this many steps.
    pub gives_up_in: Option<usize>,
    pub done: bool,
}

impl HttpClient {
    pub fn new(net: &mut Net, listener: u32, requests: Vec<Request>, gives_up_in: Option<usize>) -> Self {
        let pipelined = net.random.chance(40);
        Self {
            socket: net.dial(listener),
            requests,
            answered: 0,
            sent: 0,
            pipelined,
            out: Vec::new(),
            input: Vec::new(),
            gives_up_in,
            done: false,
        }
    }

    pub fn step(&mut self, net: &mut Net) {
        if self.done {
            return;
        }
        if let Some(left) = &mut self.gives_up_in {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.done = true;
                return net.close(self.socket);
            }
        }
        while self.sent < self.requests.len() && (self.pipelined || self.sent == self.answered) {
            self.out.extend(self.requests[self.sent].encode());
            self.sent += 1;
        }
        let most = net.random.size(30_000).max(1);
        if !self.out.is_empty() {
            let n = self.out.len().min(most);
            match net.write(self.socket, &self.out[..n]) {
                Ok(n) => drop(self.out.drain(..n)),
                Err(Errno::AGAIN) => {}
                Err(error) => panic!("client {}: send failed: {error}", self.requests[0].id),
            }
        }
        match net.read(self.socket, most) {
            Ok(bytes) if bytes.is_empty() => {
                panic!("client {}: closed after {} answers", self.requests[0].id, self.answered)
            }
            Ok(bytes) => self.input.extend(bytes),
            Err(Errno::AGAIN) => {}
            Err(error) => panic!("client {}: {error} after {} answers", self.requests[0].id, self.answered),
        }
        while let Some(message) = parse(&self.input, false) {
            let request = &self.requests[self.answered];
            assert!(message.head.starts_with("HTTP/1.1 200"), "request {}: {}", request.id, message.head);
            assert!(
                message.head.to_ascii_lowercase().contains("x-body: ok"),
                "request {}: its body was changed",
                request.id
            );
            assert_eq!(message.body.len(), request.answer, "request {}: length of the answer", request.id);
            let wrong = message.body.iter().enumerate().find(|(at, b)| **b != byte_of(request.id + 1_000_000, *at));
            assert_eq!(wrong, None, "request {}: wrong byte", request.id);
            self.input.drain(..message.used);
            self.answered += 1;
            if self.answered == self.requests.len() {
                self.done = true;
                net.close(self.socket);
                return;
            }
        }
    }
}

pub struct HttpBackend {
    socket: u32,
    input: Vec<u8>,
    out: Vec<u8>,
    closes: bool,
    pub done: bool,
}

impl HttpBackend {
    pub fn new(socket: u32) -> Self {
        Self { socket, input: Vec::new(), out: Vec::new(), closes: false, done: false }
    }

    pub fn step(&mut self, net: &mut Net) {
        if self.done {
            return;
        }
        let most = net.random.size(30_000).max(1);
        match net.read(self.socket, most) {
            Ok(bytes) if bytes.is_empty() => {
                self.done = true;
                return net.close(self.socket);
            }
            Ok(bytes) => self.input.extend(bytes),
            Err(Errno::AGAIN) => {}
            Err(_) => {
                self.done = true;
                return net.close(self.socket);
            }
        }
        if self.out.is_empty()
            && !self.closes
            && let Some(message) = parse(&self.input, false)
        {
            self.input.drain(..message.used);
            self.answer(&message);
        }
        if !self.out.is_empty() {
            let n = self.out.len().min(most);
            match net.write(self.socket, &self.out[..n]) {
                Ok(n) => drop(self.out.drain(..n)),
                Err(Errno::AGAIN) => {}
                Err(_) => self.out.clear(),
            }
            if self.out.is_empty() && self.closes {
                self.done = true;
                net.close(self.socket);
            }
        }
    }

    fn answer(&mut self, message: &Message) {
        let mut path = message.head.split(' ').nth(1).unwrap_or("").split('/').skip(1);
        let id: u64 = path.next().and_then(|s| s.parse().ok()).expect("id");
        let size: usize = path.next().and_then(|s| s.parse().ok()).expect("size");
        let good = message.body == bytes_of(id, 0..message.body.len());
        let body = bytes_of(id + 1_000_000, 0..size);
        self.out = format!("HTTP/1.1 200 OK\r\nX-Body: {}\r\n", if good { "ok" } else { "changed" }).into_bytes();
        match path.next() {
            Some("length") => {
                self.out.extend(format!("Content-Length: {size}\r\n\r\n").bytes());
                self.out.extend(body);
            }
            Some("chunked") => {
                self.out.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                chunk(&mut self.out, &body);
            }
            _ => {
                self.out.extend(b"\r\n");
                self.out.extend(body);
                self.closes = true;
            }
        }
    }
}

/// One end of a TCP session: sends a stream, shuts down, expects the other stream whole.
pub struct TcpPeer {
    socket: u32,
    name: u64,
    to_send: usize,
    sent: usize,
    expects: (u64, usize),
    received: usize,
    tiny: bool,
    /// Somebody may close early: only what arrives is judged, not whether it is all.
    pub lenient: bool,
    pub resets_in: Option<usize>,
    pub done: bool,
    pub broken: bool,
}

impl TcpPeer {
    pub fn new(socket: u32, name: u64, to_send: usize, expects: (u64, usize), tiny: bool) -> Self {
        Self {
            socket,
            name,
            to_send,
            sent: 0,
            expects,
            received: 0,
            tiny,
            lenient: false,
            resets_in: None,
            done: false,
            broken: false,
        }
    }

    pub fn step(&mut self, net: &mut Net) {
        if self.done {
            return;
        }
        if let Some(left) = &mut self.resets_in {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.broken = true;
                self.done = true;
                return net.close(self.socket);
            }
        }
        let most = if self.tiny { 1 + net.random.below(3) } else { net.random.size(40_000).max(1) };
        if self.sent < self.to_send {
            let n = most.min(self.to_send - self.sent);
            match net.write(self.socket, &bytes_of(self.name, self.sent..self.sent + n)) {
                Ok(n) => self.sent += n,
                Err(Errno::AGAIN) => {}
                Err(_) => self.broken = true,
            }
            if self.sent == self.to_send {
                net.shutdown(self.socket);
            }
        }
        match net.read(self.socket, most) {
            Ok(bytes) if bytes.is_empty() => {
                // The other stream has ended: it must be whole; ours may go on.
                if !self.broken && !self.lenient {
                    assert_eq!(self.received, self.expects.1, "stream {} ended early", self.expects.0);
                }
                if self.sent == self.to_send || self.broken || self.lenient {
                    self.done = true;
                    net.close(self.socket);
                }
            }
            Ok(bytes) => {
                for byte in bytes {
                    assert_eq!(
                        byte,
                        byte_of(self.expects.0, self.received),
                        "stream {} at {}",
                        self.expects.0,
                        self.received
                    );
                    self.received += 1;
                }
            }
            Err(Errno::AGAIN) => {}
            Err(_) => {
                self.broken = true;
                self.done = true;
                net.close(self.socket);
            }
        }
        if self.to_send == 0 && self.sent == 0 {
            net.shutdown(self.socket);
        }
    }
}
