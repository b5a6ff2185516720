//! The sparse engine, timed: by size, by threads, and as it fills.

use super::{VOCABULARY, best_of, bounds, texts};
use crate::Error;
use memo::superposed::readout::{BACKOFF, ReadOut, Scratch};
use memo::superposed::{Memory, PARAMETERS_PER_TOKEN, Settings, Shape};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::Instant;

/// Tokens of prompt.
const PROMPT: usize = 64;

/// The timings at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Timed {
    pub(super) cells: u64,
    pub(super) threads: usize,
    pub(super) tokens: usize,
    /// Tokens a second.
    pub(super) memorize: f64,
    pub(super) forget: f64,
    /// Microseconds of one query on one thread: all probabilities, and the most probable token alone.
    pub(super) distribution: f64,
    pub(super) best: f64,
    /// Bytes held a token.
    pub(super) cell_bytes: f64,
    pub(super) table_bytes: f64,
    /// Bytes of cells that memorizing a token reads and writes.
    pub(super) moved: f64,
    /// Bytes a second that memory gives in order, and by rows at random.
    pub(super) stream: f64,
    pub(super) rows: f64,
}

/// The timings at one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Loaded {
    /// Tokens memorized, over those that the memory is made for.
    pub(super) load: f64,
    pub(super) tokens: usize,
    pub(super) memorize: f64,
    pub(super) distribution: f64,
    pub(super) best: f64,
}

fn memory(cells: u64, seed: u64) -> Result<Memory, Error> {
    let settings = Settings::new(VOCABULARY, VOCABULARY - 1, seed, &Shape::default(), cells)?;
    Ok(Memory::new(settings)?)
}

/// Times a memory of so many cells, filled with natural text as far as it is made for. The clock runs for the last half
/// of the text, but for at most `most` tokens.
pub(super) fn timed(
    cells: u64,
    most: usize,
    beyond_caches: usize,
    seed: u64,
) -> Result<Timed, Error> {
    let tokens = ((cells / PARAMETERS_PER_TOKEN) as usize).max(256);
    let text = texts::natural(tokens, VOCABULARY - 1, seed);
    let mut memory = memory(cells, seed)?;
    let (known, rest) = text.split_at(tokens - (tokens / 2).min(most));
    memory.memorize(known)?;
    let stream = bounds::stream(beyond_caches)?;
    let rows = bounds::random_rows(cells as usize)?;
    let (mut memorize, mut forget) = (0f64, 0f64);
    for round in 0..5 {
        let start = Instant::now();
        memory.memorize(rest)?;
        memorize = memorize.max(rest.len() as f64 / start.elapsed().as_secs_f64());
        if round < 4 {
            let start = Instant::now();
            memory.forget(rest)?;
            forget = forget.max(rest.len() as f64 / start.elapsed().as_secs_f64());
        }
    }
    let (distribution, best) = queries(&memory, &text)?;
    // Bounds once more, so that a machine that was disturbed meanwhile is not taken for a slow one.
    let stream = stream.max(bounds::stream(beyond_caches)?);
    let held = memory.usage();
    let slots = &memory.settings().slots;
    let per_token = |bytes: usize| bytes as f64 / tokens as f64;
    Ok(Timed {
        cells: memory.settings().parameters(),
        threads: rayon::current_num_threads(),
        tokens,
        memorize,
        forget,
        distribution,
        best,
        cell_bytes: per_token(held.cells + held.wide),
        table_bytes: per_token(held.tables),
        moved: slots.iter().map(|slot| 2.0 * f64::from(slot.copies * slot.width)).sum(),
        stream,
        rows,
    })
}

/// Times a memory again and again while it fills, far beyond what it is made for. `natural` text repeats itself.
pub(super) fn loaded(
    cells: u64,
    loads: &[f64],
    natural: bool,
    seed: u64,
) -> Result<Vec<Loaded>, Error> {
    let whole = cells as f64 / PARAMETERS_PER_TOKEN as f64;
    let most = loads.iter().fold(0.0f64, |most, load| most.max(*load));
    let make = if natural { texts::natural } else { texts::random };
    let piece = (whole / 8.0) as usize;
    let text = make((most * whole) as usize + piece, VOCABULARY - 1, seed);
    let mut memory = memory(cells, seed)?;
    let mut written = 0;
    let mut results = Vec::new();
    for &load in loads {
        let to = (load * whole) as usize;
        memory.memorize(&text[written..to])?;
        written = to;
        let next = &text[to..to + piece];
        let mut memorize = 0f64;
        for _ in 0..4 {
            let start = Instant::now();
            memory.memorize(next)?;
            memorize = memorize.max(piece as f64 / start.elapsed().as_secs_f64());
            memory.forget(next)?;
        }
        let (distribution, best) = queries(&memory, &text[..to])?;
        results.push(Loaded { load, tokens: to, memorize, distribution, best });
    }
    Ok(results)
}

/// Microseconds of a query at random places of a text: all probabilities, and the most probable token alone. The best of
/// a few rounds over the same places.
fn queries(memory: &Memory, text: &[u32]) -> Result<(f64, f64), Error> {
    let mut scratch = Scratch::default();
    let places: Vec<usize> = (0..150)
        .map(|q| PROMPT + q * 7919 % text.len().saturating_sub(PROMPT).max(1))
        .filter(|place| *place <= text.len())
        .collect();
    let mut failed = None;
    let mut time = |best: bool| {
        let seconds = best_of(4, || {
            for &place in &places {
                let context = &text[place - PROMPT..place];
                let answer = if best {
                    BACKOFF.best(memory, context, &mut scratch)
                } else {
                    BACKOFF.distribution(memory, context, &mut scratch).map(|d| d.best())
                };
                match answer {
                    Ok(answer) => {
                        black_box(answer);
                    }
                    Err(error) => failed = Some(error),
                }
            }
        });
        seconds * 1e6 / places.len().max(1) as f64
    };
    let times = (time(false), time(true));
    failed.map_or(Ok(times), |error| Err(error.into()))
}
