//! The thread that turns records in the workers' rings into lines of a file.
//! How a line looks is `json_line`'s business; whether there is a log at all is the configuration's. Serves the host.
//!
//! Nothing here can slow traffic: a disk or a terminal that blocks lets the rings fill, and workers drop and count.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, Timespec, fstat};

use super::json_line::write_line;
use crate::shared::log_ring::Read;
use crate::shared::{AccessRecord, LogReader, region as at};
use crate::sys::memory::Mapping;
use crate::sys::proc::block_signals;

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Stderr,
    File(PathBuf),
}

/// What became of the records so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogStats {
    /// Lines written.
    pub lines: u64,
    /// Lines lost because the target took no more: disk full, unreadable pipe.
    pub lost: u64,
    /// Records that workers dropped because their ring was full.
    pub dropped: u64,
    /// Rings that contradicted themselves and were skipped.
    pub broken: u64,
    /// Why lines were lost last; empty: none was.
    pub error: String,
}

/// The running thread. Dropping it writes what is in the rings, and joins.
pub struct AccessLog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    new_rings: Vec<(u32, Arc<Mapping>)>,
    reopen: bool,
    stop: bool,
    stats: LogStats,
}

impl AccessLog {
    /// Opens the target and starts the thread.
    ///
    /// # Errors  Those of open(2) for a file; EAGAIN when no thread can be started.
    pub fn start(target: Target, rings: Vec<(u32, Arc<Mapping>)>) -> io::Result<Self> {
        let output = Output::open(&target)?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State { new_rings: rings, ..State::default() }),
            bell: Condvar::new(),
        });
        let thread = std::thread::Builder::new().name("weirgate-log".to_string()).spawn({
            let shared = shared.clone();
            move || {
                block_signals();
                Writer { shared, target, output, readers: BTreeMap::new(), text: String::new(), lines: 0 }.run();
            }
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Reads one more ring from now on; a column that is read already goes on as it is.
    pub fn add_ring(&self, column: u32, ring: Arc<Mapping>) {
        self.shared.lock().new_rings.push((column, ring));
    }

    /// Opens the file anew before the next line: after it was moved away. A file that cannot be opened is a loss that
    /// is counted; the old one stays in use.
    pub fn reopen(&self) {
        self.shared.lock().reopen = true;
        self.shared.bell.notify_one();
    }

    /// What became of the records so far.
    pub fn stats(&self) -> LogStats {
        self.shared.lock().stats.clone()
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.bell.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Plain values: whole whatever happened to another holder.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pause between two looks at the rings, in ms: short while records come, longer while there are none.
const SHORTEST_PAUSE_MS: u64 = 10;
const LONGEST_PAUSE_MS: u64 = 100;
/// Text that is collected before it is written.
const BATCH_BYTES: usize = 64 * 1024;
/// What a pipe that says it is writable takes without blocking: PIPE_BUF.
const PIPE_BYTES: usize = 4096;
/// How long one write may wait for a pipe or terminal before its lines are lost, in ms.
const PATIENCE_MS: i64 = 1000;

struct Writer {
    shared: Arc<Shared>,
    target: Target,
    output: Output,
    readers: BTreeMap<u32, LogReader>,
    text: String,
    /// Lines in `text`.
    lines: u64,
}

impl Writer {
    fn run(&mut self) {
        let mut pause = SHORTEST_PAUSE_MS;
        loop {
            let stop = self.wait(pause);
            let found = self.drain_rings();
            self.write_out();
            self.update_dropped();
            if stop {
                return;
            }
            pause = if found { SHORTEST_PAUSE_MS } else { (pause * 2).min(LONGEST_PAUSE_MS) };
        }
    }

    /// Sleeps, then takes over what was asked for meanwhile; true: stop after one more look.
    fn wait(&mut self, pause_ms: u64) -> bool {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        if !state.stop && !state.reopen {
            let slept = shared.bell.wait_timeout(state, Duration::from_millis(pause_ms));
            state = slept.unwrap_or_else(PoisonError::into_inner).0;
        }
        for (column, ring) in state.new_rings.drain(..) {
            self.readers.entry(column).or_insert_with(|| LogReader::new(ring));
        }
        if std::mem::take(&mut state.reopen) {
            match Output::open(&self.target) {
                Ok(output) => self.output = output,
                Err(error) => state.stats.error = format!("access log could not be reopened: {error}"),
            }
        }
        state.stop
    }

    fn drain_rings(&mut self) -> bool {
        let mut readers = std::mem::take(&mut self.readers);
        let mut payload = Vec::new();
        let mut found = false;
        for reader in readers.values_mut() {
            // As much as a whole ring, so that everything that was there is read and a busy worker starves no other.
            let mut budget = at::LOG_RING_BYTES;
            while budget > 0 {
                match reader.next(&mut payload) {
                    Read::Entry(_) => {
                        found = true;
                        budget = budget.saturating_sub(payload.len() + at::LOG_ENTRY);
                        self.take(&payload);
                    }
                    Read::Empty => break,
                    Read::Broken => {
                        self.shared.lock().stats.broken += 1;
                        break;
                    }
                }
            }
        }
        self.readers = readers;
        found
    }

    fn take(&mut self, payload: &[u8]) {
        match AccessRecord::decode(payload) {
            Some(record) => {
                write_line(&mut self.text, &record);
                self.lines += 1;
            }
            None => self.shared.lock().stats.broken += 1,
        }
        if self.text.len() >= BATCH_BYTES {
            self.write_out();
        }
    }

    fn write_out(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let result = self.output.write_all(self.text.as_bytes());
        let mut state = self.shared.lock();
        match result {
            Ok(()) => state.stats.lines += self.lines,
            Err(error) => {
                state.stats.lost += self.lines;
                state.stats.error = format!("access log could not be written: {error}");
            }
        }
        drop(state);
        self.text.clear();
        self.lines = 0;
    }

    fn update_dropped(&self) {
        let dropped = self.readers.values().map(LogReader::dropped).sum();
        self.shared.lock().stats.dropped = dropped;
    }
}

/// An open target that is never waited for longer than [`PATIENCE_MS`].
struct Output {
    file: std::fs::File,
    regular: bool,
    /// The last write took too long: the next ones do not wait at all, so that ending the log never takes long.
    stuck: bool,
}

impl Output {
    fn open(target: &Target) -> io::Result<Self> {
        let file = match target {
            Target::Stderr => std::fs::File::from(io::stderr().as_fd().try_clone_to_owned()?),
            // NONBLOCK: opening a FIFO without a reader fails at once instead of waiting for one.
            Target::File(path) => OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o640)
                .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
                .open(path)?,
        };
        let regular = FileType::from_raw_mode(fstat(&file)?.st_mode) == FileType::RegularFile;
        Ok(Self { file, regular, stuck: false })
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.regular {
            return self.file.write_all(bytes);
        }
        while !bytes.is_empty() {
            let patience = if self.stuck { 0 } else { PATIENCE_MS };
            let limit = Timespec { tv_sec: patience / 1000, tv_nsec: patience % 1000 * 1_000_000 };
            let mut waited = [PollFd::new(&self.file, PollFlags::OUT)];
            self.stuck = rustix::io::retry_on_intr(|| poll(&mut waited, Some(&limit)))? == 0;
            if self.stuck {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.file.write(&bytes[..whole_lines(bytes)]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// How much to write at once so that a pipe does not block and lines of other writers come between ours only.
fn whole_lines(bytes: &[u8]) -> usize {
    let most = bytes.len().min(PIPE_BYTES);
    bytes[..most].iter().rposition(|&byte| byte == b'\n').map_or(most, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::LogRing;
    use crate::sys::memory::Region;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("weirgate-log-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn ring() -> Arc<Mapping> {
        Region::create("wg-test", at::LOG_BYTES).unwrap().map().clone()
    }

    fn push(ring: &LogRing, path: &str) -> bool {
        ring.push(&AccessRecord {
            time_us: 0,
            duration_us: 1,
            upstream_us: 0,
            generation: 1,
            bytes_in: 0,
            bytes_out: 0,
            client: "127.0.0.1:1".parse().unwrap(),
            upstream: None,
            status: 200,
            protocol: 1,
            close_reason: 0,
            retries: 0,
            method: b"GET",
            host: b"h",
            path: path.as_bytes(),
            listener: b"l",
            action: b"",
            user_agent: b"",
        })
    }

    #[test]
    fn every_record_becomes_a_line_even_those_of_a_worker_that_is_gone_and_of_a_late_one() {
        let folder = Folder::new("lines");
        let file = folder.0.join("access.log");
        let (first, second) = (ring(), ring());
        let dead = LogRing::new(first.clone());
        for n in 0..1000 {
            assert!(push(&dead, &format!("/dead/{n}")));
        }
        drop(dead);
        let log = AccessLog::start(Target::File(file.clone()), vec![(0, first.clone())]).unwrap();
        log.add_ring(1, second.clone());
        log.add_ring(0, first);
        assert!(push(&LogRing::new(second), "/late"));
        drop(log);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 1001);
        assert!(text.contains("\"path\":\"/dead/999\"") && text.contains("\"path\":\"/late\""));
    }

    #[test]
    fn a_file_that_was_moved_away_is_left_and_a_new_one_begun() {
        let folder = Folder::new("reopen");
        let (file, moved) = (folder.0.join("access.log"), folder.0.join("access.log.1"));
        let ring = ring();
        let writer = LogRing::new(ring.clone());
        let log = AccessLog::start(Target::File(file.clone()), vec![(0, ring)]).unwrap();
        assert!(push(&writer, "/old"));
        while log.stats().lines == 0 {
            std::thread::yield_now();
        }
        std::fs::rename(&file, &moved).unwrap();
        log.reopen();
        while !file.exists() {
            std::thread::yield_now();
        }
        assert!(push(&writer, "/new"));
        drop(log);
        assert!(std::fs::read_to_string(&moved).unwrap().contains("/old"));
        let new = std::fs::read_to_string(&file).unwrap();
        assert!(new.contains("/new") && !new.contains("/old"));
    }

    #[test]
    fn a_target_that_takes_nothing_loses_lines_and_counts_them() {
        let folder = Folder::new("pipe");
        let fifo = folder.0.join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0).unwrap();
        assert!(AccessLog::start(Target::File(fifo.clone()), vec![]).is_err(), "a FIFO without a reader");
        let reader =
            OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(&fifo).unwrap();
        let ring = ring();
        let writer = LogRing::new(ring.clone());
        let log = AccessLog::start(Target::File(fifo), vec![(0, ring)]).unwrap();
        // A pipe holds 64 KiB; the reader never reads.
        for n in 0..2000 {
            push(&writer, &format!("/{n}"));
        }
        while log.stats().lost == 0 {
            std::thread::yield_now();
        }
        drop(reader);
        push(&writer, "/nobody");
        drop(log);
    }

    #[test]
    fn a_pipe_gets_whole_lines_unless_one_is_longer_than_it_takes_at_once() {
        let line = [&[b'x'; 1999][..], b"\n"].concat();
        assert_eq!(whole_lines(&line.repeat(5)), 4000);
        assert_eq!(whole_lines(&line), 2000);
        assert_eq!(whole_lines(&[b'x'; 9000]), PIPE_BYTES);
    }

    #[test]
    fn a_file_in_no_folder_is_an_error_at_once() {
        assert!(AccessLog::start(Target::File("/nonexistent-weirgate/access.log".into()), vec![]).is_err());
    }
}
