//! Calibration: whether tokens that are stated with some probability are right as often as that says.
//!
//! A completion is followed up to its first wrong token, which counts: so each probability is judged after a context that is right.

use super::PROMPT;
use super::ask::Asked;
use super::careless::Damage;
use super::places::Text;
use crate::{Error, Share};
use memo_store::{CompletionOptions, CompletionToken};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The most tokens of a completion that are judged.
pub(super) const JUDGED: usize = 16;

/// Bins of probability, equally wide.
pub(super) const BINS: usize = 10;

/// What kind of prompt is continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// A quote of memorized text.
    Memorized,
    /// A careless quote of it.
    Near,
    /// A prompt of text that is not memorized, continued by guessing.
    New,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Memorized, Kind::Near, Kind::New];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Memorized => "memorized",
            Kind::Near => "near",
            Kind::New => "new",
        }
    }
}

/// Tokens that were stated with about the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Bin {
    /// The sum of their probabilities.
    stated: f64,
    pub(super) share: Share,
}

impl Bin {
    /// The mean probability that was stated; none if the bin is empty.
    pub(super) fn stated(&self) -> Option<f64> {
        (self.share.tried > 0).then(|| self.stated / self.share.tried as f64)
    }

    fn add(&mut self, other: Bin) {
        self.stated += other.stated;
        self.share = self.share + other.share;
    }
}

/// How often tokens of each stated probability were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Reliability {
    pub(super) bins: [Bin; BINS],
}

impl Reliability {
    fn count(&mut self, stated: f64, right: bool) {
        let bin = ((stated * BINS as f64) as usize).min(BINS - 1);
        self.bins[bin].add(Bin { stated, share: Share { right: right.into(), tried: 1 } });
    }

    pub(super) fn add(&mut self, other: &Reliability) {
        self.bins.iter_mut().zip(other.bins).for_each(|(bin, other)| bin.add(other));
    }

    /// All bins taken together.
    pub(super) fn all(&self) -> Bin {
        self.bins.iter().fold(Bin::default(), |mut all, &bin| {
            all.add(bin);
            all
        })
    }

    /// The expected calibration error: how far, on average, what was stated is from what was right.
    pub(super) fn error(&self) -> Option<f64> {
        let all = self.all().share.tried;
        let apart = |bin: &Bin| (bin.stated - bin.share.right as f64).abs();
        (all > 0).then(|| self.bins.iter().map(apart).sum::<f64>() / all as f64)
    }

    /// Follows a completion as long as it is what was to follow, white space aside.
    fn judge<'t>(&mut self, tokens: impl Iterator<Item = &'t CompletionToken>, truth: &str) {
        let mut rest = truth.chars().filter(|c| !c.is_whitespace());
        for token in tokens {
            // A space, or a part of a character, is neither right nor wrong.
            let said = token.text.trim();
            let (Some(stated), false) = (token.probability, said.is_empty()) else { continue };
            let mut said = said.chars().filter(|c| !c.is_whitespace());
            let right = said.all(|c| rest.next() == Some(c));
            self.count(stated, right);
            if !right {
                break;
            }
        }
    }
}

impl Asked<'_> {
    /// How reliable the probabilities are that completions state, by the kind of prompt.
    pub(super) fn reliability(
        &self,
        stranger: &Text<'_>,
        prompts: usize,
    ) -> Result<Vec<(Kind, Reliability)>, Error> {
        let careless = Damage::ALL.into_iter().filter(|damage| *damage != Damage::Nothing);
        let careless: Vec<Damage> = careless.collect();
        Kind::ALL
            .into_par_iter()
            .map(|kind| {
                let text = if kind == Kind::New { stranger } else { self.text };
                let mut draws = text.draws(600 + kind as u32);
                let mut reliability = Reliability::default();
                let places = 0..text.words.len().saturating_sub(PROMPT + JUDGED);
                let places = text.places(700 + kind as u32, places).into_iter().take(prompts);
                for (i, place) in places.enumerate() {
                    let damage = match kind {
                        Kind::Near => careless[i % careless.len()],
                        Kind::Memorized | Kind::New => Damage::Nothing,
                    };
                    let Some((prompt, at)) = damage.prompt(text, place, &mut draws) else {
                        continue;
                    };
                    let options = CompletionOptions {
                        top: Some(0),
                        guess: kind == Kind::New,
                        ..CompletionOptions::greedy(JUDGED)
                    };
                    let tokens = self.model.tokens(&prompt, &options)?;
                    let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
                    let said = tokens.iter().filter(|token| !token.end);
                    reliability.judge(said, &text.text[at..]);
                }
                Ok((kind, reliability))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tokens: &[(&str, f64)]) -> Vec<CompletionToken> {
        let token = |&(text, probability): &(&str, f64)| CompletionToken {
            text: text.to_owned(),
            probability: Some(probability),
            ..CompletionToken::default()
        };
        tokens.iter().map(token).collect()
    }

    #[test]
    fn tokens_count_up_to_the_first_that_is_wrong() {
        let mut reliability = Reliability::default();
        let completion =
            said(&[(" owl", 1.0), ("\n", 0.1), (" reads", 0.72), (" by", 0.78), (" day", 0.9)]);
        reliability.judge(completion.iter(), "  owl reads at night");
        let tried = |bin: usize| reliability.bins[bin].share;
        assert_eq!(tried(9), Share { right: 1, tried: 1 });
        assert_eq!(tried(7), Share { right: 1, tried: 2 });
        assert_eq!(reliability.all().share.tried, 3);
        assert!((reliability.bins[7].stated().unwrap() - 0.75).abs() < 1e-12);
        // |1 - 1| + |1.5 - 1|, of three.
        assert!((reliability.error().unwrap() - 0.5 / 3.0).abs() < 1e-12);
        assert_eq!(Reliability::default().error(), None);
    }
}
