//! The search for a prompt: the place in the memory that it is quoted from, however it was typed.
//!
//! A text that begins in the middle of a sentence has other tokens than there, where a space comes before it; so a prompt is looked
//! for in two forms, as it was typed and after a space. Each is looked up as it is first, which takes little; only if neither
//! stands in the memory, the one that is better known is put right. If both do, the one after a space is meant: in the other form
//! the first word may be the end of a longer one, as `self` in `&self`.

use super::healing::Healing;
use super::{MatchKind, PromptMatch};
use crate::error::Error;
use memo::readout::{BACKOFF, Matching, Repair, Scratch};
use memo::sparse::Memory;
use memo::words::letters;
use memo_text::{StreamDecoder, Tokenizer};
use std::collections::VecDeque;
use std::ops::Range;

/// Tokens of a prompt that is put right in both forms: the first word of a longer one makes no difference.
const SHORT: usize = 12;

/// Tokens of a quote that may stand elsewhere in another form: a longer one hardly does.
const AMBIGUOUS: usize = 32;

/// A prompt's match, and the tokens to go on from if that are others.
pub(super) struct Found {
    pub(super) matched: PromptMatch,
    pub(super) context: Option<Vec<u32>>,
    /// The end of the prompt, if it is to be chosen again.
    pub(super) healing: Option<Healing>,
    /// Tokens of a word that was only begun, each with what it adds to that: the completion begins with them.
    pub(super) owed: VecDeque<(u32, String)>,
    /// Whether the prompt, or its end, is a quote, at one place or at several.
    pub(super) quoting: bool,
    /// What was read last: of a verbatim prompt, its end.
    pub(super) scratch: Scratch,
}

/// A prompt in one of its forms, which the memory does not have as it is.
struct Form {
    prompt: Vec<u32>,
    healing: Option<Healing>,
    matching: Matching,
    /// How many of its last tokens stand together once its end is chosen again, if that makes a quote of it.
    healed: Option<usize>,
    /// Whether these are the tokens that were typed.
    typed: bool,
}

/// What the search came to in one form.
enum Looked {
    /// A quote, and whether a document begins with it.
    Found(Box<Found>, bool),
    Unknown(Box<Form>),
}

/// A search for prompts.
pub(super) struct Search<'s> {
    pub(super) memory: &'s Memory,
    pub(super) tokenizer: &'s Tokenizer,
}

