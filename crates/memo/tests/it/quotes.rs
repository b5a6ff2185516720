//! Quotes: what follows a cue is what followed it, however short the cue and however carelessly it was typed.

use crate::sparse_common::memory_of;
use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, Generation, Repair, Sampling, Scratch};
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use std::collections::HashMap;
use std::sync::Arc;

/// Contexts of a few lengths answer like the longest match, of any length: a cue that occurs once goes on as it did there, also
/// where the contexts that the memory has are shorter and stand elsewhere too.
#[test]
fn a_cue_of_any_length_goes_on_where_it_stands() {
    let vocabulary = 5;
    let mut draws = Stream::new(4, Purpose::Sampling, 0).draws();
    let text: Vec<u32> = (0..6_000).map(|_| draws.below(4) as u32).collect();
    let memory = memory_of(&text, vocabulary);
    for len in 5..=30 {
        let mut seen: HashMap<&[u32], u32> = HashMap::new();
        text.windows(len).for_each(|cue| *seen.entry(cue).or_default() += 1);
        let (mut tried, mut right) = (0, 0);
        for place in (0..text.len() - len - 8).step_by(37) {
            let (cue, next) = text[place..].split_at(len);
            if seen[cue] > 1 {
                continue;
            }
            tried += 1;
            let mut generation = Generation::new(cue, Sampling::default()).quoting();
            let said: Vec<u32> =
                (0..8).map(|_| generation.step(&memory, &BACKOFF).unwrap()).collect();
            right += i32::from(said == next[..8]);
        }
        assert!(right * 100 >= tried * 99, "{right} of {tried} after {len} tokens");
    }
}

/// A cue is told apart also where something else follows its end most often, and goes on in more ways than can be looked at.
#[test]
fn a_cue_goes_on_where_it_stands_beside_what_is_frequent() {
    let indentation: Vec<u32> = (1..=16).collect();
    let mut text = Vec::new();
    for other in 100..1_600 {
        text.extend_from_slice(&indentation);
        text.extend([20, other]);
    }
    let cue = [&[17, 18, 19], &indentation[..]].concat();
    text.extend_from_slice(&cue);
    text.extend([21, 22, 23]);
    let memory = memory_of(&text, 2_000);
    let mut generation = Generation::new(&cue, Sampling::default()).quoting();
    let said: Vec<u32> = (0..3).map(|_| generation.step(&memory, &BACKOFF).unwrap()).collect();
    assert_eq!(said, [21, 22, 23]);
}

const STORY: &str = "In the Harbour office every captain signed the heavy register before breakfast. Then nobody spoke \
    until the whistle blew again across the water. The old pilot kept seven lanterns in his cellar, and he counted them \
    twice whenever fog came in. \"Never trust a quiet tide,\" he told the children. They laughed at him, but each of them \
    learned the names of the rocks by heart. In winter the Harbour office was closed, and every letter waited for the \
    first ship of spring. Some captains never came back for theirs.";

/// Words with the space before them, and symbols, as tokens.
struct Text {
    pieces: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Text {
    fn new() -> Self {
        Text { pieces: Vec::new(), numbers: HashMap::new() }
    }

    fn encode(&mut self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let word = |c: char| c.is_alphanumeric();
            let space = usize::from(rest.starts_with(' '));
            let end = match rest[space..].find(|c| !word(c)) {
                Some(0) => space + rest[space..].chars().next().map_or(0, char::len_utf8),
                Some(end) => space + end,
                None => rest.len(),
            };
            let (piece, after) = rest.split_at(end);
            let next = self.pieces.len() as u32;
            let number = *self.numbers.entry(piece.to_owned()).or_insert_with(|| {
                self.pieces.push(piece.to_owned());
                next
            });
            tokens.push(number);
            rest = after;
        }
        tokens
    }

    fn decode(&self, tokens: &[u32]) -> String {
        tokens.iter().map(|&token| self.pieces[token as usize].as_str()).collect()
    }
}

