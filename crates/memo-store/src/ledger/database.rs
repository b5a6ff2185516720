//! The database under the ledger, and the only code that calls its library.
//!
//! A damaged file can make the library panic. Such a panic is caught here, around its own calls and nothing else, and
//! becomes an error that names the file; a panic in our code stays one.
//!
//! Those who only read take a copy of the file into RAM and open that. So reading needs no lock for longer than the copy
//! takes, works beside a writer and on media that cannot be written, and what the library repairs after a writer was
//! killed is repaired in the copy. A copy takes four bytes a token, an eighth of what the memory's tables take.

use crate::damage::Damage;
use crate::error::{Error, io};
use redb::{
    Database, Key, ReadTransaction, ReadableDatabase, ReadableTable, StorageBackend,
    TableDefinition, WriteTransaction,
};
use std::borrow::Borrow;
use std::io::ErrorKind;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Advice for a ledger that cannot be read.
pub(super) const HELP: &str = "restore it from a backup";

/// What to do if tokens are damaged: the rest can still be read.
const TOKENS_HELP: &str = "restore it from a backup, or `memo forget` the document and memorize it again; the other documents can \
                           be read";

/// Whether a write waits for the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// It returns when the disk has it, and all before it.
    Synced,
    /// The disk has it after the next one that waits; until then it is lost with the process.
    Unsynced,
}

/// The database of a ledger.
pub(super) struct LedgerDatabase {
    pub(super) path: PathBuf,
    state: State,
}

enum State {
    /// The file itself.
    Writing(Database),
    /// A copy of the file in RAM.
    Copy(Database),
    /// The file as it was at one time, whatever is written since.
    Pinned(Box<ReadTransaction>),
    /// For a moment, while the file is replaced.
    Closed,
}

impl LedgerDatabase {
    /// Makes a new file.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let database = guarded(path, || Ok(builder(CACHE).create(path)?))?;
        Ok(LedgerDatabase { path: path.to_owned(), state: State::Writing(database) })
    }

    /// Opens a file for writing, and repairs it if a writer was killed.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let database = guarded(path, || Ok(builder(CACHE).open(path)?))?;
        Ok(LedgerDatabase { path: path.to_owned(), state: State::Writing(database) })
    }

    /// Opens a copy of a file, to be read. Nobody may write to the file meanwhile.
    pub(super) fn copy(path: &Path) -> Result<Self, Error> {
        let bytes = Bytes(RwLock::new(std::fs::read(path).map_err(io(path))?));
        if bytes.read_lock().is_empty() {
            // The library would take it for one to be made.
            return Err(damaged(path, Damage::CutOff));
        }
        let database = guarded(path, || Ok(builder(1 << 20).create_with_backend(bytes)?))?;
        Ok(LedgerDatabase { path: path.to_owned(), state: State::Copy(database) })
    }

    /// The database as it is now, to be read while it changes.
    pub(super) fn pinned(&self) -> Result<Self, Error> {
        let now = self.read(Ok)?;
        Ok(LedgerDatabase { path: self.path.clone(), state: State::Pinned(Box::new(now)) })
    }

    /// Reads from one state of the database.
    fn read<T>(
        &self,
        read: impl FnOnce(ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, Error> {
        let (State::Writing(database) | State::Copy(database)) = &self.state else {
            return Err(damaged(&self.path, Damage::Database));
        };
        guarded(&self.path, || read(database.begin_read()?))
    }

    fn with<T>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, Error> {
        match &self.state {
            State::Pinned(transaction) => guarded(&self.path, || read(transaction)),
            _ => self.read(|transaction| read(&transaction)),
        }
    }

    /// The value of a key.
    pub(super) fn get<'k, K: Key + 'static>(
        &self,
        table: Table<K>,
        key: impl Borrow<K::SelfType<'k>>,
    ) -> Result<Option<Vec<u8>>, Error> {
        self.with(|read| {
            let value = read.open_table(table)?.get(key)?;
            Ok(value.map(|value| value.value().to_vec()))
        })
    }

    /// All values, in the order of their keys.
    pub(super) fn values<K: Key + 'static>(&self, table: Table<K>) -> Result<Vec<Vec<u8>>, Error> {
        self.with(|read| {
            let entries = read.open_table(table)?;
            entries.iter()?.map(|entry| Ok(entry?.1.value().to_vec())).collect()
        })
    }

    /// The values of all keys after `after`, in order.
    pub(super) fn values_after(
        &self,
        table: Table<u64>,
        after: u64,
    ) -> Result<Vec<Vec<u8>>, Error> {
        self.with(|read| {
            let entries = read.open_table(table)?;
            let entries = entries.range(after.saturating_add(1)..)?;
            entries.map(|entry| Ok(entry?.1.value().to_vec())).collect()
        })
    }

    /// The last key.
    pub(super) fn last(&self, table: Table<u64>) -> Result<Option<u64>, Error> {
        self.with(|read| Ok(read.open_table(table)?.last()?.map(|(key, _)| key.value())))
    }

    /// All keys of a table of versions.
    pub(super) fn version_keys(&self, table: Table<(u64, u32)>) -> Result<Vec<(u64, u32)>, Error> {
        self.with(|read| {
            let entries = read.open_table(table)?;
            entries.iter()?.map(|entry| Ok(entry?.0.value())).collect()
        })
    }

    /// Gives every entry of a table of versions to `take`, one after the other.
    pub(super) fn each_version(
        &self,
        table: Table<(u64, u32)>,
        mut take: impl FnMut((u64, u32), &[u8]) -> Result<(), redb::Error>,
    ) -> Result<(), Error> {
        self.with(|read| {
            for entry in read.open_table(table)?.iter()? {
                let (key, value) = entry?;
                take(key.value(), value.value())?;
            }
            Ok(())
        })
    }

    /// The entries of a table of names.
    pub(super) fn named(
        &self,
        table: Table<&'static str>,
    ) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.with(|read| {
            let entries = read.open_table(table)?;
            let own = |entry: Result<(redb::AccessGuard<'_, &str>, _), _>| {
                let (key, value): (_, redb::AccessGuard<'_, &[u8]>) = entry?;
                Ok((key.value().to_owned(), value.value().to_vec()))
            };
            entries.iter()?.map(own).collect()
        })
    }

    /// Whether a copy of the file is read.
    pub(super) fn is_copy(&self) -> bool {
        matches!(self.state, State::Copy(_))
    }

    /// Writes to the database, all or nothing.
    pub(super) fn write(
        &self,
        durability: Durability,
        write: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), Error> {
        let State::Writing(database) = &self.state else {
            return Err(Error::Invalid("this model is open for reading only".to_owned()));
        };
        guarded(&self.path, || {
            let mut transaction = database.begin_write()?;
            if durability == Durability::Unsynced {
                transaction.set_durability(redb::Durability::None)?;
            }
            write(&transaction)?;
            Ok(transaction.commit()?)
        })
    }

    /// Checks the structure of a copy and all its checksums. True if nothing had to be repaired.
    pub(super) fn check(&mut self) -> Result<bool, Error> {
        match &mut self.state {
            State::Copy(database) => guarded(&self.path, || Ok(database.check_integrity()?)),
            _ => Ok(true),
        }
    }

    /// Closes the database. One that is damaged may panic even at that.
    pub(super) fn close(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Closed);
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| drop(state)));
    }
}

