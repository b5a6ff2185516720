//! Facts: what a graph states, as associations of their own.
//!
//! A triple (subject, predicate, object) is two associations, as the paper has them: (subject, predicate) → object and
//! (object, predicate) → subject. A key is a [`Question`] and what has been said of its answer so far; a value is the answer's next
//! token, the end token after the last. They are cells of a slot of their own in the table of successors, so that answers can be
//! listed, and no text ever reads them.

use super::keys::{BOUNDARY, Cell, Keys, ROW_BITS};
use super::tables::TableKind;
use super::{Error, Memory, PARTITIONS, Settings};

/// What is asked: two parts of a triple, by the tokens of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The subject if the object is asked for, and the other way round.
    pub known: &'a [u32],
    /// The predicate.
    pub predicate: &'a [u32],
    /// Which part is asked for.
    pub asked: Direction,
}

/// The part of a triple that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Of which the subject and the predicate are known.
    Object,
    /// Of which the object and the predicate are known.
    Subject,
}

/// An answer, as a memory has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The tokens of its name.
    pub tokens: Vec<u32>,
    /// How often it was stated.
    pub count: i64,
}

/// The tokens of the longest answer that is followed: longer names are cut short by nobody but hostile files.
const LONGEST: usize = 4096;

impl Question<'_> {
    /// Refuses tokens that no document can have.
    pub(super) fn check(&self, settings: &Settings) -> Result<(), Error> {
        settings.check_tokens(self.known)?;
        settings.check_tokens(self.predicate)
    }

    /// Returns the hash that hashes of answers begin with.
    fn hash(&self, keys: &Keys) -> u64 {
        let boundaries = match self.asked {
            Direction::Object => 1,
            Direction::Subject => 2,
        };
        let marks = std::iter::repeat_n(&BOUNDARY, boundaries);
        let symbols = marks.chain(self.known).chain([&BOUNDARY]).chain(self.predicate);
        symbols.chain([&BOUNDARY]).fold(0, |hash, &symbol| keys.extend(hash, symbol))
    }

    /// Appends the cells of the next tokens at some positions of an answer.
    pub(super) fn plan(
        &self,
        keys: &Keys,
        answer: &[u32],
        positions: std::ops::Range<usize>,
        end: u32,
        cells: &mut Vec<Cell>,
    ) {
        let mut hash = self.hash(keys);
        for p in 0..positions.end {
            let next = answer.get(p).copied().unwrap_or(end);
            if p >= positions.start {
                cells.push(keys.fact(hash, next));
            }
            hash = keys.extend(hash, next);
        }
    }
}

impl Memory {
    /// Returns answers to a question, the first `most` that are found, the most often stated among them first.
    ///
    /// ```
    /// use memo::sparse::{Direction, Memory, Question, Settings, Span};
    /// let (france, capital, paris) = ([1], [2], [3, 4]);
    /// let mut memory = Memory::new(Settings::new(100, 99, 7)?)?;
    /// let question = Question { known: &france, predicate: &capital, asked: Direction::Object };
    /// memory.write(&[Span::answer(question, &paris, 1)])?;
    /// assert_eq!(memory.answers(&question, 10)?[0].tokens, paris);
    /// memory.write(&[Span::answer(question, &paris, -1)])?;
    /// assert_eq!(memory.answers(&question, 10)?, []);
    /// # Ok::<(), memo::sparse::Error>(())
    /// ```
    pub fn answers(&self, question: &Question<'_>, most: usize) -> Result<Vec<Answer>, Error> {
        question.check(self.settings())?;
        let (table, end) = (self.tables.table(TableKind::Successors), self.settings().end);
        let mut answers = Vec::new();
        let mut open = vec![(question.hash(&self.keys), Vec::new())];
        while let Some((hash, tokens)) = open.pop() {
            let mut next = Vec::new();
            table.each_token(self.keys.fact(hash, 0), |token, count| next.push((token, count)))?;
            for (token, count) in next.into_iter().rev().filter(|&(_, count)| count > 0) {
                if token == end {
                    answers.push(Answer { tokens: tokens.clone(), count });
                } else if tokens.len() < LONGEST && token < self.settings().vocabulary {
                    let mut longer = tokens.clone();
                    longer.push(token);
                    open.push((self.keys.extend(hash, token), longer));
                }
            }
            if answers.len() >= most {
                break;
            }
        }
        answers.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.tokens.cmp(&b.tokens)));
        answers.truncate(most);
        Ok(answers)
    }

    /// Returns the probability that what another question or text left behind is taken for an answer, at most: that one of all keys
    /// begins as that of the question does.
    pub fn answer_noise(&self) -> f64 {
        let table = self.tables.table(TableKind::Successors);
        let lens = table.partitions.iter().map(|partition| partition.len(table.layout));
        let entries: usize = lens.map(|len| len.unwrap_or(0)).sum();
        entries as f64 / PARTITIONS as f64 / f64::from(1 << ROW_BITS)
    }
}
