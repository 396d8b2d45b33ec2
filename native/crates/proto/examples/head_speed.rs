//! Prints the cost of parsing and rewriting a request head, a response head, and of walking chunks.
//! `cargo run --release -p proto --example head_speed [ROUNDS]`; the figure is the median of the rounds, in nanoseconds.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use proto::h1::{
    Chunked, ForwardOptions, Limits, RequestHead, ResponseHead, ResponseOptions, parse_request, parse_response,
    write_request_head, write_response_head,
};

const REQUEST: &[u8] = b"GET /catalogue/items/4711?page=2&sort=price HTTP/1.1\r\nHost: shop.example.test\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101\r\nAccept: text/html,application/xhtml+xml\r\n\
    Accept-Language: en-GB,en;q=0.7\r\nAccept-Encoding: gzip, deflate, br\r\nCookie: session=0123456789abcdef0123456789abcdef\r\n\
    Connection: keep-alive\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nServer: backend/1.0\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n\
    Content-Type: text/html; charset=utf-8\r\nCache-Control: max-age=60\r\nContent-Length: 128\r\nConnection: keep-alive\r\n\r\n";
const ROUND: u32 = 200_000;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(7);
    let limits = Limits::default();
    let mut request = RequestHead::new();
    let mut response = ResponseHead::new();
    let mut out = Vec::with_capacity(4096);
    let forward = ForwardOptions { peer: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 17)), ..ForwardOptions::default() };
    let answer = ResponseOptions { client_minor: 1, ..ResponseOptions::default() };

    let head = format!("request head of {} bytes", REQUEST.len());
    report(rounds, &format!("{head}: parse"), || {
        let parsed = parse_request(black_box(REQUEST), &limits, &mut request);
        black_box(parsed).is_ok()
    });
    report(rounds, &format!("{head}: httparse alone, which checks no framing"), || {
        let mut fields = [httparse::EMPTY_HEADER; 32];
        let parsed = httparse::Request::new(&mut fields).parse(black_box(REQUEST));
        black_box(parsed).is_ok()
    });
    report(rounds, &format!("{head}: parse and rewrite"), || {
        let parsed = parse_request(black_box(REQUEST), &limits, &mut request);
        out.clear();
        write_request_head(&mut out, REQUEST, &request, &forward);
        black_box(&out);
        parsed.is_ok()
    });
    report(rounds, &format!("response head of {} bytes: parse and rewrite", RESPONSE.len()), || {
        let parsed = parse_response(black_box(RESPONSE), &limits, &mut response, false, false);
        out.clear();
        write_response_head(&mut out, RESPONSE, &response, &answer);
        black_box(&out);
        parsed.is_ok()
    });
    let chunks = [&b"4000\r\n"[..], &[b'x'; 0x4000], b"\r\n"].concat();
    report(rounds, "chunk of 16 KiB: scan", || {
        let mut decoder = Chunked::new();
        decoder.scan(black_box(&chunks)).is_ok()
    });
}

fn report(rounds: usize, what: &str, mut once: impl FnMut() -> bool) {
    let mut figures: Vec<f64> = (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            let good = (0..ROUND).filter(|_| once()).count();
            assert_eq!(good, ROUND as usize, "{what}");
            start.elapsed().as_nanos() as f64 / f64::from(ROUND)
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    println!("{what}: {:.0} ns", figures[figures.len() / 2]);
}
