//! Regular English inflection: the forms that a word of a dictionary has in text.
//!
//! A lexicon says *drive* and *car*, a text *drove* and *cars*. The forms are made by rule, so some of them no text ever has; they cost a line each and do no harm.

/// Parts of speech, as far as they inflect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Noun,
    Verb,
    Adjective,
    Adverb,
    /// The file does not say.
    Any,
    /// Inflected already.
    Inflected,
}

/// The regular forms of a word, of those that `irregular` does not replace. `-s` also stands for the possessive, whose apostrophe normal forms leave out.
pub(super) fn inflections(word: &str, part: Part, irregular: &[Box<str>]) -> Vec<String> {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    match part {
        Part::Noun if !irregular.is_empty() => Vec::new(),
        Part::Noun | Part::Any => with_s(word),
        Part::Verb => {
            let mut forms = with_s(word);
            if irregular.iter().all(|form| form.ends_with("ing")) {
                forms.push(with_vowel(word, "ed"));
            }
            if !irregular.iter().any(|form| form.ends_with("ing")) {
                forms.push(with_ing(word));
            }
            forms
        }
        Part::Adjective if irregular.is_empty() && is_short(word) => {
            vec![with_vowel(word, "er"), with_vowel(word, "est")]
        }
        Part::Adjective | Part::Adverb | Part::Inflected => Vec::new(),
    }
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u')
}

/// Plural, third person and possessive.
fn with_s(word: &str) -> Vec<String> {
    let bytes = word.as_bytes();
    let before = bytes[bytes.len() - 2];
    match bytes[bytes.len() - 1] {
        b'y' if !is_vowel(before) => vec![format!("{}ies", &word[..word.len() - 1])],
        b's' | b'x' | b'z' => vec![format!("{word}es")],
        b'h' if matches!(before, b'c' | b's') => vec![format!("{word}es")],
        // Potatoes, and photos.
        b'o' if !is_vowel(before) => vec![format!("{word}s"), format!("{word}es")],
        _ => vec![format!("{word}s")],
    }
}

/// The word with `-ed`, `-er` or `-est`.
fn with_vowel(word: &str, ending: &str) -> String {
    let bytes = word.as_bytes();
    match bytes[bytes.len() - 1] {
        b'e' => format!("{word}{}", &ending[1..]),
        b'y' if !is_vowel(bytes[bytes.len() - 2]) => {
            format!("{}i{ending}", &word[..word.len() - 1])
        }
        last if doubles(word) => format!("{word}{}{ending}", char::from(last)),
        _ => format!("{word}{ending}"),
    }
}

fn with_ing(word: &str) -> String {
    let stem = &word[..word.len() - 1];
    if let Some(stem) = word.strip_suffix("ie") {
        format!("{stem}ying")
    } else if word.ends_with('e') && !["ee", "oe", "ye"].iter().any(|end| word.ends_with(end)) {
        format!("{stem}ing")
    } else if doubles(word) {
        format!("{word}{}ing", &word[word.len() - 1..])
    } else {
        format!("{word}ing")
    }
}

/// Whether the last consonant is written twice before an ending: after one short vowel in a word of one syllable.
fn doubles(word: &str) -> bool {
    let &[.., before, vowel, last] = word.as_bytes() else { return false };
    let short = !is_vowel(before) && is_vowel(vowel) && !is_vowel(last);
    short && !matches!(last, b'w' | b'x' | b'y' | b'h') && syllables(word) == 1
}

/// Whether an adjective has a comparative of its own.
fn is_short(word: &str) -> bool {
    syllables(word) == 1 || (word.ends_with('y') && syllables(word) == 2)
}

/// Runs of vowels, about as many as syllables; a last `e` is silent.
fn syllables(word: &str) -> usize {
    let spoken = word.strip_suffix('e').unwrap_or(word).as_bytes();
    let sounds = |byte: u8| is_vowel(byte) || byte == b'y';
    let begins = |at: &usize| sounds(spoken[*at]) && (*at == 0 || !sounds(spoken[at - 1]));
    (0..spoken.len()).filter(begins).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(word: &str, part: Part) -> String {
        inflections(word, part, &[]).join(" ")
    }

    #[test]
    fn words_are_inflected_as_in_school() {
        for (word, expected) in [
            ("car", "cars"),
            ("city", "cities"),
            ("day", "days"),
            ("bus", "buses"),
            ("church", "churches"),
            ("month", "months"),
            ("photo", "photos photoes"),
        ] {
            assert_eq!(forms(word, Part::Noun), expected);
        }
        for (word, expected) in [
            ("park", "parks parked parking"),
            ("drive", "drives drived driving"),
            ("stop", "stops stopped stopping"),
            ("carry", "carries carried carrying"),
            ("play", "plays played playing"),
            ("visit", "visits visited visiting"),
            ("agree", "agrees agreed agreeing"),
            ("die", "dies died dying"),
            ("fix", "fixes fixed fixing"),
        ] {
            assert_eq!(forms(word, Part::Verb), expected);
        }
        for (word, expected) in [
            ("big", "bigger biggest"),
            ("happy", "happier happiest"),
            ("late", "later latest"),
            ("modern", ""),
        ] {
            assert_eq!(forms(word, Part::Adjective), expected);
        }
    }

    #[test]
    fn exceptions_replace_what_they_stand_for() {
        let drove = ["drove".into(), "driven".into()];
        assert_eq!(inflections("drive", Part::Verb, &drove), ["drives", "driving"]);
        assert!(inflections("mouse", Part::Noun, &["mice".into()]).is_empty());
    }

    #[test]
    fn what_is_no_english_word_is_left_alone() {
        for word in ["", "a", "as", "…", "über", "2024", "x1y"] {
            assert!(inflections(word, Part::Any, &[]).is_empty(), "{word}");
        }
    }
}
