//! Completion: choosing, stop texts, whole characters, limits, and the options that are refused.

use crate::common::small;
use memo::readout::Sampling;
use memo_store::{
    Completion, CompletionOptions, CompletionStream, Error, FinishReason, NewDocument, Store,
};

const TEXT: &str = "The owl reads at night. The cat sleeps — all day… on the 暖かい roof.";

fn store(home: &tempfile::TempDir) -> Store {
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([NewDocument::text(TEXT).with_id("a")], None).unwrap();
    store
}

fn stopping(stop: &[&str]) -> CompletionOptions {
    let stop = stop.iter().map(|stop| (*stop).to_owned()).collect();
    CompletionOptions { max_tokens: 200, stop, top: Some(1), ..CompletionOptions::default() }
}

/// The text of a completion and of its tokens, and why it ended.
fn outcome(done: &Completion) -> (String, String, FinishReason) {
    let tokens = done.tokens.iter().map(|token| token.text.as_str()).collect();
    (done.completion.clone(), tokens, done.finish_reason)
}

/// Every token is a byte here, so every stop text spans tokens.
#[test]
fn a_stop_text_that_spans_tokens_leaves_nothing_of_itself() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let done = store.complete("The owl", &stopping(&["night. The", "never"])).unwrap();
    assert_eq!(outcome(&done), (" reads at ".into(), " reads at ".into(), FinishReason::Stop));
    assert_eq!(done.tokens.len(), " reads at ".len());
    // Streamed, it is the same: what may become a stop text is held back.
    let options = stopping(&["night. The"]);
    let streamed: Vec<_> = store.tokens("The owl", &options).unwrap().map(Result::unwrap).collect();
    assert_eq!(streamed, done.tokens);
    // The first of several stops counts; one that only begins is shown.
    let done = store.complete("The owl", &stopping(&["night", "reads", "at n"])).unwrap();
    assert_eq!(outcome(&done).0, " ");
    let done = store.complete("The owl", &stopping(&["night!"])).unwrap();
    assert_eq!(done.finish_reason, FinishReason::End);
    assert_eq!(done.completion, TEXT["The owl".len()..]);
}

#[test]
fn a_completion_has_whole_characters_wherever_it_is_cut() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let whole = &TEXT["The owl".len()..];
    for tokens in 0..whole.len() + 2 {
        let done = store.complete("The owl", &CompletionOptions::greedy(tokens)).unwrap();
        let mut end = tokens.min(whole.len());
        while !whole.is_char_boundary(end) {
            end -= 1;
        }
        assert_eq!(done.completion, whole[..end], "{tokens}");
        let ended = if tokens > whole.len() { FinishReason::End } else { FinishReason::Length };
        assert_eq!((done.finish_reason, done.tokens.len()), (ended, tokens.min(whole.len())));
    }
}

/// A document of bytes may end in the middle of a character, and so may a prompt.
#[test]
fn half_a_character_belongs_to_the_token_that_began_it() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(&home);
    let tokens: Vec<u32> = b"Half of \xe6\x9a".map(u32::from).to_vec();
    store.memorize([NewDocument::tokens(tokens.clone())], None).unwrap();
    let done = store.complete("Half", &CompletionOptions::greedy(50)).unwrap();
    assert_eq!((done.completion.as_str(), done.finish_reason), (" of \u{fffd}", FinishReason::End));
    let made: Vec<u32> = done.tokens.iter().map(|token| token.token).collect();
    assert_eq!(made, tokens[4..]);
    let options = CompletionOptions::default();
    let mut stream = CompletionStream::new(store.tokenizer(), &tokens, &options).unwrap();
    assert_eq!(stream.next_token(store.memory().unwrap()).unwrap(), None);
    assert_eq!(stream.finish_reason(), Some(FinishReason::End));
}

#[test]
fn probabilities_and_contexts_come_only_if_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let plain = store.complete("The owl", &CompletionOptions::greedy(9)).unwrap();
    assert!(plain.tokens.iter().all(|t| t.probability.is_none() && t.context_tokens.is_none()));
    let options =
        CompletionOptions { top: Some(3), contexts: true, ..CompletionOptions::greedy(9) };
    let full = store.complete("The owl", &options).unwrap();
    assert_eq!(full.completion, plain.completion);
    for token in &full.tokens {
        let score = token.score.as_ref().unwrap();
        assert_eq!((score.top.len(), score.top[0].0), (3, token.token));
        assert_eq!(score.top[0].1.to_bits(), score.logprob.to_bits());
        assert!(token.probability.unwrap() > 0.5 && token.best == Some(true), "{token:?}");
    }
    assert_eq!(full.tokens[8].context_tokens, Some(15));
}

