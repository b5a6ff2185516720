//! `memo diff`: the differences between two models.

use super::snapshot;
use crate::args::model::DiffOptions;
use crate::output::{Coded, DIFFERENT, FAINT, GOOD, Report, TITLE, styled};
use crate::progress::Progress;
use anyhow::Context;
use memo_store::{CompletionOptions, DocumentDiff, Error, ModelDiff, PromptDiff};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::Path;

#[derive(Serialize)]
struct DiffOutput {
    a: String,
    b: String,
    /// Whether nothing differs.
    same: bool,
    /// The documents that differ; `None` if one of the models is frozen and has no texts.
    documents: Option<ModelDiff>,
    prompts: Vec<PromptDiff>,
}

/// The number of characters of a line that are printed; `--json` has all of them.
const SHOWN: usize = 72;

/// A text on one line, cut if it is long.
fn brief(text: &str) -> String {
    let line = text.trim_end().replace('\n', " ⏎ ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl Display for DiffOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let side = |name: &str| styled(TITLE, format!("{name:<8}"));
        if let Some(ModelDiff { only_a, only_b, changed, same }) = &self.documents {
            for (name, only) in [("only a", only_a), ("only b", only_b)] {
                for document in only {
                    writeln!(f, "{}  {document}", side(name))?;
                }
            }
            for DocumentDiff { document, line, a, b } in changed {
                let place = styled(FAINT, format!("first in line {line}"));
                writeln!(f, "{}  {document}  {place}", side("changed"))?;
                for (name, text) in [("a", a), ("b", b)] {
                    let text = text.as_deref().map_or_else(|| "(the end)".to_owned(), brief);
                    writeln!(f, "          {} {text}", styled(FAINT, name))?;
                }
            }
            let plural = if *same == 1 { "document is" } else { "documents are" };
            writeln!(f, "{}", styled(FAINT, format!("{same} {plural} the same")))?;
        } else {
            writeln!(
                f,
                "{}",
                styled(FAINT, "documents are not compared: a frozen model has none")
            )?;
        }
        for PromptDiff { prompt, same, a, b } in &self.prompts {
            let prompt = format!("{:?}", brief(prompt));
            if *same {
                writeln!(f, "{}  after {prompt} {}", styled(GOOD, "the same"), brief(a))?;
                continue;
            }
            writeln!(f, "{}  after {prompt}", side("differ"))?;
            for (name, text) in [("a", a), ("b", b)] {
                writeln!(f, "          {} {}", styled(FAINT, name), brief(text))?;
            }
        }
        Ok(())
    }
}

pub(crate) fn diff(options: &DiffOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let mut prompts = options.prompt.clone();
    if let Some(path) = &options.prompts {
        prompts.extend(lines(path)?);
    }
    let (a, b) = (snapshot(&options.a, progress)?, snapshot(&options.b, progress)?);
    progress.step("comparing documents");
    let documents = match a.diff(&b) {
        // Frozen models have no documents to compare, but they complete prompts.
        Err(Error::NoTexts { .. }) if !prompts.is_empty() => None,
        compared => Some(compared?),
    };
    let asked = CompletionOptions::greedy(options.tokens as usize);
    let mut answers = Vec::new();
    for prompt in &prompts {
        progress.step(format!("asking {}", brief(prompt)));
        answers.push(a.diff_completion(&b, prompt, &asked)?);
    }
    let same = documents.as_ref().is_none_or(ModelDiff::is_empty)
        && answers.iter().all(|answer| answer.same);
    let (a, b) = (options.a.display().to_string(), options.b.display().to_string());
    let report = DiffOutput { a, b, same, documents, prompts: answers };
    Ok(Box::new(Coded { report, code: if same { 0 } else { DIFFERENT } }))
}

/// The lines of a file that are not blank.
fn lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.with_context(|| format!("{}: cannot read prompts", path.display()))?;
    Ok(text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
}
