//! A partner: a neural model, served elsewhere, whose distribution is mixed with the memory's token by token.
//!
//! A request asks its partner for the most probable tokens after the text so far, mixes them with what the memory says, and
//! goes on with what it chose. The partner reads as many texts at a time as it has slots; a request keeps one for a second if
//! others wait, so that the partner need not read a text anew for each token. A partner that is slow, gone or talks nonsense
//! ends a completion with an error or, if so configured, leaves it to the memory alone; nobody waits longer than the time that
//! was set.

mod explain;
mod generate;
mod http;
mod llama;
mod request;
mod vocabulary;

pub(crate) use self::explain::PartnerExplanation;
pub(crate) use self::generate::{Beside, generate_beside};
pub(crate) use self::request::{Mode, WeightField, beside};

use crate::app::AppState;
use crate::error::{ApiError, ErrorCode};
use axum::http::StatusCode;
use llama::{Facts, Llama};
use memo::readout::{ModelTop, Vocabularies};
use memo_text::Tokenizer;
use parking_lot::Mutex;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// A slot is kept for so long while others wait for one.
const TURN: Duration = Duration::from_secs(1);

/// After a partner did not answer in time, it is not asked again for so long.
const REST: Duration = Duration::from_secs(5);

/// Where a partner is, and what is expected of it.
#[derive(Clone, Debug)]
pub struct PartnerOptions {
    /// The address of llama.cpp's server, as `http://127.0.0.1:8080`.
    pub url: String,
    /// The time that an answer may take.
    pub timeout: Duration,
    /// What happens when there is none.
    pub failure: PartnerFailure,
    /// How many of its most probable tokens it is asked for.
    pub top: usize,
}

impl PartnerOptions {
    /// The partner at an address: half a minute for an answer, 128 tokens, errors when it fails.
    pub fn new(url: impl Into<String>) -> Self {
        let (timeout, failure) = (Duration::from_secs(30), PartnerFailure::Error);
        PartnerOptions { url: url.into(), timeout, failure, top: 128 }
    }
}

/// What happens when a partner is slow, gone, or talks nonsense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartnerFailure {
    /// The request fails.
    Error,
    /// The memory goes on alone.
    Memory,
}

/// Why there is no answer of a partner.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartnerError {
    /// Its address cannot be used.
    #[error("--partner {url}: {reason}")]
    #[allow(missing_docs)]
    Address { url: String, reason: String },
    /// It did not answer in time.
    #[error("the partner has not answered within {seconds} s")]
    #[allow(missing_docs)]
    Slow { seconds: f64 },
    /// It cannot be reached, or broke off.
    #[error(
        "the partner cannot be reached: {0}; start llama.cpp's server, or ask with \"mode\": \"memory\""
    )]
    Gone(String),
    /// It refused.
    #[error("the partner refused with status {status}: {message}")]
    #[allow(missing_docs)]
    Refused { status: u16, message: String },
    /// Its answer is none.
    #[error("the partner's answer makes no sense: {0}")]
    Nonsense(String),
    /// A text is longer than it can read.
    #[error(
        "the text is longer than the {0} tokens that the partner reads; start it with a larger context"
    )]
    TooLong(usize),
    /// It has another vocabulary: fewer tokens.
    #[error(
        "the memory has {memory} tokens and the partner {partner}, so they do not have the same vocabulary; make the memory \
         with the partner's: memo init MODEL --tokenizer FILE, the model's .gguf or tokenizer.json, and memorize again"
    )]
    #[allow(missing_docs)]
    Sizes { memory: usize, partner: usize },
    /// It has another vocabulary: a number means another token.
    #[error(
        "token {token} is {memory:?} for the memory and {partner:?} for the partner; make the memory with the partner's \
         vocabulary: memo init MODEL --tokenizer FILE, the model's .gguf or tokenizer.json, and memorize again"
    )]
    #[allow(missing_docs)]
    Token { token: u32, memory: String, partner: String },
}

impl From<PartnerError> for ApiError {
    fn from(error: PartnerError) -> Self {
        let status = match error {
            PartnerError::TooLong(_) => {
                let error = ApiError::invalid_field("prompt", error.to_string());
                return error.with_code(ErrorCode::ContextLengthExceeded);
            }
            PartnerError::Slow { .. } => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        };
        ApiError::new(status, error.to_string()).with_code(ErrorCode::Partner)
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) content: String,
}

/// A neural model. Its calls wait for it.
trait LanguageModel: Send + Sync {
    /// The most probable tokens after others.
    fn next(&self, tokens: &[u32]) -> Result<ModelTop, PartnerError>;

    /// The tokens of a conversation by the model's own template, up to where it is to answer.
    fn chat(&self, messages: &[Message]) -> Result<Vec<u32>, PartnerError>;
}

/// What a partner is, for users.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub struct PartnerInfo {
    /// The name of its model.
    pub model: String,
    /// How many tokens its vocabulary has.
    pub vocabulary: usize,
    /// How many tokens it can read.
    pub context: usize,
    /// How many texts it reads at a time.
    pub slots: usize,
}

