//! Fig. 4: how much text several layers memorize, and whether longer windows see through decoys.

mod authors;
mod linear;
mod model;
mod page;
pub(crate) mod texts;

use self::authors::Authors;
use self::linear::Round;
use self::model::{Engine, Model};
use self::texts::{Batch, CHUNK};
use crate::sources;
use crate::{Error, Lab, Measured, Options, Page, Setting, Share, seconds};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Chunks memorized in an iteration.
const CHUNKS: usize = 30;
const QUICK_CHUNKS: usize = 5;

/// Draws of the smaller curves that are compared with the authors'.
const DRAWS: u64 = 5;

/// The columns of the authors' results, as a page says them.
const COLUMNS: &str = "`dim`, `layers`, `decoys`, `iteration` (counted from 0), and the accuracy on the first texts and on those memorized last, `initial` and `current`";

/// The engines, in the order in which they are run: quick ones first, so that an interruption leaves much.
const ENGINES: [Engine; 8] = [
    Engine::Sparse,
    Engine::Cells,
    Engine::Hadamard,
    Engine::Bind,
    Engine::Gaussian,
    Engine::Product,
    Engine::Stored,
    Engine::Printed,
];

/// One curve: an engine of some size and depth, filled iteration by iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Curve {
    engine: Engine,
    dim: usize,
    layers: usize,
    decoys: usize,
}

/// The curves of one engine, size and depth, one for each number of decoys.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    engine: Engine,
    dim: usize,
    layers: usize,
    decoys: Vec<usize>,
    /// Counted from 0, and added to the seed: other texts, codes and places of decoys.
    draw: u64,
}

impl Run {
    /// Whether it is computed without the matrix, which pays where that is large, windows are long or fewer positions are tried.
    fn is_linear(&self) -> bool {
        self.engine == Engine::Gaussian && (self.dim > 2048 || self.layers > 3 || self.draw > 0)
    }

    fn curves(&self) -> impl Iterator<Item = Curve> + '_ {
        let Run { engine, dim, layers, .. } = *self;
        self.decoys.iter().map(move |&decoys| Curve { engine, dim, layers, decoys })
    }
}

impl Setting for Run {
    fn key(&self) -> String {
        let Run { engine, dim, layers, decoys, draw } = self;
        let decoys: Vec<String> = decoys.iter().map(usize::to_string).collect();
        let (engine, decoys) = (engine.name(), decoys.join(", "));
        let draw = if *draw > 0 { format!(", draw {}", draw + 1) } else { String::new() };
        format!("{engine}, d = {dim}, l = {layers}, {decoys} decoys{draw}")
    }

    /// Its approximate running time on two cores, in seconds.
    fn cost(&self) -> f64 {
        let (share, layers) = (self.dim as f64 / 2048.0, self.layers as f64);
        let curves = self.decoys.len() as f64;
        match self.engine {
            Engine::Sparse | Engine::Cells => curves,
            Engine::Hadamard | Engine::Bind => 3.0 * curves * layers * share.powf(1.6),
            Engine::Gaussian if !self.is_linear() => {
                40.0 * curves * layers * layers * share * share
            }
            // Products of the vocabulary for every place in a window, and three for every query.
            Engine::Gaussian => 0.16 * 4f64.powf(layers) * share * share + 18.0 * curves * share,
            Engine::Product => 20.0 * curves * layers * share * share,
            Engine::Stored | Engine::Printed => 40.0 * curves * (layers - 1.0) * share * share,
        }
    }
}

/// The points of a curve, and the size of its memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Filled {
    /// Cells of all memories, and bytes held at the end.
    parameters: u64,
    bytes: u64,
    recalls: Vec<Recalled>,
}

/// Recall after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recalled {
    /// Of the first iteration's chunks.
    first: Share,
    /// Of those memorized last.
    current: Share,
}

impl Recalled {
    fn both(self) -> Share {
        self.first + self.current
    }
}

/// The size of the experiment.
struct Grid {
    runs: Vec<Run>,
    iterations: usize,
    chunks: usize,
    /// Positions of a batch that are tried, where that costs little.
    sample: usize,
}

impl Grid {
    fn new(options: &Options) -> Self {
        if options.quick { Self::quick() } else { Self::full() }
    }

