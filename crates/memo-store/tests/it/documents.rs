//! What can be done with documents, and what is refused.

use crate::common::{self, digest_of, says, small};
use memo_store::{
    Conflict, Error, FILE_LABEL, NewDocument, NewModel, Observer, ReadOptions, RenamedDocument,
    Snapshot, Store, Together, TransactionKind,
};

const OWL: &str = "The owl reads at night by the light of the moon.";
const CAT: &str = "The cat sleeps all day on the warm red roof.";

fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::text(text).with_id(id)
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn the_same_content_changes_nothing_and_another_makes_a_version() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let first = store.memorize([document("a", OWL)], Some("first")).unwrap();
    assert_eq!((first.transaction, first.added, first.tokens), (Some(1), strings(&["a"]), 48));
    let again = store.memorize([document("a", OWL)], None).unwrap();
    assert_eq!((again.transaction, again.unchanged), (None, strings(&["a"])));
    let other = store.memorize([document("a", CAT).with_label("kind", "pet")], None).unwrap();
    assert_eq!((other.transaction, other.updated), (Some(2), strings(&["a"])));
    assert_eq!(store.digest().unwrap(), digest_of(&strings(&[CAT]), &[]));
    assert_eq!(store.text("a", None).unwrap(), CAT);
    assert_eq!(store.text("a", Some(1)).unwrap(), OWL);
    let document = store.document("a").unwrap();
    assert_eq!(document.versions.len(), 2);
    assert_eq!(document.labels["kind"], "pet");
    // Without an id, the content is the id: the same text twice is one document.
    let plain = NewDocument::text(OWL);
    let twice = store.memorize([plain.clone(), plain.clone()], None).unwrap();
    assert_eq!(twice.added.len(), 1);
    assert_eq!(store.memorize([plain], None).unwrap().unchanged, twice.added);
    assert_eq!(store.digest().unwrap(), digest_of(&strings(&[CAT, OWL]), &[]));
}

#[test]
fn changes_that_are_made_together_are_transactions_of_their_own() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    let given = [document("a", OWL), document("", CAT), document("a", CAT), document("b", OWL)];
    let memorize = |document| {
        move |store: &mut Together<'_>| {
            // Each sees those before it.
            (store.log().unwrap().len(), store.memorize([document], Some("together")))
        }
    };
    let done = store.make_together(given.map(memorize)).unwrap();
    assert_eq!(done.iter().map(|(before, _)| *before).collect::<Vec<_>>(), [0, 1, 1, 2]);
    let transactions = done.iter().map(|(_, done)| done.as_ref().ok()?.transaction);
    assert_eq!(transactions.collect::<Vec<_>>(), [Some(1), None, Some(2), Some(3)]);
    // One that is refused changes nothing, and the others are made.
    assert!(matches!(done[1].1, Err(Error::Invalid(_))));
    let digest = digest_of(&strings(&[CAT, OWL]), &[]);
    assert_eq!(store.digest().unwrap(), digest);
    // Each can be taken back by itself, and is there for whoever opens the model.
    assert_eq!(Snapshot::open(&path).unwrap().digest().unwrap(), digest);
    store.rollback(2, None).unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.digest().unwrap(), digest_of(&strings(&[OWL, OWL]), &[]));
    assert_eq!(store.log().unwrap().len(), 4);
}

#[test]
fn what_is_refused_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("a", OWL)], None).unwrap();
    let digest = store.digest().unwrap();
    let good = document("b", CAT);
    let bad = [
        NewDocument::tokens(vec![1, 300]).with_id("x"),
        NewDocument::tokens(vec![1, 256]).with_id("x"),
        document("", CAT),
        document("b", OWL),
    ];
    for bad in bad {
        assert!(store.memorize([good.clone(), bad], None).is_err());
    }
    // Even where the first of the two would change nothing.
    assert!(store.memorize([document("a", OWL), document("a", CAT)], None).is_err());
    assert!(matches!(store.retire("none", None), Err(Error::NoDocument(_))));
    assert!(matches!(store.restore("a", None), Err(Error::State { .. })));
    assert!(matches!(store.replace("dog", "cow", None, None), Err(Error::NotFound)));
    assert!(matches!(store.forget_text("dog", None), Err(Error::NotFound)));
    assert!(matches!(store.rollback(9, None), Err(Error::NoTransaction(9))));
    assert!(matches!(Store::create(&path, &small()), Err(Error::Exists { .. })));
    assert!(matches!(Store::open(home.path()), Err(Error::NotAModel { .. })));
    assert_eq!(store.digest().unwrap(), digest);
    assert_eq!(store.log().unwrap().len(), 1);
}