/// A partner that answered, and has the vocabulary of the memory.
pub struct Partner {
    model: Box<dyn LanguageModel>,
    options: PartnerOptions,
    info: PartnerInfo,
    vocabularies: Vocabularies,
    begin: Vec<u32>,
    ends: Vec<u32>,
    slots: Semaphore,
    waiting: AtomicUsize,
    /// When it last did not answer in time.
    silent: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Partner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partner")
            .field("options", &self.options)
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Partner {
    /// Waits until a partner answers, at most as long as an answer may take, and compares its vocabulary with a memory's. Not to
    /// be called from a task of a runtime.
    pub fn connect(options: PartnerOptions, tokenizer: &Tokenizer) -> Result<Self, PartnerError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| PartnerError::Gone(error.to_string()))?;
        let (llama, facts) = runtime.block_on(Llama::connect(&options, tokenizer))?;
        let Facts { name, vocabularies, context, slots, begin, ends } = facts;
        let vocabulary = vocabularies.model as usize;
        let info = PartnerInfo { model: name, vocabulary, context, slots };
        Ok(Partner {
            model: Box::new(llama),
            slots: Semaphore::new(slots),
            waiting: AtomicUsize::new(0),
            silent: Mutex::default(),
            options,
            info,
            vocabularies,
            begin,
            ends,
        })
    }

    /// What it is.
    pub fn info(&self) -> &PartnerInfo {
        &self.info
    }

    /// The tokens of a prompt as it reads them.
    pub(crate) fn prompt(&self, tokens: &[u32]) -> Vec<u32> {
        let own = tokens.iter().map(|&token| self.vocabularies.to_model(token));
        let mut prompt: Vec<u32> = self.begin.iter().copied().chain(own).collect();
        if prompt.is_empty() {
            // It needs something to begin after: the end of what was before.
            prompt.extend(self.ends.first());
        }
        prompt
    }

    /// The tokens of a conversation by its own template.
    pub(crate) fn chat(&self, messages: &[Message]) -> Result<Vec<u32>, PartnerError> {
        self.listen(|| self.model.chat(messages))
    }

    /// Notes a failure, and returns whether the memory goes on alone.
    pub(crate) fn note_failure(&self, app: &AppState, failure: &PartnerError) -> bool {
        app.metrics.partner_failures.inc();
        crate::log::error(failure);
        self.options.failure == PartnerFailure::Memory
            && !matches!(failure, PartnerError::TooLong(_))
    }

    /// The most probable tokens after a prompt.
    pub(crate) fn ask(&self, prompt: &[u32]) -> Result<ModelTop, PartnerError> {
        Session::new(self, self.prompt(prompt)).next()
    }

    /// Asks, unless it lately did not answer in time, and notes whether it does: so nobody else has to wait to learn it.
    fn listen<T>(&self, ask: impl FnOnce() -> Result<T, PartnerError>) -> Result<T, PartnerError> {
        if self.silent.lock().is_some_and(|since| since.elapsed() < REST) {
            return Err(PartnerError::Slow { seconds: self.options.timeout.as_secs_f64() });
        }
        let answer = ask();
        match &answer {
            Err(PartnerError::Slow { .. }) => *self.silent.lock() = Some(Instant::now()),
            Ok(_) => *self.silent.lock() = None,
            Err(_) => {}
        }
        answer
    }
}

/// A text that a partner reads along with.
pub(crate) struct Session<'a> {
    partner: &'a Partner,
    tokens: Vec<u32>,
    /// The slot, and since when.
    turn: Option<(SemaphorePermit<'a>, Instant)>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(partner: &'a Partner, tokens: Vec<u32>) -> Self {
        Session { partner, tokens, turn: None }
    }

    pub(crate) fn push(&mut self, token: u32) {
        self.tokens.push(token);
    }

    /// The most probable tokens that come next.
    pub(crate) fn next(&mut self) -> Result<ModelTop, PartnerError> {
        let Partner { model, info, .. } = self.partner;
        if self.tokens.len() >= info.context {
            return Err(PartnerError::TooLong(info.context));
        }
        self.take_turn();
        self.partner.listen(|| model.next(&self.tokens))
    }

    /// Waits for a slot, if there is none or others have waited long enough.
    fn take_turn(&mut self) {
        let Partner { slots, waiting, .. } = self.partner;
        let is_over =
            |since: &Instant| since.elapsed() > TURN && waiting.load(Ordering::Acquire) > 0;
        if self.turn.as_ref().is_some_and(|(_, since)| is_over(since)) {
            self.turn = None;
        }
        if self.turn.is_some() {
            return;
        }
        waiting.fetch_add(1, Ordering::AcqRel);
        let slot = tokio::runtime::Handle::current().block_on(slots.acquire());
        waiting.fetch_sub(1, Ordering::AcqRel);
        self.turn = slot.ok().map(|slot| (slot, Instant::now()));
    }
}
