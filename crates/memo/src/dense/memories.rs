//! What a model has memorized: the last memory, the inner ones, and the exact distiller's counts. Here the paper's
//! MM_m and MM_f write.

use super::config::{DenseConfig, Distiller};
use super::distill::{SequenceCounts, by_rounding, sequence_hashes};
use super::encoder::{CACHED_ROWS, Encoder};
use super::memory::CorrelationMemory;
use super::pass::Pass;
use super::update::Update;
use crate::error::Error;
use std::collections::HashMap;

#[derive(Debug)]
pub(super) struct Memories {
    /// C⁽ˡᵃˢᵗ⁾: from windows of every length to next tokens.
    pub(super) last: CorrelationMemory,
    /// C⁽ⁱ⁾ of the inner layers, from a window's elements to its code; none where recall is computed.
    pub(super) inner: Vec<CorrelationMemory>,
    /// How often each inner sequence was memorized; none unless the distiller is exact.
    pub(super) counts: Vec<SequenceCounts>,
}

/// What to do with a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Memorize,
    /// As the paper has it: inner memories are left alone.
    Forget,
    ForgetCompletely,
}

impl Memories {
    pub(super) fn new(config: &DenseConfig) -> Self {
        let inner = if config.has_inner_memories() { config.layers - 1 } else { 0 };
        let counted = if config.distiller == Distiller::Exact { inner } else { 0 };
        Memories {
            last: CorrelationMemory::new(config.dim, config.dim),
            inner: vec![CorrelationMemory::new(config.dim, config.dim); inner],
            counts: vec![SequenceCounts::default(); counted],
        }
    }

    /// That every inner sequence of a text is stored as often as the text needs it.
    pub(super) fn check_memorized(&self, encoder: &Encoder, text: &[u32]) -> Result<(), Error> {
        let layers = self.counts.len().min(encoder.active_layers(text.len()));
        let hashes = sequence_hashes(text, encoder.config.heads, layers);
        for (i, (hashes, counts)) in hashes.iter().zip(&self.counts).enumerate() {
            let mut needed: HashMap<u64, u64> = HashMap::new();
            for (p, &hash) in hashes.iter().enumerate().filter(|(p, _)| encoder.is_stored(i, *p)) {
                let needed = needed.entry(hash).or_insert(0);
                *needed += 1;
                if *needed > counts.count(hash) {
                    let tokens = encoder.config.span(i + 1);
                    return Err(Error::NotMemorized { tokens, position: p });
                }
            }
        }
        Ok(())
    }

    /// Passes texts up the layers and adds to the memories, or subtracts from them, what they hold of each.
    pub(super) fn write(&mut self, encoder: &Encoder, texts: &[&[u32]], change: Change) {
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
            for (start, tokens) in (0..).step_by(rows).zip(text.chunks(rows)) {
                pass.advance(tokens, &[]);
                // Sel: the token after each window; the text's last window has none.
                let next = &text[start + 1..text.len().min(start + tokens.len() + 1)];
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
            (Change::Memorize, None) if distiller == Distiller::Memory => {
                by_rounding(&self.inner[i], &keys, codes, stored)
            }
            (_, None) => stored.iter().map(|s| f32::from(u8::from(*s))).collect(),
        };
        self.inner[i].add_weighted(&keys, codes, &phi);
    }
}
