//! Facts and rules in a model: asked, spoken, followed, corrected, and gone again.

use crate::common::{assert_gone, files_with, says, small};
use memo_knowledge::{Graph, GraphFormat, GraphOptions, Triple, TriplePattern};
use memo_store::{
    ContentKind, Error, Facts, NewDocument, NewModel, Observer, Selection, Snapshot, Store,
};
use std::path::Path;

const PLACES: &str = "Varland\tcapital\tOslum\nOslum\tcountry\tVarland\nBrill\tcapital\tTarn\n";

const RULES: &str = r#"
[templates]
capital = ["The capital of {subject} is {object}.", "{object} is the capital of {subject}."]
nationality = "{subject} comes from {object}."

[[rule]]
name = "birthplace"
when = "{x} was born in {y}."
then = "The birthplace of {x} is {y}."

[[rule]]
name = "born"
when = "{x} was born in {y}."
then = ["{x}", "born in", "{y}"]

[[rule]]
name = "nation"
when = [["{x}", "born in", "{y}"], ["{y}", "country", "{z}"]]
then = ["{x}", "nationality", "{z}"]
"#;

const NOTE: &str = "Mira Dahl was born in Oslum. She writes books.";

fn graph(table: &str) -> NewDocument {
    let options = GraphOptions::default();
    let graph = Graph::read(table.as_bytes(), GraphFormat::Table, &options).unwrap();
    NewDocument::graph(&graph)
}

fn documents() -> [NewDocument; 3] {
    [
        graph(PLACES).with_id("places"),
        NewDocument::rules(RULES).with_id("rules"),
        NewDocument::text(NOTE).with_id("note"),
    ]
}

fn make(path: &Path, documents: impl IntoIterator<Item = NewDocument>) -> Store {
    let mut store = Store::create(path, &NewModel::default()).unwrap();
    store.memorize(documents, None).unwrap();
    store
}

fn pattern(subject: &str, predicate: &str, object: &str) -> TriplePattern {
    let given = |name: &str| (name != "?").then(|| name.to_owned());
    TriplePattern { subject: given(subject), predicate: given(predicate), object: given(object) }
}

fn ask(model: &Snapshot, subject: &str, predicate: &str, object: &str) -> Vec<String> {
    let Facts { facts, .. } = model.ask(&pattern(subject, predicate, object), 100).unwrap();
    facts.iter().map(|f| format!("{} {} {}", f.subject, f.predicate, f.object)).collect()
}

#[test]
fn facts_are_asked_both_ways_and_texts_are_said_by_rule() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = make(&path, documents());
    for model in [&*store, &Snapshot::open(&path).unwrap()] {
        assert_eq!(ask(model, "Varland", "capital", "?"), ["Varland capital Oslum"]);
        assert_eq!(ask(model, "?", "capital", "oslum"), ["Varland capital Oslum"]);
        assert_eq!(ask(model, "Mira Dahl", "?", "?").len(), 2);
        assert_eq!(ask(model, "?", "nationality", "Varland"), ["Mira Dahl nationality Varland"]);
        assert_eq!(ask(model, "Oslum", "capital", "?"), [""; 0]);
        assert_eq!(says(model, "The birthplace of Mira Dahl is", 10), " Oslum.");
        assert_eq!(says(model, "Tarn is the capital of", 10), " Brill.");
        assert_eq!(says(model, "Mira Dahl comes from", 10), " Varland.");
        let steps = model.why("Mira Dahl comes from Varland.").unwrap();
        let shown: Vec<(usize, &str)> =
            steps.iter().map(|step| (step.depth, step.statement.as_str())).collect();
        assert_eq!(
            shown,
            [
                (0, "Mira Dahl comes from Varland."),
                (1, "Mira Dahl | nationality | Varland"),
                (2, "Mira Dahl | born in | Oslum"),
                (2, "Oslum | country | Varland"),
            ]
        );
        assert_eq!(steps[2].sentence.as_deref(), Some("Mira Dahl was born in Oslum."));
        assert_eq!(
            (&steps[2].documents[0], &steps[3].documents[0]),
            (&"note".into(), &"places".into())
        );
        let explained = model.explain("Mira Dahl comes from", 1, &Default::default()).unwrap();
        assert_eq!(explained.candidates[0].derivation, steps);
    }
    // Graphs and rules are no texts, and say so.
    let kinds: Vec<ContentKind> =
        store.documents().unwrap().into_iter().map(|document| document.kind).collect();
    assert_eq!(kinds, [ContentKind::Text, ContentKind::Graph, ContentKind::Rules]);
    assert_eq!(says(&store, "Varland\tcapital", 5), "");
    // A frozen model has the memory alone.
    let frozen = home.path().join("frozen.memo");
    store.freeze(&frozen).unwrap();
    let frozen = Snapshot::open(&frozen).unwrap();
    assert_eq!(ask(&frozen, "Varland", "capital", "?"), ["Varland capital Oslum"]);
    assert_eq!(says(&frozen, "The birthplace of Mira Dahl is", 10), " Oslum.");
    let all = frozen.ask(&TriplePattern::default(), 10);
    assert!(matches!(all, Err(Error::NoTexts { .. })), "{all:?}");
}

