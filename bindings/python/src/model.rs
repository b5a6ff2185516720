//! A model that is open, and that several Python objects may use.

use crate::error::{Kind, Refusal};
use memo::sparse::Memory;
use memo_store::{Engine, Error, Model as About, Reader, Store};
use std::sync::{Arc, PoisonError, RwLock};

/// A model, open for writing or for reading.
pub(crate) enum Model {
    Store(Box<Store>),
    Reader(Box<Reader>),
}

impl Model {
    pub(crate) fn memory(&self) -> &Engine {
        match self {
            Model::Store(store) => store.memory(),
            Model::Reader(reader) => reader.memory(),
        }
    }

    pub(crate) fn about(&self) -> &About {
        match self {
            Model::Store(store) => store.model(),
            Model::Reader(reader) => reader.model(),
        }
    }

    pub(crate) fn sparse(&self, what: &'static str) -> Result<&Memory, Refusal> {
        Ok(self.memory().sparse().ok_or(Error::Engine(what))?)
    }

    pub(crate) fn store(&self) -> Result<&Store, Refusal> {
        match self {
            Model::Store(store) => Ok(store),
            Model::Reader(_) => Err(read_only()),
        }
    }
}

fn read_only() -> Refusal {
    let why = "the model is open for reading only; open it without read_only=True (a frozen model can never be changed, \
               and has no documents)";
    Refusal::new(Kind::ReadOnly, why)
}

/// A model that several objects use, until it is closed.
#[derive(Clone)]
pub(crate) struct Shared(Arc<RwLock<Option<Model>>>);

impl Shared {
    pub(crate) fn new(model: Model) -> Self {
        Shared(Arc::new(RwLock::new(Some(model))))
    }

    /// Reads it. The GIL must be released: whoever holds the model may need it.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Model) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let model = self.0.read().unwrap_or_else(PoisonError::into_inner);
        read(model.as_ref().ok_or_else(closed)?)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Closes it, once; nothing acknowledged is lost if nobody does.
    pub(crate) fn close(&self) -> Result<(), Refusal> {
        match self.0.write().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Model::Store(store)) => Ok(store.close()?),
            _ => Ok(()),
        }
    }

    /// Changes both. Always in the same order, so that two in opposite directions do not wait for each other forever.
    pub(crate) fn change_both<T>(
        &self,
        other: &Shared,
        change: impl FnOnce(&mut Store, &mut Store) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if Arc::as_ptr(&self.0) < Arc::as_ptr(&other.0) {
            self.change(|mine| other.change(|theirs| change(mine, theirs)))
        } else {
            other.change(|theirs| self.change(|mine| change(mine, theirs)))
        }
    }

    pub(crate) fn is(&self, other: &Shared) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Store) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut model = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match model.as_mut().ok_or_else(closed)? {
            Model::Store(store) => change(store),
            Model::Reader(_) => Err(read_only()),
        }
    }
}

fn closed() -> Refusal {
    Refusal::new(Kind::State, "the model is closed")
}
