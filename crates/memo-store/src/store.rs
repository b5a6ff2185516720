//! The store: a model directory open for writing.

use crate::build::{PIECE, latest};
use crate::checkpoint;
use crate::engine::Engine;
use crate::error::{Error, io};
use crate::files;
use crate::ledger::Ledger;
use crate::lock::Lock;
use crate::model::{Model, NewModel};
use crate::view::View;
use crate::watch::{Step, Watch};
use memo::readout::Scratch;
use memo::sparse::Digest;
use memo_text::Tokenizer;
use std::ops::{ControlFlow, Deref};
use std::path::Path;

/// Tokens that opening may have to write again before it is felt. With more, closing and opening write a checkpoint.
const FELT: u64 = 500_000;

/// A model open for writing. There is one of these at a time.
pub struct Store {
    pub(crate) view: View,
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
            view: View { directory, model, tokenizer, ledger, memory, applied },
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

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.view.directory
    }

    /// The digest of the memory. That of a dense one, whose floats depend on the order of sums, is taken of what it is
    /// a function of: its configuration and the contents of its live documents, in any order.
    pub fn digest(&mut self) -> Result<Digest, Error> {
        self.whole()?;
        if let Engine::Sparse(memory) = &mut self.view.memory {
            return Ok(memory.digest()?);
        }
        self.digest_of_contents(None)
    }

    /// What the digest of a dense memory is taken of; without one document, if its number is given.
    pub(crate) fn digest_of_contents(&self, without: Option<u64>) -> Result<Digest, Error> {
        let mut contents = Vec::new();
        for document in self.view.ledger.documents()? {
            let Some(place) = document.place.filter(|place| place.live) else { continue };
            if Some(document.number) == without {
                continue;
            }
            let version = document.versions.iter().find(|v| v.number == place.version);
            if let Some(version) = version {
                contents.push(self.view.ledger.content(document.number, version)?.hash());
            }
        }
        contents.sort_unstable();
        let sizes = serde_json::to_vec(&self.view.model.memory);
        let sizes = sizes.map_err(|e| Error::Invalid(e.to_string()))?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"memo dense 1").update(&sizes).update(contents.as_flattened());
        Ok(Digest(*hasher.finalize().as_bytes()))
    }

    /// Writes a checkpoint, and removes older ones.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        self.whole()?;
        // A dense memory has none: building it is how it is opened.
        let Engine::Sparse(memory) = &mut self.view.memory else { return Ok(()) };
        let kept = checkpoint::write(&self.view.directory, memory, self.view.applied, &self.watch)?;
        checkpoint::keep_only(&self.view.directory, &kept)?;
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

impl Deref for Store {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
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
