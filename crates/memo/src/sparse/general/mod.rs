//! Generalised contexts: the last units of a text, those that a level of the lexicon has a class for as that class.
//!
//! What follows such a context is counted as a *symbol*: the class of the next unit, or the next token if that unit has none or goes
//! on. So "Anna drives a ‹car› to" is followed by ‹city›, and which tokens begin a city is counted beside it, class by class: a class's
//! *members*. A context none of whose units has a class is not generalised and not kept, so that a short lexicon takes few bytes.

mod evidence;
mod members;
mod read;

pub use self::evidence::{GeneralEvidence, Symbol};
pub(crate) use self::members::Members;
pub(crate) use self::read::{GeneralLevels, Predicted};

use super::settings::{GENERAL, GENERAL_LISTED, WORD_REACH};
use crate::lexicon::Lexicon;
use crate::random::mix;
use crate::words::{UnitState, Words};

/// Tokens after the first that a unit is looked at for its class.
const LONGEST_UNIT: usize = 16;

/// A generalised context that ends at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GeneralContext {
    pub(crate) hash: u64,
    /// How many of its units have no class.
    pub(crate) literal: usize,
    /// How many of the last tokens it sees.
    pub(crate) span: usize,
}

/// Separates classes from hashes of units, and links of a context's chain.
const CLASS: u64 = 0x5851_f42d_4c95_7f2d;
const LINK: u64 = 0x2545_f491_4f6c_dd1d;

/// Returns the hash of a class, as the context of its members.
pub(crate) fn class_hash(class: u32) -> u64 {
    mix(CLASS, u64::from(class))
}

/// Returns the number of a class that follows, with a capital or without: after a full stop the one is expected, within a sentence the
/// other. So each of `classes` classes has two numbers.
pub(crate) fn expected(class: u32, capital: bool, classes: u32) -> u32 {
    if capital { classes + class } else { class }
}

/// Returns the contexts that end at a place, by length; those that are not generalised are `None`.
pub(crate) fn contexts(
    lexicon: &Lexicon,
    level: usize,
    state: &UnitState,
) -> [Option<GeneralContext>; GENERAL.len()] {
    let mut contexts = [None; GENERAL.len()];
    let (mut hash, mut literal, mut next) = (0u64, 0, 0);
    for before in 0..*GENERAL.last().unwrap_or(&0) as usize {
        let Some(unit) = state.within(before, WORD_REACH) else { break };
        let class = lexicon.class(level, unit);
        literal += usize::from(class.is_none());
        let symbol = class.map_or(unit, class_hash);
        hash = mix(hash.wrapping_add(LINK), symbol);
        if before + 1 == GENERAL[next] as usize {
            let span = state.span(before).unwrap_or(0);
            let context = GeneralContext { hash, literal, span };
            contexts[next] = (literal <= before).then_some(context);
            next += 1;
        }
    }
    contexts
}

/// Returns the unit that a token begins, once it is whole, if it begins one. `state` is the place before it, `next` after it.
fn begun(
    words: &Words,
    document: &[u32],
    place: usize,
    state: &UnitState,
    next: &UnitState,
) -> Option<u64> {
    let new = next.units().checked_sub(state.units()).filter(|&new| new > 0)? as usize;
    // It may end the unit before it, too.
    if state.unit(0).is_some() && next.unit(new) != state.unit(0) {
        return None;
    }
    if new > 1 {
        return next.unit(new - 1);
    }
    let mut ahead = next.clone();
    for &token in document[place + 1..].iter().take(LONGEST_UNIT) {
        ahead.push(words, token);
        // An apostrophe is taken back by a letter after it.
        match ahead.units().checked_sub(next.units())? as usize {
            0 => {}
            more => return ahead.unit(more),
        }
    }
    ahead.unit(0)
}

/// What a position adds to a level.
pub(crate) struct General {
    /// The contexts before it.
    pub(crate) contexts: [Option<GeneralContext>; GENERAL.len()],
    /// The class of the unit that the next token begins, and its case: see [`expected`].
    pub(crate) class: Option<u32>,
}

/// Goes through positions of a document, in order.
pub(crate) struct Generalizer<'a> {
    words: &'a Words,
    lexicon: &'a Lexicon,
    document: &'a [u32],
    place: usize,
    state: UnitState,
    next: UnitState,
    unit: Option<u64>,
}

impl<'a> Generalizer<'a> {
    /// Begins before a position.
    pub(crate) fn new(
        words: &'a Words,
        lexicon: &'a Lexicon,
        document: &'a [u32],
        place: usize,
    ) -> Self {
        let state = UnitState::before(words, document, place, WORD_REACH);
        let next = state.clone();
        let mut generalizer =
            Generalizer { words, lexicon, document, place, state, next, unit: None };
        generalizer.look();
        generalizer
    }

    fn look(&mut self) {
        let Self { words, document, place, state, next, .. } = self;
        self.unit = document.get(*place).and_then(|&token| {
            next.push(words, token);
            begun(words, document, *place, state, next)
        });
    }

    /// Goes on by a position.
    pub(crate) fn advance(&mut self) {
        self.state.clone_from(&self.next);
        self.place += 1;
        self.look();
    }

    /// Returns what the position adds to a level.
    pub(crate) fn general(&self, level: usize) -> General {
        let class = self.unit.and_then(|unit| self.lexicon.class(level, unit));
        let capital = self.document.get(self.place).is_some_and(|&t| self.words.is_capital(t));
        General {
            contexts: contexts(self.lexicon, level, &self.state),
            class: class.map(|class| expected(class, capital, self.lexicon.classes(level) as u32)),
        }
    }
}

/// Returns whether contexts of a length, by its place among [`GENERAL`], can be listed.
pub(crate) fn is_listed(i: usize) -> bool {
    i < GENERAL_LISTED
}
