//! Texts and places in them: edits that a text goes on after, where words stand, where a completion comes from, and how two
//! models differ.

use crate::common::says;
use memo_store::{
    CompletionOptions, CompletionToken, FindOptions, NewDocument, NewModel, Snapshot, Store,
    fresh_seed,
};
use std::path::Path;

const HOUSE: &str = "My sister Marta moved last year and now she lives at 12 Old Oak Tree Lane. She has a cat that \
     sleeps on the warm red roof all day, and a garden with two pear trees.\nThe meeting of the village council is on \
     Monday at ten in the small room behind the kitchen, as always.\n";
const OWL: &str = "The owl reads at night by the light of the moon.\nIn the morning she sleeps in the old tower.\nThe \
     tower is cold.\n";

fn model(home: &Path, name: &str, documents: &[(&str, &str)]) -> Store {
    let mut store = Store::create(&home.join(name), &NewModel::default()).unwrap();
    let new = documents.iter().map(|(id, text)| NewDocument::text(*text).with_id(*id));
    store.memorize(new, None).unwrap();
    store
}

fn encoded(model: &Snapshot, text: &str) -> Vec<u32> {
    model.tokenizer().encode(text).unwrap()
}

#[test]
fn a_text_goes_on_after_a_target_that_is_shorter_or_longer_than_what_it_replaces() {
    let home = tempfile::tempdir().unwrap();
    let mut store = model(home.path(), "m", &[("house", HOUSE), ("owl", OWL)]);
    let before = store.digest().unwrap();
    let address = "My sister Marta moved last year and now she lives at";
    let meeting = "The meeting of the village council is on";
    for (prompt, target, stands_for, goes_on) in [
        (
            address,
            " 7 Pine Street",
            " 12 Old Oak Tree Lane",
            ". She has a cat that sleeps on the warm red roof",
        ),
        (
            address,
            " 7 Pine Street.",
            " 12 Old Oak Tree Lane.",
            " She has a cat that sleeps on the warm red roof",
        ),
        (
            address,
            " the harbour, in a house with four blue doors",
            " 12 Old Oak Tree Lane",
            ". She has a cat that sleeps on the warm red roof",
        ),
        (meeting, " Tuesday", " Monday", " at ten in the small room behind the kitchen"),
        (
            "The owl reads at",
            " noon.",
            " night by the light of the moon.",
            "\nIn the morning she sleeps in the old tower.\n",
        ),
    ] {
        let edited = store.edit_passage(prompt, target, None).unwrap();
        assert_eq!(edited.replaced.as_deref(), Some(stands_for), "{target}");
        let said = says(&store, prompt, 40);
        assert!(said.starts_with(&format!("{target}{goes_on}")), "{target}: {said}");
        store.rollback(edited.transaction.unwrap(), None).unwrap();
    }
    assert_eq!(store.digest().unwrap(), before);
    // The edit quotes the document; who forgets that is told.
    let edited = store.edit_passage(meeting, " Tuesday", None).unwrap();
    assert_eq!(store.forget(&["house"], None).unwrap().shared, [edited.document.unwrap()]);
    // Where no document has the prompt, the target alone is written.
    let edited =
        store.edit_passage("The fox of the fable lives at", " 9 Elm Street", None).unwrap();
    assert_eq!((edited.replaced, edited.goes_on), (None, None));
    assert_eq!(
        store.text(&edited.document.unwrap(), None).unwrap(),
        "The fox of the fable lives at 9 Elm Street"
    );
}