/// A memory of the story, with room for tokens that only prompts have.
fn story() -> (Memory, Text) {
    let mut text = Text::new();
    let tokens = text.encode(STORY);
    let settings = Settings::new(1_000, 999, 7).unwrap().with_words();
    (memory_with(&settings, &text, &tokens), text)
}

fn memory_with(settings: &Settings, text: &Text, tokens: &[u32]) -> Memory {
    let pieces = text.pieces.iter().cloned().chain(std::iter::repeat(String::new()));
    let words = Arc::new(Words::new(pieces.take(1_000)));
    let mut memory = Memory::with_words(settings.clone(), Some(words)).unwrap();
    memory.memorize(tokens).unwrap();
    memory
}

/// How a prompt is put right, and the text that the memory of the story goes on with.
fn repaired(prompt: &str) -> (Option<Repair>, String) {
    repaired_in(STORY, prompt)
}

fn repaired_in(story: &str, prompt: &str) -> (Option<Repair>, String) {
    continued_in(story, prompt, 4)
}

fn continued_in(story: &str, prompt: &str, count: usize) -> (Option<Repair>, String) {
    let mut text = Text::new();
    let (tokens, prompt) = (text.encode(story), text.encode(prompt));
    // Words of the prompt that the story lacks have their letters too.
    let settings = Settings::new(1_000, 999, 7).unwrap().with_words();
    let memory = memory_with(&settings, &text, &tokens);
    let mut scratch = Scratch::default();
    let matching = BACKOFF.matching(&memory, &prompt, &mut scratch).unwrap();
    let repair = BACKOFF.repair(&memory, &prompt, &matching, &mut scratch).unwrap();
    let context = repair.as_ref().map_or(prompt, |repair| repair.context.clone());
    let mut generation = Generation::new(&context, Sampling::default()).quoting();
    let said: Vec<u32> = (0..count).map(|_| generation.step(&memory, &BACKOFF).unwrap()).collect();
    (repair, text.decode(&said))
}

#[test]
fn a_careless_quote_is_put_right() {
    for (prompt, next) in [
        // A typo, in the last word and before.
        (" every captain signed the haevy", " register before breakfast."),
        (" every captian signed the heavy", " register before breakfast."),
        // A word that is missing, doubled, or exchanged with its neighbour.
        ("kept seven lanterns in cellar", ", and he counted"),
        ("kept seven seven lanterns in", " his cellar, and"),
        ("the whistle again blew across", " the water. The"),
        // Another word.
        ("Never trust a silent tide,\" he told", " the children. They"),
        // Case, line ends and commas.
        ("IN WINTER THE HARBOUR OFFICE", " was closed, and"),
        ("until the\nwhistle blew\nagain", " across the water."),
        ("they laughed at him but each", " of them learned the"),
        // Both.
        ("they laughed at hmi but each", " of them learned the"),
    ] {
        let (repair, said) = repaired(prompt);
        assert_eq!(said, next, "{prompt}: {repair:?}");
        assert!(repair.is_some(), "{prompt}");
    }
}

/// People write words apart or together, and numbers with separators of their own.
#[test]
fn words_may_be_joined_or_split() {
    for (prompt, next) in [
        ("pilot kept sevenlanterns in his", " cellar, and he"),
        ("breakfast. Then no body spoke until", " the whistle blew again"),
    ] {
        let (repair, said) = repaired(prompt);
        assert_eq!(said, next, "{prompt}: {repair:?}");
        assert_eq!(repair.unwrap().differences, 1, "{prompt}");
    }
    let text = "The mill sold 1,234,567 sacks of grain before the re-\nopening of the canal. Nobody minded the noise.";
    for (prompt, next) in [
        ("The mill sold 1234567 sacks of", " grain before the re"),
        ("sacks of grain before the reopening of", " the canal."),
    ] {
        let (repair, said) = repaired_in(text, prompt);
        assert!(said.starts_with(next), "{prompt}: {said}, {repair:?}");
        assert!(repair.is_some(), "{prompt}");
    }
}

