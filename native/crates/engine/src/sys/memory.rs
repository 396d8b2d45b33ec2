//! Shared memory: memory file descriptors, their seals, and mappings that hand out atomic words only.
//! What the words mean is `shared/`'s business. Serves the primary's host and the worker loop alike.
//!
//! Two processes use every region at once, so no `&[u8]` of it may exist: all accesses are atomic words of 32 or
//! 64 bits at checked offsets. Only a sealed memfd, which nobody can write any more, is shown as plain bytes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Creates a sparse memfd of `len` bytes that can neither shrink nor grow; close-on-exec, never executable.
///
/// Pages cost memory only once they are written. The fixed size is what makes a mapping of it safe: a mapped
/// file that shrinks raises SIGBUS. `name` is what /proc shows.
/// # Errors  Those of memfd_create(2), ftruncate(2) and fcntl(2).
pub fn create_region(name: &str, len: u64) -> io::Result<OwnedFd> {
    let fd = create_memfd(name)?;
    ftruncate(&fd, len)?;
    fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(fd)
}

/// Creates a memfd that holds `bytes` and that nobody can ever change: F_SEAL_WRITE, SHRINK, GROW and SEAL.
///
/// # Errors  Those of memfd_create(2), write(2) and fcntl(2).
pub fn create_sealed(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = create_memfd(name)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(&fd, rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    fcntl_add_seals(&fd, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(fd)
}

/// Makes the memfd read-only for everyone who maps it from now on; writable mappings that exist keep working.
///
/// # Errors  Those of fcntl(2); kernels before 5.1 have no F_SEAL_FUTURE_WRITE and answer EINVAL.
pub fn seal_future_writes(fd: BorrowedFd<'_>) -> io::Result<()> {
    fcntl_add_seals(fd, SealFlags::FUTURE_WRITE | SealFlags::SEAL)?;
    Ok(())
}

fn create_memfd(name: &str) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 do not know NOEXEC_SEAL.
        Err(rustix::io::Errno::INVAL) => Ok(memfd_create(name, flags)?),
        result => Ok(result?),
    }
}

/// One mmap(2) of a whole memfd; unmapped on drop.
struct RawMap {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is plain memory that belongs to the process, not to a thread; all access is by atomics, or by
// shared reads of sealed memory.
unsafe impl Send for RawMap {}
// SAFETY: as above.
unsafe impl Sync for RawMap {}

impl RawMap {
    fn new(fd: BorrowedFd<'_>, len: usize, prot: ProtFlags, required: SealFlags) -> io::Result<Self> {
        let size = u64::try_from(fstat(fd)?.st_size).unwrap_or(0);
        if len == 0 || size < len as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("shared region has {size} bytes, {len} expected"),
            ));
        }
        let seals = fcntl_get_seals(fd)?;
        if !seals.contains(required) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("shared region carries seals {seals:?}, {required:?} expected"),
            ));
        }
        // SAFETY: a fresh mapping at an address that the kernel chooses; it aliases nothing. The file has at least
        // `len` bytes and is sealed against shrinking, so no access inside `len` can raise SIGBUS.
        let start = unsafe { mmap(std::ptr::null_mut(), len, prot, MapFlags::SHARED, fd, 0)? };
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len })
    }

    /// The address of `size` bytes at `offset`, if they lie inside and the offset is a multiple of `size`.
    #[inline]
    fn at(&self, offset: usize, size: usize) -> Option<NonNull<u8>> {
        if !offset.is_multiple_of(size) || offset >= self.len || self.len - offset < size {
            return None;
        }
        // SAFETY: offset < len, so the address stays inside the mapping.
        Some(unsafe { self.start.add(offset) })
    }

    #[inline]
    fn u64_at(&self, offset: usize) -> Option<&AtomicU64> {
        let word = self.at(offset, size_of::<u64>())?;
        // SAFETY: 8 bytes inside the mapping, aligned (the mapping starts at a page, the offset is a multiple of 8);
        // nobody holds a non-atomic reference to mapped words that can still be written.
        Some(unsafe { word.cast::<AtomicU64>().as_ref() })
    }

    #[inline]
    fn u32_at(&self, offset: usize) -> Option<&AtomicU32> {
        let word = self.at(offset, size_of::<u32>())?;
        // SAFETY: as in u64_at, with 4 bytes.
        Some(unsafe { word.cast::<AtomicU32>().as_ref() })
    }
}

