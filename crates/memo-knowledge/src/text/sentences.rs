//! Where sentences begin and end.
//!
//! A sentence begins at the start of a line, and after `.`, `!` or `?` (with closing quotation marks and brackets) and whitespace
//! if an upper-case letter, a digit or a quotation mark follows. A dot after a single letter, or after one of a few titles and
//! words before names, ends none, unless something is closed after it: "E. A. Poe", "St. Ives", "Dr. Who".

use std::ops::Range;

pub(super) const MARKS: [char; 3] = ['.', '!', '?'];
const CLOSING: [char; 9] = ['"', '\'', '”', '’', '»', '“', ')', ']', '}'];
const QUOTES: [char; 8] = ['"', '\'', '“', '‘', '„', '«', '”', '»'];

/// Words before names that are written with a dot. Words that also end sentences are not among them: a sentence that is cut too
/// early matches nothing, one that is not cut says something wrong.
const TITLES: [&str; 24] = [
    "St", "Ste", "Dr", "Mr", "Mrs", "Ms", "Mx", "Mt", "Ft", "Jr", "Sr", "Prof", "Rev", "Gen",
    "Col", "Capt", "Lt", "Sgt", "Hon", "Mme", "Mlle", "Hr", "Hl", "Nr",
];

/// Calls `take` with each sentence of a line, without whitespace around it.
pub(super) fn each_sentence(line: &str, mut take: impl FnMut(Range<usize>)) {
    let mut begin = 0;
    let mut at = 0;
    while let Some(found) = line[at..].find(MARKS) {
        let mark = at + found;
        let rest = &line[mark..];
        let marks = rest.len() - rest.trim_start_matches(MARKS).len();
        let closed = rest[marks..].trim_start_matches(CLOSING);
        let end = line.len() - closed.len();
        let next = closed.trim_start();
        at = end;
        let spaced = next.len() < closed.len();
        if spaced
            && next.starts_with(|first: char| {
                first.is_uppercase() || first.is_numeric() || QUOTES.contains(&first)
            })
            && !(end == mark + 1 && rest.starts_with('.') && is_abbreviation(&line[begin..mark]))
        {
            emit(line, begin..end, &mut take);
            begin = line.len() - next.len();
            at = begin;
        }
    }
    emit(line, begin..line.len(), &mut take);
}

fn emit(line: &str, range: Range<usize>, take: &mut impl FnMut(Range<usize>)) {
    let text = &line[range.clone()];
    let begin = range.start + text.len() - text.trim_start().len();
    let end = range.start + text.trim_end().len();
    if begin < end {
        take(begin..end);
    }
}

/// Whether a dot after this text ends no sentence, because of the word before it.
fn is_abbreviation(before: &str) -> bool {
    let letters = before.len() - before.trim_end_matches(char::is_alphabetic).len();
    let word = &before[before.len() - letters..];
    // Letters that follow a digit are no word: "in room 4b. Then".
    if before[..before.len() - letters].ends_with(char::is_numeric) {
        return false;
    }
    word.chars().count() == 1 || TITLES.contains(&word)
}

/// A sentence without its end mark, and that mark; `None` if quotation marks or brackets close more than they open.
pub(super) fn body_of(sentence: &str) -> Option<(&str, &str)> {
    let opened = sentence.trim_end_matches(CLOSING);
    let closing = &sentence[opened.len()..];
    let body = opened.trim_end_matches(MARKS);
    let mark = &opened[body.len()..];
    if mark.is_empty() || closing.is_empty() {
        // "(as ever)" without a mark is part of what is said.
        let body = if mark.is_empty() { sentence } else { body };
        return Some((body, mark));
    }
    // All of the sentence is within the marks, or it is no sentence of its own.
    let mut body = body;
    for close in closing.chars() {
        let open: &[char] = match close {
            '"' => &['"'],
            '\'' => &['\''],
            '”' => &['“', '”', '„'],
            '“' => &['„'],
            '’' => &['‘'],
            '»' => &['«', '»'],
            ')' => &['('],
            ']' => &['['],
            _ => &['{'],
        };
        body = body.strip_prefix(open)?;
    }
    Some((body, mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        each_sentence(text, |range| found.push(&text[range]));
        found
    }

    #[test]
    fn sentences_end_where_readers_see_them_end() {
        for (text, expected) in [
            ("First. Second.", vec!["First.", "Second."]),
            ("It lies near Rio. Go there.", vec!["It lies near Rio.", "Go there."]),
            ("He met Ann. Mira was born.", vec!["He met Ann.", "Mira was born."]),
            ("  One? Two!  3 is it. ", vec!["One?", "Two!", "3 is it."]),
            ("He left. then came.", vec!["He left. then came."]),
            (
                "St. Ives is far. Dr. No lives there.",
                vec!["St. Ives is far.", "Dr. No lives there."],
            ),
            ("E. A. Poe wrote. So did others.", vec!["E. A. Poe wrote.", "So did others."]),
            ("She said \"No.\" Then she left.", vec!["She said \"No.\"", "Then she left."]),
            ("It is 3.5 km. Go!", vec!["It is 3.5 km.", "Go!"]),
            ("Wait... What?! “Yes.”", vec!["Wait...", "What?!", "“Yes.”"]),
            ("Born in 1815. He died.", vec!["Born in 1815.", "He died."]),
            ("Ärger. Ökonomie kam.", vec!["Ärger.", "Ökonomie kam."]),
            ("", vec![]),
            (". . .", vec![". . ."]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn the_end_mark_is_apart_and_a_whole_quotation_is_opened() {
        assert_eq!(body_of("It is."), Some(("It is", ".")));
        assert_eq!(body_of("Is it?!"), Some(("Is it", "?!")));
        assert_eq!(body_of("A title"), Some(("A title", "")));
        assert_eq!(body_of("“It is.”"), Some(("It is", ".")));
        assert_eq!(body_of("(It is.)"), Some(("It is", ".")));
        assert_eq!(body_of("He said “it is.”"), None);
        assert_eq!(body_of("It is (so)."), Some(("It is (so)", ".")));
        assert_eq!(body_of("It is (so)"), Some(("It is (so)", "")));
    }
}
