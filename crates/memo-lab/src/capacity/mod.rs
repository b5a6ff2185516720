//! Fig. 3: how many pairs a single memory holds, by its number of parameters.

mod fit;
mod memories;
mod narrow;
mod page;
mod search;

use self::memories::{Filled, VOCABULARY};
use self::narrow::Narrow;
use self::search::{BATCH, search};
use crate::sources;
use crate::{Error, Lab, Options, Page, Setting, Share, columns, seconds};
use memo::codes::CodeKind;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Parameters up to which Gaussian codes are tried; beyond, decoding them costs more than everything else together.
const GAUSSIAN: usize = 1 << 22;
const QUICK_GAUSSIAN: usize = 1 << 17;

/// The kind of memory that stores the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    /// Vectors of d_h dimensions for symbols in keys, as the authors have them.
    Gaussian,
    /// Codes of d dimensions, brought to d_h by W_V.
    Reduced,
    Hadamard,
    /// Sparse keys; cells cut to some bits when they are read, or whole.
    Sparse {
        bits: Option<u32>,
    },
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Engine::Gaussian => "Gaussian",
            Engine::Reduced => "Gaussian, W_V",
            Engine::Hadamard => "Hadamard",
            Engine::Sparse { bits: None } => "sparse",
            Engine::Sparse { bits: Some(1) } => "sparse, 1 bit",
            Engine::Sparse { bits: Some(2) } => "sparse, 2 bits",
            Engine::Sparse { bits: Some(_) } => "sparse, 8 bits",
        }
    }

    fn is_gaussian(self) -> bool {
        matches!(self, Engine::Gaussian | Engine::Reduced)
    }

    /// Parameters a pair, about: where the search begins.
    fn expected(self) -> f64 {
        match self {
            Engine::Gaussian | Engine::Reduced => 36.0,
            Engine::Hadamard => 33.0,
            Engine::Sparse { bits: Some(1) } => 48.0,
            Engine::Sparse { bits: Some(2) } => 38.0,
            Engine::Sparse { .. } => 34.0,
        }
    }

    /// Pairs tried in each of the two batches.
    fn sample(self) -> usize {
        if self.is_gaussian() { 250 } else { 500 }
    }
}

const ENGINES: [Engine; 7] = [
    Engine::Sparse { bits: None },
    Engine::Sparse { bits: Some(8) },
    Engine::Sparse { bits: Some(2) },
    Engine::Sparse { bits: Some(1) },
    Engine::Hadamard,
    Engine::Reduced,
    Engine::Gaussian,
];

/// A memory of h·d_h × d cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    heads: usize,
    head_dim: usize,
    dim: usize,
}

impl Shape {
    fn parameters(self) -> usize {
        self.heads * self.head_dim * self.dim
    }
}

/// A memory to be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Single {
    engine: Engine,
    shape: Shape,
}

impl Setting for Single {
    fn key(&self) -> String {
        let Shape { heads, head_dim, dim } = self.shape;
        format!("{}, h = {heads}, d_h = {head_dim}, d = {dim}", self.engine.name())
    }

    /// Its approximate running time on two cores, in seconds.
    fn cost(&self) -> f64 {
        let share = self.shape.parameters() as f64 / f64::from(1 << 22);
        let width = (self.shape.heads * self.shape.head_dim) as f64 / 8192.0;
        match self.engine {
            Engine::Sparse { .. } => 1.0 + 0.3 * share,
            Engine::Hadamard => 2.0 + share * (1.0 + 15.0 * width),
            Engine::Gaussian | Engine::Reduced => {
                2.0 + 10.0 * share + self.shape.dim as f64 / 400.0
            }
        }
    }
}

/// The capacity of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    /// Pairs stored when recall was first not above 0.9, that batch included, as the authors count.
    stopped: usize,
    recall: Share,
}

/// The settings of both parts.
struct Grid {
    singles: Vec<Single>,
    narrow: Vec<Narrow>,
}

