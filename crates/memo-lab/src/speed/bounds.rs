//! What this machine allows: the rates at which it multiplies matrices and moves memory, measured here and now.

use super::best_of;
use crate::Error;
use memo::dense::CorrelationMemory;
use memo::random::{Purpose, Stream};
use memo::superposed::Ram;
use rayon::prelude::*;
use std::hint::black_box;

/// Rows of the matrix product: as many as memorizing takes at a time.
const ROWS: usize = 1024;

/// Floating-point operations a second of the product 1,024 × d × d, all threads.
pub(super) fn products(dim: usize) -> f64 {
    let memory = CorrelationMemory::new(dim, dim);
    let keys = vec![1.0f32; ROWS * dim];
    let seconds = best_of(3, || {
        black_box(memory.read_batch(&keys));
    });
    2.0 * (ROWS * dim * dim) as f64 / seconds
}

/// Bytes a second of reading and writing an array in order, all threads. The array should be larger than any cache.
pub(super) fn stream(bytes: usize) -> Result<f64, Error> {
    let mut array = Ram::new(bytes)?;
    let part = bytes.div_ceil(rayon::current_num_threads());
    let mut pass = || {
        array
            .bytes_mut()
            .par_chunks_mut(part)
            .for_each(|part| part.iter_mut().for_each(|cell| *cell = cell.wrapping_add(3)));
    };
    // The first pass makes the system hand out pages.
    pass();
    Ok(2.0 * bytes as f64 / best_of(5, pass))
}

/// Bytes a second of reading and writing rows of 64 and 256 bytes at random places, in the default slots' proportion.
pub(super) fn random_rows(bytes: usize) -> Result<f64, Error> {
    let mut array = Ram::new(bytes)?;
    let threads = rayon::current_num_threads();
    let part = bytes.div_ceil(threads);
    let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
    let lines = (part / 64).saturating_sub(8).max(1) as u64;
    let visits: Vec<(usize, usize)> = (0..300_000)
        .map(|visit| {
            let length = if visit % 14 < 4 { 64 } else { 256 };
            (reader.below(lines) as usize * 64, length)
        })
        .collect();
    let touched: usize = visits.iter().map(|(_, length)| 2 * length).sum();
    let mut pass = || {
        array.bytes_mut().par_chunks_mut(part).for_each(|part| {
            for &(first, length) in &visits {
                let end = (first + length).min(part.len());
                part[first.min(end)..end].iter_mut().for_each(|cell| *cell = cell.wrapping_add(3));
            }
        });
    };
    pass();
    Ok((touched * threads) as f64 / best_of(4, pass))
}
