//! Editing facts: statements are memorized in a model directory, edited to say something else, judged as CounterFact
//! does, and rolled back.

mod judge;
mod page;
mod records;

use self::judge::{Answer, Verdict, judge};
use self::records::{Data, Fact, Prompt};
use crate::{Error, Lab, Page, Setting, seconds};
use memo::sparse::Memory;
use memo_store::{NewDocument, NewModel, Store};
use memo_text::TokenizerSpec;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

/// Lengths of the ending that prompt and paraphrase share, as they are told apart; the last is "or more".
const ENDINGS: usize = 5;

/// The order in which edits are made and judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// All of them, one after the other; then everything is judged.
    Together,
    /// One, judged and rolled back before the next.
    Alone,
    /// Together, on a memory that never read the neighbours' statements.
    Strangers,
    /// Together, in both wordings.
    BothWordings,
}

impl Setting for Case {
    fn key(&self) -> String {
        self.name().to_owned()
    }

    fn cost(&self) -> f64 {
        if *self == Case::BothWordings { 2.0 } else { 1.0 }
    }
}

impl Case {
    const ALL: [Case; 4] = [Case::Together, Case::Alone, Case::Strangers, Case::BothWordings];

    fn name(self) -> &'static str {
        match self {
            Case::Together => "all edits together",
            Case::Alone => "one edit at a time",
            Case::Strangers => "together, neighbours not memorized",
            Case::BothWordings => "together, both wordings edited",
        }
    }
}

/// The results of editing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Outcome {
    /// Tokens of statements memorized, and cells that are not zero.
    tokens: u64,
    parameters: u64,
    records: usize,
    before: Verdict,
    after: Verdict,
    /// The verdict on the records edited so far, after so many edits.
    curve: Vec<(usize, Verdict)>,
    /// The paraphrase's answers before and after, by the length of the ending that it shares with the prompt.
    endings: Vec<(Answer, Answer)>,
    /// How many edits needed each weight, 0 (already said so) to 8, and how many did not win at all.
    weights: Vec<u64>,
    failed: u64,
    edits: u64,
    /// Digests before editing and after rolling back, which are equal, and between; nothing is between if edits are made
    /// one at a time.
    digest: String,
    digest_edited: Option<String>,
    edit_seconds: f64,
    rollback_seconds: f64,
}

/// Runs the experiment on a file of records.
pub fn run(lab: &Lab<'_>, counterfact: &Path, tokenizer: &TokenizerSpec) -> Result<Page, Error> {
    let options = lab.options();
    let count = if options.quick { 200 } else { usize::MAX };
    let data = Data::read(counterfact, tokenizer, count)?;
    let measured = lab.measure("editing", &data.fingerprint, &Case::ALL, |case| {
        measure(&data, *case, options.seed)
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let results: Vec<(Case, Outcome)> =
        Case::ALL.into_iter().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&results, &data, provenance))
}

/// A model in a directory of its own that the edits are tried on.
struct Trial {
    store: Store,
    weights: Vec<u64>,
    failed: u64,
    /// Transactions of edits, in order.
    made: Vec<u64>,
    edit_seconds: f64,
    rollback_seconds: f64,
}

impl Trial {
    /// Makes the model and memorizes the statements.
    fn new(directory: &Path, data: &Data, case: Case, seed: u64) -> Result<(Self, u64), Error> {
        let mut statements = Vec::new();
        for fact in &data.facts {
            statements.push(format!("{}{}", fact.prompt.text, fact.old.text));
            if case != Case::Strangers {
                statements.push(format!("{}{}", fact.neighbour.text, fact.neighbour_says.text));
            }
        }
        let mut tokens = 0;
        for statement in &statements {
            tokens += data.tokenizer.encode(statement)?.len() as u64 + 1;
        }
        let new = NewModel { tokenizer: data.tokenizer.clone(), seed, ..NewModel::default() };
        let mut store = Store::create(directory, &new)?;
        let documents: Vec<NewDocument> = statements
            .into_iter()
            .enumerate()
            .map(|(k, text)| NewDocument::text(text).with_id(format!("statement-{k}")))
            .collect();
        store.memorize(documents, None)?;
        let trial = Trial {
            store,
            weights: vec![0; 9],
            failed: 0,
            made: Vec::new(),
            edit_seconds: 0.0,
            rollback_seconds: 0.0,
        };
        Ok((trial, tokens))
    }

    fn memory(&self) -> Result<&Memory, Error> {
        Ok(self.store.memory()?)
    }

