//! The class `Host`: the primary's hold on the data plane, as JavaScript calls it.
//! Each method converts and calls `engine::host::Host`; types and docs for callers stand in src/native/addon.ts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use engine::host::Host as Engine;
use engine::host::access_log::Target;
use engine::host::arena::ArenaError;
use engine::shared::ControlValues;
use engine::sys::notify::notify;
use engine::sys::proc::{Owner, ignore_sigpipe};
use napi::bindgen_prelude::{Float64Array, FnArgs, Function};
use napi::{Env, Error};
use napi_derive::napi;

use crate::error::{Code, Result, argument, io_error, napi_error, require_main_thread, whole};
use crate::event::{Event, sink};

/// Arguments of the constructor.
#[napi(object, object_to_js = false)]
pub struct HostOptions<'env> {
    pub on_event: Function<'env, FnArgs<(Event,)>, ()>,
}

/// Arguments of `bind`.
#[napi(object)]
pub struct BindOptions {
    pub socket_id: u32,
    pub ip: String,
    pub port: u16,
    pub shards: u16,
}

/// The process that has a port.
#[napi(object)]
pub struct PortOwner {
    pub pid: u32,
    pub command: String,
}

/// What `bind` did: `port` if ok, else `code` and `message`.
#[napi(object)]
pub struct BindOutcome {
    pub ok: bool,
    pub port: Option<u16>,
    pub code: Option<String>,
    pub message: Option<String>,
    pub owner: Option<PortOwner>,
}

/// What `lockState` did.
#[napi(object)]
pub struct LockOutcome {
    pub ok: bool,
    pub pid: Option<u32>,
}

/// One worker's control words.
#[napi(object)]
pub struct WorkerControl {
    pub heartbeat_ms: f64,
    pub epoch: f64,
    pub generation: f64,
    pub oldest_generation: f64,
    pub connections: u32,
    pub paused: bool,
    pub pid: u32,
    pub requests_inflight: u32,
    pub log_dropped: f64,
    pub accepts: f64,
    pub pipe_fallbacks: f64,
}

/// Arguments of `startAccessLog`.
#[napi(object)]
pub struct AccessLogOptions {
    pub target: String,
}

/// What became of access records.
#[napi(object)]
pub struct AccessLogStats {
    pub lines: f64,
    pub lost: f64,
    pub dropped: f64,
    pub broken: f64,
    pub error: String,
}

/// The primary's hold on the data plane.
#[napi]
pub struct Host {
    engine: Arc<Mutex<Option<Engine>>>,
    /// Ends of channels that children are about to inherit.
    child_ends: BTreeMap<i32, OwnedFd>,
    /// NOTIFY_SOCKET as it was at the start.
    notify_socket: String,
}

#[napi]
impl Host {
    #[napi(constructor)]
    pub fn new(env: Env, options: HostOptions<'_>) -> Result<Self> {
        require_main_thread()?;
        ignore_sigpipe();
        let engine = Engine::start(sink(&options.on_event)?).map_err(|error| io_error("host", &error))?;
        let engine = Arc::new(Mutex::new(Some(engine)));
        // The threads must have ended before Node takes the environment apart.
        let weak = Arc::downgrade(&engine);
        env.add_env_cleanup_hook(weak, |weak: Weak<Mutex<Option<Engine>>>| {
            if let Some(engine) = weak.upgrade() {
                drop(hold(&engine).take());
            }
        })
        .map_err(|error| napi_error(&error))?;
        let notify_socket = std::env::var("NOTIFY_SOCKET").unwrap_or_default();
        Ok(Self { engine, child_ends: BTreeMap::new(), notify_socket })
    }

    #[napi]
    pub fn close(&self) {
        drop(hold(&self.engine).take());
    }

    #[napi]
    pub fn open_channel(&mut self, worker: u32) -> Result<i32> {
        let fd = self.with(|engine| engine.open_channel(worker).map_err(|error| io_error("channel", &error)))?;
        let number = fd.as_raw_fd();
        self.child_ends.insert(number, fd);
        Ok(number)
    }

    #[napi]
    pub fn close_child_end(&mut self, fd: i32) {
        self.child_ends.remove(&fd);
    }

