//! The lock of a state folder: one running primary for each.
//! Serves `host`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// A held lock; the kernel lets it go when the value is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

/// What [`FolderLock::acquire`] found.
#[derive(Debug)]
pub enum Acquired {
    /// The folder is ours.
    Held(FolderLock),
    /// A running process has it; the pid is what that process wrote, None when it wrote none yet.
    Taken(Option<u32>),
}

impl FolderLock {
    /// Locks `folder/lock` with flock(2) and writes our pid into it. The file stays behind; only the lock counts.
    ///
    /// # Errors  Those of open(2), flock(2) and write(2).
    pub fn acquire(folder: &Path) -> io::Result<Acquired> {
        // std opens with O_CLOEXEC: a worker that inherited the file would keep the folder locked.
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join("lock"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::AGAIN) => {
                let mut text = String::new();
                file.take(32).read_to_string(&mut text)?;
                return Ok(Acquired::Taken(text.trim().parse().ok()));
            }
            Err(error) => return Err(error.into()),
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
        Ok(Acquired::Held(Self { _file: file }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_by_one_until_it_lets_go() {
        let folder = std::env::temp_dir().join(format!("weirgate-lock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let Acquired::Held(first) = FolderLock::acquire(&folder).unwrap() else { panic!("free folder") };
        match FolderLock::acquire(&folder).unwrap() {
            Acquired::Taken(pid) => assert_eq!(pid, Some(std::process::id())),
            Acquired::Held(_) => panic!("held twice"),
        }
        drop(first);
        assert!(matches!(FolderLock::acquire(&folder).unwrap(), Acquired::Held(_)));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(FolderLock::acquire(&folder).is_err());
    }
}
