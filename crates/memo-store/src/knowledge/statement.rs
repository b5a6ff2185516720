//! A statement in the memory: a fact, as two answers, or a text.

use crate::error::Error;
use crate::memory::Blueprint;
use memo::sparse::{Direction, Question, Span};
use memo_knowledge::Triple;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the memory can be told by rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Statement<'a> {
    Fact(&'a Triple),
    Text(&'a str),
}

/// A statement as it is written, with its weight.
pub(crate) struct Written {
    /// Of a text, its tokens; of a fact, those of subject, predicate and object.
    parts: Vec<Vec<u32>>,
    weight: i32,
}

impl Written {
    /// Statements in tokens.
    pub(super) fn all(
        statements: BTreeMap<Statement<'_>, i32>,
        blueprint: &Blueprint,
    ) -> Result<Vec<Self>, Error> {
        let encode = |text: &str| blueprint.tokenizer.encode(text);
        let mut statements: Vec<(Statement<'_>, i32)> = statements.into_iter().collect();
        // Those of one weight are written at once.
        statements.sort_by_key(|(_, weight)| *weight);
        let written = statements.into_par_iter().map(|(statement, weight)| {
            let parts = match statement {
                Statement::Text(text) => vec![encode(text)?],
                Statement::Fact(Triple { subject, predicate, object }) => {
                    vec![encode(subject)?, encode(predicate)?, encode(object)?]
                }
            };
            Ok(Written { parts, weight })
        });
        written.collect()
    }

    /// What is written of it, `sign` times.
    pub(crate) fn spans(&self, sign: i32) -> Vec<Span<'_>> {
        let weight = self.weight * sign;
        match &self.parts[..] {
            [subject, predicate, object] => {
                let question = |known, asked| Question { known, predicate, asked };
                vec![
                    Span::answer(question(subject, Direction::Object), object, weight),
                    Span::answer(question(object, Direction::Subject), subject, weight),
                ]
            }
            parts => parts.iter().map(|part| Span::whole(part, weight)).collect(),
        }
    }

    /// Positions that it takes.
    pub(crate) fn positions(&self) -> u64 {
        self.spans(1).iter().map(|span| span.positions.len() as u64).sum()
    }
}
