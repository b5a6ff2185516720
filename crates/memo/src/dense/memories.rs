//! What a model has memorized: the last memory, the inner ones, and the exact distiller's counts. Here the paper's
//! MM_m and MM_f write.

use super::config::{DenseConfig, Distiller};
use super::distill::{SequenceCounts, by_rounding, sequence_hashes, text_hash};
use super::encoder::{CACHED_ROWS, Encoder};
use super::memory::CorrelationMemory;
use super::pass::Pass;
use super::update::Update;

#[derive(Debug)]
pub(super) struct Memories {
    /// C⁽ˡᵃˢᵗ⁾: from windows of every length to next tokens.
    pub(super) last: CorrelationMemory,
    /// C⁽ⁱ⁾ of the inner layers, from a window's elements to its code; none where recall is computed.
    pub(super) inner: Vec<CorrelationMemory>,
    /// How often each inner sequence was memorized; none unless the distiller is exact.
    pub(super) counts: Vec<SequenceCounts>,
    /// How often each whole text was memorized and not forgotten since; none unless the distiller is exact.
    texts: Option<SequenceCounts>,
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
            texts: (config.distiller == Distiller::Exact).then(SequenceCounts::default),
        }
    }

    /// Whether a text is memorized, as far as the exact distiller knows.
    pub(super) fn has(&self, text: &[u32]) -> bool {
        self.texts.as_ref().is_some_and(|texts| texts.count(text_hash(text)) > 0)
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

    /// Passes texts up the layers and adds to the memories, or subtracts from them, what they hold of each.
    pub(super) fn write(&mut self, encoder: &Encoder, texts: &[&[u32]], change: Change) {
        self.count_texts(texts, change);
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
