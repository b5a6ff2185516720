//! The store: a model directory open for writing.

use crate::build::{PIECE, latest};
use crate::checkpoint;
use crate::damage::Damage;
use crate::engine::Engine;
use crate::error::{Error, io};
use crate::files;
use crate::ledger::Ledger;
use crate::lock::Lock;
use crate::model::{Model, NewModel};
use crate::record::{Document, Transaction};
use crate::watch::{Step, Watch};
use memo::readout::Scratch;
use memo::sparse::Digest;
use memo_text::Tokenizer;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Tokens that opening may have to write again before it is felt. With more, closing and opening write a checkpoint.
const FELT: u64 = 500_000;

/// A model open for writing. There is one of these at a time.
pub struct Store {
    pub(crate) directory: PathBuf,
    pub(crate) model: Model,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) ledger: Ledger,
    pub(crate) memory: Engine,
    /// The last transaction that the memory contains.
    pub(crate) applied: u64,
    /// Positions written since the last checkpoint.
    pub(crate) pending: u64,
    /// Bytes of a memory that are made at once, if there are many more.
    pub(crate) piece: usize,
    pub(crate) watch: Watch,
    _lock: Lock,
}

impl Store {
    /// Makes a model where nothing is yet.
    pub fn create(directory: &Path, new: &NewModel) -> Result<Self, Error> {
        Self::create_filled(directory, new, |_| Ok::<_, Error>(()))?;
        Self::open(directory)
    }

