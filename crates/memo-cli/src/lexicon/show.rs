//! `memo lexicon show`: a lexicon as people want to see it.

use super::{classes, counted, read};
use crate::args::lexicon::ShowOptions;
use crate::output::{FAINT, GOOD, Report, TITLE, styled};
use crate::progress::Progress;
use anyhow::bail;
use memo::lexicon::Lexicon;
use memo::sparse::LexiconSettings;
use memo::words::{normal_form, unit_hash};
use serde::Serialize;
use std::cmp::Reverse;
use std::fmt::{Display, Formatter};

/// Members of a class in a list of classes.
const FEW: usize = 8;

/// A lexicon.
#[derive(Serialize)]
struct Overview {
    words: usize,
    /// Classes of each level.
    levels: Vec<usize>,
    /// Texts that it was induced from.
    sources: usize,
    digest: String,
    /// The largest classes of each level.
    classes: Vec<Class>,
    #[serde(skip)]
    more: bool,
}

#[derive(Serialize)]
struct Class {
    name: String,
    level: usize,
    size: usize,
    members: Vec<String>,
}

impl Class {
    fn new(lexicon: &Lexicon, level: usize, class: u32, most: usize) -> Self {
        let members = lexicon.members(level, class);
        let size = members.len();
        let members = members.take(most).map(str::to_owned).collect();
        Class { name: lexicon.name(level, class).to_owned(), level, size, members }
    }

    fn listed(&self) -> String {
        let more = if self.size > self.members.len() { ", …" } else { "" };
        format!("{}{more}", self.members.join(", "))
    }
}

impl Display for Overview {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (words, all) = (counted(self.words, "word", "words"), classes(&self.levels));
        let sources = match self.sources {
            0 => String::new(),
            sources => format!("  induced from {}", counted(sources, "text", "texts")),
        };
        writeln!(f, "{words} in {all}{}", styled(FAINT, sources))?;
        let width = self.classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0);
        for level in 0..self.levels.len() {
            if self.levels.len() > 1 {
                writeln!(f, "{}", styled(TITLE, format!("level {level}")))?;
            }
            for class in self.classes.iter().filter(|class| class.level == level) {
                let name = format!("{:width$}", class.name, width = width.min(30));
                let members = styled(FAINT, class.listed());
                writeln!(f, "  {} {:>6}  {members}", styled(GOOD, name), class.size)?;
            }
        }
        if self.more {
            writeln!(f, "  {}", styled(FAINT, "… the largest classes; --most N shows more"))?;
        }
        Ok(())
    }
}

/// What a name stands for.
#[derive(Serialize)]
struct Found {
    /// The word in normal form, if it is one of the lexicon.
    word: Option<String>,
    /// The classes of the word, or with the name.
    classes: Vec<Class>,
}

impl Display for Found {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if let Some(word) = &self.word {
            let classes: Vec<String> =
                self.classes.iter().map(|class| format!("‹{}›", class.name)).collect();
            writeln!(f, "{} is in {}", styled(GOOD, word), classes.join(" and "))?;
        }
        for class in &self.classes {
            let name = styled(GOOD, format!("‹{}›", class.name));
            let size = counted(class.size, "word", "words");
            let level = styled(FAINT, format!("level {}", class.level));
            writeln!(f, "{name}  {size}  {level}\n  {}", class.listed())?;
        }
        Ok(())
    }
}

pub(super) fn show(options: &ShowOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let lexicon = read(&options.file, progress)?;
    let Some(name) = &options.name else {
        return Ok(Box::new(overview(&lexicon, options.most)));
    };
    let level_of = |level: usize| {
        let class = lexicon.find(level, name)?;
        Some(Class::new(&lexicon, level, class, options.most))
    };
    let named: Vec<Class> = (0..lexicon.levels()).filter_map(level_of).collect();
    if !named.is_empty() {
        return Ok(Box::new(Found { word: None, classes: named }));
    }
    let Some(unit) = unit_hash(name).filter(|&unit| lexicon.has(unit)) else {
        bail!(
            "{name:?} is neither a word nor a class of {}; without a name, the largest classes are shown",
            options.file.display()
        );
    };
    let class = |level: usize| {
        let class = lexicon.class(level, unit)?;
        Some(Class::new(&lexicon, level, class, options.most))
    };
    let classes = (0..lexicon.levels()).filter_map(class).collect();
    Ok(Box::new(Found { word: Some(normal_form(name)), classes }))
}

fn overview(lexicon: &Lexicon, most: usize) -> Overview {
    let levels: Vec<usize> = (0..lexicon.levels()).map(|level| lexicon.classes(level)).collect();
    let mut shown = Vec::new();
    for (level, &classes) in levels.iter().enumerate() {
        let mut all: Vec<u32> = (0..classes as u32).collect();
        all.sort_by_key(|&class| Reverse(lexicon.members(level, class).len()));
        let largest = all.into_iter().take(most);
        shown.extend(largest.map(|class| Class::new(lexicon, level, class, FEW)));
    }
    let more = levels.iter().any(|&classes| classes > most);
    let digest = LexiconSettings::of(lexicon).digest;
    let (words, sources) = (lexicon.len(), lexicon.sources().len());
    Overview { words, levels, sources, digest, classes: shown, more }
}
