//! What the lexicon of a model says: which classes a word has, and which words a class.

use super::Snapshot;
use crate::error::Error;
use memo::words::unit_hash;
use serde::Serialize;

/// A class of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WordClass {
    /// The level of the lexicon.
    pub level: usize,
    /// The name of the class.
    pub class: String,
}

/// The words of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ClassMembers {
    /// The level of the lexicon.
    pub level: usize,
    /// The name of the class.
    pub class: String,
    /// How many words it has.
    pub total: usize,
    /// The first of them, in normal form and in order.
    pub words: Vec<String>,
}

impl Snapshot {
    /// The classes that the lexicon has for a word, level by level; none if it has none, or if there is no lexicon.
    pub fn word_classes(&self, word: &str) -> Vec<WordClass> {
        let (Some(lexicon), Some(unit)) = (self.lexicon(), unit_hash(word)) else {
            return Vec::new();
        };
        let class = |level| {
            let class = lexicon.name(level, lexicon.class(level, unit)?).to_owned();
            Some(WordClass { level, class })
        };
        (0..lexicon.levels()).filter_map(class).collect()
    }

    /// The first `count` words of a class, on the first level that has one of that name.
    pub fn class_members(&self, class: &str, count: usize) -> Result<ClassMembers, Error> {
        let lexicon = self.lexicon().ok_or(Error::NoLexicon)?;
        let mut levels =
            (0..lexicon.levels()).filter_map(|level| Some((level, lexicon.find(level, class)?)));
        let (level, number) = levels.next().ok_or_else(|| Error::NoClass(class.to_owned()))?;
        let members = lexicon.members(level, number);
        let total = members.len();
        let words = members.take(count).map(str::to_owned).collect();
        Ok(ClassMembers { level, class: class.to_owned(), total, words })
    }
}
