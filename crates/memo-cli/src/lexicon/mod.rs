//! `memo lexicon`: which words are alike, made from text or from what others know, shown, and checked on text.

mod check;
mod make;
mod show;

use crate::args::lexicon::LexiconCommand;
use crate::output::{Report, thousands};
use crate::progress::Progress;
use anyhow::bail;
use memo::lexicon::{Lexicon, UnitCounts};
use memo_text::{Content, Corpus, CorpusEntry, CorpusOptions, LexiconOptions, read_lexicon};
use std::path::{Path, PathBuf};

pub(crate) fn run(
    command: &LexiconCommand,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    match command {
        LexiconCommand::Induce(options) => make::induce(options, progress),
        LexiconCommand::Convert(options) => make::convert(options, progress),
        LexiconCommand::Show(options) => show::show(options, progress),
        LexiconCommand::Check(options) => check::check(options, progress),
    }
}

/// A lexicon in any format, by the rules that hold if no option is given.
fn read(path: &Path, progress: &Progress) -> anyhow::Result<Lexicon> {
    progress.step("reading the lexicon");
    Ok(read_lexicon(path, &LexiconOptions::default())?.0)
}

/// The documents of texts, each handed to `take`; their number. What cannot be read is an error: some of them would be another text.
fn each_text(
    texts: &[PathBuf],
    progress: &Progress,
    mut take: impl FnMut(String),
) -> anyhow::Result<usize> {
    let mut documents = 0;
    let how = CorpusOptions { strict: true, ..CorpusOptions::default() };
    for entry in Corpus::open(texts, how)? {
        if let CorpusEntry::Document(document) = entry? {
            progress.step(format!("reading {}", document.id));
            if let Content::Text(text) = document.content {
                take(text);
                documents += 1;
            }
        }
    }
    Ok(documents)
}

/// Texts without a word are a slip.
fn check_units(counts: &UnitCounts, texts: &[PathBuf]) -> anyhow::Result<()> {
    if counts.units() == 0 {
        let given: Vec<String> = texts.iter().map(|path| path.display().to_string()).collect();
        bail!("there is no word in {}; give a text", given.join(", "));
    }
    Ok(())
}

/// A number of things.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count as u64), if count == 1 { one } else { many })
}

/// Classes of levels: `200 classes`, or `30 classes on level 0 and 4 classes on level 1`.
fn classes(levels: &[usize]) -> String {
    let named = |(level, &count): (usize, &usize)| {
        let classes = counted(count, "class", "classes");
        if levels.len() == 1 { classes } else { format!("{classes} on level {level}") }
    };
    levels.iter().enumerate().map(named).collect::<Vec<_>>().join(" and ")
}
