//! Speed: how fast both engines memorize and answer, by size, by threads and by load, beside what this machine allows.

mod bounds;
mod dense;
mod page;
mod sparse;
mod texts;

use crate::{Error, Lab, Options, Page, Setting, on_threads, seconds};
use memo::codes::CodeKind;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Tokens in the vocabulary, as many as GPT-2 has.
const VOCABULARY: u32 = 50_257;

/// An engine and its size under test.
#[derive(Clone, Debug, PartialEq)]
enum Point {
    /// The sparse engine with so many cells.
    Sparse { cells: u64, threads: usize },
    /// The sparse engine as it fills with natural or random text.
    Load { cells: u64, natural: bool },
    /// The dense engine.
    Dense { codes: CodeKind, dim: usize, threads: usize },
}

impl Setting for Point {
    fn key(&self) -> String {
        match self {
            Point::Sparse { cells, threads } => {
                format!("sparse, {} MiB of cells, {threads} threads", cells >> 20)
            }
            Point::Load { natural, .. } => {
                format!("sparse, filling, {} text", if *natural { "natural" } else { "random" })
            }
            Point::Dense { codes, dim, threads } => {
                format!("dense, {codes:?}, d = {dim}, {threads} threads")
            }
        }
    }

    fn cost(&self) -> f64 {
        match self {
            Point::Sparse { cells, .. } => 4.0 + (cells >> 26) as f64,
            Point::Load { .. } => 12.0,
            Point::Dense { codes, dim, .. } => {
                let size = *dim as f64 / 1024.0;
                if *codes == CodeKind::Gaussian { 2.0 + 8.0 * size * size } else { 2.0 + size }
            }
        }
    }
}

/// The timings at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Timed {
    Sparse(sparse::Timed),
    Load(Vec<sparse::Loaded>),
    Dense(dense::Timed),
}

/// The size of the experiment.
struct Grid {
    points: Vec<Point>,
    /// The most tokens that are memorized while the clock runs.
    tokens: usize,
    /// Bytes that no cache holds.
    beyond_caches: usize,
    loads: Vec<f64>,
    /// Chunks of 1,024 tokens that dense models memorize: Gaussian, Hadamard.
    chunks: (usize, usize),
}

impl Grid {
    fn new(options: &Options) -> Self {
        let quick = options.quick;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let all = if options.threads == 0 { cores } else { options.threads };
        // 1, 2, 4, … and all of them.
        let mut threads: Vec<usize> =
            std::iter::successors(Some(1), |t| Some(t * 2)).take_while(|t| *t < all).collect();
        threads.push(all);
        let sizes: &[u64] = if quick { &[8, 32] } else { &[8, 32, 128, 512, 1024] };
        let middle = if quick { 32 << 20 } else { 128 << 20 };
        let mut points: Vec<Point> =
            sizes.iter().map(|mib| Point::Sparse { cells: mib << 20, threads: all }).collect();
        let fewer = threads.iter().filter(|t| **t < all);
        points.extend(fewer.clone().map(|t| Point::Sparse { cells: middle, threads: *t }));
        let filling = if quick { 8 << 20 } else { 32 << 20 };
        points.extend([true, false].map(|natural| Point::Load { cells: filling, natural }));
        let (hadamard, gaussian): (&[usize], &[usize]) = if quick {
            (&[512, 1024], &[512])
        } else {
            (&[512, 1024, 2048, 4096], &[512, 1024, 2048])
        };
        let dense = |codes, dims: &[usize]| -> Vec<Point> {
            dims.iter().map(|dim| Point::Dense { codes, dim: *dim, threads: all }).collect()
        };
        points.extend(dense(CodeKind::Hadamard, hadamard));
        points.extend(dense(CodeKind::Gaussian, gaussian));
        let dim = if quick { 1024 } else { 2048 };
        let codes = CodeKind::Hadamard;
        points.extend(fewer.map(|t| Point::Dense { codes, dim, threads: *t }));
        Grid {
            points,
            tokens: if quick { 200_000 } else { 1_000_000 },
            beyond_caches: if quick { 256 << 20 } else { 1 << 30 },
            loads: if quick {
                vec![0.25, 1.0, 2.0]
            } else {
                vec![0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0]
            },
            chunks: if quick { (2, 8) } else { (4, 30) },
        }
    }
}

