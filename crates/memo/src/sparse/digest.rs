//! The digest of a memory: a Merkle root that is equal exactly when settings and tables are.
//!
//! Leaves are partitions of tables and slices of unigrams; 256 leaves make a node, all nodes the root of their kind, the
//! roots with the settings the digest. Only leaves that changed are hashed again, and a shard can hash its own leaves
//! alone. What is hashed is entries in order of their keys, which are a function of the counts, so no history can be seen.
//!
//! Writing flags the leaves that it changes. A digest hashes those and keeps the hashes; the flags stay until the next
//! write, which clears them first if all were hashed. So a digest needs no exclusive access to the memory.

use super::partition::{PARTITIONS, PackedEntries};
use super::tables::{TableKind, Tables, UNIGRAM_LEAF};
use super::{Error, LexiconSettings, Memory, Settings};
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() == 64);
        let digits = digits.ok_or_else(|| serde::de::Error::custom("a digest has 64 digits"))?;
        Ok(Digest(std::array::from_fn(|i| (digits[2 * i] << 4 | digits[2 * i + 1]) as u8)))
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
    /// Of each partition of each table.
    pub tables: [Vec<[u8; 32]>; TableKind::ALL.len()],
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
    /// Returns the digest of settings and tables. Only what changed since the last one is hashed. That of a frozen memory is
    /// the one that the memory had before it was frozen.
    pub fn digest(&self) -> Result<Digest, Error> {
        match self.frozen {
            Some(digest) => Ok(digest),
            None => self.digests.digest(&self.tables),
        }
    }

    /// Returns the digest with everything hashed anew, whatever a checkpoint or an earlier digest said. Of a frozen memory it
    /// is the digest of its own entries.
    pub fn digest_anew(&self) -> Result<Digest, Error> {
        let mut hashes = Hashes::new(self.settings());
        Ok(hashes.update(hash_leaves(&self.tables, true)?))
    }

    /// Returns the hashes that the digest is made of.
    pub fn leaves(&self) -> Result<Leaves, Error> {
        self.digests.digest(&self.tables)?;
        let hashes = self.digests.lock();
        let tables = std::array::from_fn(|i| hashes.tables[i].leaves.clone());
        Ok(Leaves { tables, unigrams: hashes.unigrams.leaves.clone() })
    }
}

/// What a checkpoint needs of a digest, so that entries are packed once for both.
impl Memory {
    /// Returns the leaf of a partition, if it is known without hashing.
    pub fn known_leaf(&self, kind: TableKind, partition: usize) -> Option<[u8; 32]> {
        let changed = self.tables.table(kind).partitions[partition].changed();
        let hashes = self.digests.lock();
        let known = !changed || hashes.digest.is_some();
        known.then(|| hashes.tables[kind as usize].leaves[partition])
    }

