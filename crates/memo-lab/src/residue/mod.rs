//! What forgetting leaves: residue in every memory of the paper's model, and whether the text can be read from it.

mod attack;
mod page;

use self::attack::Attack;
use crate::{Error, Lab, Options, Page, Setting, Share, seconds};
use memo::codes::CodeKind;
use memo::dense::{DenseConfig, DenseMemo, Distiller, Recall};
use memo::random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Tokens of a text, and in the vocabulary.
const TEXT: usize = 200;
const VOCABULARY: usize = 1000;

/// The models: d, h and l.
const DIM: usize = 512;
const QUICK_DIM: usize = 256;
const HEADS: usize = 4;
const LAYERS: usize = 3;

/// The first position that is tried: what both inner memories can be asked for.
const FIRST: usize = HEADS * HEADS;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// One of the texts is forgotten.
    Forgotten,
    /// One text is forgotten whose second half is the first half of another.
    Shared,
    /// A text is forgotten that was never memorized.
    Never,
}

/// One run: how many texts are memorized, and which draw of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    question: Question,
    codes: CodeKind,
    texts: usize,
    draw: u32,
    dim: usize,
}

impl Setting for Run {
    fn key(&self) -> String {
        let Run { question, codes, texts, draw, .. } = self;
        format!("{question:?}, {codes:?}, {texts} texts, draw {draw}")
    }

    fn cost(&self) -> f64 {
        self.texts as f64 + 10.0
    }
}

/// A kind of model, by where inner codes come from and how sequences are distilled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Model {
    recall: Recall,
    distiller: Distiller,
}

impl Model {
    /// Without inner memories nothing is distilled.
    fn all() -> Vec<Model> {
        let mut models = Vec::new();
        for recall in [Recall::Stored, Recall::Blend(0.5)] {
            let (rounded, unclamped) = (Distiller::Memory, Distiller::Unclamped);
            for distiller in [rounded, unclamped, Distiller::Exact, Distiller::Off] {
                models.push(Model { recall, distiller });
            }
        }
        models.push(Model { recall: Recall::Computed, distiller: Distiller::Off });
        models
    }

    fn config(self, run: &Run, seed: u64) -> DenseConfig {
        let Model { recall, distiller } = self;
        let paper = DenseConfig::new(VOCABULARY, run.dim, HEADS, LAYERS);
        DenseConfig { codes: run.codes, seed, recall, distiller, ..paper }
    }
}

/// How a text was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Forgetting {
    /// Not yet.
    Not,
    /// As the paper does.
    Paper,
    /// From every memory.
    Completely,
}

/// A model after something was forgotten, or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Outcome {
    model: Model,
    forgetting: Forgetting,
    /// Whether the model did it; if not, the rest is empty.
    possible: bool,
    /// Tokens of the text (its own half, where it shares one) that the model predicts.
    predicted: Share,
    /// Those that are read from each inner memory.
    read: Vec<Share>,
    /// Tokens read from C⁽¹⁾ one after the other, from the first three on.
    in_a_row: usize,
    /// Tokens of the half that is shared that are read from each inner memory.
    shared: Vec<Share>,
    /// Tokens of another text that the model predicts.
    kept: Share,
    /// Tokens whose weight is the smallest of all: read from a text that was subtracted but never added.
    negative: Share,
    /// What is left in each memory, of what the text had added there: 1 is all of it.
    residue: Vec<f64>,
}

/// The model that loads are compared with: the paper's recall, and a distiller that can forget completely.
const COMPARED: Model = Model { recall: Recall::Stored, distiller: Distiller::Exact };

fn runs(options: &Options) -> Vec<Run> {
    let (loads, draws, kinds, dim): (&[usize], u32, &[CodeKind], usize) = if options.quick {
        (&[2, 4], 1, &[CodeKind::Gaussian], QUICK_DIM)
    } else {
        (&[2, 4, 8, 16, 32], 2, &[CodeKind::Gaussian, CodeKind::Hadamard], DIM)
    };
    let mut runs = Vec::new();
    for &codes in kinds {
        for draw in 0..draws {
            let run = |question, texts| Run { question, codes, texts, draw, dim };
            runs.extend(loads.iter().map(|&texts| run(Question::Forgotten, texts)));
            runs.extend([run(Question::Shared, 2), run(Question::Never, 2)]);
        }
    }
    runs
}

