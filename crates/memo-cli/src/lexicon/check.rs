//! `memo lexicon check`: what part of a text a lexicon has classes for, and what they are worth there.

use super::{check_units, counted, each_text, read};
use crate::args::lexicon::CheckOptions;
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::Context;
use memo::lexicon::{Lexicon, UnitCounts};
use memo::words::unit_hash;
use memo_terminal::worth::{Worth, worth};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::{Display, Formatter};

/// How much of a text has a class.
#[derive(Serialize)]
struct Coverage {
    documents: usize,
    /// Words and runs of symbols, and how many different ones.
    units: u64,
    distinct: usize,
    levels: Vec<LevelCoverage>,
    /// What it is worth, if that was measured and the text is long enough.
    worth: Option<Worth>,
    /// The most frequent units without a class on any level.
    without: Vec<Unit>,
    /// Whether the lexicon was induced from one of the documents.
    induced_from_it: bool,
}

/// What has a class on a level.
#[derive(Serialize)]
struct LevelCoverage {
    level: usize,
    /// Running units with a class, and their share of all.
    units: u64,
    share: f64,
    /// Different units with a class, and their share.
    distinct: usize,
    distinct_share: f64,
    /// Classes that occur in the text, and all.
    classes: usize,
    of_classes: usize,
}

#[derive(Serialize)]
struct Unit {
    unit: String,
    count: u32,
}

impl Display for Coverage {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Coverage { documents, units, distinct, levels, .. } = self;
        writeln!(
            f,
            "{}: {} words and symbols, {} different",
            counted(*documents, "document", "documents"),
            thousands(*units),
            thousands(*distinct as u64)
        )?;
        for level in levels {
            let name =
                if levels.len() > 1 { format!("level {}: ", level.level) } else { String::new() };
            let share = styled(GOOD, format!("{:.1} %", 100.0 * level.share));
            let details = format!(
                "{:.1} % of different ones; {} of {} occur",
                100.0 * level.distinct_share,
                thousands(level.classes as u64),
                counted(level.of_classes, "class", "classes")
            );
            writeln!(f, "  {name}{share} of the text has a class  {}", styled(FAINT, details))?;
        }
        if !self.without.is_empty() {
            let shown = self.without.iter();
            let shown: Vec<String> = shown
                .map(|Unit { unit, count }| format!("{unit} {}", thousands(u64::from(*count))))
                .collect();
            writeln!(f, "  {} {}", styled(FAINT, "most frequent without one:"), shown.join(", "))?;
        }
        if let Some(Worth { without, with, held_out_tokens }) = self.worth {
            let tokens = thousands(held_out_tokens as u64);
            let details = format!("the last {tokens} tokens, for a memory of those before them");
            writeln!(
                f,
                "  perplexity {without:.1} without it, {} with it  {}",
                styled(GOOD, format!("{with:.1}")),
                styled(FAINT, details)
            )?;
        }
        if self.induced_from_it {
            let what = "the lexicon was induced from this text or a part of it: on other text it is worth less";
            writeln!(f, "  {}", styled(FAINT, what))?;
        }
        Ok(())
    }
}

pub(super) fn check(
    options: &CheckOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let lexicon = read(&options.file, progress)?;
    let (mut counts, mut texts) = (UnitCounts::default(), Vec::new());
    let documents = each_text(&options.texts, progress, |text| {
        counts.add(&text);
        texts.push(text);
    })?;
    check_units(&counts, &options.texts)?;
    let mut report = coverage(&lexicon, &counts, documents, options.most);
    if !options.coverage {
        progress.step("measuring what it is worth");
        report.worth = worth(&lexicon, &texts, &options.tokenizer, 1)
            .context("what it is worth cannot be measured; --coverage leaves that out")?;
    }
    Ok(Box::new(report))
}

fn coverage(lexicon: &Lexicon, counts: &UnitCounts, documents: usize, most: usize) -> Coverage {
    let units: Vec<(&str, u32, u64)> = counts
        .by_count()
        .into_iter()
        .map(|(form, count)| (form, count, unit_hash(form).unwrap_or_default()))
        .collect();
    let levels = (0..lexicon.levels()).map(|level| {
        let (mut running, mut distinct, mut seen) = (0, 0, HashSet::new());
        for &(_, count, hash) in &units {
            if let Some(class) = lexicon.class(level, hash) {
                running += u64::from(count);
                distinct += 1;
                seen.insert(class);
            }
        }
        LevelCoverage {
            level,
            units: running,
            share: running as f64 / counts.units() as f64,
            distinct,
            distinct_share: distinct as f64 / counts.distinct() as f64,
            classes: seen.len(),
            of_classes: lexicon.classes(level),
        }
    });
    let without = units.iter().filter(|(_, _, hash)| !lexicon.has(*hash)).take(most);
    let without = without.map(|&(form, count, _)| Unit { unit: form.to_owned(), count });
    Coverage {
        documents,
        units: counts.units(),
        distinct: counts.distinct(),
        levels: levels.collect(),
        worth: None,
        without: without.collect(),
        induced_from_it: counts
            .sources()
            .iter()
            .any(|source| lexicon.sources().binary_search(source).is_ok()),
    }
}
