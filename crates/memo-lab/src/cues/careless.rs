//! Careless quotes: what people get wrong when they type from memory, and what still counts as an answer.

use super::places::Text;
use super::{CHARACTERS, PROMPT};
use memo::random::Draws;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A kind of mistake in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Nothing,
    Typo,
    LastTypo,
    Missing,
    Doubled,
    Swapped,
    LowerCase,
    Layout,
    TrailingSpace,
    MidWord,
    Characters,
    NoSigns,
    OtherSigns,
    NoAccents,
    TwoTypos,
    Replaced,
    Moved,
    OwnBeginning,
}

impl Damage {
    pub(super) const ALL: [Damage; 18] = [
        Damage::Nothing,
        Damage::Typo,
        Damage::LastTypo,
        Damage::Missing,
        Damage::Doubled,
        Damage::Swapped,
        Damage::LowerCase,
        Damage::Layout,
        Damage::TrailingSpace,
        Damage::MidWord,
        Damage::Characters,
        Damage::NoSigns,
        Damage::OtherSigns,
        Damage::NoAccents,
        Damage::TwoTypos,
        Damage::Replaced,
        Damage::Moved,
        Damage::OwnBeginning,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Damage::Nothing => "as it is",
            Damage::Typo => "a typo in a recent word",
            Damage::LastTypo => "a typo in the last word",
            Damage::Missing => "a recent word missing",
            Damage::Doubled => "a recent word twice",
            Damage::Swapped => "two recent words swapped",
            Damage::LowerCase => "lower case",
            Damage::Layout => "line ends as spaces",
            Damage::TrailingSpace => "a space at the end",
            Damage::MidWord => "cut off in a word",
            Damage::Characters => "30 characters",
            Damage::NoSigns => "lower case without punctuation",
            Damage::OtherSigns => "other quotes and dashes",
            Damage::NoAccents => "accents left out",
            Damage::TwoTypos => "two typos",
            Damage::Replaced => "a recent word replaced by another",
            Damage::Moved => "a recent word two places late",
            Damage::OwnBeginning => "six words after others",
        }
    }

    /// A prompt of words that begin at `first`, and where in the text its continuation begins. `None` where a text cannot be damaged
    /// like this.
    pub(super) fn prompt(
        self,
        text: &Text<'_>,
        first: usize,
        draws: &mut Draws,
    ) -> Option<(String, usize)> {
        let last = first + PROMPT - 1;
        let (quote, end) = (text.quote(first..last + 1), text.words[last].end);
        // One of the four words before the last.
        let recent = last - 1 - draws.below(4) as usize;
        let start = text.words[first].start;
        let at = |i: usize| text.words[i].start - start..text.words[i].end - start;
        let replaced = |i: usize, with: &str| {
            let (before, after) = (&quote[..at(i).start], &quote[at(i).end..]);
            format!("{before}{with}{after}")
        };
        let prompt = match self {
            Damage::Nothing => quote.to_owned(),
            Damage::Typo => replaced(recent, &misspelt(text.word(recent), draws)?),
            Damage::LastTypo => replaced(last, &misspelt(text.word(last), draws)?),
            Damage::Missing => {
                quote[..at(recent).start].to_owned() + &quote[at(recent + 1).start..]
            }
            Damage::Doubled => {
                let word = text.word(recent);
                replaced(recent, &format!("{word} {word}"))
            }
            Damage::Swapped => {
                let (one, other) = (text.word(recent - 1), text.word(recent));
                if one == other {
                    return None;
                }
                let between = &quote[at(recent - 1).end..at(recent).start];
                let (before, after) = (&quote[..at(recent - 1).start], &quote[at(recent).end..]);
                format!("{before}{other}{between}{one}{after}")
            }
            Damage::LowerCase => {
                let lower = quote.to_lowercase();
                (lower != quote).then_some(lower)?
            }
            Damage::Layout => {
                let spaced = quote.split_whitespace().collect::<Vec<_>>().join(" ");
                // A text of long lines is typed with a line end of one's own.
                if spaced == quote { replaced_space(quote, at(recent).start)? } else { spaced }
            }
            Damage::Characters => {
                let cut = quote.char_indices().nth(CHARACTERS)?.0;
                return Some((quote[..cut].to_owned(), start + cut));
            }
            Damage::NoSigns => {
                let lower = quote.to_lowercase();
                let plain = lower.split(|c: char| !c.is_alphanumeric() && !is_inside(c));
                let plain: Vec<&str> = plain.filter(|word| !word.is_empty()).collect();
                // A last sign that is left out may come with the answer.
                plain.join(" ")
            }
            Damage::OtherSigns => {
                let other: String = quote.chars().map(other_sign).collect();
                (other != quote).then_some(other)?
            }
            Damage::NoAccents => {
                let plain =
                    quote.nfd().filter(|c| !is_combining_mark(*c)).nfc().collect::<String>();
                (plain != quote).then_some(plain)?
            }
            Damage::TwoTypos => {
                let one = first + draws.below(6) as usize;
                let typo = misspelt(text.word(one), draws)?;
                let typed = replaced(recent, &misspelt(text.word(recent), draws)?);
                format!("{}{typo}{}", &typed[..at(one).start], &typed[at(one).end..])
            }
            Damage::Replaced => {
                let other = text.word(draws.below(text.words.len() as u64) as usize);
                (other != text.word(recent)).then(|| replaced(recent, other))?
            }
            Damage::Moved => {
                let early = recent - 2;
                let moved = text.word(early);
                let (skipped, rest) =
                    (&quote[at(early + 1).start..at(recent).end], &quote[at(recent).end..]);
                format!("{}{skipped} {moved}{rest}", &quote[..at(early).start])
            }
            Damage::OwnBeginning => {
                let other = draws.below((text.words.len() - PROMPT) as u64) as usize;
                let known = first + PROMPT / 2;
                text.quote(other..other + PROMPT / 2).to_owned() + " " + &quote[at(known).start..]
            }
            Damage::TrailingSpace => {
                // Elsewhere a space is not what follows.
                text.text[end..].starts_with(' ').then(|| format!("{quote} "))?
            }
            Damage::MidWord => {
                let word = text.word(last);
                let letters: Vec<usize> = word.char_indices().map(|(i, _)| i).collect();
                let cut = *letters.get(2..)?.get(letters.len().checked_sub(4)? / 2)?;
                return Some((
                    quote[..at(last).start + cut].to_owned(),
                    text.words[last].start + cut,
                ));
            }
        };
        Some((prompt, end))
    }
}

