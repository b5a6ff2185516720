//! The paper's read-out: the scores of all layers and heads added up.
//!
//! The paper has no probabilities; here they are proportional to the sums above zero, with a trace of the prior
//! so that every token can be reached. On real text frequent tokens drown exact matches, which is why [`super::Backoff`]
//! exists; this one is kept for comparison.

use super::{Distribution, ReadOut, Scratch};
use crate::superposed::{Error, Memory};

/// The paper's sum over layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;

/// The weight of the prior.
const TRACE: f64 = 1e-6;

impl ReadOut for Sum {
    fn distribution<'m>(
        &self,
        memory: &'m Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Distribution<'m>, Error> {
        let context = memory.view(context)?;
        let vocabulary = memory.settings().vocabulary as usize;
        let mut sums = vec![0.0f32; vocabulary];
        for (slot, keyed) in memory.totals(context, &mut scratch.blocks).into_iter().enumerate() {
            let Some((key, _)) = keyed else { continue };
            scratch.decoder.read(memory, slot, key, 1, &mut scratch.scores);
            for (token, sum) in sums.iter_mut().enumerate() {
                *sum += scratch.scores.rest(token);
            }
        }
        scratch.now.reset(vocabulary);
        let whole: f64 = sums.iter().map(|&sum| f64::from(sum.max(0.0))).sum();
        if whole > 0.0 {
            scratch.now.scale(TRACE);
            for (token, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
                scratch.now.add(token as u32, (1.0 - TRACE) * f64::from(sum) / whole);
            }
        }
        Ok(Distribution::new(memory.prior(), &scratch.now))
    }
}
