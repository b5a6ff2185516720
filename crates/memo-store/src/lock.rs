//! Locks of a model directory. The system holds them for as long as a file is open, so that none outlives a process that
//! was killed.
//!
//! - `lock` is the writer's: one process at a time changes a model. What is written in it tells others who does, and where it can be
//!   asked to hand the model over, if it lets others use it (`handover`).
//! - `snapshot.lock` makes the files of a directory change together for those who read them: a reader shares it while it
//!   opens the files of one state, which takes milliseconds; the writer has it alone while it puts files in place. Readers
//!   take no other lock, and never write: on a medium that cannot be written there is nothing to wait for.

use crate::error::{Error, io};
use crate::handover;
use crate::time::Timestamp;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a model is asked for. Those who used it before may be faster when it is handed over.
const HANDOVERS: usize = 20;

/// The writer's lock of a model directory; released when dropped.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Makes this process the one writer. A writer that lets others use the model is asked to hand it over first.
    pub(crate) fn acquire(directory: &Path) -> Result<Self, Error> {
        for _ in 0..HANDOVERS {
            match Self::acquire_if_free(directory) {
                Err(Error::Busy { socket: Some(socket), .. }) if handover::ask(&socket) => {}
                acquired => return acquired,
            }
        }
        Self::acquire_if_free(directory)
    }

    /// Makes this process the one writer, if there is none.
    pub(crate) fn acquire_if_free(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("lock");
        let mut file = open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(directory, &mut file)),
            Err(TryLockError::Error(reason)) => return Err(io(&path)(reason)),
        }
        let lock = WriterLock { file };
        lock.announce(None);
        open(&directory.join(SNAPSHOT))?;
        Ok(lock)
    }

    /// Tells others who has the model, and where they can use it meanwhile. The lock is held whether this can be written or not: on a full
    /// disk, others learn less.
    pub(crate) fn announce(&self, socket: Option<&Path>) {
        let mut holder = format!("{}\n{}\n", std::process::id(), Timestamp::now());
        if let Some(socket) = socket.and_then(Path::to_str) {
            holder += socket;
            holder.push('\n');
        }
        let mut file = &self.file;
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()));
    }
}

/// Who holds the writer's lock, as far as they said so.
fn busy(directory: &Path, file: &mut File) -> Error {
    let mut holder = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut holder));
    // A line that is still being written counts as none.
    let mut lines = holder.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let pid = lines.next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
    let since = lines.next().unwrap_or("an unknown time").to_owned();
    let socket = lines.next().map(PathBuf::from);
    Error::Busy { path: directory.to_owned(), pid, since, socket }
}

/// How long a writer waits for readers, each of which holds the lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The snapshot lock while it is held; `None` where there is none to hold.
#[derive(Debug)]
pub(crate) struct SnapshotLock {
    _file: Option<File>,
}

impl SnapshotLock {
    /// Keeps the files of a directory from changing. Waits for a writer that is putting files in place.
    pub(crate) fn shared(directory: &Path) -> Self {
        let path = directory.join(SNAPSHOT);
        // A writer makes the file before it changes anything. Without it, or where nothing can be locked, none is there.
        let file = File::open(path).ok().filter(|file| file.lock_shared().is_ok());
        SnapshotLock { _file: file }
    }

    /// Keeps readers from opening the files of a directory while they are put in place.
    pub(crate) fn exclusive(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(SNAPSHOT);
        let file = open(&path)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(SnapshotLock { _file: Some(file) }),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => {
                    let (path, seconds) = (directory.to_owned(), PATIENCE.as_secs());
                    return Err(Error::Reading { path, seconds });
                }
                Err(TryLockError::Error(reason)) => return Err(io(&path)(reason)),
            }
        }
    }
}

/// The name of the snapshot lock's file.
const SNAPSHOT: &str = "snapshot.lock";

fn open(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(io(path))
}
