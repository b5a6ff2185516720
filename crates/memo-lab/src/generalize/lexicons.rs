//! Where classes come from: the memorized text itself, chance, or WordNet.

use super::text::Text;
use crate::Error;
use memo::lexicon::{InduceError, InduceOptions, Lexicon, RARE, UnitCounts};
use memo::random::{Purpose, Stream};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The origin of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Classes {
    None,
    Random,
    Induced,
    WordNet,
}

impl Classes {
    pub(super) const ALL: [Classes; 4] =
        [Classes::None, Classes::Random, Classes::Induced, Classes::WordNet];

    pub(super) fn name(self) -> &'static str {
        match self {
            Classes::None => "none",
            Classes::Random => "random",
            Classes::Induced => "induced",
            Classes::WordNet => "WordNet",
        }
    }

    /// The lexicon for a memory of some tokens, which knows nothing else of the text.
    pub(super) fn lexicon(
        self,
        text: &Text,
        tokens: &[u32],
        wordnet: Option<&Arc<Lexicon>>,
        seed: u64,
    ) -> Result<Option<Arc<Lexicon>>, Error> {
        Ok(match self {
            Classes::None => None,
            Classes::WordNet => wordnet.cloned(),
            Classes::Induced => Induction::DEFAULT.lexicon(text, tokens)?,
            Classes::Random => {
                let induced = Induction::DEFAULT.lexicon(text, tokens)?;
                induced.map(|induced| shuffled(&induced, seed).map(Arc::new)).transpose()?
            }
        })
    }
}

/// The same classes, as large as they were, of words that are drawn anew.
fn shuffled(lexicon: &Lexicon, seed: u64) -> Result<Lexicon, Error> {
    let mut draws = Stream::new(seed, Purpose::Sampling, 1).draws();
    let entries: Vec<(&str, Vec<Option<u32>>)> = lexicon.entries().collect();
    let order = draws.permutation(entries.len());
    let shuffled = entries.iter().zip(order).map(|((word, _), other)| {
        let classes = entries[other as usize].1.iter();
        let name = |class: &u32| lexicon.name(0, *class).to_owned();
        ((*word).to_owned(), classes.map(|class| class.as_ref().map(name)).collect())
    });
    Ok(Lexicon::new(shuffled)?)
}

/// A way to induce classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Induction {
    pub(super) classes: usize,
    pub(super) min_count: u32,
    /// Whether words that occur less often share a class of their own.
    pub(super) rare: bool,
}

impl Induction {
    pub(super) const DEFAULT: Induction = Induction { classes: 200, min_count: 2, rare: true };

    pub(super) fn name(self) -> String {
        let Induction { classes, min_count, rare } = self;
        let rare = match (min_count, rare) {
            (..2, _) => "",
            (_, true) => ", and one of rarer words",
            (_, false) => ", rarer words without",
        };
        let times = if min_count == 1 { "once" } else { &format!("{min_count} times") };
        format!("{classes} classes of words seen {times}{rare}")
    }

    /// Whether it is tried in quick runs too.
    pub(super) fn is_quick(self) -> bool {
        self == Self::DEFAULT || self == Induction { rare: false, ..Self::DEFAULT }
    }

    /// Induces classes from some tokens of a text; none if no word occurs often enough.
    pub(super) fn lexicon(
        self,
        text: &Text,
        tokens: &[u32],
    ) -> Result<Option<Arc<Lexicon>>, Error> {
        let Induction { classes, min_count, rare } = self;
        let mut counts = UnitCounts::default();
        counts.add(&text.tokenizer.decode_lossy(tokens));
        let options = InduceOptions { classes, min_count, ..InduceOptions::default() };
        let lexicon = match counts.induce(&options, &mut |_| ControlFlow::Continue(())) {
            Ok(induced) => induced.lexicon,
            Err(InduceError::TooLittle { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if rare {
            return Ok(Some(Arc::new(lexicon)));
        }
        let others = lexicon.entries().filter_map(|(word, classes)| {
            let class = lexicon.name(0, classes[0]?);
            (class != RARE).then(|| (word.to_owned(), vec![Some(class.to_owned())]))
        });
        Ok(Some(Arc::new(Lexicon::new(others)?)))
    }
}
