//! Generation: one token after the other, picked as [`Sampling`] says. A step costs the same however much was memorized.

use super::draw::Drawing;
use super::penalty::GeneratedCounts;
use super::{Backoff, Distribution, Scratch};
use crate::random::{Draws, Purpose, Stream};
use crate::sparse::{Error, Memory};

/// How the next token is picked.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// 0 takes the most probable token; 1 draws in proportion; values between are sharper, values above flatter.
    pub temperature: f64,
    /// Draw only from this many of the most probable tokens; 0 is all.
    pub top_k: usize,
    /// Draw only from the most probable tokens that together have this probability; 1 is all.
    pub top_p: f64,
    /// What the log-probability of a token falls by each time that it was said since the prompt; a negative one makes it rise.
    pub frequency_penalty: f64,
    /// What it falls by once the token was said.
    pub presence_penalty: f64,
    /// The seed of the draws: the same seed draws the same text.
    pub seed: u64,
    /// Tokens that end the text; they are not part of it. The end token always does.
    pub stop: Vec<u32>,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            seed: 0,
            stop: Vec::new(),
        }
    }
}

/// The state of a generation: the tokens so far, and how the next is picked. It holds no memory, so the memory may change
/// between two steps; [`Generator`] is the same over one memory.
#[derive(Clone, Debug)]
pub struct Generation {
    context: Vec<u32>,
    /// What the context memory has: the prompt, unless it is a quote.
    prompt: Vec<u32>,
    sampling: Sampling,
    draws: Draws,
    scratch: Scratch,
    drawing: Drawing,
    /// What was said since the prompt, if that is penalised.
    said: GeneratedCounts,
    quoting: bool,
}

impl Generation {
    /// What follows `prompt`, which is all of the prompt or at least the read-out's window.
    pub fn new(prompt: &[u32], sampling: Sampling) -> Self {
        let draws = Stream::new(sampling.seed, Purpose::Sampling, 0).draws();
        let (scratch, drawing, said) = Default::default();
        let (context, prompt) = (prompt.to_vec(), prompt.to_vec());
        Generation { context, prompt, sampling, draws, scratch, drawing, said, quoting: false }
    }

    /// Takes the prompt for a quote: the most probable token is then what followed the longest match, however little speaks for
    /// it otherwise.
    #[must_use]
    pub fn quoting(self) -> Self {
        Generation { quoting: true, prompt: Vec::new(), ..self }
    }

    /// Takes over what was read before, of the prompt or not.
    #[must_use]
    pub fn with_scratch(self, scratch: Scratch) -> Self {
        Generation { scratch, ..self }
    }

    /// Returns what was read last, to be taken over.
    #[must_use]
    pub fn into_scratch(self) -> Scratch {
        self.scratch
    }

    /// Returns whether a token ends the text.
    pub fn ends(&self, memory: &Memory, token: u32) -> bool {
        token == memory.settings().end || self.sampling.stop.contains(&token)
    }

    /// Returns how many tokens the longest context has that knew a token, of those that the last choice was made from. Of a
    /// generalised one its units without a class count.
    pub fn known(&self, memory: &Memory, token: u32) -> Result<usize, Error> {
        let levels = &self.scratch.reader.levels;
        let all = levels.words().iter().chain(levels.tokens());
        let longest = all.filter(|level| level.count(token) > 0).map(|level| level.span).max();
        let exact = match longest {
            Some(span) => span,
            None => usize::from(memory.followed(levels.before, token)? > 0),
        };
        let general = levels.general.iter().enumerate();
        let mut general = general.map(|(level, general)| general.knows(memory, level, token));
        general.try_fold(exact, |longest, literal| Ok(longest.max(literal?)))
    }

    /// What followed the longest context that the last choice was made from, in order of the tokens.
    pub(super) fn followed(&self) -> &[(u32, i64)] {
        self.scratch.reader.levels.longest().map_or(&[], |level| &level.list)
    }

    /// The last tokens of what was said, as far as they can matter: what the next token is chosen after.
    pub fn context(&self) -> &[u32] {
        &self.context
    }

