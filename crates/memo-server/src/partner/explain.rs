//! What a partner says where a memory is explained, and what both say together.

use super::Partner;
use crate::error::ApiError;
use memo::readout::{Generation, ModelTop, Sampling, Weight};
use memo_store::{MixtureShares, ReadOptions, Snapshot};
use serde::Serialize;

/// What a partner says comes next, beside the memory.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct PartnerExplanation {
    /// How much the memory counts there: from 0, not at all, to 1, alone.
    weight: f64,
    /// The partner's most probable tokens, the likeliest first.
    model: Vec<PartnerCandidate>,
    /// The most probable ones by both together.
    both: Vec<PartnerCandidate>,
}

/// A token that may follow, by a partner or by both.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct PartnerCandidate {
    token: u32,
    text: String,
    /// Its probability by both together.
    probability: f64,
    /// What each of them gives it.
    shares: MixtureShares,
}

impl Partner {
    /// Explains what comes after some tokens, of which the model said `model`.
    pub(crate) fn explain(
        &self,
        snapshot: &Snapshot,
        tokens: &[u32],
        model: &ModelTop,
        weight: Weight,
        read: &ReadOptions,
        count: usize,
    ) -> Result<PartnerExplanation, ApiError> {
        let (readout, vocabularies) = (read.readout(), &self.vocabularies);
        let mut generation = Generation::new(tokens, Sampling::default());
        let memory = snapshot.memory()?;
        let (_, mixture) =
            generation.choose_mixed(memory, &readout, Some(model), weight, vocabularies)?;
        let tokenizer = snapshot.tokenizer();
        let candidate = |(token, _): (u32, f64)| PartnerCandidate {
            token,
            text: tokenizer.decode_lossy(&[token]),
            probability: mixture.probability(token),
            shares: mixture.shares(token).into(),
        };
        let model = model.best_first().into_iter().take(count).map(candidate).collect();
        let both: Vec<PartnerCandidate> = mixture.top(count).into_iter().map(candidate).collect();
        let weight = mixture.shares(0).weight;
        Ok(PartnerExplanation { weight, model, both })
    }
}