/// Runs the experiment.
pub fn run(lab: &Lab<'_>) -> Result<Page, Error> {
    let (runs, seed) = (runs(lab.options()), lab.options().seed);
    let measured = lab.measure("residue", "", &runs, |run| measure(run, seed))?;
    let provenance = lab.provenance(seconds(&measured));
    let outcomes: Vec<(Run, Vec<Outcome>)> =
        runs.into_iter().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&outcomes, provenance))
}

/// The texts of a run: the first is the one to forget, the others are kept.
struct Texts {
    forgotten: Vec<u32>,
    kept: Vec<Vec<u32>>,
}

fn texts(run: &Run, seed: u64) -> Texts {
    let mut drawn = Stream::new(seed, Purpose::Sampling, run.draw).draws();
    let forgotten = drawn.tokens(TEXT, VOCABULARY);
    let mut kept: Vec<Vec<u32>> = (1..run.texts).map(|_| drawn.tokens(TEXT, VOCABULARY)).collect();
    if run.question == Question::Shared {
        kept[0][..TEXT / 2].copy_from_slice(&forgotten[TEXT / 2..]);
    }
    Texts { forgotten, kept }
}

fn measure(run: &Run, seed: u64) -> Result<Vec<Outcome>, Error> {
    let texts = texts(run, seed);
    // Codes and projections are those of all models of this seed.
    let paper = Model { recall: Recall::Stored, distiller: Distiller::Memory };
    let encoder = DenseMemo::new(paper.config(run, seed))?;
    let attacks: Vec<Attack<'_>> = (1..LAYERS).map(|i| Attack::new(&encoder, i)).collect();
    let mut outcomes = Vec::new();
    let models = if run.texts > 2 { vec![COMPARED] } else { Model::all() };
    for model in models {
        let memorized = |all: bool| -> Result<DenseMemo, Error> {
            let mut memo = DenseMemo::new(model.config(run, seed))?;
            let first = all.then_some(&texts.forgotten);
            let texts: Vec<&[u32]> =
                first.into_iter().chain(&texts.kept).map(Vec::as_slice).collect();
            memo.memorize_all(&texts)?;
            Ok(memo)
        };
        let without = memorized(false)?;
        let added = cells(&memorized(true)?, &without);
        let had = run.question != Question::Never;
        let mut memo = memorized(had)?;
        for forgetting in [Forgetting::Not, Forgetting::Paper, Forgetting::Completely] {
            let possible = match forgetting {
                Forgetting::Not => true,
                Forgetting::Paper => memo.forget(&texts.forgotten).is_ok(),
                Forgetting::Completely => {
                    memo = memorized(had)?;
                    memo.forget_completely(&texts.forgotten).is_ok()
                }
            };
            let residue = cells(&memo, &without);
            let residue = residue.iter().zip(&added).map(|(now, all)| now / all).collect();
            let outcome = look(run, &texts, &memo, &attacks)?;
            outcomes.push(Outcome { model, forgetting, possible, residue, ..outcome });
        }
    }
    Ok(outcomes)
}

/// The norm of what a model has in each memory beside another's.
fn cells(memo: &DenseMemo, other: &DenseMemo) -> Vec<f64> {
    let norm = |layer: usize| {
        let (a, b) = (memo.memory(layer)?.cells(), other.memory(layer)?.cells());
        Some(a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt())
    };
    (1..=LAYERS).filter_map(norm).collect()
}