    /// What was read last, for other ways to choose.
    pub(super) fn scratch_mut(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    /// How tokens are picked, what was said, and the draws to come.
    pub(super) fn sampling(&self) -> (&Sampling, &GeneratedCounts, Draws) {
        (&self.sampling, &self.said, self.draws)
    }

    /// Chooses the next token without going on: choosing again, from the same memory, gives the same token.
    pub fn choose(&mut self, memory: &Memory, readout: &Backoff) -> Result<Choice, Error> {
        if self.sampling.temperature > 0.0 || self.sampling.penalizes() {
            return Ok(self.choose_seen(memory, readout, |_, _| Ok(()))?.0);
        }
        let Generation { prompt, context, scratch, .. } = self;
        let token = if self.quoting {
            readout.best_of_quote(memory, context, scratch)?
        } else {
            let distribution = readout.distribution_after(memory, prompt, context, scratch)?;
            readout.settle(memory, &self.context, &mut self.scratch, &distribution, false)?
        };
        Ok(Choice { token, draws: self.draws, window: readout.window(memory) })
    }

    /// The same, with whatever `look` sees in the distribution that the token was chosen from. That costs a little more:
    /// what a long context settles can be chosen, but not weighed, without reading the others.
    pub fn choose_seen<T>(
        &mut self,
        memory: &Memory,
        readout: &Backoff,
        look: impl FnOnce(&Distribution<'_>, u32) -> Result<T, Error>,
    ) -> Result<(Choice, T), Error> {
        let Generation { prompt, context, scratch, .. } = self;
        let distribution = readout.distribution_after(memory, prompt, context, scratch)?;
        let mut draws = self.draws;
        let token = if self.sampling.temperature > 0.0 {
            let Generation { drawing, sampling, said, .. } = self;
            drawing.draw(&distribution, memory.stamp(), sampling, said, &mut draws)?
        } else {
            let Generation { context, scratch, quoting, .. } = self;
            let settled = readout.settle(memory, context, scratch, &distribution, *quoting)?;
            if self.sampling.penalizes() {
                self.said.best(&distribution, settled, &self.sampling)?
            } else {
                settled
            }
        };
        let seen = look(&distribution, token)?;
        Ok((Choice { token, draws, window: readout.window(memory) }, seen))
    }

    /// Goes on after a token that was chosen.
    pub fn accept(&mut self, choice: Choice) {
        let Choice { token, draws, window } = choice;
        if self.context.len() >= 2 * window.max(32) {
            self.context.drain(..self.context.len() - window);
        }
        self.context.push(token);
        self.draws = draws;
        self.count(token);
    }

    /// Counts a token as said since the prompt, for the penalties.
    pub fn count(&mut self, token: u32) {
        if self.sampling.penalizes() {
            self.said.add(token);
        }
    }

    /// The next token, which may be one that ends the text; then there is no use in going on.
    pub fn step(&mut self, memory: &Memory, readout: &Backoff) -> Result<u32, Error> {
        let choice = self.choose(memory, readout)?;
        self.accept(choice);
        Ok(choice.token)
    }

    /// The same, with whatever `look` sees in the distribution that the token was chosen from.
    pub fn step_seen<T>(
        &mut self,
        memory: &Memory,
        readout: &Backoff,
        look: impl FnOnce(&Distribution<'_>, u32) -> Result<T, Error>,
    ) -> Result<(u32, T), Error> {
        let (choice, seen) = self.choose_seen(memory, readout, look)?;
        self.accept(choice);
        Ok((choice.token, seen))
    }
}

/// A token that was chosen, and what choosing it drew.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The token.
    pub token: u32,
    draws: Draws,
    window: usize,
}

impl Choice {
    pub(super) fn new(token: u32, draws: Draws, window: usize) -> Self {
        Choice { token, draws, window }
    }
}

/// A continuation of a prompt, token by token, until a stop token.
///
/// ```
/// use memo::readout::{BACKOFF, Sampling, Generator};
/// use memo::sparse::{Memory, Settings};
/// let mut memory = Memory::new(Settings::new(100, 99, 7)?)?;
/// let text: Vec<u32> = (1..40).collect();
/// memory.memorize(&text)?;
/// let generated: Result<Vec<u32>, _> = Generator::new(&memory, &BACKOFF, &text[..5], Sampling::default()).collect();
/// assert_eq!(generated?, text[5..]);
/// # Ok::<(), memo::sparse::Error>(())
/// ```
pub struct Generator<'a> {
    memory: &'a Memory,
    readout: &'a Backoff,
    generation: Generation,
    done: bool,
}

impl<'a> Generator<'a> {
    /// Begins after `prompt`.
    pub fn new(
        memory: &'a Memory,
        readout: &'a Backoff,
        prompt: &[u32],
        sampling: Sampling,
    ) -> Self {
        let window = readout.window(memory);
        let generation = Generation::new(&prompt[prompt.len().saturating_sub(window)..], sampling);
        Generator { memory, readout, generation, done: false }
    }

    /// Returns the same tokens, each with the probability that the memory gave it. That costs a little more: see
    /// [`Generation::step_seen`].
    ///
    /// ```
    /// use memo::readout::{BACKOFF, Sampling, Generator};
    /// use memo::sparse::{Memory, Settings};
    /// let mut memory = Memory::new(Settings::new(100, 99, 7)?)?;
    /// memory.memorize(&[1, 2, 3, 4, 5])?;
    /// for weighed in Generator::new(&memory, &BACKOFF, &[1, 2], Sampling::default()).weighed() {
    ///     let (_token, probability) = weighed?;
    ///     assert!(probability > 0.9);
    /// }
    /// # Ok::<(), memo::sparse::Error>(())
    /// ```
    pub fn weighed(mut self) -> impl Iterator<Item = Result<(u32, f64), Error>> + 'a {
        std::iter::from_fn(move || {
            let step = |generation: &mut Generation, memory: &Memory, readout: &Backoff| {
                let look = |seen: &Distribution<'_>, token: u32| seen.probability(token);
                generation.step_seen(memory, readout, look)
            };
            self.advance(step, |&(token, _)| token)
        })
    }

    /// Takes a step of either kind; `None` at the end.
    fn advance<T>(
        &mut self,
        step: impl FnOnce(&mut Generation, &Memory, &Backoff) -> Result<T, Error>,
        token: impl FnOnce(&T) -> u32,
    ) -> Option<Result<T, Error>> {
        if self.done {
            return None;
        }
        let made = step(&mut self.generation, self.memory, self.readout);
        let ends = |made: &T| self.generation.ends(self.memory, token(made));
        self.done = made.as_ref().map_or(true, ends);
        if self.done && made.is_ok() { None } else { Some(made) }
    }
}

impl Iterator for Generator<'_> {
    type Item = Result<u32, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance(Generation::step, |&token| token)
    }
}
