//! A memory in shards: each shard holds some rows and some partitions of the tables, and none holds all.
//!
//! Writing is easy, because everything is a sum over positions: every [`Shard`] is given all text and writes its own scope.
//! Reading is done by a [`ShardReader`]: an almost empty memory, into which what a context needs is inserted before it is
//! read like any other. It says what it lacks ([`ShardReader::missing`]), in two or three rounds: which contexts occurred, then
//! the rows of those, then exact counts of the candidates that the rows brought up. What was fetched is kept until something
//! is written.
//!
//! ```
//! use memo::readout::{BACKOFF, score_at};
//! use memo::sparse::{Digest, Memory, Settings, Shape, Shard, ShardReader, Size, Span};
//!
//! let settings = Settings::new(100, 99, 7, &Shape::default(), Size::Parameters(1 << 20))?;
//! let text: Vec<u32> = (1..40).collect();
//! let mut memory = Memory::new(settings.clone())?;
//! memory.memorize(&text)?;
//!
//! let mut shards = [Shard::new(settings.clone(), 0, 2)?, Shard::new(settings.clone(), 1, 2)?];
//! shards.iter_mut().try_for_each(|shard| shard.write(&[Span::whole(&text, 1)]))?;
//! let leaves = shards.iter().map(Shard::leaves).collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(Shard::digest(&settings, &leaves)?, memory.digest()?);
//!
//! let mut reader = ShardReader::new(settings, 2)?;
//! reader.refresh(&shards.each_ref().map(|shard| (shard.unigrams(), shard.continuations())))?;
//! let read = |memory: &Memory| score_at(memory, &BACKOFF, &text, 5..6);
//! let scores = loop {
//!     for (i, request) in reader.missing(&[(&text, 5..6)])?.iter().enumerate() {
//!         reader.insert(request, &shards[i].fetch(request)?)?;
//!     }
//!     // `None` until nothing is missing.
//!     if let Some(scores) = reader.read(&[(&text, 5..6)], read)? {
//!         break scores;
//!     }
//! };
//! assert_eq!(scores, read(&memory)?);
//! # Ok::<(), memo::sparse::Error>(())
//! ```

mod holder;
mod reader;

pub use self::holder::Shard;
pub use self::reader::ShardReader;
use super::scope::owners_of_ranges;
use super::table::PARTITIONS;
use super::{Error, Memory, Settings};

/// What a [`ShardReader`] lacks and one shard holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardRequest {
    /// The slot of each row.
    pub slots: Vec<u8>,
    /// Rows.
    pub rows: Vec<u64>,
    /// Keys of pairs.
    pub pairs: Vec<u64>,
    /// Keys of totals.
    pub totals: Vec<u64>,
}

impl ShardRequest {
    /// Returns whether nothing is requested.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.pairs.is_empty() && self.totals.is_empty()
    }
}

/// What a [`Shard`] answers to a [`ShardRequest`], in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardResponse {
    /// The cells of all rows, one after the other.
    pub cells: Vec<u8>,
    /// Which of the rows do not fit in bytes.
    pub wide: Vec<u32>,
    /// Their values, one after the other.
    pub values: Vec<i32>,
    /// Counts of pairs.
    pub pairs: Vec<i64>,
    /// Totals.
    pub totals: Vec<i64>,
}

/// The shard that holds each row range.
struct RowOwners(Vec<usize>);

impl RowOwners {
    fn new(settings: &Settings, count: usize) -> Result<Self, Error> {
        settings.check()?;
        if !(1..=PARTITIONS).contains(&count) {
            return Err(Error::Settings(format!("{count} shards (1 to {PARTITIONS})")));
        }
        Ok(RowOwners(owners_of_ranges(settings, count)))
    }

    /// Returns the shard that holds a row, which must exist.
    fn of(&self, memory: &Memory, slot: usize, row: u64) -> usize {
        let (range, _) = memory.cells.layout(slot).place(row as u32);
        self.0[range]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Leaves, Shape, Size, Span};
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::readout::{BACKOFF, score_at};
    use std::ops::Range;

    /// Texts with words that repeat, so that contexts have several successors, and one that overflows bytes.
    fn texts() -> Vec<Vec<u32>> {
        let mut reader = Stream::new(11, Purpose::Sampling, 0).draws();
        let mut texts: Vec<Vec<u32>> = (0..6).map(|_| reader.tokens(400, 60)).collect();
        texts.push([vec![7; 700], (0..200).map(|t| t % 50).collect()].concat());
        texts
    }

