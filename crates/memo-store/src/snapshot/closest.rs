//! Closest passages: where live documents share the rare words of a text that they do not contain.
//!
//! Words are compared in their normal form ([`memo::words`]): case, layout and apostrophes make no difference. Other forms of a word, and
//! slips of the fingers, count for less ([`memo::words::alike`]). A word weighs the more the fewer of the places it could stand
//! at it does stand at, as in BM25; a passage is some forty words, and scores the share of the text's weight that its words have. There is no index that forgetting would have to scrub: the tokens of
//! all live documents are read, by all threads, which takes some tens of milliseconds a megabyte.

use super::{Completion, Snapshot};
use crate::error::Error;
use crate::record::DocumentRecord;
use memo::words::{alike, each_word, letters};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// The passages that are closest to a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ClosestPassages {
    /// The passages, the closest first.
    pub passages: Vec<Passage>,
}

/// A part of a live document that shares words with a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Passage {
    /// The document.
    pub document: String,
    /// Its version.
    pub version: u32,
    /// The bytes of the document's text before the passage.
    pub offset: u64,
    /// The characters before it.
    pub character: u64,
    /// The line that it begins in, from 1.
    pub line: u64,
    /// The passage.
    pub excerpt: String,
    /// The share of the weight of the text's words that the shared ones have: 1 if it shares all.
    pub score: f64,
    /// The words of the text that it shares, the rarest first.
    pub words: Vec<String>,
}

/// Words of a passage.
const PASSAGE: usize = 40;

/// A word that stands for every eighth word tells nothing.
const COMMON: f64 = 8.0;

/// Bytes of an excerpt on either side of the words that are shared, at most.
const AROUND: usize = 100;

/// The most different words of a text that are looked for.
const MOST_WORDS: usize = 1 << 10;

/// Occurrences of one word in one piece of a document; a word that has more is not rare, and need not be found.
const MOST_PLACES: u32 = 1 << 13;

/// Bytes of a document that one thread goes through at a time.
const PIECE: usize = 1 << 20;

/// The most passages that a completion names if its prompt is not known.
const NAMED: usize = 3;

/// The least score of a passage that a completion names: a third of the weight. Of a hundred questions on authors that WikiText does not know
/// (TOFU), fourteen have a passage there that shares so much.
const ENOUGH: f64 = 0.33;

/// What a word that is only alike counts; and the most words of a text for which these are looked for too, which takes longer.
const ALIKE: f64 = 0.7;
const QUESTION: usize = 32;

/// A word of the text in a document, or one that is alike.
#[derive(Clone, Copy)]
struct Hit {
    /// Which word of the text.
    word: u16,
    /// Whether it is that word, in normal form.
    same: bool,
    /// Words of the document before it.
    at: u32,
    /// Its place in the document's text, in bytes.
    start: u64,
    len: u16,
}

/// The words that are looked for.
struct QueryWords {
    /// Their numbers, by hash.
    numbers: HashMap<u64, u16>,
    /// Whether any of them has these highest bits: most words of a document need no look-up.
    any: Vec<bool>,
    /// Their numbers and letters, by the first byte, in lower case, if they are few.
    letters: HashMap<u8, Vec<(u16, Vec<u32>)>>,
}

impl QueryWords {
    fn new(numbers: HashMap<u64, u16>, spelled: &[&str]) -> Self {
        let mut any = vec![false; 1 << 12];
        numbers.keys().for_each(|hash| any[(hash >> 52) as usize] = true);
        let mut by_first: HashMap<u8, Vec<(u16, Vec<u32>)>> = HashMap::new();
        let question = if spelled.len() <= QUESTION { spelled } else { &[] };
        for (number, word) in (0..).zip(question.iter().map(|word| word.as_bytes())) {
            by_first.entry(first(word)).or_default().push((number, letters(word)));
        }
        QueryWords { numbers, any, letters: by_first }
    }

    /// Which word a word of a document is, or is alike to, and whether it is the same.
    fn number(&self, hash: u64, word: &[u8]) -> Option<(u16, bool)> {
        let same = if self.any[(hash >> 52) as usize] { self.numbers.get(&hash) } else { None };
        if let Some(&number) = same {
            return Some((number, true));
        }
        // Letters of other scripts have up to three bytes.
        let near =
            |asked: &Vec<u32>| word.len() + 4 > asked.len() && word.len() < 3 * asked.len() + 9;
        let mut candidates =
            self.letters.get(&first(word))?.iter().filter(|(_, asked)| near(asked)).peekable();
        candidates.peek()?;
        let word = letters(word);
        candidates.find(|(_, asked)| alike(asked, &word)).map(|&(number, _)| (number, false))
    }
}

/// The first byte of a word, in lower case.
fn first(word: &[u8]) -> u8 {
    word.first().map_or(0, u8::to_ascii_lowercase)
}

/// The words of the text that one document, or a piece of one, has.
struct Found {
    hits: Vec<Hit>,
    /// How often it has each word, or one that is alike.
    counts: Vec<u32>,
    /// Its words in all.
    words: u32,
}

