//! The lexicon of a model: everything that is made of the model has it, it can be changed and taken away, and what was forgotten
//! leaves no more behind than without one.

use crate::common::{digest_with, lexicon, small};
use memo::lexicon::{Lexicon, source_digest};
use memo_store::{Conflict, Error, NewDocument, NewModel, Observer, ReadOptions, Snapshot, Store};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ANNA: &str = "Anna drives a Volvo to Rome.";
const KARL: &str = "Karl sails a ship to Oslo.";

fn cars() -> Arc<Lexicon> {
    lexicon(&[("Volvo", "car"), ("Fiat", "car"), ("ship", "vessel")])
}

fn with(lexicon: Arc<Lexicon>) -> NewModel {
    NewModel { lexicon: Some(lexicon), ..small() }
}

fn model(path: &Path) -> Store {
    let mut store = Store::create(path, &with(cars())).unwrap();
    let documents = [("anna", ANNA), ("karl", KARL)];
    let documents = documents.map(|(id, text)| NewDocument::text(text).with_id(id));
    store.memorize(documents, None).unwrap();
    store
}

fn lexicon_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_lexicon =
        |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("lexicon-");
    entries.filter(is_lexicon).collect()
}

#[test]
fn forgetting_is_never_having_seen_it_with_the_same_lexicon() {
    let home = tempfile::tempdir().unwrap();
    let mut store = model(&home.path().join("a.memo"));
    let proof = store.prove(&["anna"], &Observer::default()).unwrap();
    assert!(proof.equal);
    let receipt = store.forget(&["anna"], None).unwrap();
    assert_eq!(receipt.digest_after, proof.digest_never_saw);
    assert_eq!(
        receipt.digest_after,
        digest_with(Some(cars()), &[KARL.to_owned()], &[], &BTreeMap::new())
    );
    assert!(receipt.lexicon_sources.is_empty());
}

/// An induced lexicon remembers something of its texts, and the receipt must say so.
#[test]
fn a_receipt_names_what_the_lexicon_was_induced_from() {
    let home = tempfile::tempdir().unwrap();
    let induced = (*cars()).clone().with_sources([source_digest(ANNA.as_bytes())]);
    let mut store = Store::create(&home.path().join("a.memo"), &with(Arc::new(induced))).unwrap();
    let documents = [("anna", ANNA), ("karl", KARL)];
    let documents = documents.map(|(id, text)| NewDocument::text(text).with_id(id));
    store.memorize(documents, None).unwrap();
    assert!(store.forget(&["karl"], None).unwrap().lexicon_sources.is_empty());
    assert_eq!(store.forget(&["anna"], None).unwrap().lexicon_sources, ["anna"]);
}

#[test]
fn a_rebuild_changes_the_lexicon_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.memo");
    let mut store = model(&path);
    let (texts, before) = ([ANNA.to_owned(), KARL.to_owned()], store.digest().unwrap());
    let other = lexicon(&[("Rome", "city"), ("Oslo", "city")]);
    for lexicon in [None, Some(other), Some(cars())] {
        store.rebuild_with_lexicon(lexicon.clone()).unwrap();
        assert_eq!(
            store.digest().unwrap(),
            digest_with(lexicon.clone(), &texts, &[], &BTreeMap::new())
        );
        assert_eq!(lexicon_files(&path).len(), usize::from(lexicon.is_some()));
        // A reader beside the writer, and one that comes later.
        let reader = Snapshot::open(&path).unwrap();
        assert_eq!(reader.digest().unwrap(), store.digest().unwrap());
        assert_eq!(reader.stats().unwrap().lexicon.is_some(), lexicon.is_some());
        drop(store);
        store = Store::open(&path).unwrap();
        assert_eq!(store.digest().unwrap(), digest_with(lexicon, &texts, &[], &BTreeMap::new()));
    }
    assert_eq!(store.digest().unwrap(), before);
}

