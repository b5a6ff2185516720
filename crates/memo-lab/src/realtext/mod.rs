//! The curve of a text: recall, robustness, perplexity and rates of every engine and read-out, against the size of the
//! memory. [`memo::measure`] measures each point.

mod page;

use self::page::page;
use crate::{Error, Lab, Page, Setting, seconds};
use memo::measure::{Experiment, Report, run, run_dense};
use memo::readout::{BACKOFF, Sum};
use memo::sparse::Size;

/// Cells a token that the sparse engine is tried with.
const SIZES: [f64; 8] = [20.0, 30.0, 40.0, 60.0, 80.0, 92.0, 120.0, 168.0];
const QUICK_SIZES: [f64; 3] = [20.0, 60.0, 92.0];

/// Held-out tokens that are scored at each point.
const SCORED: usize = 20_000;
const QUICK_SCORED: usize = 2_000;

/// What memorizes, and how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    /// The sparse engine with the back-off read-out.
    Backoff,
    /// The sparse engine with the paper's sum over layers.
    Sum,
    /// The paper's engine: Hadamard codes, four heads, three layers, computed recall.
    Dense,
}

impl Engine {
    const ALL: [Engine; 3] = [Engine::Backoff, Engine::Sum, Engine::Dense];

    fn name(self) -> &'static str {
        match self {
            Engine::Backoff => "sparse: back-off",
            Engine::Sum => "sparse: the paper's sum",
            Engine::Dense => "dense: the paper's model",
        }
    }
}

/// An engine with so many cells.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    engine: Engine,
    cells: u64,
    tokens: u64,
}

impl Setting for Point {
    fn key(&self) -> String {
        let per_token = self.cells as f64 / self.tokens.max(1) as f64;
        format!("{}, {per_token:.1} cells a token", self.engine.name())
    }

    fn cost(&self) -> f64 {
        match self.engine {
            Engine::Backoff => 1.0,
            Engine::Sum => 2.0,
            Engine::Dense => 0.2 + self.cells as f64 / 4e6,
        }
    }
}

/// The points of a text: sizes a token for the sparse engine; for the dense one every power of two for d that is
/// neither hopeless nor too slow.
fn points(tokens: u64, quick: bool) -> Vec<Point> {
    let sizes: &[f64] = if quick { &QUICK_SIZES } else { &SIZES };
    let sparse = |engine| {
        let point = move |per_token: &f64| {
            let cells = (per_token * tokens as f64) as u64;
            Point { engine, cells, tokens }
        };
        sizes.iter().map(point)
    };
    let largest: u32 = if quick { 11 } else { 12 };
    let dense =
        (6..=largest).map(|log| Point { engine: Engine::Dense, cells: 1 << (2 * log), tokens });
    let dense = dense.filter(|point| (4..=200).contains(&(point.cells / tokens.max(1))));
    sparse(Engine::Backoff).chain(sparse(Engine::Sum)).chain(dense).collect()
}

/// Measures the curve of a text. The experiment's own size is not used, and of what is held out only the beginning;
/// `tokenizer` is what the page calls it.
pub fn curve(lab: &Lab<'_>, experiment: &Experiment<'_>, tokenizer: &str) -> Result<Page, Error> {
    let options = lab.options();
    let held_out =
        beginning(experiment.held_out, if options.quick { QUICK_SCORED } else { SCORED });
    let experiment = Experiment { held_out: &held_out, seed: options.seed, ..experiment.clone() };
    let tokens: usize = experiment.memorized.iter().map(|document| document.len() + 1).sum();
    let points = points(tokens as u64, options.quick);
    let measured =
        lab.measure("realtext", &fingerprint(&experiment, tokenizer), &points, |point| {
            let size = Size::Parameters(point.cells);
            let experiment = Experiment { size, ..experiment.clone() };
            Ok(match point.engine {
                Engine::Backoff => run(&experiment, &BACKOFF, &|_| ())?,
                Engine::Sum => run(&experiment, &Sum, &|_| ())?,
                Engine::Dense => run_dense(&experiment, &|_| ())?,
            })
        })?;
    let provenance = lab.provenance(seconds(&measured));
    let results: Vec<(Engine, Report)> = points
        .iter()
        .map(|point| point.engine)
        .zip(measured.into_iter().map(|m| m.result))
        .collect();
    Ok(page(&results, &experiment, tokenizer, provenance))
}

