//! The engine without tables, hashes or buffers: every block of every context counted in a map, every probability worked out over
//! the full vocabulary. Slow, and what the engine must agree with.

use memo::readout::{Constants, discounts};
use memo::sparse::{Context, Settings, Span};
use std::collections::HashMap;

/// The last symbols before a position, `None` at the start of a document.
type Block = Vec<Option<u32>>;

/// Exact counts, by slot and block.
pub(crate) struct Oracle {
    settings: Settings,
    counts: Vec<HashMap<Block, HashMap<u32, i64>>>,
}

/// The block of a slot before position p; `None` if a shorter slot already saw all of the text.
fn block(settings: &Settings, slot: usize, before: &[u32]) -> Option<Block> {
    if slot > 0 && settings.tokens[slot - 1] as usize > before.len() {
        return None;
    }
    let symbols: Block = std::iter::once(None).chain(before.iter().copied().map(Some)).collect();
    Some(symbols[symbols.len().saturating_sub(settings.tokens[slot] as usize)..].to_vec())
}

impl Oracle {
    pub(crate) fn new(settings: &Settings) -> Self {
        let counts = vec![HashMap::new(); settings.tokens.len()];
        Oracle { settings: settings.clone(), counts }
    }

    pub(crate) fn write(&mut self, Span { document, positions, weight }: &Span<'_>) {
        for p in positions.clone() {
            let token = document.get(p).copied().unwrap_or(self.settings.end);
            for slot in 0..self.settings.tokens.len() {
                if let Some(block) = block(&self.settings, slot, &document[..p]) {
                    let counts = self.counts[slot].entry(block).or_default();
                    *counts.entry(token).or_default() += i64::from(*weight);
                }
            }
        }
    }

    /// What follows the last end token of a context.
    fn view<'a>(&self, context: &'a [u32]) -> &'a [u32] {
        let end = context.iter().rposition(|&token| token == self.settings.end);
        &context[end.map_or(0, |end| end + 1)..]
    }

    /// How often each token followed a context, slot by slot, up to the longest that occurred. The first may be empty.
    pub(crate) fn levels(&self, context: &[u32]) -> Vec<(Context, HashMap<u32, i64>)> {
        let context = self.view(context);
        let mut levels = Vec::new();
        for slot in 0..self.settings.tokens.len() {
            let Some(block) = block(&self.settings, slot, context) else { break };
            let mut counts = self.counts[slot].get(&block).cloned().unwrap_or_default();
            counts.retain(|_, count| *count > 0);
            if slot > 0 && counts.is_empty() {
                break;
            }
            levels.push((self.settings.context(slot), counts));
        }
        levels
    }

    /// Kneser and Ney's lowest order: a token counts by how many tokens it followed.
    fn prior(&self) -> Vec<f64> {
        let n = self.settings.vocabulary as usize;
        let mut continuations = vec![0.0f64; n];
        for counts in self.counts[0].values() {
            for (&token, _) in counts.iter().filter(|(_, count)| **count > 0) {
                continuations[token as usize] += 1.0;
            }
        }
        let whole: f64 = continuations.iter().sum();
        if whole == 0.0 {
            return vec![1.0 / n as f64; n];
        }
        let kinds = continuations.iter().filter(|count| **count > 0.0).count() as f64;
        let even = (0.75 * kinds / whole).max(0.01);
        let kept = whole - 0.75 * kinds;
        let each = |count: &f64| even / n as f64 + (1.0 - even) * (count - 0.75).max(0.0) / kept;
        continuations.iter().map(each).collect()
    }

    /// Running text: each context takes a discount off what it saw, and leaves it to the shorter one.
    fn running(&self, context: &[u32], prior: &[f64]) -> Vec<f64> {
        let mut p = prior.to_vec();
        for (context, counts) in self.levels(context) {
            let total: i64 = counts.values().sum();
            if total == 0 {
                continue;
            }
            let discount = |count: i64| discounts(context)[(count.min(3) - 1) as usize];
            let off: f64 = counts.values().map(|&count| discount(count)).sum();
            for (token, p) in p.iter_mut().enumerate() {
                let count = counts.get(&(token as u32)).copied().unwrap_or(0);
                let own = if count > 0 { count as f64 - discount(count) } else { 0.0 };
                *p = (own + off * *p) / total as f64;
            }
        }
        p
    }

    /// A quote: what followed the longest context, if anything did.
    fn quoted(&self, context: &[u32]) -> Option<HashMap<u32, f64>> {
        let (_, longest) = self.levels(context).pop()?;
        let total: i64 = longest.values().sum();
        let share = |(token, count)| (token, count as f64 / total as f64);
        (total > 0).then(|| longest.into_iter().map(share).collect())
    }

    /// All probabilities of the next token.
    pub(crate) fn distribution(&self, constants: &Constants, context: &[u32]) -> Vec<f64> {
        let (context, prior) = (self.view(context), self.prior());
        let [most, least] = constants.gain;
        let mut odds = constants.quote;
        for p in context.len().saturating_sub(constants.window)..context.len() {
            let (before, token) = (&context[..p], context[p]);
            if let Some(quoted) = self.quoted(before) {
                let running = self.running(before, &prior)[token as usize];
                let quoted = quoted.get(&token).copied().unwrap_or(0.0);
                let quoted = (1.0 - constants.slip) * quoted + constants.slip * running;
                odds += (quoted / running).ln().clamp(-least, most);
            }
        }
        let mut p = self.running(context, &prior);
        if self.levels(context).len() > 1 {
            let quote = 1.0 / (1.0 + (-odds).exp());
            let quoted = self.quoted(context).unwrap_or_default();
            for (token, p) in p.iter_mut().enumerate() {
                let quoted = quoted.get(&(token as u32)).copied().unwrap_or(0.0);
                *p = quote * quoted + (1.0 - quote) * *p;
            }
        }
        p
    }
}
