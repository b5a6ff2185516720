//! What both kinds of completions can be asked for. Unknown fields are accepted; those that would change the answer and
//! are not supported are refused by name.

use crate::config::Limits;
use crate::error::Failure;
use crate::generate::Ask;
use memo::readout::Sampling;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Texts that stop a completion: one, or several.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Stop {
    One(String),
    Many(Vec<String>),
}

/// What to do about streaming.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
pub(super) struct StreamOptions {
    /// Whether a last event tells what the request took.
    #[serde(default)]
    pub(super) include_usage: bool,
}

/// Options that both have.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(super) struct Options {
    /// The model's name; may be left out.
    #[serde(default)]
    pub(super) model: String,
    /// The most tokens to generate.
    pub(super) max_tokens: Option<usize>,
    /// 0 takes the most probable token, which is the default here: a memory recalls. 1 draws in proportion.
    #[schema(minimum = 0, maximum = 100)]
    pub(super) temperature: Option<f64>,
    /// Draw only from the most probable tokens that together have this probability.
    #[schema(minimum = 0, maximum = 1)]
    pub(super) top_p: Option<f64>,
    /// Draw only from this many of the most probable tokens.
    pub(super) top_k: Option<i64>,
    /// How many completions to draw for each prompt.
    #[schema(minimum = 1, maximum = 128)]
    pub(super) n: Option<usize>,
    /// Up to 16 texts at which to stop.
    pub(super) stop: Option<Stop>,
    /// The same seed draws the same text.
    pub(super) seed: Option<i64>,
    /// Whether to send tokens as they come.
    pub(super) stream: Option<bool>,
    pub(super) stream_options: Option<StreamOptions>,
    /// Everything else.
    #[serde(flatten)]
    #[schema(ignore)]
    pub(super) rest: Map<String, Value>,
}

/// Fields that would change the answer, with the value that does not, if there is one.
const UNSUPPORTED: [(&str, Option<f64>); 16] = [
    ("suffix", None),
    ("best_of", Some(1.0)),
    ("frequency_penalty", Some(0.0)),
    ("presence_penalty", Some(0.0)),
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
    /// Refuses what cannot be done, and says what is to be generated, but for the prompt.
    pub(super) fn ask(&self, limits: &Limits, tokens: usize) -> Result<Ask, Failure> {
        self.supported()?;
        let Options { temperature, top_p, top_k, n, .. } = self;
        let between = |name: &str, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                return Ok(value);
            }
            Err(Failure::field(name, format!("{name} must be between {least} and {most}")))
        };
        between("n", n.unwrap_or(1) as f64, 1.0, 128.0)?;
        let tokens = self.max_tokens.unwrap_or(tokens);
        between("max_tokens", tokens as f64, 0.0, limits.tokens as f64)?;
        let stop = match self.stop.clone() {
            None => Vec::new(),
            Some(Stop::One(stop)) => vec![stop],
            Some(Stop::Many(stops)) => stops,
        };
        if stop.len() > 16 {
            return Err(Failure::field("stop", "there may be at most 16 texts at which to stop"));
        }
        let choice = Sampling {
            temperature: between("temperature", temperature.unwrap_or(0.0), 0.0, 100.0)?,
            // 0 draws from nothing; clients that send it mean the most probable token.
            top_p: between("top_p", top_p.unwrap_or(1.0), 0.0, 1.0)?,
            top_k: top_k.unwrap_or(0).max(0) as usize,
            seed: self.seed.map_or_else(random, |seed| seed as u64),
            stop: Vec::new(),
        };
        let stop = stop.into_iter().filter(|stop| !stop.is_empty()).collect();
        Ok(Ask { tokens, choice, stop, ..Ask::default() })
    }

    fn supported(&self) -> Result<(), Failure> {
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
                return Err(Failure::field(name, format!("{name} is not supported here")));
            }
        }
        Ok(())
    }
}

/// A seed of which nobody knows anything.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // Without randomness the same text is drawn each time, which is no harm.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
