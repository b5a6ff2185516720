//! A memory in shards: each shard holds some partitions of the tables, and none holds all.
//!
//! Writing is easy, because everything is a sum over positions: every [`Shard`] is given all text and writes its own scope.
//! Reading is done by a [`ShardReader`]: a memory whose tables are elsewhere, read like any other. What it lacks is noted,
//! fetched, and the read is done again: after the lists of what followed the shortest contexts come the counts after all longer
//! ones at once, so two or three rounds are enough. What was fetched is kept until something is written.
//!
//! ```
//! use memo::readout::{BACKOFF, score};
//! use memo::sparse::{Memory, Settings, Shard, ShardReader, Span};
//!
//! let settings = Settings::new(100, 99, 7)?;
//! let text: Vec<u32> = (1..40).collect();
//! let mut memory = Memory::new(settings.clone())?;
//! memory.memorize(&text)?;
//!
//! let shard = |index| Shard::new(settings.clone(), None, index, 2);
//! let mut shards = [shard(0)?, shard(1)?];
//! shards.iter_mut().try_for_each(|shard| shard.write(&[Span::whole(&text, 1)]))?;
//! let leaves = shards.iter().map(Shard::leaves).collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(Shard::digest(&settings, &leaves)?, memory.digest()?);
//!
//! let mut reader = ShardReader::new(settings, None, 2)?;
//! let derived = shards.each_ref().map(Shard::derived);
//! let counts: Vec<_> = shards.iter().map(Shard::unigrams).zip(&derived).map(|(a, b)| (a, &b[..])).collect();
//! reader.refresh(&counts)?;
//! let scores = loop {
//!     // `None` while something is missing.
//!     if let Some(scores) = reader.read(|memory| score(memory, &BACKOFF, &text))? {
//!         break scores;
//!     }
//!     for (shard, request) in shards.iter().zip(reader.missing()) {
//!         reader.insert(&request, &shard.fetch(&request)?)?;
//!     }
//! };
//! assert_eq!(scores, score(&memory, &BACKOFF, &text)?);
//! # Ok::<(), memo::sparse::Error>(())
//! ```

use super::fetched::{Fetched, split};
use super::{Digest, Error, Leaves, Memory, PARTITIONS, Scope, Settings, Span, TableKind};
use crate::words::Words;
use std::ops::Range;
use std::sync::Arc;

/// What a [`ShardReader`] lacks and one shard holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardRequest {
    /// Keys of each table, in the order of [`TableKind::ALL`].
    pub keys: [Vec<u64>; TableKind::ALL.len()],
}

impl ShardRequest {
    /// Returns whether nothing is requested.
    pub fn is_empty(&self) -> bool {
        self.keys.iter().all(Vec::is_empty)
    }

    fn each(&self) -> impl Iterator<Item = (TableKind, u64)> {
        let tables = TableKind::ALL.into_iter().zip(&self.keys);
        tables.flat_map(|(kind, keys)| keys.iter().map(move |&key| (kind, key)))
    }
}

/// What a [`Shard`] answers to a [`ShardRequest`], in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardResponse {
    /// How many entries each key has.
    pub lens: Vec<u32>,
    /// The tokens of all entries.
    pub tokens: Vec<u32>,
    /// Their counts.
    pub counts: Vec<i64>,
}

fn check_count(count: usize) -> Result<(), Error> {
    if (1..=PARTITIONS).contains(&count) {
        return Ok(());
    }
    Err(Error::Settings(format!("{count} shards (1 to {PARTITIONS})")))
}

/// One shard of a memory.
pub struct Shard {
    memory: Memory,
    partitions: Range<usize>,
}

impl Shard {
    /// Makes shard number `index` of `count`, empty; `words` as in [`Memory::with_words`].
    pub fn new(
        settings: Settings,
        words: Option<Arc<Words>>,
        index: usize,
        count: usize,
    ) -> Result<Self, Error> {
        check_count(count)?;
        if index >= count {
            return Err(Error::Settings(format!("shard {index} of {count}")));
        }
        let partitions = index * PARTITIONS / count..(index + 1) * PARTITIONS / count;
        Ok(Shard { memory: Memory::with_words(settings, words)?, partitions })
    }

