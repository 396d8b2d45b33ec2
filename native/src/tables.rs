//! Tables for tests, benches and tools: check, print, route, measure.
//! The data plane itself never comes this way. Serves the primary (`checkTable`), `weirgate dump`, tests, benches.

use std::hint::black_box;
use std::time::Instant;

use napi_derive::napi;
use session::{HeaderLookup, RequestKey, Routed, route};
use table::{LAYOUT_HASH, Protocol, StrRef, Table};

use crate::error::{Result, argument};

/// What this addon is.
#[napi(object)]
pub struct Version {
    /// Of the release.
    pub version: String,
    /// Of all binary formats; 16 hexadecimal digits.
    pub layout_hash: String,
}

/// Version and layout hash of the addon.
#[napi]
pub fn version() -> Version {
    Version { version: env!("CARGO_PKG_VERSION").to_string(), layout_hash: format!("{LAYOUT_HASH:016x}") }
}

/// Why a table would be refused by a worker; null when it would not be. Cost: linear.
#[napi(ts_return_type = "string | null")]
pub fn check_table(bytes: &[u8]) -> Option<String> {
    Table::parse(bytes).err().map(|error| error.to_string())
}

/// The canonical text of a table. Throws when it is not valid.
#[napi]
pub fn dump_table(bytes: &[u8]) -> Result<String> {
    Ok(parse(bytes)?.dump())
}

/// A request as far as routing looks at it.
#[napi(object)]
pub struct Request {
    pub method: String,
    /// Without port.
    pub host: String,
    /// Without query.
    pub path: String,
    /// Name, value.
    pub headers: Vec<Vec<String>>,
}

/// Where a request belongs.
#[napi(object)]
pub struct Decision {
    /// `noListener`, `noRoute` or `action`.
    pub kind: String,
    pub listener: Option<String>,
    pub action: Option<String>,
}

/// Routes one request as a worker would on this socket; on a TCP socket what its listener gives. Throws when the
/// table is not valid.
#[napi]
pub fn route_table(bytes: &[u8], socket_id: u32, request: Request) -> Result<Decision> {
    let table = parse(bytes)?;
    let name = |text: StrRef| Some(String::from_utf8_lossy(table.str(text)).into_owned());
    let headers = Headers(&request.headers);
    let key = RequestKey {
        method: request.method.as_bytes(),
        host: request.host.as_bytes(),
        path: request.path.as_bytes(),
        headers: &headers,
    };
    let routed = match table.socket(socket_id) {
        Some(socket) if socket.protocol == Protocol::Tcp => match socket.tcp_listener {
            None => Routed::NoListener,
            Some(listener) => match table.listener(listener).tcp_action {
                None => Routed::NoRoute(listener),
                Some(action) => Routed::Action(listener, action),
            },
        },
        _ => route(&table, socket_id, &key),
    };
    Ok(match routed {
        Routed::NoListener => Decision { kind: "noListener".to_string(), listener: None, action: None },
        Routed::NoRoute(listener) => {
            Decision { kind: "noRoute".to_string(), listener: name(table.listener(listener).name), action: None }
        }
        Routed::Action(listener, action) => Decision {
            kind: "action".to_string(),
            listener: name(table.listener(listener).name),
            action: name(table.action(action).name),
        },
    })
}

/// Nanoseconds of one lookup, mean over `iterations` requests `GET /` that take the hosts in turn.
///
/// Throws when the table is not valid or there is no host.
#[napi]
pub fn bench_route(bytes: &[u8], socket_id: u32, hosts: Vec<String>, iterations: u32) -> Result<f64> {
    let table = parse(bytes)?;
    if hosts.is_empty() || iterations == 0 {
        return Err(argument("a bench needs at least one host and one iteration".to_string()));
    }
    let headers = Headers(&[]);
    let started = Instant::now();
    for host in hosts.iter().cycle().take(iterations as usize) {
        let key = RequestKey { method: b"GET", host: black_box(host.as_bytes()), path: b"/", headers: &headers };
        black_box(route(&table, socket_id, &key));
    }
    Ok(started.elapsed().as_nanos() as f64 / f64::from(iterations))
}

fn parse(bytes: &[u8]) -> Result<Table<&[u8]>> {
    Table::parse(bytes).map_err(|error| argument(format!("table refused: {error}")))
}

struct Headers<'a>(&'a [Vec<String>]);

impl HeaderLookup for Headers<'_> {
    fn find(&self, lower_name: &[u8]) -> Option<&[u8]> {
        self.0.iter().find_map(|field| match field.as_slice() {
            [name, value] if name.as_bytes().eq_ignore_ascii_case(lower_name) => Some(value.as_bytes()),
            _ => None,
        })
    }
}