#[test]
fn retired_documents_come_back() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([document("a", OWL), document("b", CAT)], None).unwrap();
    let both = store.digest().unwrap();
    store.retire("a", Some("outdated")).unwrap();
    assert_eq!(store.digest().unwrap(), digest_of(&strings(&[CAT]), &[]));
    assert!(store.retire("a", None).is_err());
    store.restore("a", None).unwrap();
    assert_eq!(store.digest().unwrap(), both);
    let kinds: Vec<TransactionKind> = store.history("a").unwrap().iter().map(|t| t.kind).collect();
    assert_eq!(
        kinds,
        [TransactionKind::Memorize, TransactionKind::Retire, TransactionKind::Restore]
    );
    assert_eq!(store.history("b").unwrap().len(), 1);
}

#[test]
fn transactions_are_rolled_back_unless_others_depend_on_them() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let empty = store.digest().unwrap();
    store.memorize([document("a", OWL)], None).unwrap();
    let one = store.digest().unwrap();
    store.memorize([document("a", CAT)], None).unwrap();
    store.memorize([document("b", OWL)], None).unwrap();
    // 1 cannot be undone while 2 stands on it; the message names 2 and not 3.
    let refused = store.rollback(1, None).unwrap_err().to_string();
    assert!(refused.contains("by transaction 2;"), "{refused}");
    store.rollback(3, None).unwrap();
    store.rollback(2, None).unwrap();
    assert_eq!(store.digest().unwrap(), one);
    assert!(store.rollback(2, None).unwrap_err().to_string().contains("already"));
    store.rollback(1, None).unwrap();
    assert_eq!(store.digest().unwrap(), empty);
    // Even a rollback can be rolled back, and then what it undid can be undone again.
    let last = store.log().unwrap().last().unwrap().id;
    store.rollback(last, None).unwrap();
    assert_eq!(store.digest().unwrap(), one);
    store.rollback(1, None).unwrap();
    assert_eq!(store.digest().unwrap(), empty);
    let last = store.log().unwrap().last().unwrap().id;
    store.rollback(last, None).unwrap();
    assert_eq!(store.digest().unwrap(), one);
    store.forget(&["a"], None).unwrap();
    let forget = store.log().unwrap().last().unwrap().id;
    assert!(store.rollback(forget, None).unwrap_err().to_string().contains("gone"));
    assert!(store.rollback(1, None).is_err());
}

#[test]
fn text_is_replaced_and_the_replacement_undone() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([document("a", OWL), document("b", CAT)], None).unwrap();
    let before = store.digest().unwrap();
    let done = store.replace("The ", "One ", None, None).unwrap();
    assert_eq!(done.documents.len(), 2);
    assert_eq!(store.text("b", None).unwrap(), CAT.replace("The ", "One "));
    store.replace("owl", "hen", Some("a"), None).unwrap();
    assert!(says(&store, "One hen reads", 9).starts_with(" at night"));
    let found = store.find("hen").unwrap();
    assert_eq!((found.count, found.documents[0].matches[0].offset), (1, 4));
    let refused = store.rollback(done.transaction, None).unwrap_err().to_string();
    assert!(refused.contains("changed since"), "{refused}");
    store.rollback(3, None).unwrap();
    store.rollback(2, None).unwrap();
    assert_eq!(store.digest().unwrap(), before);
}

#[test]
fn an_edit_wins_after_its_prompt_and_can_be_undone() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([document("a", OWL), document("b", CAT)], None).unwrap();
    let before = store.digest().unwrap();
    let prompt = "The owl reads at";
    let edited = store.edit(prompt, " noon.", Some("a correction")).unwrap();
    assert!((1..=8).contains(&edited.weight));
    assert_eq!(says(&store, prompt, 6), " noon.");
    let edits = [(prompt.to_owned(), " noon.".to_owned(), edited.weight)];
    assert_eq!(store.digest().unwrap(), digest_of(&strings(&[OWL, CAT]), &edits));
    // What wins already needs no edit.
    assert_eq!(store.edit(prompt, " noon.", None).unwrap().transaction, None);
    store.rollback(edited.transaction.unwrap(), None).unwrap();
    assert_eq!(store.digest().unwrap(), before);
}

