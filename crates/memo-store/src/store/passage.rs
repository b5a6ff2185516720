//! Edits of a text: what a new continuation stands in place of, and how the text goes on after it.
//!
//! An edit writes its target and nothing else. What comes after the target is then for the memory to say, and its older
//! blocks still see the old text at the old distance: a target that is shorter or longer than what it replaces is followed
//! by a piece of that, as in "7 Pine Street Lane". So where the prompt stands in a document word for word, the edit says
//! also how the text goes on after the stretch that the target replaces, far enough for the memory to go on by itself.
//!
//! Which stretch that is cannot be known, only guessed: see [`replaced`]. Whoever wants to choose it replaces a text by another
//! ([`Store::replace`]).

use super::Store;
use super::edit::{EditReport, nothing_to_edit};
use crate::error::Error;
use crate::record::Role;
use memchr::memmem;
use memo::readout::{BACKOFF, Scratch};

/// Tokens of the old text that are looked at.
const FAR: usize = 64;

/// Tokens of the old text after the replaced stretch that an edit repeats: one of the longer blocks then lies in known text
/// again.
const JOINT: usize = 8;

/// The old text after a prompt.
struct Passage {
    tokens: Vec<u32>,
    text: String,
}

impl Store {
    /// Makes `target` what follows `prompt`, as [`Store::edit`] does. Where a document has the prompt word for word, its text
    /// goes on after the target: the target replaces a word or a name by another, or all up to the end of the phrase, or, if
    /// it ends as a phrase, sentence or line does, all up to such an end. Between two words a space is put where there is none.
    pub fn edit_passage(
        &mut self,
        prompt: &str,
        target: &str,
        reason: Option<&str>,
    ) -> Result<EditReport, Error> {
        if prompt.is_empty() || target.is_empty() {
            return Err(nothing_to_edit());
        }
        let space_added = want_space(prompt, target);
        let space = if space_added { " " } else { "" };
        let edited = self.edit_in_place(prompt, &format!("{space}{target}"), reason)?;
        Ok(EditReport { space_added, ..edited })
    }

    fn edit_in_place(
        &mut self,
        prompt: &str,
        target: &str,
        reason: Option<&str>,
    ) -> Result<EditReport, Error> {
        let Some(old) = self.passage(prompt)? else {
            return self.edit(prompt, target, reason);
        };
        let cut = replaced(&old.text, target);
        let joint = self.tokens_from(&old, cut)?;
        let (before, said) = (self.tokenizer.encode(prompt)?, self.tokenizer.encode(target)?);
        let whole = [said.as_slice(), &joint].concat();
        let mut report = match self.edit_tokens(&before, &whole, reason) {
            // The target alone is easier.
            Err(Error::EditFails(_)) if !joint.is_empty() => {
                return self.edit_tokens(&before, &said, reason);
            }
            edited => edited?,
        };
        if report.transaction.is_some() {
            report.replaced = Some(old.text[..cut].to_owned());
            report.goes_on = Some(self.tokenizer.decode_lossy(&joint));
        }
        Ok(report)
    }

    /// What follows a prompt in the live documents that have it word for word: where several do, in one that goes on as the
    /// memory would.
    fn passage(&self, prompt: &str) -> Result<Option<Passage>, Error> {
        let prompt_text = prompt.trim_start();
        if prompt_text.is_empty() {
            return Ok(None);
        }
        let context = self.tokenizer.encode(prompt)?;
        let best = BACKOFF.best(self.memory()?, &context, &mut Scratch::default())?;
        let mut found: Option<Vec<u32>> = None;
        for document in self.ledger()?.documents()? {
            let Some(version) = document.live() else { continue };
            let content = self.ledger()?.content(&document, version)?;
            if content.role != Role::Text {
                continue;
            }
            for part in &content.parts {
                let bytes = self.tokenizer.decode(part);
                let ends = memmem::find_iter(&bytes, prompt_text).map(|at| at + prompt_text.len());
                for at in self.token_starts(part, bytes.len(), ends) {
                    let after = &part[at..part.len().min(at + FAR)];
                    if after.first() == Some(&best) {
                        return Ok(Some(self.passage_of(after)));
                    }
                    if found.is_none() && !after.is_empty() {
                        found = Some(after.to_vec());
                    }
                }
            }
        }
        Ok(found.map(|after| self.passage_of(&after)))
    }

    fn passage_of(&self, tokens: &[u32]) -> Passage {
        let mut bytes = self.tokenizer.decode(tokens);
        // The last character may be cut off.
        let valid = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
        bytes.truncate(valid);
        let text = String::from_utf8(bytes).unwrap_or_default();
        Passage { tokens: tokens.to_vec(), text }
    }

    /// The positions of tokens that begin at some of these bytes, which are in order. Tokens whose text depends on their
    /// neighbours, such as words with a space between them, have no such place.
    fn token_starts(
        &self,
        tokens: &[u32],
        len: usize,
        bytes: impl Iterator<Item = usize>,
    ) -> Vec<usize> {
        let mut bytes = bytes.peekable();
        if bytes.peek().is_none() {
            return Vec::new();
        }
        let (mut starts, mut at) = (Vec::new(), 0);
        for (k, token) in tokens.iter().enumerate() {
            while bytes.peek().is_some_and(|end| *end < at) {
                bytes.next();
            }
            if bytes.peek() == Some(&at) {
                starts.push(k);
            }
            at += self.tokenizer.decode(&[*token]).len();
        }
        if at != len {
            starts.clear();
        }
        starts
    }

