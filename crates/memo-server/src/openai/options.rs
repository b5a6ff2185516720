//! Options of both kinds of completions. Unknown fields are accepted; those that would change the completion and are not
//! supported are refused by name.

use crate::config::Limits;
use crate::error::ApiError;
use crate::generate::checked;
use crate::native::queries::reading;
use crate::partner::{Mode, WeightField};
use memo::readout::Sampling;
use memo_store::{CompletionOptions, fresh_seed};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Texts that stop a completion: one, or several.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "must be a text or a list of texts")]
pub(super) enum Stop {
    One(String),
    Many(Vec<String>),
}

/// Options of a stream.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(super) struct StreamOptions {
    /// Whether a last event has the usage.
    #[serde(default)]
    pub(super) include_usage: bool,
}

/// Options of both kinds of completions.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(super) struct Options {
    /// The model's name; any, where there is one.
    pub(super) model: Option<String>,
    /// The most tokens to generate.
    pub(super) max_tokens: Option<usize>,
    /// 0 takes the most probable token, which is the default here: a memory recalls. 1 draws in proportion.
    #[cfg_attr(test, schema(minimum = 0, maximum = 100))]
    pub(super) temperature: Option<f64>,
    /// Draw only from the most probable tokens that together have this probability.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    pub(super) top_p: Option<f64>,
    /// Draw only from this many of the most probable tokens.
    pub(super) top_k: Option<i64>,
    /// What the log-probability of a token falls by each time that it was generated already; a negative one makes it rise.
    #[cfg_attr(test, schema(minimum = -2, maximum = 2))]
    pub(super) frequency_penalty: Option<f64>,
    /// What it falls by once the token was generated.
    #[cfg_attr(test, schema(minimum = -2, maximum = 2))]
    pub(super) presence_penalty: Option<f64>,
    /// How many completions to draw for each prompt.
    #[cfg_attr(test, schema(minimum = 1, maximum = 128))]
    pub(super) n: Option<usize>,
    /// Up to 16 texts at which to stop.
    pub(super) stop: Option<Stop>,
    /// The same seed draws the same text.
    pub(super) seed: Option<i64>,
    /// Whether to send tokens as they come.
    pub(super) stream: Option<bool>,
    pub(super) stream_options: Option<StreamOptions>,
    /// How much contexts that the lexicon generalises count: from 0, not at all, to 1, which is the default.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    pub(super) generalize: Option<f64>,
    /// Who answers, where there is a partner: the memory, the model, or both, which is the default.
    pub(super) mode: Option<Mode>,
    /// How much the memory counts beside its partner: `auto`, which is the default, or a number from 0 to 1.
    pub(super) weight: Option<WeightField>,
    /// Everything else.
    #[serde(flatten)]
    #[cfg_attr(test, schema(ignore))]
    pub(super) rest: Map<String, Value>,
}

/// Fields that would change the completion, with the value that does not, if there is one.
const UNSUPPORTED: [(&str, Option<f64>); 14] = [
    ("suffix", None),
    ("best_of", Some(1.0)),
    ("repetition_penalty", Some(1.0)),
    ("min_p", Some(0.0)),
    ("logit_bias", None),
    ("response_format", None),
    ("tools", None),
    ("tool_choice", None),
    ("functions", None),
    ("function_call", None),
    ("modalities", None),
    ("audio", None),
    ("prediction", None),
    ("reasoning_effort", None),
];

impl Options {
    /// The options of each completion, checked. Without a length, it is `max_tokens` or the server's limit.
    pub(super) fn check(
        &self,
        limits: &Limits,
        max_tokens: usize,
        top: Option<usize>,
    ) -> Result<CompletionOptions, ApiError> {
        self.check_supported()?;
        if !(1..=128).contains(&self.count()) {
            return Err(ApiError::invalid_field("n", "n must be between 1 and 128"));
        }
        let stop = match self.stop.clone() {
            None => Vec::new(),
            Some(Stop::One(stop)) => vec![stop],
            Some(Stop::Many(stops)) => stops,
        };
        let default = Sampling::default();
        let options = CompletionOptions {
            max_tokens: self.max_tokens.unwrap_or(max_tokens.min(limits.tokens)),
            sampling: Sampling {
                temperature: self.temperature.unwrap_or(default.temperature),
                top_k: self.top_k.unwrap_or(0).max(0) as usize,
                top_p: self.top_p.unwrap_or(default.top_p),
                frequency_penalty: self.frequency_penalty.unwrap_or(0.0),
                presence_penalty: self.presence_penalty.unwrap_or(0.0),
                seed: self.seed.map_or_else(fresh_seed, |seed| seed as u64),
                ..default
            },
            stop,
            top,
            contexts: false,
            heal: true,
            find: true,
            guess: false,
            read: reading(self.generalize, Some(1.0)),
        };
        checked(options, limits)
    }

    /// Completions of each prompt.
    pub(super) fn count(&self) -> usize {
        self.n.unwrap_or(1)
    }

    fn check_supported(&self) -> Result<(), ApiError> {
        for (name, harmless) in UNSUPPORTED {
            let given = match self.rest.get(name) {
                None | Some(Value::Null | Value::Bool(false)) => continue,
                Some(given) => given,
            };
            let is_harmless = match given {
                Value::Number(number) => harmless.is_some() && number.as_f64() == harmless,
                Value::String(text) => text.is_empty() || text == "none" || text == "auto",
                Value::Array(values) => values.is_empty(),
                Value::Object(object) => {
                    object.is_empty() || object.get("type").is_some_and(|kind| kind == "text")
                }
                _ => false,
            };
            if !is_harmless {
                return Err(ApiError::invalid_field(name, format!("{name} is not supported here")));
            }
        }
        Ok(())
    }
}

/// The options of the n-th completion: another seed for each.
pub(super) fn nth(options: &CompletionOptions, n: usize) -> CompletionOptions {
    let mut options = options.clone();
    options.sampling.seed = options.sampling.seed.wrapping_add(n as u64);
    options
}
