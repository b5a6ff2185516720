//! The engine without tables, hashes or buffers: every block of every context counted in a map, every probability worked out over
//! the full vocabulary. Slow, and what the engine must agree with.

use memo::readout::Constants;
use memo::sparse::{Context, Settings, Span};
use std::collections::HashMap;

/// The last symbols before a position, `None` at the start of a document.
type Block = Vec<Option<u32>>;

/// Exact counts, by slot and block.
pub(crate) struct Oracle {
    settings: Settings,
    counts: Vec<HashMap<Block, HashMap<u32, i64>>>,
    /// By the token before the last one.
    skipped: HashMap<u32, HashMap<u32, i64>>,
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
        Oracle { settings: settings.clone(), counts, skipped: HashMap::new() }
    }

    pub(crate) fn write(&mut self, Span { document, positions, weight, .. }: &Span<'_>) {
        for p in positions.clone() {
            let token = document.get(p).copied().unwrap_or(self.settings.end);
            for slot in 0..self.settings.tokens.len() {
                if let Some(block) = block(&self.settings, slot, &document[..p]) {
                    let counts = self.counts[slot].entry(block).or_default();
                    *counts.entry(token).or_default() += i64::from(*weight);
                }
            }
            if let ([.., skipped, _], true) = (&document[..p], self.settings.skip) {
                let counts = self.skipped.entry(*skipped).or_default();
                *counts.entry(token).or_default() += i64::from(*weight);
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

    /// How often each token followed the token before the last one of a context.
    pub(crate) fn skipped(&self, context: &[u32]) -> HashMap<u32, i64> {
        let [.., skipped, _] = self.view(context) else { return HashMap::new() };
        let mut counts = self.skipped.get(skipped).cloned().unwrap_or_default();
        counts.retain(|_, count| *count > 0);
        counts
    }

    /// What is expected before the last token is read: a part of it goes by what followed the one before, less a discount.
    fn base(&self, constants: &Constants, context: &[u32], prior: &[f64]) -> Vec<f64> {
        let counts = self.skipped(context);
        let discounts =
            discounts(self.skipped.values().flat_map(|counts| counts.values().copied()));
        let off = |count: i64| discount(discounts, count as f64);
        // Something new is taken to have followed too.
        let whole = 1.0 + counts.values().sum::<i64>() as f64;
        let left = (1.0 + counts.values().map(|&count| off(count)).sum::<f64>()) / whole;
        let expected = |(token, prior): (usize, &f64)| {
            let count = counts.get(&(token as u32));
            let own = count.map_or(0.0, |&count| (count as f64 - off(count)) / whole);
            (1.0 - constants.skip) * prior + constants.skip * (own + left * prior)
        };
        prior.iter().enumerate().map(expected).collect()
    }

    /// How often each token occurred, and how many different tokens it followed.
    fn occurrences(&self) -> Vec<(i64, i64)> {
        let mut occurrences = vec![(0, 0); self.settings.vocabulary as usize];
        for (&token, &count) in self.counts[0].values().flatten() {
            let (occurred, followed) = &mut occurrences[token as usize];
            *occurred += count;
            *followed += i64::from(count > 0);
        }
        occurrences
    }

    /// Kneser and Ney's lowest order: a token counts by how many tokens it followed.
    fn prior(&self) -> Vec<f64> {
        let counts: Vec<i64> = self.occurrences().iter().map(|&(_, followed)| followed).collect();
        let (n, whole) = (counts.len() as f64, counts.iter().sum::<i64>() as f64);
        if whole == 0.0 {
            return vec![1.0 / n; counts.len()];
        }
        let discounts = discounts(counts.iter().copied());
        let off = |count: i64| if count > 0 { discount(discounts, count as f64) } else { 0.0 };
        let even = counts.iter().map(|&count| off(count)).sum::<f64>() / n;
        counts.iter().map(|&count| (count as f64 - off(count) + even) / whole).collect()
    }

    /// The exponent of what followed contexts that begin with a token, and that of an average token.
    fn exponents(&self) -> (Vec<f64>, f64) {
        let exponent = |&(occurred, followed): &(i64, i64)| match occurred {
            ..=1 => 1.0,
            _ => (followed.clamp(1, occurred) as f64).ln() / (occurred as f64).ln(),
        };
        let occurrences = self.occurrences();
        let exponents: Vec<f64> = occurrences.iter().map(exponent).collect();
        let often = || occurrences.iter().map(|&(occurred, _)| occurred as f64).zip(&exponents);
        let sum: f64 = often().filter(|(c, _)| *c > 1.0).map(|(c, exponent)| c * exponent).sum();
        let weight: f64 = often().filter(|(c, _)| *c > 1.0).map(|(c, _)| c).sum();
        (exponents, if weight > 0.0 { sum / weight } else { 1.0 })
    }

    /// Running text: each context takes a discount off what it saw, and leaves it to the shorter one.
    fn running(&self, constants: &Constants, context: &[u32], prior: &[f64]) -> Vec<f64> {
        let mut p = self.base(constants, context, prior);
        let (exponents, mean) = self.exponents();
        let levels = self.levels(context);
        for (slot, (_, counts)) in levels.iter().enumerate() {
            if counts.is_empty() {
                continue;
            }
            let len = self.settings.tokens[slot] as usize;
            let last = slot + 1 == self.settings.tokens.len();
            let first = context.len().checked_sub(len).map(|first| context[first] as usize);
            let exponent = first.filter(|_| !last).map_or(1.0, |first| exponents[first]);
            let exponent = (exponent * 256.0).round() / 256.0;
            let entries = self.counts[slot].values().flat_map(|counts| counts.values().copied());
            let [one, two, three] = discounts(entries);
            let kept = if last { 1.0 } else { ((mean - 1.0) * len.min(3) as f64).exp2() };
            let discounts = bounded([1.0 - (1.0 - one) * kept, two, three]);
            let worth = |token: u32| {
                let all = counts.get(&token).copied().unwrap_or(0);
                let longer = levels.get(slot + 1).and_then(|(_, longer)| longer.get(&token));
                let others = (all - longer.copied().unwrap_or(0)) as f64;
                let others = if others > 0.0 { others.powf(exponent) } else { 0.0 };
                others + if longer.is_some() { 1.0 } else { 0.0 }
            };
            let tokens = 0..self.settings.vocabulary;
            let worths: Vec<f64> = tokens.map(worth).collect();
            let off = |worth: f64| if worth > 0.0 { discount(discounts, worth) } else { 0.0 };
            // A single token is taken to have been followed by something new too.
            let new = if slot == 0 { 1.0 } else { 0.0 };
            let whole = worths.iter().sum::<f64>() + new;
            let taken = worths.iter().map(|&worth| off(worth)).sum::<f64>() + new;
            for (p, &worth) in p.iter_mut().zip(&worths) {
                *p = (worth - off(worth) + taken * *p) / whole;
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
                let running = self.running(constants, before, &prior)[token as usize];
                let quoted = quoted.get(&token).copied().unwrap_or(0.0);
                let quoted = (1.0 - constants.slip) * quoted + constants.slip * running;
                odds += (quoted / running).ln().clamp(-least, most);
            }
        }
        let mut p = self.running(constants, context, &prior);
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

/// Modified Kneser and Ney's discounts, with some counts by Zipf's law beside those that there are.
fn discounts(counts: impl Iterator<Item = i64>) -> [f64; 3] {
    let mut n = [10.0, 20.0 / 6.0, 20.0 / 12.0, 1.0];
    counts.filter(|count| (1..=4).contains(count)).for_each(|count| n[count as usize - 1] += 1.0);
    let y = n[0] / (n[0] + 2.0 * n[1]);
    bounded([1, 2, 3].map(|r| r as f64 - (r + 1) as f64 * y * n[r] / n[r - 1]))
}

fn bounded([one, two, three]: [f64; 3]) -> [f64; 3] {
    let one = one.clamp(0.0, 0.95);
    let two = two.clamp(one, one + 0.9);
    [one, two, three.clamp(two, two + 0.9)]
}

/// The discount of a worth, straight between those of 1, 2 and 3.
fn discount(discounts: [f64; 3], worth: f64) -> f64 {
    let at = (worth - 1.0).clamp(0.0, 2.0);
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    discounts[low] + (at - low as f64) * (discounts[high] - discounts[low])
}
