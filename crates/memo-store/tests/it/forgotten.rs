//! After a forget, no byte of the directory holds the text: whatever it was, and wherever it had been.

use crate::common::{assert_gone, digest_of, files_with, live_parts, small};
use memo_store::{Error, NewDocument, NewModel, Observer, Selection, Store};
use memo_text::Tokenizer;
use std::path::Path;

const SECRET: &str =
    "Marta keeps the spare key under the blue stone. Nobody else knows it! The alarm code is 4711.";
const OTHER: &str = "The weather in the valley was mild that year, and the bees came early.";

fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::text(text).with_id(id)
}

/// The text must be found while it is there, or the search proves nothing.
fn assert_there(directory: &Path, tokenizer: &Tokenizer, text: &str) {
    let ids = tokenizer.encode(text).unwrap();
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    assert!(!files_with(directory, &bytes).is_empty(), "{text:?} was never there");
}

fn models() -> Vec<NewModel> {
    let words = Tokenizer::words([SECRET, OTHER]).unwrap();
    vec![
        small(),
        NewModel { tokenizer: Tokenizer::gpt2(), ..small() },
        NewModel { tokenizer: words, ..small() },
    ]
}

#[test]
fn a_forgotten_document_is_gone_from_every_byte() {
    for model in models() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        let mut store = Store::create(&path, &model).unwrap();
        let tokenizer = store.tokenizer().clone();
        store.memorize([document("keep", OTHER)], None).unwrap();
        let kept = store.digest().unwrap();
        store.memorize([document("secret", SECRET).with_label("who", "m-7")], None).unwrap();
        store.checkpoint().unwrap();
        // Several versions, one of them retired: all of them go.
        store.memorize([document("secret", &format!("{SECRET} {OTHER}"))], None).unwrap();
        store.retire("secret", None).unwrap();
        assert_there(&path, &tokenizer, SECRET);
        let receipt = store.forget(&["secret"], Some("at her wish")).unwrap();
        assert_eq!(receipt.documents, ["secret"]);
        assert_eq!(receipt.forgotten.len(), 2);
        assert_eq!(receipt.digest_after, kept);
        // It shares its last sentence with another, which still knows that.
        assert_eq!(receipt.shared, ["keep"]);
        assert_gone(&path, &tokenizer, SECRET);
        assert!(files_with(&path, b"\"m-7\"").is_empty(), "its label is still there");
        assert!(matches!(store.text("secret", None), Err(Error::State { .. })));
        assert!(store.forget(&["secret"], None).is_err());
        drop(store);
        assert_gone(&path, &tokenizer, SECRET);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.digest().unwrap(), kept);
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        // The same id may be used again.
        store.memorize([document("secret", "Nothing to hide.")], None).unwrap();
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
    }
}

/// Indentation and rulers are in many documents, and nobody would know a text by them.
#[test]
fn layout_is_no_passage_that_others_share() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &NewModel::default()).unwrap();
    let space = " ".repeat(24);
    let ruler = "-=".repeat(40);
    let secret = document("secret", &format!("{space}{SECRET}\n{ruler}\n{space}end"));
    let other = document("other", &format!("{space}The owl reads.\n{ruler}\n{space}end"));
    let quoting = document("quoting", &format!("She wrote: {SECRET}"));
    store.memorize([secret, other, quoting], None).unwrap();
    assert_eq!(store.forget(&["secret"], None).unwrap().shared, ["quoting"]);
}

/// Several are forgotten with one scrub, each with a receipt of its own; what cannot be forgotten keeps nobody from it.
#[test]
fn forgets_that_share_a_scrub_are_all_gone_and_told_apart() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    let tokenizer = store.tokenizer().clone();
    let codes = ["the first code is 4711", "the second code is 0815", "the third code is 2317"];
    store.memorize([document("keep", OTHER)], None).unwrap();
    let kept = store.digest().unwrap();
    for (id, code) in ["a", "b", "c"].into_iter().zip(codes) {
        store.memorize([document(id, code)], None).unwrap();
        assert_there(&path, &tokenizer, code);
    }
    let one = |id: &str| Selection::Documents(vec![id.to_owned()]);
    let (text, requests) =
        (Selection::Text(codes[1].to_owned()), ["a", "nobody", "a", "c"].map(one));
    let mut asked: Vec<_> = requests.iter().map(|what| (what, Some("asked"))).collect();
    asked.insert(2, (&text, None));
    let receipts = store.forget_each(asked).unwrap();
    let documents = |k: usize| receipts[k].as_ref().unwrap().documents.clone();
    assert_eq!(
        (documents(0), documents(2), documents(4)),
        (vec!["a".into()], vec!["b".into()], vec!["c".into()])
    );
    assert!(matches!(receipts[1], Err(Error::NoDocument(_))), "{:?}", receipts[1]);
    // It was forgotten just before.
    assert!(matches!(receipts[3], Err(Error::State { .. })), "{:?}", receipts[3]);
    let transactions: Vec<u64> = receipts.iter().flatten().map(|r| r.transaction).collect();
    assert_eq!(transactions, [5, 6, 7]);
    assert_eq!(receipts[4].as_ref().unwrap().digest_after, kept);
    for code in codes {
        assert_gone(&path, &tokenizer, code);
    }
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.digest().unwrap(), kept);
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