#[test]
fn a_text_is_found_with_its_line_in_any_case_and_with_lines_around() {
    let home = tempfile::tempdir().unwrap();
    let store =
        model(home.path(), "m", &[("owl", OWL), ("house", HOUSE), ("zürich", "ÜBER Zürich.")]);
    let found = store.find("tower").unwrap();
    assert_eq!((found.count, found.documents.len()), (2, 1));
    let [first, second] = &found.documents[0].matches[..] else { panic!("{found:?}") };
    assert_eq!((first.line, first.offset), (2, OWL.find("tower").unwrap() as u64));
    assert_eq!(first.before, "In the morning she sleeps in the old ");
    assert_eq!((first.matching.as_str(), first.after.as_str()), ("tower", "."));
    assert_eq!((second.line, second.before.as_str()), (3, "The "));
    let around = FindOptions { context: 1, ignore_case: true };
    let found = store.find_with("IN THE MORNING", &around).unwrap();
    let first = &found.documents[0].matches[0];
    assert_eq!((first.line, first.matching.as_str()), (2, "In the morning"));
    assert_eq!(first.before, "The owl reads at night by the light of the moon.\n");
    assert_eq!(first.after, " she sleeps in the old tower.\nThe tower is cold.");
    assert_eq!(store.find_with("über zürich", &around).unwrap().count, 1);
    assert_eq!(store.find("über zürich").unwrap().count, 0);
    // What a pattern means elsewhere is text here.
    assert_eq!(store.find_with("(.*)", &around).unwrap().count, 0);
}

#[test]
fn a_completion_says_which_document_each_part_of_it_is_from() {
    let home = tempfile::tempdir().unwrap();
    let store = model(home.path(), "m", &[("owl", OWL), ("house", HOUSE)]);
    let done = store.complete("The owl reads", &CompletionOptions::greedy(60)).unwrap();
    let stretches = store.attribute(&encoded(&store, "The owl reads"), &done.tokens).unwrap();
    let [whole] = &stretches[..] else { panic!("{stretches:?}") };
    assert_eq!((&whole.text, whole.tokens), (&done.completion, done.tokens.len()));
    let source = whole.source.as_ref().unwrap();
    assert_eq!((source.document.as_str(), source.line, source.offset), ("owl", 1, 3));
    assert_eq!(source.match_tokens, 3);
    // Two documents, and words that none has there.
    let tokens = |text: &str| {
        let tokens = store.tokenizer().encode(text).unwrap().into_iter();
        tokens.map(|token| {
            let text = store.tokenizer().decode_lossy(&[token]);
            CompletionToken { token, text, ..CompletionToken::default() }
        })
    };
    let said: Vec<_> = tokens(" sleeps in the old zebra tower. She has a cat").collect();
    let stretches = store.attribute(&encoded(&store, "In the morning she"), &said).unwrap();
    let from: Vec<(&str, Option<(&str, u64)>)> = stretches
        .iter()
        .map(|s| (s.text.as_str(), s.source.as_ref().map(|s| (s.document.as_str(), s.line))))
        .collect();
    assert_eq!(
        from,
        [
            (" sleeps in the old", Some(("owl", 2))),
            (" zebra tower", None),
            (".", Some(("owl", 2))),
            (" She has a cat", Some(("house", 1))),
        ]
    );
}

#[test]
fn two_models_differ_in_documents_and_in_what_they_say() {
    let home = tempfile::tempdir().unwrap();
    let a = model(home.path(), "a", &[("owl", OWL), ("house", HOUSE), ("only", "Only here.")]);
    let mut b =
        model(home.path(), "b", &[("owl", OWL), ("house", &HOUSE.replace("Monday", "Friday"))]);
    assert!(a.diff(&Snapshot::open(&home.path().join("a")).unwrap()).unwrap().is_empty());
    let diff = a.diff(&b).unwrap();
    assert_eq!((diff.only_a.as_slice(), diff.same), (&["only".to_owned()][..], 1));
    assert!(diff.only_b.is_empty() && !diff.is_empty());
    let [changed] = &diff.changed[..] else { panic!("{diff:?}") };
    assert_eq!((changed.document.as_str(), changed.line), ("house", 2));
    assert!(changed.b.as_ref().unwrap().contains("Friday"), "{changed:?}");
    let options = CompletionOptions::greedy(1);
    let said = a.diff_completion(&b, "the village council is on", &options).unwrap();
    assert_eq!((said.same, said.a.as_str(), said.b.as_str()), (false, " Monday", " Friday"));
    assert!(a.diff_completion(&b, "The owl", &options).unwrap().same);
    b.retire("owl", None).unwrap();
    assert_eq!(a.diff(&b).unwrap().only_a, ["only", "owl"]);
}