    fn score(
        shards: &[Shard],
        reader: &mut ShardReader,
        text: &[u32],
        at: Range<usize>,
    ) -> (Vec<f64>, u32) {
        let positions = [(text, at.clone())];
        for round in 1.. {
            for (shard, request) in shards.iter().zip(reader.missing(&positions).unwrap()) {
                reader.insert(&request, &shard.fetch(&request).unwrap()).unwrap();
            }
            let read = |memory: &Memory| score_at(memory, &BACKOFF, text, at.clone());
            if let Some(scores) = reader.read(&positions, read).unwrap() {
                return (scores, round);
            }
        }
        unreachable!()
    }

    #[test]
    fn what_several_hold_is_what_one_would() {
        let texts = texts();
        // More than one row range a slot, so that rows of one slot are in several shards.
        for (parameters, counts) in [(1 << 20, &[1, 2, 5, 9][..]), (40 << 20, &[3, 16])] {
            let settings =
                Settings::new(64, 63, 3, &Shape::default(), Size::Parameters(parameters)).unwrap();
            let mut memory = Memory::new(settings.clone()).unwrap();
            let all: Vec<Span<'_>> = texts.iter().map(|text| Span::whole(text, 1)).collect();
            memory.write(&all).unwrap();
            memory.forget(&texts[2]).unwrap();
            let digest = memory.digest().unwrap();
            let whole = score_at(&memory, &BACKOFF, &texts[0], 0..401).unwrap();
            let heavy = score_at(&memory, &BACKOFF, &texts[6], 650..750).unwrap();
            for &count in counts {
                let shard = |i| Shard::new(settings.clone(), i, count).unwrap();
                let mut shards: Vec<Shard> = (0..count).map(shard).collect();
                for shard in &mut shards {
                    shard.write(&all).unwrap();
                    shard.write(&[Span::whole(&texts[2], -1)]).unwrap();
                }
                let leaves: Vec<Leaves> = shards.iter().map(|s| s.leaves().unwrap()).collect();
                assert_eq!(Shard::digest(&settings, &leaves).unwrap(), digest, "{count} shards");
                let held: usize = shards.iter().map(Shard::held).sum();
                assert!(held < memory.usage().total() * 2 + (count << 18), "{held}");

                let mut reader = ShardReader::new(settings.clone(), count).unwrap();
                let counts: Vec<_> =
                    shards.iter().map(|s| (s.unigrams(), s.continuations())).collect();
                reader.refresh(&counts).unwrap();
                let mut scores = Vec::new();
                for start in (0..401).step_by(64) {
                    let (some, rounds) =
                        score(&shards, &mut reader, &texts[0], start..401.min(start + 64));
                    assert!(rounds < 8, "{rounds} rounds");
                    scores.extend(some);
                }
                assert_eq!(scores, whole, "{count} shards");
                assert_eq!(score(&shards, &mut reader, &texts[6], 650..750).0, heavy);
                // What was fetched is kept.
                assert_eq!(score(&shards, &mut reader, &texts[6], 650..750).1, 1);
            }
        }
    }

    #[test]
    fn what_is_elsewhere_or_does_not_fit_is_refused() {
        let settings =
            Settings::new(64, 63, 3, &Shape::default(), Size::Parameters(1 << 20)).unwrap();
        assert!(Shard::new(settings.clone(), 2, 2).is_err());
        assert!(ShardReader::new(settings.clone(), 0).is_err());
        let shard = Shard::new(settings.clone(), 0, 2).unwrap();
        let far = |request: &ShardRequest| shard.fetch(request).unwrap_err().to_string();
        let last = settings.slots.len() as u8 - 1;
        let request = ShardRequest { slots: vec![last], rows: vec![0], ..ShardRequest::default() };
        assert!(far(&request).contains("not in this shard"));
        let request =
            ShardRequest { slots: vec![0], rows: vec![u64::MAX], ..ShardRequest::default() };
        assert!(far(&request).contains("not in this shard"));
        assert!(
            far(&ShardRequest { pairs: vec![u64::MAX], ..ShardRequest::default() })
                .contains("of a table")
        );
        let mut reader = ShardReader::new(settings, 2).unwrap();
        let request = ShardRequest { slots: vec![0], rows: vec![0], ..ShardRequest::default() };
        assert!(reader.insert(&request, &ShardResponse::default()).is_err());
        assert!(reader.refresh(&[(&[1, 2], &[3])]).is_err());
        assert!(reader.missing(&[(&[1, 2], 0..4)]).is_err());
        assert!(reader.missing(&[(&[1, 64], 0..3)]).is_err());
    }
}
