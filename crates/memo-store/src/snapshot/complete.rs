//! Completion: the one way in which a prompt is continued, whoever asks.
//!
//! [`CompletionStream`] owns everything about a completion but the memory: choosing, stop texts, decoding to whole
//! characters, probabilities, evidence and limits. The memory is given at every step, so it may change between two steps (a
//! server lets a change have its turn) or be a different one each time (a sharded memory that is fetched row by row).
//! [`Snapshot::tokens`] is the same as an iterator over one snapshot, [`Snapshot::complete`] all of it at once.

use super::healing::{Healed, Healing};
use super::loops::LastTokens;
use super::search::{Found, Search};
use super::stop::StopFilter;
use super::{
    ContinuedPrompt, MatchKind, MatchedContext, Passage, PromptMatch, ReadOptions, Snapshot,
    Stretch, TokenScore,
};
use crate::error::Error;
use memo::readout::{
    Choice, Generation, ModelTop, Sampling, Scratch, Shares, Vocabularies, Weight,
};
use memo::sparse::Memory;
use memo_text::{StreamDecoder, Tokenizer};
use serde::Serialize;
use std::collections::VecDeque;
use std::time::Instant;

/// How a prompt is continued.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct CompletionOptions {
    /// The most tokens to generate.
    pub max_tokens: usize,
    /// How each token is picked.
    pub sampling: Sampling,
    /// Texts that end the completion; they are not part of it.
    pub stop: Vec<String>,
    /// Whether tokens have their probability and, if so, how many of the most probable ones beside it. Probabilities cost
    /// time: without them a long context may settle a token alone.
    pub top: Option<usize>,
    /// Whether tokens have the longest context that knew them.
    pub contexts: bool,
    /// Whether the prompt is text that may end anywhere, in a space, a word or a character: its last tokens are then taken back and
    /// chosen again where the memory knows better. Off for prompts that are meant as tokens.
    pub heal: bool,
    /// Whether the prompt is looked for in the memory, and put right if it is nearly there.
    pub find: bool,
    /// Whether to go on where the memory does not know how; with a temperature, completions always do.
    pub guess: bool,
    /// How the memory is read. The context memory, which has the prompt, is read where the completion may guess: with a temperature, or
    /// with `guess`.
    pub read: ReadOptions,
}

impl Default for CompletionOptions {
    /// The most probable tokens, up to 64, without probabilities.
    fn default() -> Self {
        CompletionOptions {
            max_tokens: 64,
            sampling: Sampling::default(),
            stop: Vec::new(),
            top: None,
            contexts: false,
            heal: true,
            find: true,
            guess: false,
            read: ReadOptions::completing(),
        }
    }
}

impl CompletionOptions {
    /// The most probable tokens, up to `max_tokens`.
    pub fn greedy(max_tokens: usize) -> Self {
        CompletionOptions { max_tokens, ..CompletionOptions::default() }
    }

    /// The seed, if anything is drawn.
    pub fn seed_used(&self) -> Option<u64> {
        let Sampling { temperature, seed, .. } = self.sampling;
        (temperature > 0.0).then_some(seed)
    }

    /// Whether the completion goes on where the memory does not know how.
    fn guesses(&self) -> bool {
        self.guess || self.sampling.temperature > 0.0
    }

    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<(), Error> {
        let Sampling { temperature, top_p, frequency_penalty, presence_penalty, .. } =
            self.sampling;
        let refuse = |name, expected: &str| Err(Error::Option { name, expected: expected.into() });
        if !(0.0..=100.0).contains(&temperature) {
            return refuse("temperature", "between 0 and 100");
        }
        if !(0.0..=1.0).contains(&top_p) {
            return refuse("top_p", "between 0 and 1");
        }
        let penalties =
            [("frequency_penalty", frequency_penalty), ("presence_penalty", presence_penalty)];
        if let Some((name, _)) = penalties.iter().find(|(_, p)| !(-2.0..=2.0).contains(p)) {
            return refuse(name, "between -2 and 2");
        }
        if self.stop.iter().any(String::is_empty) {
            return refuse("stop", "a text that is not empty");
        }
        self.read.check()
    }
}