impl Drop for LedgerDatabase {
    fn drop(&mut self) {
        self.close();
    }
}

/// A table of bytes.
pub(super) type Table<K> = TableDefinition<'static, K, &'static [u8]>;

/// Bytes that the library may keep of a file; its own default is a GiB.
const CACHE: usize = 128 << 20;

fn builder(cache: usize) -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(cache);
    builder
}

/// Calls the library. The error type of `call` admits nothing but its calls.
fn guarded<T>(path: &Path, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, Error> {
    // A panic leaves behind a transaction that was not committed.
    match std::panic::catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::Ledger { path: path.to_owned(), reason: Box::new(error) }),
        Err(_) => Err(damaged(path, Damage::Database)),
    }
}

pub(super) fn damaged(path: &Path, what: Damage) -> Error {
    let tokens = matches!(what, Damage::Tokens { .. } | Damage::Several(_));
    let help = if tokens { TOKENS_HELP } else { HELP };
    Error::Damaged { path: path.to_owned(), what, help }
}

/// A file in RAM.
struct Bytes(RwLock<Vec<u8>>);

impl Bytes {
    fn read_lock(&self) -> std::sync::RwLockReadGuard<'_, Vec<u8>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> std::sync::RwLockWriteGuard<'_, Vec<u8>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes in RAM", self.read_lock().len())
    }
}

impl StorageBackend for Bytes {
    fn len(&self) -> std::io::Result<u64> {
        Ok(self.read_lock().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        let bytes = self.read_lock();
        let from = usize::try_from(offset).ok().and_then(|start| bytes.get(start..));
        let from = from.and_then(|from| from.get(..out.len()));
        out.copy_from_slice(from.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        let len = usize::try_from(len).map_err(|_| ErrorKind::OutOfMemory)?;
        self.write_lock().resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        let mut bytes = self.write_lock();
        let to = usize::try_from(offset).ok().and_then(|start| bytes.get_mut(start..));
        let to = to.and_then(|to| to.get_mut(..data.len()));
        to.ok_or(ErrorKind::UnexpectedEof)?.copy_from_slice(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::backends::FileBackend;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A file on a disk that takes what is written, but does not say that it has it.
    #[derive(Debug)]
    struct Unsure {
        file: FileBackend,
        refuses: Arc<AtomicBool>,
    }

    impl StorageBackend for Unsure {
        fn len(&self) -> std::io::Result<u64> {
            self.file.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
            self.file.read(offset, out)
        }

        fn set_len(&self, len: u64) -> std::io::Result<()> {
            self.file.set_len(len)
        }

        fn sync_data(&self) -> std::io::Result<()> {
            self.file.sync_data()?;
            if self.refuses.load(Ordering::Relaxed) {
                return Err(std::io::Error::other("the disk does not answer"));
            }
            Ok(())
        }

        fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
            self.file.write(offset, data)
        }
    }

    impl LedgerDatabase {
        /// Has every sync fail after all was written, until the file is opened again.
        pub(in crate::ledger) fn refuse_syncs(&mut self) {
            self.close();
            let file = std::fs::File::options().read(true).write(true).open(&self.path).unwrap();
            let refuses = Arc::new(AtomicBool::new(false));
            let file = FileBackend::new(file).unwrap();
            let backend = Unsure { file, refuses: Arc::clone(&refuses) };
            self.state = State::Writing(builder(CACHE).create_with_backend(backend).unwrap());
            refuses.store(true, Ordering::Relaxed);
        }
    }
}