    #[napi]
    pub fn close_channel(&self, worker: u32) {
        // After `close` every channel is closed already.
        if let Some(engine) = hold(&self.engine).as_ref() {
            engine.close_channel(worker);
        }
    }

    #[napi]
    pub fn assign_column(&self, worker: u32, column: u32) -> Result<()> {
        self.with(|engine| engine.assign_column(worker, column).map_err(|error| io_error("assignColumn", &error)))
    }

    #[napi]
    pub fn bind(&self, options: BindOptions) -> Result<BindOutcome> {
        let ip: IpAddr =
            options.ip.parse().map_err(|_| argument(format!("bind: {:?} is no IP address", options.ip)))?;
        self.with(|engine| {
            Ok(match engine.bind(options.socket_id, ip, options.port, options.shards) {
                Ok(addr) => BindOutcome { ok: true, port: Some(addr.port()), code: None, message: None, owner: None },
                Err(error) => BindOutcome {
                    ok: false,
                    port: None,
                    code: Some(error.code),
                    message: Some(error.message),
                    owner: error.owner.map(|Owner { pid, command }| PortOwner { pid, command }),
                },
            })
        })
    }

    #[napi]
    pub fn unbind(&self, socket_id: u32) -> Result<()> {
        self.with(|engine| {
            engine.unbind(socket_id);
            Ok(())
        })
    }

    #[napi]
    pub fn set_reuseport_workers(&self, socket_id: u32, groups: Vec<Vec<u16>>) -> Result<()> {
        self.with(|engine| {
            engine.draw_evenly(socket_id, &groups).map_err(|error| io_error("setReuseportWorkers", &error))
        })
    }

    #[napi]
    pub fn deal(&self, worker: u32, socket_id: u32, members: Vec<u16>, lent: bool) -> Result<()> {
        self.with(|engine| engine.deal(worker, socket_id, &members, lent).map_err(|error| io_error("deal", &error)))
    }

    #[napi]
    pub fn undeal(&self, worker: u32, socket_id: u32, members: Vec<u16>, drain: bool) -> Result<()> {
        self.with(|engine| {
            engine.undeal(worker, socket_id, &members, drain);
            Ok(())
        })
    }

    #[napi]
    pub fn publish_table(&self, bytes: &[u8], generation: i64) -> Result<()> {
        let generation = whole("generation", generation)?;
        self.with(|engine| engine.publish_table(bytes, generation).map_err(|error| io_error("publishTable", &error)))
    }

    #[napi]
    pub fn send_table(&self, worker: u32) -> Result<()> {
        self.with(|engine| engine.send_table(worker).map_err(|error| io_error("sendTable", &error)))
    }

    #[napi]
    pub fn drain(&self, worker: u32, limit_ms: i64) -> Result<()> {
        let limit_ms = whole("limitMs", limit_ms)?;
        self.with(|engine| {
            engine.drain(worker, limit_ms);
            Ok(())
        })
    }

    #[napi]
    pub fn stop(&self, worker: u32) -> Result<()> {
        self.with(|engine| {
            engine.stop(worker);
            Ok(())
        })
    }

    #[napi]
    pub fn kill_fenced(&self, worker: u32, pid: u32) -> Result<()> {
        self.with(|engine| engine.kill_fenced(worker, pid).map_err(|error| io_error("killFenced", &error)))
    }

    #[napi]
    pub fn set_endpoint_set(&self, set_id: u32, block: &[u8]) -> Result<()> {
        self.with(|engine| {
            engine.set_endpoint_set(set_id, block).map_err(|error| {
                let code = if matches!(error, ArenaError::Full { .. }) { Code::Full } else { Code::Argument };
                Error::new(code, error.to_string())
            })
        })
    }

    #[napi]
    pub fn drop_endpoint_set(&self, set_id: u32) -> Result<()> {
        self.with(|engine| {
            engine.drop_endpoint_set(set_id);
            Ok(())
        })
    }

    #[napi]
    pub fn read_control(&self, column: u32) -> Result<WorkerControl> {
        self.with(|engine| Ok(control(&engine.memory().control(column))))
    }

