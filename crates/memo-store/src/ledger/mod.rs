//! The ledger: documents, tokens and transactions in one transactional database. It is the truth.

mod content;
mod database;

pub(crate) use self::content::Content;
use self::database::{Durability, LedgerDatabase, Table, damaged};
use crate::damage::Damage;
use crate::error::Error;
use crate::files;
use crate::lock::SnapshotLock;
use crate::record::{CopyRecord, DocumentRecord, Role, TransactionRecord, VersionRecord};
use redb::ReadableTable;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::path::Path;

const META: Table<&str> = Table::new("meta");
const DOCUMENTS: Table<&str> = Table::new("documents");
const TOKENS: Table<(u64, u32)> = Table::new("tokens");
const TRANSACTIONS: Table<u64> = Table::new("transactions");
const COPIES: Table<u64> = Table::new("copies");

/// Keys in [`META`]: the model's secret, the number of the next document, and a mark while a forget is not finished.
const KEY: &str = "key";
const NEXT: &str = "next";
const FORGETTING: &str = "forgetting";

/// The key of a mark that there is, or was, a graph or rules: without it nobody needs to look for one.
const KNOWS: &str = "knows";

/// The ledger's file in a model directory.
pub(crate) const FILE: &str = "ledger.redb";

/// The ledger of a model.
pub(crate) struct Ledger {
    database: LedgerDatabase,
    /// The secret under which contents are hashed: without it a digest cannot be matched to a guessed text.
    key: [u8; 32],
}

/// What a commit writes.
pub(crate) struct Commit<'a> {
    pub(crate) transaction: &'a TransactionRecord,
    pub(crate) documents: &'a [&'a DocumentRecord],
    /// Contents of new versions: document number, version, content.
    pub(crate) contents: &'a [(u64, u32, &'a Content)],
    /// Earlier transactions that changed: those that were rolled back.
    pub(crate) earlier: &'a [TransactionRecord],
}

