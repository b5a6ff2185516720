//! Texts that are kept once, and processes that make or share a model.

use crate::common::small;
use memo_store::{Error, NewDocument, NewModel, RememberOutcome, Store};

const KEY: &str = "Marta keeps the spare key under the blue stone.";

#[test]
fn what_is_known_is_not_kept_twice_and_the_answer_says_where_it_is() {
    for new in [small(), NewModel::default()] {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::create(&home.path().join("m.memo"), &new).unwrap();
        let notes = format!("On the farm.\nThe cat sleeps all day. {KEY} So it is.\n");
        store.memorize([NewDocument::text(notes).with_id("notes")], None).unwrap();
        let before = store.digest().unwrap();
        for text in [KEY, "  the spare key under the blue stone\n", "sleeps all day. Marta keeps"] {
            let report = store.remember(text, [], None).unwrap();
            assert_eq!(report.outcome, RememberOutcome::Known, "{text}");
            assert_eq!((report.transaction, report.document.as_str()), (None, "notes"));
            assert_eq!(report.known[0].line, 2);
        }
        assert_eq!(store.digest().unwrap(), before);
        // The same words in another order, or one other word, are another text.
        for text in [
            "The blue stone keeps the spare key of Marta.",
            "Marta keeps the spare key under the red stone.",
        ] {
            let labels = [("source".to_owned(), "a letter".to_owned())];
            let report = store.remember(text, labels, None).unwrap();
            assert_eq!(report.outcome, RememberOutcome::Remembered, "{text}");
            assert_eq!(store.document(&report.document).unwrap().labels["source"], "a letter");
            assert_eq!(store.remember(text, [], None).unwrap().document, report.document);
        }
        // What was forgotten, or taken back, can be remembered again.
        store.forget(&["notes"], None).unwrap();
        let report = store.remember(KEY, [], None).unwrap();
        assert_eq!(report.outcome, RememberOutcome::Remembered);
        store.rollback(report.transaction.unwrap(), None).unwrap();
        assert_eq!(store.remember(KEY, [], None).unwrap().outcome, RememberOutcome::Remembered);
    }
}

#[test]
fn junk_is_refused_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let long = "A sentence of a long book. ".repeat(3000);
    for (text, why) in [
        ("", "no text"),
        (" \n\t", "no text"),
        ("...!?", "no text"),
        ("ok, thanks", "whole sentence"),
        (&long, "one by one"),
    ] {
        let refused = store.remember(text, [], None);
        assert!(matches!(&refused, Err(Error::Invalid(said)) if said.contains(why)), "{refused:?}");
    }
    assert_eq!(store.documents().unwrap().len(), 0);
    // Few characters can say much.
    assert!(store.remember("钥匙在石头下", [], None).is_ok());
}

#[test]
fn a_model_that_many_make_at_a_time_is_made_once() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let made: usize = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| match Store::create(&path, &small()) {
                    // Busy: made by this one, and opened by another one first.
                    Ok(_) | Err(Error::Busy { .. }) => 1,
                    Err(Error::Exists { .. }) => 0,
                    Err(error) => panic!("{error}"),
                })
            })
            .collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).sum()
    });
    assert_eq!(made, 1);
    assert!(Store::open(&path).unwrap().documents().unwrap().is_empty());
    let left: Vec<_> =
        std::fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["m.memo"]);
}

#[cfg(unix)]
#[test]
fn a_model_is_handed_over_to_who_asks_for_it() {
    use memo_store::handover;
    use std::io::{BufRead, BufReader, Write};
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.remember(KEY, [], None).unwrap();
    let socket = home.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    store.announce(&socket);
    // Who does not ask for it is told where it can be used.
    let Err(Error::Busy { socket: Some(said), .. }) = Store::open_if_free(&path) else {
        panic!("two writers");
    };
    assert_eq!(said, socket);
    // The owner keeps it, and then hands it over.
    let owner = std::thread::spawn(move || {
        let mut store = Some(store);
        for answer in ["no", handover::DONE] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            assert_eq!(line.trim_end(), handover::REQUEST);
            if answer == handover::DONE {
                store.take();
            }
            writeln!(stream, "{answer}").unwrap();
        }
    });
    assert!(matches!(Store::open(&path), Err(Error::Busy { .. })));
    assert_eq!(Store::open(&path).unwrap().documents().unwrap().len(), 1);
    owner.join().unwrap();
}