impl Search<'_> {
    /// Looks for a prompt whose end may be chosen again; `text` says that its first word may be looked for after a space.
    pub(super) fn find(
        &self,
        prompt: &[u32],
        healing: Option<Healing>,
        text: bool,
    ) -> Result<Found, Error> {
        let (mut quote, mut forms) = (None, Vec::new());
        match self.look(prompt.to_vec(), healing, true)? {
            Looked::Found(found, begins) if !text || begins || prompt.len() > AMBIGUOUS => {
                return Ok(*found);
            }
            Looked::Found(found, _) => quote = Some(*found),
            Looked::Unknown(form) => forms.push(*form),
        }
        if let Some(prompt) = if text { self.inside_a_text(prompt)? } else { None } {
            let healing = Healing::new(self.tokenizer, &prompt);
            match self.look(prompt, healing, false)? {
                Looked::Found(found, _) if quote.is_none() || found.matched.is_whole() => {
                    return Ok(*found);
                }
                Looked::Found(..) => {}
                Looked::Unknown(form) => forms.push(*form),
            }
        }
        if let Some(quote) = quote {
            return Ok(quote);
        }
        if let Some(found) = if text { self.in_plain_signs(prompt)? } else { None } {
            return Ok(found);
        }
        // The better known one first; of equals, that which was typed.
        forms.sort_by_key(|form| std::cmp::Reverse(form.matching.runs.iter().sum::<usize>()));
        let tried = if prompt.len() <= SHORT { forms.len() } else { 1 };
        let mut scratch = Scratch::default();
        let mut near: Option<Found> = None;
        for form in &forms[..tried] {
            let Form { prompt, matching, .. } = form;
            let repair = BACKOFF.repair(self.memory, prompt, matching, &mut scratch)?;
            // A quote that only its beginning does not go with is not put right by less.
            let better = |repair: &Repair| {
                !matching.is_quote() || repair.differences > 0 || repair.run > matching.run()
            };
            if let Some(repair) = repair.filter(better) {
                let found = self.repaired(prompt, repair);
                if near.as_ref().is_none_or(|near| found.matched.tokens > near.matched.tokens) {
                    near = Some(found);
                }
            }
        }
        if let Some(near) = near {
            return Ok(near);
        }
        // The first of equals.
        let rank = |form: &Form| std::cmp::Reverse((form.kind().rank(), form.tokens()));
        forms.sort_by_key(rank);
        let best = forms.swap_remove(0);
        let (kind, tokens) = (best.kind(), best.tokens());
        Ok(best.found(kind, tokens))
    }

    /// The prompt as it is tokenized after a space: whoever quotes from the middle of a sentence does not type that.
    fn inside_a_text(&self, prompt: &[u32]) -> Result<Option<Vec<u32>>, Error> {
        if !self.tokenizer.is_subword() {
            return Ok(None);
        }
        let text = self.tokenizer.decode_lossy(prompt);
        if text.is_empty() || text.starts_with(char::is_whitespace) {
            return Ok(None);
        }
        Ok(Some(self.tokenizer.encode(&format!(" {text}"))?))
    }

    /// Looks for a prompt whose quotes and dashes are those of a word processor in the signs that keyboards have: code and plain text
    /// have these.
    fn in_plain_signs(&self, prompt: &[u32]) -> Result<Option<Found>, Error> {
        let typed = self.tokenizer.decode_lossy(prompt);
        let plain = plain_signs(&typed);
        if plain == typed {
            return Ok(None);
        }
        for text in [format!(" {plain}"), plain] {
            let prompt = self.tokenizer.encode(&text)?;
            let healing = Healing::new(self.tokenizer, &prompt);
            if let Looked::Found(mut found, _) = self.look(prompt, healing, false)? {
                found.matched.kind = MatchKind::Near;
                return Ok(Some(*found));
            }
        }
        Ok(None)
    }

    /// Looks for a prompt as it is, and with its end chosen again.
    fn look(
        &self,
        prompt: Vec<u32>,
        healing: Option<Healing>,
        typed: bool,
    ) -> Result<Looked, Error> {
        let mut scratch = Scratch::default();
        let matching = BACKOFF.matching(self.memory, &prompt, &mut scratch)?;
        let begins = matching.begins;
        let mut form = Form { prompt, healing, matching, healed: None, typed };
        if form.matching.is_clear() {
            let tokens = form.matching.run();
            let found = form.found(MatchKind::Verbatim, tokens);
            return Ok(Looked::Found(Box::new(Found { scratch, ..found }), begins));
        }
        let healing = form.healing.as_ref();
        let healed = healing.map(|healing| healing.healed(self.memory, self.tokenizer));
        if let Some(healed) = healed.transpose()?.flatten() {
            let matching = BACKOFF.matching(self.memory, &healed, &mut scratch)?;
            if healed.len() > 1 && matching.is_clear() {
                let found = form.found(MatchKind::Verbatim, matching.run());
                return Ok(Looked::Found(Box::new(found), matching.begins));
            }
            let quote = healed.len() > 1 && matching.is_quote() && matching.is_settled();
            form.healed = quote.then_some(matching.run());
        }
        Ok(Looked::Unknown(Box::new(form)))
    }

    /// A prompt that was put right.
    fn repaired(&self, prompt: &[u32], repair: Repair) -> Found {
        let (typed, remembered) = repair.differ;
        let text = |tokens: &[u32]| self.tokenizer.decode_lossy(tokens).trim().to_owned();
        let differs = (text(&prompt[typed]), text(&repair.context[remembered]));
        let (typed, remembered) = Some(differs).filter(|(a, b)| a != b).unzip();
        let Repair { mut context, run: tokens, begun, .. } = repair;
        let owed = self.rest_of_word(prompt, &context, begun);
        context.truncate(context.len() - owed.len());
        let (kind, of) = (MatchKind::Near, prompt.len());
        let matched = PromptMatch { kind, tokens, of, typed, remembered };
        let (context, scratch) = (Some(context), Scratch::default());
        Found { matched, context, healing: None, owed, quoting: true, scratch }
    }

    /// The last tokens of a context, from the one that has the first letter of its last word that was not typed; none if the prompt ends
    /// after the word. A word that was only `begun` is given by its tokens and the number of its letters that were typed.
    fn rest_of_word(
        &self,
        prompt: &[u32],
        context: &[u32],
        begun: Option<(Range<usize>, usize)>,
    ) -> VecDeque<(u32, String)> {
        let mut rest = VecDeque::new();
        let last = prompt.last().map(|&last| self.tokenizer.decode_lossy(&[last]));
        let goes_on = !last.is_some_and(|last| last.ends_with(char::is_whitespace));
        if let Some((word, mut typed)) =
            begun.filter(|(word, _)| goes_on && word.end == context.len())
        {
            let mut decoder = StreamDecoder::after(self.tokenizer, &context[..word.start]);
            for &token in &context[word] {
                let text = decoder.push(token);
                let mut rest_of_text = text.trim_start().chars();
                // A character may be several letters to who types it.
                while typed > 0 {
                    let Some(c) = rest_of_text.next() else { break };
                    typed -= letters(c.encode_utf8(&mut [0; 4]).as_bytes()).len().clamp(1, typed);
                }
                let text = rest_of_text.as_str().to_owned();
                if !text.is_empty() || !rest.is_empty() {
                    rest.push_back((token, text));
                }
            }
        }
        rest
    }
}

