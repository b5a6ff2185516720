//! Generation and scoring for all APIs. The model is held for some hundred tokens at a time: that many are of one state,
//! and a change does not wait long for its turn.

use crate::app::Shared;
use crate::desk::Gone;
use crate::error::Failure;
use memo::readout::{Backoff, Distribution, Generation, Sampling, map_distributions};
use memo_store::{Spoke, View};
use memo_text::StreamDecoder;

/// Tokens that are generated or scored before a change gets its turn.
const SLICE: usize = 256;

/// What is to be generated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    pub(crate) prompt: Vec<u32>,
    pub(crate) tokens: usize,
    pub(crate) choice: Sampling,
    pub(crate) stop: Vec<String>,
    pub(crate) look: Look,
}

/// What is looked at besides the token itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// Its probability, and that of so many of the most probable ones.
    pub(crate) top: Option<usize>,
    /// The longest context that knew it.
    pub(crate) spoke: bool,
}

/// A token, said or read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) token: u32,
    /// What it adds to the text.
    pub(crate) text: String,
    /// Whether this is the end of the text, which adds nothing.
    pub(crate) end: bool,
    pub(crate) seen: Option<Seen>,
    pub(crate) spoke: Option<Spoke>,
}

/// What the memory thought of a token.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// The natural logarithm of its probability.
    pub(crate) logprob: f64,
    /// The most probable tokens, the likeliest first.
    pub(crate) top: Vec<(u32, f64)>,
}

impl Seen {
    fn new(distribution: &Distribution<'_>, token: u32, top: usize) -> Self {
        // One function for both, so that the best token's two values are the same bits.
        let logprob = |token| libm::log(distribution.probability(token));
        let top: Vec<(u32, f64)> = match top {
            0 => Vec::new(),
            1 => vec![distribution.best()].into_iter().map(|best| (best, logprob(best))).collect(),
            _ => distribution.top(top).into_iter().map(|(t, _)| (t, logprob(t))).collect(),
        };
        Seen { logprob: logprob(token), top }
    }
}

/// Why a generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// The memory's own end.
    End,
    /// Text that was to stop it.
    Stop,
    /// It was long enough.
    Length,
    /// Nobody waits for it any more.
    Left,
}

impl Finish {
    /// As OpenAI calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Finish::End | Finish::Stop => "stop",
            Finish::Length | Finish::Left => "length",
        }
    }
}

/// Generates, and tells `listen` each token. Gives the number of tokens too.
pub(crate) fn generate(
    app: &Shared,
    ask: &Ask,
    gone: &Gone<'_>,
    mut listen: impl FnMut(Said),
) -> Result<(Finish, usize), Failure> {
    let tokenizer = app.model.tokenizer();
    let mut stream = StreamDecoder::after(tokenizer, &ask.prompt);
    let mut speaker = Speaker::new(ask);
    let mut held = Held::new(&ask.stop);
    let mut made = 0;
    let mut view = app.model.read()?;
    let finish = loop {
        if made == ask.tokens {
            break Finish::Length;
        }
        if gone() {
            break Finish::Left;
        }
        if made > 0 && made % SLICE == 0 {
            drop(view);
            view = app.model.read()?;
        }
        let mut said = speaker.next(&view)?;
        if said.end {
            // Its probability is of interest, if any is.
            if said.seen.is_some() {
                held.push(said);
            }
            break Finish::End;
        }
        made += 1;
        said.text = stream.push(said.token);
        held.push(said);
        if held.stopped() {
            break Finish::Stop;
        }
        held.release(&mut listen);
    };
    app.metrics.generated.inc_by(made as u64);
    if matches!(finish, Finish::End | Finish::Length) {
        // Bytes of a character that never became whole.
        held.append(&stream.finish());
    }
    held.flush(&mut listen);
    Ok((finish, made))
}

/// The state of a generation, for either engine.
struct Speaker<'a> {
    ask: &'a Ask,
    generation: Generation,
    /// All that was said, where it must be known.
    context: Vec<u32>,
}

impl<'a> Speaker<'a> {
    fn new(ask: &'a Ask) -> Self {
        let generation = Generation::new(&ask.prompt, ask.choice.clone());
        Speaker { ask, generation, context: ask.prompt.clone() }
    }

    fn next(&mut self, view: &View) -> Result<Said, Failure> {
        let Speaker { ask, generation, context } = self;
        let Some(memory) = view.memory().sparse() else {
            return self.next_dense(view);
        };
        let readout = Backoff::default();
        let (token, seen) = match ask.look.top {
            Some(top) => {
                let look = |seen: &Distribution<'_>, token| Seen::new(seen, token, top);
                let (token, seen) = generation.step_seen(memory, &readout, look)?;
                (token, Some(seen))
            }
            None => (generation.step(memory, &readout)?, None),
        };
        let end = generation.ends(memory, token);
        let spoke = if ask.look.spoke { view.spoke(context, token)? } else { None };
        context.push(token);
        Ok(Said { token, end, seen, spoke, ..Said::default() })
    }