#[test]
fn accents_may_be_left_out() {
    let text = "Le vieux pêcheur a répété la même prière à l’été passé devant la mer démontée.";
    let (repair, said) = repaired_in(text, "le vieux pecheur a repete la meme");
    assert_eq!(said, " prière à l’", "{repair:?}");
    assert_eq!(repair.unwrap().differences, 0);
}

/// An indentation is many tokens, which all follow the words before it.
#[test]
fn a_careless_quote_of_indented_text_goes_on_in_the_next_line() {
    let text = "class Courier:\n        # Deliver a Parcel by Tram and Ferry using\n        # \
        whichever Tunnel is open, as\n            long as the Warden\n            has not locked it, or so they say in town\n";
    for (prompt, next) in [
        ("tram and ferry using", "# whichever Tunnel"),
        ("parcel by tram and ferry using", "# whichever Tunnel"),
        ("long as the warden", "has not locked it, or"),
    ] {
        let (repair, said) = continued_in(text, prompt, 14);
        assert!(said.trim_start().starts_with(next), "{prompt}: {said:?}, {repair:?}");
    }
}

/// Where the memory goes on in several ways, what was typed says in which.
#[test]
fn a_replay_goes_on_with_what_was_typed() {
    let nights = "read the old book of the sea every night and slept. ";
    let text = format!(
        "He {nights}They {nights}She read the old book of the sea once in spring and wept."
    );
    let (repair, said) = repaired_in(&text, "read the old book of the sae once in");
    assert_eq!(said, " spring and wept.", "{repair:?}");
}

#[test]
fn a_short_last_word_is_not_the_beginning_of_another() {
    let text = "Only one of the old trails was routed through the upper town as well.";
    let (repair, said) = repaired_in(text, "one of the old trails was routed the");
    assert_eq!(said, " upper town as well", "{repair:?}");
}

/// The last token of a long quote is another, and a word where a sign was.
#[test]
fn a_wrong_last_token_is_read_as_the_right_one() {
    let (memory, mut text) = story();
    let before = STORY.find(", and he counted").unwrap();
    let mut prompt = text.encode(&STORY[..before]);
    prompt.extend(text.encode(" rocks"));
    let next = BACKOFF.best_repaired(&memory, &prompt, &mut Scratch::default()).unwrap();
    assert_eq!(text.decode(&[next]), " and");
}

#[test]
fn what_differs_is_named() {
    let (repair, _) = repaired("every captain signed the haevy register");
    let repair = repair.unwrap();
    assert_eq!((repair.differ, repair.differences), ((4..5, 4..5), 1));
    let (repair, _) = repaired("IN WINTER THE HARBOUR OFFICE");
    assert_eq!(repair.unwrap().differences, 0);
}

#[test]
fn what_is_new_is_not_put_right() {
    for prompt in [
        "The price of copper fell again",
        "every captain bought a green umbrella",
        "the old parrot kept nine",
        "Some years ago, never mind how long",
        "The old pilot sold",
    ] {
        let (repair, _) = repaired(prompt);
        assert_eq!(repair, None, "{prompt}");
    }
}

#[test]
fn runs_say_how_much_stands_together() {
    let (memory, mut text) = story();
    let tokens = text.encode(" captain signed the heavy register in his cellar");
    let known: Vec<u32> = tokens.iter().copied().filter(|&token| token < 900).collect();
    let matching = BACKOFF.matching(&memory, &known, &mut Scratch::default()).unwrap();
    assert_eq!(matching.runs, [0, 1, 2, 3, 4, 5, 1, 2, 3]);
    assert!(!matching.is_quote() && matching.is_settled(), "its end stands there once");
}
