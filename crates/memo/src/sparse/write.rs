//! Writing: from positions of documents to rows and tables.
//!
//! A batch of positions is planned first: every slot's key, the rows it selects, the table entries it counts in. Writes
//! are sorted by the share of rows that they touch; then each share is given to one thread, which alone writes there.
//! Guarded storage checks the rows of all batches before the first is written, so a write is done whole or not at all.
//! Integer sums commute, so neither the number of threads nor the order can be seen in the result. All that is ever
//! done is adding a signed weight at a position; forgetting is the same with the opposite sign.

use super::cells::Cells;
use super::codes::Codes;
use super::keys::{BOUNDARY, Blocks, Keys, row};
use super::scope::Scope;
use super::settings::Counted;
use super::share::Share;
use super::tables::{Lists, Sorted, Tables, pair_key, total_key};
use super::{Error, Settings};
use crate::kernels::integer::Write;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

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
}

impl<'a> Span<'a> {
    /// A whole document, its end included.
    pub fn whole(document: &'a [u32], weight: i32) -> Self {
        Span { document, positions: 0..document.len() + 1, weight }
    }

    /// Refuses positions that do not exist, and tokens that cannot be in a document, where the span is read.
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), Error> {
        let read = settings.check_positions(self.document, &self.positions, settings.reach())?;
        let (first, token) = (read.start, settings.end);
        match self.document[read].iter().position(|&other| other == token) {
            Some(i) => Err(Error::End { token, position: first + i }),
            None => Ok(()),
        }
    }
}

/// What a batch of positions writes. Kept from batch to batch for its memory.
#[derive(Default)]
struct Plan {
    /// The row writes of each share.
    writes: Vec<Vec<Write>>,
    pairs: Sorted,
    totals: Sorted,
    /// Counted down instead of up: see [`Writer::edges`].
    discounts: Sorted,
    unigrams: Vec<u32>,
    blocks: Vec<Blocks>,
    of_slot: Vec<u64>,
    keys: [Vec<u64>; 3],
}

/// What writing needs to know and change.
pub(crate) struct Writer<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) keys: &'a Keys,
    pub(crate) codes: &'a [Arc<Codes>],
    pub(crate) cells: &'a mut Cells,
    pub(crate) tables: &'a mut Tables,
    pub(crate) scope: &'a Scope,
}

/// Below this many positions a batch is planned and written by the calling thread alone.
const ALONE: usize = 256;