    /// The tokens of a passage from a byte of its text on, as many as an edit repeats. A token that the cut goes through is
    /// encoded again.
    fn tokens_from(&self, passage: &Passage, cut: usize) -> Result<Vec<u32>, Error> {
        let mut at = 0;
        for (k, token) in passage.tokens.iter().enumerate() {
            if at >= cut && passage.text.is_char_boundary(at) {
                let mut joint = if at == cut {
                    Vec::new()
                } else {
                    self.tokenizer.encode(&passage.text[cut..at])?
                };
                joint.extend(passage.tokens[k..].iter().take(JOINT));
                return Ok(joint);
            }
            at += self.tokenizer.decode(&[*token]).len();
        }
        Ok(Vec::new())
    }
}

/// Whether two texts that meet are words, which a space belongs between. Some scripts have none.
fn want_space(before: &str, after: &str) -> bool {
    let word = |c: char| {
        let spaceless = matches!(u32::from(c),
            0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0xA4CF | 0xF900..=0xFAFF | 0x2_0000..);
        c.is_alphanumeric() && !spaceless
    };
    before.chars().next_back().is_some_and(word) && after.chars().next().is_some_and(word)
}

/// How many bytes of an old continuation a new one stands in place of.
///
/// A target that ends as a line, a sentence or a phrase does replaces all up to such an end. One that does not leaves the end
/// of the phrase where it is: a single word, or anything in place of a name or number, replaces that (a word, and those
/// after it that begin like a name: "12 Oak Lane", "New York"), and everything else the whole phrase.
fn replaced(old: &str, target: &str) -> usize {
    let end = target.trim_end_matches([' ', '"', '\'', '”', '’', ')']).chars().next_back();
    let through = |ends: fn(char) -> bool| {
        ends_of(old, ends).next().map_or_else(|| phrase(old), |(_, after)| after)
    };
    match end {
        Some('\n') => old.find('\n').map_or(old.len(), |at| at + 1),
        Some(end) if ends_sentence(end) => through(ends_sentence),
        Some(end) if ends_phrase(end) => through(ends_phrase),
        _ => {
            let phrase = &old[..phrase(old)];
            let mut words = words(phrase).peekable();
            let name = words.peek().is_some_and(|&(start, end)| is_name(&phrase[start..end]));
            if !name && target.split_whitespace().count() != 1 {
                return phrase.len();
            }
            let first = words.next().map_or(phrase.len(), |(_, end)| end);
            let rest = words.take_while(|&(start, end)| name && is_name(&phrase[start..end]));
            rest.last().map_or(first, |(_, end)| end)
        }
    }
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

fn ends_phrase(c: char) -> bool {
    ends_sentence(c) || matches!(c, ',' | ';' | ':' | '、' | '，' | '；' | '：')
}

/// The bytes up to the end of the first phrase, which is not part of it.
fn phrase(text: &str) -> usize {
    let end = ends_of(text, ends_phrase).next().map_or(text.len(), |(at, _)| at);
    text.find('\n').map_or(end, |line| line.min(end))
}

/// Where marks stand that end something: before a space or the end of the text, or in scripts without spaces.
fn ends_of(text: &str, ends: fn(char) -> bool) -> impl Iterator<Item = (usize, usize)> + '_ {
    text.char_indices().filter_map(move |(at, c)| {
        let after = at + c.len_utf8();
        let next = text[after..].chars().next();
        let ended = !c.is_ascii() || next.is_none_or(|next| !next.is_alphanumeric());
        (ends(c) && ended).then_some((at, after))
    })
}

/// Where words begin and end.
fn words(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    text.split_inclusive(char::is_whitespace).filter_map(move |piece| {
        let (start, word) = (at, piece.trim_end());
        at += piece.len();
        (!word.is_empty()).then_some((start, start + word.len()))
    })
}

/// Whether a word begins like a name or a number.
fn is_name(word: &str) -> bool {
    let first = word.chars().find(|c| c.is_alphanumeric());
    first.is_some_and(|c| c.is_uppercase() || c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_replaces_what_it_is_like() {
        for (old, target, stands_for) in [
            // A word, and a name of several.
            (" Monday at ten in room 4.", " Tuesday", " Monday"),
            (" New York, a city.", " Rome", " New York"),
            (" 12 Oak Tree Lane in Springfield.", " 7 Pine Street", " 12 Oak Tree Lane"),
            (" 4 Mill Lane. She has a cat.", " 12 Old Harbour Road", " 4 Mill Lane"),
            // A phrase.
            (" the market every day, early.", " the old harbour", " the market every day"),
            (" at 3.15 or so, she said", " in the evening", " at 3.15 or so"),
            (" by the light\nof the moon", " in the dark", " by the light"),
            // What ends like something replaces all up to such an end.
            (" night by the light, or so. In the morning", " noon.", " night by the light, or so."),
            (" night by the light, or so. In the morning", " noon,", " night by the light,"),
            (" night, or so.\nIn the morning", " noon.\n", " night, or so.\n"),
            (" night and on", " noon.", " night and on"),
            ("", " noon", ""),
            ("晚上看书。早上睡觉。", "中午。", "晚上看书。"),
        ] {
            assert_eq!(&old[..replaced(old, target)], stands_for, "{target:?} in {old:?}");
        }
    }
}
