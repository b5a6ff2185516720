//! Writing: from positions of documents to rows and tables.
//!
//! A batch of positions is planned first: every slot's key, the rows it selects, the table entries it counts in. Writes
//! are sorted by the row range that they are in; then each row range is given to one thread, which alone writes there.
//! Integer sums commute, so neither the number of threads nor the order can be seen in the result. All that is ever
//! done is adding a signed weight at a position; forgetting is the same with the opposite sign.

use super::cells::Cells;
use super::codes::Codes;
use super::keys::{BOUNDARY, Blocks, Keys, row};
use super::row_range::RowRange;
use super::settings::Counted;
use super::tables::{Lists, Sorted, Tables, pair_key, total_key};
use super::{Settings, Span};
use crate::kernels::integer::Write;
use crate::sparse::{divide, positions};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// What some spans write. Kept from batch to batch to reuse its buffers.
#[derive(Default)]
struct Plan {
    /// The row writes of each row range.
    writes: Vec<Vec<Write>>,
    pairs: Sorted,
    totals: Sorted,
    /// Totals that are counted down instead of up: see [`one_on`] and [`back`].
    discounts: Sorted,
    unigrams: Vec<u32>,
    blocks: Vec<Blocks>,
    of_slot: Vec<u64>,
    keys: [Vec<u64>; 3],
}

/// A write in progress: the parts of a memory that it reads and changes.
pub(crate) struct Writer<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) keys: &'a Keys,
    pub(crate) codes: &'a [Arc<Codes>],
    pub(crate) cells: &'a mut Cells,
    pub(crate) tables: &'a mut Tables,
}

/// Up to this many positions a batch is planned and written by the calling thread alone.
const ALONE: usize = 256;

impl Writer<'_> {
    /// Writes spans that have been checked.
    pub(crate) fn write(&mut self, spans: &[Span<'_>]) {
        // Plans take about 300 bytes a position: a seventh of the cells they are for, or 2 to 80 MB; a 27th of very
        // large ones. The more positions in a batch, the more of them share lines of the tables and rows.
        let cells = Cells::len(self.settings);
        let size = (cells >> 11).clamp(1 << 13, 1 << 18).max((cells >> 13).min(1 << 20));
        let weighted = spans.chunk_by(|a, b| a.weight == b.weight).filter(|s| s[0].weight != 0);
        let batches: Vec<Vec<Span<'_>>> = weighted.flat_map(|same| divide(same, size)).collect();
        let mut plans = Vec::new();
        for batch in &batches {
            self.write_batch(batch, &mut plans);
        }
    }

    /// Plans a batch, on all threads if it is large. `plans` are reused from batch to batch.
    fn plan_batch<'p>(&self, batch: &[Span<'_>], plans: &'p mut Vec<Plan>) -> &'p [Plan] {
        let alone = is_small(batch);
        let threads = if alone { 1 } else { rayon::current_num_threads() };
        let lists = divide(batch, positions(batch).div_ceil(threads));
        plans.resize_with(plans.len().max(lists.len()), Plan::default);
        let plans = &mut plans[..lists.len()];
        if alone {
            lists.iter().zip(&mut *plans).for_each(|(spans, plan)| self.plan(spans, plan));
        } else {
            let both = lists.par_iter().zip(plans.par_iter_mut());
            both.for_each(|(spans, plan)| self.plan(spans, plan));
        }
        plans
    }

    /// Writes a batch of spans that all have the same weight.
    fn write_batch(&mut self, batch: &[Span<'_>], plans: &mut Vec<Plan>) {
        let (plans, weight) = (self.plan_batch(batch, plans), batch[0].weight);
        let codes = self.codes;
        let write = |(index, mut range): (usize, RowRange<'_>)| {
            for plan in plans {
                range.write(&codes[range.slot], &plan.writes[index], weight);
            }
        };
        let lists = plans.iter().map(|plan| Lists {
            unigrams: &plan.unigrams,
            pairs: &plan.pairs,
            totals: &plan.totals,
            discounts: &plan.discounts,
        });
        let lists: Vec<Lists<'_>> = lists.collect();
        let ranges = self.cells.row_ranges_mut().into_iter().enumerate();
        if is_small(batch) {
            ranges.for_each(write);
            self.tables.add(&lists, weight.into());
        } else {
            let ranges: Vec<_> = ranges.collect();
            rayon::join(
                || ranges.into_par_iter().for_each(write),
                || self.tables.add(&lists, weight.into()),
            );
        }
    }

    /// Works out what some spans write.
    fn plan(&self, spans: &[Span<'_>], plan: &mut Plan) {
        let Plan { writes, unigrams, blocks, of_slot, keys, .. } = plan;
        let [pairs, totals, discounts] = keys;
        writes.resize_with(self.cells.row_ranges(), Vec::new);
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
            let layout = self.cells.layout(s);
            let words = self.codes[s].words();
            let counted = self.settings.counted(s);
            let mut tokens = &unigrams[..];
            for (Span { document, positions, .. }, blocks) in spans.iter().zip(&*blocks) {
                let first = first(positions);
                let seen = positions.start - first..positions.end - first;
                self.keys.of_slot(blocks, s, seen, of_slot);
                let (mine, rest) = tokens.split_at(positions.len());
                tokens = rest;
                // The first positions may have no block.
                let tokens = &mine[mine.len() - of_slot.len()..];
                for (&key, &token) in of_slot.iter().zip(tokens) {
                    let bucket = if slot.bucketed { words.place(token).0 as u64 } else { 0 };
                    for copy in 0..u64::from(slot.copies) {
                        let (row, address) = row(key, bucket, copy, layout.rows);
                        let (range, row) = layout.place(row as u32);
                        let address = slot.signs_of(address);
                        writes[range].push(Write { address, row, token });
                    }
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
        plan.pairs.sort(pairs);
        plan.totals.sort(totals);
        plan.discounts.sort(discounts);
    }
}

/// Returns the blocks of one or two tokens that a span counts too few and too many of. They are counted as the tokens or pairs
/// that end them, as every position that is written is a block before the next. At the first edge of a span that is one too
/// few, at the last one too many; where two spans meet, the differences cancel.
fn one_on(positions: &Range<usize>, document: usize) -> (Range<usize>, Range<usize>) {
    let after = usize::from(positions.end <= document);
    (positions.start..positions.start + 1, positions.end..positions.end + after)
}

/// Returns the blocks of an older head that a span counts too few and too many of. They are counted as those of the newest head
/// `skip` positions ago: of the blocks that end just before the span there are too few, of those that end last too many.
fn back(positions: &Range<usize>, skip: usize) -> (Range<usize>, Range<usize>) {
    let Range { start, end } = *positions;
    let seen = start.saturating_sub(skip)..end.saturating_sub(skip);
    (seen.start..seen.end.min(start), seen.end.max(start)..end)
}

/// Returns whether a batch is not worth the cost of other threads.
fn is_small(batch: &[Span<'_>]) -> bool {
    positions(batch) <= ALONE
}

#[cfg(test)]
mod tests {
    use super::super::{Memory, Settings, Shape};
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
            let settings = Settings::new(1000, 999, 3, &Shape::default(), 1 << 19).unwrap();
            let mut memory = Memory::new(settings).unwrap();
            memory.memorize(&text).unwrap();
            assert!(memory.usage().wide > 0);
            let full = memory.digest();
            memory.forget(&text[..100]).unwrap();
            (full, memory.digest())
        };
        let all: Vec<_> = Path::available().into_iter().map(digests).collect();
        *FORCED.lock().unwrap() = None;
        assert!(all.iter().all(|both| *both == all[0]));
    }
}
