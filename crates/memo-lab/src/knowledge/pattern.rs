//! Patterns: sentences with a place for a subject, `[X]`, and one for an object, `[Y]`.

/// A way to say a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    before: String,
    between: String,
    after: String,
    pub(super) object_first: bool,
}

impl Pattern {
    /// Reads a pattern. Runs of spaces become one, a space before the end mark goes, and a sentence without one gets a full stop.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let bare = words.trim_end_matches(['.', ',', ' ']);
        let text = format!("{bare}.");
        let (x, y) = (text.find("[X]")?, text.find("[Y]")?);
        let (first, second) = (x.min(y), x.max(y));
        let (before, between) = (text[..first].to_owned(), text[first + 3..second].to_owned());
        let after = text[second + 3..].to_owned();
        Some(Pattern { before, between, after, object_first: y < x })
    }

    fn fill(&self, subject: &str, object: &str) -> String {
        let (first, second) = if self.object_first { (object, subject) } else { (subject, object) };
        let Pattern { before, between, after, .. } = self;
        format!("{before}{first}{between}{second}{after}")
    }

    /// A fact in these words.
    pub(super) fn sentence(&self, subject: &str, object: &str) -> String {
        self.fill(subject, object)
    }

    /// The pattern as a rules file has it.
    pub(super) fn template(&self) -> String {
        self.fill("{subject}", "{object}")
    }

    /// What comes before the second of both names, without a space at its end.
    pub(super) fn prompt(&self, first: &str) -> String {
        let Pattern { before, between, .. } = self;
        format!("{before}{first}{between}").trim_end().to_owned()
    }

    /// What completes a prompt, to the end of the sentence.
    pub(super) fn completion(&self, second: &str) -> String {
        format!("{}{}", self.continuation(second), self.after)
    }

    /// The second name as it follows a prompt.
    pub(super) fn continuation(&self, second: &str) -> String {
        let space = if self.between.ends_with(' ') { " " } else { "" };
        format!("{space}{second}")
    }

    /// Whether nothing but the end mark follows the second name.
    pub(super) fn ends_with_answer(&self) -> bool {
        self.after == "."
    }

    /// Whether sentences of another pattern can be taken for sentences of this one.
    pub(super) fn fits(&self, other: &Pattern) -> bool {
        let sentence = other.sentence("Xx", "Yy");
        let rest = sentence.strip_prefix(self.before.as_str());
        let rest = rest.and_then(|rest| rest.strip_suffix(self.after.as_str()));
        rest.is_some_and(|rest| rest.contains(self.between.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_sentence_a_prompt_and_a_template() {
        let pattern = Pattern::parse("[X]  plays [Y] music .").unwrap();
        assert_eq!(pattern.sentence("Ada", "folk"), "Ada plays folk music.");
        assert_eq!(
            (pattern.prompt("Ada"), pattern.completion("folk")),
            ("Ada plays".into(), " folk music.".into())
        );
        assert_eq!(pattern.template(), "{subject} plays {object} music.");
        assert!(!pattern.object_first && !pattern.ends_with_answer());
        let back = Pattern::parse("[Y] is home to [X],").unwrap();
        assert!(back.object_first && back.ends_with_answer());
        assert_eq!(back.prompt("Rome"), "Rome is home to");
        assert_eq!(Pattern::parse("[X] is"), None);
    }

    #[test]
    fn patterns_that_can_be_taken_for_others_are_known() {
        let parse = |text| Pattern::parse(text).unwrap();
        let (broad, narrow) = (parse("[X] is in [Y]."), parse("The seat of [X] is in [Y]."));
        assert!(broad.fits(&narrow) && !narrow.fits(&broad));
    }
}
