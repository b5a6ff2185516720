//! Writing: from positions of documents to entries of tables.
//!
//! A batch of positions is planned first: the cells of every slot, sorted by the partition that they are in; then each
//! partition is given to one thread, which merges what is new into what is there. Integer sums commute, so neither the number
//! of threads nor the order can be seen in the result. All that is ever done is adding a signed weight at a position;
//! forgetting is the same with the opposite sign.

use super::facts::Question;
use super::general::{General, GeneralContext, Generalizer, class_hash, is_listed};
use super::keys::{BOUNDARY, Cell, Keys};
use super::scope::Scope;
use super::settings::{WORD_REACH, check_positions};
use super::tables::{Sorted, TableKind, Tables};
use super::{Error, PARTITIONS, Settings};
use crate::words::{WordState, Words};
use rayon::prelude::*;
use std::ops::Range;

/// Some positions of one document, to be added with a weight.
///
/// Position p predicts token p from those before it; the position after the last token predicts the end token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// The whole document, without the end token.
    pub document: &'a [u32],
    /// The positions to write, within `0..document.len() + 1`.
    pub positions: Range<usize>,
    /// How often: 1 memorizes, −1 forgets, more emphasises.
    pub weight: i32,
    /// What the document is the answer to, if it is one and no text.
    pub question: Option<Question<'a>>,
}

impl<'a> Span<'a> {
    /// Makes a span of a whole document, its end included.
    pub fn whole(document: &'a [u32], weight: i32) -> Self {
        Self::part(document, 0..document.len() + 1, weight)
    }

    /// Makes a span of some positions of a document.
    pub fn part(document: &'a [u32], positions: Range<usize>, weight: i32) -> Self {
        Span { document, positions, weight, question: None }
    }

    /// Makes a span of an answer to a question.
    pub fn answer(question: Question<'a>, answer: &'a [u32], weight: i32) -> Self {
        Span { question: Some(question), ..Self::whole(answer, weight) }
    }

    /// Refuses positions that do not exist, and tokens that cannot be in a document, where the span is read.
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), Error> {
        if let Some(question) = &self.question {
            question.check(settings)?;
        }
        self.check_tokens(settings.vocabulary, settings.end, settings.reach())
    }

    /// Does the same for text, of which `reach` tokens before the positions are read.
    pub(crate) fn check_tokens(
        &self,
        vocabulary: u32,
        end: u32,
        reach: usize,
    ) -> Result<(), Error> {
        let read = check_positions(vocabulary, self.document, &self.positions, reach)?;
        let (first, token) = (read.start, end);
        match self.document[read].iter().position(|&other| other == token) {
            Some(i) => Err(Error::End { token, position: first + i }),
            None => Ok(()),
        }
    }
}

/// What some spans write. Kept from batch to batch to reuse its buffers.
#[derive(Default)]
struct Plan {
    unigrams: Vec<u32>,
    sorted: [Sorted; TableKind::ALL.len()],
}

/// What a thread needs to make plans.
#[derive(Default)]
struct PlanScratch {
    cells: [Vec<Cell>; TableKind::ALL.len()],
    prefixes: Vec<u64>,
}

/// A write in progress: the parts of a memory that it reads and changes.
pub(crate) struct Writer<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) keys: &'a Keys,
    pub(crate) words: Option<&'a Words>,
    pub(crate) tables: &'a mut Tables,
    pub(crate) scope: &'a Scope,
}

/// Positions in a batch. Every batch packs again most of what is there, so fewer are better; the plans of one take 8 bytes for
/// each context of a position, some 130 in all.
const BATCH: usize = 1 << 20;

/// Positions in a plan. While it is made, its cells should stay in a cache.
const PLAN: usize = 1 << 15;

/// A write packs everything in the end if it has at least this share of what is there then, and else leaves to each partition
/// when that is worth it.
const SHARE: i64 = 16;

/// Up to this many positions a batch is planned by the calling thread alone.
const ALONE: usize = 256;