impl Writer<'_> {
    /// Writes spans that have been checked, all of them or, if guarded storage finds damage, none.
    pub(crate) fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        // Plans take about 300 bytes a position: a seventh of the cells they are for, or 2 to 80 MB; a 27th of very
        // large ones. The more positions in a batch, the more of them share lines of the tables and rows.
        let cells = Cells::len(self.settings);
        let size = (cells >> 11).clamp(1 << 13, 1 << 18).max((cells >> 13).min(1 << 20));
        let weighted = spans.chunk_by(|a, b| a.weight == b.weight).filter(|s| s[0].weight != 0);
        let batches: Vec<Vec<Span<'_>>> = weighted.flat_map(|same| divide(same, size)).collect();
        let mut plans = Vec::new();
        if self.cells.guarded() {
            // Plans of all batches would take too much memory; making them twice takes little time.
            for batch in &batches {
                self.verify(self.plan_batch(batch, &mut plans))?;
            }
        }
        for batch in &batches {
            self.write_batch(batch, &mut plans);
        }
        Ok(())
    }

    /// Plans a batch, on all threads if it is large, in plans that are kept for their memory.
    fn plan_batch<'p>(&self, batch: &[Span<'_>], plans: &'p mut Vec<Plan>) -> &'p [Plan] {
        let alone = is_small(batch);
        let threads = if alone { 1 } else { rayon::current_num_threads() };
        let parts = divide(batch, positions(batch).div_ceil(threads));
        plans.resize_with(plans.len().max(parts.len()), Plan::default);
        let plans = &mut plans[..parts.len()];
        if alone {
            parts.iter().zip(&mut *plans).for_each(|(part, plan)| self.plan(part, plan));
        } else {
            let both = parts.par_iter().zip(plans.par_iter_mut());
            both.for_each(|(part, plan)| self.plan(part, plan));
        }
        plans
    }

    /// Writes a batch of spans that all have the same weight.
    fn write_batch(&mut self, batch: &[Span<'_>], plans: &mut Vec<Plan>) {
        let (plans, weight) = (self.plan_batch(batch, plans), batch[0].weight);
        let codes = self.codes;
        let write = |(index, mut share): (usize, Share<'_>)| {
            for plan in plans {
                share.write(&codes[share.slot], &plan.writes[index], weight);
            }
        };
        let lists = plans.iter().map(|plan| Lists {
            unigrams: if self.scope.unigrams { &plan.unigrams } else { &[] },
            pairs: &plan.pairs,
            totals: &plan.totals,
            discounts: &plan.discounts,
        });
        let lists: Vec<Lists<'_>> = lists.collect();
        let shares = self.cells.shares_mut().into_iter().enumerate();
        if is_small(batch) {
            shares.for_each(write);
            self.tables.add(&lists, weight.into());
        } else {
            let shares: Vec<_> = shares.collect();
            rayon::join(
                || shares.into_par_iter().for_each(write),
                || self.tables.add(&lists, weight.into()),
            );
        }
    }

    /// Has guarded storage check the rows that plans write.
    fn verify(&self, plans: &[Plan]) -> Result<(), Error> {
        for plan in plans {
            for share in 0..self.cells.shares() {
                let (slot, first) = self.cells.share(share);
                for write in &plan.writes[share] {
                    self.cells.verify(slot, first + u64::from(write.row))?;
                }
            }
        }
        Ok(())
    }

    /// Works out what some spans write.
    fn plan(&self, spans: &[Span<'_>], plan: &mut Plan) {
        let Plan { writes, unigrams, blocks, of_slot, keys, .. } = plan;
        let [pairs, totals, discounts] = keys;
        writes.resize_with(self.cells.shares(), Vec::new);
        writes.iter_mut().for_each(Vec::clear);
        unigrams.clear();
        pairs.clear();
        totals.clear();
        discounts.clear();
        let reach = self.settings.reach();
        let token =
            |document: &[u32], p: usize| document.get(p).copied().unwrap_or(self.settings.end);
        // Keys see `reach` tokens back; hashing those again is cheaper than keeping the hashes of all documents.
        let first = |positions: &Range<usize>| positions.start.saturating_sub(reach);
        blocks.resize_with(blocks.len().max(spans.len()), Blocks::default);
        for (Span { document, positions, .. }, blocks) in spans.iter().zip(&mut *blocks) {
            for p in positions.clone() {
                let before = p.checked_sub(1).map_or(BOUNDARY, |p| token(document, p));
                unigrams.push(token(document, p));
                pairs.push(pair_key(before, token(document, p)));
            }
            let seen = first(positions)..positions.end.min(document.len());
            self.keys.blocks(&document[seen], blocks);
        }
        for (s, slot) in self.settings.slots.iter().enumerate() {
            let region = self.cells.region(s);
            let shares = region.share..region.share + region.shares();
            let written = self.scope.touches(&shares);
            if !written && self.scope.totals.is_empty() {
                continue;
            }
            let words = self.codes[s].words();
            let writes = &mut writes[shares.clone()];
            let counted = self.settings.counted(s);
            let mut tokens = &unigrams[..];
            for (Span { document, positions, .. }, blocks) in spans.iter().zip(&*blocks) {
                let first = first(positions);
                let seen = positions.start - first..positions.end - first;
                if written || counted == Counted::Alone {
                    self.keys.of_slot(blocks, s, seen, of_slot);
                }
                let (mine, rest) = tokens.split_at(positions.len());
                tokens = rest;
                if written {
                    // The first positions may have no block.
                    let tokens = &mine[mine.len() - of_slot.len()..];
                    for (&key, &token) in of_slot.iter().zip(tokens) {
                        let bucket = if slot.bucketed { words.place(token).0 as u64 } else { 0 };
                        for copy in 0..u64::from(slot.copies) {
                            let (row, address) = row(key, bucket, copy, region.rows);
                            let (share, row) = region.place(row as u32);
                            if self.scope.shares.contains(&(shares.start + share)) {
                                writes[share].push(Write { address, row, token });
                            }
                        }
                    }
                }
                if self.scope.totals.is_empty() {
                    continue;
                }
                let (more, fewer) = match counted {
                    Counted::Alone => {
                        totals.extend(of_slot.iter().map(|&key| total_key(key)));
                        continue;
                    }
                    Counted::WithTokens | Counted::WithPairs => one_on(positions, document.len()),
                    Counted::WithNewest(_) => back(positions, slot.skip as usize),
                };
                // Positions are those where blocks end; the slot sees them `skip` tokens later.
                let key = |end: usize| {
                    let place = end + slot.skip as usize - first;
                    self.keys.key(blocks, s, place).map(total_key)
                };
                totals.extend(more.filter_map(key));
                discounts.extend(fewer.filter_map(key));
            }
        }
        plan.pairs.sort(pairs, &self.scope.pairs);
        plan.totals.sort(totals, &self.scope.totals);
        plan.discounts.sort(discounts, &self.scope.totals);
    }
}

/// Blocks of one or two tokens are counted as the tokens or pairs that end them: every position that is written is a
/// block before the next. At the edges of a span that is one too few and one too many; two spans that meet cancel.
fn one_on(positions: &Range<usize>, document: usize) -> (Range<usize>, Range<usize>) {
    let after = usize::from(positions.end <= document);
    (positions.start..positions.start + 1, positions.end..positions.end + after)
}

/// The blocks of an older head are those of the newest head `skip` positions ago. What is counted there is right but for
/// the edges of a span: blocks that end before it are too few, those that end last are too many.
fn back(positions: &Range<usize>, skip: usize) -> (Range<usize>, Range<usize>) {
    let Range { start, end } = *positions;
    let seen = start.saturating_sub(skip)..end.saturating_sub(skip);
    (seen.start..seen.end.min(start), seen.end.max(start)..end)
}

/// How many positions spans have.
fn positions(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| span.positions.len()).sum()
}