impl Drop for RawMap {
    fn drop(&mut self) {
        // SAFETY: exactly the range that mmap returned; references into it borrow from self and are gone.
        // A failure would mean a wrong range, which cannot be; there is nothing to do about it in a destructor.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A region mapped for reading and writing: checked offset → atomic word.
pub struct Mapping(RawMap);

impl Mapping {
    /// Maps the first `len` bytes of a region made by [`create_region`].
    ///
    /// # Errors  InvalidData when it is smaller or may still shrink; else those of mmap(2) (EPERM when the primary
    /// sealed it against writing).
    pub fn map(fd: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        RawMap::new(fd, len, ProtFlags::READ | ProtFlags::WRITE, SealFlags::SHRINK).map(Self)
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// False: an empty region cannot be mapped.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The word at a byte offset; None outside the region or off its alignment. Cost: two comparisons.
    #[inline]
    pub fn u64_at(&self, offset: usize) -> Option<&AtomicU64> {
        self.0.u64_at(offset)
    }

    /// The word at a byte offset; None outside the region or off its alignment. Cost: two comparisons.
    #[inline]
    pub fn u32_at(&self, offset: usize) -> Option<&AtomicU32> {
        self.0.u32_at(offset)
    }

    /// Copies bytes in, as relaxed 64-bit stores; the last word is filled up with zeros.
    ///
    /// False, and nothing written, when `offset` is no multiple of 8 or the words do not fit. Publishing what was
    /// written (a release store of an index) is the caller's part.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> bool {
        let words = bytes.len().div_ceil(8);
        if words == 0 {
            return true;
        }
        let fits = words.checked_mul(8).and_then(|n| offset.checked_add(n)).is_some_and(|end| end <= self.len());
        if !fits || !offset.is_multiple_of(8) {
            return false;
        }
        for (index, chunk) in bytes.chunks(8).enumerate() {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            if let Some(cell) = self.u64_at(offset + index * 8) {
                cell.store(u64::from_le_bytes(word), Ordering::Relaxed);
            }
        }
        true
    }

    /// Copies bytes out, as relaxed 64-bit loads; false when they are not all inside or `offset` is no multiple of 8.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> bool {
        read_words(&self.0, offset, out)
    }

    /// Stores zero into every word of a range given in bytes (multiples of 8). Pages never touched become resident.
    pub fn zero(&self, offset: usize, len: usize) -> bool {
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len());
        if !inside || !offset.is_multiple_of(8) || !len.is_multiple_of(8) {
            return false;
        }
        for at in (offset..offset + len).step_by(8) {
            if let Some(cell) = self.u64_at(at) {
                // Only what is not zero: a load of a hole costs no write, so clean cache lines stay clean.
                if cell.load(Ordering::Relaxed) != 0 {
                    cell.store(0, Ordering::Relaxed);
                }
            }
        }
        true
    }
}

/// A region mapped read-only: words can be loaded, nothing can be stored.
pub struct ReadMapping(RawMap);

impl ReadMapping {
    /// Maps the first `len` bytes of a region made by [`create_region`], read-only.
    ///
    /// # Errors  InvalidData when it is smaller or may still shrink; else those of mmap(2).
    pub fn map(fd: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        RawMap::new(fd, len, ProtFlags::READ, SealFlags::SHRINK).map(Self)
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// False: an empty region cannot be mapped.
    pub fn is_empty(&self) -> bool {
        false
    }

    // Plain atomic loads of word size compile to load instructions on every target we build for, so they may be done
    // on read-only pages (std::sync::atomic, "Atomic accesses to read-only memory"); stores are not offered.

    /// Loads a word; None outside the region or off its alignment.
    #[inline]
    pub fn load_u64(&self, offset: usize, order: Ordering) -> Option<u64> {
        self.0.u64_at(offset).map(|word| word.load(order))
    }

    /// Loads a word; None outside the region or off its alignment.
    #[inline]
    pub fn load_u32(&self, offset: usize, order: Ordering) -> Option<u32> {
        self.0.u32_at(offset).map(|word| word.load(order))
    }

    /// Copies bytes out, as relaxed 64-bit loads; false when they are not all inside or `offset` is no multiple of 8.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> bool {
        read_words(&self.0, offset, out)
    }
}

