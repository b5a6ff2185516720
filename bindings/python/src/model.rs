//! A model that is open in this process, and the handles that Python's objects have of it.
//!
//! Opening a model for writing that this process has open already gives another handle of it, so that a notebook's cell can
//! be run again. It is closed with its last handle.
//!
//! A handle belongs to the process that made it. A child of `fork` has a copy of the memory, but shares the files with its
//! parent, who goes on writing them: there a handle reads a snapshot of its own, which the first question opens, and refuses
//! changes; what it holds of the parent's is never dropped, because that would write.

use crate::error::{Kind, Refusal};
use crate::threads;
use memo_store::{Error, NewModel, Snapshot, Store};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard, Weak};

/// A model, open for writing or for reading.
enum Model {
    Store(Box<Store>),
    Snapshot(Box<Snapshot>),
}

impl Model {
    fn snapshot(&self) -> &Snapshot {
        match self {
            Model::Store(store) => store,
            Model::Snapshot(snapshot) => snapshot,
        }
    }
}

struct Open {
    model: RwLock<Option<Model>>,
    directory: PathBuf,
    handles: AtomicUsize,
    process: u32,
}

/// A handle of a model that is open.
pub(crate) struct Handle {
    open: Arc<Open>,
    closed: AtomicBool,
    /// In a fork, its process and what is read there. Never locked in the process that opened the model, so no fork can find
    /// it locked forever.
    forked: Mutex<Option<(u32, Arc<Snapshot>)>>,
}

/// The models that this process has opened for writing, the newest last, and some that it has closed since.
static WRITABLE: Mutex<Vec<Weak<Open>>> = Mutex::new(Vec::new());

impl Handle {
    fn new(model: Model) -> Self {
        let directory = model.snapshot().directory();
        let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let (handles, process) = (AtomicUsize::new(1), process::id());
        let open = Arc::new(Open { model: RwLock::new(Some(model)), directory, handles, process });
        Self::to(open)
    }

    fn to(open: Arc<Open>) -> Self {
        Handle { open, closed: AtomicBool::new(false), forked: Mutex::new(None) }
    }

    /// Makes a model.
    pub(crate) fn create(directory: &Path, new: &NewModel) -> Result<Self, Refusal> {
        threads::on(0, || Ok(Self::of(Store::create(directory, new)?)))
    }

    fn of(store: Store) -> Self {
        let handle = Self::new(Model::Store(Box::new(store)));
        let mut writable = WRITABLE.lock().unwrap_or_else(PoisonError::into_inner);
        writable.retain(|open| open.strong_count() > 0);
        writable.push(Arc::downgrade(&handle.open));
        handle
    }

    /// Opens a model for writing, its memory made anew if that is asked for; or gives another handle if this process has it
    /// open.
    pub(crate) fn open(directory: &Path, anew: bool) -> Result<Self, Refusal> {
        let open = if anew { Store::open_anew } else { Store::open };
        threads::on(0, || match open(directory) {
            Ok(store) => Ok(Self::of(store)),
            Err(error @ Error::Busy { .. }) => {
                Self::another(directory).ok_or_else(|| Refusal::from(error))
            }
            Err(error) => Err(error.into()),
        })
    }

