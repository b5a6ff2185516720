//! The digest of a memory: a Merkle root that is equal exactly when settings, cells and tables are.
//!
//! Leaves are runs of cells, parts of tables and runs of unigrams; 256 leaves make a node, all nodes the root of
//! their kind, the roots with the settings the digest. Only leaves that changed are hashed again, and whoever
//! holds a range of leaves can hash it alone. What is hashed is values: wide rows are stored in one form only and
//! tables are read in order of their keys, so no history can be seen.

use super::cells::Cells;
use super::table::{PARTS, Part, Table};
use super::tables::{Tables, UNIGRAM_RUN};
use super::{Error, PAGE, Settings};
use rayon::prelude::*;
use serde::{Serialize, Serializer};
use std::fmt;

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

/// As it is written: in hexadecimal.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Digest {
    /// The digest of a memory with these leaves, whoever has hashed them.
    pub fn of_leaves(settings: &Settings, leaves: Leaves) -> Result<Self, Error> {
        settings.check()?;
        let mut digests = Digests::new(settings);
        digests.restore(leaves)?;
        Ok(digests.root())
    }
}

type Hash = [u8; 32];

/// The hashes of a memory's leaves. A checkpoint that keeps them spares hashing everything again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// Of each run of cells.
    pub cells: Vec<[u8; 32]>,
    /// Of each part of the pairs.
    pub pairs: Vec<[u8; 32]>,
    /// Of each part of the totals.
    pub totals: Vec<[u8; 32]>,
    /// Of each run of unigrams.
    pub unigrams: Vec<[u8; 32]>,
}

/// Hashes of one kind of leaf, with those of their nodes.
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
    /// A tree whose leaves are all alike: an empty memory.
    fn uniform(leaves: usize, leaf: Hash) -> Self {
        let mut tree =
            Tree { leaves: vec![leaf; leaves], nodes: vec![[0; 32]; leaves.div_ceil(FAN)] };
        for node in 0..tree.nodes.len() {
            tree.nodes[node] = tree.node(node);
        }
        tree
    }

    /// Puts leaves in place, as many as there are.
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

    fn update(&mut self, changed: &[usize], leaf: impl Fn(usize) -> Hash + Sync) {
        let hashes: Vec<Hash> = changed.par_iter().map(|&i| leaf(i)).collect();
        for (&i, hash) in changed.iter().zip(hashes) {
            self.leaves[i] = hash;
        }
        let mut nodes: Vec<usize> = changed.iter().map(|i| i / FAN).collect();
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

/// The hashes of a memory, kept between digests.
#[derive(Clone, Debug)]
pub(crate) struct Digests {
    settings: Hash,
    cells: Tree,
    pairs: Tree,
    totals: Tree,
    unigrams: Tree,
}

impl Digests {
    /// The hashes of an empty memory.
    pub(crate) fn new(settings: &Settings) -> Self {
        let parts = Tree::uniform(PARTS, part(&Part::default()));
        let n = settings.vocabulary as usize;
        let mut unigrams = Tree::uniform(n.div_ceil(UNIGRAM_RUN), [0; 32]);
        let changed: Vec<usize> = (0..unigrams.leaves.len()).collect();
        unigrams.update(&changed, |i| counts(&vec![0; UNIGRAM_RUN.min(n - i * UNIGRAM_RUN)]));
        Digests {
            settings: settings_hash(settings),
            cells: Tree::uniform(Cells::len(settings) / PAGE, run(&[0; PAGE], &[])),
            pairs: parts.clone(),
            totals: parts,
            unigrams,
        }
    }

    /// The leaves as of the last digest.
    pub(crate) fn leaves(&self) -> Leaves {
        let [cells, pairs, totals, unigrams] =
            [&self.cells, &self.pairs, &self.totals, &self.unigrams].map(|t| t.leaves.clone());
        Leaves { cells, pairs, totals, unigrams }
    }

    /// Takes leaves from a checkpoint.
    pub(crate) fn restore(&mut self, leaves: Leaves) -> Result<(), Error> {
        let Leaves { cells, pairs, totals, unigrams } = leaves;
        let restore = || {
            self.cells.restore(cells)?;
            self.pairs.restore(pairs)?;
            self.totals.restore(totals)?;
            self.unigrams.restore(unigrams)
        };
        restore().ok_or_else(|| Error::Storage("the number of its hashes is wrong".into()))
    }

    /// Hashes what changed and returns the digest.
    pub(crate) fn digest(
        &mut self,
        cells: &mut Cells,
        tables: &mut Tables,
    ) -> Result<Digest, Error> {
        let changed = cells.take_changed();
        for &i in &changed {
            cells.verify_run(i)?;
        }
        let cells = &*cells;
        self.cells
            .update(&changed, |i| run(&cells.bytes()[i * PAGE..][..PAGE], &cells.wide_in_run(i)));
        let table = |tree: &mut Tree, table: &mut Table| {
            let changed = table.take_changed();
            tree.update(&changed, |i| part(&table.parts()[i]));
        };
        table(&mut self.pairs, &mut tables.pairs);
        table(&mut self.totals, &mut tables.totals);
        let changed: Vec<usize> =
            (0..tables.changed.len()).filter(|&i| std::mem::take(&mut tables.changed[i])).collect();
        let unigrams = &tables.unigrams;
        self.unigrams.update(&changed, |i| {
            counts(&unigrams[i * UNIGRAM_RUN..unigrams.len().min((i + 1) * UNIGRAM_RUN)])
        });
        Ok(self.root())
    }

    /// The digest as of the hashes that there are.
    fn root(&self) -> Digest {
        let trees = [&self.cells, &self.pairs, &self.totals, &self.unigrams];
        Digest(hash("memo sparse 1", |hasher| {
            hasher.update(&self.settings);
            for tree in trees {
                hasher.update(&tree.root());
            }
        }))
    }
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

fn run(cells: &[u8], wide: &[(u32, Vec<i32>)]) -> Hash {
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

fn part(part: &Part) -> Hash {
    let mut bytes = Vec::new();
    for (key, count) in part.iter() {
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
