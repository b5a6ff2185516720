//! From the ledger to the memory: which versions are written and which are taken out, and how that is done.

use super::blueprint::Blueprint;
use crate::checkpoint::Texts;
use crate::error::Error;
use crate::knowledge::{Contents, KnowledgeChange, Written};
use crate::ledger::{Content, Ledger};
use crate::progress::Observer;
use crate::record::{DocumentRecord, OpRecord, Place};
use memo::sparse::{Memory, Span};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Contents that are not in the ledger yet, by document number and version.
pub(crate) type NewContents<'a> = HashMap<(u64, u32), &'a Content>;

/// Tokens whose contents are held at once, if that is more than one document.
const AT_ONCE: u64 = 1 << 22;

/// Positions that are written at once, at least and at most: between them the observer is asked whether to go on. Writing packs
/// much of a memory again each time, so that much text is better written in few slices.
const SLICE: RangeInclusive<usize> = 1 << 18..=1 << 20;

/// Versions of documents to be written to a memory or taken out of it.
pub(crate) struct MemoryUpdate<'a> {
    ledger: &'a Ledger,
    new: &'a NewContents<'a>,
    /// Each document with the number of a version, and 1 to write it or −1 to take it out.
    entries: Vec<(Cow<'a, DocumentRecord>, u32, i32)>,
    /// What follows from documents and rules, and comes or goes with them, `sign` times.
    derived: Vec<Written>,
    sign: i32,
    positions: u64,
}

/// Why an update was not made, and whether the memory is as it was before.
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) undone: bool,
}

impl<'a> MemoryUpdate<'a> {
    fn new(ledger: &'a Ledger, new: &'a NewContents<'a>) -> Self {
        MemoryUpdate {
            ledger,
            new,
            entries: Vec::new(),
            derived: Vec::new(),
            sign: 1,
            positions: 0,
        }
    }

    /// Adds what becomes of knowledge.
    pub(crate) fn with_knowledge(
        mut self,
        change: &KnowledgeChange,
        blueprint: &Blueprint,
    ) -> Result<Self, Error> {
        self.derived = change.written(blueprint)?;
        self.positions += self.derived.iter().map(Written::positions).sum::<u64>();
        Ok(self)
    }

    fn add(
        &mut self,
        document: Cow<'a, DocumentRecord>,
        place: Option<Place>,
        sign: i32,
    ) -> Result<(), Error> {
        let Some(place) = place.filter(|place| place.live) else { return Ok(()) };
        let missing = || Error::NoDocument(document.id.clone());
        self.positions += document.version(place.version).ok_or_else(missing)?.positions();
        self.entries.push((document, place.version, sign));
        Ok(())
    }

