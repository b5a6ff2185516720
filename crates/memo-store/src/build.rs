//! Making the memory of a model: from its newest checkpoint, from the ledger, at once or piece by piece.

use crate::checkpoint::{self, Checkpoint};
use crate::engine::Engine;
use crate::error::Error;
use crate::files;
use crate::model::{Model, Sizes};
use crate::moves::{self, Known, Moves};
use crate::record::Op;
use crate::store::Store;
use crate::view::View;
use memo::sparse::{Memory, Settings, Size};
use std::path::{Path, PathBuf};

/// Bytes of a memory that are made at once, if there are many more.
pub(crate) const PIECE: usize = 512 << 20;

impl Store {
    /// Brings the memory up to the ledger's last transaction.
    pub(crate) fn catch_up(&mut self) -> Result<(), Error> {
        if self.view.applied == 0 {
            let pieces = self.pieces(&self.view.model, &[]);
            // Where there is no room for a checkpoint there may be enough memory.
            if let Ok(Some(made)) =
                pieces.and_then(|path| path.map(|p| self.in_place(&p)).transpose())
            {
                (self.view.memory, self.view.applied) = made;
                return Ok(());
            }
        }
        let Store { view: View { ledger, model, memory, applied, .. }, watch, .. } = self;
        self.pending = moves::replay(ledger, model, memory, applied, watch)?;
        Ok(())
    }

    /// A checkpoint of all documents that are live, or will be after `ops`, beside its place, if that is better made piece by
    /// piece.
    pub(crate) fn pieces(&self, model: &Model, ops: &[Op]) -> Result<Option<PathBuf>, Error> {
        let (known, last) = (Known::new(), self.view.ledger.last()?);
        let live = Moves::all_live(&self.view.ledger, ops, &known)?;
        let Some(settings) = model.sparse().filter(|settings| self.is_large(settings, &live))
        else {
            return Ok(None);
        };
        let path = self.directory.join(checkpoint::name(last));
        live.write_pieces(&path, settings, last, self.piece, &self.watch).map(Some)
    }

    /// Puts a checkpoint of the ledger's last transaction in its place, and gives its memory.
    pub(crate) fn in_place(&self, beside: &Path) -> Result<(Engine, u64), Error> {
        let last = self.view.ledger.last()?;
        let path = self.directory.join(checkpoint::name(last));
        files::rename(beside, &path)?;
        checkpoint::keep_only(&self.directory, &path)?;
        Ok((moves::read(&path)?, last))
    }

    /// Whether a memory of these texts is better made piece by piece: it is large, and they fill a good part of it.
    pub(crate) fn is_large(&self, settings: &Settings, texts: &Moves<'_>) -> bool {
        let piece = self.piece as u64;
        // About 32 bytes of tables a token.
        let bytes = Memory::storage_len(settings) as u64 + texts.positions() * 32;
        bytes / 2 > piece && texts.positions() > piece / 64
    }

    /// Makes the memory again from the ledger, with other sizes if they are given.
    pub fn rebuild(&mut self, size: Option<Size>) -> Result<(), Error> {
        let mut model = self.view.model.clone();
        if let Some(size) = size {
            let settings = model.need_sparse("another size")?;
            model.memory = Sizes::Sparse(resized(settings, size)?);
        }
        // Nothing changes before the memory is there: a size that this machine does not have must not stick.
        if let Some(path) = self.pieces(&model, &[])? {
            let made = self.in_place(&path)?;
            model.write(&self.directory)?;
            (self.view.memory, self.view.applied) = made;
            (self.view.model, self.pending) = (model, 0);
            return Ok(());
        }
        let mut memory = Engine::new(&model)?;
        moves::write_live(&self.view.ledger, &mut memory, &[], &self.watch)?;
        let last = self.view.ledger.last()?;
        let before = (
            std::mem::replace(&mut self.view.memory, memory),
            std::mem::replace(&mut self.view.applied, last),
        );
        // A kill between the two leaves a checkpoint that does not fit; opening then begins from nothing, and is right.
        let done = self.checkpoint().and_then(|()| {
            if model == self.view.model { Ok(()) } else { model.write(&self.directory) }
        });
        if done.is_ok() {
            self.view.model = model;
        } else {
            (self.view.memory, self.view.applied) = before;
        }
        done
    }
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
