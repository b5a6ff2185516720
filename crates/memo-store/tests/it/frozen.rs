//! Frozen models: smaller than what they were made of, and they say the same.

use crate::common::{says, small};
use memo::sparse::FrozenBits;
use memo_store::{NewDocument, Observer, ReadOptions, Snapshot, Store};
use std::path::{Path, PathBuf};

/// Sentences of made-up words that repeat themselves here and there, of some 40,000 bytes.
fn text() -> String {
    let mut draws = memo::random::Stream::new(3, memo::random::Purpose::Sampling, 0).draws();
    let syllables = ["ka", "lo", "mi", "tu", "re", "san", "vel", "dor", "pin", "gha"];
    let words = (0..8000).map(|i| {
        let of = |n: u64| syllables[(n % 10) as usize];
        let word = draws.below(300);
        let end = if i % 12 == 11 { ".\n" } else { " " };
        format!("{}{}{end}", of(word), of(word / 10))
    });
    words.collect()
}

/// A model and what it was frozen to.
fn models(home: &Path, text: &str, bits: FrozenBits) -> (Store, PathBuf) {
    let mut store = Store::create(&home.join("m.memo"), &small()).unwrap();
    store.memorize([NewDocument::text(text).with_id("text")], None).unwrap();
    let frozen = home.join("frozen.memo");
    store.freeze_with(&frozen, bits).unwrap();
    (store, frozen)
}

/// The checkpoint of a model.
fn checkpoint(model: &Path) -> PathBuf {
    let files = std::fs::read_dir(model).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.display().to_string().contains("memory.")).last().unwrap()
}

#[test]
fn a_frozen_model_is_smaller_and_gives_what_was_memorized_the_same_probability() {
    let home = tempfile::tempdir().unwrap();
    let text = text();
    let (store, path) = models(home.path(), &text, FrozenBits::default());
    let frozen = Snapshot::open(&path).unwrap();
    let (before, after) = (store.stats().unwrap(), frozen.stats().unwrap());
    assert_eq!(before.tokens, after.tokens);
    // Entries that became equal are one: about one in 2¹² of those that are not listed by token.
    assert!(after.cells <= before.cells && before.cells - after.cells <= before.cells >> 10);
    // Both have the vocabulary's counts, and a few bytes for each partition.
    let fixed = f64::from(3 * 1024 * 72);
    let share = (after.bytes as f64 - fixed) / (before.bytes as f64 - fixed);
    assert!(share < 0.62, "{share}: {} and {}", after.bytes, before.bytes);
    assert!(std::fs::metadata(checkpoint(&path)).unwrap().len() < after.bytes);

    let tokens = store.tokenizer().encode(&text).unwrap();
    let scores = |model: &Snapshot| {
        model.token_scores(&tokens, 0..tokens.len(), 0, &ReadOptions::default()).unwrap()
    };
    let (before, after) = (scores(&store), scores(&frozen));
    let same = before.iter().zip(&after).filter(|(a, b)| a == b).count() as f64;
    // A false match, after one in some hundred tokens, counts for the 16 tokens after it too: they are read as a quote or not.
    assert!(same / tokens.len() as f64 > 0.95, "{same} of {}", tokens.len());
    let apart: f64 = before.iter().zip(&after).map(|(a, b)| (a.logprob - b.logprob).abs()).sum();
    assert!(apart / (tokens.len() as f64) < 0.005, "{}", apart / tokens.len() as f64);
    let other = before.iter().zip(&after).filter(|(a, b)| a.best != b.best).count() as f64;
    assert!(other / (tokens.len() as f64) < 0.001, "{other} of {}", tokens.len());
}

/// With as many bits as a live memory has, nothing is cut, and everything is the same, whatever is asked.
#[test]
fn without_a_cut_every_answer_is_the_same() {
    let home = tempfile::tempdir().unwrap();
    let text = text();
    let (store, path) = models(home.path(), &text, FrozenBits { successors: 28, events: 28 });
    let frozen = Snapshot::open(&path).unwrap();
    assert_eq!(store.stats().unwrap().cells, frozen.stats().unwrap().cells);
    let new = text.replace("ka", "tu");
    for text in [&text[..20_000], &new[..20_000], "Nothing of this."] {
        let tokens = store.tokenizer().encode(text).unwrap();
        let scores = |model: &Snapshot| {
            model.token_scores(&tokens, 0..tokens.len() + 1, 2, &ReadOptions::default()).unwrap()
        };
        assert_eq!(scores(&store), scores(&frozen));
        let evidence =
            |model: &Snapshot, at: usize| model.memory().unwrap().evidence(&tokens[..at]).unwrap();
        for at in (0..=tokens.len()).step_by(97) {
            assert_eq!(evidence(&store, at), evidence(&frozen, at));
        }
    }
}