/// A seed for draws that nobody gave one, another each time: 32 bits, so that it is easily typed and exact in every
/// reader of JSON.
pub fn fresh_seed() -> u64 {
    let mut bytes = [0; 4];
    // Without randomness the same text is drawn each time, which is no harm.
    let _ = getrandom::fill(&mut bytes);
    u64::from(u32::from_le_bytes(bytes))
}

/// Why a completion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum FinishReason {
    /// The memory came to the end of a document.
    End,
    /// A stop text came.
    Stop,
    /// It is as long as it may be.
    Length,
    /// Nobody waits for it any more.
    Cancelled,
    /// The memory does not know how it goes on.
    Unknown,
    /// It began to repeat itself.
    Loop,
}

/// A token of a completion, or of a text that is scored.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CompletionToken {
    /// The token.
    pub token: u32,
    /// The text that became whole with it.
    pub text: String,
    /// Its probability, if that was asked for.
    pub probability: Option<f64>,
    /// Whether it was the most probable one, if probabilities were asked for.
    pub best: Option<bool>,
    /// The layer, from 1, of the longest context that knew it; none if none did, or if that was not asked for.
    pub layer: Option<u32>,
    /// The tokens of that context.
    pub context_tokens: Option<u32>,
    /// What the memory and its partner each gave it, if it was chosen from both together.
    pub mixture: Option<MixtureShares>,
    /// Its log-probability and those of the most probable ones.
    #[serde(skip)]
    pub score: Option<TokenScore>,
    /// Whether it is the end of the document, which adds no text. The end is given only with probabilities.
    #[serde(skip)]
    pub end: bool,
}

/// What a memory and a neural model beside it each gave a token.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MixtureShares {
    /// How much the memory counted there: from 0, not at all, to 1, alone.
    pub weight: f64,
    /// The probability that the memory gave it.
    pub memory: f64,
    /// The probability that the model gave it; none where the model did not answer.
    pub model: Option<f64>,
}

impl From<Shares> for MixtureShares {
    fn from(Shares { weight, memory, model }: Shares) -> Self {
        MixtureShares { weight, memory, model }
    }
}

/// What a neural model says beside a memory, and how the two go together.
#[derive(Clone, Debug)]
pub struct Beside<'a> {
    /// Its most probable next tokens; none if it did not answer, so that the memory alone counts.
    pub model: Option<&'a ModelTop>,
    /// How much the memory counts.
    pub weight: Weight,
    /// How their tokens are the same.
    pub vocabularies: Vocabularies,
}

impl CompletionToken {
    /// A token with what is known of it.
    pub fn new(
        token: u32,
        text: String,
        score: Option<TokenScore>,
        context: Option<MatchedContext>,
    ) -> Self {
        CompletionToken {
            token,
            text,
            probability: score.as_ref().map(TokenScore::probability),
            best: score.as_ref().map(|score| score.best == token),
            layer: context.map(|context| context.layer),
            context_tokens: context.map(|context| context.context_tokens),
            mixture: None,
            score,
            end: false,
        }
    }
}

/// A continuation of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Completion {
    /// The continuation, without the prompt.
    pub completion: String,
    /// Its tokens.
    pub tokens: Vec<CompletionToken>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// How fast it came.
    pub tokens_per_second: f64,
    /// The seed of its draws, which draws it again; none if nothing was drawn.
    pub seed: Option<u64>,
    /// How the prompt was found in the memory, if that was looked for.
    pub matched: Option<PromptMatch>,
    /// What was continued, if that is not the prompt as it was typed.
    pub continued: Option<ContinuedPrompt>,
    /// Where its stretches stand in the documents; none if that was not asked for, or if the model is frozen.
    pub sources: Option<Vec<Stretch>>,
    /// The passages that share the most with the prompt, the closest first, if the memory does not know it or only its last few
    /// tokens; none if it does, if that was not looked for, or if the model is frozen.
    pub closest: Option<Vec<Passage>>,
}

impl Completion {
    /// Whether it is not the continuation of a quote, so that passages that resemble the prompt are worth reading.
    pub fn is_guess(&self) -> bool {
        let nothing = self.finish_reason == FinishReason::Unknown && self.tokens.is_empty();
        let quoted = |kind| matches!(kind, MatchKind::Verbatim | MatchKind::Near);
        self.matched.as_ref().is_some_and(|matched| nothing || !quoted(matched.kind))
    }
}

