//! Damaged models: whatever happens to a file, a model is refused, or names its damage, or works as before. It never
//! panics, and never says something wrong as if nothing were.

use crate::common::says;
use memo::sparse::{Digest, Memory};
use memo_store::{
    CompletionOptions, DocumentState, Error, NewDocument, NewModel, Observer, Selection, Snapshot,
    Store,
};
use memo_text::Tokenizer;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const TEXT: &str = "the owl reads at night by the light of the moon . the cat sleeps all day .";
const PROMPT: &str = "the owl reads";

/// A model on disk, with a checkpoint and transactions after it, and what it says.
struct Sound {
    home: TempDir,
    files: Vec<(String, Vec<u8>)>,
    digest: Digest,
    says: String,
}

impl Sound {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        let new = NewModel {
            tokenizer: Tokenizer::words([TEXT, "dogs run far . they come home late ."]).unwrap(),
            words: true,
            seed: 7,
            ..NewModel::default()
        };
        let mut store = Store::create(&path, &new).unwrap();
        store.memorize([NewDocument::text(TEXT).with_id("a")], None).unwrap();
        // Often enough for counts that do not fit in an entry.
        let often: Vec<String> = vec!["they come home late .".to_owned(); 200];
        store.memorize([NewDocument::text(often.join(" ")).with_id("b")], None).unwrap();
        store.checkpoint().unwrap();
        store.memorize([NewDocument::text("dogs run far .").with_id("c")], Some("more")).unwrap();
        store.retire("a", None).unwrap();
        store.restore("a", None).unwrap();
        let digest = store.digest().unwrap();
        let says = says(&store, PROMPT, 4);
        assert_eq!(says, " at night by the");
        drop(store);
        let files = std::fs::read_dir(&path).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
        });
        let mut files: Vec<_> = files.collect();
        files.sort();
        assert_eq!(files.len(), 6, "a test for a new file is missing");
        Sound { home, files, digest, says }
    }

    /// The name and bytes of the checkpoint.
    fn checkpoint(&self) -> (&str, &[u8]) {
        let (name, bytes) = self.files.iter().find(|(n, _)| n.starts_with("memory.")).unwrap();
        (name, bytes)
    }

    /// Writes the model with one file changed, or without it.
    fn with(&self, at: &Path, name: &str, changed: Option<&[u8]>) {
        let _ = std::fs::remove_dir_all(at);
        std::fs::create_dir(at).unwrap();
        for (file, bytes) in &self.files {
            let bytes = if file == name { changed } else { Some(&bytes[..]) };
            if let Some(bytes) = bytes {
                std::fs::write(at.join(file), bytes).unwrap();
            }
        }
    }

    /// Fails if a damaged model panics, or is wrong and does not say so. True if it was refused or named its damage.
    fn examine(&self, at: &Path, what: &str) -> bool {
        let quietly = |outcome: std::thread::Result<bool>| {
            outcome.unwrap_or_else(|_| panic!("{what}: a panic"))
        };
        let reads = quietly(catch_unwind(|| self.reads(at).unwrap_or(true)));
        let named = quietly(catch_unwind(|| self.opens(at).unwrap_or(true)));
        assert!(reads || named, "{what}: a reader was wrong, and the model knows no damage");
        named
    }

    /// Whether a reader is right.
    fn reads(&self, at: &Path) -> Result<bool, Error> {
        let reader = Snapshot::open(at)?;
        let says = reader.complete(PROMPT, &CompletionOptions::greedy(4))?.completion;
        let mut memory = Memory::new(reader.config().memory.clone())?;
        memory.merge(reader.memory()?)?;
        Ok((memory.digest()?, says) == (self.digest, self.says.clone()))
    }

    /// Whether a model names damage. If not, it must be right.
    fn opens(&self, at: &Path) -> Result<bool, Error> {
        let store = Store::open(at)?;
        let digest = store.digest()?;
        let says = store.complete(PROMPT, &CompletionOptions::greedy(4))?.completion;
        let damage = store.verify(&Observer::default())?.damage;
        if damage.is_empty() {
            assert_eq!((digest, says), (self.digest, self.says.clone()));
        }
        Ok(!damage.is_empty())
    }
}