/// Whether a batch is not worth the cost of other threads.
fn is_small(batch: &[Span<'_>]) -> bool {
    positions(batch) <= ALONE
}

/// Divides spans into lists of `size` positions, the last one of fewer.
fn divide<'a>(spans: &[Span<'a>], size: usize) -> Vec<Vec<Span<'a>>> {
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

#[cfg(test)]
mod tests {
    use super::super::{Memory, Settings, Shape, Size};
    use crate::kernels::{FORCED, Path};
    use crate::random::{Purpose, Stream};

    /// The whole memory, cells that overflow included, is the same on every instruction set.
    #[test]
    fn every_path_memorizes_the_same() {
        let mut reader = Stream::new(5, Purpose::Sampling, 0).draws();
        let mut text = reader.tokens(6000, 900);
        text.extend([7; 1500]);
        let digests = |path: Path| {
            *FORCED.lock().unwrap() = Some(path);
            let settings =
                Settings::new(1000, 999, 3, &Shape::default(), Size::Parameters(1 << 19)).unwrap();
            let mut memory = Memory::new(settings).unwrap();
            memory.memorize(&text).unwrap();
            assert!(memory.usage().wide > 0);
            let full = memory.digest().unwrap();
            memory.forget(&text[..100]).unwrap();
            (full, memory.digest().unwrap())
        };
        let all: Vec<_> = Path::available().into_iter().map(digests).collect();
        *FORCED.lock().unwrap() = None;
        assert!(all.iter().all(|both| *both == all[0]));
    }
}