/// Hits that lie close together.
struct Window {
    score: f64,
    hits: Range<usize>,
}

impl Snapshot {
    /// The `limit` passages of live documents that share the most, and the rarest, words with a text.
    ///
    /// ```
    /// # use memo_store::{NewDocument, NewModel, Store};
    /// # let home = tempfile::tempdir()?;
    /// # let mut store = Store::create(&home.path().join("notes.memo"), &NewModel::default())?;
    /// store.memorize([NewDocument::text("The owl reads at night.").with_id("owl"), NewDocument::text("The cat sleeps.").with_id("cat")], None)?;
    /// let closest = store.closest("Which bird reads the paper?", 1)?;
    /// assert_eq!((closest.passages[0].document.as_str(), &closest.passages[0].words[0][..]), ("owl", "reads"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closest(&self, text: &str, limit: usize) -> Result<ClosestPassages, Error> {
        let (asked, spelled) = words(text);
        if spelled.is_empty() {
            return Err(Error::Invalid("there is no word to look for in the text".to_owned()));
        }
        let ledger = self.ledger("text to search")?;
        let mut documents = ledger.documents()?;
        documents.retain(|document| document.live().is_some());
        let found: Vec<Found> = documents
            .par_iter()
            .map(|document| Ok(find(&self.live_bytes(document)?, &asked)))
            .collect::<Result<_, Error>>()?;
        let weights = weights(&found, spelled.len());
        let whole: f64 = weights.iter().sum();
        let mut best: Vec<(usize, Window)> = found
            .par_iter()
            .enumerate()
            .flat_map_iter(|(document, found)| {
                best_windows(&found.hits, &weights, limit).into_iter().map(move |w| (document, w))
            })
            .collect();
        // Of equals, the first document's; sorting is stable.
        best.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
        best.truncate(limit);
        let passages = best.into_iter().map(|(document, window)| {
            let hits = &found[document].hits[window.hits];
            let mut shared: Vec<usize> = hits.iter().map(|hit| usize::from(hit.word)).collect();
            shared.sort_unstable();
            shared.dedup();
            shared.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
            let words = shared.into_iter().map(|word| spelled[word].to_owned()).collect();
            // Sums in another order may be a little more than the whole.
            let score = (window.score / whole).min(1.0);
            self.passage(&documents[document], hits, score, words)
        });
        Ok(ClosestPassages { passages: passages.collect::<Result<_, _>>()? })
    }

    /// Adds the closest passages to a completion that is a guess, as far as they share enough with its prompt.
    /// `prompt` are the tokens that it was chosen after ([`CompletionStream::continued`](super::CompletionStream::continued)).
    /// A frozen model has no texts, and names none.
    pub fn add_closest(&self, prompt: &[u32], completion: &mut Completion) -> Result<(), Error> {
        if !completion.is_guess() {
            return Ok(());
        }
        let text = self.tokenizer.decode_lossy(prompt);
        let mut passages = match self.closest(&text, NAMED) {
            Err(Error::NoTexts { .. }) => return Ok(()),
            // A prompt without a word.
            Err(Error::Invalid(_)) => Vec::new(),
            closest => closest?.passages,
        };
        passages.retain(|passage| passage.score >= ENOUGH);
        completion.closest = Some(passages);
        Ok(())
    }

    /// The text of a live document; what was cut apart is on different lines.
    fn live_bytes(&self, document: &DocumentRecord) -> Result<Vec<u8>, Error> {
        let Some(version) = document.live() else { return Ok(Vec::new()) };
        let content = self.ledger("text to search")?.content(document, version)?;
        let parts: Vec<Vec<u8>> =
            content.parts.iter().map(|part| self.tokenizer.decode(part)).collect();
        Ok(parts.join(&b'\n'))
    }

    fn passage(
        &self,
        document: &DocumentRecord,
        hits: &[Hit],
        score: f64,
        words: Vec<String>,
    ) -> Result<Passage, Error> {
        let bytes = self.live_bytes(document)?;
        let (first, last) = (hits[0], hits[hits.len() - 1]);
        let end = last.start as usize + usize::from(last.len);
        let place = around(&bytes, first.start as usize..end);
        let before = String::from_utf8_lossy(&bytes[..place.start]);
        Ok(Passage {
            document: document.id.clone(),
            version: document.live().map_or(0, |version| version.number),
            offset: place.start as u64,
            character: before.chars().count() as u64,
            line: before.matches('\n').count() as u64 + 1,
            excerpt: String::from_utf8_lossy(&bytes[place]).into_owned(),
            score,
            words,
        })
    }
}

/// The different words of a text, and how they are spelled where they first stand.
fn words(text: &str) -> (QueryWords, Vec<&str>) {
    let (mut numbers, mut spelled) = (HashMap::new(), Vec::new());
    each_word(text.as_bytes(), |hash, place| {
        if spelled.len() < MOST_WORDS && !numbers.contains_key(&hash) {
            numbers.insert(hash, spelled.len() as u16);
            spelled.push(&text[place]);
        }
    });
    (QueryWords::new(numbers, &spelled), spelled)
}

