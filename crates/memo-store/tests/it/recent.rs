//! The context memory through a model: asked for in scores, on where a completion guesses, and never in the way of recall.

use crate::common::small;
use memo_store::{CompletionOptions, NewDocument, Observer, ReadOptions, Store};

const OWL: &str = "The owl reads at night by the light of the moon, and sleeps until noon.";

#[test]
fn scores_say_what_the_memory_alone_would() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([NewDocument::text(OWL)], None).unwrap();
    let text = store.tokenizer().encode(&"Zyx quj zyx vok. ".repeat(20)).unwrap();
    let score = |recent: f64| {
        let read = ReadOptions { recent, ..ReadOptions::default() };
        store.score(std::slice::from_ref(&text), &read, &Observer::default())
    };
    let (off, on) = (score(0.0).unwrap(), score(1.0).unwrap());
    assert_eq!(off.perplexity_alone, None);
    assert_eq!(on.perplexity_alone, Some(off.perplexity));
    assert!(on.perplexity < off.perplexity, "{on:?}");
    let message = score(1.5).unwrap_err().to_string();
    assert!(message.contains("recent") && message.contains("between 0 and 1"), "{message}");
}

/// What the memory knows is said as it is there, whatever else the prompt says.
#[test]
fn completions_that_do_not_guess_are_the_memorys_own() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([NewDocument::text(OWL)], None).unwrap();
    let prompt = "The owl reads at day. The owl reads at day. The owl reads at";
    let complete = |recent: f64, guess: bool| {
        let read = ReadOptions { recent, ..ReadOptions::default() };
        let options = CompletionOptions { guess, read, ..CompletionOptions::greedy(20) };
        store.complete(prompt, &options).unwrap().completion
    };
    assert_eq!(complete(1.0, false), complete(0.0, false));
    assert_eq!(CompletionOptions::default().read, ReadOptions::completing());
}
