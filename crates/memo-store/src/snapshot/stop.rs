//! Stop texts: where a completion ends although the memory would go on.

use super::CompletionToken;
use std::collections::VecDeque;

/// Holds tokens back while their text may still become a stop text, so that nothing of one is ever shown.
pub(super) struct StopFilter {
    stops: Vec<String>,
    tokens: VecDeque<CompletionToken>,
    /// The text of `tokens`.
    text: String,
}

impl StopFilter {
    pub(super) fn new(stops: &[String]) -> Self {
        StopFilter { stops: stops.to_vec(), tokens: VecDeque::new(), text: String::new() }
    }

    pub(super) fn push(&mut self, token: CompletionToken) {
        self.text.push_str(&token.text);
        self.tokens.push_back(token);
    }

    /// Adds text to the last token, if it is still held.
    pub(super) fn append(&mut self, text: &str) {
        if let Some(last) = self.tokens.back_mut() {
            last.text.push_str(text);
            self.text.push_str(text);
        }
    }

    /// Whether the text contains a stop; if so, it is cut there.
    pub(super) fn stopped(&mut self) -> bool {
        let Some(at) = self.stops.iter().filter_map(|stop| self.text.find(stop)).min() else {
            return false;
        };
        let mut start = 0;
        self.tokens.retain_mut(|token| {
            let end = start + token.text.len();
            let keep = start < at;
            token.text.truncate(at.saturating_sub(start));
            start = end;
            keep
        });
        self.text.truncate(at);
        true
    }

    /// Moves tokens to `to` that cannot be part of a stop any more. The last one stays unless its text is `whole`: the end
    /// may add to it.
    pub(super) fn release(&mut self, to: &mut VecDeque<CompletionToken>, whole: bool) {
        let begun = |stop: &String| {
            (1..stop.len())
                .rev()
                .find(|&n| stop.is_char_boundary(n) && self.text.ends_with(&stop[..n]))
        };
        let kept = self.stops.iter().filter_map(begun).max().unwrap_or(0);
        let mut free = self.text.len() - kept;
        let stay = usize::from(!whole);
        while self.tokens.len() > stay && self.tokens[0].text.len() <= free {
            let Some(token) = self.tokens.pop_front() else { break };
            free -= token.text.len();
            self.text.drain(..token.text.len());
            to.push_back(token);
        }
    }

    /// Moves all tokens to `to`.
    pub(super) fn flush(&mut self, to: &mut VecDeque<CompletionToken>) {
        self.text.clear();
        to.append(&mut self.tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str], stops: &[&str]) -> (Vec<String>, bool) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let (mut filter, mut out) = (StopFilter::new(&stops), VecDeque::new());
        let mut stopped = false;
        for piece in pieces {
            filter.push(CompletionToken { text: (*piece).to_owned(), ..Default::default() });
            stopped = filter.stopped();
            if stopped {
                break;
            }
            filter.release(&mut out, true);
        }
        filter.flush(&mut out);
        (out.into_iter().map(|token| token.text).collect(), stopped)
    }

    #[test]
    fn a_stop_is_never_shown_not_even_its_beginning() {
        assert_eq!(shown(&["ab", "cd", "ef"], &["de"]), (vec!["ab".into(), "c".into()], true));
        assert_eq!(shown(&["ab", "cd", "xf"], &["de"]).0.concat(), "abcdxf");
        assert_eq!(shown(&["a", "b", "c"], &["abc"]), (vec![], true));
        assert_eq!(shown(&["a", "b", "d"], &["abc"]).0.concat(), "abd");
        assert_eq!(shown(&["aa", "ab"], &["aab"]), (vec!["a".into()], true));
        assert_eq!(shown(&["über", "ü"], &["rü"]), (vec!["übe".into()], true));
        assert_eq!(shown(&["x"], &[]), (vec!["x".into()], false));
    }
}
