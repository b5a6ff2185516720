//! `memo lexicon induce` and `convert`: a lexicon written to a file, whole or not at all.

use super::{check_units, classes, counted, each_text};
use crate::args::lexicon::{ConvertOptions, InduceOptions, OutputOptions};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use memo::lexicon::{Lexicon, UnitCounts};
use memo::sparse::LexiconSettings;
use memo_text::{LexiconReport, read_lexicon};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// What was induced.
#[derive(Serialize)]
struct Induced {
    path: String,
    digest: String,
    documents: usize,
    /// Words and runs of symbols, and how many different ones.
    units: u64,
    distinct: usize,
    words: usize,
    classes: usize,
    rounds: usize,
    /// Of the text under a bigram model of the classes: as they began, and as they are.
    perplexity: [f64; 2],
}

impl Display for Induced {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let what = format!(
            "{} in {}",
            counted(self.words, "word", "words"),
            counted(self.classes, "class", "classes")
        );
        writeln!(f, "{} {}  {what}", styled(GOOD, "made"), self.path)?;
        let from = format!(
            "from {}: {} words and symbols, {} different",
            counted(self.documents, "document", "documents"),
            thousands(self.units),
            thousands(self.distinct as u64)
        );
        writeln!(f, "  {}", styled(FAINT, from))?;
        let [before, after] = self.perplexity;
        let rounds = counted(self.rounds, "round", "rounds");
        let fit = format!("perplexity of its classes {before:.1} → {after:.1} in {rounds}");
        writeln!(f, "  {}", styled(FAINT, fit))
    }
}

pub(super) fn induce(
    options: &InduceOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    check_output(&options.output)?;
    let mut counts = UnitCounts::default();
    let documents = each_text(&options.texts, progress, |text| counts.add(&text))?;
    check_units(&counts, &options.texts)?;
    let how = memo::lexicon::InduceOptions {
        classes: options.classes,
        min_count: options.min_count,
        rounds: options.rounds,
    };
    let induced = counts.induce(&how, &mut |done| {
        progress.step(format!("inducing classes: {:.0} %", 100.0 * done));
        ControlFlow::Continue(())
    })?;
    write(&induced.lexicon, &options.output)?;
    let perplexity = |at: Option<&f64>| at.copied().unwrap_or(f64::NAN);
    Ok(Box::new(Induced {
        path: options.output.output.display().to_string(),
        digest: LexiconSettings::of(&induced.lexicon).digest,
        documents,
        units: counts.units(),
        distinct: counts.distinct(),
        words: induced.lexicon.len(),
        classes: induced.lexicon.classes(0),
        rounds: induced.rounds,
        perplexity: [induced.perplexities.first(), induced.perplexities.last()].map(perplexity),
    }))
}

/// What was converted.
#[derive(Serialize)]
struct Converted {
    path: String,
    digest: String,
    #[serde(flatten)]
    report: LexiconReport,
}

impl Display for Converted {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let LexiconReport { words, inflected, classes: levels, skipped, .. } = &self.report;
        for skip in skipped {
            let more = if skip.count > skip.examples.len() { ", …" } else { "" };
            let examples = styled(FAINT, format!("{}{more}", skip.examples.join(", ")));
            let count = thousands(skip.count as u64);
            writeln!(f, "{} {}: {count}  {examples}", styled(FAINT, "skipped"), skip.reason)?;
        }
        let (words, classes) = (counted(*words, "word", "words"), classes(levels));
        let made = styled(GOOD, "made");
        write!(f, "{made} {}  {words} in {classes}", self.path)?;
        if *inflected > 0 {
            let forms = format!("{} of them inflected", thousands(*inflected as u64));
            write!(f, "  {}", styled(FAINT, forms))?;
        }
        writeln!(f)
    }
}

pub(super) fn convert(
    options: &ConvertOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    check_output(&options.output)?;
    progress.step(format!("reading {}", options.file.display()));
    let (lexicon, report) = read_lexicon(&options.file, &options.options())?;
    write(&lexicon, &options.output)?;
    let path = options.output.output.display().to_string();
    Ok(Box::new(Converted { path, digest: LexiconSettings::of(&lexicon).digest, report }))
}

/// Refuses to replace a file before any work is done.
fn check_output(options: &OutputOptions) -> anyhow::Result<()> {
    let path = options.output.display();
    if options.output.is_dir() {
        bail!("{path} is a folder; -o names the file to write");
    }
    if options.output.exists() && !options.replace {
        bail!("{path} exists already; --replace replaces it");
    }
    Ok(())
}

/// Writes a lexicon beside its place, and then moves it there.
fn write(lexicon: &Lexicon, options: &OutputOptions) -> anyhow::Result<()> {
    let path = &options.output;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = || -> anyhow::Result<()> {
        let mut temporary = tempfile::Builder::new();
        temporary.prefix(".lexicon-");
        // As any file that a program makes; a temporary one would be its owner's alone.
        #[cfg(unix)]
        temporary.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = temporary.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(&lexicon.to_bytes())?;
        file.as_file().sync_all()?;
        if options.replace {
            file.persist(path)?
        } else {
            file.persist_noclobber(path)?
        };
        Ok(())
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}
