//! The variables of one rule, and texts and triples that use them.

use super::error::Problem;
use super::pieces::{Named, Piece, divide};
use super::{Atom, Slot};
use crate::triple::collapse;
use toml::Spanned;
use toml::de::DeValue;

/// The most triples of one `when`.
const MAX_ATOMS: usize = 16;
/// The most variables of one rule.
const MAX_VARIABLES: usize = 32;

pub(super) type Result<T> = std::result::Result<T, Problem>;
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// Where a value begins in its file, in bytes.
pub(super) fn start(value: &Value<'_>) -> usize {
    value.span().start
}

/// What a rule's variables are called, in the order of their first use.
#[derive(Default)]
pub(super) struct Variables {
    pub(super) names: Vec<String>,
    /// Whether a new name is an error: outside of `when`.
    pub(super) fixed: bool,
}

impl Variables {
    pub(super) fn number(&mut self, name: &str, at: usize) -> Result<usize> {
        if let Some(number) = self.names.iter().position(|known| known == name) {
            return Ok(number);
        }
        if self.fixed {
            let known: Vec<String> = self.names.iter().map(|name| format!("{{{name}}}")).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(Problem::new(
                at,
                format!(
                    "the variable {{{name}}} is not in `when` (there: {known}); use one of these, or add it to `when`"
                ),
            ));
        }
        if self.names.len() == MAX_VARIABLES {
            return Err(Problem::new(
                at,
                format!("a rule has at most {MAX_VARIABLES} variables; divide it into two"),
            ));
        }
        self.names.push(name.to_owned());
        Ok(self.names.len() - 1)
    }

    pub(super) fn pieces(&mut self, text: &str, at: usize) -> Result<Vec<Piece>> {
        let pieces = divide(text).map_err(|what| Problem::new(at, what))?;
        let piece = |piece: Named<'_>| {
            Ok(match piece {
                Named::Text(text) => Piece::Text(text.into_owned()),
                Named::Variable(name) => Piece::Variable(self.number(name, at)?),
            })
        };
        pieces.into_iter().map(piece).collect()
    }

    /// Texts that are made, none of them empty.
    pub(super) fn texts(&mut self, texts: &[(&str, usize)]) -> Result<Vec<Vec<Piece>>> {
        let text = |&(text, at): &(&str, usize)| match text.trim() {
            "" => Err(Problem::new(
                at,
                "an empty text says nothing; write a sentence, or leave it out",
            )),
            text => self.pieces(text, at),
        };
        texts.iter().map(text).collect()
    }

    fn slot(&mut self, text: &str, at: usize) -> Result<Slot> {
        let pieces = divide(text).map_err(|what| Problem::new(at, what))?;
        match &pieces[..] {
            [Named::Variable(name)] => Ok(Slot::Variable(self.number(name, at)?)),
            [Named::Text(text)] if !text.trim().is_empty() => {
                Ok(Slot::Name(collapse(text).into_owned()))
            }
            [] | [Named::Text(_)] => {
                Err(Problem::new(at, "a term of a triple is empty; write a name or a variable"))
            }
            _ => Err(Problem::new(
                at,
                format!(
                    "{text:?} is not one term: in a triple, write a variable or a name, not both together; for texts, use `say`"
                ),
            )),
        }
    }

    fn atom(&mut self, list: &[Value<'_>], at: usize) -> Result<Atom> {
        let wrong = || {
            Problem::new(at, "a triple is a list of three texts: [\"{x}\", \"born in\", \"{y}\"]")
        };
        let [subject, predicate, object] = list else { return Err(wrong()) };
        let mut slot = |value: &Value<'_>| {
            let text = value.get_ref().as_str().ok_or_else(wrong)?;
            self.slot(text, start(value))
        };
        Ok([slot(subject)?, slot(predicate)?, slot(object)?])
    }

    /// One triple, or a list of triples.
    pub(super) fn atoms(&mut self, list: &[Value<'_>], at: usize, key: &str) -> Result<Vec<Atom>> {
        if list.is_empty() {
            return Err(Problem::new(
                at,
                format!("`{key}` is empty; write a triple, or leave it out"),
            ));
        }
        let lists = list.iter().filter(|value| value.get_ref().is_array()).count();
        if lists == 0 {
            if list.len() != 3 && list.iter().all(|value| value.get_ref().is_str()) {
                return Err(Problem::new(
                    at,
                    format!(
                        "`{key}` has {} texts: a triple has three; for one text, leave the brackets out; for several, use {}",
                        list.len(),
                        if key == "then" { "`say`" } else { "`when_any`" },
                    ),
                ));
            }
            return Ok(vec![self.atom(list, at)?]);
        }
        if list.len() > MAX_ATOMS {
            return Err(Problem::new(
                at,
                format!("`{key}` has more than {MAX_ATOMS} triples; divide the rule into two"),
            ));
        }
        let atom = |value: &Value<'_>| match value.get_ref() {
            DeValue::Array(list) => self.atom(list, start(value)),
            _ => Err(Problem::new(
                start(value),
                format!(
                    "`{key}` has triples and texts in one list; write triples here, and texts under `say`"
                ),
            )),
        };
        list.iter().map(atom).collect()
    }
}
