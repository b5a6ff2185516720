//! Questions put to a model: by tokens where a cue is tokens, by text where a person would type it.

use super::careless::{Damage, is_enough, right};
use super::places::{self, Text, most_frequent_next, occurrences};
use super::{CHARACTERS, NEXT_TOKENS, NEXT_WORDS, PROMPT};
use crate::{Error, Share};
use memo_store::{Completion, CompletionOptions, CompletionStream, Passage, Snapshot};
use std::time::Instant;

/// Tokens of a completion that is compared, at most: an indentation may be dozens.
const MOST_TOKENS: usize = 400;

/// The last tokens of a prompt that make it a quote if they stand in the text.
const QUOTED: usize = 8;

/// Tokens of the completion of a new prompt, which is searched for loops.
const NEW_TOKENS: usize = 120;

/// Words of a passage that is asked for by keywords, and of these.
const PASSAGE: usize = 24;
const KEYWORDS: usize = 4;

/// A model, and the text that it memorized.
pub(super) struct Asked<'a> {
    pub(super) model: &'a Snapshot,
    pub(super) text: &'a Text<'a>,
}

/// Counts whether something was right.
fn count(share: &mut Share, right: bool) {
    *share = *share + Share { right: right.into(), tried: 1 };
}

impl Asked<'_> {
    /// What follows tokens, as the most probable tokens.
    fn tokens_after(&self, prompt: &[u32], count: usize) -> Result<Vec<u32>, Error> {
        let options = CompletionOptions { heal: false, ..CompletionOptions::greedy(count) };
        let mut stream = CompletionStream::new(self.model.tokenizer(), prompt, &options)?;
        let mut tokens = Vec::new();
        while let Some(token) = stream.next_token(self.model.memory()?)? {
            tokens.push(token.token);
        }
        Ok(tokens)
    }

    /// Completes a prompt by so many tokens, or until what was said is `enough`.
    fn complete(
        &self,
        prompt: &str,
        tokens: usize,
        enough: impl Fn(&str) -> bool,
    ) -> Result<Completion, Error> {
        // What is closest to a new prompt is not asked for: all texts would be read.
        let mut stream = self.model.tokens(prompt, &CompletionOptions::greedy(tokens))?;
        let (mut made, mut said) = (Vec::new(), String::new());
        for token in stream.by_ref() {
            let token = token?;
            said += &token.text;
            made.push(token);
            if enough(&said) {
                break;
            }
        }
        Ok(stream.completion(made, Instant::now()))
    }

    /// The next tokens after cues of tokens that occur once.
    pub(super) fn unique_tokens(&self, len: usize, cues: usize) -> Result<Share, Error> {
        let tokens = &self.text.tokens;
        let seen = occurrences(tokens, len);
        let mut share = Share::default();
        for place in self.text.places(len as u32, 0..tokens.len().saturating_sub(len + NEXT_TOKENS))
        {
            let (cue, next) = tokens[place..].split_at(len);
            if share.tried as usize == cues {
                break;
            }
            if seen.get(cue) == Some(&1) {
                let answer = self.tokens_after(cue, NEXT_TOKENS)?;
                count(&mut share, answer == next[..NEXT_TOKENS]);
            }
        }
        Ok(share)
    }

    /// The next words after cues of words that occur once, typed as they stand in the text.
    pub(super) fn unique_words(&self, len: usize, cues: usize) -> Result<Share, Error> {
        let words: Vec<&str> = (0..self.text.words.len()).map(|i| self.text.word(i)).collect();
        let seen = occurrences(&words, len);
        let mut share = Share::default();
        let places = 0..words.len().saturating_sub(len + NEXT_WORDS);
        for place in self.text.places(100 + len as u32, places) {
            if share.tried as usize == cues {
                break;
            }
            if seen.get(&words[place..place + len]) == Some(&1) {
                let enough = |said: &str| places::words(said).len() > NEXT_WORDS;
                let cue = self.text.quote(place..place + len);
                let completion = self.complete(cue, MOST_TOKENS, enough)?;
                let next = &words[place + len..][..NEXT_WORDS];
                let said = completion.completion.as_str();
                let answer = places::words(said).into_iter().map(|word| &said[word]);
                let right = answer.take(NEXT_WORDS).eq(next.iter().copied());
                count(&mut share, right);
            }
        }
        Ok(share)
    }

    /// The next token at any place, and how often it is the one that followed these tokens most often.
    pub(super) fn next_token(&self, len: usize, places: usize) -> Result<(Share, Share), Error> {
        let tokens = &self.text.tokens;
        let best = most_frequent_next(tokens, len);
        let (mut share, mut possible) = (Share::default(), Share::default());
        for place in self.text.places(200, len..tokens.len()).into_iter().take(places) {
            let context = &tokens[place - len..place];
            let answer = self.tokens_after(context, 1)?;
            count(&mut share, answer.first() == Some(&tokens[place]));
            count(&mut possible, best.get(context) == Some(&tokens[place]));
        }
        Ok((share, possible))
    }

    /// What follows careless quotes: after at most one wrong word, and at once.
    pub(super) fn careless(&self, damage: Damage, cues: usize) -> Result<(Share, Share), Error> {
        let text = self.text;
        let (mut share, mut at_once) = (Share::default(), Share::default());
        let mut draws = text.draws(300 + damage as u32);
        let places = 0..text.words.len().saturating_sub(PROMPT + CHARACTERS);
        let words: Vec<String> = (0..text.words.len()).map(|i| letters(text.word(i))).collect();
        let seen = occurrences(&words, PROMPT);
        for place in text.places(400, places) {
            if share.tried as usize == cues {
                break;
            }
            if seen.get(&words[place..place + PROMPT]) != Some(&1) {
                continue;
            }
            let Some((prompt, at)) = damage.prompt(text, place, &mut draws) else { continue };
            let completion = self.complete(&prompt, MOST_TOKENS, is_enough)?.completion;
            let (exact, within) = right(&completion, &text.after(at, CHARACTERS), CHARACTERS);
            count(&mut share, within);
            count(&mut at_once, exact);
        }
        Ok((share, at_once))
    }

    /// Whether some rare words of a passage, in any order, find it among the closest; with another ending each, if `inflected`.
    pub(super) fn keywords(&self, inflected: bool, cues: usize) -> Result<Share, Error> {
        let text = self.text;
        let words: Vec<String> = (0..text.words.len()).map(|i| letters(text.word(i))).collect();
        let seen = occurrences(&words, 1);
        let mut draws = text.draws(800 + u32::from(inflected));
        let mut share = Share::default();
        for place in text.places(801, 0..words.len().saturating_sub(PASSAGE)) {
            if share.tried as usize == cues {
                break;
            }
            let long =
                |word: &&String| word.chars().count() > 3 && word.chars().all(char::is_alphabetic);
            let mut rare: Vec<&String> =
                words[place..place + PASSAGE].iter().filter(long).collect();
            rare.sort_by_key(|word| (seen[&[(*word).clone()][..]], *word));
            rare.dedup();
            if rare.len() < KEYWORDS + 2 {
                continue;
            }
            let order = draws.permutation(KEYWORDS + 2);
            let asked = order.into_iter().take(KEYWORDS).map(|i| {
                let word = rare[i as usize].clone();
                if inflected { inflect(word) } else { word }
            });
            let asked = asked.collect::<Vec<_>>().join(" ");
            let (start, end) = (text.words[place].start, text.words[place + PASSAGE - 1].end);
            let passages = self.model.closest(&asked, 3)?.passages;
            let overlaps = |passage: &Passage| {
                let at = passage.offset as usize;
                at < end && at + passage.excerpt.len() > start
            };
            count(&mut share, passages.iter().any(overlaps));
        }
        Ok(share)
    }

    /// Prompts of a text that was not memorized: whether completions say how well a prompt matched, how many wrongly call it
    /// verbatim, how many call it near, and how many repeat themselves.
    pub(super) fn new_prompts(
        &self,
        stranger: &Text<'_>,
        prompts: usize,
    ) -> Result<(bool, [Share; 3]), Error> {
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let memorized = spaced(self.text.text);
        let known = occurrences(&self.text.tokens, QUOTED);
        let (mut says, [mut verbatim, mut near, mut loops]) = (false, [Share::default(); 3]);
        let places = 0..stranger.words.len().saturating_sub(PROMPT);
        for place in stranger.places(500, places) {
            if loops.tried as usize == prompts {
                break;
            }
            let prompt = stranger.quote(place..place + PROMPT);
            if memorized.contains(&spaced(prompt)) {
                continue;
            }
            let completion = self.complete(prompt, NEW_TOKENS, |_| false)?;
            let matched = matched(&completion);
            says |= matched.is_some();
            let called =
                |kind: &str| matched.as_ref().is_some_and(|m| m.eq_ignore_ascii_case(kind));
            // The end of a new prompt may stand in the text; then it is a quote.
            let tokens = self.model.tokenizer().encode(prompt)?;
            let quoted = known.contains_key(&tokens[tokens.len().saturating_sub(QUOTED)..]);
            count(&mut verbatim, called("verbatim") && !quoted);
            count(&mut near, called("near"));
            // Code has long runs of spaces, each a token of some vocabularies.
            let said = completion.tokens.iter().filter(|token| !token.text.trim().is_empty());
            let tokens: Vec<u32> = said.map(|token| token.token).collect();
            count(&mut loops, repeats(&tokens));
        }
        Ok((says, [verbatim, near, loops]))
    }
}