    fn full() -> Self {
        let mut runs = Vec::new();
        for engine in ENGINES {
            for dim in [1024, 2048, 4096, 8192] {
                let wanted = match engine {
                    Engine::Stored => dim <= 4096,
                    Engine::Product | Engine::Printed => dim == 1024,
                    // For the figure of all engines.
                    Engine::Cells => (2048..=4096).contains(&dim),
                    _ => true,
                };
                let first = match engine {
                    // With a single layer nothing is composed or recalled.
                    Engine::Bind | Engine::Product | Engine::Stored | Engine::Printed => 2,
                    Engine::Cells => 3,
                    _ => 1,
                };
                for layers in (first..=4).filter(|_| wanted) {
                    let decoys = match (engine, dim, layers) {
                        // The authors have four layers up to d = 4096, with 20 decoys, and d = 8192 only with decoys.
                        (Engine::Gaussian | Engine::Hadamard, ..=4096, 4) => vec![20],
                        (_, _, 4) => continue,
                        (Engine::Gaussian, 8192, _) => vec![20, 40],
                        _ => vec![0, 20, 40],
                    };
                    runs.push(Run { engine, dim, layers, decoys, draw: 0 });
                }
            }
        }
        let gaussian =
            |run: &&Run| run.engine == Engine::Gaussian && run.dim == 1024 && run.layers < 4;
        let smaller: Vec<Run> = runs.iter().filter(gaussian).cloned().collect();
        for draw in 1..DRAWS {
            runs.extend(smaller.iter().map(|run| Run { draw, ..run.clone() }));
        }
        Grid { runs, iterations: 10, chunks: CHUNKS, sample: 1000 }
    }

    fn quick() -> Self {
        let mut runs = Vec::new();
        for engine in ENGINES {
            let gaussian = matches!(engine, Engine::Gaussian | Engine::Product);
            let dim = if gaussian { 512 } else { 1024 };
            let run = |layers| Run { engine, dim, layers, decoys: vec![0, 20], draw: 0 };
            runs.extend([1, 3].map(run));
        }
        Grid { runs, iterations: 3, chunks: QUICK_CHUNKS, sample: 250 }
    }

    /// The curves of the first draw.
    fn curves(&self) -> impl Iterator<Item = Curve> + '_ {
        self.runs.iter().filter(|run| run.draw == 0).flat_map(Run::curves)
    }

    /// Positions of a batch that are tried: fewer where every one of them takes matrix products or a look at every token.
    fn sample(&self, run: &Run) -> usize {
        let many = matches!(
            run.engine,
            Engine::Gaussian | Engine::Hadamard | Engine::Bind | Engine::Sparse
        );
        if many && !run.is_linear() { self.sample } else { self.sample * 3 / 10 }
    }
}

/// Runs the experiment; the authors' results, if given, are shown beside ours.
pub fn run(lab: &Lab<'_>, authors: Option<&Path>) -> Result<Page, Error> {
    let credits = authors.map(|_| sources::authors(COLUMNS)).into_iter().collect();
    let authors = authors.map(Authors::read).transpose()?.unwrap_or_default();
    Ok(on_grid(lab, &Grid::new(lab.options()), &authors)?.credits(credits))
}

fn on_grid(lab: &Lab<'_>, grid: &Grid, authors: &Authors) -> Result<Page, Error> {
    let seed = lab.options().seed;
    let filled =
        lab.measure("layers", "", &grid.runs, |run| fill_all(run, grid, seed + run.draw))?;
    let provenance = lab.provenance(seconds(&filled));
    Ok(page::page(&page::Results::new(grid, &filled, authors), provenance))
}

/// The curves of a run.
fn fill_all(run: &Run, grid: &Grid, seed: u64) -> Result<Vec<Filled>, Error> {
    if run.is_linear() {
        return fill_linear(run, grid, seed);
    }
    run.curves().map(|curve| fill(&curve, rounds(grid, run, curve.decoys, seed), seed)).collect()
}

/// Memorizes iteration after iteration and tries both ends.
fn fill(curve: &Curve, rounds: impl Iterator<Item = Round>, seed: u64) -> Result<Filled, Error> {
    let Curve { engine, dim, layers, .. } = *curve;
    let mut model = Model::new(engine, dim, layers, seed)?;
    let mut recalls = Vec::new();
    for Round { memorized, tried: [first, current] } in rounds {
        model.memorize(&memorized)?;
        recalls.push(Recalled { first: model.recall(&first)?, current: model.recall(&current)? });
    }
    let (parameters, bytes) = model.size(engine);
    Ok(Filled { parameters, bytes, recalls })
}

