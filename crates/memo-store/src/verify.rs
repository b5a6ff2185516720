//! Verify: everything is checked, and what is damaged is named.

use crate::checkpoint::{self, Checkpoint};
use crate::engine::Engine;
use crate::error::{Error, io};
use crate::moves;
use crate::record::Op;
use crate::store::Store;
use memo::dense::CorrelationMemory;
use memo::sparse::Digest;
use serde::Serialize;
use std::collections::HashSet;

/// What was checked, and what is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// Documents whose contents match their digests.
    pub documents: usize,
    /// Versions that were read.
    pub versions: usize,
    /// The digest of the memory.
    pub digest: Digest,
    /// What is wrong, in words; empty if nothing is.
    pub damage: Vec<String>,
}

impl Store {
    /// Checks the ledger, every content against its digest, the checkpoint block by block, and the memory against one
    /// that memorizes all live documents anew.
    pub fn verify(&mut self) -> Result<Verified, Error> {
        let mut damage = Vec::new();
        if !self.view.ledger.check()? {
            damage.push("ledger.redb: its database had to be repaired".to_owned());
        }
        let (mut documents, mut versions) = (0, 0);
        let mut known = HashSet::new();
        for document in self.view.ledger.documents()? {
            documents += 1;
            for version in document.versions.iter().filter(|v| v.forgotten.is_none()) {
                versions += 1;
                known.insert((document.number, version.number));
                let name = format!("document {:?}, version {}", document.id, version.number);
                match self.view.ledger.content(document.number, version) {
                    Ok(content) if self.view.ledger.digest(&content) == version.digest => {}
                    Ok(_) => damage.push(format!("{name}: its tokens do not match its digest")),
                    Err(error) => damage.push(format!("{name}: {error}")),
                }
            }
        }
        for (number, version) in self.view.ledger.versions_with_tokens()? {
            if !known.contains(&(number, version)) {
                damage.push(format!(
                    "ledger.redb: it has tokens of document number {number}, version {version}, which was forgotten or \
                     never recorded"
                ));
            }
        }
        for (_, path) in checkpoint::list(&self.directory)? {
            let checked = Checkpoint::open(&path).and_then(|checkpoint| {
                let memory = checkpoint.memory()?;
                Ok((memory.digest()?, memory.digest_anew()?))
            });
            match checked {
                Ok((said, found)) if said == found => {}
                Ok(_) => damage.push(format!("{}: its hashes do not match it", path.display())),
                Err(error) => damage.push(error.to_string()),
            }
        }
        let mut anew = self.anew(&[])?;
        let digest = self.digest()?;
        if !same(&mut self.view.memory, &mut anew)? {
            damage
                .push("the memory differs from its documents; `memo rebuild` makes it anew".into());
        }
        Ok(Verified { documents, versions, digest, damage })
    }

    /// The digest of a memory that memorizes all live documents but one anew, and never saw that one: what it must be once that
    /// one is forgotten.
    pub fn digest_without(&self, id: &str) -> Result<Digest, Error> {
        let document = self.document(id)?;
        let (number, before) = (document.number, document.place);
        match self.anew(&[Op { document: document.id, number, before, after: None }])? {
            Engine::Sparse(memory) => Ok(memory.digest()?),
            // What a dense memory is a function of is what its digest is taken of.
            Engine::Dense(_) => self.digest_of_contents(Some(number)),
        }
    }

    /// A memory of all documents that are live, or will be after `ops`.
    fn anew(&self, ops: &[Op]) -> Result<Engine, Error> {
        if let Some(path) = self.pieces(&self.view.model, ops)? {
            let memory = moves::read(&path);
            // The memory stays mapped.
            std::fs::remove_file(&path).map_err(io(&path))?;
            memory
        } else {
            let mut memory = Engine::new(&self.view.model)?;
            moves::write_live(&self.view.ledger, &mut memory, ops, &self.watch)?;
            Ok(memory)
        }
    }
}

/// Whether two memories are equal: bit for bit, or within what the order of sums can change.
fn same(a: &mut Engine, b: &mut Engine) -> Result<bool, Error> {
    match (a, b) {
        (Engine::Sparse(a), Engine::Sparse(b)) => Ok(a.digest()? == b.digest()?),
        (Engine::Dense(a), Engine::Dense(b)) => {
            let layers = 1..=a.config().layers;
            let pairs = layers.filter_map(|layer| Some((a.memory(layer)?, b.memory(layer)?)));
            let close = |(a, b): (&CorrelationMemory, &CorrelationMemory)| {
                let size = a.cells().iter().fold(0f32, |most, cell| most.max(cell.abs()));
                let cells = a.cells().iter().zip(b.cells());
                cells.into_iter().all(|(a, b)| (a - b).abs() <= 1e-3 * (1.0 + size))
            };
            Ok(pairs.into_iter().all(close))
        }
        _ => Ok(false),
    }
}