    /// Writes what this shard holds of spans. All shards must be given the same.
    pub fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        self.memory.write_within(&Scope::partitions(self.partitions.clone()), spans)
    }

    /// Answers a request. What another shard holds is refused.
    pub fn fetch(&self, request: &ShardRequest) -> Result<ShardResponse, Error> {
        let mut response = ShardResponse::default();
        for (kind, key) in request.each() {
            let table = self.memory.tables.table(kind);
            let (partition, key) = split(key);
            if !self.partitions.contains(&partition) || !table.layout.holds(key) {
                let what = format!("key {key} of partition {partition} of {}", kind.name());
                return Err(Error::Storage(format!("{what}: not in this shard")));
            }
            let before = response.tokens.len();
            table.partitions[partition].each_token(table.layout, key, |token, count| {
                if count != 0 {
                    response.tokens.push(token);
                    response.counts.push(count);
                }
            })?;
            response.lens.push((response.tokens.len() - before) as u32);
        }
        Ok(response)
    }

    /// Returns the counts of single tokens. The first shard has all of them, the others none.
    pub fn unigrams(&self) -> &[i64] {
        self.memory.unigrams()
    }

    /// Returns what is derived from the tables of this shard, as [`Memory::derived`] does: how many different tokens each token has
    /// followed, and how many contexts of each slot were followed by a token once, twice, three and four times.
    pub fn derived(&self) -> Vec<i64> {
        self.memory.derived()
    }

    /// Returns how many cells of this shard are not zero.
    pub fn cells(&self) -> u64 {
        self.memory.cells()
    }

    /// Returns the bytes of the tables of this shard.
    pub fn held(&self) -> usize {
        self.memory.usage().tables
    }

    /// Returns the hashes of the leaves of this shard.
    pub fn leaves(&self) -> Result<Leaves, Error> {
        let Leaves { tables, unigrams } = self.memory.leaves()?;
        let tables = tables.map(|leaves| leaves[self.partitions.clone()].to_vec());
        let unigrams = if self.partitions.start == 0 { unigrams } else { Vec::new() };
        Ok(Leaves { tables, unigrams })
    }

    /// Makes the digest of the whole memory from the leaves of all shards in their order: that of a memory that is not divided.
    pub fn digest(settings: &Settings, shards: &[Leaves]) -> Result<Digest, Error> {
        let join = |of: &dyn Fn(&Leaves) -> Vec<[u8; 32]>| shards.iter().flat_map(of).collect();
        let tables = std::array::from_fn(|i| join(&|leaves| leaves.tables[i].clone()));
        let unigrams = join(&|leaves| leaves.unigrams.clone());
        Digest::of_leaves(settings, Leaves { tables, unigrams })
    }
}

/// A reader of a memory that shards hold.
pub struct ShardReader {
    memory: Memory,
    count: usize,
}

/// Keys that are kept after a read.
const KEPT: usize = 1 << 22;

impl ShardReader {
    /// Makes a reader of a memory of `count` shards, without counts; `words` as in [`Memory::with_words`].
    pub fn new(settings: Settings, words: Option<Arc<Words>>, count: usize) -> Result<Self, Error> {
        check_count(count)?;
        let mut reader = ShardReader { memory: Memory::with_words(settings, words)?, count };
        reader.clear();
        Ok(reader)
    }

    /// Returns the settings of the memory.
    pub fn settings(&self) -> &Settings {
        self.memory.settings()
    }