/// The words of a text that a document has.
fn find(bytes: &[u8], asked: &QueryWords) -> Found {
    let pieces: Vec<(usize, Found)> = pieces(bytes)
        .into_par_iter()
        .map(|piece| (piece.start, find_in_piece(&bytes[piece], asked)))
        .collect();
    let mut all = Found { hits: Vec::new(), counts: vec![0; asked.numbers.len()], words: 0 };
    for (start, piece) in pieces {
        let moved = piece.hits.iter().map(|hit| Hit {
            at: hit.at + all.words,
            start: hit.start + start as u64,
            ..*hit
        });
        all.hits.extend(moved);
        all.counts.iter_mut().zip(&piece.counts).for_each(|(all, count)| *all += count);
        all.words += piece.words;
    }
    all
}

fn find_in_piece(bytes: &[u8], asked: &QueryWords) -> Found {
    let mut found = Found { hits: Vec::new(), counts: vec![0; asked.numbers.len()], words: 0 };
    each_word(bytes, |hash, place| {
        if let Some((word, same)) = asked.number(hash, &bytes[place.clone()]) {
            let count = &mut found.counts[usize::from(word)];
            *count += 1;
            if *count <= MOST_PLACES {
                let len = place.len().min(usize::from(u16::MAX)) as u16;
                found.hits.push(Hit {
                    word,
                    same,
                    at: found.words,
                    start: place.start as u64,
                    len,
                });
            }
        }
        found.words += 1;
    });
    found
}

/// Cuts a text where white space is, so that each piece has the words that it has in the whole.
fn pieces(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while bytes.len() - start > PIECE {
        let space = bytes[start + PIECE..].iter().position(u8::is_ascii_whitespace);
        let Some(space) = space else { break };
        let end = start + PIECE + space;
        pieces.push(start..end);
        start = end;
    }
    pieces.push(start..bytes.len());
    pieces
}

/// What each word of the text weighs: the logarithm of how many places lack it for each that has it.
fn weights(found: &[Found], words: usize) -> Vec<f64> {
    let all: f64 = found.iter().map(|found| f64::from(found.words)).sum();
    let places = (all / COMMON).max(1.0);
    let weight = |word: usize| {
        let having: f64 = found.iter().map(|found| f64::from(found.counts[word])).sum();
        // How rare a word is that no document has, nobody knows: as rare as one that stands once.
        let having = having.clamp(1.0, places);
        libm::log1p((places - having + 0.5) / (having + 0.5))
    };
    (0..words).map(weight).collect()
}

/// The `limit` best windows of a document, none of which overlap, the best first.
fn best_windows(hits: &[Hit], weights: &[f64], limit: usize) -> Vec<Window> {
    // How often the window has each word, and one that is alike.
    let mut counts = vec![[0i32; 2]; weights.len()];
    let mut count = |hit: &Hit, more: i32| {
        let counts = &mut counts[usize::from(hit.word)];
        let worth = |[same, alike]: [i32; 2]| match (same, alike) {
            (1.., _) => 1.0,
            (_, 1..) => ALIKE,
            _ => 0.0,
        };
        let before = worth(*counts);
        counts[usize::from(!hit.same)] += more;
        (worth(*counts) - before) * weights[usize::from(hit.word)]
    };
    let (mut score, mut end) = (0.0, 0);
    let mut peaks: Vec<Window> = Vec::new();
    for start in 0..hits.len() {
        while end < hits.len() && hits[end].at < hits[start].at + PASSAGE as u32 {
            score += count(&hits[end], 1);
            end += 1;
        }
        let overlaps = peaks.last().is_some_and(|last| last.hits.end > start);
        let window = Window { score, hits: start..end };
        match peaks.last_mut() {
            // A little more, so that sums in another order are not taken for better.
            Some(last) if overlaps && score > last.score + 1e-9 => *last = window,
            Some(_) if overlaps => {}
            _ => peaks.push(window),
        }
        score += count(&hits[start], -1);
    }
    peaks.sort_by(|a, b| b.score.total_cmp(&a.score));
    peaks.truncate(limit);
    peaks
}

/// A place in a text with some words on either side of it, on the same lines.
fn around(bytes: &[u8], place: Range<usize>) -> Range<usize> {
    let before = &bytes[place.start.saturating_sub(AROUND)..place.start];
    let after = &bytes[place.end..bytes.len().min(place.end + AROUND)];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
    let start = match line_start {
        Some(start) => start,
        None if before.len() == place.start => 0,
        None => before.iter().position(u8::is_ascii_whitespace).map_or(before.len(), |at| at + 1),
    };
    let line_end = after.iter().position(|&byte| byte == b'\n');
    let end = match line_end {
        Some(end) => end,
        None if place.end + after.len() == bytes.len() => after.len(),
        None => after.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0),
    };
    place.start - before.len() + start..place.end + end
}