#[test]
fn cut_off_and_missing_files_are_named() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    sound.with(&at, "", None);
    assert!(!sound.examine(&at, "nothing changed"));
    for (name, bytes) in &sound.files {
        sound.with(&at, name, None);
        let named = sound.examine(&at, &format!("{name} missing"));
        // The memory is made again from the ledger, and the locks too.
        assert_eq!(
            named,
            !name.starts_with("memory.") && !name.ends_with("lock"),
            "{name} missing"
        );
        let short = [0, 1, 15, 16, 17, bytes.len().saturating_sub(1)];
        let cuts = short.into_iter().chain((1024..bytes.len()).step_by(1024));
        for len in cuts.filter(|&len| len < bytes.len()) {
            sound.with(&at, name, Some(&bytes[..len]));
            let named = sound.examine(&at, &format!("{name} cut to {len} bytes"));
            assert!(named || name.ends_with("lock"), "{name} cut to {len} bytes");
        }
    }
}

/// Numbers that are random enough, and the same every time.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as usize) % below
}

#[test]
fn changed_bytes_are_named_or_harmless() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    let mut state = 1;
    for round in 0..100 {
        for (name, bytes) in sound.files.iter().filter(|(name, _)| !name.ends_with("lock")) {
            let mut changed = bytes.clone();
            let place = match round % 2 {
                // Much of the ledger is room for more: aim at what is used.
                0 => loop {
                    let place = random(&mut state, bytes.len());
                    if bytes[place] != 0 {
                        break place;
                    }
                },
                _ => random(&mut state, bytes.len()),
            };
            let what = match round % 3 {
                0 => {
                    changed[place] ^= 1 << random(&mut state, 8);
                    "a bit"
                }
                1 => {
                    changed[place] = random(&mut state, 256) as u8;
                    "a byte"
                }
                _ => {
                    let end = bytes.len().min(place + 1 + random(&mut state, 64));
                    changed[place..end].fill_with(|| random(&mut state, 256) as u8);
                    "some bytes"
                }
            };
            if changed == *bytes {
                continue;
            }
            sound.with(&at, name, Some(&changed));
            let named = sound.examine(&at, &format!("{name}: {what} at {place}"));
            let every = name == "model.toml" || name == "tokenizer.json";
            assert!(named || !every, "{name}: {what} at {place}");
        }
    }
}

/// Where the head of a checkpoint is.
fn head(bytes: &[u8]) -> (usize, Value) {
    let len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    (len, serde_json::from_slice(&bytes[16..16 + len]).unwrap())
}

/// A checkpoint with another head, and the checksum that belongs to it.
fn with_head(bytes: &[u8], head: &Value) -> Vec<u8> {
    let json = serde_json::to_vec(head).unwrap();
    let mut changed = bytes[..12].to_vec();
    changed.extend((json.len() as u32).to_le_bytes());
    changed.extend(json);
    changed.extend(crc32fast::hash(&changed).to_le_bytes());
    changed.extend(&bytes[changed.len()..]);
    changed
}

/// A checkpoint with one section changed, and the checksums that belong to it.
fn with_section(bytes: &[u8], section: usize, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let (_, mut head) = head(bytes);
    let place = |what: &str| head["sections"][section][what].as_u64().unwrap() as usize;
    let range = place("start")..place("start") + place("len");
    let mut changed = bytes.to_vec();
    change(&mut changed[range.clone()]);
    head["sections"][section]["crc"] = json!(crc32fast::hash(&changed[range]));
    with_head(&changed, &head)
}