/// Tokens of a context that must know what comes next, for a text to be going on and not to be guessed.
const SUPPORT: usize = 3;

/// A token that was chosen and is not yet part of the completion.
pub struct CompletionChoice {
    chosen: Chosen,
    score: Option<TokenScore>,
    context: Option<MatchedContext>,
    mixture: Option<MixtureShares>,
}

impl CompletionChoice {
    fn new(chosen: Chosen, score: Option<TokenScore>, context: Option<MatchedContext>) -> Self {
        CompletionChoice { chosen, score, context, mixture: None }
    }

    /// The token, if it is one that goes on with the text or ends it.
    pub fn token(&self) -> Option<u32> {
        match &self.chosen {
            Chosen::Next(choice) => Some(choice.token),
            _ => None,
        }
    }
}

enum Chosen {
    /// How the prompt was found in the memory.
    Found(Box<Found>),
    /// What comes next.
    Next(Choice),
    /// A token for the end of the prompt.
    Healed(u32),
    /// The end of the prompt as it was typed.
    Typed,
    /// Nothing: the memory does not know how the text goes on, or only to say the same again.
    End(FinishReason),
}

/// A completion that is being made, token by token.
pub struct CompletionStream {
    options: CompletionOptions,
    tokenizer: Tokenizer,
    generation: Generation,
    /// The end of the prompt, while it is chosen again.
    healing: Option<Healing>,
    /// How the prompt was found, once that was looked for.
    matched: Option<PromptMatch>,
    /// Whether the prompt is in the memory, so that what follows is what followed it there.
    quoting: bool,
    /// Tokens of the prompt's last word, with what each adds to what was typed of it, if the prompt was put right.
    owed: VecDeque<(u32, String)>,
    prompt: Vec<u32>,
    /// The prompt as it is continued, once there is a token, if that is not as it was typed.
    continued: Option<ContinuedPrompt>,
    /// The last tokens of the completion.
    last: LastTokens,
    /// Taken when the text ends.
    decoder: Option<StreamDecoder>,
    filter: StopFilter,
    /// Tokens whose text is final.
    ready: VecDeque<CompletionToken>,
    generated: usize,
    finish: Option<FinishReason>,
}

impl CompletionStream {
    /// A stream of what follows the tokens of a prompt.
    pub fn new(
        tokenizer: &Tokenizer,
        prompt: &[u32],
        options: &CompletionOptions,
    ) -> Result<Self, Error> {
        options.check()?;
        Ok(CompletionStream {
            tokenizer: tokenizer.clone(),
            generation: Generation::new(prompt, options.sampling.clone()),
            healing: if options.heal { Healing::new(tokenizer, prompt) } else { None },
            matched: None,
            quoting: false,
            owed: VecDeque::new(),
            prompt: prompt.to_vec(),
            continued: None,
            last: LastTokens::default(),
            decoder: Some(StreamDecoder::after(tokenizer, prompt)),
            filter: StopFilter::new(&options.stop),
            ready: VecDeque::new(),
            generated: 0,
            finish: (options.max_tokens == 0).then_some(FinishReason::Length),
            options: options.clone(),
        })
    }

    /// The next token whose text is final; `None` at the end.
    pub fn next_token(&mut self, memory: &Memory) -> Result<Option<CompletionToken>, Error> {
        loop {
            if let Some(token) = self.take_ready() {
                return Ok(Some(token));
            }
            match self.choose(memory)? {
                Some(choice) => self.accept(choice),
                None => return Ok(None),
            }
        }
    }

    /// A token whose text is final, if there is one without generating more.
    pub fn take_ready(&mut self) -> Option<CompletionToken> {
        self.ready.pop_front()
    }