/// The space before a word as a line end.
fn replaced_space(quote: &str, word: usize) -> Option<String> {
    let before = quote[..word].strip_suffix(' ')?;
    Some(format!("{before}\n{}", &quote[word..]))
}

/// Whether a sign belongs to the word that it stands in.
fn is_inside(c: char) -> bool {
    matches!(c, '\'' | '’' | '_')
}

/// A quote or a dash as another keyboard has it.
fn other_sign(c: char) -> char {
    match c {
        '\'' => '’',
        '’' | '‘' => '\'',
        '"' => '“',
        '“' | '”' | '„' | '«' | '»' => '"',
        '–' | '—' => '-',
        c => c,
    }
}

/// A word with a slip of the fingers: two neighbouring letters exchanged, or one replaced, left out or doubled. Words of fewer
/// than four letters stay as they are, and so do numbers.
fn misspelt(word: &str, draws: &mut Draws) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    let alphabetic = letters.iter().take_while(|c| c.is_alphabetic()).count();
    if alphabetic < 4 {
        return None;
    }
    let at = 1 + draws.below(alphabetic as u64 - 2) as usize;
    match draws.below(4) {
        0 => letters.insert(at, letters[at]),
        1 => {
            letters.remove(at);
        }
        2 if letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        _ => letters[at] = if letters[at] == 'x' { 'q' } else { 'x' },
    }
    Some(letters.into_iter().collect())
}

/// Whether a completion gives the beginning of what follows, after at most one wrong word: at once, or at all.
pub(super) fn right(completion: &str, expected: &str, characters: usize) -> (bool, bool) {
    let words =
        |text: &str, skip: usize| text.split_whitespace().skip(skip).collect::<Vec<_>>().join(" ");
    let begins = |completion: String, expected: String| {
        let beginning: String = expected.chars().take(characters).collect();
        completion.starts_with(&beginning)
    };
    let at_once = begins(words(completion, 0), words(expected, 0));
    let one_more = || begins(words(completion, 1), words(expected, 0));
    let one_wrong = || begins(words(completion, 1), words(expected, 1));
    (at_once, at_once || one_more() || one_wrong())
}

/// Whether [`right`] needs no more of a completion.
pub(super) fn is_enough(completion: &str) -> bool {
    let after_a_word: Vec<&str> = completion.split_whitespace().skip(1).collect();
    after_a_word.join(" ").chars().count() > CHARACTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "In the Harbour café every captain signed the “heavy” register \
        before breakfast,\nthen nobody spoke until the whistle blew again across the water";

    #[test]
    fn every_damage_changes_the_prompt_and_not_what_follows() {
        let text = Text::new(TEXT, vec![], 1);
        for damage in Damage::ALL {
            let mut changed = 0;
            for first in 0..text.words.len() - PROMPT {
                let Some((prompt, at)) = damage.prompt(&text, first, &mut text.draws(1)) else {
                    continue;
                };
                let quote = text.quote(first..first + PROMPT);
                assert!(at <= text.words[first + PROMPT - 1].end);
                let words = prompt.split_whitespace().count();
                assert!(words.abs_diff(PROMPT) <= 1 || damage == Damage::Characters, "{prompt}");
                changed += usize::from(prompt != quote);
            }
            assert_eq!(changed > 0, damage != Damage::Nothing, "{}", damage.name());
        }
        let (prompt, at) = Damage::MidWord.prompt(&text, 0, &mut text.draws(1)).unwrap();
        assert_eq!(prompt.clone() + &TEXT[at..], TEXT, "{prompt}");
    }

    #[test]
    fn one_wrong_word_is_forgiven_and_two_are_not() {
        let expected = "signed the heavy register before breakfast, then";
        let judge = |completion| right(completion, expected, 30);
        assert_eq!(judge(" signed the\nheavy register before breakfast"), (true, true));
        assert_eq!(judge(" has signed the heavy register before breakfast"), (false, true));
        assert_eq!(judge(" wrote the heavy register before breakfast, then"), (false, true));
        assert_eq!(judge(" he wrote the heavy register before breakfast"), (false, false));
        assert_eq!(judge(" signed the heavy"), (false, false));
    }

    #[test]
    fn a_typo_is_one_letter() {
        let mut draws = Text::new(TEXT, vec![], 1).draws(2);
        for _ in 0..50 {
            let typo = misspelt("captain", &mut draws).unwrap();
            assert!(
                typo != "captain" && typo.len().abs_diff(7) <= 1 && typo.starts_with('c'),
                "{typo}"
            );
        }
        assert_eq!(misspelt("the", &mut draws), None);
        assert_eq!(misspelt("1984", &mut draws), None);
    }
}