    #[napi]
    pub fn read_reasons(&self, column: u32) -> Result<Float64Array> {
        self.with(|engine| {
            let mut cells = engine.memory().reasons(column);
            cells.extend(engine.memory().engine_cells(column));
            Ok(numbers(&cells))
        })
    }

    #[napi]
    pub fn read_slots(&self, column: u32, from: u32, count: u32) -> Result<Float64Array> {
        self.with(|engine| Ok(numbers(&engine.memory().slots(column, from, count))))
    }

    #[napi]
    pub fn read_gauges(&self, from: u32, count: u32) -> Result<Float64Array> {
        self.with(|engine| Ok(numbers(&engine.memory().gauges(from, count))))
    }

    #[napi]
    pub fn read_resting(&self, slot: u32) -> Result<f64> {
        self.with(|engine| Ok(engine.memory().cursors().resting_until(slot) as f64))
    }

    #[napi]
    pub fn wake_endpoint(&self, slot: u32) -> Result<()> {
        self.with(|engine| {
            engine.memory().cursors().wake(slot);
            Ok(())
        })
    }

    #[napi]
    pub fn zero_column(&self, column: u32) -> Result<()> {
        self.with(|engine| engine.zero_column(column).map_err(|error| io_error("zeroColumn", &error)))
    }

    #[napi]
    pub fn start_access_log(&self, options: AccessLogOptions) -> Result<()> {
        let target = match options.target.as_str() {
            "stderr" => Target::Stderr,
            path => Target::File(PathBuf::from(path)),
        };
        self.with(|engine| {
            engine.start_access_log(target).map_err(|error| io_error(&format!("access log {}", options.target), &error))
        })
    }

    #[napi]
    pub fn reopen_access_log(&self) -> Result<()> {
        self.with(|engine| {
            engine.reopen_access_log();
            Ok(())
        })
    }

    #[napi]
    pub fn stop_access_log(&self) -> Result<()> {
        self.with(|engine| {
            engine.stop_access_log();
            Ok(())
        })
    }

    #[napi]
    pub fn read_access_log_stats(&self) -> Result<AccessLogStats> {
        self.with(|engine| {
            let stats = engine.log_stats();
            Ok(AccessLogStats {
                lines: stats.lines as f64,
                lost: stats.lost as f64,
                dropped: stats.dropped as f64,
                broken: stats.broken as f64,
                error: stats.error,
            })
        })
    }

    #[napi]
    pub fn notify(&self, state: String) -> Result<()> {
        if self.notify_socket.is_empty() {
            return Ok(());
        }
        notify(&self.notify_socket, &state, &[]).map_err(|error| io_error("sd_notify", &error))
    }

    #[napi]
    pub fn lock_state(&self, folder: String) -> Result<LockOutcome> {
        self.with(|engine| {
            let outcome = engine
                .lock_state(Path::new(&folder))
                .map_err(|error| io_error(&format!("lock of state folder {folder}"), &error))?;
            Ok(match outcome {
                Ok(()) => LockOutcome { ok: true, pid: None },
                Err(pid) => LockOutcome { ok: false, pid },
            })
        })
    }

    fn with<T>(&self, call: impl FnOnce(&mut Engine) -> Result<T>) -> Result<T> {
        match hold(&self.engine).as_mut() {
            Some(engine) => call(engine),
            None => Err(Error::new(Code::Closed, "the host is closed".to_string())),
        }
    }
}

fn hold(engine: &Mutex<Option<Engine>>) -> MutexGuard<'_, Option<Engine>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exact up to 2⁵³.
fn numbers(cells: &[u64]) -> Float64Array {
    Float64Array::new(cells.iter().map(|&cell| cell as f64).collect())
}

fn control(values: &ControlValues) -> WorkerControl {
    WorkerControl {
        heartbeat_ms: values.heartbeat_ms as f64,
        epoch: values.epoch as f64,
        generation: values.generation as f64,
        oldest_generation: values.oldest_generation as f64,
        connections: values.connections,
        paused: values.paused,
        pid: values.pid,
        requests_inflight: values.requests_inflight,
        log_dropped: values.log_dropped as f64,
        accepts: values.accepts as f64,
        pipe_fallbacks: values.pipe_fallbacks as f64,
    }
}
