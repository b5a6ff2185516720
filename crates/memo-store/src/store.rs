//! The store: a model directory open for writing.

use crate::checkpoint::{self, Checkpoint};
use crate::damage::Damage;
use crate::engine::Engine;
use crate::error::{Error, io};
use crate::files;
use crate::ledger::{Changes, Content, Ledger};
use crate::lock::Lock;
use crate::model::{Model, NewModel, Sizes};
use crate::record::{Document, Kind, Op, Place, Transaction};
use memo::readout::Scratch;
use memo::sparse::{Digest, Settings, Size};
use memo_text::Tokenizer;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Tokens that opening may have to write again before it is felt. With more, closing and opening write a checkpoint.
const FELT: u64 = 500_000;

/// Tokens after which a checkpoint is written at once: writing them again would take several seconds.
const PATIENCE: u64 = 10_000_000;

/// A model open for writing. There is one of these at a time.
pub struct Store {
    pub(crate) directory: PathBuf,
    pub(crate) model: Model,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) ledger: Ledger,
    pub(crate) memory: Engine,
    /// The last transaction that the memory contains.
    pub(crate) applied: u64,
    /// Tokens written since the last checkpoint.
    pub(crate) pending: u64,
    _lock: Lock,
}

/// What a document is to become, and its content if that is new.
pub(crate) struct Change {
    pub(crate) document: Document,
    pub(crate) before: Option<Place>,
    pub(crate) content: Option<Content>,
}

impl Store {
    /// Makes a model where nothing is yet.
    pub fn create(directory: &Path, new: &NewModel) -> Result<Self, Error> {
        let model = new.model()?;
        if directory.exists() {
            return Err(Error::Exists { path: directory.to_owned() });
        }
        // Made beside its place, so that a model is there whole or not at all.
        let beside = files::unfinished_directory(directory);
        let _ = std::fs::remove_dir_all(&beside);
        std::fs::create_dir_all(&beside).map_err(io(&beside))?;
        private(&beside)?;
        if let Some(json) = new.tokenizer.to_json()? {
            files::write_bytes(&beside.join("tokenizer.json"), json.as_bytes())?;
        }
        Ledger::create(&beside.join("ledger.redb"))?;
        model.write(&beside)?;
        files::rename(&beside, directory)?;
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
        let mut store =
            Store { directory, model, tokenizer, ledger, memory, applied, pending: 0, _lock: lock };
        store.pending = replay(&store.ledger, &store.model, &mut store.memory, &mut store.applied)?;
        store.finish_forgets()?;
        // A full disk must not keep a sound model from being opened.
        let _ = store.checkpoint_if(FELT);
        Ok(store)
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

    fn lacking(&self, why: impl std::fmt::Display) -> Error {
        let what = Damage::Behind(why.to_string());
        Error::Damaged { path: self.directory.clone(), what, help: checkpoint::HELP }
    }

    /// Writes a checkpoint, and removes older ones.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        self.whole()?;
        // A dense memory has none: building it is how it is opened.
        let Engine::Sparse(memory) = &mut self.memory else { return Ok(()) };
        let kept = checkpoint::write(&self.directory, memory, self.applied)?;
        for (_, path) in checkpoint::list(&self.directory)? {
            if path != kept {
                std::fs::remove_file(&path).map_err(io(&path))?;
            }
        }
        self.pending = 0;
        Ok(())
    }

    /// Writes a checkpoint if opening without it would be felt. Dropping a store does the same, but cannot say if that
    /// fails; nothing acknowledged is lost either way.
    pub fn close(mut self) -> Result<(), Error> {
        self.checkpoint_if(FELT)
    }

    fn checkpoint_if(&mut self, tokens: u64) -> Result<(), Error> {
        if self.pending > tokens { self.checkpoint() } else { Ok(()) }
    }