    fn another(directory: &Path) -> Option<Self> {
        let directory = std::fs::canonicalize(directory).ok()?;
        let writable = WRITABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let open = writable.iter().rev().filter_map(Weak::upgrade).find(|open| {
            let one_more = |handles| (handles > 0).then_some(handles + 1);
            open.directory == directory
                && open.process == process::id()
                && open.handles.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).is_ok()
        })?;
        Some(Self::to(open))
    }

    /// Opens a model for reading.
    pub(crate) fn read_only(directory: &Path) -> Result<Self, Refusal> {
        let snapshot = threads::on(0, || Ok(Snapshot::open(directory)?))?;
        Ok(Self::new(Model::Snapshot(Box::new(snapshot))))
    }

    /// Reads it. The GIL must be released: whoever holds the model may need it.
    pub(crate) fn read<T: Send>(
        &self,
        read: impl FnOnce(&Snapshot) -> Result<T, Refusal> + Send,
    ) -> Result<T, Refusal> {
        if self.is_closed() {
            return Err(closed());
        }
        if self.is_forked() {
            let snapshot = self.forked()?;
            return threads::on(0, || read(&snapshot));
        }
        let model = self.open.model.read().unwrap_or_else(PoisonError::into_inner);
        let snapshot = model.as_ref().ok_or_else(closed)?.snapshot();
        // Locks are taken before: a thread of the pool must not wait for one.
        threads::on(0, || read(snapshot))
    }

    fn is_forked(&self) -> bool {
        self.open.process != process::id()
    }

    /// The model as a fork reads it: as it was when it was first asked there.
    fn forked(&self) -> Result<Arc<Snapshot>, Refusal> {
        let mut forked = self.forked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((process, snapshot)) = &*forked
            && *process == process::id()
        {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = threads::on(0, || Ok(Snapshot::open(&self.open.directory)?))?;
        let snapshot = Arc::new(snapshot);
        *forked = Some((process::id(), Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// Changes it, if it is open for writing. The GIL must be released.
    pub(crate) fn change<T: Send>(
        &self,
        change: impl FnOnce(&mut Store) -> Result<T, Refusal> + Send,
    ) -> Result<T, Refusal> {
        let mut model = self.write()?;
        let store = writable(&mut model)?;
        threads::on(0, || change(store))
    }

    /// Changes both. They are locked in the same order always, so that two in opposite directions do not wait for each other
    /// forever.
    pub(crate) fn change_both<T: Send>(
        &self,
        other: &Handle,
        change: impl FnOnce(&mut Store, &mut Store) -> Result<T, Refusal> + Send,
    ) -> Result<T, Refusal> {
        let (mut mine, mut theirs);
        if Arc::as_ptr(&self.open) < Arc::as_ptr(&other.open) {
            mine = self.write()?;
            theirs = other.write()?;
        } else {
            theirs = other.write()?;
            mine = self.write()?;
        }
        let (mine, theirs) = (writable(&mut mine)?, writable(&mut theirs)?);
        threads::on(0, || change(mine, theirs))
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, Option<Model>>, Refusal> {
        self.check()?;
        Ok(self.open.model.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether both are handles of one model.
    pub(crate) fn is(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.open, &other.open)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Closes it, once, and the model with its last handle. Nothing acknowledged is lost if nobody does.
    pub(crate) fn close(&self) -> Result<(), Refusal> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        if self.is_forked() {
            std::mem::forget(self.open.clone());
            return Ok(());
        }
        if self.open.handles.fetch_sub(1, Ordering::AcqRel) > 1 {
            return Ok(());
        }
        let model = self.open.model.write().unwrap_or_else(PoisonError::into_inner).take();
        match model {
            Some(Model::Store(store)) => threads::on(0, || Ok(store.close()?)),
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.is_forked() {
            let why = format!(
                "{} was opened by process {}, of which this one is a fork: here it can be read, but not changed; change \
                 it there, or close it there and open it here",
                self.open.directory.display(),
                self.open.process
            );
            return Err(Refusal::new(Kind::State, why));
        }
        if self.is_closed() { Err(closed()) } else { Ok(()) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Without the checkpoint that may fail here, opening takes longer; that is all.
        let _ = self.close();
    }
}

fn closed() -> Refusal {
    Refusal::new(Kind::State, "the model is closed")
}

fn writable(model: &mut Option<Model>) -> Result<&mut Store, Refusal> {
    match model.as_mut().ok_or_else(closed)? {
        Model::Store(store) => Ok(store),
        Model::Snapshot(_) => Err(Refusal::new(
            Kind::ReadOnly,
            "the model is open for reading only; open it without read_only=True (a frozen model can never be changed)",
        )),
    }
}
