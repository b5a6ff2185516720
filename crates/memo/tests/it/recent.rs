//! The context memory: what a text says itself is expected again, wherever it is asked, and nowhere else.

use crate::sparse_common::{Contexts, empty, text};
use memo::readout::{BACKOFF, Backoff, Generation, Generator, Sampling, Scratch, best_all, score};
use memo::sparse::Memory;

const ON: fn() -> Backoff = || Backoff { recent: 1.0, ..Backoff::default() };

fn memory(contexts: Contexts) -> Memory {
    let mut memory = empty(300, contexts);
    memory.memorize(&text(4_000, 300, 5)).unwrap();
    memory
}

/// A text that the memory does not have, which keeps saying the same in other places.
fn new_text(len: usize) -> Vec<u32> {
    let (names, other) = (text(40, 299, 71), text(len, 299, 72));
    (0..len).map(|p| if p % 40 < 12 { names[p % 40 + p % 3] } else { other[p] }).collect()
}

/// All ways to ask agree to the last bit, and all probabilities are one.
#[test]
fn distributions_with_a_context_memory_agree_with_themselves() {
    for contexts in [Contexts::Classes, Contexts::Words] {
        let (memory, new) = (memory(contexts), new_text(900));
        let mut scratch = Scratch::default();
        for (p, recent) in (1..900).step_by(7).zip([1.0, 0.5, 0.0, 3.0].into_iter().cycle()) {
            let readout = Backoff { recent, ..Backoff::default() };
            let distribution = readout.distribution(&memory, &new[..p], &mut scratch).unwrap();
            let dense = distribution.dense().unwrap();
            let whole = dense.iter().sum::<f64>();
            assert!((whole - 1.0).abs() < 1e-9, "{whole}");
            for token in 0..300 {
                assert_eq!(distribution.probability(token).unwrap(), dense[token as usize]);
            }
            let mut order: Vec<u32> = (0..300).collect();
            order.sort_by(|&a, &b| dense[b as usize].total_cmp(&dense[a as usize]).then(a.cmp(&b)));
            assert_eq!(distribution.best().unwrap(), order[0]);
            let top = distribution.top(300).unwrap();
            let expected: Vec<(u32, f64)> =
                order.iter().map(|&token| (token, dense[token as usize])).collect();
            assert_eq!(top, expected);
        }
    }
}

/// A text is scored on all cores, in runs that begin anywhere; each position is what it is on its own.
#[test]
fn positions_do_not_depend_on_what_was_asked_before() {
    let (memory, new) = (memory(Contexts::Words), new_text(5_000));
    let scores = score(&memory, &ON(), &new).unwrap();
    let best = best_all(&memory, &ON(), &new).unwrap();
    let window = ON().window(&memory);
    for p in (0..5_000).step_by(611) {
        let alone = |context: &[u32]| {
            let readout = ON();
            let mut scratch = Scratch::default();
            let distribution = readout.distribution(&memory, context, &mut scratch).unwrap();
            libm::log(distribution.probability(new[p]).unwrap())
        };
        assert_eq!(scores[p], alone(&new[..p]), "{p}");
        assert_eq!(scores[p], alone(&new[p.saturating_sub(window)..p]), "{p}");
        let readout = ON();
        let expected = readout.best_ahead(&memory, &new[..p], &mut Scratch::default()).unwrap();
        assert_eq!(best[p], expected);
    }
}

/// Names and phrases that a text keeps using are expected again; without being asked, nothing changes.
#[test]
fn what_a_text_keeps_saying_is_expected_again() {
    let (memory, new) = (memory(Contexts::Words), new_text(3_000));
    let mean = |readout: &Backoff, from: usize| {
        let scores = score(&memory, readout, &new).unwrap();
        scores[from..].iter().sum::<f64>() / (scores.len() - from) as f64
    };
    let (off, on) = (mean(&BACKOFF, 1_000), mean(&ON(), 1_000));
    assert!(on > off + 0.2, "{on} for {off}");
    assert_eq!(
        score(&memory, &Backoff { recent: 0.0, ..ON() }, &new).unwrap(),
        score(&memory, &BACKOFF, &new).unwrap()
    );
}

/// What is memorized is recalled as without it.
#[test]
fn recall_does_not_fall() {
    let (memory, known) = (memory(Contexts::Words), text(4_000, 300, 5));
    let right = |readout: &Backoff| {
        let best = best_all(&memory, readout, &known).unwrap();
        known.iter().zip(&best).skip(1).filter(|(a, b)| a == b).count()
    };
    let (off, on) = (right(&BACKOFF), right(&ON()));
    assert!(on >= off, "{on} for {off}");
}

/// Documents have no neighbours: what was said before an end is not expected after it.
#[test]
fn an_end_ends_it() {
    let (memory, new) = (memory(Contexts::Words), new_text(600));
    let end = memory.settings().end;
    let both = [&new[..], &[end], &new[40..43]].concat();
    let readout = ON();
    let mut scratch = Scratch::default();
    let after = readout.distribution(&memory, &both, &mut scratch).unwrap().dense().unwrap();
    let alone = readout.distribution(&memory, &new[40..43], &mut scratch).unwrap();
    assert_eq!(after, alone.dense().unwrap());
}

/// While a prompt is continued the context memory has the prompt alone, so that completions do not repeat themselves.
#[test]
fn a_completion_does_not_remember_itself() {
    let (memory, prompt) = (memory(Contexts::Words), new_text(900));
    let said: Vec<u32> = Generator::new(&memory, &ON(), &prompt, Sampling::default())
        .take(100)
        .collect::<Result<_, _>>()
        .unwrap();
    let mut generation = Generation::new(&prompt, Sampling::default());
    let readout = ON();
    let mut differs = false;
    for (p, &token) in said.iter().enumerate() {
        let look = |seen: &memo::readout::Distribution<'_>, _: u32| seen.dense();
        let (next, seen) = generation.step_seen(&memory, &readout, look).unwrap();
        assert_eq!(next, token);
        let context = [&prompt[..], &said[..p]].concat();
        let whole = readout.distribution(&memory, &context, &mut Scratch::default()).unwrap();
        differs |= seen != whole.dense().unwrap();
        // Nothing is expected again that stands in the completion alone.
        let off = BACKOFF.distribution(&memory, &context, &mut Scratch::default()).unwrap();
        for token in said[..p].iter().filter(|token| !prompt.contains(token)) {
            assert!(seen[*token as usize] <= off.probability(*token).unwrap());
        }
    }
    assert!(differs);
}

/// Tokens are drawn as often as they are probable.
#[test]
fn tokens_of_the_prompt_are_drawn_as_often_as_they_are_probable() {
    let (memory, prompt) = (memory(Contexts::Words), new_text(900));
    let mut scratch = Scratch::default();
    let expected = ON().distribution(&memory, &prompt, &mut scratch).unwrap().dense().unwrap();
    let tries = 4_000;
    let mut seen = vec![0.0; expected.len()];
    for seed in 0..tries {
        let sampling = Sampling { temperature: 1.0, seed, ..Sampling::default() };
        let mut generation = Generation::new(&prompt, sampling).with_scratch(scratch.clone());
        seen[generation.step(&memory, &ON()).unwrap() as usize] += 1.0 / tries as f64;
    }
    for (seen, p) in seen.into_iter().zip(expected) {
        // Five standard deviations, and two draws of what is hardly ever drawn.
        let most = 5.0 * (p * (1.0 - p) / tries as f64).sqrt() + 2.0 / tries as f64;
        assert!((seen - p).abs() <= most, "{seen} for {p}");
    }
}
