//! The canonical text of a table: one line a record, texts resolved, nothing of offsets and hashes.
//! `src/compile/dump.ts` prints the same; a difference is a bug in one of the two writers or readers.

use core::fmt::{self, Write};

use crate::layout::{
    ActionRecord, BACKEND_CLUSTER, BackendRecord, HostNode, ListenerRecord, MatchRecord, NONE, NetworkRecord,
    PATH_EXACT, PathEntry, Section, SequenceEntry, SocketRecord, VirtualHostRecord,
};
use crate::table::{Protocol, StrRef, Table};

impl<B: AsRef<[u8]>> Table<B> {
    /// The canonical text; for tests, `weirgate dump` and people. Cost: linear, allocates.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        let dumper = Dumper { table: self };
        // Writing to a String cannot fail.
        let _ = dumper.all(&mut out);
        out
    }
}

struct Dumper<'t, B> {
    table: &'t Table<B>,
}

/// An index or `-`.
struct Maybe(u32);

impl fmt::Display for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == NONE { f.write_str("-") } else { write!(f, "{}", self.0) }
    }
}

/// A quoted text; what is not printable ASCII becomes `\xNN`.
struct Quoted<'t>(&'t [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for &byte in self.0 {
            match byte {
                b'"' | b'\\' => write!(f, "\\{}", char::from(byte))?,
                0x20..=0x7e => f.write_char(char::from(byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        f.write_char('"')
    }
}

struct Hex([u8; 16]);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<'t, B: AsRef<[u8]>> Dumper<'t, B> {
    fn text(&self, offset: u32, length: u32) -> Quoted<'t> {
        Quoted(self.table.str(StrRef { offset, length }))
    }

    fn all(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "table generation={}", self.table.generation())?;
        self.settings(out)?;
        self.sockets(out)?;
        self.listeners(out)?;
        self.nodes(out)?;
        self.virtual_hosts(out)?;
        self.actions(out)
    }

    fn settings(&self, out: &mut String) -> fmt::Result {
        let s = self.table.settings();
        let target =
            if s.access_log { Quoted(self.table.str(s.access_log_target)).to_string() } else { "-".to_owned() };
        writeln!(
            out,
            "settings workers={} max-head-bytes={} max-headers={} max-idle-per-endpoint={} via={} access-log={target}",
            s.workers, s.max_head_bytes, s.max_headers, s.max_idle_per_endpoint, s.via
        )
    }

    fn sockets(&self, out: &mut String) -> fmt::Result {
        for id in 0..self.table.socket_limit() {
            let r: SocketRecord = self.table.record(Section::Sockets, id);
            let key = self.text(r.key_offset, r.key_length);
            match self.table.socket(id).map(|socket| socket.protocol) {
                None => {}
                Some(Protocol::Http) => writeln!(out, "socket {id} {key} http root={}", r.listener_root)?,
                Some(Protocol::Tcp) => writeln!(out, "socket {id} {key} tcp listener={}", r.tcp_listener)?,
            }
        }
        Ok(())
    }

    fn listeners(&self, out: &mut String) -> fmt::Result {
        for index in 0..self.table.listener_count() {
            let r: ListenerRecord = self.table.record(Section::Listeners, index);
            writeln!(
                out,
                "listener {index} {} hostname={} slot={} root={} tcp-action={} idle={} header={} connect={} stream-idle={} \
                 tunnel-idle={} half-closed={}",
                self.text(r.name_offset, r.name_length),
                self.text(r.hostname_offset, r.hostname_length),
                r.slot,
                Maybe(r.route_root),
                Maybe(r.tcp_action),
                r.idle_ms,
                r.header_ms,
                r.connect_ms,
                r.stream_idle_ms,
                r.tunnel_idle_ms,
                r.half_closed_ms
            )?;
            for network in r.trusted_first..r.trusted_first + r.trusted_count {
                let n: NetworkRecord = self.table.record(Section::Networks, network);
                writeln!(out, "  trusts ipv{} {}-{}", n.family, Hex(n.low), Hex(n.high))?;
            }
        }
        Ok(())
    }

    fn nodes(&self, out: &mut String) -> fmt::Result {
        for index in 0..self.table.directory.count(Section::HostNodes) {
            let r: HostNode = self.table.record(Section::HostNodes, index);
            writeln!(
                out,
                "node {index} parent={} label={} exact={} wildcard={}",
                Maybe(r.parent),
                self.text(r.label_offset, r.label_length),
                Maybe(r.exact),
                Maybe(r.wildcard)
            )?;
        }
        Ok(())
    }

    fn virtual_hosts(&self, out: &mut String) -> fmt::Result {
        for index in 0..self.table.directory.count(Section::VirtualHosts) {
            let r: VirtualHostRecord = self.table.record(Section::VirtualHosts, index);
            let hostname = self.text(r.hostname_offset, r.hostname_length);
            writeln!(
                out,
                "host {index} {hostname} next={} prefix-levels={} has-exact={}",
                Maybe(r.next),
                Maybe(r.prefix_levels),
                r.has_exact
            )?;
            for entry in r.entry_first..r.entry_first + r.entry_count {
                self.path_entry(out, entry)?;
            }
        }
        Ok(())
    }

    fn path_entry(&self, out: &mut String, index: u32) -> fmt::Result {
        let r: PathEntry = self.table.record(Section::PathEntries, index);
        let kind = if r.kind == PATH_EXACT { "exact" } else { "prefix" };
        writeln!(out, "  {kind} {}", self.text(r.path_offset, r.path_length))?;
        for index in r.match_first..r.match_first + r.match_count {
            let m: MatchRecord = self.table.record(Section::Matches, index);
            write!(out, "    match method={}", self.text(m.method_offset, m.method_length))?;
            for header in m.header_first..m.header_first + m.header_count {
                let (name, value) = self.table.header_condition(header);
                write!(out, " header {}={}", Quoted(name), Quoted(value))?;
            }
            writeln!(out, " action={}", m.action)?;
        }
        Ok(())
    }

    fn actions(&self, out: &mut String) -> fmt::Result {
        for index in 0..self.table.action_count() {
            let r: ActionRecord = self.table.record(Section::Actions, index);
            writeln!(
                out,
                "action {index} {} slot={} request-timeout={} backend-request-timeout={}",
                self.text(r.name_offset, r.name_length),
                r.slot,
                r.request_timeout_ms,
                r.backend_request_timeout_ms
            )?;
            for backend in r.backend_first..r.backend_first + r.backend_count {
                let b: BackendRecord = self.table.record(Section::Backends, backend);
                let kind = if b.kind == BACKEND_CLUSTER { "set" } else { "status" };
                writeln!(out, "  backend {kind}={} weight={}", b.value, b.weight)?;
            }
            if r.sequence_count > 0 {
                write!(out, "  sequence")?;
                for step in r.sequence_first..r.sequence_first + r.sequence_count {
                    let entry: SequenceEntry = self.table.record(Section::Sequences, step);
                    write!(out, " {}", entry.backend)?;
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