/// A word with another ending, as English has them.
fn inflect(word: String) -> String {
    match word
        .strip_suffix("ing")
        .or_else(|| word.strip_suffix("ed"))
        .or_else(|| word.strip_suffix('s'))
    {
        Some(stem) if stem.len() > 3 => stem.to_owned(),
        _ => word + "s",
    }
}

/// What is left of a word, however it is typed.
fn letters(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How well a completion says that its prompt matched, if it does.
fn matched(completion: &Completion) -> Option<String> {
    let value = serde_json::to_value(completion).ok()?;
    let matched = value.get("matched")?;
    let name = matched.as_str().or_else(|| matched.get("kind")?.as_str());
    name.map(str::to_owned)
}

/// Whether the end of a text is the same few tokens more than three times, and no fewer than a dozen in all.
fn repeats(tokens: &[u32]) -> bool {
    (1..=tokens.len() / 3).any(|period| {
        let end = &tokens[tokens.len() - (3 * period + 1).max(12).min(tokens.len())..];
        end.len() >= 12 && end[period..] == end[..end.len() - period]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_what_comes_more_than_three_times() {
        let text = |tokens: &str| tokens.bytes().map(u32::from).collect::<Vec<_>>();
        assert!(repeats(&text("once upon and on and on and on and on")));
        assert!(repeats(&text("aaaaaaaaaaaa")));
        assert!(!repeats(&text("aaaa")));
        assert!(!repeats(&text("the owl reads at night and the owl reads at day")));
        assert!(!repeats(&[]));
    }
}
