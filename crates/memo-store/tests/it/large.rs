//! Memories too large to be made at once are made piece by piece, and nobody can tell from the result; long work can
//! be stopped, and then nothing has happened.

use crate::common::{says, small};
use memo::random::{Purpose, Stream};
use memo_store::{CompletionOptions, Error, NewDocument, Observer, Snapshot, Store};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many tokens of a made-up language, in documents of different lengths.
fn texts(tokens: usize, name: &str) -> Vec<NewDocument> {
    let mut reader = Stream::new(3, Purpose::Sampling, name.len() as u32).draws();
    let mut documents = Vec::new();
    let mut left = tokens;
    while left > 0 {
        let len = (1 + reader.below(tokens as u64 / 2) as usize).min(left);
        let text: Vec<u32> = (0..len).map(|_| reader.below(200) as u32).collect();
        documents.push(NewDocument::tokens(text).with_id(format!("{name}-{}", documents.len())));
        left -= len;
    }
    documents
}

/// A model whose memory is made in pieces of 64 KiB, or at once.
fn model(path: &Path, pieces: bool) -> Store {
    let mut store = Store::create(path, &small()).unwrap();
    store.set_chunk(if pieces { 1 } else { usize::MAX });
    store
}

fn checkpoints(path: &Path) -> usize {
    let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().starts_with("memory.")).count()
}

#[test]
fn piece_by_piece_gives_the_same_memory() {
    let home = tempfile::tempdir().unwrap();
    let place = |name: &str| home.path().join(name);
    let (pieces, whole) = (place("pieces.memo"), place("whole.memo"));
    let mut digests = Vec::new();
    for (path, in_pieces) in [(&pieces, true), (&whole, false)] {
        let mut store = model(path, in_pieces);
        let mut digest = |store: &mut Store| digests.push(store.digest().unwrap());
        store.memorize(texts(20_000, "a"), None).unwrap();
        // Made in pieces, it is in its checkpoint at once.
        assert_eq!(checkpoints(path), usize::from(in_pieces));
        digest(&mut store);
        store.edit("one two", " three", None).unwrap();
        // Much more text: all is made again, the edit too, and what left is not.
        store.retire("a-0", None).unwrap();
        store.memorize(texts(9000, "bb"), None).unwrap();
        digest(&mut store);
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        store.forget(&["bb-0"], None).unwrap();
        digest(&mut store);
        store.rebuild().unwrap();
        digest(&mut store);
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        drop(store);
        digest(&mut Store::open(path).unwrap());
    }
    let (a, b) = digests.split_at(digests.len() / 2);
    assert_eq!(a, b);
    // The files are the same too: nothing says how they came about.
    let name = format!("memory.{:012}", 5);
    let bytes = |path: &Path| std::fs::read(path.join(&name)).unwrap();
    assert!(bytes(&pieces) == bytes(&whole));
    assert!(
        Snapshot::open(&pieces).unwrap().complete("one two", &CompletionOptions::greedy(1)).is_ok()
    );
}

#[test]
fn work_that_is_stopped_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    for in_pieces in [true, false] {
        let path = home.path().join(format!("{in_pieces}.memo"));
        let mut store = model(&path, in_pieces);
        store
            .memorize([NewDocument::text("What was there before.").with_id("keep")], None)
            .unwrap();
        let before = (store.digest().unwrap(), store.log().unwrap().len());
        // Enough for two slices, so that one is in when the work is stopped.
        for stop_at in 0..3 {
            let asked = Arc::new(AtomicUsize::new(0));
            let seen = Arc::clone(&asked);
            store.observe(move |step| {
                assert!(step.done <= step.total, "{step:?}");
                if seen.fetch_add(1, Ordering::Relaxed) == stop_at {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            let given = texts(300_000, "stopped");
            let stopped = store.memorize(given, None);
            if in_pieces || stop_at < 2 {
                assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
                assert!(asked.load(Ordering::Relaxed) > stop_at);
                let after = (store.digest().unwrap(), store.log().unwrap().len());
                assert_eq!(after, before);
                assert_eq!(says(&store, "What was", 14), " there before.");
            } else {
                assert!(stopped.is_ok());
            }
        }
        store.observe(|_| ControlFlow::Continue(()));
        drop(store);
        assert!(
            Store::open(&path).unwrap().verify(&Observer::default()).unwrap().damage.is_empty()
        );
    }
}