    /// Makes a model where nothing is yet, with all that `fill` puts into it, or none at all.
    pub fn create_filled<T, E: From<Error>>(
        directory: &Path,
        new: &NewModel,
        fill: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let model = new.model()?;
        if directory.exists() {
            return Err(Error::Exists { path: directory.to_owned() }.into());
        }
        let beside = files::unfinished_directory(directory);
        let _ = std::fs::remove_dir_all(&beside);
        let made = Self::make(&beside, &model, new).map_err(E::from).and_then(|mut store| {
            let filled = fill(&mut store)?;
            store.close()?;
            files::rename(&beside, directory)?;
            Ok(filled)
        });
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&beside);
        }
        made
    }

    fn make(directory: &Path, model: &Model, new: &NewModel) -> Result<Self, Error> {
        std::fs::create_dir_all(directory).map_err(io(directory))?;
        private(directory)?;
        if let Some(json) = new.tokenizer.to_json()? {
            files::write_bytes(&directory.join("tokenizer.json"), json.as_bytes())?;
        }
        Ledger::create(&directory.join("ledger.redb"))?;
        model.write(directory)?;
        Self::open(directory)
    }

    /// Opens a model for writing. Finishes a forget that was interrupted.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        Self::open_with(directory, |model| latest(directory, model))
    }

    /// Opens a model for writing without reading its checkpoint, which may be damaged: the memory is made again from
    /// the ledger, and a new checkpoint written.
    pub fn open_anew(directory: &Path) -> Result<Self, Error> {
        let mut store = Self::open_with(directory, |model| Ok((Engine::new(model)?, 0)))?;
        store.checkpoint()?;
        Ok(store)
    }

    fn open_with(
        directory: &Path,
        memory: impl FnOnce(&Model) -> Result<(Engine, u64), Error>,
    ) -> Result<Self, Error> {
        let model = Model::read(directory)?;
        if model.frozen.is_some() {
            let why = "is frozen: it can be read, but not changed";
            return Err(Error::Invalid(format!("{} {why}", directory.display())));
        }
        let lock = Lock::exclusive(directory)?;
        // Another writer may have changed its sizes until now.
        let model = Model::read(directory)?;
        files::remove_unfinished(directory)?;
        let tokenizer = model.tokenizer(directory)?;
        let ledger = Ledger::open(&directory.join("ledger.redb"))?;
        let (memory, applied) = memory(&model)?;
        let directory = directory.to_owned();
        let mut store = Store {
            directory,
            model,
            tokenizer,
            ledger,
            memory,
            applied,
            pending: 0,
            piece: PIECE,
            watch: Watch::default(),
            _lock: lock,
        };
        store.catch_up()?;
        store.finish_forgets()?;
        // A full disk must not keep a sound model from being opened.
        let _ = store.checkpoint_if(FELT);
        Ok(store)
    }

    /// Has a memory of more than twice as many bytes made in pieces of this size when much text comes. Half a GiB if
    /// nothing is said.
    pub fn set_piece(&mut self, bytes: usize) {
        self.piece = bytes.max(1 << 16);
    }

    /// Has someone told how far long work is, who may end it by [`ControlFlow::Break`]: nothing has changed then.
    pub fn watch(&mut self, watcher: impl Fn(Step) -> ControlFlow<()> + Send + Sync + 'static) {
        self.watch = Watch::new(watcher);
    }

    /// What the model is.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Its memory.
    pub fn memory(&self) -> &Engine {
        &self.memory
    }

    /// The digest of the memory. That of a dense one, whose floats depend on the order of sums, is taken of what it is
    /// a function of: its configuration and the contents of its live documents, in any order.
    pub fn digest(&mut self) -> Result<Digest, Error> {
        self.whole()?;
        if let Engine::Sparse(memory) = &mut self.memory {
            return Ok(memory.digest()?);
        }
        let mut contents = Vec::new();
        for document in self.ledger.documents()? {
            let Some(place) = document.place.filter(|place| place.live) else { continue };
            let version = document.versions.iter().find(|v| v.number == place.version);
            if let Some(version) = version {
                contents.push(self.ledger.content(document.number, version)?.hash());
            }
        }
        contents.sort_unstable();
        let sizes = serde_json::to_vec(&self.model.memory);
        let sizes = sizes.map_err(|e| Error::Invalid(e.to_string()))?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"memo dense 1").update(&sizes).update(contents.as_flattened());
        Ok(Digest(*hasher.finalize().as_bytes()))
    }

    /// All documents that were ever here, by id.
    pub fn documents(&self) -> Result<Vec<Document>, Error> {
        self.ledger.documents()
    }

    /// One document.
    pub fn document(&self, id: &str) -> Result<Document, Error> {
        self.ledger.document(id)?.ok_or_else(|| Error::NoDocument(id.to_owned()))
    }

    /// The text of a document as it is now, or of one of its versions. Where text was cut out, parts are on lines of
    /// their own.
    pub fn text(&self, id: &str, version: Option<u32>) -> Result<String, Error> {
        let document = self.document(id)?;
        let state = |why: &str| Error::State { id: id.to_owned(), why: why.to_owned() };
        let number = version
            .or(document.place.map(|place| place.version))
            .ok_or_else(|| state("has no version now"))?;
        let version = document
            .versions
            .iter()
            .find(|version| version.number == number)
            .ok_or_else(|| state(&format!("has no version {number}")))?;
        if let Some(transaction) = version.forgotten {
            return Err(state(&format!("was forgotten in transaction {transaction}")));
        }
        let content = self.ledger.content(document.number, version)?;
        let parts: Vec<String> =
            content.parts.iter().map(|part| self.tokenizer.decode_lossy(part)).collect();
        Ok(parts.join("\n"))
    }

    /// All transactions, in order.
    pub fn log(&self) -> Result<Vec<Transaction>, Error> {
        self.ledger.transactions(0)
    }

    /// The transactions that changed a document, in order.
    pub fn trace(&self, id: &str) -> Result<Vec<Transaction>, Error> {
        let document = self.document(id)?;
        let touched = |t: &Transaction| t.ops.iter().any(|op| op.number == document.number);
        Ok(self.log()?.into_iter().filter(touched).collect())
    }

    /// Continues a prompt by the most probable tokens, up to the end of a document.
    pub fn complete(&self, prompt: &str, tokens: usize) -> Result<String, Error> {
        self.whole()?;
        complete(&self.memory, &self.tokenizer, prompt, tokens)
    }

    /// Refuses if the memory lacks a transaction that was recorded: cells that it touches turned out to be damaged.
    pub(crate) fn whole(&self) -> Result<(), Error> {
        if self.ledger.last()? == self.applied {
            return Ok(());
        }
        Err(self.lacking("its checkpoint is damaged"))
    }

    pub(crate) fn lacking(&self, why: impl std::fmt::Display) -> Error {
        let what = Damage::Behind(why.to_string());
        Error::Damaged { path: self.directory.clone(), what, help: checkpoint::HELP }
    }

    /// Writes a checkpoint, and removes older ones.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        self.whole()?;
        // A dense memory has none: building it is how it is opened.
        let Engine::Sparse(memory) = &mut self.memory else { return Ok(()) };
        let kept = checkpoint::write(&self.directory, memory, self.applied, &self.watch)?;
        checkpoint::keep_only(&self.directory, &kept)?;
        self.pending = 0;
        Ok(())
    }

    /// Writes a checkpoint if opening without it would be felt. Dropping a store does the same, but cannot say if that
    /// fails; nothing acknowledged is lost either way.
    pub fn close(mut self) -> Result<(), Error> {
        self.checkpoint_if(FELT)
    }

    pub(crate) fn checkpoint_if(&mut self, tokens: u64) -> Result<(), Error> {
        if self.pending > tokens { self.checkpoint() } else { Ok(()) }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Without it, opening takes longer; that is all. A panic may have left the memory in the middle of something.
        if !std::thread::panicking() {
            let _ = self.checkpoint_if(FELT);
        }
    }
}

/// Continues a prompt by the most probable tokens.
pub(crate) fn complete(
    memory: &Engine,
    tokenizer: &Tokenizer,
    prompt: &str,
    tokens: usize,
) -> Result<String, Error> {
    let mut text = tokenizer.encode(prompt)?;
    let made = text.len();
    let mut scratch = Scratch::default();
    while text.len() < made + tokens {
        let token = memory.best(&text, &mut scratch)?;
        if token == tokenizer.eos() {
            break;
        }
        text.push(token);
    }
    Ok(tokenizer.decode_lossy(&text[made..]))
}

/// Lets nobody else look into a directory.
pub(crate) fn private(directory: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(directory, mode).map_err(io(directory))?;
    }
    let _ = directory;
    Ok(())
}
