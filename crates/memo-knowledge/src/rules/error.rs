//! Errors of rules files.

use std::fmt;

/// A rules file that could not be used: where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    /// The rules document.
    pub document: String,
    /// Line and column, both from 1; `None` if the problem is between rules.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.document)?;
        if let Some((line, column)) = self.place {
            write!(f, ", line {line}, column {column}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for RulesError {}

/// A problem at a place of the text, in bytes, before the document is known.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) what: String,
}

impl Problem {
    pub(super) fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }

    pub(super) fn in_document(self, document: &str, text: &str) -> RulesError {
        let mut at = self.at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let document = document.to_owned();
        RulesError { document, place: Some((line, column)), problem: self.what }
    }
}
