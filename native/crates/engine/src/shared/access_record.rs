//! One line of the access log as bytes in the log ring.
//! The words and the JSON are `host::access_log`'s business. Serves the worker (writer) and the host (reader).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// One finished request, connection or session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessRecord<'a> {
    /// CLOCK_REALTIME of the end, microseconds.
    pub time_us: u64,
    /// From the first byte of the head (or the accept) to the end.
    pub duration_us: u64,
    /// From the same start to the first byte of the upstream's answer; 0: none came.
    pub upstream_us: u64,
    pub generation: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub client: SocketAddr,
    pub upstream: Option<SocketAddr>,
    /// 0 for TCP.
    pub status: u16,
    /// `table::layout::ACCESS_*`.
    pub protocol: u8,
    /// Number of the `session::CloseReason`.
    pub close_reason: u8,
    /// Further tries after the first.
    pub retries: u8,
    pub method: &'a [u8],
    pub host: &'a [u8],
    pub path: &'a [u8],
    pub listener: &'a [u8],
    pub action: &'a [u8],
    pub user_agent: &'a [u8],
}

/// Bytes before the texts.
const HEAD: usize = 104;
/// Longest text kept of each of the six; longer ones are cut.
const TEXT_LIMITS: [usize; 6] = [32, 255, 1024, 512, 512, 256];

impl<'a> AccessRecord<'a> {
    /// Appends the record to `out`; texts that are too long are cut.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let texts = [self.method, self.host, self.path, self.listener, self.action, self.user_agent];
        let cut: [&[u8]; 6] = std::array::from_fn(|i| &texts[i][..texts[i].len().min(TEXT_LIMITS[i])]);
        for number in [self.time_us, self.duration_us, self.upstream_us, self.generation, self.bytes_in, self.bytes_out]
        {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let (client_family, client_ip) = ip_bytes(Some(self.client.ip()));
        let (upstream_family, upstream_ip) = ip_bytes(self.upstream.map(|addr| addr.ip()));
        out.extend_from_slice(&client_ip);
        out.extend_from_slice(&upstream_ip);
        out.extend_from_slice(&self.client.port().to_le_bytes());
        out.extend_from_slice(&self.upstream.map_or(0, |addr| addr.port()).to_le_bytes());
        out.extend_from_slice(&self.status.to_le_bytes());
        let bytes = [client_family, upstream_family, self.protocol, self.close_reason, self.retries, 0];
        out.extend_from_slice(&bytes);
        for text in cut {
            out.extend_from_slice(&(text.len() as u16).to_le_bytes());
        }
        for text in cut {
            out.extend_from_slice(text);
        }
    }

    /// Reads a record; None when it is too short for what it says.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (head, mut texts) = bytes.split_first_chunk::<HEAD>()?;
        let u64_at = |at: usize| head[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        let u16_at = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let ip_at = |at: usize| head[at..].first_chunk::<16>().copied().unwrap_or_default();
        let mut text = |n: usize| {
            let (text, rest) = texts.split_at_checked(usize::from(u16_at(92 + n * 2)))?;
            texts = rest;
            Some(text)
        };
        Some(Self {
            method: text(0)?,
            host: text(1)?,
            path: text(2)?,
            listener: text(3)?,
            action: text(4)?,
            user_agent: text(5)?,
            time_us: u64_at(0),
            duration_us: u64_at(8),
            upstream_us: u64_at(16),
            generation: u64_at(24),
            bytes_in: u64_at(32),
            bytes_out: u64_at(40),
            client: SocketAddr::new(ip_from(head[86], ip_at(48))?, u16_at(80)),
            upstream: ip_from(head[87], ip_at(64)).map(|ip| SocketAddr::new(ip, u16_at(82))),
            status: u16_at(84),
            protocol: head[88],
            close_reason: head[89],
            retries: head[90],
        })
    }
}

fn ip_bytes(ip: Option<IpAddr>) -> (u8, [u8; 16]) {
    match ip {
        None => (0, [0; 16]),
        Some(IpAddr::V6(ip)) => (6, ip.octets()),
        Some(IpAddr::V4(ip)) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            (4, bytes)
        }
    }
}

fn ip_from(family: u8, bytes: [u8; 16]) -> Option<IpAddr> {
    let [a, b, c, d, ..] = bytes;
    match family {
        4 => Some(Ipv4Addr::new(a, b, c, d).into()),
        6 => Some(Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}