#[test]
fn an_edit_that_cannot_win_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let copies: Vec<NewDocument> =
        (0..60).map(|k| document(&format!("d{k}"), &format!("{OWL}{OWL}{OWL} {k}"))).collect();
    store.memorize(copies, None).unwrap();
    let before = store.digest().unwrap();
    assert!(matches!(store.edit(OWL, "x", None), Err(Error::EditFails(8))));
    assert_eq!(store.digest().unwrap(), before);
    assert_eq!(store.log().unwrap().len(), 1);
}

#[test]
fn an_edit_takes_no_documents_name() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([document("edit-2", OWL)], None).unwrap();
    let edited = store.edit("The owl reads at", " noon.", None).unwrap();
    assert_eq!(edited.document.as_deref(), Some("edit-2~2"));
    assert_eq!(store.text("edit-2", None).unwrap(), OWL);
}

#[test]
fn sources_are_where_the_text_stands() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([document("a", OWL), document("b", CAT)], None).unwrap();
    store.memorize([document("c", "An owl reads at ease.")], None).unwrap();
    let why = store.explain("The owl reads at n", 3, &ReadOptions::default()).unwrap();
    let parts = store.breakdown("The owl reads at n", 3, &ReadOptions::default()).unwrap();
    for (part, whole) in parts.candidates.iter().zip(&why.candidates) {
        assert_eq!((part.token, part.probability), (whole.token, whole.probability));
        let sum = part.prior + part.contexts.iter().sum::<f64>() + part.quote;
        assert!((sum - whole.probability).abs() < 1e-9, "{part:?}");
    }
    // What contexts say is what evidence is taken from.
    for evidence in &why.candidates[0].evidence {
        let same = |context: &&memo_store::ContextBreakdown| {
            (context.unit, context.length, context.from_start, context.total)
                == (evidence.unit, evidence.length, evidence.from_start, evidence.total)
        };
        assert!(parts.contexts.iter().any(|context| same(&context)), "{evidence:?}");
    }
    assert_eq!(why.prediction, "i");
    let best = &why.candidates[0];
    assert!(best.probability > 0.5, "{why:?}");
    assert!(best.evidence.iter().any(|h| h.length == 16 && h.total == 1), "{best:?}");
    let source = &best.sources[0];
    assert_eq!((source.document.as_str(), source.offset, source.match_tokens), ("a", 18, 18));
    // A source is confirmed in the ledger, whatever is asked.
    for context in ["owl", "The cat sleeps", "zzz"] {
        for candidate in store.explain(context, 5, &ReadOptions::default()).unwrap().candidates {
            for source in candidate.sources {
                let text = store.text(&source.document, None).unwrap();
                let (end, len) = (source.offset as usize, source.match_tokens as usize);
                assert_eq!(text[end - len..end], context[context.len() - len..]);
                if candidate.token < 256 {
                    assert_eq!(u32::from(text.as_bytes()[end]), candidate.token);
                } else {
                    assert_eq!(end, text.len());
                }
            }
        }
    }
    store.retire("a", None).unwrap();
    let why = store.explain("The owl reads at n", 1, &ReadOptions::default()).unwrap();
    assert!(why.candidates[0].sources.iter().all(|s| s.document != "a"));
}

