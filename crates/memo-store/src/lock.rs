//! The writer's lock: held by one process, gone with it.
//!
//! `lock` in the model directory is locked by the system for as long as its file is open, so it cannot outlive a process
//! that was killed. What is written in it only tells others who holds it.

use crate::error::{Error, io};
use crate::files;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a writer waits for readers, which hold the lock for moments only.
const PATIENCE: Duration = Duration::from_secs(1);

/// The lock of a model directory; released when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    /// `None` where no lock can be made, and so nothing be written.
    _file: Option<File>,
}

impl Lock {
    /// Becomes the one writer.
    pub(crate) fn exclusive(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("lock");
        let mut file = open(&path)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                // Only readers share it; they are done soon.
                Err(TryLockError::WouldBlock)
                    if file.try_lock_shared().is_ok() && start.elapsed() < PATIENCE * 30 =>
                {
                    file.unlock().map_err(io(&path))?;
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(TryLockError::WouldBlock) => return Err(busy(directory, &mut file)),
                Err(TryLockError::Error(reason)) => return Err(io(&path)(reason)),
            }
        }
        let held = format!("{}\n{}\n", std::process::id(), files::utc(files::now()));
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(held.as_bytes()))
            .map_err(io(&path))?;
        Ok(Lock { _file: Some(file) })
    }

    /// Says who is writing.
    pub(crate) fn holder(directory: &Path) -> Error {
        match open(&directory.join("lock")) {
            Ok(mut file) => busy(directory, &mut file),
            Err(error) => error,
        }
    }

    /// Keeps writers away while reading the ledger, if there is none now.
    pub(crate) fn shared(directory: &Path) -> Result<Option<Self>, Error> {
        let path = directory.join("lock");
        let file = match open(&path) {
            // A backup on a medium that cannot be written.
            Err(_) if !path.exists() => return Ok(Some(Lock { _file: None })),
            opened => opened?,
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Lock { _file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(reason)) => Err(io(&path)(reason)),
        }
    }
}

fn open(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).or_else(|_| File::open(path)).map_err(io(path))
}

fn busy(directory: &Path, file: &mut File) -> Error {
    let mut held = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut held));
    let mut lines = held.lines();
    let pid = lines.next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
    let since = lines.next().unwrap_or("an unknown time").to_owned();
    Error::Busy { path: directory.to_owned(), pid, since }
}
