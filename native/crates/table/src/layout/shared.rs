//! Records of the shared-memory regions: endpoint sets, control, log rings, access records.

use core::mem::offset_of;

use super::record::{Field, Record, Scalar, Shape, records};

records! {
    /// Head of the endpoint region (primary writes, workers read); the directory follows at `ENDPOINT_DIRECTORY_OFFSET`.
    EndpointsHead {
        /// Grows with every change of a directory entry.
        epoch: u64,
        /// Bytes of the region that were ever handed out.
        arena_used: u64,
    }

    /// Head of an immutable endpoint-set block; `EndpointRecord`s follow, then the sequence of u16.
    EndpointBlock {
        /// Cursor slot of the set.
        slot: u32,
        endpoints: u32,
        /// Entries of the sequence; 0: no endpoint is usable.
        sequence: u32,
        reserved: u32,
    }

    /// One address of a set.
    EndpointRecord {
        /// 4 or 6.
        family: u8,
        /// `HEALTH_*`.
        health: u8,
        port: u16,
        /// Counter, gauge and resting slot.
        slot: u32,
        /// Network byte order; IPv4 in the first four bytes.
        ip: [u8; 16],
    }

    /// One worker's column of the control region (`CONTROL_STRIDE` bytes apart); all fields are written atomically.
    WorkerControl {
        /// CLOCK_MONOTONIC, written by the loop thread.
        heartbeat_ms: u64,
        /// Endpoint epoch that the worker has passed.
        epoch: u64,
        /// Table generation that new requests use.
        generation: u64,
        connections: u32,
        /// 1: no new connections for want of descriptors.
        paused: u32,
        pid: u32,
        requests_inflight: u32,
        log_dropped: u64,
        accepts: u64,
        pipe_fallbacks: u64,
        /// Oldest generation that a request of this worker still holds.
        oldest_generation: u64,
    }

    /// First page of a log ring; `LOG_RING_BYTES` of data follow at `LOG_RING_DATA_OFFSET`.
    LogRingHead {
        /// Bytes ever written (writer: worker loop).
        head: u64,
        /// Records dropped for want of room (writer: worker loop).
        dropped: u64,
        /// Keeps the reader's word off the writer's cache line.
        pad: [u8; 48],
        /// Bytes ever read (writer: log thread of the primary).
        tail: u64,
    }

    /// Head of one record in a log ring; the payload follows, padded to 8 bytes.
    LogEntry {
        /// Payload bytes without padding.
        length: u32,
        /// `LOG_KIND_*`.
        kind: u32,
    }

    /// Fixed part of an access record; its texts follow without separators in the order of the length fields.
    AccessHead {
        /// CLOCK_REALTIME of the end, microseconds.
        time_us: u64,
        /// From the first byte of the head (or the accept) to the end.
        duration_us: u64,
        /// From the same start to the first byte of the upstream's answer; 0: none came.
        upstream_us: u64,
        generation: u64,
        bytes_in: u64,
        bytes_out: u64,
        /// Network byte order; IPv4 in the first four bytes.
        client_ip: [u8; 16],
        upstream_ip: [u8; 16],
        client_port: u16,
        upstream_port: u16,
        /// 0 for TCP.
        status: u16,
        /// 4, 6 or 0 (unknown).
        client_family: u8,
        upstream_family: u8,
        /// `ACCESS_*`.
        protocol: u8,
        /// `session::CloseReason`.
        close_reason: u8,
        /// Further tries after the first.
        retries: u8,
        reserved: u8,
        method_length: u16,
        host_length: u16,
        path_length: u16,
        listener_length: u16,
        action_length: u16,
        user_agent_length: u16,
    }
}
