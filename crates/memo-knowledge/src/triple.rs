//! Statements by names, and patterns of them.

use serde::Serialize;
use std::borrow::Cow;
use std::fmt;

/// A statement by names: what it is about, what is said of it, and with what.
///
/// ```
/// use memo_knowledge::Triple;
///
/// let triple = Triple::new("France", "capital", "Paris");
/// assert_eq!(triple.to_string(), "France, capital, Paris");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Triple {
    /// What the statement is about.
    pub subject: String,
    /// What is said of it.
    pub predicate: String,
    /// What it is said with.
    pub object: String,
}

impl Triple {
    /// Makes a statement of three names, as they are.
    pub fn new(
        subject: impl Into<String>,
        predicate: impl Into<String>,
        object: impl Into<String>,
    ) -> Self {
        let (subject, predicate, object) = (subject.into(), predicate.into(), object.into());
        Self { subject, predicate, object }
    }
}

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.subject, self.predicate, self.object)
    }
}

/// Triples that are asked for. `None` is any name.
///
/// ```
/// use memo_knowledge::{Triple, TriplePattern};
///
/// let of_france = TriplePattern { subject: Some("France".into()), ..TriplePattern::default() };
/// assert!(of_france.matches(&Triple::new("France", "capital", "Paris")));
/// assert!(!of_france.matches(&Triple::new("Spain", "capital", "Madrid")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TriplePattern {
    /// The subject, if it must be this one.
    pub subject: Option<String>,
    /// The predicate, if it must be this one.
    pub predicate: Option<String>,
    /// The object, if it must be this one.
    pub object: Option<String>,
}

impl TriplePattern {
    /// Tells whether a triple is asked for.
    pub fn matches(&self, triple: &Triple) -> bool {
        self.matches_names([Some(&triple.subject), Some(&triple.predicate), Some(&triple.object)])
    }

    /// The same for names of which some are missing: those match only "any".
    pub(crate) fn matches_names(&self, names: [Option<&str>; 3]) -> bool {
        let asked = [&self.subject, &self.predicate, &self.object];
        asked.into_iter().zip(names).all(|(asked, name)| {
            asked.as_deref().is_none_or(|asked| name.is_some_and(|name| name == collapse(asked)))
        })
    }
}

/// A name on one line: trimmed, with one space for each run of whitespace.
pub(crate) fn collapse(text: &str) -> Cow<'_, str> {
    let mut space = true;
    for character in text.chars() {
        let now = character.is_whitespace();
        if now && (space || character != ' ') {
            return Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        space = now;
    }
    if space { Cow::Borrowed(text.trim_end()) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_in_a_name_is_one_space() {
        for (text, name) in [
            ("", ""),
            (" ", ""),
            ("a", "a"),
            ("a b", "a b"),
            ("a ", "a"),
            (" a", "a"),
            ("a  b\u{a0}c\n", "a b c"),
        ] {
            assert_eq!(collapse(text), name, "{text:?}");
        }
    }

    #[test]
    fn a_pattern_asks_for_names() {
        let triple = Triple::new("a", "b c", "d");
        assert!(TriplePattern::default().matches(&triple));
        let pattern = |predicate: &str| TriplePattern {
            predicate: Some(predicate.into()),
            ..TriplePattern::default()
        };
        assert!(pattern(" b  c").matches(&triple));
        assert!(!pattern("b").matches(&triple));
        assert!(!pattern("b c").matches_names([Some("a"), None, Some("d")]));
    }
}
