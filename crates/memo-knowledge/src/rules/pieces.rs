//! Texts with variables: `The capital of {x} is {y}.` A brace that is no variable is written twice.

use std::borrow::Cow;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Words as they are.
    Text(String),
    /// A variable, by its number in the rule.
    Variable(usize),
}

/// A part of a text, with variables by name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named<'a> {
    Text(Cow<'a, str>),
    Variable(&'a str),
}

/// Divides a text into words and variables.
pub(super) fn divide(text: &str) -> Result<Vec<Named<'_>>, String> {
    let mut pieces = Vec::new();
    let mut words = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        words.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            words.push_str(brace);
            rest = after;
        } else if brace == "{" {
            let Some((name, after)) = rest.split_once('}') else {
                return Err(format!("`{{` without its `}}` in {text:?}; write `{{{{` for a brace"));
            };
            let fits = |character: char| character.is_alphanumeric() || character == '_';
            if name.is_empty() || !name.chars().all(fits) {
                return Err(format!(
                    "{name:?} is no name of a variable; write letters, digits and `_` between the braces, as in `{{x}}`"
                ));
            }
            if !words.is_empty() {
                pieces.push(Named::Text(Cow::Owned(std::mem::take(&mut words))));
            }
            pieces.push(Named::Variable(name));
            rest = after;
        } else {
            return Err(format!("`}}` without its `{{` in {text:?}; write `}}}}` for a brace"));
        }
    }
    words.push_str(rest);
    if !words.is_empty() {
        pieces.push(Named::Text(Cow::Owned(words)));
    }
    Ok(pieces)
}

/// The text that pieces make with the values of their variables.
pub(crate) fn fill<'a>(pieces: &[Piece], value: impl Fn(usize) -> &'a str) -> String {
    let length = |piece: &Piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Variable(variable) => value(*variable).len(),
    };
    let mut filled = String::with_capacity(pieces.iter().map(length).sum());
    for piece in pieces {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Variable(variable) => filled.push_str(value(*variable)),
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_hold_variables_and_double_braces_are_braces() {
        let text = |text: &'static str| Named::Text(text.into());
        assert_eq!(
            divide("{x} is {{y}} of {name_1}.").unwrap(),
            [Named::Variable("x"), text(" is {y} of "), Named::Variable("name_1"), text(".")]
        );
        assert_eq!(divide("").unwrap(), []);
        for wrong in ["{x", "x}", "{}", "{a b}", "{x-y}"] {
            assert!(divide(wrong).is_err(), "{wrong}");
        }
    }
}