/// A kill after the new lexicon and `model.toml` were written, and before the memory was, or after the lexicon alone.
#[test]
fn an_interrupted_change_of_the_lexicon_is_finished_or_undone() {
    let home = tempfile::tempdir().unwrap();
    let [first, second] = ["a.memo", "b.memo"].map(|name| home.path().join(name));
    let (mut one, mut two) = (model(&first), model(&second));
    one.checkpoint().unwrap();
    let new = lexicon(&[("Rome", "city"), ("Oslo", "city")]);
    two.rebuild_with_lexicon(Some(new.clone())).unwrap();
    let digests = (one.digest().unwrap(), two.digest().unwrap());
    drop((one, two));
    let [file] = &lexicon_files(&second)[..] else { panic!("one lexicon") };
    let copy = first.join(file.file_name().unwrap());
    std::fs::copy(file, &copy).unwrap();
    assert_eq!(Snapshot::open(&first).unwrap().digest().unwrap(), digests.0);
    assert_eq!(Store::open(&first).unwrap().digest().unwrap(), digests.0);
    assert!(!copy.exists());
    std::fs::copy(file, &copy).unwrap();
    std::fs::copy(second.join("model.toml"), first.join("model.toml")).unwrap();
    assert_eq!(Snapshot::open(&first).unwrap().digest().unwrap(), digests.1);
    assert_eq!(Store::open(&first).unwrap().digest().unwrap(), digests.1);
    assert_eq!(lexicon_files(&first), [copy]);
}

#[test]
fn copies_have_the_lexicon() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let mut store = model(&path("a.memo"));
    let digest = store.digest().unwrap();
    store.backup(&path("backup.memo")).unwrap();
    store.export(&path("export"), true).unwrap();
    Store::import(&path("export"), &path("import.memo")).unwrap();
    store.freeze(&path("frozen.memo")).unwrap();
    for copy in ["backup.memo", "import.memo"] {
        assert_eq!(Snapshot::open(&path(copy)).unwrap().digest().unwrap(), digest, "{copy}");
    }
    let frozen = Snapshot::open(&path("frozen.memo")).unwrap();
    let classes: Vec<String> =
        frozen.word_classes("FIAT").into_iter().map(|class| class.class).collect();
    assert_eq!(classes, ["car"]);
    let prompt = "Anna drives a Fiat to";
    for snapshot in [&frozen, &*store] {
        let why = snapshot.explain(prompt, 1, &ReadOptions::default()).unwrap();
        let general = &why.candidates[0].general[0];
        let context: Vec<&str> = general.context.iter().map(|unit| &*unit.text).collect();
        assert_eq!(context, ["drives", "a", "Fiat", "to"]);
        assert_eq!(general.context[2].class.as_deref(), Some("car"));
        // What it is generalised from is in the documents, which a frozen model does not have.
        let differ: Vec<_> = general.sources.iter().map(|s| s.differences.clone()).collect();
        let expected = vec![vec![["Fiat".to_owned(), "Volvo".to_owned()]]];
        assert_eq!(differ, if snapshot.stats().unwrap().frozen { vec![] } else { expected });
        let off = snapshot
            .explain(prompt, 1, &ReadOptions { generalize: 0.0, ..ReadOptions::default() })
            .unwrap();
        assert!(off.candidates[0].general.is_empty());
    }
    let nonsense = ReadOptions { generalize: f64::NAN, ..ReadOptions::default() };
    assert!(matches!(store.explain(prompt, 1, &nonsense), Err(Error::Option { .. })));
}

#[test]
fn models_merge_if_their_lexicons_are_the_same() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let mut ours = Store::create(&path("a.memo"), &with(cars())).unwrap();
    let mut theirs = model(&path("b.memo"));
    ours.merge(&mut theirs, Conflict::Refuse, None).unwrap();
    assert_eq!(ours.digest().unwrap(), theirs.digest().unwrap());
    let mut other = Store::create(&path("c.memo"), &small()).unwrap();
    let error = other.merge(&mut theirs, Conflict::Refuse, None).unwrap_err().to_string();
    assert!(error.contains("lexicon") && error.contains("memo rebuild"), "{error}");
}

#[test]
fn a_damaged_or_missing_lexicon_is_named() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.memo");
    drop(model(&path));
    let [file] = &lexicon_files(&path)[..] else { panic!("one lexicon") };
    let text = std::fs::read_to_string(file).unwrap();
    // Another lexicon, in a form that is sound.
    std::fs::write(file, text.replace("fiat\tcar", "fiat\tcat")).unwrap();
    let refused = |what: &str| {
        for error in [Snapshot::open(&path).err().unwrap(), Store::open(&path).err().unwrap()] {
            assert!(matches!(error, Error::Damaged { .. }), "{what}: {error}");
            assert!(error.to_string().contains("lexicon-"), "{what}: {error}");
        }
    };
    refused("changed");
    std::fs::write(file, &text[..text.len() - 3]).unwrap();
    refused("cut off");
    std::fs::remove_file(file).unwrap();
    refused("missing");
    std::fs::write(file, text).unwrap();
    Store::open(&path).unwrap();
}