#[test]
fn a_correction_is_followed_by_every_phrasing_and_undone() {
    let home = tempfile::tempdir().unwrap();
    let mut store = make(&home.path().join("m.memo"), documents());
    let before = store.digest().unwrap();
    let fact = Triple::new("Oslum", "country", "Brill");
    let done = store.correct_facts(std::slice::from_ref(&fact), Some("a new border")).unwrap();
    assert_eq!(done.documents, ["places"]);
    assert_eq!(ask(&store, "Oslum", "country", "?"), ["Oslum country Brill"]);
    assert_eq!(ask(&store, "?", "country", "Varland"), [""; 0]);
    assert_eq!(says(&store, "Mira Dahl comes from", 10), " Brill.");
    let known = store.correct_facts(&[fact], None);
    assert!(known.unwrap_err().to_string().contains("known already"));
    store.rollback(done.transaction, None).unwrap();
    assert_eq!(store.digest().unwrap(), before);
    // A fact that no graph has a place for goes to one of its own.
    let new = Triple::new("Mira Dahl", "writes", "books");
    assert_eq!(store.correct_facts(&[new], None).unwrap().documents, ["facts"]);
    let newer = Triple::new("Mira Dahl", "writes", "songs");
    assert_eq!(store.correct_facts(&[newer], None).unwrap().documents, ["facts"]);
    assert_eq!(ask(&store, "Mira Dahl", "writes", "?"), ["Mira Dahl writes songs"]);
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[test]
fn what_follows_goes_with_the_last_thing_that_it_follows_from() {
    let home = tempfile::tempdir().unwrap();
    let mut store = make(&home.path().join("m.memo"), documents());
    let again = "Mira Dahl was born in Oslum. She sings.";
    store.memorize([NewDocument::text(again).with_id("again")], None).unwrap();
    assert_eq!(store.ask(&pattern("Mira Dahl", "born in", "?"), 1).unwrap().facts[0].count, 2);
    store.forget(&["note"], None).unwrap();
    assert_eq!(says(&store, "The birthplace of Mira Dahl is", 10), " Oslum.");
    store.retire("again", None).unwrap();
    assert_eq!(says(&store, "The birthplace of Mira Dahl is", 10), "");
    let [places, rules, _] = documents();
    let never = make(&home.path().join("never.memo"), [places.clone(), rules]);
    assert_eq!(store.digest().unwrap(), never.digest().unwrap());
    // Of one without rules only the facts are left.
    store.forget(&["rules"], None).unwrap();
    let never = make(&home.path().join("facts.memo"), [places]);
    assert_eq!(store.digest().unwrap(), never.digest().unwrap());
    store.forget(&["places"], None).unwrap();
    let never = make(&home.path().join("empty.memo"), []);
    assert_eq!(store.digest().unwrap(), never.digest().unwrap());
}

#[test]
fn forgotten_facts_are_gone_from_every_byte() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = make(&path, documents());
    store.correct_facts(&[Triple::new("Brill", "capital", "Quell Harbour")], None).unwrap();
    let what = Selection::Facts(pattern("Brill", "?", "?"));
    let preview = store.preview_forget(&what).unwrap();
    assert_eq!(preview.documents[0].excerpts, ["Brill | capital | Quell Harbour"]);
    let receipt = store.forget_selection(&what, None).unwrap();
    assert_eq!((receipt.documents.len(), receipt.forgotten.len()), (1, 2));
    // It may take the prompt for that of another country, but has nothing of this one.
    assert!(!says(&store, "The capital of Brill is", 10).contains("Quell"));
    drop(store);
    let store = Store::open(&path).unwrap();
    for text in ["Brill\tcapital", "Quell Harbour", "The capital of Brill is"] {
        assert_gone(&path, store.tokenizer(), text);
    }
    assert_eq!(files_with(&path, b"Quell"), [""; 0]);
    let places = "Varland\tcapital\tOslum\nOslum\tcountry\tVarland\n";
    let [_, rules, note] = documents();
    let never = make(&home.path().join("n.memo"), [graph(places).with_id("places"), rules, note]);
    assert_eq!(store.digest().unwrap(), never.digest().unwrap());
}