    /// Chooses the next token without going on; `None` at the end. Choosing again from the same memory gives the same
    /// token, so a choice made from a memory that turns out to be incomplete is made again.
    pub fn choose(&mut self, memory: &Memory) -> Result<Option<CompletionChoice>, Error> {
        if self.finish.is_some() {
            return Ok(None);
        }
        if self.options.find && self.matched.is_none() {
            let search = Search { memory, tokenizer: &self.tokenizer };
            let found = search.find(&self.prompt, self.healing.clone(), self.options.heal)?;
            let chosen = Chosen::Found(Box::new(found));
            return Ok(Some(CompletionChoice::new(chosen, None, None)));
        }
        let Self { generation, options, tokenizer, .. } = self;
        if let Some(healing) = &mut self.healing {
            let (chosen, score) = match healing.choose(memory, tokenizer, options.top)? {
                Healed::Token(token, score) => (Chosen::Healed(token), score),
                Healed::Typed => (Chosen::Typed, None),
            };
            let context = match chosen {
                Chosen::Healed(token) if options.contexts => {
                    MatchedContext::of(memory, healing.context(), token)?
                }
                _ => None,
            };
            return Ok(Some(CompletionChoice::new(chosen, score, context)));
        }
        let mut readout = options.read.readout();
        if !options.guesses() {
            // Only what the memory knows is said then, and it does not know the prompt.
            readout.recent = 0.0;
        }
        let owed = self.owed.front().map(|&(token, _)| token);
        let (mut choice, score) = match options.top {
            Some(top) => {
                let (choice, score) = generation.choose_seen(memory, &readout, |d, token| {
                    TokenScore::new(d, owed.unwrap_or(token), top)
                })?;
                (choice, Some(score))
            }
            None => (generation.choose(memory, &readout)?, None),
        };
        if let Some(token) = owed {
            choice.token = token;
        } else if let Some(PromptMatch { tokens, .. }) = self.matched
            && !options.guesses()
        {
            let known = generation.known(memory, choice.token)?;
            // Where only a short context knows what comes, the memory does not know how this text goes on.
            let end = if known < SUPPORT.min(tokens + self.generated) {
                Some(FinishReason::Unknown)
            } else {
                self.last.would_repeat(choice.token, known).then_some(FinishReason::Loop)
            };
            if let Some(reason) = end {
                let chosen = Chosen::End(reason);
                return Ok(Some(CompletionChoice::new(chosen, None, None)));
            }
        }
        let context = if options.contexts {
            MatchedContext::of(memory, generation.context(), choice.token)?
        } else {
            None
        };
        Ok(Some(CompletionChoice::new(Chosen::Next(choice), score, context)))
    }

    /// Chooses the next token from the memory and a neural model beside it, without going on; `None` at the end. The prompt is
    /// taken as it is: nothing is looked for or put right.
    pub fn choose_beside(
        &mut self,
        memory: &Memory,
        beside: &Beside<'_>,
    ) -> Result<Option<CompletionChoice>, Error> {
        if self.finish.is_some() {
            return Ok(None);
        }
        let Beside { model, weight, vocabularies } = beside;
        // The model knows the text so far; the memory says what it knows besides.
        let readout = ReadOptions { recent: 0.0, ..self.options.read }.readout();
        let (choice, mixture) =
            self.generation.choose_mixed(memory, &readout, *model, *weight, vocabularies)?;
        let token = choice.token;
        let score = self.options.top.map(|top| TokenScore::of_mixture(&mixture, token, top));
        let known = vocabularies.to_memory(token);
        let context = if self.options.contexts && known == token {
            let context = self.generation.context().iter();
            let context: Vec<u32> = context.map(|&t| vocabularies.to_memory(t)).collect();
            MatchedContext::of(memory, &context, token)?
        } else {
            None
        };
        let shares = Some(MixtureShares::from(mixture.shares(token)));
        let chosen = CompletionChoice::new(Chosen::Next(choice), score, context);
        Ok(Some(CompletionChoice { mixture: shares, ..chosen }))
    }

    /// Goes on from where the prompt was found.
    fn go_on_from(&mut self, found: Found) {
        let Found { matched, context, healing, owed, quoting, scratch } = found;
        (self.owed, self.healing, self.quoting) = (owed, healing, quoting);
        self.begin_after(&context.unwrap_or_else(|| self.prompt.clone()), scratch);
        let unknown = matched.kind == MatchKind::None;
        self.matched = Some(matched);
        if unknown && !self.options.guesses() {
            self.end(FinishReason::Unknown);
        }
    }

