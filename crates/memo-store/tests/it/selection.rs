//! What a forget would do is shown before it is done, and is what it then does.

use crate::common::{assert_gone, small};
use memo_store::{
    DocumentFilter, DocumentState, Error, ForgetPreview, NewDocument, Selection, Snapshot, Store,
};
use std::time::Duration;

const OWL: &str = "The owl reads at night by the light of the moon.";
const CAT: &str = "The cat sleeps all day on the warm red roof, and the owl does not.";
const DOG: &str = "A dog sits in front of the door.";

/// Three documents with labels, in folders, the dog some milliseconds later.
fn notes(home: &tempfile::TempDir) -> Store {
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let note = |id: &str, text: &str, from: &str| {
        NewDocument::text(text).with_id(id).with_label("from", from).with_label("all", "yes")
    };
    let first = [note("mail/owl.txt", OWL, "mail"), note("mail/old/cat.txt", CAT, "mail")];
    store.memorize(first, None).unwrap();
    std::thread::sleep(Duration::from_millis(5));
    store.memorize([note("web/dog.txt", DOG, "web")], None).unwrap();
    store
}

fn ids(preview: &ForgetPreview) -> Vec<&str> {
    preview.documents.iter().map(|document| document.document.as_str()).collect()
}

fn filter() -> DocumentFilter {
    DocumentFilter::default()
}

#[test]
fn a_preview_shows_what_goes_and_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut store = notes(&home);
    store.backup(&home.path().join("backup.memo")).unwrap();
    let before = store.digest().unwrap();
    // A reader can ask, too.
    let reader = Snapshot::open(store.directory()).unwrap();
    let text = Selection::Text(" owl".to_owned());
    let preview = reader.preview_forget(&text).unwrap();
    assert_eq!(ids(&preview), ["mail/old/cat.txt", "mail/owl.txt"]);
    assert_eq!((preview.places, preview.tokens), (Some(2), 8));
    assert_eq!(preview.documents[0].excerpts, ["…ay on the warm red roof, and the owl does not."]);
    assert_eq!(preview.documents[1].excerpts, ["The owl reads at night by the light of …"]);
    let owl = &preview.documents[1];
    assert_eq!((owl.whole, owl.places, &owl.versions[..]), (false, 1, &[1][..]));
    assert_eq!((owl.state, preview.copies.len()), (DocumentState::Live, 1));
    assert!(preview.bytes_needed > 0);
    let whole = Selection::Documents(vec!["mail/owl.txt".to_owned()]);
    let preview = store.preview_forget(&whole).unwrap();
    assert_eq!((preview.places, preview.tokens), (None, OWL.len() as u64));
    assert!(preview.documents[0].whole);
    assert_eq!(preview.documents[0].excerpts, [OWL]);
    // All of a text is all of its document.
    let all = Selection::Text(DOG.to_owned());
    assert!(store.preview_forget(&all).unwrap().documents[0].whole);
    // It refuses what a forget refuses.
    for (wrong, why) in [
        (Selection::Text("never said".to_owned()), "no document contains"),
        (Selection::Text(" ".to_owned()), "no text to forget"),
        (Selection::Documents(Vec::new()), "no document to forget"),
        (Selection::Documents(vec!["nobody".to_owned()]), "no document \"nobody\""),
        (Selection::Filter(filter()), "needs a label"),
        (Selection::Filter(DocumentFilter { glob: Some("[".into()), ..filter() }), "a glob"),
    ] {
        let refused = store.preview_forget(&wrong).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
        assert_eq!(store.forget_selection(&wrong, None).unwrap_err().to_string(), refused);
    }
    assert_eq!((store.digest().unwrap(), store.log().unwrap().len()), (before, 2));
    // Done, it is what was shown.
    let preview = store.preview_forget(&text).unwrap();
    let receipt = store.forget_selection(&text, None).unwrap();
    assert_eq!((receipt.documents.len(), receipt.tokens), (2, preview.tokens));
    assert_eq!(receipt.copies, preview.copies);
}

#[test]
fn older_versions_and_edits_are_shown_with_what_they_hold() {
    let home = tempfile::tempdir().unwrap();
    let mut store = notes(&home);
    store.replace("owl reads", "hen reads", Some("mail/owl.txt"), None).unwrap();
    store.edit("A dog sits", " on the owl", None).unwrap();
    let preview = store.preview_forget(&Selection::Text("owl reads".to_owned())).unwrap();
    // Only the version that was replaced has it: the memory loses nothing.
    let old = &preview.documents[0];
    assert_eq!((old.document.as_str(), &old.versions[..]), ("mail/owl.txt", &[1][..]));
    assert_eq!((old.whole, old.tokens, old.places), (false, 0, 1));
    let preview = store.preview_forget(&Selection::Text("on the owl".to_owned())).unwrap();
    let edit = &preview.documents[0];
    assert!(edit.document.starts_with("edit-") && edit.whole, "{edit:?}");
}

#[test]
fn documents_are_forgotten_by_label_glob_and_age() {
    let home = tempfile::tempdir().unwrap();
    let mut store = notes(&home);
    let labels = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
    let glob = |glob: &str| DocumentFilter { glob: Some(glob.to_owned()), ..filter() };
    let dog = store.document("web/dog.txt").unwrap().time;
    let mail = ["mail/old/cat.txt", "mail/owl.txt"];
    for (filter, expected) in [
        (DocumentFilter { labels: labels("from", "mail"), ..filter() }, &mail[..]),
        (DocumentFilter { labels: labels("from", "fax"), ..filter() }, &[]),
        (glob("mail/*"), &["mail/owl.txt"]),
        (glob("mail/**"), &mail),
        (glob("**/*.txt"), &["mail/old/cat.txt", "mail/owl.txt", "web/dog.txt"]),
        (glob("{web,fax}/d?g.*"), &["web/dog.txt"]),
        (glob("*.txt"), &[]),
        (DocumentFilter { before: dog, ..filter() }, &mail),
        // Each condition narrows the choice.
        (
            DocumentFilter { labels: labels("all", "yes"), before: dog, ..glob("**/old/*") },
            &mail[..1],
        ),
        (DocumentFilter { labels: labels("from", "web"), before: dog, ..filter() }, &[]),
    ] {
        let found = store.preview_forget(&Selection::Filter(filter.clone()));
        match found {
            Ok(found) => assert_eq!(ids(&found), expected, "{filter:?}"),
            Err(error) => {
                assert!(matches!(error, Error::NoneFits) && expected.is_empty(), "{filter:?}");
            }
        }
    }
    // A retired document is still there to be forgotten; one that was forgotten is not.
    store.retire("mail/owl.txt", None).unwrap();
    let old = Selection::Filter(DocumentFilter { before: dog, ..filter() });
    let receipt = store.forget_selection(&old, Some("old")).unwrap();
    assert_eq!(receipt.documents, mail);
    assert_gone(store.directory(), store.tokenizer(), OWL);
    assert!(matches!(store.forget_selection(&old, None), Err(Error::NoneFits)));
    assert_eq!(store.text("web/dog.txt", None).unwrap(), DOG);
}