#[test]
fn checkpoints_that_lie_are_refused() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    let (name, bytes) = sound.checkpoint();
    let open = |changed: &[u8]| {
        sound.with(&at, name, Some(changed));
        let reads = catch_unwind(AssertUnwindSafe(|| Snapshot::open(&at).err())).unwrap();
        let opens = catch_unwind(AssertUnwindSafe(|| Store::open(&at).err())).unwrap();
        (reads, opens)
    };
    let refused = |what: &str, changed: &[u8]| {
        let (reads, opens) = open(changed);
        assert!(reads.is_some() && opens.is_some(), "{what}: {reads:?}, {opens:?}");
    };
    let (len, good) = head(bytes);
    assert!(open(&with_head(bytes, &good)).1.is_none());
    let huge = [u64::MAX, u64::MAX - 65_535, 1 << 63, 1 << 40];
    for huge in huge {
        for (pointer, what) in [
            ("/sections/0/len", "a section's length"),
            ("/sections/4/start", "a section's start"),
            ("/settings/tokens/4", "a context's length"),
            ("/settings/vocabulary", "a vocabulary"),
        ] {
            let mut head = good.clone();
            *head.pointer_mut(pointer).unwrap() = json!(huge);
            refused(&format!("{what} of {huge}"), &with_head(bytes, &head));
        }
    }
    let mut head = good.clone();
    head["sections"].as_array_mut().unwrap().pop();
    refused("a section less", &with_head(bytes, &head));
    head["sections"] = json!([]);
    refused("no sections", &with_head(bytes, &head));
    let mut head = good.clone();
    let first = head["sections"][0].clone();
    head["sections"].as_array_mut().unwrap().push(first);
    refused("a section more", &with_head(bytes, &head));
    // A section that begins where another is, or reaches into the entries, with the right checksum.
    for start in [good["sections"][0]["start"].as_u64().unwrap(), 65_536] {
        for section in 1..5 {
            let mut head = good.clone();
            let len = good["sections"][section]["len"].as_u64().unwrap().max(64);
            let range = start as usize..bytes.len().min((start + len) as usize);
            head["sections"][section] =
                json!({ "start": start, "len": len, "crc": crc32fast::hash(&bytes[range]) });
            refused(&format!("section {section} at {start}"), &with_head(bytes, &head));
        }
    }
    let mut head = good.clone();
    head["transaction"] = json!(u64::MAX);
    refused("a transaction that never was", &with_head(bytes, &head));
    // A head that says it is longer than the file, or than any head.
    for long in [len as u32 + 1, 1 << 20, u32::MAX] {
        let mut changed = bytes.to_vec();
        changed[12..16].copy_from_slice(&long.to_le_bytes());
        refused(&format!("a head of {long} bytes"), &changed);
    }
    // The index: entries that lie elsewhere, that are longer, or that have other large counts.
    for byte in [0, 6, 8, 16] {
        let other = with_section(bytes, 0, |index| index[byte] = index[byte].wrapping_add(1));
        refused("an index that does not fit", &other);
    }
    let fewer = with_section(bytes, 0, |index| index[1024 * 3 * 20 - 4] ^= 0x7f);
    refused("large counts that are nowhere", &fewer);
    // Hashes and counts that are not those of the entries show when everything is counted again.
    sound.with(&at, name, Some(&with_section(bytes, 2, |hashes| hashes[0] ^= 1)));
    assert!(sound.examine(&at, "a hash"));
}

#[test]
fn damaged_entries_are_refused_when_touched_and_never_blessed() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    let (name, bytes) = sound.checkpoint();
    // Entries that opening does not touch.
    let sections = head(bytes).1["sections"][0]["start"].as_u64().unwrap() as usize;
    let mut store = (65_536..sections)
        .step_by(97)
        .find_map(|entry| {
            let mut changed = bytes.to_vec();
            changed[entry] ^= 1;
            sound.with(&at, name, Some(&changed));
            Store::open(&at).ok()
        })
        .unwrap();
    assert!(store.checkpoint().is_err(), "new checksums for damaged entries");
    assert!(!store.verify(&Observer::default()).unwrap().damage.is_empty());
    assert_eq!(store.digest().unwrap(), sound.digest);
    // What touches them is refused, and nothing has changed, until the memory is made again.
    let touched = ["a", "b"].into_iter().find(|id| store.retire(id, None).is_err()).unwrap();
    let log = store.log().unwrap();
    assert!(store.retire(touched, None).is_err() && store.log().unwrap() == log);
    assert!(store.document(touched).unwrap().state == DocumentState::Live);
    assert!(store.checkpoint().is_err() && store.backup(&at.with_extension("copy")).is_err());
    store.rebuild().unwrap();
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
    store.retire(touched, None).unwrap();
    assert_eq!(store.document(touched).unwrap().state, DocumentState::Retired);
}

