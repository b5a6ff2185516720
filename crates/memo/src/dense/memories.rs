//! What a model has memorized: the last memory, the inner ones, and the exact distiller's counts. Here the paper's
//! MM_m and MM_f write.

use super::config::{DenseConfig, Distiller};
use super::distill::{SequenceCounts, by_rounding, sequence_hashes, text_hash};
use super::encoder::{CACHED_ROWS, Encoder};
use super::memory::CorrelationMemory;
use super::pass::Pass;
use super::update::Update;
use crate::error::check_memory;
use std::collections::HashMap;
use std::ops::ControlFlow;

#[derive(Clone, Debug)]
pub(super) struct Memories {
    /// C⁽ˡᵃˢᵗ⁾: from windows of every length to next tokens.
    pub(super) last: CorrelationMemory,
    /// C⁽ⁱ⁾ of the inner layers, from a window's elements to its code; none where recall is computed.
    pub(super) inner: Vec<CorrelationMemory>,
    /// How often each inner sequence was memorized; none unless the distiller is exact.
    pub(super) counts: Vec<SequenceCounts>,
    /// How often each whole text was memorized and not forgotten since; none unless the distiller is exact.
    pub(super) texts: Option<SequenceCounts>,
}

/// What to do with texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The paper's MM_m.
    Memorize,
    /// The paper's MM_f: subtracts from the last memory and leaves the inner ones alone.
    Forget,
    /// Subtracts from the inner memories too: what no other text uses, or without a distiller every occurrence.
    ForgetCompletely,
}

/// A function that gets the number of tokens that are done, from time to time, and returns whether to go on.
pub type Progress<'a> = &'a mut (dyn FnMut(usize) -> ControlFlow<()> + Send);

/// Tokens between two calls of [`Progress`]. A change of fewer cannot be stopped, and takes no copy to go back to.
const INTERVAL: usize = 1024;

impl Memories {
    pub(super) fn new(config: &DenseConfig) -> Self {
        let inner = if config.has_inner_memories() { config.layers - 1 } else { 0 };
        let counted = if config.distiller == Distiller::Exact { inner } else { 0 };
        Memories {
            last: CorrelationMemory::new(config.dim, config.dim),
            inner: vec![CorrelationMemory::new(config.dim, config.dim); inner],
            counts: vec![SequenceCounts::default(); counted],
            texts: (config.distiller == Distiller::Exact).then(SequenceCounts::default),
        }
    }

    /// The number of cells in all memories.
    pub(super) fn parameters(&self) -> usize {
        self.last.parameters() + self.inner.iter().map(CorrelationMemory::parameters).sum::<usize>()
    }