impl Ledger {
    /// Makes an empty ledger.
    pub(crate) fn create(directory: &Path) -> Result<(), Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|e| Error::Invalid(format!("no random numbers: {e}")))?;
        LedgerDatabase::create(&directory.join(FILE))?.write(Durability::Synced, |change| {
            change.open_table(META)?.insert(KEY, &key[..])?;
            change.open_table(DOCUMENTS)?;
            change.open_table(TOKENS)?;
            change.open_table(TRANSACTIONS)?;
            change.open_table(COPIES)?;
            Ok(())
        })
    }

    /// Opens the ledger of a directory for writing.
    pub(crate) fn open(directory: &Path) -> Result<Self, Error> {
        Self::of(LedgerDatabase::open(&directory.join(FILE))?)
    }

    /// Opens a copy of a directory's ledger, to be read. Nobody may write to the ledger meanwhile.
    pub(crate) fn copy(directory: &Path) -> Result<Self, Error> {
        Self::of(LedgerDatabase::copy(&directory.join(FILE))?)
    }

    fn of(database: LedgerDatabase) -> Result<Self, Error> {
        let key = database.get(META, KEY)?.and_then(|key| key.try_into().ok());
        let key = key.ok_or_else(|| damaged(&database.path, Damage::Lacks("its key")))?;
        Ok(Ledger { database, key })
    }

    /// The ledger as it is now, to be read while it changes.
    pub(crate) fn pinned(&self) -> Result<Self, Error> {
        Ok(Ledger { database: self.database.pinned()?, key: self.key })
    }

    pub(crate) fn damaged(&self, what: Damage) -> Error {
        damaged(&self.database.path, what)
    }

    fn decode<T: DeserializeOwned>(&self, what: &str, bytes: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(bytes)
            .map_err(|e| self.damaged(Damage::Syntax(format!("{what}: {e}"))))
    }

    fn decode_all<T: DeserializeOwned>(
        &self,
        what: &str,
        values: &[Vec<u8>],
    ) -> Result<Vec<T>, Error> {
        values.iter().map(|bytes| self.decode(what, bytes)).collect()
    }

    /// The digest of a content under the model's secret key.
    pub(crate) fn digest(&self, content: &Content) -> String {
        content.digest(&self.key)
    }

    pub(crate) fn document(&self, id: &str) -> Result<Option<DocumentRecord>, Error> {
        let found = self.database.get(DOCUMENTS, id)?;
        found.map(|bytes| self.decode("a document", &bytes)).transpose()
    }

    /// All documents, by id.
    pub(crate) fn documents(&self) -> Result<Vec<DocumentRecord>, Error> {
        self.decode_all("a document", &self.database.values(DOCUMENTS)?)
    }

    /// The content of a version whose tokens are there. Tokens that are not those that were recorded are refused.
    pub(crate) fn content(
        &self,
        document: &DocumentRecord,
        version: &VersionRecord,
    ) -> Result<Content, Error> {
        let bad = || {
            let (document, version) = (document.id.clone(), version.number);
            self.damaged(Damage::Tokens { document, version })
        };
        let bytes =
            self.database.get(TOKENS, (document.number, version.number))?.ok_or_else(bad)?;
        let content = Content::from_bytes(&bytes, &version.parts, version.role).ok_or_else(bad)?;
        if self.digest(&content) == version.digest { Ok(content) } else { Err(bad()) }
    }

    /// The content of a version; `None` if its tokens are damaged.
    pub(crate) fn sound_content(
        &self,
        document: &DocumentRecord,
        version: &VersionRecord,
    ) -> Result<Option<Content>, Error> {
        match self.content(document, version) {
            Ok(content) => Ok(Some(content)),
            Err(error) => error.damaged_tokens().map(|_| None),
        }
    }

    /// The error that names all versions whose tokens are damaged.
    pub(crate) fn all_damaged(&self) -> Result<Error, Error> {
        let mut all = Vec::new();
        for document in self.documents()? {
            for version in document.versions.iter().filter(|v| v.forgotten.is_none()) {
                if let Err(error) = self.content(&document, version) {
                    all.push(error.damaged_tokens()?.to_string());
                }
            }
        }
        Ok(self.damaged(Damage::Several(all)))
    }

    /// The number of tokens of all live documents.
    pub(crate) fn live_tokens(&self) -> Result<u64, Error> {
        let documents = self.documents()?;
        Ok(documents.iter().filter_map(DocumentRecord::live).map(|version| version.tokens).sum())
    }

    /// Refuses if the tokens of any version that is kept are not those that were recorded.
    pub(crate) fn check_contents(&self) -> Result<(), Error> {
        for document in self.documents()? {
            for version in document.versions.iter().filter(|v| v.forgotten.is_none()) {
                self.content(&document, version)?;
            }
        }
        Ok(())
    }

    pub(crate) fn transaction(&self, id: u64) -> Result<TransactionRecord, Error> {
        let found = self.database.get(TRANSACTIONS, id)?.ok_or(Error::NoTransaction(id))?;
        self.decode("a transaction", &found)
    }

    /// Transactions after number `after`, in order.
    pub(crate) fn transactions(&self, after: u64) -> Result<Vec<TransactionRecord>, Error> {
        self.decode_all("a transaction", &self.database.values_after(TRANSACTIONS, after)?)
    }

    /// The number of the last transaction; 0 if there is none.
    pub(crate) fn last(&self) -> Result<u64, Error> {
        Ok(self.database.last(TRANSACTIONS)?.unwrap_or(0))
    }

    /// The number that the next new document gets.
    pub(crate) fn next_number(&self) -> Result<u64, Error> {
        let next = self.database.get(META, NEXT)?;
        Ok(next.and_then(|n| n.try_into().ok()).map_or(1, u64::from_le_bytes))
    }

    /// Whether a forget was begun and is not finished.
    pub(crate) fn forgetting(&self) -> Result<bool, Error> {
        Ok(self.database.get(META, FORGETTING)?.is_some())
    }

    /// Whether a document is, or was, a graph or rules.
    pub(crate) fn knows(&self) -> Result<bool, Error> {
        Ok(self.database.get(META, KNOWS)?.is_some())
    }

    /// The versions whose tokens are there: document number and version.
    pub(crate) fn versions_with_tokens(&self) -> Result<Vec<(u64, u32)>, Error> {
        self.database.version_keys(TOKENS)
    }

    /// Keeps readers from copying the file while it is written.
    fn lock(&self) -> Result<SnapshotLock, Error> {
        SnapshotLock::exclusive(self.database.path.parent().unwrap_or(Path::new(".")))
    }

    /// Adds a transaction and what it changes, all or nothing, durably.
    pub(crate) fn commit(&self, commit: &Commit<'_>) -> Result<(), Error> {
        self.commit_as(commit, Durability::Synced)
    }

    /// Adds a transaction and what it changes. It is on the disk, with all others, after the next one that is durable, or after [`sync`](Self::sync).
    pub(crate) fn commit_unsynced(&self, commit: &Commit<'_>) -> Result<(), Error> {
        self.commit_as(commit, Durability::Unsynced)
    }

    /// Waits until the disk has all that was committed.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let _lock = self.lock()?;
        self.database.write(Durability::Synced, |_| Ok(()))
    }

    fn commit_as(&self, commit: &Commit<'_>, durability: Durability) -> Result<(), Error> {
        let Commit { transaction, documents, contents, earlier } = commit;
        let next = documents.iter().map(|document| document.number + 1);
        let next = next.fold(self.next_number()?, u64::max);
        let transactions: Vec<(u64, Vec<u8>)> =
            encode_all(earlier.iter().chain([*transaction]), |t| t.id)?;
        let documents: Vec<(&str, Vec<u8>)> =
            encode_all(documents.iter().copied(), |d| d.id.as_str())?;
        let roles = contents.iter().map(|(_, _, content)| content.role);
        let knows = { roles }.any(|role| matches!(role, Role::Graph | Role::Rules));
        let contents = contents.iter();
        let contents: Vec<((u64, u32), Vec<u8>)> =
            contents.map(|(n, version, content)| ((*n, *version), content.to_bytes())).collect();
        let _lock = self.lock()?;
        self.database.write(durability, |change| {
            let mut table = change.open_table(DOCUMENTS)?;
            for (id, bytes) in &documents {
                table.insert(*id, &bytes[..])?;
            }
            let mut meta = change.open_table(META)?;
            meta.insert(NEXT, &next.to_le_bytes()[..])?;
            if !transaction.scrub.is_empty() {
                meta.insert(FORGETTING, &[1][..])?;
            }
            if knows {
                meta.insert(KNOWS, &[1][..])?;
            }
            let mut table = change.open_table(TOKENS)?;
            for (key, bytes) in &contents {
                table.insert(*key, &bytes[..])?;
            }
            let mut table = change.open_table(TRANSACTIONS)?;
            for (id, bytes) in &transactions {
                table.insert(*id, &bytes[..])?;
            }
            Ok(())
        })
    }

    /// Opens the file again after a write to it failed: until then the library refuses even to read. Where that needs room
    /// that is not there, or others still read from the file, a copy is read.
    pub(crate) fn reopen(&mut self) {
        let path = self.database.path.clone();
        self.database.close();
        if let Ok(opened) = LedgerDatabase::open(&path).or_else(|_| LedgerDatabase::copy(&path)) {
            self.database = opened;
        }
    }

    /// Opens the file again if a copy is read in its place, because it could not be opened after a write failed.
    pub(crate) fn reopen_to_write(&mut self) {
        if self.database.is_copy() {
            self.reopen();
        }
    }

    /// Has every sync fail after all was written, until the file is opened again.
    #[cfg(test)]
    pub(crate) fn refuse_syncs(&mut self) {
        self.database.refuse_syncs();
    }

    /// Records a copy that was made.
    pub(crate) fn add_copy(&self, copy: &CopyRecord) -> Result<(), Error> {
        let bytes = encode(copy)?;
        let _lock = self.lock()?;
        self.database.write(Durability::Synced, |change| {
            let mut table = change.open_table(COPIES)?;
            let next = table.last()?.map_or(1, |(number, _)| number.value() + 1);
            table.insert(next, &bytes[..])?;
            Ok(())
        })
    }

    /// Makes the ledger of a backup, which nobody has opened yet, one that knows its original. The last copy that it
    /// knows of is itself.
    pub(crate) fn make_copy(directory: &Path, original: &CopyRecord) -> Result<(), Error> {
        let bytes = encode(original)?;
        LedgerDatabase::open(&directory.join(FILE))?.write(Durability::Synced, |change| {
            let mut table = change.open_table(COPIES)?;
            let own = table.pop_last()?.map_or(1, |(number, _)| number.value());
            table.insert(own, &bytes[..])?;
            Ok(())
        })
    }

    pub(crate) fn copies(&self) -> Result<Vec<CopyRecord>, Error> {
        self.decode_all("a copy", &self.database.values(COPIES)?)
    }

    /// Writes all that is alive into a new file: without the tokens of scrubbed versions, and with transactions and
    /// documents as `tidy` makes them. The new file has no unfinished forget.
    pub(crate) fn copy_to(
        &self,
        path: &Path,
        scrub: &HashSet<(u64, u32)>,
        tidy: impl Fn(&mut DocumentRecord),
        tidy_transaction: impl Fn(&mut TransactionRecord),
    ) -> Result<(), Error> {
        let _ = std::fs::remove_file(path);
        let mut documents = self.documents()?;
        documents.iter_mut().for_each(tidy);
        let documents = encode_all(documents.iter(), |document| document.id.as_str())?;
        let mut transactions = self.transactions(0)?;
        transactions.iter_mut().for_each(tidy_transaction);
        let transactions = encode_all(transactions.iter(), |transaction| transaction.id)?;
        let meta = self.database.named(META)?;
        let copies = self.database.values(COPIES)?;
        // The error of reading tokens, which happens inside of writing them.
        let mut unread = Ok(());
        let written = LedgerDatabase::create(path)?.write(Durability::Synced, |change| {
            let mut table = change.open_table(META)?;
            for (name, value) in meta.iter().filter(|(name, _)| name != FORGETTING) {
                table.insert(name.as_str(), &value[..])?;
            }
            let mut table = change.open_table(DOCUMENTS)?;
            for (id, bytes) in &documents {
                table.insert(*id, &bytes[..])?;
            }
            let mut table = change.open_table(TOKENS)?;
            unread = self.database.each_version(TOKENS, |key, bytes| {
                if !scrub.contains(&key) {
                    table.insert(key, bytes)?;
                }
                Ok(())
            });
            let mut table = change.open_table(TRANSACTIONS)?;
            for (id, bytes) in &transactions {
                table.insert(*id, &bytes[..])?;
            }
            let mut table = change.open_table(COPIES)?;
            for (number, bytes) in (1..).zip(&copies) {
                table.insert(number, &bytes[..])?;
            }
            Ok(())
        });
        unread.and(written)
    }

    /// Puts a file that [`Ledger::copy_to`] wrote in this one's place.
    pub(crate) fn replace_by(&mut self, path: &Path) -> Result<(), Error> {
        let lock = self.lock()?;
        self.database.close();
        let renamed = files::rename(path, &self.database.path);
        self.database = LedgerDatabase::open(&self.database.path)?;
        drop(lock);
        renamed
    }

    /// Checks the structure and all checksums of a directory's ledger file. True if nothing had to be repaired.
    pub(crate) fn check(directory: &Path) -> Result<bool, Error> {
        LedgerDatabase::copy(&directory.join(FILE))?.check()
    }
}

fn encode(record: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(record).map_err(|e| Error::Invalid(e.to_string()))
}

/// The stored form of records, each with its key.
fn encode_all<'a, R: Serialize + 'a, K>(
    records: impl Iterator<Item = &'a R>,
    key: impl Fn(&'a R) -> K,
) -> Result<Vec<(K, Vec<u8>)>, Error> {
    records.map(|record| Ok((key(record), encode(record)?))).collect()
}