    /// Documents that move from one place to the one that they have now.
    pub(crate) fn of_moves(
        ledger: &'a Ledger,
        new: &'a NewContents<'a>,
        moves: impl IntoIterator<Item = (&'a DocumentRecord, Option<Place>)>,
    ) -> Result<Self, Error> {
        let mut update = Self::new(ledger, new);
        for (document, before) in moves {
            update.add(Cow::Borrowed(document), before, -1)?;
            update.add(Cow::Borrowed(document), document.place, 1)?;
        }
        Ok(update)
    }

    /// What ops of the ledger did.
    pub(crate) fn of_ops(
        ledger: &'a Ledger,
        new: &'a NewContents<'a>,
        ops: &[OpRecord],
    ) -> Result<Self, Error> {
        let mut update = Self::new(ledger, new);
        for op in ops {
            let document = ledger.document(&op.document)?;
            let document = document.ok_or_else(|| Error::NoDocument(op.document.clone()))?;
            update.add(Cow::Owned(document.clone()), op.before, -1)?;
            update.add(Cow::Owned(document), op.after, 1)?;
        }
        Ok(update)
    }

    /// All documents that are live, with `changed` in place of those of the same number, and what follows from them.
    pub(crate) fn of_live(
        ledger: &'a Ledger,
        blueprint: &Blueprint,
        new: &'a NewContents<'a>,
        changed: impl IntoIterator<Item = &'a DocumentRecord>,
        observer: &Observer,
    ) -> Result<Self, Error> {
        let changed: HashMap<u64, &'a DocumentRecord> =
            changed.into_iter().map(|document| (document.number, document)).collect();
        let contents = Contents { ledger, new };
        let knowledge = KnowledgeChange::of_live(contents, blueprint, &changed, observer)?;
        let mut update = Self::new(ledger, new);
        for document in ledger.documents()? {
            if !changed.contains_key(&document.number) {
                let place = document.place;
                update.add(Cow::Owned(document), place, 1)?;
            }
        }
        for document in changed.into_values() {
            update.add(Cow::Borrowed(document), document.place, 1)?;
        }
        update.with_knowledge(&knowledge, blueprint)
    }

    /// Makes the update; gives the number of positions that it took. The memory is as it was if that fails, unless what
    /// was written cannot be taken out again.
    pub(crate) fn apply(&self, memory: &mut Memory, observer: &Observer) -> Result<u64, Failure> {
        let (mut done, mut slices) = (0, 0);
        let made = self.each_slice(&mut |spans| {
            observer.tokens("memorizing", done, self.positions)?;
            write(memory, spans)?;
            done += spans.iter().map(|span| span.positions.len() as u64).sum::<u64>();
            slices += 1;
            Ok(())
        });
        let Err(error) = made else { return Ok(done) };
        let undone = self.each_slice(&mut |spans| {
            if slices == 0 {
                return Err(Error::Stopped);
            }
            slices -= 1;
            let inverse = spans.iter().map(|span| Span { weight: -span.weight, ..span.clone() });
            write(memory, &inverse.collect::<Vec<_>>())
        });
        Err(Failure { error, undone: matches!(undone, Ok(()) | Err(Error::Stopped)) })
    }

    /// The update that undoes this one.
    pub(crate) fn inverse(mut self) -> Self {
        self.entries.iter_mut().for_each(|(_, _, sign)| *sign = -*sign);
        self.sign = -self.sign;
        self
    }

    /// Gives the spans of all contents, with their weights, an eighth of them at a time, within [`SLICE`].
    fn each_slice(
        &self,
        take: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let eighth = usize::try_from(self.positions / 8).unwrap_or(usize::MAX);
        let size = eighth.clamp(*SLICE.start(), *SLICE.end());
        let mut held: Vec<(Cow<'_, Content>, i32)> = Vec::new();
        let mut tokens = 0;
        for (document, number, sign) in &self.entries {
            let content = if let Some(content) = self.new.get(&(document.number, *number)) {
                Cow::Borrowed(*content)
            } else {
                let missing = || Error::NoDocument(document.id.clone());
                let version = document.version(*number).ok_or_else(missing)?;
                Cow::Owned(self.ledger.content(document, version)?)
            };
            tokens += content.tokens();
            held.push((content, *sign));
            if tokens > AT_ONCE {
                slice(held.iter().flat_map(|(content, sign)| content.spans(*sign)), size, take)?;
                held.clear();
                tokens = 0;
            }
        }
        slice(held.iter().flat_map(|(content, sign)| content.spans(*sign)), size, take)?;
        slice(self.derived.iter().flat_map(|written| written.spans(self.sign)), size, take)
    }
}

impl Texts for MemoryUpdate<'_> {
    fn positions(&self) -> u64 {
        self.positions
    }

    fn each(&self, write: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>) -> Result<(), Error> {
        self.each_slice(write)
    }
}

/// Writes spans to a memory: all of them or, if one is refused or meets damage, none.
pub(crate) fn write(memory: &mut Memory, spans: &[Span<'_>]) -> Result<(), Error> {
    Ok(memory.write(spans)?)
}

/// Gives spans, at most `size` positions at a time.
fn slice<'a>(
    spans: impl Iterator<Item = Span<'a>>,
    size: usize,
    take: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut slice: Vec<Span<'_>> = Vec::new();
    let mut room = size;
    for span in spans {
        let (mut start, end) = (span.positions.start, span.positions.end);
        while start < end {
            let stop = end.min(start + room);
            slice.push(Span { positions: start..stop, ..span.clone() });
            room -= stop - start;
            start = stop;
            if room == 0 {
                take(&slice)?;
                slice.clear();
                room = size;
            }
        }
    }
    if slice.is_empty() { Ok(()) } else { take(&slice) }
}
