//! The digest of a memory: a Merkle root that is equal exactly when settings, cells and tables are.
//!
//! Leaves are pages of cells, partitions of tables and slices of unigrams; 256 leaves make a node, all nodes the root of
//! their kind, the roots with the settings the digest. Only leaves that changed are hashed again, and a shard can hash
//! its own leaves alone. What is hashed is values: wide rows are stored in one form only and
//! tables are read in order of their keys, so no history can be seen.
//!
//! Writing flags the leaves that it changes. A digest hashes those and keeps the hashes; the flags stay until the next
//! write, which clears them first if all were hashed. So a digest needs no exclusive access to the memory.

use super::cells::Cells;
use super::table::{PARTITIONS, Partition, Table};
use super::tables::{Tables, UNIGRAM_LEAF};
use super::{Error, Memory, PAGE, Settings};
use rayon::prelude::*;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Leaves under one node.
const FAN: usize = 256;

/// The digest of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// In hexadecimal, as it is displayed.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Digest {
    /// Makes the digest of a memory with these leaves.
    pub fn of_leaves(settings: &Settings, leaves: Leaves) -> Result<Self, Error> {
        settings.check()?;
        let mut hashes = Hashes::new(settings);
        hashes.restore(leaves)?;
        Ok(hashes.update(Default::default()))
    }
}

type Hash = [u8; 32];

/// The hashes of a memory's leaves. A checkpoint that keeps them spares hashing everything again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// Of each page of cells.
    pub cells: Vec<[u8; 32]>,
    /// Of each partition of the pairs.
    pub pairs: Vec<[u8; 32]>,
    /// Of each partition of the totals.
    pub totals: Vec<[u8; 32]>,
    /// Of each slice of 1,024 unigrams.
    pub unigrams: Vec<[u8; 32]>,
}

/// The hashes of one kind of leaf, and of their nodes.
#[derive(Clone, Debug)]
struct Tree {
    leaves: Vec<Hash>,
    nodes: Vec<Hash>,
}

fn hash(kind: &str, write: impl FnOnce(&mut blake3::Hasher)) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(kind.len() as u64).to_le_bytes()).update(kind.as_bytes());
    write(&mut hasher);
    *hasher.finalize().as_bytes()
}

impl Tree {
    /// Makes a tree whose leaves are all equal, as in an empty memory.
    fn uniform(leaves: usize, leaf: Hash) -> Self {
        let mut tree =
            Tree { leaves: vec![leaf; leaves], nodes: vec![[0; 32]; leaves.div_ceil(FAN)] };
        for node in 0..tree.nodes.len() {
            tree.nodes[node] = tree.node(node);
        }
        tree
    }

    /// Replaces all leaves; `None` if their number is wrong.
    fn restore(&mut self, leaves: Vec<Hash>) -> Option<()> {
        (leaves.len() == self.leaves.len()).then(|| self.leaves = leaves)?;
        for node in 0..self.nodes.len() {
            self.nodes[node] = self.node(node);
        }
        Some(())
    }

    fn node(&self, node: usize) -> Hash {
        let leaves = &self.leaves[node * FAN..self.leaves.len().min((node + 1) * FAN)];
        hash("node", |hasher| {
            for leaf in leaves {
                hasher.update(leaf);
            }
        })
    }

    /// Replaces some leaves, which come in order of their numbers.
    fn update(&mut self, leaves: impl IntoIterator<Item = (usize, Hash)>) {
        let mut nodes = Vec::new();
        for (i, hash) in leaves {
            self.leaves[i] = hash;
            nodes.push(i / FAN);
        }
        nodes.dedup();
        for node in nodes {
            self.nodes[node] = self.node(node);
        }
    }

    fn root(&self) -> Hash {
        hash("root", |hasher| {
            hasher.update(&(self.leaves.len() as u64).to_le_bytes());
            for node in &self.nodes {
                hasher.update(node);
            }
        })
    }
}

impl Memory {
    /// Returns the digest of settings, cells and tables. Only what changed since the last one is hashed.
    pub fn digest(&self) -> Result<Digest, Error> {
        self.digests.digest(&self.cells, &self.tables)
    }

    /// Returns the digest with everything hashed anew, whatever a checkpoint or an earlier digest said.
    pub fn digest_anew(&self) -> Result<Digest, Error> {
        let mut hashes = Hashes::new(self.settings());
        Ok(hashes.update(hash_leaves(&self.cells, &self.tables, true)?))
    }

    /// Returns the hashes that the digest is made of.
    pub fn leaves(&self) -> Result<Leaves, Error> {
        self.digest()?;
        let hashes = self.digests.lock();
        let [cells, pairs, totals, unigrams] =
            [&hashes.cells, &hashes.pairs, &hashes.totals, &hashes.unigrams]
                .map(|tree| tree.leaves.clone());
        Ok(Leaves { cells, pairs, totals, unigrams })
    }
}

/// The hashes of a memory, kept between digests.
#[derive(Debug)]
pub(crate) struct Digests(Mutex<Hashes>);

impl Clone for Digests {
    fn clone(&self) -> Self {
        Digests(Mutex::new(self.lock().clone()))
    }
}

impl Digests {
    /// Makes the hashes of an empty memory.
    pub(crate) fn new(settings: &Settings) -> Self {
        Digests(Mutex::new(Hashes::new(settings)))
    }

    /// Replaces all leaves with those of a checkpoint.
    pub(crate) fn restore(&mut self, leaves: Leaves) -> Result<(), Error> {
        self.lock().restore(leaves)
    }

