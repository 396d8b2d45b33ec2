//! How many bytes a worker's buffers may own, and what that means for those that want more.
//!
//! ```text
//!   share of a worker: a quarter of the host's memory or of the cgroup's limit, divided by the workers
//!   0 ─────────── Calm ─────────── half ──────── Tight ──────── nine tenths ──────── Full ────────
//!     256 kB a direction                16 kB a direction              no new requests; who has stalled
//!                                                                      longest while holding bytes is closed
//! ```
//! Counted are what buffers own (unsent bytes, partial heads, requests held for another try) and lent pipes; not what the kernel holds in
//! sockets. Nothing has to end a state: every look asks how much there is now.

use super::bytes::owned;
use super::pipes::Pipes;
use crate::sys::pipe::PIPE_BYTES;

/// What workers may take of the memory: one in so many bytes.
const MEMORY_SHARE: usize = 4;
/// What pipes may take of a worker's share.
const PIPE_SHARE: usize = 4;
/// Most unsent bytes of one direction before its sender is not read: while calm, and else.
const HIGH_WATER: usize = 256 * 1024;
const TIGHT_WATER: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    Calm,
    Tight,
    Full,
}

/// A worker's share.
pub struct ByteBudget {
    /// Of the whole host or cgroup.
    memory: usize,
    share: usize,
}

impl ByteBudget {
    /// `memory`: bytes of the host or the cgroup; `workers`: how many share a quarter of it.
    pub fn new(memory: usize, workers: usize) -> Self {
        let mut budget = Self { memory, share: 0 };
        budget.divide(workers);
        budget
    }

    /// Takes over another number of workers.
    pub fn divide(&mut self, workers: usize) {
        self.share = self.memory / MEMORY_SHARE / workers.max(1);
    }

    /// Pipes that never take more than a part of the share.
    pub fn most_pipes(&self) -> usize {
        self.share / PIPE_SHARE / PIPE_BYTES
    }

    /// Cost: two comparisons.
    pub fn pressure<P>(&self, pipes: &Pipes<P>) -> Pressure {
        let held = owned() + pipes.lent() * PIPE_BYTES;
        if held < self.share / 2 {
            Pressure::Calm
        } else if held < self.share - self.share / 10 {
            Pressure::Tight
        } else {
            Pressure::Full
        }
    }

    /// Most unsent bytes of one direction, and most that is read at once.
    pub fn high_water<P>(&self, pipes: &Pipes<P>) -> usize {
        if self.pressure(pipes) == Pressure::Calm { HIGH_WATER } else { TIGHT_WATER }
    }
}

/// Bytes of memory that this process may use: the host's, or the smallest limit of its cgroups (version 1 or 2). Reads a few files.
pub fn memory_limit() -> usize {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let host = read("/proc/meminfo").and_then(|text| host_memory(&text)).unwrap_or(usize::MAX);
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    // "max", and the huge number that version 1 says instead, limit nothing.
    let limits = limit_files(&groups).into_iter().filter_map(|path| read(&path)?.trim().parse().ok());
    limits.chain([host]).min().unwrap_or(host)
}

/// `MemTotal` of /proc/meminfo in bytes.
fn host_memory(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}

/// The files that limit the groups of /proc/self/cgroup, those of the groups around them included: the tightest counts.
fn limit_files(groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            some if some.split(',').any(|name| name == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            files.push(format!("{root}{path}/{file}"));
            let Some(end) = path.rfind('/') else { break };
            path = &path[..end];
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_around_ours_and_both_versions_are_asked() {
        let files = limit_files("9:name=systemd:/x\n4:cpu,memory:/a/b\n0::/\n");
        assert_eq!(
            files,
            [
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(host_memory("MemTotal:       24683232 kB\nMemFree: 1 kB\n"), Some(24_683_232 * 1024));
        assert_eq!(host_memory("nothing"), None);
        assert!(memory_limit() > 1 << 20);
    }

    #[test]
    fn workers_share_a_quarter_of_the_memory() {
        let mut budget = ByteBudget::new(1 << 30, 2);
        assert_eq!((budget.share, budget.most_pipes()), (1 << 27, 128));
        budget.divide(8);
        assert_eq!((budget.share, budget.most_pipes()), (1 << 25, 32));
    }
}