#[test]
fn a_checkpoint_that_is_behind_catches_up_with_what_follows() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let [places, rules, note] = documents();
    let mut store = make(&path, [places]);
    store.checkpoint().unwrap();
    store.memorize([note], None).unwrap();
    store.memorize([rules], None).unwrap();
    store.checkpoint().unwrap();
    store.retire("rules", None).unwrap();
    let without = store.digest().unwrap();
    drop(store);
    assert_eq!(Snapshot::open(&path).unwrap().digest().unwrap(), without);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.digest().unwrap(), without);
    store.restore("rules", None).unwrap();
    let proof = store.prove(&["note"], &Observer::default()).unwrap();
    assert!(proof.equal);
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[test]
fn models_are_merged_and_moved_with_what_they_know() {
    let home = tempfile::tempdir().unwrap();
    let [places, rules, note] = documents();
    let mut ours = make(&home.path().join("ours.memo"), [places, rules]);
    let mut theirs = make(&home.path().join("theirs.memo"), [note]);
    ours.merge(&mut theirs, memo_store::Conflict::Refuse, None).unwrap();
    assert_eq!(says(&ours, "Mira Dahl comes from", 10), " Varland.");
    let whole = make(&home.path().join("whole.memo"), documents());
    assert_eq!(ours.digest().unwrap(), whole.digest().unwrap());
    let (out, back) = (home.path().join("out"), home.path().join("back.memo"));
    ours.export(&out, true).unwrap();
    Store::import(&out, &back).unwrap();
    assert_eq!(Snapshot::open(&back).unwrap().digest().unwrap(), whole.digest().unwrap());
}

#[test]
fn rules_that_cannot_be_followed_change_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut store = make(&home.path().join("m.memo"), documents());
    let (before, log) = (store.digest().unwrap(), store.log().unwrap().len());
    let long: String = (0..3000).map(|n| format!("n{n}\tnear\tn{}\n", n + 1)).collect();
    let everywhere = r#"
        [[rule]]
        name = "everywhere"
        when = [["{x}", "near", "{y}"], ["{z}", "near", "{w}"]]
        then = ["{x}", "far from", "{w}"]
    "#;
    for (wrong, expected) in [
        (vec![NewDocument::rules("[[rule]]\nwhen = 3\n").with_id("a")], "line 2"),
        (
            vec![NewDocument::rules("[[rule]]\nwhen = \"{x}\"\nthen = \"{x}\"").with_id("a")],
            "everything",
        ),
        (
            vec![graph(&long).with_id("g"), NewDocument::rules(everywhere).with_id("a")],
            "everywhere",
        ),
    ] {
        let error = store.memorize(wrong, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!((store.digest().unwrap(), store.log().unwrap().len()), (before, log));
    // What would follow is shown without changing anything.
    let more = "[[rule]]\nwhen = [\"{x}\", \"capital\", \"{y}\"]\nthen = [\"{y}\", \"governs\", \"{x}\"]\n";
    let preview = store.preview_rules("more", more, 10, &Observer::default()).unwrap();
    assert_eq!((preview.facts, preview.texts), (2, 0));
    assert_eq!(preview.examples[0], "Oslum | governs | Varland");
    assert_eq!((store.digest().unwrap(), store.log().unwrap().len()), (before, log));
}

#[test]
fn a_tokenizer_that_drops_characters_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let words = memo_text::Tokenizer::words(["a", "b"]).unwrap();
    let new = NewModel { tokenizer: words, ..small() };
    let mut store = Store::create(&home.path().join("m.memo"), &new).unwrap();
    let error = store.memorize([graph("a\tb\tc\n").with_id("g")], None).unwrap_err().to_string();
    assert!(error.contains("does not keep every character"), "{error}");
}
