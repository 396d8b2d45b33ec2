//! One line of the access log with addresses as addresses; its bytes are the table crate's `AccessRecord`.
//! The words and the JSON are `host::access_log`'s business. Serves the worker (writer) and the host (reader).

use std::net::SocketAddr;

use table::layout::AccessHead;

use super::address::{ip_bytes, ip_from};

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
    /// None when no endpoint was chosen.
    pub upstream: Option<SocketAddr>,
    /// 0 for TCP.
    pub status: u16,
    /// `table::layout::ACCESS_*`.
    pub protocol: u8,
    /// Number of the `session::close_reason::CloseReason`.
    pub close_reason: u8,
    /// Further tries after the first.
    pub retries: u8,
    pub method: &'a [u8],
    pub host: &'a [u8],
    pub path: &'a [u8],
    pub listener: &'a [u8],
    /// Empty when no route matched.
    pub action: &'a [u8],
    pub user_agent: &'a [u8],
}

impl<'a> AccessRecord<'a> {
    /// Writes the record and returns its length, at most `LOG_MAX_PAYLOAD`; longer texts are cut. 0 when `out` is too
    /// short.
    pub fn encode(&self, out: &mut [u8]) -> usize {
        let (client_family, client_ip) = ip_bytes(Some(self.client.ip()));
        let (upstream_family, upstream_ip) = ip_bytes(self.upstream.map(|addr| addr.ip()));
        let head = AccessHead {
            time_us: self.time_us,
            duration_us: self.duration_us,
            upstream_us: self.upstream_us,
            generation: self.generation,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            client_ip,
            upstream_ip,
            client_port: self.client.port(),
            upstream_port: self.upstream.map_or(0, |addr| addr.port()),
            status: self.status,
            client_family,
            upstream_family,
            protocol: self.protocol,
            close_reason: self.close_reason,
            retries: self.retries,
            reserved: 0,
            // The lengths are set from the texts.
            method_length: 0,
            host_length: 0,
            path_length: 0,
            listener_length: 0,
            action_length: 0,
            user_agent_length: 0,
        };
        let Self { method, host, path, listener, action, user_agent, .. } = *self;
        table::AccessRecord { head, method, host, path, listener, action, user_agent }.encode(out)
    }

    /// Reads a record back; None when it is shorter than it says or names no client.
    pub fn decode(payload: &'a [u8]) -> Option<Self> {
        let table::AccessRecord { head, method, host, path, listener, action, user_agent } =
            table::AccessRecord::decode(payload)?;
        Some(Self {
            time_us: head.time_us,
            duration_us: head.duration_us,
            upstream_us: head.upstream_us,
            generation: head.generation,
            bytes_in: head.bytes_in,
            bytes_out: head.bytes_out,
            client: SocketAddr::new(ip_from(head.client_family, head.client_ip)?, head.client_port),
            upstream: ip_from(head.upstream_family, head.upstream_ip).map(|ip| SocketAddr::new(ip, head.upstream_port)),
            status: head.status,
            protocol: head.protocol,
            close_reason: head.close_reason,
            retries: head.retries,
            method,
            host,
            path,
            listener,
            action,
            user_agent,
        })
    }
}