    /// Goes on with what was chosen: mostly makes a token part of the completion.
    pub fn accept(&mut self, choice: CompletionChoice) {
        let CompletionChoice { chosen, score, context, mixture } = choice;
        let choice = match chosen {
            Chosen::Next(choice) => choice,
            Chosen::Healed(token) => return self.heal(token, score, context),
            Chosen::Typed => return self.healing = None,
            Chosen::Found(found) => return self.go_on_from(*found),
            Chosen::End(reason) => return self.end(reason),
        };
        let token = choice.token;
        let ends = token == self.tokenizer.eos() || self.options.sampling.stop.contains(&token);
        if self.generated == 0 && self.generation.context() != self.prompt {
            let tokens = self.generation.context();
            self.continued = Some(ContinuedPrompt::new(&self.tokenizer, tokens, token, ends));
        }
        self.generation.accept(choice);
        if ends {
            // Bytes of a character that the document itself does not complete.
            let rest = self.decoder.take().map_or_else(String::new, StreamDecoder::finish);
            self.filter.append(&rest);
            if score.is_some() {
                let end = CompletionToken::new(token, String::new(), score, context);
                self.filter.push(CompletionToken { end: true, mixture, ..end });
            }
            return self.end(FinishReason::End);
        }
        let mut text =
            self.decoder.as_mut().map_or_else(String::new, |decoder| decoder.push(token));
        if let Some((_, rest)) = self.owed.pop_front() {
            text = rest;
        } else if self.generated == 0 {
            text = self.first_text(text);
        }
        let token = CompletionToken::new(token, text, score, context);
        self.take(CompletionToken { mixture, ..token });
    }

    /// The text of the first token, as it goes on after a prompt that was put right: without the space that was typed already.
    fn first_text(&self, text: String) -> String {
        let near = self.matched.as_ref().is_some_and(|matched| matched.kind == MatchKind::Near);
        let last = self.prompt.last().map(|&last| self.tokenizer.decode_lossy(&[last]));
        if near && last.is_some_and(|last| last.ends_with(char::is_whitespace)) {
            return text.trim_start().to_owned();
        }
        text
    }

    /// Goes on with the end of the prompt, and with the completion once that is chosen again.
    fn heal(&mut self, token: u32, score: Option<TokenScore>, context: Option<MatchedContext>) {
        let Some(healing) = &mut self.healing else { return };
        let Some(beyond) = healing.accept(&self.tokenizer, token) else { return };
        let (left, typed) = healing.prompt();
        let decode = |tokens: &[u32]| {
            let mut decoder = StreamDecoder::after(&self.tokenizer, left);
            let text: String = tokens.iter().map(|&token| decoder.push(token)).collect();
            (decoder, text)
        };
        let (decoder, text) = decode(healing.chosen());
        // Where a tokenizer's text is not that of its tokens one by one, what was typed stays.
        if let Some(text) = text.strip_prefix(&*decode(typed).1) {
            let text = text.to_owned();
            let after = healing.context().to_vec();
            self.begin_after(&after, Scratch::default());
            self.decoder = Some(decoder);
            if beyond {
                let before = &after[..after.len() - 1];
                self.continued = Some(ContinuedPrompt::new(&self.tokenizer, before, token, false));
                self.generation.count(token);
                self.take(CompletionToken::new(token, text, score, context));
            }
        }
        self.healing = None;
    }

    /// Goes on from some tokens, with what was read of them.
    fn begin_after(&mut self, tokens: &[u32], scratch: Scratch) {
        let generation =
            Generation::new(tokens, self.options.sampling.clone()).with_scratch(scratch);
        self.generation = if self.quoting { generation.quoting() } else { generation };
    }

    /// Adds a token to the completion.
    fn take(&mut self, token: CompletionToken) {
        self.generated += 1;
        self.last.push(token.token);
        self.filter.push(token);
        if self.filter.stopped() {
            return self.end(FinishReason::Stop);
        }
        let whole = self.decoder.as_ref().is_none_or(StreamDecoder::is_whole);
        self.filter.release(&mut self.ready, whole);
        if self.generated == self.options.max_tokens {
            // A character that is cut off by the length is left out.
            self.end(FinishReason::Length);
        }
    }

    fn end(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
        self.filter.flush(&mut self.ready);
    }