    /// Keeps the leaves of all partitions, which must be those of [`Memory::known_leaf`] or [`PackedEntries::leaf`]: a digest need not
    /// hash them again. Returns all leaves.
    pub fn keep_leaves(
        &self,
        tables: [Vec<[u8; 32]>; TableKind::ALL.len()],
    ) -> Result<Leaves, Error> {
        let mut unigrams = self.digests.lock().unigrams.leaves.clone();
        for (i, leaf) in hash_unigrams(&self.tables, false) {
            unigrams[i] = leaf;
        }
        let leaves = Leaves { tables, unigrams };
        let mut hashes = self.digests.lock();
        hashes.restore(leaves.clone())?;
        hashes.update(Default::default());
        Ok(leaves)
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

    fn digest(&self, tables: &Tables) -> Result<Digest, Error> {
        if let Some(digest) = self.lock().digest {
            return Ok(digest);
        }
        // The lock is not held while leaves are hashed: that runs on all threads, and a thread that waits for others may
        // take up another digest of the same memory. Callers that hash at the same time find the same hashes.
        let leaves = hash_leaves(tables, false)?;
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
    tables: [Tree; TableKind::ALL.len()],
    unigrams: Tree,
    /// The digest, if no leaf has changed since it was taken.
    digest: Option<Digest>,
}

/// Leaves by their numbers, in order.
type NumberedHashes = Vec<(usize, Hash)>;

/// Leaves of each table, and of the unigrams.
type NewLeaves = ([NumberedHashes; TableKind::ALL.len()], NumberedHashes);

impl Hashes {
    /// Makes the hashes of an empty memory.
    fn new(settings: &Settings) -> Self {
        let empty = hash("table", |hasher| {
            hasher.update(&0u64.to_le_bytes());
        });
        let n = settings.vocabulary as usize;
        let mut unigrams = Tree::uniform(n.div_ceil(UNIGRAM_LEAF), [0; 32]);
        unigrams.update(
            (0..unigrams.leaves.len())
                .map(|i| (i, counts(&vec![0; UNIGRAM_LEAF.min(n - i * UNIGRAM_LEAF)]))),
        );
        let tables = std::array::from_fn(|_| Tree::uniform(PARTITIONS, empty));
        Hashes { settings: settings_hash(settings), tables, unigrams, digest: None }
    }

    fn restore(&mut self, leaves: Leaves) -> Result<(), Error> {
        let restore = || {
            for (tree, leaves) in self.tables.iter_mut().zip(leaves.tables) {
                tree.restore(leaves)?;
            }
            self.unigrams.restore(leaves.unigrams)
        };
        restore().ok_or_else(|| Error::Storage("the number of its hashes is wrong".into()))
    }

    /// Replaces some leaves, or none, and returns the digest.
    fn update(&mut self, (tables, unigrams): NewLeaves) -> Digest {
        for (tree, leaves) in self.tables.iter_mut().zip(tables) {
            tree.update(leaves);
        }
        self.unigrams.update(unigrams);
        let digest = Digest(hash("memo sparse 2", |hasher| {
            hasher.update(&self.settings);
            for tree in self.tables.iter().chain([&self.unigrams]) {
                hasher.update(&tree.root());
            }
        }));
        self.digest = Some(digest);
        digest
    }
}

/// Hashes the leaves that changed, or all.
fn hash_leaves(tables: &Tables, all: bool) -> Result<NewLeaves, Error> {
    let mut hashed: [NumberedHashes; TableKind::ALL.len()] = Default::default();
    for (hashed, table) in hashed.iter_mut().zip(&tables.tables) {
        let partitions = table.partitions.par_iter().enumerate();
        let changed = partitions.filter(|(_, partition)| all || partition.changed());
        *hashed = changed
            .map(|(i, partition)| {
                Ok((i, self::partition(&partition.packed_entries(table.layout)?)))
            })
            .collect::<Result<_, Error>>()?;
    }
    Ok((hashed, hash_unigrams(tables, all)))
}

fn hash_unigrams(tables: &Tables, all: bool) -> NumberedHashes {
    let unigrams = tables.unigrams.chunks(UNIGRAM_LEAF).zip(&tables.changed).enumerate();
    let unigrams = unigrams.filter(|(_, (_, changed))| all || **changed);
    unigrams.map(|(i, (leaf, _))| (i, counts(leaf))).collect()
}

fn settings_hash(settings: &Settings) -> Hash {
    let Settings { vocabulary, end, seed, tokens, words, lexicon, grouped, skip } = settings;
    let lens = [tokens, words].into_iter().flat_map(|lens| {
        std::iter::once(lens.len() as u64).chain(lens.iter().map(|&len| len.into()))
    });
    let numbers = [u64::from(*vocabulary), u64::from(*end), *seed];
    hash("settings", |hasher| {
        for number in numbers.into_iter().chain(lens) {
            hasher.update(&number.to_le_bytes());
        }
        if let Some(LexiconSettings { digest, .. }) = lexicon {
            hasher.update(digest.as_bytes());
        }
        if *grouped {
            hasher.update(b"grouped");
        }
        if *skip {
            hasher.update(b"skip");
        }
    })
}

impl PackedEntries<'_> {
    /// Returns their leaf of the digest.
    pub fn leaf(&self) -> [u8; 32] {
        partition(self)
    }
}

/// Packed entries are a function of the counts, and so is the list of large ones.
fn partition(PackedEntries { bytes, large }: &PackedEntries<'_>) -> Hash {
    hash("table", |hasher| {
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        for large in large.iter() {
            hasher.update(&large.rank.to_le_bytes()).update(&large.count.to_le_bytes());
        }
    })
}

fn counts(counts: &[i64]) -> Hash {
    hash("unigrams", |hasher| {
        for count in counts {
            hasher.update(&count.to_le_bytes());
        }
    })
}
