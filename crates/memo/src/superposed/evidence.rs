//! Evidence: what each slot remembers of a context. This is what an explanation shows.

use super::keys::Blocks;
use super::{Decoder, Error, Memory, Scores};

/// What one slot remembers of a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The slot, by its number in [`super::Settings::slots`].
    pub slot: usize,
    /// How often the slot's block occurred before, exactly.
    pub total: i64,
    /// The successors that stand out from the noise, the most frequent first.
    pub successors: Vec<Successor>,
}

/// A token that followed a block, estimated from the cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Successor {
    /// The token.
    pub token: u32,
    /// Its estimated count.
    pub count: f32,
    /// Standard deviation of that estimate.
    pub sigma: f32,
}

/// Peeling rounds where a context has more than one successor.
pub(crate) const ROUNDS: usize = 3;

impl Memory {
    /// Returns what each slot remembers of a context, without the slots whose block never occurred.
    pub fn evidence(&self, context: &[u32]) -> Result<Vec<Evidence>, Error> {
        let context = self.view(context)?;
        let (mut decoder, mut scores) = (Decoder::default(), Scores::default());
        let mut found = Vec::new();
        for (slot, keyed) in self.totals(context, &mut Blocks::default()).into_iter().enumerate() {
            let Some((key, total)) = keyed.filter(|(_, total)| *total > 0) else { continue };
            let rounds = if total == 1 { 1 } else { ROUNDS };
            decoder.read(self, slot, key, rounds, &mut scores);
            let mut counts: Vec<f32> =
                (0..self.settings().vocabulary as usize).map(|token| scores.rest(token)).collect();
            for &(token, count) in &scores.peeled {
                counts[token as usize] += count as f32;
            }
            let mut successors: Vec<Successor> = Vec::new();
            for (token, &count) in counts.iter().enumerate() {
                let scale = scores.scales[token / super::LINE];
                if count > scale.threshold() {
                    successors.push(Successor { token: token as u32, count, sigma: scale.sigma });
                }
            }
            successors.sort_by(|a, b| b.count.total_cmp(&a.count).then(a.token.cmp(&b.token)));
            found.push(Evidence { slot, total, successors });
        }
        Ok(found)
    }
}
