//! The store: a model directory open for writing.

use crate::checkpoint::{self, Checkpoint};
use crate::error::{Error, io};
use crate::files;
use crate::ledger::{Changes, Content, Ledger};
use crate::lock::Lock;
use crate::model::{Model, NewModel};
use crate::record::{Document, Kind, Op, Place, Role, Transaction};
use memo::readout::{Backoff, Choice, Generator};
use memo::sparse::{Digest, Memory, Passage, Settings, Size};
use memo_text::Tokenizer;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Tokens that opening may have to write again before it is felt; then a checkpoint is due.
const REPLAYED: u64 = 500_000;

/// A model open for writing. There is one of these at a time.
pub struct Store {
    pub(crate) directory: PathBuf,
    pub(crate) model: Model,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) ledger: Ledger,
    pub(crate) memory: Memory,
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
        let mut name = directory.file_name().unwrap_or_default().to_owned();
        name.push(".tmp");
        // Made beside its place, so that a model is there whole or not at all.
        let beside = directory.with_file_name(name);
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
        Self::open_with(directory, |model| latest(directory, &model.memory))
    }

    /// Opens a model for writing without reading its checkpoint, which may be damaged: the memory is made again from
    /// the ledger, and a new checkpoint written.
    pub fn open_anew(directory: &Path) -> Result<Self, Error> {
        let mut store =
            Self::open_with(directory, |model| Ok((Memory::new(model.memory.clone())?, 0)))?;
        store.checkpoint()?;
        Ok(store)
    }

    fn open_with(
        directory: &Path,
        memory: impl FnOnce(&Model) -> Result<(Memory, u64), Error>,
    ) -> Result<Self, Error> {
        let model = Model::read(directory)?;
        let lock = Lock::exclusive(directory)?;
        files::remove_unfinished(directory)?;
        let tokenizer = model.tokenizer(directory)?;
        let ledger = Ledger::open(&directory.join("ledger.redb"))?;
        let (memory, applied) = memory(&model)?;
        let directory = directory.to_owned();
        let mut store =
            Store { directory, model, tokenizer, ledger, memory, applied, pending: 0, _lock: lock };
        store.pending = replay(&store.ledger, &mut store.memory, &mut store.applied)?;
        store.finish_forgets()?;
        store.checkpoint_if_due()?;
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
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The digest of the memory.
    pub fn digest(&mut self) -> Result<Digest, Error> {
        self.whole()?;
        Ok(self.memory.digest()?)
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
        let what = format!("a transaction was recorded, but the memory lacks it ({why})");
        Error::Damaged { path: self.directory.clone(), what, help: checkpoint::HELP }
    }

    /// Writes a checkpoint, and removes older ones.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        self.whole()?;
        let kept = checkpoint::write(&self.directory, &mut self.memory, self.applied)?;
        for (_, path) in checkpoint::list(&self.directory)? {
            if path != kept {
                std::fs::remove_file(&path).map_err(io(&path))?;
            }
        }
        self.pending = 0;
        Ok(())
    }

    pub(crate) fn checkpoint_if_due(&mut self) -> Result<(), Error> {
        if self.pending > REPLAYED { self.checkpoint() } else { Ok(()) }
    }

    /// Makes the memory again from the ledger, with other sizes if they are given.
    pub fn rebuild(&mut self, size: Option<Size>) -> Result<(), Error> {
        if let Some(size) = size {
            self.model.memory = resized(&self.model.memory, size)?;
            // From now on the old checkpoints do not fit, and opening would begin from nothing: the same result.
            self.model.write(&self.directory)?;
        }
        let mut memory = Memory::new(self.model.memory.clone())?;
        write_live(&self.ledger, &mut memory)?;
        self.memory = memory;
        self.applied = self.ledger.last()?;
        self.checkpoint()
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
        let written = apply(&self.ledger, &mut self.memory, &transaction.ops, &known)
            .map_err(|error| self.lacking(error))?;
        self.pending += written;
        self.applied = id;
        if kind != Kind::Forget {
            self.checkpoint_if_due()?;
        }
        Ok(transaction)
    }
}

/// Continues a prompt by the most probable tokens.
pub(crate) fn complete(
    memory: &Memory,
    tokenizer: &Tokenizer,
    prompt: &str,
    tokens: usize,
) -> Result<String, Error> {
    let context = tokenizer.encode(prompt)?;
    let readout = Backoff::default();
    let generator = Generator::new(memory, &readout, &context, Choice::default());
    let end = memory.settings().end;
    let mut made = Vec::new();
    for token in generator.take(tokens) {
        let token = token?;
        if token == end {
            break;
        }
        made.push(token);
    }
    Ok(tokenizer.decode_lossy(&made))
}

/// The memory of the newest checkpoint that fits, or an empty one.
pub(crate) fn latest(directory: &Path, settings: &Settings) -> Result<(Memory, u64), Error> {
    for (_, path) in checkpoint::list(directory)? {
        let checkpoint = match Checkpoint::open(&path) {
            // A writer may have removed it since it was listed.
            Err(Error::Io { reason, .. }) if reason.kind() == std::io::ErrorKind::NotFound => {
                return latest(directory, settings);
            }
            opened => opened?,
        };
        if checkpoint.settings() == settings {
            return Ok((checkpoint.memory()?, checkpoint.transaction()));
        }
    }
    Ok((Memory::new(settings.clone())?, 0))
}

/// Brings a memory up to the ledger's last transaction; returns how many tokens that took.
pub(crate) fn replay(
    ledger: &Ledger,
    memory: &mut Memory,
    applied: &mut u64,
) -> Result<u64, Error> {
    if ledger.last()? < *applied {
        let what = "it is older than the checkpoint".to_owned();
        return Err(ledger.damaged(what));
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
    let written = apply(ledger, memory, &net, &HashMap::new())?;
    *applied = last;
    Ok(written)
}

/// Writes all live documents; returns their tokens.
fn write_live(ledger: &Ledger, memory: &mut Memory) -> Result<u64, Error> {
    let live = ledger.documents()?.into_iter().filter_map(|document| {
        let after = document.place.filter(|place| place.live)?;
        let Document { id, number, .. } = document;
        Some(Op { document: id, number, before: None, after: Some(after) })
    });
    apply(ledger, memory, &live.collect::<Vec<_>>(), &HashMap::new())
}

/// Tokens whose contents are held at once.
const AT_ONCE: u64 = 1 << 22;

/// Makes ops in the memory; returns how many tokens that took.
pub(crate) fn apply(
    ledger: &Ledger,
    memory: &mut Memory,
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
            write(memory, &held)?;
            held.clear();
            written += std::mem::take(&mut tokens);
        }
    }
    write(memory, &held)?;
    Ok(written + tokens)
}

/// Writes contents with their signs.
pub(crate) fn write(memory: &mut Memory, contents: &[(Content, i32)]) -> Result<(), Error> {
    let passages = contents.iter().flat_map(|(content, sign)| {
        content.parts.iter().map(move |part| match content.role {
            Role::Text => Passage::whole(part, *sign),
            Role::Edit { prompt, weight } => Passage {
                document: part,
                positions: (prompt as usize).min(part.len())..part.len(),
                weight: weight * sign,
            },
        })
    });
    Ok(memory.write(&passages.collect::<Vec<_>>())?)
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
fn private(directory: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(directory, mode).map_err(io(directory))?;
    }
    let _ = directory;
    Ok(())
}
