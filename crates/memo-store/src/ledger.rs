//! The ledger: documents, tokens and transactions in one transactional database. It is the truth.

use crate::damage::Damage;
use crate::error::Error;
use crate::files;
use crate::record::{Copy, Document, Role, Transaction, Version};
use redb::{
    Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition,
    WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Under this name in [`META`] while a forget is not finished.
const FORGETTING: &str = "forgetting";
const DOCUMENTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("documents");
const TOKENS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("tokens");
const TRANSACTIONS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("transactions");
const COPIES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("copies");

/// The ledger of a model.
pub(crate) struct Ledger {
    path: PathBuf,
    database: Base,
    /// The secret under which contents are hashed: without it a digest cannot be matched to a guessed text.
    key: [u8; 32],
}

enum Base {
    Writing(Database),
    Reading(ReadOnlyDatabase),
    /// As it was at one time, whatever is written since.
    Pinned(Box<ReadTransaction>),
    /// For a moment, while the file is replaced.
    Closed,
}

/// The tokens of a version, part by part, and what is written of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) parts: Vec<Vec<u32>>,
    pub(crate) role: Role,
}

impl Content {
    pub(crate) fn text(tokens: Vec<u32>) -> Self {
        Content { parts: vec![tokens], role: Role::Text }
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }

    /// A hash without a secret, for digests that other models must be able to have too.
    pub(crate) fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for part in &self.parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(&encoded(part));
        }
        *hasher.finalize().as_bytes()
    }

    /// All parts, with a mark between them: what was cut apart must not lie side by side.
    fn bytes(&self) -> Vec<u8> {
        self.parts.iter().map(|part| encoded(part)).collect::<Vec<_>>().join(&CUT.to_le_bytes()[..])
    }
}

/// What stands between two parts; no token.
const CUT: u32 = u32::MAX;

/// Tokens as they are stored: four bytes each.
pub(crate) fn encoded(tokens: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(tokens.len() * 4);
    tokens.iter().for_each(|token| bytes.extend_from_slice(&token.to_le_bytes()));
    bytes
}

/// What a commit changes besides adding a transaction.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) documents: Vec<Document>,
    /// Contents of new versions: document number, version, content.
    pub(crate) contents: Vec<(u64, u32, Content)>,
    /// Transactions that changed: those that were rolled back.
    pub(crate) transactions: Vec<Transaction>,
}