    /// Begins a change. Returns whether all leaves that changed before were hashed, so that their flags can be cleared.
    pub(crate) fn begin_change(&mut self) -> bool {
        self.lock().digest.take().is_some()
    }

    fn digest(&self, cells: &Cells, tables: &Tables) -> Result<Digest, Error> {
        if let Some(digest) = self.lock().digest {
            return Ok(digest);
        }
        // The lock is not held while leaves are hashed: that runs on all threads, and a thread that waits for others may
        // take up another digest of the same memory. Callers that hash at the same time find the same hashes.
        let leaves = hash_leaves(cells, tables, false)?;
        Ok(self.lock().update(leaves))
    }

    fn lock(&self) -> MutexGuard<'_, Hashes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The trees of all kinds of leaf.
#[derive(Clone, Debug)]
struct Hashes {
    settings: Hash,
    cells: Tree,
    pairs: Tree,
    totals: Tree,
    unigrams: Tree,
    /// The digest, if no leaf has changed since it was taken.
    digest: Option<Digest>,
}

impl Hashes {
    /// Makes the hashes of an empty memory.
    fn new(settings: &Settings) -> Self {
        let table = Tree::uniform(PARTITIONS, partition(&Partition::default()));
        let n = settings.vocabulary as usize;
        let mut unigrams = Tree::uniform(n.div_ceil(UNIGRAM_LEAF), [0; 32]);
        unigrams.update(
            (0..unigrams.leaves.len())
                .map(|i| (i, counts(&vec![0; UNIGRAM_LEAF.min(n - i * UNIGRAM_LEAF)]))),
        );
        Hashes {
            settings: settings_hash(settings),
            cells: Tree::uniform(Cells::len(settings) / PAGE, page(&[0; PAGE], &[])),
            pairs: table.clone(),
            totals: table,
            unigrams,
            digest: None,
        }
    }

    fn restore(&mut self, leaves: Leaves) -> Result<(), Error> {
        let Leaves { cells, pairs, totals, unigrams } = leaves;
        let restore = || {
            self.cells.restore(cells)?;
            self.pairs.restore(pairs)?;
            self.totals.restore(totals)?;
            self.unigrams.restore(unigrams)
        };
        restore().ok_or_else(|| Error::Storage("the number of its hashes is wrong".into()))
    }

    /// Replaces some leaves, or none, and returns the digest.
    fn update(&mut self, [cells, pairs, totals, unigrams]: [NumberedHashes; 4]) -> Digest {
        self.cells.update(cells);
        self.pairs.update(pairs);
        self.totals.update(totals);
        self.unigrams.update(unigrams);
        let trees = [&self.cells, &self.pairs, &self.totals, &self.unigrams];
        let digest = Digest(hash("memo sparse 1", |hasher| {
            hasher.update(&self.settings);
            for tree in trees {
                hasher.update(&tree.root());
            }
        }));
        self.digest = Some(digest);
        digest
    }
}

/// Leaves by their numbers, in order.
type NumberedHashes = Vec<(usize, Hash)>;

/// Hashes the leaves that changed, or all: of cells, pairs, totals and unigrams.
fn hash_leaves(cells: &Cells, tables: &Tables, all: bool) -> Result<[NumberedHashes; 4], Error> {
    let pages = (0..cells.pages()).into_par_iter().filter(|&i| all || cells.changed(i));
    let pages = pages.map(|i| {
        cells.verify_page(i)?;
        Ok((i, page(&cells.bytes()[i * PAGE..][..PAGE], &cells.wide_in_page(i))))
    });
    let table = |table: &Table| {
        let partitions = table.partitions().par_iter().enumerate();
        let changed = partitions.filter(|(_, partition)| all || partition.changed());
        changed.map(|(i, partition)| (i, self::partition(partition))).collect()
    };
    let unigrams = tables.unigrams.chunks(UNIGRAM_LEAF).zip(&tables.changed).enumerate();
    let unigrams = unigrams.filter(|(_, (_, changed))| all || **changed);
    Ok([
        pages.collect::<Result<_, Error>>()?,
        table(&tables.pairs),
        table(&tables.totals),
        unigrams.map(|(i, (leaf, _))| (i, counts(leaf))).collect(),
    ])
}

fn settings_hash(settings: &Settings) -> Hash {
    let Settings { vocabulary, end, seed, heads, slots } = settings;
    let numbers = [u64::from(*vocabulary), u64::from(*end), *seed, u64::from(*heads)];
    let slots = slots.iter().flat_map(|slot| {
        let super::Slot { skip, len, rows, width, copies, bucketed } = slot;
        let [skip, len, width, copies] = [skip, len, width, copies].map(|&v| u64::from(v));
        [skip, len, *rows, width, copies, u64::from(*bucketed)]
    });
    hash("settings", |hasher| {
        for number in numbers.into_iter().chain(slots) {
            hasher.update(&number.to_le_bytes());
        }
    })
}

fn page(cells: &[u8], wide: &[(u32, Vec<i32>)]) -> Hash {
    hash("cells", |hasher| {
        hasher.update(cells);
        for (row, values) in wide {
            hasher.update(&row.to_le_bytes());
            for value in values {
                hasher.update(&value.to_le_bytes());
            }
        }
    })
}

fn partition(partition: &Partition) -> Hash {
    let mut bytes = Vec::new();
    for (key, count) in partition.iter() {
        bytes.extend_from_slice(&key.to_le_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    hash("table", |hasher| {
        hasher.update(&bytes);
    })
}

fn counts(counts: &[i64]) -> Hash {
    hash("unigrams", |hasher| {
        for count in counts {
            hasher.update(&count.to_le_bytes());
        }
    })
}