    /// Ends the completion where it is.
    pub fn cancel(&mut self) {
        if self.finish.is_none() {
            self.end(FinishReason::Cancelled);
        }
    }

    /// Ends the completion where it is, because it cannot be longer.
    pub fn limit(&mut self) {
        if self.finish.is_none() {
            self.end(FinishReason::Length);
        }
    }

    /// The tokens that the next one is chosen after.
    pub fn context(&self) -> &[u32] {
        self.healing.as_ref().map_or(self.generation.context(), Healing::context)
    }

    /// The tokens that the first one of the completion was chosen after: those of the prompt, put right if it was nearly known.
    pub fn continued(&self) -> &[u32] {
        self.continued.as_ref().map_or(&self.prompt, |continued| &continued.tokens)
    }

    /// Tokens generated so far, those of stop texts included.
    pub fn generated(&self) -> usize {
        self.generated
    }

    /// Why the completion ended, once it has.
    pub fn finish_reason(&self) -> Option<FinishReason> {
        self.finish
    }
}

/// The tokens of a completion, generated one by one from a snapshot.
pub struct CompletionTokens<'s> {
    memory: &'s Memory,
    stream: CompletionStream,
}

impl CompletionTokens<'_> {
    /// Why the completion ended, once it has.
    pub fn finish_reason(&self) -> Option<FinishReason> {
        self.stream.finish_reason()
    }

    /// The tokens that the completion was chosen after: see [`CompletionStream::continued`].
    pub fn continued(&self) -> &[u32] {
        self.stream.continued()
    }

    /// What came of it: the tokens that were taken from it, since `start`.
    pub fn completion(&self, tokens: Vec<CompletionToken>, start: Instant) -> Completion {
        self.stream.completion(tokens, start)
    }
}

impl Iterator for CompletionTokens<'_> {
    type Item = Result<CompletionToken, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.stream.next_token(self.memory).transpose()
    }
}

impl Snapshot {
    /// Continues a prompt. If the memory does not know it, or only its last few tokens, the completion names the closest passages,
    /// for which all texts are read.
    ///
    /// ```
    /// # use memo_store::{CompletionOptions, FinishReason, NewDocument, NewModel, Store};
    /// # let home = tempfile::tempdir()?;
    /// # let mut store = Store::create(&home.path().join("notes.memo"), &NewModel::default())?;
    /// store.memorize([NewDocument::text("The owl reads at night. The cat sleeps.")], None)?;
    /// let options = CompletionOptions { stop: vec![". ".into()], ..CompletionOptions::default() };
    /// let done = store.complete("The owl", &options)?;
    /// assert_eq!((done.completion.as_str(), done.finish_reason), (" reads at night", FinishReason::Stop));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn complete(&self, prompt: &str, options: &CompletionOptions) -> Result<Completion, Error> {
        let start = Instant::now();
        let mut tokens = self.tokens(prompt, options)?;
        let made = tokens.by_ref().filter(|token| !token.as_ref().is_ok_and(|token| token.end));
        let made: Vec<CompletionToken> = made.collect::<Result<_, _>>()?;
        let mut completion = tokens.completion(made, start);
        self.add_closest(tokens.continued(), &mut completion)?;
        Ok(completion)
    }

    /// The tokens that continue a prompt, one by one.
    pub fn tokens(
        &self,
        prompt: &str,
        options: &CompletionOptions,
    ) -> Result<CompletionTokens<'_>, Error> {
        let prompt = self.tokenizer.encode(prompt)?;
        let stream = CompletionStream::new(&self.tokenizer, &prompt, options)?;
        Ok(CompletionTokens { memory: self.memory()?, stream })
    }
}

impl CompletionStream {
    /// What came of it: the tokens that were taken from it, since `start`.
    pub fn completion(&self, tokens: Vec<CompletionToken>, start: Instant) -> Completion {
        Completion {
            completion: tokens.iter().map(|token| token.text.as_str()).collect(),
            tokens,
            finish_reason: self.finish.unwrap_or(FinishReason::Cancelled),
            tokens_per_second: self.generated as f64 / start.elapsed().as_secs_f64().max(1e-9),
            matched: self.matched.clone(),
            continued: self.continued.clone(),
            seed: self.options.seed_used(),
            sources: None,
            closest: None,
        }
    }
}
