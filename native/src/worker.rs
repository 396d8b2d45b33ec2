//! The start of a worker's event loop on a thread of its own.
//! What the loop does is the engine's business. Serves src/worker/main.ts.

use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, PoisonError};

use engine::shared::protocol;
use engine::sys::channel::{Channel, take_inherited};
use engine::sys::proc::{block_signals, exit_now, ignore_sigpipe};
use engine::worker::{End, run};
use napi_derive::napi;

use crate::error::{Result, io_error, require_main_thread};

/// Status of a worker that panicked (EX_SOFTWARE of sysexits.h).
const PANICKED: i32 = 70;
/// Status of a worker whose loop could not go on (EX_OSERR).
const FAILED: i32 = 71;
/// Longest panic text that is sent.
const MAX_TEXT: usize = 4096;

/// Starts the event loop on a thread of its own; `channelFd` is the inherited end of the channel.
///
/// The process ends with the loop: status 0 when told to, 70 after a panic, 71 when the system failed it. JavaScript
/// cannot keep it alive or end it. Throws when the descriptor is no channel, the second time, or off the
/// main thread.
#[napi]
pub fn start_worker(channel_fd: i32) -> Result<()> {
    require_main_thread()?;
    let fd = take_inherited(channel_fd).map_err(|error| io_error("channel of the worker", &error))?;
    let last_words =
        fd.try_clone().and_then(Channel::from_fd).map_err(|error| io_error("channel of the worker", &error))?;
    ignore_sigpipe();
    remember_panics();
    std::thread::Builder::new()
        .name("weirgate-loop".to_string())
        .spawn(move || {
            block_signals();
            exit_now(live(fd, &last_words))
        })
        .map_err(|error| io_error("event loop of the worker", &error))?;
    Ok(())
}

fn live(fd: OwnedFd, last_words: &Channel) -> i32 {
    match catch_unwind(AssertUnwindSafe(|| run(fd))) {
        Ok(End::Stopped | End::Orphaned) => 0,
        Ok(End::Failed) => FAILED,
        Err(_) => {
            let text = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
            let end = text.len().min(MAX_TEXT);
            // A full channel must not keep a broken worker alive: what cannot be sent is on stderr anyway.
            let _ = last_words.send(protocol::PANIC, 0, 0, &text.as_bytes()[..end], &[]);
            PANICKED
        }
    }
}

static PANIC: Mutex<String> = Mutex::new(String::new());

/// Keeps the text and place of a panic, which `catch_unwind` does not tell; the usual report on stderr stays.
fn remember_panics() {
    let report = take_hook();
    set_hook(Box::new(move |panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
        report(panic);
    }));
}
