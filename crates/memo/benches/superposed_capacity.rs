//! Capacity: the rule of the paper's Fig. 3 on one superposed matrix, and the prediction of docs/engine.md beside it.
//!
//! `cargo bench -p memo --bench superposed_capacity`
//!
//! Random sequences of four symbols out of 100,000, each followed by a random symbol; the share that comes back, by
//! parameters a stored pair.

use memo::random::{Purpose, Stream};
use memo::superposed::readout::{ReadOut, Scratch, Sum};
use memo::superposed::{Memory, Settings, Slot, Span};

fn main() {
    let parameters: u64 = 1 << 20;
    println!(
        "{:>16} {:>10} {:>10} {:>10} {:>10}",
        "parameters/pair", "K=1", "K=2", "K=4", "predicted"
    );
    for per_pair in [28, 30, 32, 33, 34, 35, 36, 38, 40, 44, 48] {
        let accuracies =
            [1, 2, 4].map(|copies| accuracy(parameters, parameters / per_pair, copies));
        let [one, two, four] = accuracies;
        println!(
            "{per_pair:>16} {one:>10.3} {two:>10.3} {four:>10.3} {:>10.3}",
            predicted(per_pair as f64)
        );
    }
}

fn accuracy(parameters: u64, pairs: u64, copies: u32) -> f64 {
    let slot = Slot {
        skip: 0,
        len: 4,
        rows: parameters / 256,
        width: 256,
        copies,
        bucketed: false,
        bound: true,
    };
    let settings =
        Settings { vocabulary: 100_001, end: 100_000, seed: 1, heads: 2, slots: vec![slot] };
    let mut memory = Memory::new(settings).unwrap();
    let mut reader = Stream::new(2, Purpose::Sampling, 0).draws();
    let sequences: Vec<Vec<u32>> = (0..pairs).map(|_| reader.tokens(5, 100_000)).collect();
    let passages: Vec<Span<'_>> = sequences.iter().map(|s| Span::part(s, 4..5, 1)).collect();
    memory.write(&passages).unwrap();
    let mut scratch = Scratch::default();
    let tried: Vec<&Vec<u32>> = sequences.iter().step_by(sequences.len() / 1000).collect();
    let right = tried.iter().filter(|s| Sum.best(&memory, &s[..4], &mut scratch).unwrap() == s[4]);
    right.count() as f64 / tried.len() as f64
}

/// The probability that 1 plus noise of variance 1/ρ exceeds the noise of 100,000 other symbols.
fn predicted(per_pair: f64) -> f64 {
    let (sigma, steps) = ((1.0 / per_pair).sqrt(), 2000);
    let normal = |z: f64| (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let below = |z: f64| 1.0 - libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
    (0..steps)
        .map(|i| {
            let z = (f64::from(i) + 0.5) / f64::from(steps) * 12.0 - 6.0;
            normal(z) * 12.0 / f64::from(steps) * below(1.0 / sigma + z).powf(99_999.0)
        })
        .sum()
}