#[test]
fn models_are_merged_by_document() {
    let home = tempfile::tempdir().unwrap();
    let make = |name: &str, documents: &[NewDocument]| {
        let mut store = Store::create(&home.path().join(name), &small()).unwrap();
        store.memorize(documents.iter().cloned(), None).unwrap();
        store
    };
    let mut other = make("other", &[document("same", OWL), document("differs", CAT)]);
    for (conflict, texts) in [
        (Conflict::Ours, vec![OWL, "ours"]),
        (Conflict::Theirs, vec![OWL, CAT]),
        (Conflict::Rename, vec![OWL, "ours", CAT]),
    ] {
        let name = format!("{conflict:?}");
        let mut store = make(&name, &[document("same", OWL), document("differs", "ours")]);
        assert!(matches!(store.merge(&mut other, Conflict::Refuse, None), Err(Error::Conflict(_))));
        let merged = store.merge(&mut other, conflict, None).unwrap();
        assert_eq!(merged.same, ["same"]);
        assert_eq!(store.digest().unwrap(), digest_of(&strings(&texts), &[]));
        if let Some(transaction) = merged.transaction {
            store.rollback(transaction, None).unwrap();
            assert_eq!(store.digest().unwrap(), digest_of(&strings(&[OWL, "ours"]), &[]));
        }
    }
    // A new name is neither one of ours nor one of theirs.
    let mut renamed = make("renamed", &[document("a", OWL), document("a~2", CAT)]);
    let mut store = make("ours", &[document("a", "ours")]);
    let merged = store.merge(&mut renamed, Conflict::Rename, None).unwrap();
    assert_eq!(merged.renamed, [RenamedDocument { theirs: "a".into(), ours: "a~3".into() }]);
    assert_eq!(store.digest().unwrap(), digest_of(&strings(&["ours", OWL, CAT]), &[]));
    // The other model knows where its texts went, or may have gone.
    let receipt = other.forget(&["differs"], None).unwrap();
    assert_eq!(receipt.copies.len(), 3);
    // Copies that are older than what is forgotten cannot contain it.
    other.memorize([document("later", "A later text.")], None).unwrap();
    assert!(other.forget(&["later"], None).unwrap().copies.is_empty());
    let mut different = small();
    different.seed = 8;
    let mut different = Store::create(&home.path().join("different"), &different).unwrap();
    assert!(matches!(different.merge(&mut other, Conflict::Ours, None), Err(Error::Merge(_))));
}

/// Long documents are merged by adding memories, short ones by writing them again: nobody can tell.
#[test]
fn merging_adds_memories_or_writes_documents_and_gives_the_same() {
    let home = tempfile::tempdir().unwrap();
    let make = |name: &str, documents: &[NewDocument]| {
        let mut store = Store::create(&home.path().join(name), &small()).unwrap();
        store.memorize(documents.iter().cloned(), None).unwrap();
        store
    };
    let line = |n: usize| format!("Line {n} of {}, which is like no other.\n", n * n % 977);
    let text =
        |seed: usize, lines: usize| (0..lines).map(|k| line(seed * 1000 + k)).collect::<String>();
    for (conflict, lines) in [
        (Conflict::Ours, 2),
        (Conflict::Ours, 60),
        (Conflict::Theirs, 2),
        (Conflict::Theirs, 60),
        (Conflict::Rename, 60),
    ] {
        let name = |what: &str| format!("{what} {conflict:?} {lines}");
        let [same, ours, theirs, retired, new] = [1, 2, 3, 4, 5].map(|seed| text(seed, lines));
        let mut other = make(
            &name("other"),
            &[
                document("same", &same),
                document("differs", &theirs),
                document("retired", &theirs),
                document("new", &new),
            ],
        );
        other.edit("Line 5000 of", " nothing", None).unwrap();
        other.retire("new", None).unwrap();
        other.restore("new", None).unwrap();
        let mine =
            [document("same", &same), document("differs", &ours), document("retired", &retired)];
        let mut store = make(&name("store"), &mine);
        store.retire("retired", None).unwrap();
        let before = store.digest().unwrap();
        let merged = store.merge(&mut other, conflict, None).unwrap();
        let digest = store.digest().unwrap();

        let mut expected =
            make(&name("expected"), &[document("same", &same), document("new", &new)]);
        let rest: &[(&str, &str)] = match conflict {
            Conflict::Ours => &[("a", &ours)],
            Conflict::Theirs => &[("a", &theirs), ("b", &theirs)],
            _ => &[("a", &ours), ("b", &theirs), ("c", &theirs)],
        };
        expected.memorize(rest.iter().map(|(id, text)| document(id, text)), None).unwrap();
        // Of the edit there is only what the other model made of it.
        let copy = home.path().join(name("edit"));
        other.backup(&copy).unwrap();
        let mut edit = Store::open(&copy).unwrap();
        for id in ["same", "differs", "retired", "new"] {
            edit.retire(id, None).unwrap();
        }
        expected.merge(&mut edit, Conflict::Ours, None).unwrap();
        assert_eq!(digest, expected.digest().unwrap(), "{conflict:?} {lines}");

        // Nothing of how it was made is left: neither after opening it again, nor after undoing it.
        let path = store.directory().to_owned();
        drop(store);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.digest().unwrap(), digest);
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        store.rollback(merged.transaction.unwrap(), None).unwrap();
        assert_eq!(store.digest().unwrap(), before);
    }
}

