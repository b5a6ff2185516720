//! llama.cpp's server as a partner: it tells the probabilities of its most probable tokens, and keeps what it has read of a
//! text, so that a token costs one pass over the last one.

use super::http::Http;
use super::vocabulary;
use super::{LanguageModel, Message, PartnerError, PartnerOptions};
use memo::readout::{ModelTop, Vocabularies};
use memo_text::Tokenizer;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long to wait before asking again whether a server is there.
const AGAIN: Duration = Duration::from_millis(200);

/// Tokens that end a text, in models of today. Which of them a model has, it is asked.
const ENDS: [&str; 8] = [
    "<|endoftext|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<|end|>",
    "<eos>",
    "</s>",
];

/// A server that runs.
pub(super) struct Llama {
    http: Http,
    /// How many of the most probable tokens to ask for.
    top: usize,
    /// The name of its model: another one would have other tokens.
    name: String,
    vocabulary: usize,
    /// A token that is a whole character.
    letter: Option<u32>,
}

/// What is known of a server's model.
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) vocabularies: Vocabularies,
    /// The most tokens of a text.
    pub(super) context: usize,
    /// Texts that it reads at a time.
    pub(super) slots: usize,
    /// Tokens that a text begins with.
    pub(super) begin: Vec<u32>,
    /// Tokens that end one.
    pub(super) ends: Vec<u32>,
}

impl Llama {
    /// Finds out what the model is, once the server answers, and that it has the tokens of a memory.
    pub(super) async fn connect(
        options: &PartnerOptions,
        tokenizer: &Tokenizer,
    ) -> Result<(Self, Facts), PartnerError> {
        let http = Http::new(&options.url, options.timeout)?;
        wait(&http, options.timeout).await?;
        let props = http.get("/props").await?;
        let models = http.get("/v1/models").await?;
        let model = &models["data"][0];
        let number = |value: &Value, name: &str| {
            let number = value.as_u64().filter(|&number| number > 0);
            number.map(|number| number as usize).ok_or_else(|| {
                let what = format!("it does not tell {name}; is it llama.cpp's server?");
                PartnerError::Nonsense(what)
            })
        };
        let vocabulary = number(&model["meta"]["n_vocab"], "the size of its vocabulary")?;
        let context = number(&props["default_generation_settings"]["n_ctx"], "its context")?;
        let slots = number(&props["total_slots"], "how many texts it reads at a time")?;
        let name = model["id"].as_str().unwrap_or_default().to_owned();
        let mut ends = Vec::new();
        let eos = props["eos_token"].as_str().filter(|eos| !eos.is_empty());
        for end in eos.into_iter().chain(ENDS) {
            if let [token] = tokenize(&http, end, false).await?[..] {
                ends.push(token);
            }
        }
        let vocabularies =
            vocabulary::compare(&http, tokenizer, vocabulary, ends.first().copied()).await?;
        ends.push(vocabularies.to_model(vocabularies.end));
        ends.sort_unstable();
        ends.dedup();
        let begin = tokenize(&http, "", true).await?;
        let facts = Facts { name: name.clone(), vocabularies, context, slots, begin, ends };
        let letter = tokenizer.encode("a").ok().and_then(|letter| letter.first().copied());
        Ok((Llama { http, top: options.top, name, vocabulary, letter }, facts))
    }

    async fn ask_next(&self, tokens: &[u32]) -> Result<ModelTop, PartnerError> {
        let question = json!({
            "prompt": tokens,
            "n_predict": 1,
            "n_probs": self.top,
            "cache_prompt": true,
            "temperature": 0,
            // Of a token that is half a character it tells no probabilities: so it is made to take another, which changes
            // nothing of what it thinks.
            "logit_bias": self.letter.map(|letter| (letter, 1000.0)).as_slice(),
            "response_fields": ["completion_probabilities", "model"],
        });
        let answer = self.http.post("/completion", &question).await?;
        if answer["model"].as_str().is_some_and(|name| name != self.name) {
            let what = format!("it has another model than {:?}; start memo serve again", self.name);
            return Err(PartnerError::Nonsense(what));
        }
        let top = answer["completion_probabilities"][0]["top_logprobs"].as_array();
        let candidate = |each: &Value| {
            let token = u32::try_from(each["id"].as_u64()?).ok()?;
            Some((token, libm::exp(each["logprob"].as_f64()?)))
        };
        let top = top.and_then(|top| top.iter().map(candidate).collect::<Option<Vec<_>>>());
        let top = top.ok_or_else(|| PartnerError::Nonsense("there are no probabilities".into()))?;
        ModelTop::new(top, self.vocabulary).map_err(|why| PartnerError::Nonsense(why.to_string()))
    }

    async fn ask_template(&self, messages: &[Message]) -> Result<Vec<u32>, PartnerError> {
        let question = json!({ "messages": messages });
        let answer = self.http.post("/apply-template", &question).await?;
        let text = answer["prompt"].as_str();
        let text = text.ok_or_else(|| PartnerError::Nonsense("there is no prompt".into()))?;
        tokenize(&self.http, text, true).await
    }
}

impl LanguageModel for Llama {
    fn next(&self, tokens: &[u32]) -> Result<ModelTop, PartnerError> {
        tokio::runtime::Handle::current().block_on(self.ask_next(tokens))
    }

    fn chat(&self, messages: &[Message]) -> Result<Vec<u32>, PartnerError> {
        tokio::runtime::Handle::current().block_on(self.ask_template(messages))
    }
}

/// Waits until a server answers and has loaded its model.
async fn wait(http: &Http, most: Duration) -> Result<(), PartnerError> {
    let start = Instant::now();
    loop {
        match http.get("/health").await {
            Err(PartnerError::Gone(_) | PartnerError::Refused { status: 503, .. })
                if start.elapsed() < most =>
            {
                tokio::time::sleep(AGAIN).await;
            }
            answer => return answer.map(drop),
        }
    }
}

/// The tokens of a text, names of tokens among it included; with `begin`, also those that the model wants first.
async fn tokenize(http: &Http, text: &str, begin: bool) -> Result<Vec<u32>, PartnerError> {
    let question = json!({ "content": text, "add_special": begin, "parse_special": true });
    let answer = http.post("/tokenize", &question).await?;
    let tokens = answer["tokens"].as_array().into_iter().flatten();
    let tokens = tokens.map(|token| u32::try_from(token.as_u64()?).ok()).collect::<Option<_>>();
    tokens.ok_or_else(|| PartnerError::Nonsense("/tokenize gives no tokens".into()))
}