impl Writer<'_> {
    /// Writes spans that have been checked, all of them or, if bytes of a file turn out to be damaged, none.
    pub(crate) fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        let weighted = spans.chunk_by(|a, b| a.weight == b.weight).filter(|s| s[0].weight != 0);
        let batches: Vec<Vec<Span<'_>>> = weighted.flat_map(|same| divide(same, BATCH)).collect();
        let mut plans = Vec::new();
        if let [batch] = &batches[..] {
            self.plan_batch(batch, &mut plans);
            self.verify(&plans)?;
            let settle = self.is_large(positions(batch));
            return self.write_batch(&plans, batch[0].weight, settle);
        }
        // A full batch touches all partitions. Others are a few short texts, with weights that alternate.
        if batches.iter().any(|batch| positions(batch) == BATCH) {
            self.verify_all()?;
        } else {
            for batch in &batches {
                self.plan_batch(batch, &mut plans);
                self.verify(&plans)?;
            }
        }
        let large = self.is_large(batches.iter().map(|batch| positions(batch)).sum());
        for (i, batch) in batches.iter().enumerate() {
            self.plan_batch(batch, &mut plans);
            self.write_batch(&plans, batch[0].weight, large && i + 1 == batches.len())?;
        }
        Ok(())
    }

    /// Returns whether a write of so many positions is large beside what is there.
    fn is_large(&self, positions: usize) -> bool {
        // Taking much out is as large as putting it in.
        let there: i64 = self.tables.unigrams.iter().sum();
        positions > ALONE && positions as i64 > there / SHARE
    }

    /// Plans a batch, on all threads if it is large. `plans` are reused from batch to batch.
    fn plan_batch(&self, batch: &[Span<'_>], plans: &mut Vec<Plan>) {
        let threads = if positions(batch) <= ALONE { 1 } else { rayon::current_num_threads() };
        let lists = divide(batch, positions(batch).div_ceil(threads).clamp(1, PLAN));
        plans.resize_with(lists.len(), Plan::default);
        if let ([spans], [plan]) = (&lists[..], &mut plans[..]) {
            self.plan(spans, plan, &mut PlanScratch::default());
        } else {
            let both = lists.par_iter().zip(plans.par_iter_mut());
            both.for_each_init(PlanScratch::default, |scratch, (spans, plan)| {
                self.plan(spans, plan, scratch);
            });
        }
    }

    /// Writes a batch of spans that all have the same weight.
    fn write_batch(&mut self, plans: &[Plan], weight: i32, settle: bool) -> Result<(), Error> {
        if self.scope.unigrams {
            for plan in plans {
                self.tables.add_unigrams(&plan.unigrams, weight.into());
            }
        }
        for kind in TableKind::ALL {
            let lists: Vec<&Sorted> =
                plans.iter().map(|plan| &plan.sorted[kind as usize]).collect();
            self.tables.add(kind, &lists, weight.into(), settle)?;
        }
        Ok(())
    }

    /// Has the partitions that plans write checked.
    fn verify(&self, plans: &[Plan]) -> Result<(), Error> {
        for kind in TableKind::ALL {
            let partitions = &self.tables.table(kind).partitions;
            (0..PARTITIONS).into_par_iter().try_for_each(|p| {
                let written =
                    plans.iter().any(|plan| !plan.sorted[kind as usize].partition(p).is_empty());
                if written { partitions[p].verify() } else { Ok(()) }
            })?;
        }
        Ok(())
    }

    fn verify_all(&self) -> Result<(), Error> {
        let all = self.tables.tables.par_iter().flat_map(|table| &table.partitions);
        all.try_for_each(super::partition::Partition::verify)
    }

    /// Works out what some spans write.
    fn plan(&self, spans: &[Span<'_>], plan: &mut Plan, scratch: &mut PlanScratch) {
        let Plan { unigrams, sorted } = plan;
        let PlanScratch { cells, prefixes } = scratch;
        unigrams.clear();
        cells.iter_mut().for_each(Vec::clear);
        for span in spans {
            self.plan_span(span, unigrams, cells, prefixes);
        }
        for kind in TableKind::ALL {
            let layout = self.tables.table(kind).layout;
            sorted[kind as usize].sort(layout, &cells[kind as usize], self.scope.of(kind));
        }
    }

    fn plan_span(
        &self,
        Span { document, positions, question, .. }: &Span<'_>,
        unigrams: &mut Vec<u32>,
        [pairs, successors, events]: &mut [Vec<Cell>; TableKind::ALL.len()],
        prefixes: &mut Vec<u64>,
    ) {
        let Settings { tokens: lens, words: word_lens, end, .. } = self.settings;
        if let Some(question) = question {
            return question.plan(self.keys, document, positions.clone(), *end, successors);
        }
        let token = |p: usize| document.get(p).copied().unwrap_or(*end);
        // Hashing what slots see again is cheaper than keeping the hashes of all documents.
        let first = positions.start.saturating_sub(self.settings.longest());
        let at_start = first == 0;
        self.keys.prefixes(&document[first..positions.end.min(document.len())], at_start, prefixes);
        let listed: Vec<bool> =
            (0..self.settings.slots()).map(|slot| self.settings.listed(slot)).collect();
        let skip = self.settings.skip_slot();
        for p in positions.clone() {
            let next = token(p);
            unigrams.push(next);
            pairs.push(Keys::pair(p.checked_sub(1).map_or(BOUNDARY, token), next));
            let end = p - first + usize::from(at_start);
            for (slot, &len) in lens.iter().enumerate().skip(1) {
                // A context that is longer than the text before it is all of that, from the boundary on; one of these is enough.
                if lens[slot - 1] as usize > p {
                    break;
                }
                let hash = self.keys.block(prefixes, end, (len as usize).min(end));
                if listed[slot] {
                    successors.push(self.keys.listed(slot, hash, next));
                } else {
                    events.push(self.keys.events(slot, hash).cell(next));
                }
            }
            if let (Some(slot), Some(skipped)) = (skip, p.checked_sub(2)) {
                successors.push(self.keys.listed(slot, self.keys.single(token(skipped)), next));
            }
        }
        let Some(vocabulary) = self.words else { return };
        let mut state = WordState::before(vocabulary, document, positions.start, WORD_REACH);
        for p in positions.clone() {
            for (i, &len) in word_lens.iter().enumerate() {
                let Some(hash) = state.within(len as usize, WORD_REACH) else { break };
                let (slot, next) = (lens.len() + i, token(p));
                if listed[slot] {
                    successors.push(self.keys.listed(slot, hash, next));
                } else {
                    events.push(self.keys.events(slot, hash).cell(next));
                }
            }
            if p < document.len() {
                state.push(vocabulary, document[p]);
            }
        }
        let Some(lexicon) = vocabulary.lexicon() else { return };
        let mut general = Generalizer::new(vocabulary, lexicon, document, positions.start);
        for p in positions.clone() {
            for level in 0..self.settings.levels() {
                let General { contexts, class } = general.general(level);
                let members = self.settings.members(level);
                if let Some(class) = class {
                    successors.push(self.keys.listed(members, class_hash(class), token(p)));
                }
                let next = class.map_or(token(p), |class| self.settings.vocabulary + class);
                for (i, context) in contexts.into_iter().enumerate() {
                    let Some(GeneralContext { hash, .. }) = context else { continue };
                    let slot = members + 1 + i;
                    if is_listed(i) {
                        successors.push(self.keys.listed(slot, hash, next));
                    } else {
                        events.push(self.keys.events(slot, hash).cell(next));
                    }
                }
            }
            general.advance();
        }
    }
}

/// Returns how many positions spans have.
pub(crate) fn positions(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| span.positions.len()).sum()
}

/// Divides spans into lists of `size` positions, the last one of fewer.
pub(crate) fn divide<'a>(spans: &[Span<'a>], size: usize) -> Vec<Vec<Span<'a>>> {
    let mut lists: Vec<Vec<Span<'a>>> = Vec::new();
    let mut room = 0;
    for span in spans {
        let Range { mut start, end } = span.positions;
        while start < end {
            if room == 0 {
                lists.push(Vec::new());
                room = size;
            }
            let stop = end.min(start + room);
            if let Some(list) = lists.last_mut() {
                list.push(Span { positions: start..stop, ..*span });
            }
            room -= stop - start;
            start = stop;
        }
    }
    lists
}