/// A forget takes over entries that it does not change without looking at them. Damage among them neither stands in its way
/// nor looks sound afterwards.
#[test]
fn damaged_entries_that_a_forget_takes_over_are_still_named() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    let (name, bytes) = sound.checkpoint();
    let sections = head(bytes).1["sections"][0]["start"].as_u64().unwrap() as usize;
    let mut forgotten = 0;
    for entry in (65_536..sections).step_by(1_009) {
        let mut changed = bytes.to_vec();
        changed[entry] ^= 1;
        sound.with(&at, name, Some(&changed));
        // The document came after the checkpoint: entries that it needs are touched when the model is opened.
        let Ok(mut store) = Store::open(&at) else { continue };
        store.forget(&["c"], None).unwrap();
        drop(store);
        let mut store = Store::open(&at).unwrap();
        let (digest, damage) = (store.digest().unwrap(), store.verify(&Observer::default()));
        assert!(!damage.unwrap().damage.is_empty(), "damage at {entry} is not named any more");
        assert!(store.checkpoint().is_err(), "new checksums for damaged entries");
        store.rebuild().unwrap();
        assert_eq!(store.digest().unwrap(), digest);
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        forgotten += 1;
    }
    assert!(forgotten > 0, "every entry is needed by so short a document");
}

#[test]
fn a_damaged_checkpoint_is_made_again_from_the_ledger() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    sound.with(&at, sound.checkpoint().0, Some(b"nonsense"));
    let Err(Error::Damaged { path, help, .. }) = Store::open(&at) else { panic!("opened") };
    assert_eq!(path, at.join(sound.checkpoint().0));
    assert!(help.contains("memo rebuild"));
    let store = Store::open_anew(&at).unwrap();
    assert_eq!(store.digest().unwrap(), sound.digest);
    drop(store);
    assert!(!sound.examine(&at, "made again"));
}

#[test]
fn a_ledger_older_than_the_checkpoint_is_refused() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    sound.with(&at, "", None);
    let old: PathBuf = at.join("ledger.redb");
    let mut store = Store::open(&at).unwrap();
    store.memorize([NewDocument::text("the cat")], None).unwrap();
    store.checkpoint().unwrap();
    drop(store);
    let (_, bytes) = sound.files.iter().find(|(name, _)| name == "ledger.redb").unwrap();
    std::fs::write(&old, bytes).unwrap();
    assert!(matches!(Store::open(&at), Err(Error::Damaged { path, .. }) if path == old));
    assert!(Snapshot::open(&at).is_err());
}

/// One flipped bit of one token: whoever reads it says which document it is, nothing copies it, and the rest works.
#[test]
fn a_damaged_token_is_never_believed() {
    let sound = Sound::new();
    let at = sound.home.path().join("damaged.memo");
    let (_, ledger) = sound.files.iter().find(|(name, _)| name == "ledger.redb").unwrap();
    let words = Tokenizer::words([TEXT, "dogs run far . they come home late ."]).unwrap();
    let tokens = words.encode("dogs run far .").unwrap();
    let stored: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
    let place = memchr::memmem::find(ledger, &stored).unwrap();
    let mut changed = ledger.clone();
    changed[place] ^= 1;
    sound.with(&at, "ledger.redb", Some(&changed));
    let names = |error: Error| {
        let error = error.to_string();
        assert!(error.contains("document \"c\", version 1"), "{error}");
    };
    // The checkpoint lacks the document: nobody can make the memory without it. Whatever needs none works.
    let reader = Snapshot::open(&at).unwrap();
    names(reader.memory().err().unwrap());
    names(reader.complete(PROMPT, &CompletionOptions::greedy(4)).err().unwrap());
    names(reader.verify(&Observer::default()).err().unwrap());
    assert_eq!((reader.text("a", None).unwrap(), reader.log().unwrap().len()), (TEXT.into(), 5));
    let mut store = Store::open(&at).unwrap();
    names(store.memorize([NewDocument::text("dogs").with_id("d")], None).err().unwrap());
    names(store.retire("c", None).err().unwrap());
    names(store.rebuild().err().unwrap());
    drop((reader, store));
    // With a checkpoint that has it, the memory is right, and what needs the tokens is refused.
    sound.with(&at, "", None);
    let mut store = Store::open(&at).unwrap();
    store.checkpoint().unwrap();
    drop(store);
    let path = at.join("ledger.redb");
    let mut bytes = std::fs::read(&path).unwrap();
    let place = memchr::memmem::find(&bytes, &stored).unwrap();
    bytes[place] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let mut store = Store::open(&at).unwrap();
    assert_eq!(says(&store, PROMPT, 4), sound.says);
    assert_eq!(store.digest().unwrap(), sound.digest);
    assert_eq!(store.text("a", None).unwrap(), TEXT);
    names(store.text("c", None).err().unwrap());
    names(store.rebuild().err().unwrap());
    names(store.backup(&at.with_extension("backup")).err().unwrap());
    names(store.export(&at.with_extension("export"), true).err().unwrap());
    assert!(!at.with_extension("backup").exists() && !at.with_extension("export").exists());
    let damage = store.verify(&Observer::default()).unwrap().damage;
    assert!(damage.iter().any(|what| what.contains("document \"c\"")), "{damage:?}");
    store.memorize([NewDocument::text("the cat sleeps .").with_id("new")], None).unwrap();
}