/// The same for the model whose answers can be computed without its matrix, all curves at once.
fn fill_linear(run: &Run, grid: &Grid, seed: u64) -> Result<Vec<Filled>, Error> {
    let memo = model::gaussian(run.dim, run.layers, seed)?;
    let texts: Vec<Vec<Round>> =
        run.decoys.iter().map(|&decoys| rounds(grid, run, decoys, seed).collect()).collect();
    let filled =
        linear::recalls(&memo, &texts, linear::COLUMNS).into_iter().map(|recalls| Filled {
            parameters: memo.parameters() as u64,
            bytes: memo.bytes() as u64,
            recalls: recalls
                .into_iter()
                .map(|[first, current]| Recalled { first, current })
                .collect(),
        });
    Ok(filled.collect())
}

/// The texts of every iteration.
fn rounds(grid: &Grid, run: &Run, decoys: usize, seed: u64) -> impl Iterator<Item = Round> + use<> {
    let (chunks, sample) = (grid.chunks, grid.sample(run));
    let batch = move |iteration: usize| Batch::new(seed, iteration as u32, chunks, decoys, sample);
    (0..grid.iterations).map(move |iteration| {
        // In the first iteration both are the same text; a second sample of it is drawn as if for another iteration.
        let now = batch(iteration);
        let current = if iteration == 0 { now.clone().tried_again(seed) } else { now.clone() };
        Round { memorized: now, tried: [batch(0), current] }
    })
}

/// Tokens memorized after an iteration, counted from 0.
fn tokens(grid: &Grid, iteration: usize) -> usize {
    (iteration + 1) * grid.chunks * CHUNK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Observer;
    use crate::Step;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn tiny() -> Grid {
        let run = |engine, layers, decoys: &[usize]| Run {
            engine,
            dim: 256,
            layers,
            decoys: decoys.to_vec(),
            draw: 0,
        };
        let runs = vec![
            run(Engine::Hadamard, 1, &[0]),
            Run { draw: 1, ..run(Engine::Hadamard, 1, &[0]) },
            run(Engine::Sparse, 2, &[20]),
            run(Engine::Stored, 2, &[0, 20]),
        ];
        Grid { runs, iterations: 2, chunks: 1, sample: 100 }
    }

    /// Counts the settings that are measured, and stops the run at one of them as a kill would.
    struct Counter(AtomicUsize);

    impl Observer for Counter {
        fn step(&self, _: &Step<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_interrupted_run_ends_as_a_whole_one() {
        let run = |folder: &Path, grid: &Grid, seed: u64, observer: &dyn Observer| {
            let options = Options { seed, out: Some(folder.to_owned()), ..Options::default() };
            on_grid(&Lab::new(options, &["memo".to_owned()], observer), grid, &Authors::default())
        };
        let csv = |page: Page, folder: &Path| {
            page.write(folder).unwrap();
            std::fs::read_to_string(folder.join("layers.csv")).unwrap()
        };
        let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let expected = csv(run(whole.path(), &tiny(), 7, &()).unwrap(), whole.path());
        assert_eq!(expected.lines().count(), 1 + 5 * 2, "{expected}");
        let drawn: Vec<&str> = expected.lines().filter(|l| l.starts_with("Hadamard")).collect();
        assert!(drawn[0].contains(",1,1024,") && drawn[2].contains(",2,1024,"), "{expected}");

        // All but one are done and the last is cut off in the middle of its line.
        let some = Grid { runs: tiny().runs[..3].to_vec(), ..tiny() };
        run(parts.path(), &some, 7, &()).unwrap();
        let journal = parts.path().join("layers.journal.jsonl");
        let text = std::fs::read_to_string(&journal).unwrap() + "{\"setting\":\"stored";
        std::fs::write(&journal, text).unwrap();
        let counter = Counter(AtomicUsize::new(0));
        let resumed = csv(run(parts.path(), &tiny(), 7, &counter).unwrap(), parts.path());
        assert_eq!(resumed, expected);
        assert_eq!(counter.0.into_inner(), 1, "only what was missing is measured");

        let other = run(parts.path(), &tiny(), 8, &()).err().unwrap().to_string();
        assert!(other.contains("seed 7") && other.contains("seed 8"), "{other}");
    }

    #[test]
    fn the_full_grid_has_the_curves_that_the_page_promises() {
        let grid = Grid::full();
        let of = |engine| grid.curves().filter(|curve| curve.engine == engine).count();
        assert_eq!(ENGINES.map(of), [36, 6, 39, 24, 36, 6, 18, 6]);
    }
}