    fn next_dense(&mut self, view: &View) -> Result<Said, Failure> {
        let (Sampling { temperature, .. }, Look { top, .. }) = (&self.ask.choice, self.ask.look);
        if *temperature > 0.0 || top.is_some() {
            let message =
                "probabilities and sampling need the sparse engine; this model has the dense one";
            return Err(Failure::bad(message));
        }
        let memory = view.memory().dense().ok_or_else(|| Failure::bad("a model has one engine"))?;
        let token = memory.predict(&self.context).map_err(memo_store::Error::from)?.token;
        self.context.push(token);
        Ok(Said { token, end: token == view.tokenizer().eos(), ..Said::default() })
    }
}

/// Tokens that are held back because their text may become one that stops.
struct Held<'a> {
    stops: &'a [String],
    tokens: std::collections::VecDeque<Said>,
    text: String,
}

impl<'a> Held<'a> {
    fn new(stops: &'a [String]) -> Self {
        Held { stops, tokens: std::collections::VecDeque::new(), text: String::new() }
    }

    fn push(&mut self, said: Said) {
        self.text.push_str(&said.text);
        self.tokens.push_back(said);
    }

    /// Adds text to the last token.
    fn append(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.tokens.back_mut() {
            Some(last) => {
                last.text.push_str(text);
                self.text.push_str(text);
            }
            None => self.push(Said { text: text.to_owned(), ..Said::default() }),
        }
    }

    /// Whether the text contains one that stops; if so, it is cut there.
    fn stopped(&mut self) -> bool {
        let Some(at) = self.stops.iter().filter_map(|stop| self.text.find(stop)).min() else {
            return false;
        };
        let mut start = 0;
        self.tokens.retain_mut(|said| {
            let end = start + said.text.len();
            let keep = start < at;
            said.text.truncate(at.saturating_sub(start));
            start = end;
            keep
        });
        self.text.truncate(at);
        true
    }

    /// Tells what cannot be part of a stop any more.
    fn release(&mut self, listen: &mut impl FnMut(Said)) {
        let begun = |stop: &String| {
            (1..stop.len())
                .rev()
                .find(|&n| stop.is_char_boundary(n) && self.text.ends_with(&stop[..n]))
        };
        let kept = self.stops.iter().filter_map(begun).max().unwrap_or(0);
        let mut free = self.text.len() - kept;
        while self.tokens.front().is_some_and(|said| said.text.len() <= free) {
            let Some(said) = self.tokens.pop_front() else { break };
            free -= said.text.len();
            self.text.drain(..said.text.len());
            listen(said);
        }
    }

    fn flush(&mut self, listen: &mut impl FnMut(Said)) {
        self.tokens.drain(..).for_each(listen);
    }
}

/// What the memory thinks of each token of a text after those before it; of fewer, if nobody waits for it any more.
pub(crate) fn read(
    app: &Shared,
    text: &[u32],
    top: usize,
    gone: &Gone<'_>,
) -> Result<Vec<Seen>, Failure> {
    let mut seen = Vec::with_capacity(text.len());
    for start in (0..text.len()).step_by(SLICE).take_while(|_| !gone()) {
        let view = app.model.read()?;
        let message = "probabilities need the sparse engine; this model has the dense one";
        let memory = view.memory().sparse().ok_or_else(|| Failure::bad(message))?;
        let slice = start..(start + SLICE).min(text.len());
        seen.extend(map_distributions(
            memory,
            &Backoff::default(),
            text,
            slice,
            |p, distribution| Seen::new(distribution, text[p], top),
        )?);
    }
    app.metrics.scored.inc_by(seen.len() as u64);
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pieces: &[&str], stops: &[&str]) -> (Vec<String>, bool) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let (mut held, mut heard) = (Held::new(&stops), Vec::new());
        for piece in pieces {
            held.push(Said { text: (*piece).to_owned(), ..Said::default() });
            if held.stopped() {
                held.flush(&mut |said| heard.push(said.text));
                return (heard, true);
            }
            held.release(&mut |said| heard.push(said.text));
        }
        held.flush(&mut |said| heard.push(said.text));
        (heard, false)
    }

    #[test]
    fn a_stop_is_never_shown_not_even_its_beginning() {
        assert_eq!(said(&["ab", "cd", "ef"], &["de"]), (vec!["ab".into(), "c".into()], true));
        assert_eq!(said(&["ab", "cd", "xf"], &["de"]).0.concat(), "abcdxf");
        assert_eq!(said(&["a", "b", "c"], &["abc"]), (vec![], true));
        assert_eq!(said(&["a", "b", "d"], &["abc"]).0.concat(), "abd");
        assert_eq!(said(&["aa", "ab"], &["aab"]), (vec!["a".into()], true));
        assert_eq!(said(&["über", "ü"], &["rü"]), (vec!["übe".into()], true));
        assert_eq!(said(&["x"], &[]), (vec!["x".into()], false));
    }
}