/// A document that is damaged can be forgotten and memorized again, whether a checkpoint has it or not; the others stay.
#[test]
fn a_damaged_document_can_be_forgotten() {
    for checkpoint in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        let mut store = Store::create(&path, &crate::common::small()).unwrap();
        let texts = [
            ("owl", "the owl reads at night"),
            ("cat", "a cat sleeps by day"),
            ("dog", "dogs run far"),
        ];
        let documents = texts.map(|(id, text)| NewDocument::text(text).with_id(id));
        store.memorize(documents, None).unwrap();
        let sound = store.digest().unwrap();
        if checkpoint {
            store.checkpoint().unwrap();
        }
        drop(store);
        let ledger = path.join("ledger.redb");
        let mut bytes = std::fs::read(&ledger).unwrap();
        for (_, text) in &texts[..2] {
            let stored: Vec<u8> = text.bytes().flat_map(|b| u32::from(b).to_le_bytes()).collect();
            let place = memchr::memmem::find(&bytes, &stored).unwrap();
            bytes[place] ^= 1;
        }
        std::fs::write(&ledger, bytes).unwrap();
        // All damage is named, and shown before anything goes.
        let reader = Snapshot::open(&path).unwrap();
        let verified = reader.verify(&Observer::default());
        let said =
            verified.map_or_else(|error| error.to_string(), |report| report.damage.join(" "));
        assert!(said.contains("\"owl\"") && said.contains("\"cat\""), "{said}");
        let both = Selection::Documents(vec!["owl".into(), "cat".into()]);
        let preview = reader.preview_forget(&both).unwrap();
        assert_eq!(preview.documents[0].excerpts, ["(its tokens are damaged)"]);
        // One of them is not enough, and then nothing is forgotten.
        let mut store = Store::open(&path).unwrap();
        let error = store.forget(&["owl"], None).unwrap_err().to_string();
        assert!(error.contains("\"cat\""), "{error}");
        assert_eq!(store.log().unwrap().len(), 1);
        store.forget_selection(&both, None).unwrap();
        let documents = texts[..2].iter().map(|(id, text)| NewDocument::text(*text).with_id(*id));
        store.memorize(documents, None).unwrap();
        assert_eq!(store.digest().unwrap(), sound);
        drop(store);
        let store = Store::open(&path).unwrap();
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        assert_eq!((store.digest().unwrap(), says(&store, "the owl", 6)), (sound, " reads".into()));
    }
}

/// A version that was damaged, and is not live any more, does not keep the memory from being made.
#[test]
fn damage_of_an_old_version_after_the_checkpoint_is_no_obstacle() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &crate::common::small()).unwrap();
    let old = "the owl reads at night";
    store.memorize([NewDocument::text(old).with_id("owl")], None).unwrap();
    store.checkpoint().unwrap();
    store.memorize([NewDocument::text("the owl sleeps").with_id("owl")], None).unwrap();
    let digest = store.digest().unwrap();
    drop(store);
    let ledger = path.join("ledger.redb");
    let mut bytes = std::fs::read(&ledger).unwrap();
    let stored: Vec<u8> = old.bytes().flat_map(|byte| u32::from(byte).to_le_bytes()).collect();
    for place in memchr::memmem::find_iter(&bytes.clone(), &stored) {
        bytes[place] ^= 1;
    }
    std::fs::write(&ledger, bytes).unwrap();
    assert_eq!(Snapshot::open(&path).unwrap().digest().unwrap(), digest);
    assert_eq!(Store::open(&path).unwrap().digest().unwrap(), digest);
}