impl Grid {
    fn new(options: &Options) -> Self {
        let quick = options.quick;
        let dims: &[usize] = if quick { &[512] } else { &[512, 1024, 2048, 4096, 8192] };
        let head_dims: &[usize] = if quick { &[32] } else { &[16, 32, 64, 128, 256] };
        let most = if quick { QUICK_GAUSSIAN } else { GAUSSIAN };
        let mut shapes = Vec::new();
        let all_heads: &[usize] = if quick { &[2, 16] } else { &[2, 4, 8, 16, 32] };
        for &heads in all_heads {
            for &head_dim in head_dims {
                shapes.extend(dims.iter().map(|&dim| Shape { heads, head_dim, dim }));
            }
        }
        let mut singles: Vec<Single> = Vec::new();
        for engine in ENGINES {
            for &shape in &shapes {
                let known = match engine {
                    Engine::Gaussian | Engine::Reduced => shape.parameters() > most,
                    Engine::Hadamard => false,
                    // To sparse keys only the window's length and the number of cells matter.
                    Engine::Sparse { .. } => singles.iter().any(|other| {
                        other.engine == engine
                            && other.shape.heads == shape.heads
                            && other.shape.parameters() == shape.parameters()
                    }),
                };
                if !known {
                    singles.push(Single { engine, shape });
                }
            }
        }
        let (dim, most) = if quick { (256, 4) } else { (1024, 8) };
        let heads = (1..=most).map(|k| 1usize << k);
        let narrow = heads
            .flat_map(|heads| {
                [CodeKind::Hadamard, CodeKind::Gaussian].map(|codes| Narrow { codes, dim, heads })
            })
            .collect();
        Grid { singles, narrow }
    }
}

/// One of the authors' memories: parameters, and pairs stored.
type Theirs = (f64, f64);

/// Runs the experiment; the authors' results, if given, are shown beside ours.
pub fn run(lab: &Lab<'_>, authors: Option<&Path>) -> Result<Page, Error> {
    let authors: Vec<Theirs> = match authors {
        Some(path) => {
            let rows = columns::read(path, ["params", "stored_pairs"])?;
            rows.into_iter().map(|[params, stored]| (params, stored)).collect()
        }
        None => Vec::new(),
    };
    let grid = Grid::new(lab.options());
    let seed = lab.options().seed;
    let held = lab.measure("capacity", "", &grid.singles, |single| fill(single, seed))?;
    let narrow = lab.measure("capacity-heads", "", &grid.narrow, |narrow| {
        narrow::measure(narrow, VOCABULARY, seed, 1000)
    })?;
    let provenance = lab.provenance(seconds(&held) + seconds(&narrow));
    let held: Vec<Held> = held.into_iter().map(|m| m.result).collect();
    let narrow: Vec<narrow::Recalled> = narrow.into_iter().map(|m| m.result).collect();
    let credits = if authors.is_empty() {
        Vec::new()
    } else {
        vec![sources::authors("`params` and `stored_pairs`")]
    };
    let results = page::Results { grid: &grid, held: &held, narrow: &narrow, authors: &authors };
    Ok(page::page(&results, provenance).credits(credits))
}

fn fill(single: &Single, seed: u64) -> Result<Held, Error> {
    let Single { engine, shape } = *single;
    let mut memory = Filled::new(engine, shape, seed, engine.sample())?;
    let guess = shape.parameters() as f64 / engine.expected() / BATCH as f64;
    // A finer search than the sample can resolve would be useless.
    let stop = search(&mut memory, guess, 0.01)?;
    Ok(Held { stopped: stop.batches * BATCH, recall: stop.recall })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_grid_is_the_paper_s() {
        let grid = Grid::new(&Options::default());
        let of = |engine| grid.singles.iter().filter(|single| single.engine == engine).count();
        assert_eq!(of(Engine::Hadamard), 125);
        assert_eq!(of(Engine::Sparse { bits: None }), 45);
        assert!(grid.singles.iter().all(
            |single| !single.engine.is_gaussian() || single.shape.parameters() <= GAUSSIAN
        ));
        let quick = Grid::new(&Options { quick: true, ..Options::default() });
        assert!(quick.singles.iter().all(|single| single.shape.dim <= 2048));
    }
}