#[test]
fn a_choice_can_be_made_again_before_it_is_accepted() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let options = CompletionOptions {
        sampling: Sampling { temperature: 2.0, seed: 5, ..Sampling::default() },
        ..CompletionOptions::greedy(30)
    };
    let once: Vec<u32> = store.tokens("The", &options).unwrap().map(|t| t.unwrap().token).collect();
    let prompt = store.tokenizer().encode("The").unwrap();
    let mut stream = CompletionStream::new(store.tokenizer(), &prompt, &options).unwrap();
    let mut again = Vec::new();
    let memory = store.memory().unwrap();
    while stream.choose(memory).unwrap().is_some() {
        let choice = stream.choose(memory).unwrap().unwrap();
        stream.accept(choice);
        again.extend(std::iter::from_fn(|| stream.take_ready()).map(|token| token.token));
    }
    assert_eq!(again, once);
    stream.cancel();
    assert_ne!(stream.finish_reason(), Some(FinishReason::Cancelled), "it had ended before");
}

fn penalized(temperature: f64, frequency_penalty: f64, presence_penalty: f64) -> CompletionOptions {
    CompletionOptions {
        sampling: Sampling {
            temperature,
            frequency_penalty,
            presence_penalty,
            seed: 9,
            ..Sampling::default()
        },
        guess: true,
        top: Some(2),
        ..CompletionOptions::greedy(60)
    }
}

/// The share of a completion's words that are different: it may end before its length does.
fn variety(done: &Completion) -> f64 {
    let words: Vec<&str> = done.completion.split_whitespace().collect();
    let different: std::collections::BTreeSet<&str> = words.iter().copied().collect();
    different.len() as f64 / words.len() as f64
}

#[test]
fn what_was_said_already_is_said_less_with_penalties_and_more_with_negative_ones() {
    let home = tempfile::tempdir().unwrap();
    let new = memo_store::NewModel::default();
    let mut store = Store::create(&home.path().join("w.memo"), &new).unwrap();
    // What follows is said three times as often as what may follow besides.
    let text =
        "tick tack tick tack tick tack tick tock bell chime ring gong hour clock ".repeat(12);
    store.memorize([NewDocument::text(text)], None).unwrap();
    for temperature in [0.0, 1.0] {
        let plain = store.complete("tick", &penalized(temperature, 0.0, 0.0)).unwrap();
        // A penalty of -0 is none either, to the bit.
        assert_eq!(
            store.complete("tick", &penalized(temperature, -0.0, 0.0)).unwrap().tokens,
            plain.tokens
        );
        for (frequency, presence) in [(2.0, 0.0), (0.0, 2.0)] {
            let less =
                store.complete("tick", &penalized(temperature, frequency, presence)).unwrap();
            assert!(variety(&less) >= variety(&plain), "{less:?}");
            let more =
                store.complete("tick", &penalized(temperature, -frequency, -presence)).unwrap();
            // What is quoted is more certain than a penalty that does not grow can change.
            let quoted = temperature == 0.0 && frequency == 0.0;
            let (more, less) = (variety(&more), variety(&less));
            assert!(more < less || (quoted && more == less), "{more} {less}");
        }
    }
    // The longest match is left only where something was said already.
    let plain = store.complete("chime ring", &penalized(0.0, 0.0, 0.0)).unwrap();
    let gently = store.complete("chime ring", &penalized(0.0, 0.0, 0.01)).unwrap();
    assert!(plain.completion.starts_with(" gong hour clock"), "{}", plain.completion);
    assert!(gently.completion.starts_with(" gong hour clock"), "{}", gently.completion);
}

#[test]
fn options_that_make_no_sense_are_refused_in_one_place() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let sampling = |temperature, top_p| CompletionOptions {
        sampling: Sampling { temperature, top_p, ..Sampling::default() },
        ..CompletionOptions::default()
    };
    let bad = [
        ("temperature", sampling(-0.1, 1.0)),
        ("temperature", sampling(f64::NAN, 1.0)),
        ("temperature", sampling(101.0, 1.0)),
        ("top_p", sampling(0.0, 1.5)),
        ("top_p", sampling(0.0, f64::NAN)),
        ("frequency_penalty", penalized(0.0, 2.1, 0.0)),
        ("presence_penalty", penalized(0.0, 0.0, f64::NAN)),
        ("stop", stopping(&["a", ""])),
    ];
    for (expected, options) in bad {
        let refused = store.complete("The owl", &options);
        assert!(matches!(refused, Err(Error::Option { name, .. }) if name == expected));
    }
    // The smallest share of the probability is the most probable token.
    let narrow = store.complete("The owl", &sampling(1.0, 0.0)).unwrap();
    assert_eq!(
        narrow.completion,
        store.complete("The owl", &sampling(0.0, 1.0)).unwrap().completion
    );
}