/// The checkpoint of a forget takes over most of the one before. It is the file that a model writes which never did that, so
/// nothing in it shows what was forgotten, or that anything was.
#[test]
fn the_checkpoint_after_a_forget_is_that_of_its_contents() {
    let checkpoint = |path: &Path| {
        let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let is = |path: &std::path::PathBuf| path.to_str().unwrap().contains("/memory.");
        let files: Vec<_> = files.filter(is).collect();
        assert_eq!(files.len(), 1);
        std::fs::read(&files[0]).unwrap()
    };
    // Often enough for counts that do not fit in an entry.
    let much: Vec<String> = (0..400).map(|i| format!("{OTHER} Line {}.", i * i)).collect();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("much", &much.join(" "))], None).unwrap();
    store.memorize([document("small", "bees!"), document("secret", SECRET)], None).unwrap();
    store.checkpoint().unwrap();
    // From a memory that was made here, and from one that was opened.
    for id in ["small", "secret"] {
        store.forget(&[id], None).unwrap();
        let taken_over = checkpoint(&path);
        store.checkpoint().unwrap();
        assert!(taken_over == checkpoint(&path), "without {id}");
        drop(store);
        store = Store::open(&path).unwrap();
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
    }
    assert_gone(&path, &small().tokenizer, SECRET);
}

#[test]
fn forgotten_text_is_cut_from_documents_versions_edits_and_replacements() {
    for model in models().into_iter().take(2) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        let mut store = Store::create(&path, &model).unwrap();
        let tokenizer = store.tokenizer().clone();
        let around = format!("{OTHER} {SECRET} {OTHER}");
        store.memorize([document("around", &around), document("keep", OTHER)], None).unwrap();
        // Replaced away: it is still in an older version, and in the inverse of the replacement.
        store.memorize([document("replaced", &around)], None).unwrap();
        store.replace(SECRET, "Gone.", Some("replaced"), None).unwrap();
        // Replaced into: it came as a payload.
        store.memorize([document("into", "A line with a PLACE in it.")], None).unwrap();
        store.replace("PLACE", SECRET, Some("into"), None).unwrap();
        store.edit("What does she keep?", &format!(" {SECRET}"), None).unwrap();
        store.memorize([document("retired", SECRET)], Some(SECRET)).unwrap();
        store.retire("retired", None).unwrap();
        store.memorize([document("rolled-back", SECRET)], None).unwrap();
        let last = store.log().unwrap().last().unwrap().id;
        store.rollback(last, None).unwrap();
        assert_there(&path, &tokenizer, SECRET);
        assert!(matches!(store.forget_text(SECRET, Some(SECRET)), Err(Error::Invalid(_))));
        let receipt = store.forget_text(SECRET, None).unwrap();
        assert_eq!(receipt.documents.len(), 6, "{receipt:?}");
        assert_gone(&path, &tokenizer, SECRET);
        assert!(store.find(SECRET).unwrap().documents.is_empty());
        // What was around it is a document boundary now.
        let text = store.text("around", None).unwrap();
        assert_eq!(text, format!("{OTHER} \n {OTHER}"));
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        if tokenizer.name() == "bytes" {
            assert_eq!(store.digest().unwrap(), digest_of(&live_parts(&store), &[]));
        }
        drop(store);
        let mut store = Store::open(&path).unwrap();
        assert_gone(&path, &tokenizer, SECRET);
        // What led to it cannot be undone any more, and the message says why.
        let refused = store.rollback(3, None).unwrap_err().to_string();
        assert!(refused.contains("forgotten") || refused.contains("changed since"), "{refused}");
        store.memorize([document("new", OTHER)], None).unwrap();
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
    }
}

#[test]
fn what_was_cut_apart_does_not_lie_side_by_side() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    let half = "twice-told tale ";
    store.memorize([document("a", &format!("{half}{half}{half}{half}"))], None).unwrap();
    let whole = format!("{half}{half}");
    store.memorize([document("b", &format!("twice-told {whole}tale "))], None).unwrap();
    store.forget_text(&whole, None).unwrap();
    assert_gone(&path, store.tokenizer(), &whole);
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[test]
fn a_text_is_found_as_the_tokenizer_keeps_it() {
    let home = tempfile::tempdir().unwrap();
    let words = Tokenizer::words([SECRET, OTHER]).unwrap();
    let model = NewModel { tokenizer: words, ..small() };
    let mut store = Store::create(&home.path().join("m.memo"), &model).unwrap();
    let given = SECRET.replace(' ', "   ");
    store.memorize([document("a", &format!("{OTHER} {given}"))], None).unwrap();
    assert_eq!(store.find(&given).unwrap().count, 1);
    store.forget_text(&given, None).unwrap();
    assert_eq!(store.text("a", None).unwrap().trim(), OTHER);
    assert_gone(store.directory(), store.tokenizer(), SECRET);
}

#[test]
fn several_documents_are_forgotten_at_once_or_none() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    let texts: Vec<String> =
        (0..5).map(|k| format!("{SECRET} This is number {k} of them.")).collect();
    let documents: Vec<NewDocument> =
        texts.iter().enumerate().map(|(k, text)| document(&format!("d{k}"), text)).collect();
    store.memorize(documents, None).unwrap();
    let before = store.digest().unwrap();
    assert!(store.forget(&["d0", "nobody"], None).is_err());
    assert_eq!(store.digest().unwrap(), before);
    let receipt = store.forget(&["d0", "d1", "d3", "d1"], None).unwrap();
    assert_eq!((receipt.documents.len(), receipt.transaction), (3, 2));
    assert_eq!(receipt.shared, ["d2", "d4"]);
    for k in [0, 1, 3] {
        assert_gone(&path, store.tokenizer(), &texts[k]["Marta".len()..][SECRET.len()..]);
    }
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}