fn read_words(map: &RawMap, offset: usize, out: &mut [u8]) -> bool {
    let inside = offset.checked_add(out.len().next_multiple_of(8)).is_some_and(|end| end <= map.len);
    if !inside || !offset.is_multiple_of(8) {
        return false;
    }
    for (index, chunk) in out.chunks_mut(8).enumerate() {
        if let Some(cell) = map.u64_at(offset + index * 8) {
            let word = cell.load(Ordering::Relaxed).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
    true
}

/// The bytes of a memfd that can never change again: a routing table.
pub struct SealedMemory(RawMap);

impl SealedMemory {
    /// Maps a whole memfd made by [`create_sealed`], read-only; the descriptor may be closed afterwards.
    ///
    /// # Errors  InvalidData when it is empty or not sealed against writing and shrinking; else those of mmap(2).
    pub fn map(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let len = usize::try_from(fstat(fd)?.st_size).unwrap_or(0);
        RawMap::new(fd, len, ProtFlags::READ, SealFlags::WRITE | SealFlags::SHRINK).map(Self)
    }

    /// Touches every page, so that no lookup meets a page fault. Cost: one fault per page not yet mapped.
    pub fn prefault(&self) {
        let bytes = self.as_ref();
        let mut sum = 0u8;
        for at in (0..bytes.len()).step_by(4096) {
            sum ^= bytes[at];
        }
        std::hint::black_box(sum);
    }
}

impl AsRef<[u8]> for SealedMemory {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `len` mapped bytes; F_SEAL_WRITE (checked in map) can only be set while no writable mapping exists
        // and forbids every later write, so they are immutable for as long as the mapping lives.
        unsafe { std::slice::from_raw_parts(self.0.start.as_ptr(), self.0.len) }
    }
}

/// A region with its descriptor, kept so that it can be handed to workers; its pages live as long as the value.
pub struct Region {
    fd: Arc<OwnedFd>,
    map: Arc<Mapping>,
}

impl Region {
    /// Creates a sparse region and maps it for reading and writing.
    ///
    /// # Errors  Those of [`create_region`] and [`Mapping::map`].
    pub fn create(name: &str, len: usize) -> io::Result<Self> {
        let fd = create_region(name, len as u64)?;
        let map = Mapping::map(fd.as_fd(), len)?;
        Ok(Self { fd: Arc::new(fd), map: Arc::new(map) })
    }

    /// The words.
    pub fn map(&self) -> &Arc<Mapping> {
        &self.map
    }

    /// The descriptor, to be sent.
    pub fn fd(&self) -> &Arc<OwnedFd> {
        &self.fd
    }

    /// Makes all of it zero again by giving its pages back to the system.
    ///
    /// # Errors  Those of fallocate(2).
    pub fn clear(&self) -> io::Result<()> {
        fallocate(&*self.fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 0, self.map.len() as u64)?;
        Ok(())
    }
}

impl AsFd for Region {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Gives what the allocator holds and nobody uses back to the host. Cost: a walk through its lists, up to milliseconds
/// after a rush.
pub fn release_memory() {
    // SAFETY: malloc_trim(3) takes no pointer and may be called by any thread at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_or_misaligned_do_not_exist() {
        let region = Region::create("wg-test", 8192).unwrap();
        assert!(region.map().u64_at(8184).is_some());
        assert!(region.map().u64_at(8192).is_none());
        assert!(region.map().u64_at(8188).is_none());
        assert!(region.map().u32_at(8188).is_some());
        assert!(region.map().u32_at(usize::MAX - 3).is_none());
        assert!(!region.map().write(8184, &[1; 9]));
        assert!(!region.map().write(usize::MAX - 7, &[1; 9]));
        assert!(!region.map().read(8184, &mut [0; 9]));
    }

    #[test]
    fn two_mappings_of_one_region_see_each_other() {
        let region = Region::create("wg-test", 4096).unwrap();
        let other = ReadMapping::map(region.as_fd(), 4096).unwrap();
        assert!(region.map().write(16, b"hello, world"));
        let mut out = [0u8; 12];
        assert!(other.read(16, &mut out));
        assert_eq!(&out, b"hello, world");
        region.map().u32_at(0).unwrap().store(7, Ordering::Release);
        assert_eq!(other.load_u32(0, Ordering::Acquire), Some(7));
        assert!(region.map().zero(16, 16));
        assert_eq!(other.load_u64(16, Ordering::Relaxed), Some(0));
        region.clear().unwrap();
        assert_eq!(other.load_u32(0, Ordering::Relaxed), Some(0));
    }

    #[test]
    fn a_sealed_memfd_cannot_be_mapped_for_writing() {
        let fd = create_sealed("wg-test", b"table bytes").unwrap();
        let sealed = SealedMemory::map(fd.as_fd()).unwrap();
        sealed.prefault();
        assert_eq!(sealed.as_ref(), b"table bytes");
        assert!(Mapping::map(fd.as_fd(), 8).is_err());
        assert!(rustix::io::write(&fd, b"x").is_err());
    }

    #[test]
    fn a_region_that_is_not_sealed_is_no_table_and_a_short_one_no_region() {
        let fd = create_region("wg-test", 4096).unwrap();
        assert!(SealedMemory::map(fd.as_fd()).is_err());
        assert!(Mapping::map(fd.as_fd(), 8192).is_err());
        let loose = create_memfd("wg-test").unwrap();
        ftruncate(&loose, 4096).unwrap();
        assert!(Mapping::map(loose.as_fd(), 4096).is_err());
    }

    #[test]
    fn after_future_writes_are_sealed_only_the_old_mapping_can_write() {
        let region = Region::create("wg-test", 4096).unwrap();
        seal_future_writes(region.as_fd()).unwrap();
        assert!(Mapping::map(region.as_fd(), 4096).is_err());
        let reader = ReadMapping::map(region.as_fd(), 4096).unwrap();
        region.map().u64_at(8).unwrap().store(9, Ordering::Relaxed);
        assert_eq!(reader.load_u64(8, Ordering::Relaxed), Some(9));
    }
}