    /// Makes the memory again from the ledger, with other sizes if they are given.
    pub fn rebuild(&mut self, size: Option<Size>) -> Result<(), Error> {
        let mut model = self.model.clone();
        if let Some(size) = size {
            let settings = model.need_sparse("another size")?;
            model.memory = Sizes::Sparse(resized(settings, size)?);
        }
        // Nothing changes before the memory is there: a size that this machine does not have must not stick.
        let mut memory = Engine::new(&model)?;
        write_live(&self.ledger, &mut memory)?;
        let last = self.ledger.last()?;
        let before = (
            std::mem::replace(&mut self.memory, memory),
            std::mem::replace(&mut self.applied, last),
        );
        // A kill between the two leaves a checkpoint that does not fit; opening then begins from nothing, and is right.
        let done = self
            .checkpoint()
            .and_then(|()| if model == self.model { Ok(()) } else { model.write(&self.directory) });
        if done.is_ok() {
            self.model = model;
        } else {
            (self.memory, self.applied) = before;
        }
        done
    }

    /// Records changes as one transaction, and makes them in the memory.
    pub(crate) fn transact(
        &mut self,
        kind: Kind,
        reason: Option<&str>,
        changes: Vec<Change>,
        complete: impl FnOnce(&mut Transaction, &mut Changes) -> Result<(), Error>,
    ) -> Result<Transaction, Error> {
        self.whole()?;
        let id = self.applied + 1;
        let mut recorded = Changes::default();
        let mut ops = Vec::new();
        for Change { document, before, content } in changes {
            let number = document.number;
            ops.push(Op { document: document.id.clone(), number, before, after: document.place });
            if let (Some(content), Some(version)) = (content, document.versions.last()) {
                recorded.contents.push((number, version.number, content));
            }
            recorded.documents.push(document);
        }
        let mut transaction = Transaction {
            id,
            time: files::now(),
            kind,
            reason: reason.map(str::to_owned),
            ops,
            undoes: None,
            undone_by: None,
            forgotten: Vec::new(),
            scrub: Vec::new(),
            scrub_texts: Vec::new(),
        };
        complete(&mut transaction, &mut recorded)?;
        self.ledger.commit(&transaction, &recorded)?;
        let known: HashMap<(u64, u32), Content> = recorded
            .contents
            .into_iter()
            .map(|(number, version, content)| ((number, version), content))
            .collect();
        let written = apply(&self.ledger, &self.model, &mut self.memory, &transaction.ops, &known)
            .map_err(|error| self.lacking(error))?;
        self.pending += written;
        self.applied = id;
        if kind != Kind::Forget {
            // The transaction is done, whether there is room for a checkpoint or not.
            let _ = self.checkpoint_if(PATIENCE);
        }
        Ok(transaction)
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

/// The memory of the newest checkpoint that fits, or an empty one.
pub(crate) fn latest(directory: &Path, model: &Model) -> Result<(Engine, u64), Error> {
    match newest(directory, model)? {
        Some(found) => Ok(found),
        None => Ok((Engine::new(model)?, 0)),
    }
}

/// The memory of the newest checkpoint that fits, and the last transaction that it contains.
pub(crate) fn newest(directory: &Path, model: &Model) -> Result<Option<(Engine, u64)>, Error> {
    let (Some(settings), bits) = (model.sparse(), model.frozen) else { return Ok(None) };
    for (_, path) in checkpoint::list(directory)? {
        let checkpoint = match Checkpoint::open(&path) {
            // A writer may have removed it since it was listed.
            Err(Error::Io { reason, .. }) if reason.kind() == std::io::ErrorKind::NotFound => {
                return newest(directory, model);
            }
            opened => opened?,
        };
        if checkpoint.settings() == settings && checkpoint.bits() == bits {
            let memory = Engine::Sparse(Box::new(checkpoint.memory()?));
            return Ok(Some((memory, checkpoint.transaction())));
        }
    }
    Ok(None)
}

/// Brings a memory up to the ledger's last transaction; returns how many tokens that took.
pub(crate) fn replay(
    ledger: &Ledger,
    model: &Model,
    memory: &mut Engine,
    applied: &mut u64,
) -> Result<u64, Error> {
    if ledger.last()? < *applied {
        return Err(ledger.damaged(Damage::Older));
    }
    let transactions = ledger.transactions(*applied)?;
    let Some(last) = transactions.last().map(|transaction| transaction.id) else { return Ok(0) };
    if *applied == 0 {
        // From nothing: all that counts is what is live now. Texts that came and went may be scrubbed.
        *applied = last;
        return write_live(ledger, memory);
    }
    // Of what happened to one document only its first and last place count.
    let mut net: Vec<Op> = Vec::new();
    let mut at: HashMap<u64, usize> = HashMap::new();
    for op in transactions.into_iter().flat_map(|transaction| transaction.ops) {
        if let Some(&i) = at.get(&op.number) {
            net[i].after = op.after;
        } else {
            at.insert(op.number, net.len());
            net.push(op);
        }
    }
    net.retain(|op| op.before != op.after);
    let written = apply(ledger, model, memory, &net, &HashMap::new())?;
    *applied = last;
    Ok(written)
}

/// Writes all live documents; returns their tokens.
pub(crate) fn write_live(ledger: &Ledger, memory: &mut Engine) -> Result<u64, Error> {
    let live = ledger.documents()?.into_iter().filter_map(|document| {
        let after = document.place.filter(|place| place.live)?;
        let Document { id, number, .. } = document;
        Some(Op { document: id, number, before: None, after: Some(after) })
    });
    add(ledger, memory, &live.collect::<Vec<_>>(), &HashMap::new())
}

/// Tokens whose contents are held at once.
const AT_ONCE: u64 = 1 << 22;

/// Makes ops in the memory, whose documents are in their new places already; returns how many tokens that took.
pub(crate) fn apply(
    ledger: &Ledger,
    model: &Model,
    memory: &mut Engine,
    ops: &[Op],
    known: &HashMap<(u64, u32), Content>,
) -> Result<u64, Error> {
    if !memory.exact() && ops.iter().any(|op| op.before.is_some_and(|place| place.live)) {
        // Floats cannot be taken out again without a trace.
        *memory = Engine::new(model)?;
        return write_live(ledger, memory);
    }
    add(ledger, memory, ops, known)
}

fn add(
    ledger: &Ledger,
    memory: &mut Engine,
    ops: &[Op],
    known: &HashMap<(u64, u32), Content>,
) -> Result<u64, Error> {
    let mut written = 0;
    let mut held: Vec<(Content, i32)> = Vec::new();
    let mut tokens = 0;
    for op in ops {
        for (place, sign) in [(op.before, -1), (op.after, 1)] {
            let Some(place) = place.filter(|place| place.live) else { continue };
            let content = if let Some(content) = known.get(&(op.number, place.version)) {
                content.clone()
            } else {
                let missing = || Error::NoDocument(op.document.clone());
                let document = ledger.document(&op.document)?.ok_or_else(missing)?;
                let version = document.versions.iter().find(|v| v.number == place.version);
                ledger.content(op.number, version.ok_or_else(missing)?)?
            };
            tokens += content.tokens();
            held.push((content, sign));
        }
        if tokens > AT_ONCE {
            memory.write(&held)?;
            held.clear();
            written += std::mem::take(&mut tokens);
        }
    }
    memory.write(&held)?;
    Ok(written + tokens)
}

/// The same slots with another number of cells in all.
fn resized(settings: &Settings, size: Size) -> Result<Settings, Error> {
    let mut settings = settings.clone();
    let (old, new) = (u128::from(settings.parameters()), u128::from(size.parameters()));
    for slot in &mut settings.slots {
        slot.rows = ((u128::from(slot.rows) * new / old) as u64).max(1);
    }
    settings.check()?;
    Ok(settings)
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
