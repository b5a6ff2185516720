//! Real text: recall, robustness, perplexity, size and rates of every engine, text by text. [`memo::measure`] measures each.

mod page;

use self::page::page;
use crate::{Error, Lab, Page, Setting, seconds};
use memo::measure::{Experiment, Report, run as run_sparse, run_dense};
use memo::readout::BACKOFF;

/// Held-out tokens that are scored for each text.
const SCORED: usize = 20_000;
const QUICK_SCORED: usize = 2_000;

/// Tokens that a quick run memorizes of each text.
const QUICK_MEMORIZED: usize = 40_000;

/// Cells a token that the dense engine is given: more than the sparse one has that are not zero.
pub const DENSE_CELLS_PER_TOKEN: u64 = 24;

/// The most cells of the dense engine; a text that needs more is not tried on it.
const MOST_DENSE_CELLS: u64 = 1 << 24;

/// An engine under comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    /// The sparse engine.
    Sparse,
    /// The sparse engine with contexts of tokens alone.
    TokensAlone,
    /// The paper's engine: Hadamard codes, four heads, three layers, computed recall.
    Dense,
}

impl Engine {
    const ALL: [Engine; 3] = [Engine::Sparse, Engine::TokensAlone, Engine::Dense];

    fn name(self) -> &'static str {
        match self {
            Engine::Sparse => "sparse",
            Engine::TokensAlone => "sparse: tokens alone",
            Engine::Dense => "dense: the paper's model",
        }
    }
}

/// A text to be measured.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// Its name in tables.
    pub name: String,
    /// Its tokens, and what is held out.
    pub experiment: Experiment<'a>,
}

impl Sample<'_> {
    fn tokens(&self) -> usize {
        self.experiment.memorized.iter().map(|document| document.len() + 1).sum()
    }
}

/// An engine, on the text of that number.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    engine: Engine,
    text: usize,
    name: String,
    tokens: u64,
}

impl Setting for Point {
    fn key(&self) -> String {
        format!("{} {}, {}", self.text + 1, self.name, self.engine.name())
    }

    fn cost(&self) -> f64 {
        let tokens = self.tokens as f64;
        if self.engine == Engine::Dense { 20.0 * tokens } else { tokens }
    }
}

fn points(samples: &[Sample<'_>]) -> Vec<Point> {
    let mut points = Vec::new();
    for (text, sample) in samples.iter().enumerate() {
        let tokens = sample.tokens() as u64;
        let words = sample.experiment.words.is_some();
        let tried = Engine::ALL.into_iter().filter(|engine| match engine {
            Engine::Sparse => words,
            Engine::TokensAlone => true,
            Engine::Dense => DENSE_CELLS_PER_TOKEN * tokens <= MOST_DENSE_CELLS,
        });
        let name = &sample.name;
        points.extend(tried.map(|engine| Point { engine, text, name: name.clone(), tokens }));
    }
    points
}

/// Measures every text on every engine. Of what is held out only the beginning is scored; `tokenizer` is what the page calls it.
pub fn run(lab: &Lab<'_>, samples: &[Sample<'_>], tokenizer: &str) -> Result<Page, Error> {
    let options = lab.options();
    let (scored, most) =
        if options.quick { (QUICK_SCORED, QUICK_MEMORIZED) } else { (SCORED, usize::MAX) };
    let memorized: Vec<Vec<Vec<u32>>> =
        samples.iter().map(|sample| beginning(sample.experiment.memorized, most)).collect();
    let samples: Vec<Sample<'_>> = (samples.iter().zip(&memorized))
        .map(|(Sample { name, experiment }, memorized)| Sample {
            name: name.clone(),
            experiment: Experiment { memorized, ..experiment.clone() },
        })
        .collect();
    let samples = &samples[..];
    let held_out: Vec<Vec<Vec<u32>>> =
        samples.iter().map(|sample| beginning(sample.experiment.held_out, scored)).collect();
    let points = points(samples);
    let measured = lab.measure("realtext", &fingerprint(samples, tokenizer), &points, |point| {
        let experiment = Experiment {
            held_out: &held_out[point.text],
            seed: options.seed,
            ..samples[point.text].experiment.clone()
        };
        Ok(match point.engine {
            Engine::Sparse => run_sparse(&experiment, &BACKOFF, &|_| ())?,
            Engine::TokensAlone => {
                run_sparse(&Experiment { words: None, ..experiment }, &BACKOFF, &|_| ())?
            }
            Engine::Dense => run_dense(&experiment, DENSE_CELLS_PER_TOKEN * point.tokens, &|_| ())?,
        })
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let results: Vec<(Point, Report)> =
        points.into_iter().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page(&results, tokenizer, provenance))
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

/// Everything besides the options that the results depend on.
fn fingerprint(samples: &[Sample<'_>], tokenizer: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for Sample { experiment, .. } in samples {
        for documents in [experiment.memorized, experiment.held_out] {
            for document in documents {
                hasher.update(&(document.len() as u64).to_le_bytes());
                document.iter().for_each(|token| {
                    hasher.update(&token.to_le_bytes());
                });
            }
            hasher.update(b"held out");
        }
    }
    let hash = hasher.finalize().to_hex();
    let positions = samples.first().map_or(0, |sample| sample.experiment.sample);
    format!("text {}, {tokenizer}, {positions} positions", &hash.as_str()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use memo::random::{Purpose, Stream};
    use memo::words::Words;
    use std::sync::Arc;

    #[test]
    fn what_is_held_out_is_cut_to_its_beginning() {
        let documents = [vec![1, 2, 3], vec![4, 5], vec![6]];
        assert_eq!(beginning(&documents, 4), [vec![1, 2, 3], vec![4]]);
        assert_eq!(beginning(&documents, 100), documents);
        assert!(beginning(&documents, 0).is_empty());
    }

    #[test]
    fn a_page_has_every_text_on_every_engine() {
        let mut reader = Stream::new(2, Purpose::Sampling, 0).draws();
        let text = reader.tokens(2_500, 300);
        let (memorized, held_out) = (vec![text[..2_000].to_vec()], vec![text[2_000..].to_vec()]);
        let words = Words::new((0..301).map(|token| format!(" w{token}")));
        let sample = |name: &str, words: Option<Arc<Words>>| Sample {
            name: name.to_owned(),
            experiment: Experiment {
                memorized: &memorized,
                held_out: &held_out,
                vocabulary: 301,
                end: 300,
                unknown: None,
                words,
                seed: 0,
                sample: 200,
            },
        };
        let samples = [sample("with", Some(Arc::new(words))), sample("without", None)];
        let folder = tempfile::tempdir().unwrap();
        let out = Some(folder.path().to_owned());
        let options = Options { quick: true, seed: 1, threads: 1, out };
        let lab = Lab::new(options, &["memo-lab".to_owned()], &());
        let page = run(&lab, &samples, "numbers").unwrap();
        let files = page.write(folder.path()).unwrap();
        assert!(files.contains(&"realtext.png".to_owned()), "{files:?}");
        let csv = std::fs::read_to_string(folder.path().join("realtext.csv")).unwrap();
        assert_eq!(csv.lines().count(), 1 + 3 + 2, "{csv}");
        let at = csv.lines().next().unwrap().split(',').position(|c| c == "recall").unwrap();
        for line in csv.lines().filter(|line| line.contains("sparse")) {
            assert_eq!(line.split(',').nth(at), Some("1"), "{csv}");
        }
    }
}
