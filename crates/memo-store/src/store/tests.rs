//! A disk that fails when it is asked whether it has what was written: the file may have it all the same, and the model is then what the file
//! says, for whoever has it open and for whoever opens it.

use super::{Store, Together};
use crate::config::NewModel;
use crate::error::Error;
use crate::store::NewDocument;
use std::path::Path;

const KEPT: &str = "The owl reads at night by the light of the moon.";
const SECRET: &str = "Marta keeps the spare key under the blue stone.";

fn memorize(store: &mut Store, id: &str, text: &str) -> Result<(), Error> {
    store.memorize([NewDocument::text(text).with_id(id)], None).map(drop)
}

/// A model of which a change was refused, but is on the disk.
fn refused(path: &Path, change: impl FnOnce(&mut Store) -> Result<(), Error>) -> Store {
    let tokenizer = memo_text::Tokenizer::bytes();
    let new = NewModel { tokenizer, words: true, ..NewModel::default() };
    let mut store = Store::create(path, &new).unwrap();
    memorize(&mut store, "kept", KEPT).unwrap();
    memorize(&mut store, "secret", SECRET).unwrap();
    store.snapshot.ledger.as_mut().unwrap().refuse_syncs();
    let refused = change(&mut store).unwrap_err();
    assert!(refused.to_string().contains("does not answer"), "{refused}");
    store
}

/// Goes on with a model, which must be what another process makes of its files.
fn goes_on(path: &Path, mut store: Store, transactions: u64) {
    assert_eq!(store.transaction, transactions);
    memorize(&mut store, "later", "The cat sleeps all day.").unwrap();
    let ids: Vec<u64> = store.log().unwrap().iter().map(|transaction| transaction.id).collect();
    assert_eq!(ids, (1..=transactions + 1).collect::<Vec<_>>());
    let digest = store.digest().unwrap();
    drop(store);
    assert_eq!(Store::open_anew(path).unwrap().digest().unwrap(), digest);
}

#[test]
fn a_text_that_the_disk_has_though_it_said_otherwise_is_known() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let store = refused(&path, |store| memorize(store, "third", "The fox runs through the snow."));
    goes_on(&path, store, 3);
}

#[test]
fn a_large_text_that_the_disk_has_though_it_said_otherwise_is_known() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let words: Vec<String> = (0..6000u32).map(|k| (k * k).to_string()).collect();
    let text = words.join(" ");
    let store = refused(&path, |store| {
        store.set_chunk(1);
        memorize(store, "large", &text)
    });
    goes_on(&path, store, 3);
}

#[test]
fn a_text_that_is_forgotten_on_the_disk_is_forgotten_though_the_disk_said_otherwise() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let store = refused(&path, |store| store.forget(&["secret"], None).map(drop));
    assert!(store.text("secret", None).is_err());
    goes_on(&path, store, 3);
}

#[test]
fn texts_that_the_disk_has_together_though_it_said_otherwise_are_known() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let store = refused(&path, |store| {
        let changes = ["third", "fourth"].map(|id| {
            move |store: &mut Together<'_>| {
                store.memorize([NewDocument::text(KEPT).with_id(id)], None).map(drop)
            }
        });
        store.make_together(changes).map(drop)
    });
    goes_on(&path, store, 4);
}
