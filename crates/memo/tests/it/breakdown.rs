//! A probability taken apart is the sum of its parts.

use crate::sparse_common::{Contexts, empty, text};
use memo::readout::{Backoff, Scratch};
use memo::sparse::Context;

/// Whatever is read, and however: the terms of every token add up to its probability, and what contexts share out to 1.
#[test]
fn shares_add_up_to_the_distribution() {
    let known = text(4_000, 300, 5);
    for contexts in [Contexts::Classes, Contexts::Words] {
        let mut memory = empty(300, contexts);
        memory.memorize(&known).unwrap();
        let mut scratch = Scratch::default();
        let mut quoted = 0;
        for (i, recent) in (0..60).zip([1.0, 0.0].into_iter().cycle()) {
            // Some of a text that is known, and some that is not.
            let mut context = known[i * 50..i * 50 + i].to_vec();
            if i % 3 == 0 {
                context.extend(text(i, 299, i as u64));
            }
            let readout = Backoff { recent, ..Backoff::default() };
            let breakdown = readout.breakdown(&memory, &context, &mut scratch).unwrap();
            let weights: f64 = breakdown.contexts.iter().map(|context| context.weight).sum();
            let whole =
                weights + breakdown.prior + breakdown.quote + breakdown.general + breakdown.recent;
            assert!((whole - 1.0).abs() < 1e-12, "{whole}");
            let mut given = vec![0.0; breakdown.contexts.len()];
            for token in 0..300 {
                let shares = breakdown.shares(token);
                let p = breakdown.distribution().probability(token).unwrap();
                assert!((shares.sum() - p).abs() < 1e-12, "{i} {token}: {} {p}", shares.sum());
                given.iter_mut().zip(&shares.contexts).for_each(|(sum, share)| *sum += share);
            }
            for (context, given) in breakdown.contexts.iter().zip(given) {
                assert!((context.weight - given).abs() < 1e-12, "{i} {:?}", context.context);
            }
            quoted += usize::from(breakdown.quote > 0.5);
        }
        assert!(quoted > 10, "{quoted}");
    }
}

/// Contexts that there is text for are all there, with what the tables have of them.
#[test]
fn contexts_say_what_evidence_says() {
    let mut memory = empty(300, Contexts::Words);
    let known = text(2_000, 300, 6);
    memory.memorize(&known).unwrap();
    let context = &known[700..705];
    let breakdown =
        Backoff::default().breakdown(&memory, context, &mut Scratch::default()).unwrap();
    let tokens = |(at, reading): (usize, &memo::readout::ContextReading)| match reading.context {
        Context::Tokens(len) => Some((at, len, reading.from_start)),
        _ => None,
    };
    let found: Vec<(usize, u32, bool)> =
        breakdown.contexts.iter().enumerate().filter_map(tokens).collect();
    // No document begins so, but one could.
    let expected = [1, 2, 3, 4, 5, 5];
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|((_, len, _), expected)| *len == expected));
    assert!(found.iter().all(|&(at, _, start)| start == (at == 5)));
    assert_eq!(breakdown.contexts[5].total, 0);
    for evidence in memory.evidence(context).unwrap() {
        let same = |reading: &memo::readout::ContextReading| {
            reading.context == evidence.context && reading.from_start == evidence.from_start
        };
        let at = breakdown.contexts.iter().position(same).unwrap();
        let reading = &breakdown.contexts[at];
        assert_eq!(reading.total, evidence.total);
        assert_eq!(reading.kinds as usize, evidence.successors.len());
        if reading.weight > 0.0 {
            assert_eq!(breakdown.successors(at, usize::MAX), evidence.successors);
        }
    }
}