    /// The first text that is not memorized as often as it is given, as far as the exact distiller knows.
    pub(super) fn missing<'t>(&self, texts: &[&'t [u32]]) -> Option<&'t [u32]> {
        let memorized = self.texts.as_ref()?;
        let mut given: HashMap<u64, u64> = HashMap::new();
        texts.iter().copied().find(|text| {
            let hash = text_hash(text);
            let times = given.entry(hash).or_insert(0);
            *times += 1;
            *times > memorized.count(hash)
        })
    }

    /// Counts whole texts, so that only what was memorized can be forgotten completely.
    fn count_texts(&mut self, texts: &[&[u32]], change: Change) {
        if let Some(counts) = &mut self.texts {
            for text in texts {
                let hash = text_hash(text);
                let _ =
                    if change == Change::Memorize { counts.add(hash) } else { counts.remove(hash) };
            }
        }
    }

    /// Writes texts; where `progress` says to stop, everything is as it was before.
    pub(super) fn change(
        &mut self,
        encoder: &Encoder,
        texts: &[&[u32]],
        change: Change,
        progress: Option<Progress<'_>>,
    ) -> ControlFlow<()> {
        let tokens: usize = texts.iter().map(|text| text.len()).sum();
        let room = || {
            let copy = 4 * self.parameters() as u64;
            let held = encoder.bytes() as u64 + copy;
            check_memory(Some(copy), encoder.config.memory_limit.saturating_sub(held)).is_ok()
        };
        let before = (progress.is_some() && tokens > INTERVAL && room()).then(|| self.clone());
        let (mut progress, mut last) = (progress, 0);
        let mut ask = |done: usize| match &mut progress {
            Some(progress) if done - last >= INTERVAL => {
                last = done;
                let answer = progress(done);
                if before.is_some() { answer } else { ControlFlow::Continue(()) }
            }
            _ => ControlFlow::Continue(()),
        };
        let written = self.write(encoder, texts, change, &mut ask);
        if let (ControlFlow::Break(()), Some(before)) = (written, before) {
            self.restore(before);
        }
        written
    }

    /// Goes back to a copy. Cells are put in place, because others may be looking at them.
    fn restore(&mut self, before: Memories) {
        let Memories { last, inner, counts, texts } = before;
        let memories = self.inner.iter_mut().chain([&mut self.last]);
        for (memory, before) in memories.zip(inner.iter().chain([&last])) {
            memory.fill(before.cells().iter().copied(), before.load());
        }
        (self.counts, self.texts) = (counts, texts);
    }

    /// Passes texts up the layers and adds to the memories, or subtracts from them, what they hold of each.
    fn write(
        &mut self,
        encoder: &Encoder,
        texts: &[&[u32]],
        change: Change,
        ask: Progress<'_>,
    ) -> ControlFlow<()> {
        self.count_texts(texts, change);
        let mut done = 0;
        let config = &encoder.config;
        let weight = if change == Change::Memorize { 1.0 } else { -1.0 };
        let mut update = Update::new(&encoder.codes, config.dim, weight);
        let inner = if change == Change::Forget { 0 } else { self.inner.len() };
        // Inner memories see updates of the size that the configuration says.
        let rows = if encoder.is_fast() && inner == 0 { CACHED_ROWS } else { config.update_rows };
        for text in texts {
            let active = encoder.active_layers(text.len());
            let hashes = sequence_hashes(text, config.heads, self.counts.len().min(active));
            let mut pass = Pass::memorizing(encoder, active);
            let mut end = 0;
            for tokens in text.chunks(rows) {
                ask(done)?;
                done += tokens.len();
                let start = end;
                end += tokens.len();
                pass.advance(tokens, &[]);
                // Sel: the token after each window; the text's last window has none.
                let next = &text[start + 1..text.len().min(end + 1)];
                let stored = |i: usize, r: usize| encoder.is_stored(i, start + r);
                let pairs = |r: usize| (0..active).filter(|&i| stored(i, r)).count();
                pass.add_keys(update.grow(next, (0..next.len()).map(pairs).sum()), stored);
                update.flush_if_full(&mut self.last, &encoder.codes);
                for i in 0..inner.min(active) {
                    let stored: Vec<bool> = (0..tokens.len()).map(|r| stored(i, r)).collect();
                    let hashes = hashes.get(i).map(|layer| &layer[start..]);
                    self.write_sequences(config.distiller, i, &pass, &stored, hashes, change);
                }
            }
        }
        update.flush(&mut self.last, &encoder.codes);
        ControlFlow::Continue(())
    }

    /// The inner part: `C⁽ⁱ⁾ ± I⁽ⁱ⁾ᵀ·Φ·X⁽ⁱ⁺¹⁾`.
    fn write_sequences(
        &mut self,
        distiller: Distiller,
        i: usize,
        pass: &Pass<'_>,
        stored: &[bool],
        hashes: Option<&[u64]>,
        change: Change,
    ) {
        let (keys, codes) = (pass.keys(i), pass.codes(i));
        let phi: Vec<f32> = match (change, hashes) {
            (Change::Memorize, Some(hashes)) => {
                let counts = &mut self.counts[i];
                let first = |(s, h): (&bool, &u64)| f32::from(u8::from(*s && counts.add(*h)));
                stored.iter().zip(hashes).map(first).collect()
            }
            (_, Some(hashes)) => {
                let counts = &mut self.counts[i];
                let last = |(s, h): (&bool, &u64)| -f32::from(u8::from(*s && counts.remove(*h)));
                stored.iter().zip(hashes).map(last).collect()
            }
            (Change::Memorize, None) if distiller.is_rounded() => {
                let clamped = distiller == Distiller::Memory;
                by_rounding(&self.inner[i], &keys, codes, stored, clamped)
            }
            (_, None) => {
                let weight = if change == Change::Memorize { 1.0 } else { -1.0 };
                stored.iter().map(|s| weight * f32::from(u8::from(*s))).collect()
            }
        };
        self.inner[i].add_weighted(&keys, codes, &phi);
    }
}