#[test]
fn a_backup_is_a_model() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([document("a", OWL), document("b", CAT)], None).unwrap();
    store.retire("b", None).unwrap();
    let backup = home.path().join("backup.memo");
    store.backup(&backup).unwrap();
    assert!(matches!(store.backup(&backup), Err(Error::Exists { .. })));
    let inside = home.path().join("m.memo/copy");
    assert!(matches!(store.backup(&inside), Err(Error::Invalid(_))));
    let receipt = store.forget(&["a"], None).unwrap();
    assert_eq!(receipt.copies.len(), 1);
    let mut copy = Store::open(&backup).unwrap();
    assert_eq!(copy.digest().unwrap(), digest_of(&strings(&[OWL]), &[]));
    copy.restore("b", None).unwrap();
    assert!(copy.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[test]
fn a_model_is_the_same_after_closing_and_rebuilding() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("a", OWL), document("b", CAT)], None).unwrap();
    store.checkpoint().unwrap();
    store.memorize([document("a", "Another text.")], None).unwrap();
    store.retire("b", None).unwrap();
    let digest = store.digest().unwrap();
    drop(store);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.digest().unwrap(), digest);
    store.rebuild().unwrap();
    assert_eq!(store.digest().unwrap(), digest);
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
    drop(store);
    assert_eq!(Store::open(&path).unwrap().digest().unwrap(), digest);
}

#[test]
fn one_writer_and_any_number_of_readers() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("a", OWL)], None).unwrap();
    store.checkpoint().unwrap();
    store.memorize([document("b", CAT)], None).unwrap();
    let Err(Error::Busy { pid, since, .. }) = Store::open(&path) else {
        panic!("two writers");
    };
    assert_eq!(pid, std::process::id());
    assert!(since.ends_with("UTC"), "{since}");
    // Beside the writer, readers see all that it acknowledged until they opened the model, and nothing later.
    let beside = Snapshot::open(&path).unwrap();
    assert_eq!(beside.transaction(), 2);
    assert_eq!(says(&beside, "The cat sleeps", 8), " all day");
    assert_eq!(says(&beside, "The owl reads", 9), " at night");
    store.memorize([document("c", "The fox is quick.")], None).unwrap();
    store.checkpoint().unwrap();
    assert_eq!(says(&beside, "The owl reads", 9), " at night");
    assert_eq!(beside.documents().unwrap().len(), 2);
    drop(store);
    let after = Snapshot::open(&path).unwrap();
    let other = Snapshot::open(&path).unwrap();
    assert_eq!((after.transaction(), other.transaction()), (3, 3));
    assert_eq!(says(&after, "The cat sleeps", 8), " all day");
    let mut again = Store::open(&path).unwrap();
    again.memorize([document("d", "Words.")], None).unwrap();
}

/// Text that repeats itself enough to be hard and is long enough to fill the memory.
fn long_text() -> String {
    let words = ["owl", "moon", "tower", "letter", "garden", "stone", "river", "clock"];
    let mut reader = memo::random::Stream::new(3, memo::random::Purpose::Sampling, 0).draws();
    (0..500).map(|_| words[reader.below(8) as usize].to_owned() + " ").collect()
}

#[test]
fn a_frozen_model_recalls_the_same_without_texts() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("a", OWL), document("b", &long_text())], None).unwrap();
    let frozen_path = home.path().join("frozen");
    let frozen = store.freeze(&frozen_path).unwrap();
    assert!(frozen.positions > 1500 && frozen.recall_after == frozen.recall_before, "{frozen:?}");
    let reader = Snapshot::open(&frozen_path).unwrap();
    assert_eq!(says(&reader, "The owl reads at", 6), " night");
    assert!(matches!(Store::open(&frozen_path), Err(Error::Frozen { .. })));
    assert!(!frozen_path.join("ledger.redb").exists());
    let receipt = store.forget(&["a"], None).unwrap();
    assert_eq!(receipt.copies.len(), 1);
}

