//! From the ledger to the memory: documents that move between places, and what of them is written or taken out.

use crate::checkpoint::{self, Checkpoint, Texts};
use crate::damage::Damage;
use crate::engine::{Engine, passages};
use crate::error::Error;
use crate::ledger::{Content, Ledger};
use crate::model::Model;
use crate::record::{Op, Place};
use crate::watch::Watch;
use memo::sparse::{Memory, Settings, Span};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Contents that are not in the ledger yet, by document number and version.
pub(crate) type Known<'a> = HashMap<(u64, u32), &'a Content>;

/// Tokens whose contents are held at once, if that is more than one document.
const AT_ONCE: u64 = 1 << 22;

/// Positions that are written at once: between them, whoever watches is told and asked.
const SLICE: usize = 1 << 18;

/// Some moves of documents, and where their contents are.
pub(crate) struct Moves<'a> {
    ledger: &'a Ledger,
    ops: Cow<'a, [Op]>,
    known: &'a Known<'a>,
    positions: u64,
}

/// Why moves were not made, and whether the memory is as it was before.
pub(crate) struct Failed {
    pub(crate) error: Error,
    pub(crate) undone: bool,
}

impl<'a> Moves<'a> {
    /// These moves.
    pub(crate) fn new(
        ledger: &'a Ledger,
        ops: impl Into<Cow<'a, [Op]>>,
        known: &'a Known<'a>,
    ) -> Result<Self, Error> {
        let mut moves = Moves { ledger, ops: ops.into(), known, positions: 0 };
        for op in &*moves.ops {
            for (place, _) in live_places(op) {
                let known = known.get(&(op.number, place.version));
                moves.positions += match known {
                    Some(content) => content.tokens() + content.parts.len() as u64,
                    None => moves.version(op, place, |version| {
                        Ok(version.tokens + version.parts.len() as u64)
                    })?,
                };
            }
        }
        Ok(moves)
    }

    /// All documents that are live, or will be after `ops`, coming from nowhere.
    pub(crate) fn all_live(
        ledger: &'a Ledger,
        ops: &[Op],
        known: &'a Known<'a>,
    ) -> Result<Self, Error> {
        let moving: HashSet<u64> = ops.iter().map(|op| op.number).collect();
        let staying = ledger.documents()?.into_iter().filter(|d| !moving.contains(&d.number));
        let staying = staying.map(|d| (d.id, d.number, d.place));
        let coming = ops.iter().map(|op| (op.document.clone(), op.number, op.after));
        let live = staying.chain(coming).filter_map(|(document, number, place)| {
            let after = Some(place.filter(|place| place.live)?);
            Some(Op { document, number, before: None, after })
        });
        Self::new(ledger, live.collect::<Vec<_>>(), known)
    }

    fn version<T>(
        &self,
        op: &Op,
        place: Place,
        read: impl FnOnce(&crate::record::Version) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let missing = || Error::NoDocument(op.document.clone());
        let document = self.ledger.document(&op.document)?.ok_or_else(missing)?;
        let version = document.versions.iter().find(|v| v.number == place.version);
        read(version.ok_or_else(missing)?)
    }

    /// Makes them in a memory; tells how many positions that took. A memory that is exact is as it was if that fails.
    pub(crate) fn apply(&self, memory: &mut Engine, watch: &Watch) -> Result<u64, Failed> {
        let exact = memory.exact();
        let (mut done, mut slices) = (0, 0);
        let made = self.slices(if exact { SLICE } else { usize::MAX }, &mut |passages| {
            if exact {
                watch.ask("memorizing", done, self.positions)?;
            } else {
                watch.say("memorizing", done, self.positions);
            }
            memory.write(passages)?;
            done += positions(passages);
            slices += 1;
            Ok(())
        });
        let Err(error) = made else { return Ok(done) };
        // Take out again what is in already; then stop going through the rest.
        let undone = self.slices(SLICE, &mut |passages| {
            if slices == 0 {
                return Err(Error::Stopped);
            }
            slices -= 1;
            let inverse = passages.iter().map(|p| Span { weight: -p.weight, ..p.clone() });
            memory.write(&inverse.collect::<Vec<_>>())
        });
        Err(Failed { error, undone: exact && matches!(undone, Ok(()) | Err(Error::Stopped)) })
    }

