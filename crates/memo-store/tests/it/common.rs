//! Models small enough to make by the hundred.
#![allow(unreachable_pub)]

use memo::lexicon::Lexicon;
use memo::sparse::{Digest, Direction, Memory, Question, Settings, Span};
use memo::words::Words;
use memo_store::{CompletionOptions, ContentKind, DocumentState, NewModel, Snapshot, Store};
use memo_text::Tokenizer;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A model of bytes.
pub fn small() -> NewModel {
    NewModel { tokenizer: Tokenizer::bytes(), words: true, seed: 7, ..NewModel::default() }
}

/// The digest of a memory that knows only these parts of documents, and these edits (prompt, target, weight).
pub fn digest_of(parts: &[String], edits: &[(String, String, i32)]) -> Digest {
    digest_with(None, parts, edits, &BTreeMap::new())
}

/// The same, of a memory with a lexicon, and facts with their weights.
pub fn digest_with(
    lexicon: Option<Arc<Lexicon>>,
    parts: &[String],
    edits: &[(String, String, i32)],
    facts: &BTreeMap<(String, String, String), i32>,
) -> Digest {
    let tokenizer = Tokenizer::bytes();
    let settings = Settings::new(257, 256, 7).unwrap().with_words();
    let settings = settings.with_lexicon(lexicon.as_deref());
    let words = Words::new(tokenizer.pieces());
    let words = match lexicon {
        Some(lexicon) => words.with_lexicon(lexicon),
        None => words,
    };
    let mut memory = Memory::with_words(settings, Some(Arc::new(words))).unwrap();
    for part in parts {
        memory.memorize(&tokenizer.encode(part).unwrap()).unwrap();
    }
    for (prompt, target, weight) in edits {
        let document = tokenizer.encode(&format!("{prompt}{target}")).unwrap();
        let positions = prompt.len()..document.len();
        memory.write(&[Span::part(&document, positions, *weight)]).unwrap();
    }
    for ((subject, predicate, object), weight) in facts {
        let [subject, predicate, object] =
            [subject, predicate, object].map(|name| tokenizer.encode(name).unwrap());
        for (known, asked, answer) in
            [(&subject, Direction::Object, &object), (&object, Direction::Subject, &subject)]
        {
            let question = Question { known, predicate: &predicate, asked };
            memory.write(&[Span::answer(question, answer, *weight)]).unwrap();
        }
    }
    memory.digest().unwrap()
}

/// A lexicon of pairs of words and classes.
pub fn lexicon(entries: &[(&str, &str)]) -> Arc<Lexicon> {
    let entries = entries.iter().map(|&(word, class)| (word.into(), vec![Some(class.into())]));
    Arc::new(Lexicon::new(entries).unwrap())
}

/// The most probable tokens after a prompt, as text.
pub fn says(snapshot: &Snapshot, prompt: &str, tokens: usize) -> String {
    snapshot.complete(prompt, &CompletionOptions::greedy(tokens)).unwrap().completion
}

/// The live parts of all documents of a store, as it says itself.
pub fn live_parts(store: &Store) -> Vec<String> {
    let live = store.documents().unwrap().into_iter();
    let live = live.filter(|d| d.state == DocumentState::Live && d.kind == ContentKind::Text);
    live.flat_map(|d| {
        let text = store.text(&d.id, None).unwrap();
        text.split('\n').map(str::to_owned).collect::<Vec<_>>()
    })
    .collect()
}

/// The files of a directory that contain some bytes.
pub fn files_with(directory: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if memchr::memmem::find(&std::fs::read(&path).unwrap(), needle).is_some() {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Fails if any file holds a text: as UTF-8, as its tokens in 1, 2 or 4 bytes, or as JSON numbers; also its sentences.
pub fn assert_gone(directory: &Path, tokenizer: &Tokenizer, text: &str) {
    let mut needles: Vec<&str> = vec![text];
    needles.extend(text.split_inclusive(['.', '!', '?']).filter(|s| s.len() >= 16));
    for needle in needles {
        let ids = tokenizer.encode(needle).unwrap();
        let short = |n: usize| ids.iter().flat_map(move |id| id.to_le_bytes()[..n].to_vec());
        let spelled: Vec<String> = ids.iter().map(u32::to_string).collect();
        let encodings = [
            needle.as_bytes().to_vec(),
            short(4).collect(),
            short(2).collect(),
            ids.iter().flat_map(|id| id.to_be_bytes()).collect(),
            spelled.join(",").into_bytes(),
        ];
        for encoding in encodings {
            let found = files_with(directory, &encoding);
            assert!(found.is_empty(), "{needle:?} is still in {found:?}");
        }
    }
}