    fn edit(&mut self, prompt: &Prompt, fact: &Fact) -> Result<(), Error> {
        let start = Instant::now();
        let edited = self.store.edit(&prompt.text, &fact.new.text, None);
        self.edit_seconds += start.elapsed().as_secs_f64();
        match edited {
            Ok(edited) => {
                self.weights[edited.weight as usize] += 1;
                self.made.extend(edited.transaction);
            }
            Err(memo_store::Error::EditFails(_)) => self.failed += 1,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Undoes all edits, the last first.
    fn roll_back(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        for transaction in std::mem::take(&mut self.made).into_iter().rev() {
            self.store.rollback(transaction, None)?;
        }
        self.rollback_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }
}

fn measure(data: &Data, case: Case, seed: u64) -> Result<Outcome, Error> {
    let home = tempfile::tempdir().map_err(Error::file(Path::new("a temporary folder")))?;
    let (mut trial, tokens) = Trial::new(&home.path().join("facts.memo"), data, case, seed)?;
    let facts: Vec<&Fact> = data.facts.iter().collect();
    let digest = trial.store.digest()?;
    let before = judge(trial.memory()?, &facts)?;
    let (mut curve, mut after, mut digest_edited) = (Vec::new(), Vec::new(), None);
    if case == Case::Alone {
        for &fact in &facts {
            trial.edit(&fact.prompt, fact)?;
            after.extend(judge(trial.memory()?, &[fact])?);
            trial.roll_back()?;
        }
    } else {
        let stops = stops(facts.len());
        for (k, &fact) in facts.iter().enumerate() {
            trial.edit(&fact.prompt, fact)?;
            if case == Case::BothWordings {
                trial.edit(&fact.paraphrase, fact)?;
            }
            if stops.contains(&(k + 1)) {
                after = judge(trial.memory()?, &facts[..=k])?;
                curve.push((k + 1, total(&after)));
            }
        }
        digest_edited = Some(trial.store.digest()?.to_string());
        trial.roll_back()?;
    }
    let restored = trial.store.digest()?;
    if restored != digest {
        return Err(Error::NotExact {
            what: format!("{}, rolled back", case.name()),
            expected: digest.to_string(),
            found: restored.to_string(),
        });
    }
    let mut endings = vec![(Answer::default(), Answer::default()); ENDINGS];
    for ((fact, before), after) in facts.iter().zip(&before).zip(&after) {
        let ending = &mut endings[fact.shared().min(ENDINGS - 1)];
        *ending = (ending.0 + before.paraphrase, ending.1 + after.paraphrase);
    }
    let Trial { store, weights, failed, edit_seconds, rollback_seconds, .. } = trial;
    let parameters = store.memory()?.cells();
    Ok(Outcome {
        tokens,
        parameters,
        records: facts.len(),
        before: total(&before),
        after: total(&after),
        curve,
        endings,
        edits: weights.iter().sum::<u64>() + failed,
        weights,
        failed,
        digest: digest.to_string(),
        digest_edited,
        edit_seconds,
        rollback_seconds,
    })
}

fn total(verdicts: &[Verdict]) -> Verdict {
    verdicts.iter().fold(Verdict::default(), |sum, verdict| sum + *verdict)
}

/// After how many edits all records edited so far are judged: about equal factors, and at the end.
fn stops(records: usize) -> Vec<usize> {
    let steps = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000];
    let mut stops: Vec<usize> = steps.into_iter().filter(|stop| *stop < records).collect();
    stops.push(records);
    stops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Share};

    /// Made-up records: rivers and the seas that they flow to.
    fn file(folder: &Path, records: usize) -> std::path::PathBuf {
        let seas = ["Amber Sea", "Glass Sea", "Quiet Ocean"];
        let record = |k: usize| {
            serde_json::json!({
                "case_id": k,
                "prompt": format!("The river Ona{k} in the far valley flows to the"),
                "ground_truth": seas[k % 3],
                "target_new": seas[(k + 1) % 3],
                "rephrase_prompt": format!("Boats that leave on Ona{k} reach the"),
                "locality_prompt": format!("The river Beck{k} in the near valley flows to the"),
                "locality_ground_truth": seas[k % 3],
            })
        };
        let all: Vec<serde_json::Value> = (0..records).map(record).collect();
        let path = folder.join("records.json");
        std::fs::write(&path, serde_json::to_string(&all).unwrap()).unwrap();
        path
    }

    #[test]
    fn edits_win_leave_neighbours_alone_and_are_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let data = Data::read(&file(folder.path(), 12), &TokenizerSpec::Gpt2, 100).unwrap();
        assert_eq!(data.facts[0].shared(), 1, "both wordings end with one word in common");
        for case in Case::ALL {
            // Fails by itself if rolling back does not restore the digest.
            let edited = measure(&data, case, 5).unwrap();
            let said = |answer: Answer| answer.said.right;
            assert_eq!(edited.before.efficacy.preferred, Share { right: 0, tried: 12 }, "{case:?}");
            assert_eq!((edited.edits >= 12, edited.failed), (true, 0), "{case:?}");
            // Made together, an edit holds as well as one that is made alone: it wins by what follows its own prompt.
            assert_eq!(said(edited.after.efficacy), 12, "{case:?}: {edited:?}");
            let neighbours = (said(edited.before.specificity), said(edited.after.specificity));
            if case == Case::Strangers {
                assert!(neighbours.0 < 6, "{case:?}: {edited:?}");
            } else {
                assert!(neighbours.0 >= 11 && neighbours.1 >= 11, "{case:?}: {edited:?}");
            }
            let follows = said(edited.after.paraphrase);
            let (least, most) = if case == Case::BothWordings { (6, 12) } else { (0, 7) };
            assert!((least..=most).contains(&follows), "{case:?}: {edited:?}");
            assert_ne!(edited.digest_edited.as_ref(), Some(&edited.digest));
            assert_eq!(edited.endings[1].1, edited.after.paraphrase);
        }
    }

    #[test]
    fn the_page_says_what_was_restored_and_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), 6);
        let options = Options { quick: true, seed: 1, threads: 1, out: None };
        let lab = Lab::new(options, &["memo".to_owned()], &());
        let text = run(&lab, &path, &TokenizerSpec::Gpt2).unwrap().markdown();
        assert!(text.contains("all edits together") && text.contains("restored"), "{text}");
        assert!(!text.contains("Ona"), "no text of the data on the page");
    }

    #[test]
    fn a_file_that_is_no_list_of_records_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        for wrong in ["[]", "[{\"prompt\": \"a\"}]", "{"] {
            std::fs::write(&path, wrong).unwrap();
            let error = Data::read(&path, &TokenizerSpec::Gpt2, 9).err().unwrap().to_string();
            assert!(error.contains("x.json, line 1"), "{error}");
        }
    }
}
