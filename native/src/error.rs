//! Errors as JavaScript sees them: an Error with a stable `code`.
//! Serves all functions of the napi layer.

use std::io;

use engine::sys::proc::is_main_thread;
use napi::{Error, Status};

/// The `code` of a thrown error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The system refused: out of descriptors, memory or rights.
    Io,
    /// An argument that the caller should have known to be wrong: a bug.
    Argument,
    /// No room in a shared region.
    Full,
    /// The host was closed.
    Closed,
    /// Called from a worker thread of Node.
    Thread,
    /// Node-API itself failed.
    Napi,
}

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        match self {
            Self::Io => "WEIRGATE_IO",
            Self::Argument => "WEIRGATE_ARGUMENT",
            Self::Full => "WEIRGATE_FULL",
            Self::Closed => "WEIRGATE_CLOSED",
            Self::Thread => "WEIRGATE_THREAD",
            Self::Napi => "WEIRGATE_NAPI",
        }
    }
}

impl From<Status> for Code {
    fn from(_: Status) -> Self {
        Self::Napi
    }
}

pub type Result<T> = std::result::Result<T, Error<Code>>;

/// An error of a named operation, as one line.
pub fn io_error(what: &str, error: &io::Error) -> Error<Code> {
    let code = if error.kind() == io::ErrorKind::InvalidInput { Code::Argument } else { Code::Io };
    Error::new(code, format!("{what}: {error}"))
}

/// An error of Node-API.
pub fn napi_error(error: &Error) -> Error<Code> {
    Error::new(Code::Napi, error.reason.clone())
}

/// A bad argument.
pub fn argument(text: String) -> Error<Code> {
    Error::new(Code::Argument, text)
}

/// A whole number from JavaScript as u64.
pub fn whole(name: &str, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| argument(format!("{name} is {value}, at least 0 expected")))
}

/// Refuses a caller that is not the main thread: threads of ours would outlive the environment of a worker thread.
pub fn require_main_thread() -> Result<()> {
    if is_main_thread() {
        return Ok(());
    }
    Err(Error::new(Code::Thread, "the native addon serves the main thread only, not worker threads".to_string()))
}