impl Ledger {
    pub(crate) fn create(path: &Path) -> Result<(), Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|e| Error::Invalid(format!("no random numbers: {e}")))?;
        let database = builder().create(path).map_err(failed(path))?;
        let change = database.begin_write().map_err(failed(path))?;
        {
            let mut meta = change.open_table(META).map_err(failed(path))?;
            meta.insert("key", &key[..]).map_err(failed(path))?;
            change.open_table(DOCUMENTS).map_err(failed(path))?;
            change.open_table(TOKENS).map_err(failed(path))?;
            change.open_table(TRANSACTIONS).map_err(failed(path))?;
            change.open_table(COPIES).map_err(failed(path))?;
        }
        change.commit().map_err(failed(path))
    }

    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Self::with(
            path,
            Base::Writing(guarded(path, || builder().open(path).map_err(failed(path)))?),
        )
    }

    /// Opens it for reading; a writer must not be there.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, Error> {
        Self::with(
            path,
            Base::Reading(guarded(path, || builder().open_read_only(path).map_err(failed(path)))?),
        )
    }

    fn with(path: &Path, database: Base) -> Result<Self, Error> {
        let mut ledger = Ledger { path: path.to_owned(), database, key: [0; 32] };
        let key: Option<Vec<u8>> = ledger.reading(|read| {
            let meta = read.open_table(META).map_err(failed(path))?;
            let key = meta.get("key").map_err(failed(path))?;
            Ok(key.map(|key| key.value().to_vec()))
        })?;
        ledger.key = key
            .and_then(|key| key.try_into().ok())
            .ok_or_else(|| ledger.damaged(Damage::Lacks("its key")))?;
        Ok(ledger)
    }

    /// The ledger as it is now, to be read while it changes.
    pub(crate) fn pinned(&self) -> Result<Self, Error> {
        let Base::Writing(database) = &self.database else {
            return Err(self.damaged(Damage::Database));
        };
        let now = guarded(&self.path, || database.begin_read().map_err(failed(&self.path)))?;
        Ok(Ledger { path: self.path.clone(), database: Base::Pinned(Box::new(now)), key: self.key })
    }

    /// Reads from one state of the database.
    fn reading<T>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        guarded(&self.path, || {
            let transaction = match &self.database {
                Base::Writing(database) => database.begin_read(),
                Base::Reading(database) => database.begin_read(),
                Base::Pinned(transaction) => return read(transaction),
                Base::Closed => return Err(self.damaged(Damage::Database)),
            };
            read(&transaction.map_err(failed(&self.path))?)
        })
    }

    /// Writes to the database, all or nothing, durably.
    fn writing(
        &self,
        write: impl FnOnce(&WriteTransaction) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Base::Writing(database) = &self.database else {
            return Err(Error::Invalid("this model is open for reading only".to_owned()));
        };
        guarded(&self.path, || {
            let transaction = database.begin_write().map_err(failed(&self.path))?;
            write(&transaction)?;
            transaction.commit().map_err(failed(&self.path))
        })
    }

    pub(crate) fn damaged(&self, what: Damage) -> Error {
        Error::Damaged { path: self.path.clone(), what, help: "restore it from a backup" }
    }

    fn decode<T: DeserializeOwned>(&self, what: &str, bytes: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(bytes)
            .map_err(|e| self.damaged(Damage::Syntax(format!("{what}: {e}"))))
    }

    /// The digest of a content under the model's secret key.
    pub(crate) fn digest(&self, content: &Content) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in &content.parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(&encoded(part));
        }
        if let Role::Edit { prompt, weight } = content.role {
            hasher.update(&prompt.to_le_bytes()).update(&weight.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    pub(crate) fn document(&self, id: &str) -> Result<Option<Document>, Error> {
        self.reading(|read| {
            let table = read.open_table(DOCUMENTS).map_err(failed(&self.path))?;
            let found = table.get(id).map_err(failed(&self.path))?;
            found.map(|bytes| self.decode("a document", bytes.value())).transpose()
        })
    }

    /// All documents, by id.
    pub(crate) fn documents(&self) -> Result<Vec<Document>, Error> {
        self.reading(|read| {
            let table = read.open_table(DOCUMENTS).map_err(failed(&self.path))?;
            let mut documents = Vec::new();
            for entry in table.iter().map_err(failed(&self.path))? {
                let (_, bytes) = entry.map_err(failed(&self.path))?;
                documents.push(self.decode("a document", bytes.value())?);
            }
            Ok(documents)
        })
    }

    /// The content of a version whose tokens are there.
    pub(crate) fn content(&self, number: u64, version: &Version) -> Result<Content, Error> {
        self.reading(|read| {
            let table = read.open_table(TOKENS).map_err(failed(&self.path))?;
            let bytes = table.get((number, version.number)).map_err(failed(&self.path))?;
            let bytes =
                bytes.ok_or_else(|| self.damaged(Damage::Lacks("the tokens of a version")))?;
            let (tokens, rest) = bytes.value().as_chunks::<4>();
            let tokens: Vec<u32> = tokens.iter().map(|&token| u32::from_le_bytes(token)).collect();
            // Nothing at all, or parts with a mark between each two.
            let parts: Vec<Vec<u32>> = if version.parts.is_empty() {
                Vec::new()
            } else {
                tokens.split(|&token| token == CUT).map(<[u32]>::to_vec).collect()
            };
            let lens = parts.iter().map(|part| part.len() as u64);
            if !rest.is_empty() || !lens.eq(version.parts.iter().copied()) {
                return Err(
                    self.damaged(Damage::Unfitting("the number of a version's tokens".to_owned()))
                );
            }
            Ok(Content { parts, role: version.role })
        })
    }

    pub(crate) fn transaction(&self, id: u64) -> Result<Transaction, Error> {
        self.reading(|read| {
            let table = read.open_table(TRANSACTIONS).map_err(failed(&self.path))?;
            let found =
                table.get(id).map_err(failed(&self.path))?.ok_or(Error::NoTransaction(id))?;
            self.decode("a transaction", found.value())
        })
    }

    /// Transactions after number `after`, in order.
    pub(crate) fn transactions(&self, after: u64) -> Result<Vec<Transaction>, Error> {
        self.reading(|read| {
            let table = read.open_table(TRANSACTIONS).map_err(failed(&self.path))?;
            let mut transactions = Vec::new();
            for entry in table.range(after.saturating_add(1)..).map_err(failed(&self.path))? {
                let (_, bytes) = entry.map_err(failed(&self.path))?;
                transactions.push(self.decode("a transaction", bytes.value())?);
            }
            Ok(transactions)
        })
    }

    /// The number of the last transaction; 0 if there is none.
    pub(crate) fn last(&self) -> Result<u64, Error> {
        self.reading(|read| {
            let table = read.open_table(TRANSACTIONS).map_err(failed(&self.path))?;
            let last = table.last().map_err(failed(&self.path))?;
            Ok(last.map_or(0, |(id, _)| id.value()))
        })
    }

    /// The number that the next new document gets.
    pub(crate) fn next_number(&self) -> Result<u64, Error> {
        self.reading(|read| {
            let meta = read.open_table(META).map_err(failed(&self.path))?;
            let next = meta.get("next").map_err(failed(&self.path))?;
            Ok(next.and_then(|n| n.value().try_into().ok()).map_or(1, u64::from_le_bytes))
        })
    }

    /// Whether a forget was begun and is not finished.
    pub(crate) fn forgetting(&self) -> Result<bool, Error> {
        self.reading(|read| {
            let meta = read.open_table(META).map_err(failed(&self.path))?;
            Ok(meta.get(FORGETTING).map_err(failed(&self.path))?.is_some())
        })
    }

    /// The versions whose tokens are there: document number and version.
    pub(crate) fn versions_with_tokens(&self) -> Result<Vec<(u64, u32)>, Error> {
        self.reading(|read| {
            let table = read.open_table(TOKENS).map_err(failed(&self.path))?;
            let mut found = Vec::new();
            for entry in table.iter().map_err(failed(&self.path))? {
                found.push(entry.map_err(failed(&self.path))?.0.value());
            }
            Ok(found)
        })
    }

    /// Adds a transaction and what it changes, all or nothing, durably.
    pub(crate) fn commit(&self, transaction: &Transaction, changes: &Changes) -> Result<(), Error> {
        let mut next = self.next_number()?;
        self.writing(|change| {
            let mut table = change.open_table(DOCUMENTS).map_err(failed(&self.path))?;
            for document in &changes.documents {
                next = next.max(document.number + 1);
                let bytes = encode(document)?;
                table.insert(document.id.as_str(), &bytes[..]).map_err(failed(&self.path))?;
            }
            let mut meta = change.open_table(META).map_err(failed(&self.path))?;
            meta.insert("next", &next.to_le_bytes()[..]).map_err(failed(&self.path))?;
            if !transaction.scrub.is_empty() {
                meta.insert(FORGETTING, &[1][..]).map_err(failed(&self.path))?;
            }
            let mut table = change.open_table(TOKENS).map_err(failed(&self.path))?;
            for (number, version, content) in &changes.contents {
                table
                    .insert((*number, *version), &content.bytes()[..])
                    .map_err(failed(&self.path))?;
            }
            let mut table = change.open_table(TRANSACTIONS).map_err(failed(&self.path))?;
            for transaction in changes.transactions.iter().chain([transaction]) {
                table
                    .insert(transaction.id, &encode(transaction)?[..])
                    .map_err(failed(&self.path))?;
            }
            Ok(())
        })
    }

    /// Notes a copy that was made.
    pub(crate) fn add_copy(&self, copy: &Copy) -> Result<(), Error> {
        self.writing(|change| {
            let mut table = change.open_table(COPIES).map_err(failed(&self.path))?;
            let next = table.last().map_err(failed(&self.path))?.map_or(1, |(n, _)| n.value() + 1);
            table.insert(next, &encode(copy)?[..]).map_err(failed(&self.path))?;
            Ok(())
        })
    }

    pub(crate) fn copies(&self) -> Result<Vec<Copy>, Error> {
        self.reading(|read| {
            let table = read.open_table(COPIES).map_err(failed(&self.path))?;
            let mut copies = Vec::new();
            for entry in table.iter().map_err(failed(&self.path))? {
                let (_, bytes) = entry.map_err(failed(&self.path))?;
                copies.push(self.decode("a copy", bytes.value())?);
            }
            Ok(copies)
        })
    }

    /// Writes all that is alive into a new file: without the tokens of scrubbed versions, and with transactions and
    /// documents as `tidy` makes them.
    pub(crate) fn copy_to(
        &self,
        path: &Path,
        scrub: &HashSet<(u64, u32)>,
        tidy: impl Fn(&mut Transaction),
        tidy_document: impl Fn(&mut Document),
    ) -> Result<(), Error> {
        let _ = std::fs::remove_file(path);
        self.reading(|read| {
            let database = builder().create(path).map_err(failed(path))?;
            let change = database.begin_write().map_err(failed(path))?;
            {
                let from = read.open_table(META).map_err(failed(&self.path))?;
                let mut to = change.open_table(META).map_err(failed(path))?;
                for entry in from.iter().map_err(failed(&self.path))? {
                    let (key, value) = entry.map_err(failed(&self.path))?;
                    // The copy is what finishes a forget.
                    if key.value() != FORGETTING {
                        to.insert(key.value(), value.value()).map_err(failed(path))?;
                    }
                }
                let from = read.open_table(DOCUMENTS).map_err(failed(&self.path))?;
                let mut to = change.open_table(DOCUMENTS).map_err(failed(path))?;
                for entry in from.iter().map_err(failed(&self.path))? {
                    let (key, value) = entry.map_err(failed(&self.path))?;
                    let mut document: Document = self.decode("a document", value.value())?;
                    tidy_document(&mut document);
                    to.insert(key.value(), &encode(&document)?[..]).map_err(failed(path))?;
                }
                let from = read.open_table(TOKENS).map_err(failed(&self.path))?;
                let mut to = change.open_table(TOKENS).map_err(failed(path))?;
                for entry in from.iter().map_err(failed(&self.path))? {
                    let (key, value) = entry.map_err(failed(&self.path))?;
                    if !scrub.contains(&key.value()) {
                        to.insert(key.value(), value.value()).map_err(failed(path))?;
                    }
                }
                let from = read.open_table(TRANSACTIONS).map_err(failed(&self.path))?;
                let mut to = change.open_table(TRANSACTIONS).map_err(failed(path))?;
                for entry in from.iter().map_err(failed(&self.path))? {
                    let (key, value) = entry.map_err(failed(&self.path))?;
                    let mut transaction: Transaction =
                        self.decode("a transaction", value.value())?;
                    tidy(&mut transaction);
                    to.insert(key.value(), &encode(&transaction)?[..]).map_err(failed(path))?;
                }
                let from = read.open_table(COPIES).map_err(failed(&self.path))?;
                let mut to = change.open_table(COPIES).map_err(failed(path))?;
                for entry in from.iter().map_err(failed(&self.path))? {
                    let (key, value) = entry.map_err(failed(&self.path))?;
                    to.insert(key.value(), value.value()).map_err(failed(path))?;
                }
            }
            change.commit().map_err(failed(path))
        })
    }

    /// Puts a file that [`Ledger::copy_to`] wrote in this one's place.
    pub(crate) fn replace_by(&mut self, path: &Path) -> Result<(), Error> {
        self.close();
        let renamed = files::rename(path, &self.path);
        *self = Self::open(&self.path)?;
        renamed
    }

    /// Closes the database. One that is damaged may panic even at that.
    fn close(&mut self) {
        let database = std::mem::replace(&mut self.database, Base::Closed);
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| drop(database)));
    }

    /// Checks the database itself. True if nothing had to be repaired.
    pub(crate) fn check(&mut self) -> Result<bool, Error> {
        let path = &self.path;
        match &mut self.database {
            Base::Writing(database) => {
                guarded(path, || database.check_integrity().map_err(failed(path)))
            }
            _ => Ok(true),
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.close();
    }
}

/// The database may keep this many bytes of itself in memory; its own default is a GiB.
fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(128 << 20);
    builder
}

fn encode(record: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(record).map_err(|e| Error::Invalid(e.to_string()))
}

/// Uses a database. One that is damaged in a way its library does not foresee is refused all the same.
fn guarded<T>(path: &Path, use_it: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // What a panic leaves behind is a transaction that was not committed.
    std::panic::catch_unwind(AssertUnwindSafe(use_it)).unwrap_or_else(|_| {
        Err(Error::Damaged {
            path: path.to_owned(),
            what: Damage::Database,
            help: "restore it from a backup",
        })
    })
}

fn failed<E: Into<redb::Error>>(path: &Path) -> impl FnOnce(E) -> Error {
    let path = path.to_owned();
    move |error| Error::Ledger { path, reason: Box::new(error.into()) }
}
