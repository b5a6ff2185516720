//! `memo explain` and `memo closest`: the evidence for a prediction, and the passages that resemble a text.

use super::complete::tint;
use super::{given, rules, snapshot};
use crate::args::model::{ClosestOptions, ExplainOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled};
use crate::printed::Printed;
use crate::progress::Progress;
use memo_store::{
    ClosestPassages, ContextUnit, Excerpt, Explanation, GeneralCandidate, GeneralSource,
    GeneralUnit, Passage, ReadOptions, SlotEvidence,
};
use std::fmt::Formatter;

pub(super) fn print_explanation(
    explanation: &Explanation,
    f: &mut Formatter<'_>,
) -> std::fmt::Result {
    writeln!(f, "{}", styled(TITLE, format!("after {:?}", explanation.prompt)))?;
    for candidate in &explanation.candidates {
        let bar = "█".repeat((candidate.probability * 20.0).round() as usize);
        let text = format!("{:?}", candidate.text);
        writeln!(
            f,
            "  {:<16} {:>6.2} %  {}",
            styled(tint(candidate.probability), format!("{text:<16}")),
            100.0 * candidate.probability,
            styled(tint(candidate.probability), bar)
        )?;
        // Contexts that differ only in length and hold the same evidence share a line.
        for alike in candidate.evidence.chunk_by(alike) {
            writeln!(f, "      {}", styled(FAINT, line(alike)))?;
        }
        for general in &candidate.general {
            writeln!(f, "      {}", styled(FAINT, generalized(general)))?;
            for GeneralSource { differences, place } in &general.sources {
                let differ = differences.iter().map(|[ours, theirs]| format!("{ours} as {theirs}"));
                let details =
                    format!("token {}, {}", place.offset, differ.collect::<Vec<_>>().join(", "));
                let document = styled(GOOD, &place.document);
                writeln!(
                    f,
                    "      {document} {}  {}",
                    styled(FAINT, details),
                    passage(&place.excerpt)
                )?;
            }
        }
        rules::print_steps(&candidate.derivation, "      ", f)?;
        for source in &candidate.sources {
            let place = format!("token {}, {} match", source.offset, source.match_tokens);
            let document = styled(GOOD, &source.document);
            writeln!(f, "      {document} {}  {}", styled(FAINT, place), words(&source.excerpt))?;
        }
    }
    Ok(())
}

/// Whether two contexts are the same apart from their lengths.
fn alike(a: &SlotEvidence, b: &SlotEvidence) -> bool {
    let but_length = |slot: &SlotEvidence| (slot.unit, slot.count, slot.total, slot.from_start);
    but_length(a) == but_length(b)
}

/// A sentence for the evidence of contexts that are alike.
fn line(alike: &[SlotEvidence]) -> String {
    let [SlotEvidence { length: shortest, .. }, ..] = *alike else { return String::new() };
    let SlotEvidence { unit, length, from_start, count, total } = alike[alike.len() - 1];
    let (unit, layout) = match unit {
        ContextUnit::Tokens => ("token", ""),
        ContextUnit::Words => ("word", ", whatever their case and layout"),
        ContextUnit::Skip => ("token but one", ", whatever the last is"),
    };
    let plural = if length == 1 { "" } else { "s" };
    let context = match (from_start, length) {
        (true, 0) => "where a document begins".to_owned(),
        (true, _) => format!("first {length} {unit}{plural} of a document{layout}"),
        (false, 1) => format!("last {unit}{layout}"),
        _ if shortest < length => format!("last {shortest} to {length} {unit}s{layout}"),
        _ => format!("last {length} {unit}s{layout}"),
    };
    let seen = times(total);
    if count == total {
        format!("{context}, seen {seen}: always followed by this")
    } else {
        format!("{context}, seen {seen}: followed by this {}", times(count))
    }
}

/// What a generalised context remembers, in words.
fn generalized(general: &GeneralCandidate) -> String {
    let unit = |unit: &GeneralUnit| match &unit.class {
        Some(class) => format!("‹{class}›"),
        None => unit.text.clone(),
    };
    let context: Vec<String> = general.context.iter().map(unit).collect();
    let what = general.class.as_ref().map_or("this".to_owned(), |class| format!("‹{class}›"));
    let level =
        if general.level == 0 { String::new() } else { format!(", level {}", general.level) };
    let seen = format!("matched as {:?}{level}, seen {}", context.join(" "), times(general.total));
    if general.count == general.total {
        format!("{seen}: always followed by {what}")
    } else {
        format!("{seen}: followed by {what} {}", times(general.count))
    }
}

fn times(n: i64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

/// The last words before a place and what stands there, on one line.
fn passage(excerpt: &Excerpt) -> String {
    const MOST: usize = 60;
    let before = format!("{}{}", excerpt.before, excerpt.matching);
    let start = before.char_indices().rev().nth(MOST - 1).map_or(0, |(at, _)| at);
    format!("{}{}", &before[start..], excerpt.token).trim().replace('\n', " ⏎ ")
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
    let explanation = model.explain(
        &prompt,
        options.candidates as usize,
        &options.reading.options(ReadOptions::default()),
    )?;
    Ok(Box::new(Printed::new(explanation, print_explanation)))
}

/// Prints passages, each with its place and the words that it shares.
pub(super) fn print_passages(passages: &[Passage], f: &mut Formatter<'_>) -> std::fmt::Result {
    for passage in passages {
        let details = format!("line {}, shares {}", passage.line, passage.words.join(", "));
        let document = styled(GOOD, &passage.document);
        writeln!(f, "{:>4.2}  {document} {}", passage.score, styled(FAINT, details))?;
        writeln!(f, "      {}", passage.excerpt.trim().replace('\n', " ⏎ "))?;
    }
    Ok(())
}

fn print_closest(closest: &ClosestPassages, f: &mut Formatter<'_>) -> std::fmt::Result {
    print_passages(&closest.passages, f)?;
    if closest.passages.is_empty() {
        writeln!(f, "{}", styled(FAINT, "no document shares a word with this text"))?;
    }
    Ok(())
}

pub(crate) fn closest(
    options: &ClosestOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    progress.step("searching");
    let closest = model.closest(&given(&options.text)?, options.passages as usize)?;
    Ok(Box::new(Printed::new(closest, print_closest)))
}