/// Asks the model and its memories for the text.
fn look(
    run: &Run,
    texts: &Texts,
    memo: &DenseMemo,
    attacks: &[Attack<'_>],
) -> Result<Outcome, Error> {
    let Texts { forgotten, kept } = texts;
    let own = if run.question == Question::Shared { TEXT / 2 } else { TEXT };
    let predicted = |text: &[u32], positions: std::ops::Range<usize>| -> Result<Share, Error> {
        let along = memo.predict_along(text)?;
        let answers = positions.clone().map(|p| along[p - 1].token);
        Ok(Share::of(answers, positions.map(|p| text[p])))
    };
    let read = |positions: std::ops::Range<usize>| -> Vec<Share> {
        let inner = attacks.iter().enumerate();
        let shares = inner.filter_map(|(i, attack)| {
            let contexts: Vec<&[u32]> = positions.clone().map(|p| &forgotten[..p]).collect();
            let answers = attack.on(memo.memory(i + 1)?).next(&contexts);
            Some(Share::of(answers, positions.clone().map(|p| forgotten[p])))
        });
        shares.collect()
    };
    let contexts: Vec<&[u32]> = (FIRST..own).map(|p| &forgotten[..p]).collect();
    let weights = memo.weights_all(&contexts)?;
    let least = weights.chunks_exact(VOCABULARY).map(|weights| {
        let least = weights.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        least.map_or(0, |(token, _)| token as u32)
    });
    Ok(Outcome {
        model: Model { recall: memo.config().recall, distiller: memo.config().distiller },
        forgetting: Forgetting::Not,
        possible: true,
        predicted: predicted(forgotten, FIRST..own)?,
        read: read(FIRST..own),
        in_a_row: memo
            .memory(1)
            .map_or(0, |memory| attacks[0].on(memory).in_a_row(&forgotten[..own])),
        // Windows that lie in the shared half.
        shared: if own < TEXT { read(own + FIRST..TEXT) } else { Vec::new() },
        kept: predicted(&kept[0], FIRST..TEXT)?,
        negative: Share::of(least, (FIRST..own).map(|p| forgotten[p])),
        residue: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(question: Question) -> Vec<Outcome> {
        let run = Run { question, codes: CodeKind::Hadamard, texts: 2, draw: 0, dim: 512 };
        measure(&run, 1).unwrap()
    }

    fn rounded(o: &Outcome) -> bool {
        matches!(o.model.distiller, Distiller::Memory | Distiller::Unclamped)
    }

    /// What MM_f leaves can be read, and what complete forgetting leaves cannot; without inner memories nothing is left.
    #[test]
    #[ignore = "a minute of a processor: cargo xtask test --all"]
    fn a_forgotten_text_is_read_from_inner_memories_until_it_is_forgotten_completely() {
        for o in outcomes(Question::Forgotten) {
            let inner = o.model.recall != Recall::Computed;
            assert_eq!(o.read.len(), if inner { LAYERS - 1 } else { 0 });
            let read = o.read.first().copied().map_or(0.0, Share::value);
            match o.forgetting {
                Forgetting::Not => assert!(o.predicted.value() > 0.9, "{o:?}"),
                Forgetting::Paper => {
                    assert!(o.predicted.value() < 0.1 && (read > 0.9) == inner, "{o:?}");
                    assert!(!inner || (o.residue[0] - 1.0).abs() < 1e-6, "{o:?}");
                }
                Forgetting::Completely => {
                    assert_eq!(o.possible, !inner || !rounded(&o));
                    let left = o.residue.iter().copied().fold(0.0, f64::max);
                    assert!(!o.possible || (read < 0.1 && left < 1e-3), "{o:?}");
                }
            }
        }
    }

    #[test]
    #[ignore = "two minutes of a processor: cargo xtask test --all"]
    fn what_is_shared_stays_and_what_was_never_memorized_is_written() {
        for o in outcomes(Question::Shared) {
            if o.model.recall == Recall::Stored
                && o.forgetting == Forgetting::Completely
                && o.possible
            {
                assert!(o.shared[0].value() > 0.9 && o.read[0].value() < 0.1, "{o:?}");
                assert!(o.kept.value() > 0.9, "{o:?}");
            }
        }
        for o in outcomes(Question::Never) {
            let refused =
                o.forgetting == Forgetting::Completely && o.model.distiller != Distiller::Off;
            assert_eq!(o.possible, !refused, "{o:?}");
            let written = o.forgetting != Forgetting::Not && o.possible;
            assert_eq!(o.negative.value() > 0.5, written, "{o:?}");
        }
    }
}