/// A text with quotes, dashes and spaces as keyboards have them.
fn plain_signs(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '‘' | '’' | '‚' => plain.push('\''),
            '“' | '”' | '„' | '«' | '»' => plain.push('"'),
            '‐'..='―' => plain.push('-'),
            '…' => plain.push_str("..."),
            '\u{a0}' | '\u{202f}' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

impl Form {
    /// How many of its last tokens stand together.
    fn tokens(&self) -> usize {
        self.healed.unwrap_or(self.matching.run())
    }

    /// Whether the prompt is a quote, or its end is.
    fn is_quote(&self) -> bool {
        self.matching.is_quote() || self.healed.is_some()
    }

    /// In what way the prompt is known, if it cannot be put right.
    fn kind(&self) -> MatchKind {
        // An end that is an indentation, or stands at several places none of which has what comes before it, may be of any text.
        let Form { matching, healed, .. } = self;
        let settled = healed.is_some() || (matching.is_settled() && matching.is_solid());
        match self.tokens() {
            _ if self.is_quote() && settled => MatchKind::Verbatim,
            2.. => MatchKind::General,
            _ => MatchKind::None,
        }
    }

    /// A prompt that is gone on from as it is.
    fn found(self, kind: MatchKind, tokens: usize) -> Found {
        let of = self.prompt.len();
        let matched = PromptMatch { kind, tokens, of, typed: None, remembered: None };
        let quoting = kind == MatchKind::Verbatim || self.is_quote();
        // A prompt that was typed like this is healed whatever is known of it.
        let (context, healing) = if self.typed {
            (None, self.healing)
        } else {
            (Some(self.prompt), self.healing.filter(|_| quoting))
        };
        let (owed, scratch) = (VecDeque::new(), Scratch::default());
        Found { matched, context, healing, owed, quoting, scratch }
    }
}
