//! How much a memory counts beside a neural model, from what is known at the position.
//!
//! The rule is a logistic function: how far back the memory has seen the text before, how often and with how many
//! continuations, whether it is being quoted, how well the memory expected the last tokens, and how sure each of the two is.

use super::Confidence;

/// How much a memory counts in a [`Mixture`](super::Mixture).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// As a rule says, position by position.
    Auto(Auto),
    /// The same everywhere: from 0, the model alone, to 1, the memory alone.
    Fixed(f64),
}

impl Weight {
    /// Returns the memory's weight at a position.
    pub fn at(&self, known: &Known) -> f64 {
        match self {
            Weight::Auto(rule) => rule.weight(known),
            Weight::Fixed(weight) => *weight,
        }
    }
}

/// What is known at a position: by the memory, and of both distributions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// How well the memory knows it.
    pub confidence: Confidence,
    /// The log-probability of the memory's best token.
    pub memory: f64,
    /// The log-probability of the model's best token.
    pub model: f64,
    /// The log-probability that the model gives the memory's best token.
    pub agreed: f64,
}

/// The rule: the log-odds of the memory are a sum, each constant times what it is for. The default constants were fitted, by
/// likelihood, to texts of which a part was memorized (docs/experiments/partner.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// Always.
    pub offset: f64,
    /// ln(1 + tokens of the longest context that occurred).
    pub matched: f64,
    /// ln(1 + times that it did).
    pub times: f64,
    /// ln(1 + different tokens that followed it).
    pub kinds: f64,
    /// Log-odds that the memory is being quoted, within ±9.2.
    pub quote: f64,
    /// The mean ln of what the memory gave the last tokens.
    pub familiarity: f64,
    /// ln of the memory's doubt: 1.001 − the probability of its best token.
    pub memory: f64,
    /// ln of the model's doubt, the same.
    pub model: f64,
    /// ln of what the model gives the memory's best token, at least −15.
    pub agreed: f64,
}

/// The most that the log-odds of the memory can be: the model always has a say, also on tokens that only it has.
const MOST: f64 = 9.0;

/// How near to certain a quote can be.
const CERTAIN: f64 = 1e-4;

/// The least that the model's opinion of the memory's best token counts as.
const LEAST_AGREED: f64 = -15.0;

impl Default for Auto {
    fn default() -> Self {
        Auto {
            offset: 1.516,
            matched: 0.256,
            times: 0.306,
            kinds: -0.201,
            quote: 0.468,
            familiarity: 0.237,
            memory: -1.729,
            model: 0.984,
            agreed: 0.131,
        }
    }
}

impl Auto {
    /// Returns the memory's weight at a position, from 0 to 1.
    pub fn weight(&self, known: &Known) -> f64 {
        let Known { confidence, memory, model, agreed } = *known;
        let quote = confidence.quote.clamp(CERTAIN, 1.0 - CERTAIN);
        let doubt = |best: f64| libm::log(1.001 - libm::exp(best));
        let odds = self.offset
            + self.matched * libm::log1p(confidence.matched as f64)
            + self.times * libm::log1p(confidence.times as f64)
            + self.kinds * libm::log1p(confidence.kinds as f64)
            + self.quote * libm::log(quote / (1.0 - quote))
            + self.familiarity * confidence.familiarity
            + self.memory * doubt(memory)
            + self.model * doubt(model)
            + self.agreed * agreed.max(LEAST_AGREED);
        1.0 / (1.0 + libm::exp(-odds.min(MOST)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(matched: usize, quote: f64, memory: f64, model: f64, agreed: f64) -> Known {
        let confidence = Confidence { matched, times: 1, kinds: 1, quote, familiarity: -0.5 };
        Known { confidence, memory, model, agreed }
    }

    /// A sure memory that is being quoted has nearly all of the weight, one that knows nothing hardly any, and the model is
    /// never without a say.
    #[test]
    fn the_weight_follows_what_is_known() {
        let rule = Auto::default();
        let quoted = rule.weight(&known(12, 1.0, -0.001, -3.0, -40.0));
        let strange = rule.weight(&Known {
            confidence: Confidence { familiarity: -9.0, ..Confidence::default() },
            memory: -4.0,
            model: -0.5,
            agreed: -8.0,
        });
        assert!(quoted > 0.99 && quoted < 1.0 - 1e-4, "{quoted}");
        assert!(strange < 0.01, "{strange}");
        // Beyond the bound, what the model thinks of the memory's best token makes no difference.
        let doubted = |agreed| rule.weight(&known(2, 0.1, -1.0, -1.0, agreed));
        assert_eq!(doubted(-15.0), doubted(f64::NEG_INFINITY));
        assert_eq!(Weight::Fixed(0.3).at(&known(1, 0.5, -1.0, -1.0, -1.0)), 0.3);
    }

    /// The page that explains the rule has its constants.
    #[test]
    fn the_constants_are_those_of_the_documentation() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/partner.md");
        let page = std::fs::read_to_string(page).unwrap().replace('−', "-");
        let cells = page.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit("| ").next());
        let constants: Vec<f64> = cells.filter_map(|cell| cell.parse().ok()).collect();
        let Auto { offset, matched, times, kinds, quote, familiarity, memory, model, agreed } =
            Auto::default();
        let rule = [offset, matched, times, kinds, quote, familiarity, memory, model, agreed];
        assert_eq!(constants, rule);
    }
}
