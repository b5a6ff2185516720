//! Loading a memory: the newest checkpoint that fits, completed from the ledger.

use super::blueprint::Blueprint;
use super::update::{MemoryUpdate, NewContents};
use crate::checkpoint::{self, Checkpoint};
use crate::damage::Damage;
use crate::error::{Error, io};
use crate::knowledge::{Contents, Knowledge, KnowledgeChange};
use crate::ledger::Ledger;
use crate::progress::Observer;
use crate::record::{DocumentRecord, OpRecord};
use memo::sparse::Memory;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The files of a directory's checkpoints, open, the newest first. A file that is open stays readable after it is
/// removed.
pub(crate) struct CheckpointFile {
    path: PathBuf,
    file: File,
}

impl CheckpointFile {
    /// Opens all checkpoints of a directory. Nobody may change them meanwhile.
    pub(crate) fn list(directory: &Path) -> Result<Vec<Self>, Error> {
        let found = checkpoint::list(directory)?.into_iter();
        found
            .map(|(_, path)| {
                let file = File::open(&path).map_err(io(&path))?;
                Ok(CheckpointFile { path, file })
            })
            .collect()
    }
}

/// The memory of the first checkpoint that fits a model, and the last transaction that it contains; an empty one and 0 if
/// none does.
pub(crate) fn load(
    files: Vec<CheckpointFile>,
    blueprint: &Blueprint,
) -> Result<(Memory, u64), Error> {
    for CheckpointFile { path, mut file } in files {
        let checkpoint = match Checkpoint::read(&path, &mut file) {
            // Memories of older programs are made anew from the ledger.
            Err(Error::Format { found: 1, .. }) => continue,
            checkpoint => checkpoint?,
        };
        if *checkpoint.settings() == blueprint.settings {
            return Ok((checkpoint.memory(blueprint)?, checkpoint.transaction()));
        }
    }
    Ok((blueprint.empty()?, 0))
}

/// The memory of a checkpoint file.
pub(crate) fn open(path: &Path, blueprint: &Blueprint) -> Result<Memory, Error> {
    Checkpoint::open(path)?.memory(blueprint)
}

/// Brings a memory that contains transaction `from` up to the ledger's last one; gives that one, and the number of
/// positions that it took. Tokens that have to be taken out and are damaged are not needed if the memory is made anew from the
/// documents that are live now.
pub(crate) fn replay(
    ledger: &Ledger,
    blueprint: &Blueprint,
    memory: &mut Memory,
    from: u64,
    observer: &Observer,
) -> Result<(u64, u64), Error> {
    match replay_from(ledger, blueprint, memory, from, observer) {
        Err(error) if from > 0 => {
            error.damaged_tokens()?;
            *memory = blueprint.empty()?;
            replay_from(ledger, blueprint, memory, 0, observer)
        }
        done => done,
    }
}

fn replay_from(
    ledger: &Ledger,
    blueprint: &Blueprint,
    memory: &mut Memory,
    from: u64,
    observer: &Observer,
) -> Result<(u64, u64), Error> {
    let last = ledger.last()?;
    if last < from {
        return Err(ledger.damaged(Damage::Older));
    }
    let new = NewContents::new();
    let update = if from == 0 {
        // From nothing: all that counts is what is live now. Texts that came and went may be scrubbed.
        MemoryUpdate::of_live(ledger, blueprint, &new, [], observer)?
    } else {
        let ops = net(ledger, from)?;
        let knowledge = knowledge_since(ledger, blueprint, &ops, observer)?;
        MemoryUpdate::of_ops(ledger, &new, &ops)?.with_knowledge(&knowledge, blueprint)?
    };
    let written = update.apply(memory, observer).map_err(|failure| failure.error)?;
    Ok((last, written))
}

/// What ops did to what is known by rule.
fn knowledge_since(
    ledger: &Ledger,
    blueprint: &Blueprint,
    ops: &[OpRecord],
    observer: &Observer,
) -> Result<KnowledgeChange, Error> {
    if ops.is_empty() || !ledger.knows()? {
        return Ok(KnowledgeChange::default());
    }
    let mut earlier = Vec::new();
    for op in ops {
        if let Some(document) = ledger.document(&op.document)? {
            earlier.push(DocumentRecord { place: op.before, ..document });
        }
    }
    let changed = earlier.iter().map(|document| (document.number, document)).collect();
    let new = NewContents::new();
    let contents = Contents { ledger, new: &new };
    let before = Knowledge::of_live(contents, blueprint, &changed, observer)?;
    let after = Knowledge::of_live(contents, blueprint, &HashMap::new(), observer)?;
    Ok(KnowledgeChange { before, after })
}

/// What the transactions after `from` did: of what happened to one document only its first and last place count.
fn net(ledger: &Ledger, from: u64) -> Result<Vec<OpRecord>, Error> {
    let mut net: Vec<OpRecord> = Vec::new();
    let mut at: HashMap<u64, usize> = HashMap::new();
    for op in ledger.transactions(from)?.into_iter().flat_map(|transaction| transaction.ops) {
        if let Some(&i) = at.get(&op.number) {
            net[i].after = op.after;
        } else {
            at.insert(op.number, net.len());
            net.push(op);
        }
    }
    net.retain(|op| op.before != op.after);
    Ok(net)
}
