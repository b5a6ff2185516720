//! Fig. 4: how much text several layers memorize, and whether longer windows see through decoys.

mod authors;
mod model;
mod page;
pub(crate) mod texts;

use self::authors::Authors;
use self::model::{Engine, Model};
use self::texts::{Batch, CHUNK};
use crate::sources::AUTHORS;
use crate::{Error, Lab, Measured, Options, Page, Setting, Share, seconds};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Chunks memorized in an iteration.
const CHUNKS: usize = 30;
const QUICK_CHUNKS: usize = 5;

/// The engines, in the order in which they are run: quick ones first, so that an interruption leaves much.
const ENGINES: [Engine; 6] = [
    Engine::Sparse,
    Engine::Cells,
    Engine::Hadamard,
    Engine::Bind,
    Engine::Gaussian,
    Engine::Stored,
];

/// One curve: an engine of some size and depth, filled iteration by iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Curve {
    engine: Engine,
    dim: usize,
    layers: usize,
    decoys: usize,
}

impl Setting for Curve {
    fn key(&self) -> String {
        let Curve { engine, dim, layers, decoys } = self;
        format!("{}, d = {dim}, l = {layers}, {decoys} decoys", engine.name())
    }

    /// Its approximate running time on two cores, in seconds.
    fn cost(&self) -> f64 {
        let (share, layers) = (self.dim as f64 / 2048.0, self.layers as f64);
        match self.engine {
            Engine::Sparse | Engine::Cells => 1.0,
            Engine::Hadamard | Engine::Bind => 3.0 * layers * share.powf(1.6),
            Engine::Gaussian => 40.0 * layers * layers * share * share,
            Engine::Stored => 40.0 * (layers - 1.0) * share * share,
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
    curves: Vec<Curve>,
    iterations: usize,
    chunks: usize,
}

impl Grid {
    fn new(options: &Options) -> Self {
        let quick = options.quick;
        let dims: &[usize] = if quick { &[512, 1024] } else { &[1024, 2048, 4096, 8192] };
        let mut curves = Vec::new();
        for engine in ENGINES {
            for &dim in dims {
                let wanted = match engine {
                    Engine::Gaussian => dim <= if quick { 512 } else { 2048 },
                    Engine::Stored => dim <= if quick { 512 } else { 4096 },
                    // For the figure of all engines.
                    Engine::Cells => quick || (2048..=4096).contains(&dim),
                    _ => true,
                };
                let first = match engine {
                    // With a single layer nothing is composed or recalled.
                    Engine::Bind | Engine::Stored => 2,
                    Engine::Cells => 3,
                    _ => 1,
                };
                for layers in (first..=3).filter(|_| wanted) {
                    for decoys in [0, 20, 40] {
                        curves.push(Curve { engine, dim, layers, decoys });
                    }
                }
            }
        }
        let (iterations, chunks) = if quick { (3, QUICK_CHUNKS) } else { (10, CHUNKS) };
        Grid { curves, iterations, chunks }
    }
}

/// Positions of a batch that are tried. Stored recall takes a matrix product for every inner block of a context, the sum one
/// look at every token.
fn sample(engine: Engine) -> usize {
    if matches!(engine, Engine::Stored | Engine::Cells) { 300 } else { 1000 }
}

/// Runs the experiment; the authors' results, if given, are shown beside ours.
pub fn run(lab: &Lab<'_>, authors: Option<&Path>) -> Result<Page, Error> {
    let credits = authors.map(|_| AUTHORS.to_owned()).into_iter().collect();
    let authors = authors.map(Authors::read).transpose()?.unwrap_or_default();
    Ok(on_grid(lab, &Grid::new(lab.options()), &authors)?.credits(credits))
}

fn on_grid(lab: &Lab<'_>, grid: &Grid, authors: &Authors) -> Result<Page, Error> {
    let seed = lab.options().seed;
    let filled = lab.measure("layers", "", &grid.curves, |curve| fill(curve, grid, seed))?;
    let provenance = lab.provenance(seconds(&filled));
    Ok(page::page(&page::Results::new(grid, &filled, authors), provenance))
}

/// Memorizes iteration after iteration and tries both ends.
fn fill(curve: &Curve, grid: &Grid, seed: u64) -> Result<Filled, Error> {
    let Curve { engine, dim, layers, decoys } = *curve;
    let mut model = Model::new(engine, dim, layers, seed)?;
    let batch =
        |iteration: usize| Batch::new(seed, iteration as u32, grid.chunks, decoys, sample(engine));
    let start = batch(0);
    let mut recalls = Vec::with_capacity(grid.iterations);
    for iteration in 0..grid.iterations {
        let now = batch(iteration);
        model.memorize(&now)?;
        // In the first iteration both are the same text; a second sample of it is drawn as if for another iteration.
        let current = if iteration == 0 { now.tried_again(seed) } else { now };
        recalls.push(Recalled { first: model.recall(&start)?, current: model.recall(&current)? });
    }
    let (parameters, bytes) = model.size(engine);
    Ok(Filled { parameters, bytes, recalls })
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
        let curve = |engine, layers, decoys| Curve { engine, dim: 256, layers, decoys };
        let curves = vec![
            curve(Engine::Hadamard, 1, 0),
            curve(Engine::Sparse, 2, 20),
            curve(Engine::Stored, 2, 0),
        ];
        Grid { curves, iterations: 2, chunks: 1 }
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
        assert_eq!(expected.lines().count(), 1 + 3 * 2, "{expected}");

        // Two settings are done and a third is cut off in the middle of its line.
        let some = Grid { curves: tiny().curves[..2].to_vec(), ..tiny() };
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
    fn the_full_grid_is_the_issue_s() {
        let grid = Grid::new(&Options::default());
        let of = |engine| grid.curves.iter().filter(|curve| curve.engine == engine).count();
        assert_eq!(ENGINES.map(of), [36, 6, 36, 24, 18, 18]);
        assert!(
            Grid::new(&Options { quick: true, ..Options::default() })
                .curves
                .iter()
                .all(|c| c.dim <= 2048)
        );
    }
}
