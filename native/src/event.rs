//! Host events as JavaScript objects, and the bounded queue that carries them to the main thread.
//! Serves the host.

use engine::host::event::{HostEvent, What};
use engine::host::links::Sink;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Status, bindgen_prelude::FnArgs};
use napi_derive::napi;

use crate::error::{Result, napi_error};

/// Events on their way to JavaScript; more wait in the host's thread.
const QUEUE: usize = 1024;

/// One event; which members are there depends on `kind`.
#[napi(object)]
pub struct Event {
    pub kind: String,
    pub worker: u32,
    pub generation: Option<f64>,
    pub socket_id: Option<u32>,
    pub members: Option<f64>,
    pub text: Option<String>,
    pub pid: Option<u32>,
}

impl From<&HostEvent> for Event {
    fn from(event: &HostEvent) -> Self {
        let mut out = Self {
            kind: String::new(),
            worker: event.worker,
            generation: None,
            socket_id: None,
            members: None,
            text: None,
            pid: None,
        };
        let kind = match &event.what {
            What::Ready => "ready",
            What::Ack { generation } => {
                out.generation = Some(*generation as f64);
                "ack"
            }
            What::Refused { generation, text } => {
                out.generation = Some(*generation as f64);
                out.text = Some(text.clone());
                "refused"
            }
            What::Listening { socket_id, members } => {
                out.socket_id = Some(*socket_id);
                out.members = Some(*members as f64);
                "listening"
            }
            What::Panic { text } => {
                out.text = Some(text.clone());
                "panic"
            }
            What::Drained => "drained",
            What::Gone { text } => {
                out.text = Some(text.clone());
                "gone"
            }
            What::Fenced { pid } => {
                out.pid = Some(*pid);
                "fenced"
            }
        };
        out.kind = kind.to_string();
        out
    }
}

/// A sink that calls `listener` on the main thread. It does not keep the process alive, and never blocks.
pub fn sink(listener: &Function<'_, FnArgs<(Event,)>, ()>) -> Result<Sink> {
    let call = listener
        .build_threadsafe_function::<Event>()
        .weak::<true>()
        .callee_handled::<false>()
        .max_queue_size::<QUEUE>()
        .build_callback(|context| Ok(FnArgs::from((context.value,))))
        .map_err(|error| napi_error(&error))?;
    // Once the environment is closing there is nobody to tell: such events count as taken.
    Ok(Box::new(move |event| call.call(event.into(), ThreadsafeFunctionCallMode::NonBlocking) != Status::QueueFull))
}
