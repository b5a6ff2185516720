//! Cutting text into the pieces inside which byte pairs merge: words, numbers, punctuation, spaces.
//!
//! The published encoders define the pieces by a regular expression with a look-ahead,
//! `\s+(?!\S)`: a run of white space leaves its last character to the word that follows. A
//! look-ahead needs a backtracking engine, and such an engine gives up after a million steps, so a
//! megabyte of spaces before a word stops the encoder. The rest of each expression is plain; it
//! runs here on an engine that is linear by design, and the look-ahead is four lines of Rust.
//! The tests compare the pieces' tokens with those of the backtracking encoder.

use regex::Regex;

/// Where pieces end, as one of the published vocabularies defines it.
#[derive(Debug)]
pub(super) struct Splitter {
    regex: Regex,
    /// A run of white space that ends in a line end is a piece of its own and leaves nothing behind.
    line_ends_close: bool,
}

impl Splitter {
    pub(super) fn gpt2() -> Self {
        Self::new(
            &["'(?:[sdmt]|ll|ve|re)", r" ?\p{L}+", r" ?\p{N}+", r" ?[^\s\p{L}\p{N}]+", r"\s+"],
            false,
        )
    }

    pub(super) fn cl100k() -> Self {
        Self::new(
            &[
                "'(?i:[sdmt]|ll|ve|re)",
                r"[^\r\n\p{L}\p{N}]?\p{L}+",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n]*",
                r"\s+\z",
                r"\s*[\r\n]",
                r"\s+",
            ],
            true,
        )
    }

    pub(super) fn o200k() -> Self {
        let before = r"[^\r\n\p{L}\p{N}]?";
        let upper = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]";
        let lower = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]";
        let after = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
        Self::new(
            &[
                &format!("{before}{upper}*{lower}+{after}"),
                &format!("{before}{upper}+{lower}*{after}"),
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+",
            ],
            true,
        )
    }

    fn new(alternatives: &[&str], line_ends_close: bool) -> Self {
        // Pieces touch, so each search is anchored where the last one ended.
        let pattern = format!(r"\A(?:{})", alternatives.join("|"));
        let regex = Regex::new(&pattern).expect("the patterns above are well formed");
        Self { regex, line_ends_close }
    }

    /// The length of the piece at the start of `text`; `text` must not be empty.
    fn first(&self, text: &str) -> usize {
        let Some(found) = self.regex.find(text) else {
            // Every character is a letter, a number, white space or something else, so one of the
            // alternatives matches. Should that ever fail, no text is lost.
            return text.chars().next().map_or(0, char::len_utf8);
        };
        let end = found.end();
        let Some(last) = found.as_str().chars().next_back() else { return 0 };
        let closes = self.line_ends_close && matches!(last, '\r' | '\n');
        let alone = end == last.len_utf8();
        if end < text.len() && last.is_whitespace() && !closes && !alone {
            end - last.len_utf8()
        } else {
            end
        }
    }

    /// The pieces of `text`, which touch and cover it.
    pub(super) fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (piece, after) = rest.split_at(self.first(rest));
            rest = after;
            Some(piece)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_leaves_its_last_character_to_the_word() {
        let pieces: Vec<_> = Splitter::gpt2().pieces("we'll   go\n\n  home 12 !?\n").collect();
        assert_eq!(pieces, ["we", "'ll", "  ", " go", "\n\n ", " home", " 12", " !?", "\n"]);
    }

    #[test]
    fn line_ends_close_a_run_in_the_newer_vocabularies() {
        for splitter in [Splitter::cl100k(), Splitter::o200k()] {
            let pieces: Vec<_> = splitter.pieces("go \n  home 1234").collect();
            assert_eq!(pieces, ["go", " \n", " ", " home", " ", "123", "4"]);
        }
    }
}