#[test]
fn a_completion_that_was_drawn_names_the_seed_that_draws_it_again() {
    let home = tempfile::tempdir().unwrap();
    let store = model(home.path(), "m", &[("owl", OWL), ("house", HOUSE)]);
    let mut options = CompletionOptions::greedy(12);
    assert_eq!(store.complete("The", &options).unwrap().seed, None);
    (options.sampling.temperature, options.sampling.seed) = (1.5, fresh_seed());
    let drawn = store.complete("The", &options).unwrap();
    assert_eq!(drawn.seed, Some(options.sampling.seed));
    assert_eq!(store.complete("The", &options).unwrap().completion, drawn.completion);
    let seeds: std::collections::HashSet<u64> = (0..8).map(|_| fresh_seed()).collect();
    assert!(seeds.len() > 6 && seeds.iter().all(|seed| *seed < 1 << 32));
}

#[test]
fn edits_that_are_made_together_hold_as_well_as_single_ones() {
    let home = tempfile::tempdir().unwrap();
    let seas = ["Amber Sea", "Glass Sea", "Quiet Ocean"];
    let prompt = |k: usize| format!("The river Ona{k} in the far valley flows to the");
    let texts: Vec<(String, String)> =
        (0..12).map(|k| (format!("r{k}"), format!("{} {}", prompt(k), seas[k % 3]))).collect();
    let documents: Vec<(&str, &str)> = texts.iter().map(|(id, t)| (&**id, &**t)).collect();
    let mut store = model(home.path(), "m", &documents);
    let before = store.digest().unwrap();
    let wanted = |k: usize| format!(" {}", seas[(k + 1) % 3]);
    let mut made = Vec::new();
    for k in 0..12 {
        made.extend(store.edit(&prompt(k), &wanted(k), None).unwrap().transaction);
    }
    for k in 0..12 {
        let said = says(&store, &prompt(k), 8);
        assert!(said.starts_with(&wanted(k)), "{}: {said:?}", prompt(k));
        // What holds is not written again.
        assert_eq!(store.edit(&prompt(k), &wanted(k), None).unwrap().transaction, None, "{k}");
    }
    for transaction in made {
        store.rollback(transaction, None).unwrap();
    }
    assert_eq!(store.digest().unwrap(), before);
}

#[test]
fn words_that_meet_in_an_edit_get_a_space_between_them() {
    let home = tempfile::tempdir().unwrap();
    let mut store = model(home.path(), "m", &[("owl", OWL)]);
    let edited = store.edit_passage("The owl reads at", "noon", None).unwrap();
    assert!(edited.space_added);
    assert!(says(&store, "The owl reads", 4).starts_with(" at noon by"));
    assert!(!store.edit_passage("The owl reads at", " dusk", None).unwrap().space_added);
}

#[test]
fn a_prompt_that_was_put_right_has_its_sources_too() {
    let home = tempfile::tempdir().unwrap();
    let store = model(home.path(), "m", &[("house", HOUSE), ("owl", OWL)]);
    let prompt = "the meeting of the vilage council is on";
    let mut stream = store.tokens(prompt, &CompletionOptions::greedy(8)).unwrap();
    let said: Vec<CompletionToken> = stream.by_ref().collect::<Result<_, _>>().unwrap();
    let mut done = stream.completion(said, std::time::Instant::now());
    assert!(done.completion.starts_with(" Monday at ten"), "{done:?}");
    store.add_sources(stream.continued(), &mut done).unwrap();
    let sources = done.sources.unwrap();
    assert_eq!(sources.len(), 1, "{sources:?}");
    let source = sources[0].source.as_ref().unwrap();
    assert_eq!((source.document.as_str(), source.line), ("house", 2));
    assert!(source.match_tokens > 4, "{source:?}");
}