/// Runs the experiment.
pub fn run(lab: &Lab<'_>) -> Result<Page, Error> {
    on_grid(lab, &Grid::new(lab.options()))
}

fn on_grid(lab: &Lab<'_>, grid: &Grid) -> Result<Page, Error> {
    let seed = lab.options().seed;
    // Rates of one machine must not be continued on another number of threads.
    let threads = format!("{} threads", lab.options().threads);
    let measured = lab.measure("speed", &threads, &grid.points, |point| time(point, grid, seed))?;
    let provenance = lab.provenance(seconds(&measured));
    let results: Vec<(Point, Timed)> =
        grid.points.iter().cloned().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&results, provenance))
}

fn time(point: &Point, grid: &Grid, seed: u64) -> Result<Timed, Error> {
    match point {
        Point::Sparse { cells, threads } => on_threads(*threads, || {
            sparse::timed(*cells, grid.tokens, grid.beyond_caches, seed).map(Timed::Sparse)
        }),
        Point::Load { cells, natural } => {
            sparse::loaded(*cells, &grid.loads, *natural, seed).map(Timed::Load)
        }
        Point::Dense { codes, dim, threads } => on_threads(*threads, || {
            let (gaussian, hadamard) = grid.chunks;
            let chunks = if *codes == CodeKind::Gaussian { gaussian } else { hadamard };
            dense::timed(*codes, *dim, chunks, seed).map(Timed::Dense)
        }),
    }
}

/// The seconds of the fastest of a few rounds, because other work on the machine can only slow a round down.
fn best_of(rounds: usize, mut work: impl FnMut()) -> f64 {
    let mut round = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..rounds).map(|_| round()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_timed_and_what_is_bounded_stays_below_its_bound() {
        let codes = CodeKind::Hadamard;
        let points = vec![
            Point::Sparse { cells: 1 << 20, threads: 2 },
            Point::Load { cells: 1 << 18, natural: true },
            Point::Dense { codes, dim: 64, threads: 1 },
            Point::Dense { codes: CodeKind::Gaussian, dim: 64, threads: 1 },
        ];
        let grid = Grid {
            points,
            tokens: 4_000,
            beyond_caches: 1 << 22,
            loads: vec![0.5, 2.0],
            chunks: (1, 1),
        };
        for point in &grid.points {
            match time(point, &grid, 1).unwrap() {
                Timed::Sparse(timed) => {
                    // By hand: K = 2 rows in each of two slots of 64 cells and five of 256, read and written.
                    assert_eq!(timed.moved, 5_632.0);
                    assert_eq!(timed.threads, 2);
                    assert!(timed.memorize > 0.0 && timed.distribution > 0.0 && timed.stream > 0.0);
                    assert!(timed.cell_bytes > 92.0 * 0.9, "{timed:?}");
                }
                Timed::Load(loads) => {
                    assert_eq!(loads.len(), 2);
                    assert_eq!(loads[1].tokens, (1 << 19) / 92);
                }
                Timed::Dense(timed) => {
                    assert!(timed.batch > 0.0 && timed.query > 0.0);
                    // 3/4 for W_V, 8 for Prj, 1 for the update, two operations each.
                    let operations = timed.operations.map(|o| o / f64::from(64 * 64));
                    assert!(operations.is_none_or(|o| o == 19.5), "{timed:?}");
                    // Matrix products cannot be faster than the matrix product, but for the noise of small ones.
                    if let Some(operations) = timed.operations {
                        assert!(timed.memorize * operations < 5.0 * timed.product, "{timed:?}");
                    }
                }
            }
        }
        let options = Options { seed: 1, threads: 2, ..Options::default() };
        let page = on_grid(&Lab::new(options, &["memo".to_owned()], &()), &grid).unwrap();
        let text = page.markdown();
        assert!(text.contains("Cost against load") && text.contains("Gaussian"), "{text}");
    }

    #[test]
    fn the_grid_has_fewer_threads_at_one_size_of_each_engine() {
        let grid = Grid::new(&Options { threads: 4, ..Options::default() });
        let few = |p: &&Point| {
            matches!(p, Point::Sparse { threads: 1 | 2, .. } | Point::Dense { threads: 1 | 2, .. })
        };
        assert_eq!(grid.points.iter().filter(few).count(), 4);
        assert_eq!(grid.points.len(), 5 + 2 + 2 + 4 + 3 + 2);
    }
}
