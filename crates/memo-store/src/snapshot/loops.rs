//! Loops: where a completion would only say the same again.

/// The longest loop that is noticed, in tokens.
const LONGEST_LOOP: usize = 32;

/// Tokens that may repeat what came before them if the memory has such a text: no context is longer, so that it cannot know where
/// that ends.
const LONGEST_REPEATED: usize = 64;

/// The last tokens of a completion, as many as can show a loop.
#[derive(Default)]
pub(super) struct LastTokens(Vec<u32>);

impl LastTokens {
    pub(super) fn push(&mut self, token: u32) {
        if self.0.len() == 4 * LONGEST_LOOP {
            self.0.remove(0);
        }
        self.0.push(token);
    }

    /// Whether the text would say something for the fourth time in a row with a token, which the memory knows after `known` tokens. A
    /// text may do that; but then contexts that see all of it know how it goes on.
    pub(super) fn would_repeat(&self, token: u32, known: usize) -> bool {
        let (text, n) = (&self.0, self.0.len());
        let same =
            |len: usize, back: usize| back + len <= n && text[n - back] == text[n - back - len];
        let repeats =
            |&len: &usize| token == text[n - len] && (1..=2 * len).all(|back| same(len, back));
        // A shorter loop is what repeats itself: an indentation is spaces, not dozens of them again and again.
        let Some(len) = (1..=LONGEST_LOOP.min(n / 3)).find(repeats) else { return false };
        known <= 3 * len || (1..LONGEST_REPEATED).all(|back| same(len, back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> LastTokens {
        let mut last = LastTokens::default();
        text.bytes().for_each(|token| last.push(token.into()));
        last
    }

    #[test]
    fn a_fourth_time_is_a_loop() {
        assert!(after("abcabcabc").would_repeat(b'a'.into(), 3));
        assert!(!after("abcabc").would_repeat(b'a'.into(), 3), "the third time is not");
        assert!(!after("abcabcabc").would_repeat(b'x'.into(), 3));
        assert!(!after("abcabcabc").would_repeat(b'a'.into(), 10), "a context sees all three");
        // Nor are 40 spaces 13 of them three times.
        assert!(!after(&" ".repeat(40)).would_repeat(b' '.into(), 32));
        // No context sees all of this.
        assert!(after(&"abc".repeat(40)).would_repeat(b'a'.into(), 64));
    }
}