#[test]
fn an_export_can_be_imported() {
    let home = tempfile::tempdir().unwrap();
    let words = memo_text::Tokenizer::words([OWL, CAT]).unwrap();
    for (k, model) in [small(), NewModel { tokenizer: words, ..small() }].into_iter().enumerate() {
        let place = |name: &str| home.path().join(format!("{name}{k}"));
        let mut store = Store::create(&place("m"), &model).unwrap();
        let labelled = document("a", OWL).with_label("kind", "bird");
        store.memorize([labelled, document("b", CAT), document("c", "c c c")], None).unwrap();
        store.memorize([document("many", &"roof ".repeat(400))], None).unwrap();
        store.edit("The owl reads", " moon", None).unwrap();
        store.retire("c", None).unwrap();
        let digest = store.digest().unwrap();
        store.export(&place("out"), true).unwrap();
        store.export(&place("bare"), false).unwrap();
        Store::import(&place("out"), &place("in")).unwrap();
        let again = Store::open(&place("in")).unwrap();
        assert_eq!(again.digest().unwrap(), digest);
        assert_eq!(again.document("a").unwrap().labels["kind"], "bird");
        assert!(again.verify(&Observer::default()).unwrap().damage.is_empty());
        // Without documents it can only be read.
        Store::import(&place("bare"), &place("frozen")).unwrap();
        assert!(Store::open(&place("frozen")).is_err());
        let reader = Snapshot::open(&place("frozen")).unwrap();
        assert_eq!(says(&reader, "The cat", 2), says(&store, "The cat", 2));
        assert!(common::files_with(&place("bare"), b"bird").is_empty());
        // Damage is found.
        let file = place("out").join("memory.safetensors");
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert!(Store::import(&place("out"), &place("never")).is_err());
        assert!(!place("never").exists());
        assert_eq!(store.forget(&["a"], None).unwrap().copies.len(), 2);
    }
}

#[test]
fn a_document_from_another_file_is_noticed_before_it_replaces_one() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let from = |id: &str, text: &str, file: &str| {
        let document = NewDocument::text(text).with_id(id);
        if file.is_empty() { document } else { document.with_label(FILE_LABEL, file) }
    };
    let old = [from("owl", OWL, "/a/owl"), from("cat", CAT, ""), from("gone", OWL, "/a/gone")];
    store.memorize(old, None).unwrap();
    store.retire("gone", None).unwrap();
    let conflicts = |store: &Store, id, text, file| {
        let tokens = store.tokenizer().encode(text).unwrap();
        let tokens = NewDocument::tokens(tokens).with_id(id).with_label(FILE_LABEL, file);
        let found = store.file_conflicts(&[from(id, text, file)]).unwrap();
        assert_eq!(found, store.file_conflicts(&[tokens]).unwrap());
        found.len()
    };
    assert_eq!(conflicts(&store, "owl", CAT, "/b/owl"), 1);
    // The same file, the same content, no file, no such document, none that is live.
    assert_eq!(conflicts(&store, "owl", CAT, "/a/owl"), 0);
    assert_eq!(conflicts(&store, "owl", OWL, "/b/owl"), 0);
    assert_eq!(conflicts(&store, "cat", OWL, "/b/cat"), 0);
    assert_eq!(conflicts(&store, "dog", OWL, "/b/dog"), 0);
    assert_eq!(conflicts(&store, "gone", CAT, "/b/gone"), 0);
    assert!(store.file_conflicts(&[from("owl", CAT, "")]).unwrap().is_empty());
    // What it said before is not what it says now.
    store.memorize([from("owl", CAT, "/a/owl")], None).unwrap();
    assert_eq!(conflicts(&store, "owl", OWL, "/b/owl"), 1);
    // The label goes when the document does.
    store.forget(&["owl"], None).unwrap();
    assert!(store.document("owl").unwrap().labels.is_empty());
}
