//! Forgetting people: questions and answers about authors are memorized, some authors are forgotten, and what is left of
//! them is measured beside a memory that never knew them.

mod page;

use crate::{Error, Lab, Page, Setting, inputs, seconds};
use memo::unlearning::{ASKED, ASKED_QUICK, Document, Level, Outcome, Trial};
use memo_text::{Pair, Tokenizer, TokenizerError, TokenizerSpec};
use std::path::Path;

/// The data: what can be forgotten, and what stays.
struct Data {
    forget: Vec<Document>,
    retain: Vec<Document>,
    tokenizer: Tokenizer,
    fingerprint: String,
}

impl Data {
    fn read(forget: &Path, retain: &Path, spec: &TokenizerSpec) -> Result<Self, Error> {
        let (forget, retain) = (Pair::read(forget)?, Pair::read(retain)?);
        let all = forget.iter().chain(&retain);
        let texts: Vec<&str> =
            all.flat_map(|pair| [pair.question.as_str(), pair.answer.as_str()]).collect();
        let tokenizer = Tokenizer::for_texts(spec, &texts)?;
        let text = inputs::fingerprint(&texts);
        let fingerprint = format!("{text}, {} to forget, {}", forget.len(), tokenizer.name());
        let documents = |pairs: &[Pair]| -> Result<Vec<Document>, TokenizerError> {
            let encode = |text: &str| tokenizer.encode(text);
            pairs.iter().map(|pair| Document::new(&pair.question, &pair.answer, encode)).collect()
        };
        let (forget, retain) = (documents(&forget)?, documents(&retain)?);
        Ok(Data { forget, retain, tokenizer, fingerprint })
    }

    fn trial(&self, asked: usize, seed: u64) -> Trial<'_> {
        Trial {
            forget: &self.forget,
            retain: &self.retain,
            vocabulary: self.tokenizer.vocab_size() as u32,
            end: self.tokenizer.eos(),
            decode: Box::new(|tokens| self.tokenizer.decode_lossy(tokens)),
            asked,
            seed,
        }
    }
}

impl Setting for Level {
    fn key(&self) -> String {
        let (authors, of) = self.authors();
        format!("{authors} of {of} authors forgotten")
    }
}

/// Runs the experiment on two files of questions and answers: what can be forgotten, and what stays.
pub fn run(
    lab: &Lab<'_>,
    forget: &Path,
    retain: &Path,
    tokenizer: &TokenizerSpec,
) -> Result<Page, Error> {
    let data = Data::read(forget, retain, tokenizer)?;
    let options = lab.options();
    let trial = data.trial(if options.quick { ASKED_QUICK } else { ASKED }, options.seed);
    let levels = trial.levels();
    let measured = lab.measure("forgetting", &data.fingerprint, &levels, |level| {
        exact(level, trial.measure(*level)?)
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let results: Vec<(Level, Outcome)> =
        levels.into_iter().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&results, data.tokenizer.name(), trial.asked, provenance))
}

/// Refuses an outcome that is not, bit for bit, that of a memory that never knew the text.
fn exact(level: &Level, outcome: Outcome) -> Result<Outcome, Error> {
    if outcome.digest == outcome.digest_never {
        return Ok(outcome);
    }
    Err(Error::NotExact {
        what: level.key(),
        expected: outcome.digest_never,
        found: outcome.digest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use memo::metrics::KolmogorovSmirnov;
    use memo::unlearning::PAIRS_PER_AUTHOR as PAIRS;

    /// Questions and answers about made-up lighthouses.
    fn file(folder: &Path, name: &str, authors: std::ops::Range<usize>) -> std::path::PathBuf {
        let line = |k: usize| {
            let (keeper, topic) = (k / PAIRS, k % PAIRS);
            let colour = ["red", "white", "green", "amber"][(k * 7 + keeper) % 4];
            format!(
                "{{\"question\": \"What is lamp {topic} of keeper K{keeper}?\", \
                 \"answer\": \"Lamp {topic} of keeper K{keeper} is {colour} and turns {} times.\"}}\n",
                (k * 31 + keeper) % 97
            )
        };
        let lines: String = (authors.start * PAIRS..authors.end * PAIRS).map(line).collect();
        let path = folder.join(name);
        std::fs::write(&path, lines).unwrap();
        path
    }

    #[test]
    fn a_forgotten_author_leaves_what_one_never_known_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let forget = file(folder.path(), "forget.jsonl", 4..5);
        let retain = file(folder.path(), "retain.jsonl", 0..4);
        let data = Data::read(&forget, &retain, &TokenizerSpec::Gpt2).unwrap();
        let trial = data.trial(100, 3);
        let levels = trial.levels();
        assert_eq!(levels.iter().map(|l| l.authors()).collect::<Vec<_>>(), [(1, 5), (5, 5)]);

        let some = trial.measure(levels[0]).unwrap();
        assert_ne!(some.digest, some.digest_before);
        assert_eq!(some.digest, some.digest_never);
        // Answers that differ in two words, about lamps of which each keeper has the same: hard, and known almost by heart.
        let known = &some.before.measures;
        assert!(known.exact_memorization > 0.97 && known.rouge_l > 0.95, "{known:?}");
        assert!(known.extraction_strength > 0.85, "{known:?}");
        assert_eq!(some.after.measures, some.never.measures);
        assert_eq!(some.after.tokens, KolmogorovSmirnov { statistic: 0.0, p_value: 1.0 });
        assert!(some.before.tokens.p_value < 1e-6, "{some:?}");
        assert!(some.other.tokens.p_value > 0.05, "{some:?}");
        assert!(some.after.measures.extraction_strength < 0.5, "{some:?}");
        let (before, after) = (some.kept_before.unwrap(), some.kept_after.unwrap());
        assert!(before.utility() > 0.9 && after.utility() > 0.9, "{before:?} {after:?}");

        let everything = trial.measure(levels[1]).unwrap();
        assert_eq!(everything.kept_after, None);
        assert_eq!(everything.after.measures.exact_memorization, 0.0);
    }

    #[test]
    fn the_page_has_every_level_and_names_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let forget = file(folder.path(), "forget.jsonl", 2..3);
        let retain = file(folder.path(), "retain.jsonl", 0..2);
        let options = Options { quick: true, seed: 1, threads: 1, out: None };
        let command = ["memo-lab", "forgetting"].map(str::to_owned);
        let lab = Lab::new(options, &command, &());
        let page = run(&lab, &forget, &retain, &TokenizerSpec::Gpt2).unwrap();
        let text = page.markdown();
        assert!(text.contains("| 1 of 3 |") && text.contains("| 3 of 3 |"), "{text}");
        assert!(!text.contains(folder.path().to_str().unwrap()));
        assert!(!text.contains("lamp"), "no text of the data on the page");
    }
}