/// The first `count` tokens of the documents.
fn beginning(documents: &[Vec<u32>], mut count: usize) -> Vec<Vec<u32>> {
    let mut taken = Vec::new();
    for document in documents {
        let length = document.len().min(count);
        count -= length;
        if length > 0 {
            taken.push(document[..length].to_vec());
        }
    }
    taken
}

/// What the results depend on besides the options.
fn fingerprint(experiment: &Experiment<'_>, tokenizer: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for documents in [experiment.memorized, experiment.held_out] {
        for document in documents {
            hasher.update(&(document.len() as u64).to_le_bytes());
            document.iter().for_each(|token| {
                hasher.update(&token.to_le_bytes());
            });
        }
        hasher.update(b"held out");
    }
    let hash = hasher.finalize().to_hex();
    format!("text {}, {tokenizer}, {} positions", &hash.as_str()[..16], experiment.sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use memo::random::{Purpose, Stream};
    use memo::sparse::Shape;

    #[test]
    fn dense_points_are_neither_hopeless_nor_endless() {
        let dense = |tokens, quick| -> Vec<u64> {
            let points = points(tokens, quick).into_iter();
            points.filter(|p| p.engine == Engine::Dense).map(|p| p.cells).collect()
        };
        assert_eq!(dense(175_000, false), [1 << 20, 1 << 22, 1 << 24]);
        assert_eq!(dense(175_000, true), [1 << 20, 1 << 22]);
        assert_eq!(dense(1_000, false), [1 << 12, 1 << 14, 1 << 16]);
    }

    #[test]
    fn what_is_held_out_is_cut_to_its_beginning() {
        let documents = [vec![1, 2, 3], vec![4, 5], vec![6]];
        assert_eq!(beginning(&documents, 4), [vec![1, 2, 3], vec![4]]);
        assert_eq!(beginning(&documents, 100), documents);
        assert!(beginning(&documents, 0).is_empty());
    }

    #[test]
    fn a_page_has_every_engine_and_a_better_memory_recalls_more() {
        let mut reader = Stream::new(2, Purpose::Sampling, 0).draws();
        let text = reader.tokens(2_500, 300);
        let (memorized, held_out) = (vec![text[..2_000].to_vec()], vec![text[2_000..].to_vec()]);
        let experiment = Experiment {
            memorized: &memorized,
            held_out: &held_out,
            vocabulary: 301,
            end: 300,
            unknown: None,
            size: Size::Parameters(0),
            shape: Shape::default(),
            seed: 0,
            sample: 200,
        };
        let folder = tempfile::tempdir().unwrap();
        let out = Some(folder.path().to_owned());
        let options = Options { quick: true, seed: 1, threads: 1, out };
        let lab = Lab::new(options, &["memo-lab".to_owned()], &());
        let page = curve(&lab, &experiment, "numbers").unwrap();
        let files = page.write(folder.path()).unwrap();
        assert!(files.contains(&"realtext.png".to_owned()), "{files:?}");
        let csv = std::fs::read_to_string(folder.path().join("realtext.csv")).unwrap();
        for engine in Engine::ALL {
            assert!(csv.contains(engine.name()), "{csv}");
        }
        let column = |line: &str, name: &str| -> f64 {
            let at = csv.lines().next().unwrap().split(',').position(|c| c == name).unwrap();
            line.split(',').nth(at).unwrap().parse().unwrap()
        };
        let recalls: Vec<f64> =
            csv.lines().skip(1).take(3).map(|line| column(line, "recall")).collect();
        assert!(recalls[2] > 0.99 && recalls[0] <= recalls[2], "{csv}");
    }
}