    /// Drops what was inserted, and takes the [`Shard::unigrams`] and [`Shard::derived`] of all shards: to be called after every
    /// write.
    pub fn refresh(&mut self, shards: &[(&[i64], &[i64])]) -> Result<(), Error> {
        let n = self.settings().vocabulary as usize;
        let mut unigrams = vec![0; n];
        let mut derived = vec![0; self.memory.derived().len()];
        for &(tokens, more) in shards {
            for (sum, counts) in [(&mut unigrams, tokens), (&mut derived, more)] {
                if counts.len() != sum.len() {
                    let expected = sum.len();
                    return Err(Error::Storage(format!("{} counts, not {expected}", counts.len())));
                }
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        self.memory.begin_change();
        self.memory.tables.unigrams = Arc::new(unigrams);
        self.memory.restore_derived(&derived)?;
        self.clear();
        Ok(())
    }

    /// Drops what was inserted.
    fn clear(&mut self) {
        for table in &mut self.memory.tables.tables {
            table.fetched = Some(Box::default());
        }
    }

    fn fetched(&mut self) -> impl Iterator<Item = &mut Fetched> {
        self.memory.tables.tables.iter_mut().filter_map(|table| table.fetched.as_deref_mut())
    }

    /// Reads the memory. Returns `None` if something was missing, which [`ShardReader::missing`] then returns: once that is
    /// inserted, read again.
    pub fn read<T>(
        &mut self,
        read: impl FnOnce(&Memory) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let made = read(&self.memory);
        if self.fetched().any(|fetched| !fetched.missing().is_empty()) {
            // Nobody may go on from what was read.
            self.memory.stamp_anew();
            return Ok(None);
        }
        if self.fetched().map(|fetched| fetched.len()).sum::<usize>() > KEPT {
            self.clear();
        }
        made.map(Some)
    }

    /// Returns what was missing in the last read, shard by shard.
    pub fn missing(&mut self) -> Vec<ShardRequest> {
        let count = self.count;
        let mut requests = vec![ShardRequest::default(); count];
        for (i, fetched) in self.fetched().enumerate() {
            for &key in fetched.missing().iter() {
                let owner = ((split(key).0 + 1) * count - 1) / PARTITIONS;
                requests[owner].keys[i].push(key);
            }
        }
        // In order, entries are found faster.
        requests
            .iter_mut()
            .flat_map(|request| &mut request.keys)
            .for_each(|keys| keys.sort_unstable());
        requests
    }

    /// Inserts what a shard answered to a request.
    pub fn insert(
        &mut self,
        request: &ShardRequest,
        response: &ShardResponse,
    ) -> Result<(), Error> {
        let ShardResponse { lens, tokens, counts } = response;
        let wrong = || Error::Storage("a response that does not fit its request".to_owned());
        let entries: u64 = lens.iter().map(|&len| u64::from(len)).sum();
        if lens.len() != request.each().count()
            || tokens.len() != counts.len()
            || entries != tokens.len() as u64
            || tokens.iter().any(|&token| token >= self.settings().symbols())
        {
            return Err(wrong());
        }
        let mut rest = tokens.iter().copied().zip(counts.iter().copied());
        let mut lists = Vec::with_capacity(lens.len());
        for ((kind, key), &len) in request.each().zip(lens) {
            let list: Box<[(u32, i64)]> = rest.by_ref().take(len as usize).collect();
            if !list.is_sorted_by(|a, b| a.0 < b.0) {
                return Err(wrong());
            }
            lists.push((kind, key, list));
        }
        for (kind, key, list) in lists {
            if let Some(fetched) = &mut self.memory.tables.tables[kind as usize].fetched {
                fetched.insert(key, list);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::readout::{BACKOFF, Sampling, Scratch, best_all, map_distributions, score};

    /// Texts in which contexts repeat, so that they have several successors.
    fn texts() -> Vec<Vec<u32>> {
        let mut draws = Stream::new(11, Purpose::Sampling, 0).draws();
        let mut texts: Vec<Vec<u32>> = (0..6).map(|_| draws.tokens(400, 6)).collect();
        texts.push([vec![7; 100], (0..200).map(|t| t % 50).collect()].concat());
        texts
    }

    /// Words for tokens: letters, and some that begin a word.
    fn words() -> Arc<Words> {
        let piece = |t: u8| {
            if t.is_multiple_of(3) { vec![b' ', b'a' + t % 26] } else { vec![b'a' + t % 26] }
        };
        Arc::new(Words::new((0..64).map(piece)))
    }

    fn refresh(reader: &mut ShardReader, shards: &[Shard]) {
        let derived: Vec<_> = shards.iter().map(Shard::derived).collect();
        let counts: Vec<_> =
            shards.iter().zip(&derived).map(|(s, derived)| (s.unigrams(), &derived[..])).collect();
        reader.refresh(&counts).unwrap();
    }

    fn read<T>(
        shards: &[Shard],
        reader: &mut ShardReader,
        read: impl Fn(&Memory) -> Result<T, Error>,
    ) -> (T, u32) {
        for round in 1.. {
            if let Some(made) = reader.read(&read).unwrap() {
                return (made, round);
            }
            for (shard, request) in shards.iter().zip(reader.missing()) {
                reader.insert(&request, &shard.fetch(&request).unwrap()).unwrap();
            }
        }
        unreachable!()
    }

    #[test]
    fn what_several_hold_is_what_one_would() {
        let (texts, words) = (texts(), words());
        let plain = Settings::new(64, 63, 3).unwrap();
        for settings in [plain.clone(), plain.with_words()] {
            let mut memory = Memory::with_words(settings.clone(), Some(words.clone())).unwrap();
            let all: Vec<Span<'_>> = texts.iter().map(|text| Span::whole(text, 1)).collect();
            memory.write(&all).unwrap();
            memory.forget(&texts[2]).unwrap();
            let dense = |memory: &Memory| {
                map_distributions(memory, &BACKOFF, &texts[0], 0..40, |_, seen| seen.dense())
            };
            for count in [1, 2, 5, 40] {
                let shard = |i| Shard::new(settings.clone(), Some(words.clone()), i, count);
                let mut shards: Vec<Shard> = (0..count).map(|i| shard(i).unwrap()).collect();
                for shard in &mut shards {
                    shard.write(&all).unwrap();
                    shard.write(&[Span::whole(&texts[2], -1)]).unwrap();
                }
                let leaves: Vec<Leaves> = shards.iter().map(|s| s.leaves().unwrap()).collect();
                let digest = Shard::digest(&settings, &leaves).unwrap();
                assert_eq!(digest, memory.digest().unwrap(), "{count} shards");
                assert_eq!(shards.iter().map(Shard::cells).sum::<u64>(), memory.cells());

                let mut reader =
                    ShardReader::new(settings.clone(), Some(words.clone()), count).unwrap();
                refresh(&mut reader, &shards);
                for text in [&texts[0], &texts[2], &texts[6]] {
                    let (scores, rounds) =
                        read(&shards, &mut reader, |memory| score(memory, &BACKOFF, text));
                    assert_eq!(scores, score(&memory, &BACKOFF, text).unwrap(), "{count} shards");
                    assert!(rounds <= 4, "{rounds} rounds");
                    // What was fetched is kept.
                    let (best, rounds) =
                        read(&shards, &mut reader, |memory| best_all(memory, &BACKOFF, text));
                    assert_eq!((best, rounds), (best_all(&memory, &BACKOFF, text).unwrap(), 1));
                }
                assert_eq!(read(&shards, &mut reader, dense).0, dense(&memory).unwrap());
            }
        }
    }

    #[test]
    fn a_text_is_continued_as_by_a_memory_that_is_not_divided() {
        use crate::readout::{Generation, Generator};
        let texts = texts();
        let settings = Settings::new(64, 63, 3).unwrap();
        let mut memory = Memory::new(settings.clone()).unwrap();
        let mut shards: Vec<Shard> =
            (0..3).map(|i| Shard::new(settings.clone(), None, i, 3).unwrap()).collect();
        for text in &texts {
            memory.memorize(text).unwrap();
            for shard in &mut shards {
                shard.write(&[Span::whole(text, 1)]).unwrap();
            }
        }
        let mut reader = ShardReader::new(settings, None, 3).unwrap();
        refresh(&mut reader, &shards);
        let sampling = Sampling { temperature: 1.0, seed: 4, ..Sampling::default() };
        let expected: Vec<u32> =
            Generator::new(&memory, &BACKOFF, &texts[0][..20], sampling.clone())
                .take(50)
                .map(Result::unwrap)
                .collect();
        // One generation reads on from what it read before, also if that was done with something missing.
        let generation = std::cell::RefCell::new(Generation::new(&texts[0][..20], sampling));
        let mut generated = Vec::new();
        for _ in 0..expected.len() {
            let choice = read(&shards, &mut reader, |memory| {
                generation.borrow_mut().choose(memory, &BACKOFF)
            });
            generation.borrow_mut().accept(choice.0);
            generated.push(choice.0.token);
        }
        assert_eq!(generated, expected);
    }

    #[test]
    fn what_is_elsewhere_or_does_not_fit_is_refused() {
        let settings = Settings::new(64, 63, 3).unwrap();
        assert!(Shard::new(settings.clone(), None, 2, 2).is_err());
        assert!(Shard::new(settings.clone(), None, 0, PARTITIONS + 1).is_err());
        assert!(ShardReader::new(settings.clone(), None, 0).is_err());
        let shard = Shard::new(settings.clone(), None, 0, 2).unwrap();
        for key in [u64::MAX, 512 << 32, u64::from(u32::MAX)] {
            for table in 0..3 {
                let mut request = ShardRequest::default();
                request.keys[table].push(key);
                let refused = shard.fetch(&request).unwrap_err().to_string();
                assert!(refused.contains("not in this shard"), "{refused}");
            }
        }
        let mut reader = ShardReader::new(settings, None, 2).unwrap();
        assert!(reader.refresh(&[(&[1, 2], &[3])]).is_err());
        let mut scratch = Scratch::default();
        let mut best = |memory: &Memory| BACKOFF.best(memory, &[1, 2], &mut scratch);
        assert_eq!(reader.read(&mut best).unwrap(), None);
        let requests = reader.missing();
        let request = requests.iter().find(|request| !request.is_empty()).unwrap();
        let n = request.each().count() as u32;
        let none = ShardResponse { lens: vec![0; n as usize], ..ShardResponse::default() };
        let of = |tokens: Vec<u32>| {
            let mut response = none.clone();
            response.lens[0] = tokens.len() as u32;
            ShardResponse { counts: vec![1; tokens.len()], tokens, ..response }
        };
        for wrong in [ShardResponse::default(), of(vec![64]), of(vec![5, 3]), of(vec![5, 5])] {
            assert!(reader.insert(request, &wrong).is_err());
        }
        reader.insert(request, &of(vec![3, 5])).unwrap();
    }
}