    /// The passages of all contents, with their weights, at most `size` positions at a time.
    fn slices(
        &self,
        size: usize,
        write: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut held: Vec<(Cow<'_, Content>, i32)> = Vec::new();
        let mut tokens = 0;
        for op in &*self.ops {
            for (place, sign) in live_places(op) {
                let content =
                    match self.known.get(&(op.number, place.version)) {
                        Some(content) => Cow::Borrowed(*content),
                        None => Cow::Owned(self.version(op, place, |version| {
                            self.ledger.content(op.number, version)
                        })?),
                    };
                tokens += content.tokens();
                held.push((content, sign));
            }
            if tokens > AT_ONCE {
                sliced(&held, size, write)?;
                held.clear();
                tokens = 0;
            }
        }
        sliced(&held, size, write)
    }

    /// Writes a checkpoint of a memory that is made of these alone, piece by piece, beside its place; tells where.
    pub(crate) fn write_pieces(
        &self,
        path: &Path,
        settings: &Settings,
        transaction: u64,
        piece: usize,
        watch: &Watch,
    ) -> Result<PathBuf, Error> {
        checkpoint::write_pieces(path, settings, transaction, self, piece, watch)
    }

    pub(crate) fn positions(&self) -> u64 {
        self.positions
    }
}

impl Texts for Moves<'_> {
    fn positions(&self) -> u64 {
        self.positions
    }

    fn each(&self, write: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>) -> Result<(), Error> {
        self.slices(SLICE, write)
    }
}

/// The places of a move whose content is taken out or written, each with its sign.
fn live_places(op: &Op) -> impl Iterator<Item = (Place, i32)> {
    let both = [(op.before, -1), (op.after, 1)];
    both.into_iter().filter_map(|(place, sign)| Some((place.filter(|place| place.live)?, sign)))
}

fn positions(passages: &[Span<'_>]) -> u64 {
    passages.iter().map(|passage| passage.positions.len() as u64).sum()
}

/// Gives the passages of contents, at most `size` positions at a time.
fn sliced(
    contents: &[(Cow<'_, Content>, i32)],
    size: usize,
    write: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut slice: Vec<Span<'_>> = Vec::new();
    let mut room = size;
    for passage in contents.iter().flat_map(|(content, sign)| passages(content, *sign)) {
        let (mut start, end) = (passage.positions.start, passage.positions.end);
        while start < end {
            let stop = end.min(start.saturating_add(room));
            slice.push(Span { positions: start..stop, ..passage.clone() });
            room -= stop - start;
            start = stop;
            if room == 0 {
                write(&slice)?;
                slice.clear();
                room = size;
            }
        }
    }
    if slice.is_empty() { Ok(()) } else { write(&slice) }
}

/// Writes all documents that are live, or will be after `ops`; tells how many positions that took.
pub(crate) fn write_live(
    ledger: &Ledger,
    memory: &mut Engine,
    ops: &[Op],
    watch: &Watch,
) -> Result<u64, Error> {
    let known = Known::new();
    let moves = Moves::all_live(ledger, ops, &known)?;
    moves.apply(memory, watch).map_err(|failed| failed.error)
}

/// The memory of a checkpoint.
pub(crate) fn read(path: &Path) -> Result<Engine, Error> {
    let memory: Memory = Checkpoint::open(path)?.memory()?;
    Ok(Engine::Sparse(Box::new(memory)))
}

/// Brings a memory up to the ledger's last transaction; returns how many positions that took.
pub(crate) fn replay(
    ledger: &Ledger,
    model: &Model,
    memory: &mut Engine,
    applied: &mut u64,
    watch: &Watch,
) -> Result<u64, Error> {
    if ledger.last()? < *applied {
        return Err(ledger.damaged(Damage::Older));
    }
    let transactions = ledger.transactions(*applied)?;
    let Some(last) = transactions.last().map(|transaction| transaction.id) else { return Ok(0) };
    if *applied == 0 {
        // From nothing: all that counts is what is live now. Texts that came and went may be scrubbed.
        *applied = last;
        return write_live(ledger, memory, &[], watch);
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
    let written = apply(ledger, model, memory, &net, &Known::new(), watch);
    let written = written.map_err(|failed| failed.error)?;
    *applied = last;
    Ok(written)
}

/// Makes moves in a memory. A memory that is not exact is made anew if something leaves it; the documents must be in
/// their new places in the ledger then.
pub(crate) fn apply(
    ledger: &Ledger,
    model: &Model,
    memory: &mut Engine,
    ops: &[Op],
    known: &Known<'_>,
    watch: &Watch,
) -> Result<u64, Failed> {
    let failed = |error| Failed { error, undone: true };
    if !memory.exact() && ops.iter().any(|op| op.before.is_some_and(|place| place.live)) {
        // Floats cannot be taken out again without a trace.
        *memory = Engine::new(model).map_err(failed)?;
        return write_live(ledger, memory, &[], watch)
            .map_err(|error| Failed { error, undone: false });
    }
    Moves::new(ledger, ops, known).map_err(failed)?.apply(memory, watch)
}
