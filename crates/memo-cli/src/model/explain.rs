//! `memo explain` and `memo find`: why a model says something, and where a text stands.

use super::complete::tint;
use super::{given, snapshot};
use crate::args::model::{ExplainOptions, TextOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled};
use crate::printed::Printed;
use crate::progress::Progress;
use memo_store::{Excerpt, Explanation, SlotEvidence, TextMatches};
use serde::Serialize;
use std::fmt::{Display, Formatter};

#[derive(Serialize)]
struct ExplanationOutput {
    prompt: String,
    #[serde(flatten)]
    explanation: Explanation,
}

impl Display for ExplanationOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", styled(TITLE, format!("after {:?}", self.prompt)))?;
        for candidate in &self.explanation.candidates {
            let bar = "█".repeat((candidate.probability * 20.0).round() as usize);
            let text = format!("{:?}", candidate.text);
            writeln!(
                f,
                "  {:<16} {:>6.2} %  {}",
                styled(tint(candidate.probability), format!("{text:<16}")),
                100.0 * candidate.probability,
                styled(tint(candidate.probability), bar)
            )?;
            for evidence in &candidate.evidence {
                writeln!(f, "      {}", styled(FAINT, line(evidence)))?;
            }
            for source in &candidate.sources {
                let place = format!("token {}, {} match", source.offset, source.match_tokens);
                let document = styled(GOOD, &source.document);
                writeln!(
                    f,
                    "      {document} {}  {}",
                    styled(FAINT, place),
                    words(&source.excerpt)
                )?;
            }
        }
        Ok(())
    }
}

/// What a slot remembers, in words.
fn line(evidence: &SlotEvidence) -> String {
    let SlotEvidence { head, context_tokens, count, noise, total, .. } = evidence;
    let place = if *head == 0 { "last" } else { "older" };
    let block = if *context_tokens == 1 { "token" } else { "tokens" };
    let seen = if *total == 1 { "once".to_owned() } else { format!("{total} times") };
    format!(
        "{place} {context_tokens} {block}, seen {seen}: followed by this {count:.1} ± {noise:.2} times"
    )
}

/// The matching words and what follows them, on one line.
fn words(excerpt: &Excerpt) -> String {
    const MOST: usize = 80;
    let matching = &excerpt.matching;
    let start = matching.char_indices().rev().nth(MOST - 1).map_or(0, |(at, _)| at);
    let words = format!("{}{}", &matching[start..], excerpt.token);
    words.trim().replace('\n', " ⏎ ")
}

pub(crate) fn explain(
    options: &ExplainOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    let prompt = given(&options.prompt)?;
    progress.step("explaining");
    let explanation = model.explain(&prompt, options.candidates as usize)?;
    Ok(Box::new(ExplanationOutput { prompt, explanation }))
}

fn print_matches(found: &TextMatches, f: &mut Formatter<'_>) -> std::fmt::Result {
    for found in &found.documents {
        let offsets: Vec<String> = found.offsets.iter().take(8).map(u64::to_string).collect();
        let more = if found.offsets.len() > 8 { ", …" } else { "" };
        let retired = if found.live { "" } else { ", retired" };
        let details = format!("at byte {}{more}{retired}", offsets.join(", "));
        writeln!(f, "{:>6}  {}  {}", found.count, found.document, styled(FAINT, details))?;
    }
    let plural = if found.documents.len() == 1 { "document" } else { "documents" };
    let all = format!("{} in {} {plural}", found.count, found.documents.len());
    writeln!(f, "{}", styled(FAINT, all))
}

pub(crate) fn find(options: &TextOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    progress.step("searching");
    Ok(Box::new(Printed::new(model.find(&given(&options.text)?)?, print_matches)))
}