/// A frozen memory is noisier, and says how much: as often as blocks that never occurred are found in it, or a little more.
#[test]
fn a_frozen_memory_says_how_noisy_it_is() {
    let home = tempfile::tempdir().unwrap();
    let bits = FrozenBits { successors: 4, events: 4 };
    let (store, path) = models(home.path(), &text(), bits);
    let frozen = Snapshot::open(&path).unwrap();
    let (before, after) = (store.fill().unwrap(), frozen.fill().unwrap());
    assert_eq!(before.slots.len(), after.slots.len());
    assert_eq!(
        before.slots.iter().filter_map(|slot| slot.cells).sum::<u64>(),
        store.stats().unwrap().cells
    );
    for (live, frozen) in before.slots.iter().zip(&after.slots) {
        assert_eq!(
            (live.unit, live.length, &live.table),
            (frozen.unit, frozen.length, &frozen.table)
        );
        assert_eq!((frozen.rows, frozen.cells, frozen.exact), (None, None, false));
        if live.table == "pairs" {
            assert_eq!((live.false_match, frozen.false_match), (0.0, 0.0));
            continue;
        }
        assert!(live.false_match < 1e-5, "{live:?}");
        // Keys keep four bits more than their number has.
        assert!((1.0 / 32.0..=1.0 / 8.0).contains(&frozen.false_match), "{frozen:?}");
    }
}

#[test]
fn a_frozen_file_is_a_function_of_what_was_frozen() {
    let home = tempfile::tempdir().unwrap();
    let text = text();
    let (mut store, path) = models(home.path(), &text[..5000], FrozenBits::default());
    store.memorize([NewDocument::text(&text[5000..]).with_id("more")], None).unwrap();
    store.forget(&["more"], None).unwrap();
    let again = home.path().join("again.memo");
    store.freeze(&again).unwrap();
    let entries = |path: &Path| std::fs::read(checkpoint(path)).unwrap()[64 << 10..].to_vec();
    assert!(entries(&path) == entries(&again));
    let digest = |path: &Path| Snapshot::open(path).unwrap().digest().unwrap();
    assert_eq!((digest(&path), digest(&again)), (store.digest().unwrap(), store.digest().unwrap()));
}

#[test]
fn a_frozen_memory_is_not_written_to() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, path) = models(home.path(), "The owl reads at night.", FrozenBits::default());
    let frozen = Snapshot::open(&path).unwrap();
    let mut memory = frozen.memory().unwrap().clone();
    let digest = memory.digest().unwrap();
    assert_eq!(memory.memorize(&[1, 2, 3]), Err(memo::sparse::Error::Frozen));
    assert_eq!(memory.merge(store.memory().unwrap()), Err(memo::sparse::Error::Frozen));
    let mut live = store.memory().unwrap().clone();
    assert_eq!(live.merge(&memory), Err(memo::sparse::Error::Frozen));
    assert_eq!((memory.digest().unwrap(), live.digest().unwrap()), (digest, digest));
    store.memorize([NewDocument::text("More.").with_id("more")], None).unwrap();
    assert_eq!(says(&frozen, "The owl reads", 9), " at night");
}

/// A token that hundreds of others followed is looked up with each of them in longer contexts. No key that is found by chance makes a
/// prompt the beginning of a document if none begins with its first token.
#[test]
fn a_prompt_from_the_middle_is_no_beginning() {
    let home = tempfile::tempdir().unwrap();
    let mut text = String::from("The ");
    for i in 0..4_000u32 {
        text.push_str("xxx");
        text.push(char::from(b' ' + (i % 80) as u8));
    }
    let few = FrozenBits { events: 2, ..FrozenBits::default() };
    let (_, path) = models(home.path(), &text, few);
    let frozen = Snapshot::open(&path).unwrap();
    let from_start = |context: &[u32]| {
        let evidence = frozen.memory().unwrap().evidence(context).unwrap();
        evidence.iter().any(|slot| slot.from_start)
    };
    assert!(!from_start(&[u32::from(b'x'); 3]));
    assert!(from_start(&b"The".map(u32::from)));
}

/// Bytes that were changed are named by `verify`, and refused when they are read.
#[test]
fn damage_is_found() {
    let home = tempfile::tempdir().unwrap();
    let (_, path) = models(home.path(), &text(), FrozenBits::default());
    let file = checkpoint(&path);
    let good = std::fs::read(&file).unwrap();
    let verify = || Snapshot::open(&path).and_then(|model| model.verify(&Observer::default()));
    assert!(verify().unwrap().damage.is_empty());
    for k in 0..40 {
        let mut bytes = good.clone();
        let at = (64 << 10) + (bytes.len() - (64 << 10)) * k / 40;
        bytes[at] ^= 4;
        std::fs::write(&file, bytes).unwrap();
        assert!(verify().map_or(true, |report| !report.damage.is_empty()), "byte {at}");
    }
    // Its own digest is checked too, for those who make checksums right.
    let mut bytes = good.clone();
    let len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let head = String::from_utf8(bytes[16..16 + len].to_vec()).unwrap();
    let place = head.find("\"entries\":\"").unwrap() + 16 + 11;
    bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
    let crc = crc32fast::hash(&bytes[..16 + len]).to_le_bytes();
    bytes[16 + len..20 + len].copy_from_slice(&crc);
    std::fs::write(&file, bytes).unwrap();
    assert!(verify().unwrap().damage[0].contains("its hashes do not match it"));
}
