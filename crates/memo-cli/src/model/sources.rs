//! Footnotes: which document each part of a completion comes from.

use super::complete::tint;
use super::rules;
use crate::output::{FAINT, GOOD, styled};
use memo_store::{Completion, CompletionToken, Stretch, StretchSource};
use std::fmt::{Display, Formatter};

/// A completion with its sources, of which a frozen model has none.
pub(super) struct Footnotes<'c>(pub(super) &'c Completion);

impl Footnotes<'_> {
    /// The distinct sources, in the order of their first mention.
    fn named(&self) -> Vec<&StretchSource> {
        let mut named: Vec<&StretchSource> = Vec::new();
        for source in self.0.sources.iter().flatten().filter_map(|part| part.source.as_ref()) {
            if !named.iter().any(|other| same_place(other, source)) {
                named.push(source);
            }
        }
        named
    }

    /// Prints the tokens of the completion with marks, and the notes below.
    pub(super) fn print(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (named, tokens) = (self.named(), self.0.tokens.as_slice());
        let (mut rest, mut ends_line) = (tokens, false);
        let whole = [Stretch {
            text: String::new(),
            tokens: tokens.len(),
            source: None,
            derivation: Vec::new(),
        }];
        for part in self.0.sources.as_deref().unwrap_or(&whole) {
            let (these, after) = rest.split_at(part.tokens.min(rest.len()));
            // The mark goes after the last word, before a line end.
            let text: String = these.iter().map(|token| token.text.as_str()).collect();
            let words = text.trim_end().len();
            let mark = self.mark(part, &named);
            let (mut at, mut marked) = (0, false);
            for CompletionToken { text, probability, .. } in these {
                let split = words.saturating_sub(at).min(text.len());
                let style = tint(probability.unwrap_or(0.0));
                write!(f, "{}", styled(style, &text[..split]))?;
                at += text.len();
                if at >= words && !marked {
                    write!(f, "{}", styled(FAINT, &mark))?;
                    marked = true;
                }
                write!(f, "{}", &text[split..])?;
            }
            if !text.is_empty() {
                ends_line = text.ends_with('\n');
            }
            rest = after;
        }
        if !ends_line {
            writeln!(f)?;
        }
        write!(f, "{self}")
    }

    fn mark(&self, part: &Stretch, named: &[&StretchSource]) -> String {
        match &part.source {
            Some(source) => {
                let number = named.iter().position(|other| same_place(other, source));
                number.map_or_else(String::new, |number| format!("[{}]", number + 1))
            }
            None if self.0.sources.is_some() && part.derivation.is_empty() => "[?]".to_owned(),
            None => String::new(),
        }
    }
}

/// Whether two parts come from the same line of a document, so that one note serves both.
fn same_place(a: &StretchSource, b: &StretchSource) -> bool {
    (&a.document, a.line) == (&b.document, b.line)
}

impl Display for Footnotes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Some(parts) = &self.0.sources else {
            return writeln!(
                f,
                "  {}",
                styled(FAINT, "no sources: the model is frozen and has no texts")
            );
        };
        for (number, source) in self.named().into_iter().enumerate() {
            let StretchSource { document, line, match_tokens, .. } = source;
            let known = format!("line {line}, after {match_tokens} of the same tokens");
            let number = styled(FAINT, format!("[{}]", number + 1));
            writeln!(f, "  {number} {}  {}", styled(GOOD, document), styled(FAINT, known))?;
        }
        if let Some(part) = parts.iter().find(|part| !part.derivation.is_empty()) {
            rules::print_steps(&part.derivation, "  ", f)?;
        }
        if parts.iter().any(|part| part.source.is_none() && part.derivation.is_empty()) {
            writeln!(f, "  {}", styled(FAINT, "[?] no document has this here"))?;
        }
        Ok(())
    }
}
