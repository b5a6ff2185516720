//! Memorizing and forgetting are sums: whatever the order, the batches, the threads or the detours, the same texts make
//! the same memory, bit for bit. Without this, "forgotten" would be a figure of speech.

use crate::sparse_common::{Contexts, digest_of, empty, on_threads, settings, text, whole};
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::{
    Digest, Error, LargeCount, Leaves, Memory, PARTITIONS, SavedMemory, Scope, Section, Settings,
    Span, TableKind,
};
use proptest::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn documents(vocabulary: u32) -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0..vocabulary - 1, 0..100), 1..7)
}

fn contexts() -> impl Strategy<Value = Contexts> {
    prop::sample::select(vec![Contexts::Tokens, Contexts::Words, Contexts::Classes])
}

fn memory_with(vocabulary: u32, contexts: impl Into<Contexts>, spans: &[Span<'_>]) -> Memory {
    let mut memory = empty(vocabulary, contexts);
    memory.write(spans).unwrap();
    memory
}

/// Everything that a memory holds: all bytes of its tables, what is derived from them, and the digest.
fn contents(memory: &Memory) -> impl PartialEq + std::fmt::Debug + use<> {
    let partitions = |kind| {
        let all = (0..PARTITIONS).map(|i| memory.partition(kind, i).unwrap());
        all.map(|packed| (packed.bytes.into_owned(), packed.large.into_owned())).collect()
    };
    let tables: [Vec<(Vec<u8>, Vec<LargeCount>)>; 3] = TableKind::ALL.map(partitions);
    (tables, memory.unigrams().to_vec(), memory.derived(), memory.digest_anew().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn order_batches_and_threads_cannot_be_seen(
        docs in documents(50), others in documents(50), words in contexts(), threads in 1usize..5, turn in 0usize..7,
    ) {
        let expected = digest_of(50, words, &docs);
        let mut turned = docs.clone();
        turned.rotate_left(turn % docs.len());
        let got = on_threads(threads, || {
            let mut memory = empty(50, words);
            for other in &others {
                memory.memorize(other).unwrap();
            }
            for (i, document) in turned.iter().enumerate() {
                memory.memorize(document).unwrap();
                if i % 2 == 0 {
                    // A digest on the way must not change what comes after.
                    memory.digest().unwrap();
                }
            }
            for other in others.iter().rev() {
                memory.forget(other).unwrap();
            }
            memory.digest().unwrap()
        });
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn merging_is_memorizing_both(a in documents(40), b in documents(40), words in contexts()) {
        let mut merged = memory_with(40, words, &whole(&a));
        merged.digest().unwrap();
        merged.merge(&memory_with(40, words, &whole(&b))).unwrap();
        let mut both = memory_with(40, words, &whole(&a));
        both.write(&whole(&b)).unwrap();
        prop_assert_eq!(merged.digest().unwrap(), both.digest().unwrap());
        prop_assert_eq!(contents(&merged), contents(&both));
        let context = &a[0][..a[0].len() / 2];
        prop_assert_eq!(merged.evidence(context).unwrap(), both.evidence(context).unwrap());
    }

    #[test]
    fn parts_of_a_document_add_up_to_it(
        document in prop::collection::vec(0u32..29, 0..150), cuts in prop::collection::vec(0usize..152, 0..5),
        words in contexts(),
    ) {
        let end = document.len() + 1;
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(end)).chain([0, end]).collect();
        cuts.sort_unstable();
        let mut parts: Vec<Span<'_>> = cuts
            .windows(2)
            .map(|cut| Span::part(&document, cut[0]..cut[1], 1))
            .collect();
        parts.reverse();
        let expected = digest_of(30, words, std::slice::from_ref(&document));
        prop_assert_eq!(memory_with(30, words, &parts).digest().unwrap(), expected);
    }

    #[test]
    fn a_weight_is_so_many_times(document in prop::collection::vec(0u32..19, 0..40), weight in -40i32..40) {
        let once = Span::whole(&document, weight.signum());
        let times = vec![once; weight.unsigned_abs() as usize];
        prop_assert_eq!(
            contents(&memory_with(20, true, &[Span::whole(&document, weight)])),
            contents(&memory_with(20, true, &times))
        );
    }

    /// Forgetting may come first: sums have no order, and counts may be negative meanwhile. In the end nothing is left, not
    /// even a trace of having been there.
    #[test]
    fn a_walk_that_returns_leaves_nothing(
        docs in documents(30), steps in prop::collection::vec((0usize..7, any::<bool>()), 0..30), words in contexts(),
    ) {
        let mut memory = empty(30, words);
        let nothing = contents(&memory);
        let mut balance = vec![0i32; docs.len()];
        for (pick, up) in steps {
            let pick = pick % docs.len();
            if up { memory.memorize(&docs[pick]).unwrap() } else { memory.forget(&docs[pick]).unwrap() }
            balance[pick] += if up { 1 } else { -1 };
            // Reading a memory that owes something is still reading.
            memory.evidence(&docs[pick]).unwrap();
        }
        for (document, balance) in docs.iter().zip(balance) {
            memory.write(&[Span::whole(document, -balance)]).unwrap();
        }
        prop_assert_eq!(contents(&memory), nothing);
        prop_assert_eq!(memory.positions(), 0);
    }

    /// A memory larger than RAM is made scope by scope, and comes out as it would in one go.
    #[test]
    fn scopes_add_up_to_the_whole(docs in documents(60), cuts in prop::collection::vec(1..PARTITIONS, 0..4), words in contexts()) {
        let mut cuts: Vec<usize> = cuts.into_iter().chain([0, PARTITIONS]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let (mut one_by_one, mut sum) = (empty(60, words), empty(60, words));
        for cut in cuts.windows(2) {
            let scope = Scope::partitions(cut[0]..cut[1]);
            one_by_one.write_within(&scope, &whole(&docs)).unwrap();
            let mut part = empty(60, words);
            part.write_within(&scope, &whole(&docs)).unwrap();
            sum.merge(&part).unwrap();
        }
        let expected = contents(&memory_with(60, words, &whole(&docs)));
        prop_assert_eq!(&contents(&one_by_one), &expected);
        prop_assert_eq!(&contents(&sum), &expected);
    }

    #[test]
    fn a_memory_survives_its_checkpoint(docs in documents(60), repeat in 0usize..400, words in contexts(), kept in any::<bool>()) {
        let mut memory = memory_with(60, words, &whole(&docs));
        memory.memorize(&vec![7; repeat]).unwrap();
        let mut restored = Saved::of(&memory, kept).restore();
        prop_assert_eq!(restored.digest().unwrap(), memory.digest().unwrap());
        prop_assert_eq!(contents(&restored), contents(&memory));
        prop_assert_eq!(restored.evidence(&docs[0]).unwrap(), memory.evidence(&docs[0]).unwrap());
        restored.verify().unwrap();
        // And goes on as if nothing had been.
        restored.forget(&docs[0]).unwrap();
        memory.forget(&docs[0]).unwrap();
        prop_assert_eq!(restored.digest().unwrap(), memory.digest().unwrap());
        prop_assert_eq!(contents(&restored), contents(&memory));
    }
}

/// Bytes of a checkpoint; the one with the number in `damaged` cannot be read.
struct Bytes {
    bytes: Vec<u8>,
    number: usize,
    damaged: Arc<AtomicUsize>,
}

impl Section for Bytes {
    fn bytes(&self) -> Result<&[u8], Error> {
        if self.number == self.damaged.load(Ordering::Relaxed) {
            return Err(Error::Storage(format!("section {}", self.number)));
        }
        Ok(&self.bytes)
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// A checkpoint that was never written anywhere.
struct Saved<'m> {
    memory: &'m Memory,
    derived: Option<Vec<i64>>,
    leaves: Option<Leaves>,
    damaged: Arc<AtomicUsize>,
}

impl<'m> Saved<'m> {
    /// With what is derived and hashed, or without.
    fn of(memory: &'m Memory, kept: bool) -> Self {
        Saved {
            memory,
            derived: kept.then(|| memory.derived()),
            leaves: kept.then(|| memory.leaves().unwrap()),
            damaged: Arc::new(AtomicUsize::new(usize::MAX)),
        }
    }

    fn restore(&self) -> Memory {
        let words = self.memory.words().cloned();
        Memory::restore(self.memory.settings().clone(), words, self).unwrap()
    }
}

impl SavedMemory for Saved<'_> {
    fn unigrams(&self) -> Result<Vec<i64>, Error> {
        Ok(self.memory.unigrams().to_vec())
    }

    fn partition(
        &self,
        kind: TableKind,
        partition: usize,
    ) -> Result<(Arc<dyn Section>, Vec<LargeCount>), Error> {
        let packed = self.memory.partition(kind, partition)?;
        let number = kind as usize * PARTITIONS + partition;
        let bytes =
            Bytes { bytes: packed.bytes.into_owned(), number, damaged: self.damaged.clone() };
        Ok((Arc::new(bytes), packed.large.into_owned()))
    }

    fn derived(&self) -> Result<Option<Vec<i64>>, Error> {
        Ok(self.derived.clone())
    }

    fn leaves(&self) -> Result<Option<Leaves>, Error> {
        Ok(self.leaves.clone())
    }
}

/// A section that a document needs and others do not.
fn section_of(vocabulary: u32, document: &[u32], others: &[&[u32]]) -> usize {
    let others: Vec<Span<'_>> = others.iter().map(|other| Span::whole(other, 1)).collect();
    let one = memory_with(vocabulary, false, &[Span::whole(document, 1)]);
    let others = memory_with(vocabulary, false, &others);
    let written = |memory: &Memory, number: usize| {
        let kind = TableKind::ALL[number / PARTITIONS];
        !memory.partition(kind, number % PARTITIONS).unwrap().bytes.is_empty()
    };
    let mut numbers = 0..TableKind::ALL.len() * PARTITIONS;
    numbers.find(|&number| written(&one, number) && !written(&others, number)).unwrap()
}

/// A text large enough for many batches and threads, written in different ways.
#[test]
fn a_long_text_is_the_same_on_any_number_of_threads() {
    let long = text(30_000, 2_000, 1);
    let other = text(9_000, 2_000, 2);
    let digests: Vec<Digest> = [1, 2, 5]
        .into_iter()
        .map(|threads| {
            on_threads(threads, || {
                let mut memory = empty(2_000, Contexts::Classes);
                if threads > 1 {
                    memory.memorize(&other).unwrap();
                }
                memory.memorize(&long).unwrap();
                if threads > 1 {
                    memory.forget(&other).unwrap();
                }
                memory.digest().unwrap()
            })
        })
        .collect();
    assert!(digests.windows(2).all(|d| d[0] == d[1]), "{digests:?}");
}

/// What was added lately is kept beside what is packed. Whether a text came at once, and was packed, or sentence by sentence
/// must not be seen: a copy on another machine would not have the same digest.
#[test]
fn what_is_packed_and_what_is_beside_it_cannot_be_told_apart() {
    let (long, short) = (text(20_000, 500, 3), text(300, 500, 4));
    for words in [Contexts::Tokens, Contexts::Words, Contexts::Classes] {
        let mut at_once = memory_with(500, words, &[Span::whole(&long, 1), Span::whole(&short, 1)]);
        let mut bit_by_bit = empty(500, words);
        bit_by_bit.memorize(&long).unwrap();
        for p in 0..=short.len() {
            let span = Span::part(&short, p..p + 1, 1);
            bit_by_bit.write(&[span]).unwrap();
        }
        assert_eq!(bit_by_bit.digest().unwrap(), at_once.digest().unwrap());
        assert!(contents(&bit_by_bit) == contents(&at_once));
        assert_eq!(
            bit_by_bit.evidence(&long[..50]).unwrap(),
            at_once.evidence(&long[..50]).unwrap()
        );
        at_once.forget(&short).unwrap();
        bit_by_bit.forget(&short).unwrap();
        assert!(contents(&bit_by_bit) == contents(&at_once));
        let held = at_once.usage().total();
        at_once.forget(&long).unwrap();
        assert_eq!(at_once.cells(), 0);
        assert!(at_once.usage().total() < held / 2, "a memory shrinks when it forgets");
    }
}

/// A server answers from a copy of the memory during a long change: it must not see half of it.
#[test]
fn a_clone_does_not_see_changes() {
    let (first, second) = (text(9_000, 300, 5), text(400, 300, 6));
    for words in [Contexts::Tokens, Contexts::Words, Contexts::Classes] {
        let mut memory = memory_with(300, words, &[Span::whole(&first, 1)]);
        let (before, evidence) = (contents(&memory), memory.evidence(&second[..40]).unwrap());
        let mut clone = memory.clone();
        memory.memorize(&second).unwrap();
        assert_eq!(clone.evidence(&second[..40]).unwrap(), evidence);
        assert!(contents(&clone) == before);
        // Nor the memory what is done to its clone.
        let after = contents(&memory);
        clone.forget(&first).unwrap();
        assert!(contents(&memory) == after);
        assert_eq!(clone.cells(), 0);
    }
}

/// One token a million times: counts leave their four bits, stay exact, and all of it can be undone.
#[test]
fn a_million_repetitions_are_counted_and_undone() {
    let document = text(200, 300, 3);
    let mut memory = memory_with(300, true, &[Span::whole(&document, 1)]);
    let (before, evidence) = (contents(&memory), memory.evidence(&document[..50]).unwrap());
    let repeated = vec![40; 1_000_000];
    memory.memorize(&repeated).unwrap();
    let counted = memory.evidence(&[40; 70]).unwrap();
    assert_eq!(counted.len(), memory.settings().slots());
    for found in counted {
        let first = found.successors[0];
        assert_eq!(first.token, 40);
        assert!((999_000..=1_001_000).contains(&first.count), "{first:?}");
        assert!(found.total > first.count, "what came after the last of them is missing");
    }
    memory.forget(&repeated).unwrap();
    assert_eq!(memory.evidence(&document[..50]).unwrap(), evidence);
    assert!(contents(&memory) == before);
}

/// A digest is a read: many callers, on threads of their own and of one pool, get the same while others read the memory, and
/// what each write changed is hashed whoever asked before.
#[test]
fn digests_are_taken_beside_readers() {
    let texts: Vec<Vec<u32>> = (0..4).map(|seed| text(600, 500, seed)).collect();
    let mut memory = empty(500, true);
    for (i, text) in texts.iter().enumerate() {
        memory.memorize(text).unwrap();
        let expected = digest_of(500, true, &texts[..=i]);
        let shared = &memory;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert_eq!(shared.digest().unwrap(), expected));
                scope.spawn(|| assert_eq!(shared.digest_anew().unwrap(), expected));
                scope.spawn(|| {
                    let leaves = shared.leaves().unwrap();
                    assert_eq!(Digest::of_leaves(shared.settings(), leaves).unwrap(), expected);
                });
                scope.spawn(|| assert!(!shared.evidence(&text[..40]).unwrap().is_empty()));
            }
        });
    }
    memory.forget(&texts[0]).unwrap();
    let expected = digest_of(500, true, &texts[1..]);
    let shared = &memory;
    let digests: Vec<Digest> = on_threads(2, || {
        (0..16).into_par_iter().with_max_len(1).map(|_| shared.digest().unwrap()).collect()
    });
    assert!(digests.iter().all(|&digest| digest == expected));
}

/// Once hashed, what did not change again is not read again: a small change of a large model is acknowledged at once.
#[test]
fn only_what_changed_is_hashed() {
    let (first, second) = (text(30, 2_000, 5), text(30, 2_000, 6));
    let memory = memory_with(2_000, false, &[Span::whole(&first, 1)]);
    let saved = Saved::of(&memory, true);
    let mut restored = saved.restore();
    saved.damaged.store(section_of(2_000, &first, &[&second]), Ordering::Relaxed);
    restored.memorize(&second).unwrap();
    assert_eq!(restored.digest().unwrap(), digest_of(2_000, false, &[first, second]));
    assert!(restored.digest_anew().is_err());
    assert!(restored.verify().is_err());
}

/// A digest that could not be taken is taken later, with all that changed before.
#[test]
fn a_digest_that_failed_loses_nothing() {
    let long = text(300, 2_000, 5);
    let memory = empty(2_000, false);
    let nothing = memory.digest().unwrap();
    let saved = Saved::of(&memory, false);
    let mut restored = saved.restore();
    saved.damaged.store(0, Ordering::Relaxed);
    assert!(matches!(restored.digest(), Err(Error::Storage(_))));
    assert!(matches!(restored.digest_anew(), Err(Error::Storage(_))));
    saved.damaged.store(usize::MAX, Ordering::Relaxed);
    restored.memorize(&long).unwrap();
    assert_eq!(restored.digest().unwrap(), digest_of(2_000, false, std::slice::from_ref(&long)));
    restored.forget(&long).unwrap();
    assert_eq!(restored.digest().unwrap(), nothing);
}

/// Hashes that a checkpoint brought are believed until everything is hashed anew.
#[test]
fn a_digest_taken_anew_believes_no_checkpoint() {
    let memory = memory_with(40, false, &[Span::whole(&[1, 2, 3], 1)]);
    let other = memory_with(40, false, &[Span::whole(&[3, 2, 1], 1)]);
    let saved = Saved { leaves: Some(other.leaves().unwrap()), ..Saved::of(&memory, true) };
    let restored = saved.restore();
    assert_eq!(restored.digest().unwrap(), other.digest().unwrap());
    assert_eq!(restored.digest_anew().unwrap(), memory.digest().unwrap());
}

/// A write that meets damage has written nothing, wherever in the spans the damage is needed: an update never takes the old
/// text out without putting the new one in.
#[test]
fn a_write_that_meets_damage_changes_nothing() {
    let (old, new) = (text(30, 2_000, 5), text(30, 2_000, 6));
    // More positions than are planned at once, in few entries.
    let long = vec![7; 300_000];
    let memory = memory_with(2_000, false, &[Span::whole(&old, 1)]);
    let saved = Saved::of(&memory, true);
    let mut restored = saved.restore();
    let before = contents(&restored);
    for spans in [
        vec![Span::whole(&old, -1), Span::whole(&new, 1)],
        vec![Span::whole(&long, 1), Span::whole(&new, 1)],
        vec![Span::whole(&old, 1), Span::whole(&long, 3), Span::whole(&new, -2)],
    ] {
        saved.damaged.store(section_of(2_000, &new, &[&old, &long]), Ordering::Relaxed);
        assert!(matches!(restored.write(&spans), Err(Error::Storage(_))));
        let merged = restored.merge(&memory_with(2_000, false, &spans));
        assert!(matches!(merged, Err(Error::Storage(_))));
        saved.damaged.store(usize::MAX, Ordering::Relaxed);
        assert!(contents(&restored) == before, "{} spans", spans.len());
    }
    // Where nothing is damaged, the same writes succeed.
    restored.write(&[Span::whole(&old, -1), Span::whole(&new, 1)]).unwrap();
    assert_eq!(restored.digest().unwrap(), digest_of(2_000, false, &[new]));
}

/// A read that met damage leaves nothing behind that a later one could take for an answer.
#[test]
fn a_read_that_failed_is_read_again() {
    let document = text(40, 2_000, 5);
    let memory = memory_with(2_000, false, &[Span::whole(&document, 1)]);
    let saved = Saved::of(&memory, true);
    let restored = saved.restore();
    let read = |context: &[u32], scratch: &mut Scratch| {
        BACKOFF.distribution(&restored, context, scratch)?.dense()
    };
    let expected: Vec<Vec<f64>> =
        (0..=40).map(|p| read(&document[..p], &mut Scratch::default()).unwrap()).collect();
    let mut failed = 0;
    for number in 0..TableKind::ALL.len() * PARTITIONS {
        let mut scratch = Scratch::default();
        read(&document[..12], &mut scratch).unwrap();
        saved.damaged.store(number, Ordering::Relaxed);
        let met = read(&document[..30], &mut scratch).is_err();
        saved.damaged.store(usize::MAX, Ordering::Relaxed);
        if met {
            failed += 1;
            for p in [12, 13, 29, 30, 31].into_iter().chain(14..29) {
                let found = read(&document[..p], &mut scratch.clone()).unwrap();
                assert!(found == expected[p], "after {p} tokens, section {number}");
            }
        }
    }
    assert!(failed > 20, "{failed}");
}

#[test]
fn settings_are_in_the_digest() {
    let base = settings(40);
    let digest = |settings: &Settings| {
        let words = memo::words::Words::new((0..40).map(|token| format!(" w{token}")));
        Memory::with_words(settings.clone(), Some(Arc::new(words))).unwrap().digest().unwrap()
    };
    let changes: [fn(&mut Settings); 5] = [
        |s| s.seed += 1,
        |s| s.end -= 1,
        |s| s.vocabulary += 1,
        |s| s.tokens[6] += 1,
        |s| s.words = vec![2],
    ];
    for change in changes {
        let mut other = base.clone();
        change(&mut other);
        assert_ne!(digest(&other), digest(&base), "{other:?}");
    }
    // A length of words is not one of tokens.
    let both = |tokens: &[u32], words: &[u32]| {
        let (tokens, words) = (tokens.to_vec(), words.to_vec());
        digest(&Settings { tokens, words, ..base.clone() })
    };
    assert_ne!(both(&[1, 2, 3], &[4]), both(&[1, 2, 3, 4], &[]));
}

#[test]
fn what_is_refused_changes_nothing() {
    let mut memory = memory_with(40, false, &[Span::whole(&[1, 2, 3], 1)]);
    let before = memory.digest().unwrap();
    let good = [4, 5];
    let refused = [
        memory.memorize(&[1, 40]),
        memory.memorize(&[1, 39, 2]),
        memory.write(&[Span::whole(&good, 1), Span::whole(&[99], 1)]),
        memory.write(&[Span::part(&good, 1..4, 1)]),
        memory.merge(&empty(40, true)),
        memory.merge(&empty(41, false)),
    ];
    assert!(matches!(
        refused,
        [
            Err(Error::Token { token: 40, position: 1, vocabulary: 40 }),
            Err(Error::End { token: 39, position: 1 }),
            Err(Error::Token { .. }),
            Err(Error::Range { start: 1, end: 4, positions: 3 }),
            Err(Error::Merge("the contexts in use")),
            Err(Error::Merge("the vocabulary")),
        ]
    ));
    assert!(matches!(memory.evidence(&[1, 77]), Err(Error::Token { token: 77, position: 1, .. })));
    assert!(matches!(Memory::new(settings(40).with_words()), Err(Error::Words)));
    assert_eq!(memory.digest().unwrap(), before);
}

/// A span is checked where it is read: its positions and as many tokens before them as slots reach. Checking the whole document
/// for each of its slices would take time quadratic in its length.
#[test]
fn a_span_is_checked_where_it_is_read() {
    let mut document = text(200, 40, 3);
    let write = |document: &[u32], positions| {
        let mut memory = empty(40, true);
        memory.write(&[Span::part(document, positions, 1)])?;
        memory.digest()
    };
    let first_after = 60 + settings(40).with_words().reach() + 1;
    for (token, refused) in [
        (99, Error::Token { token: 99, position: 60, vocabulary: 40 }),
        (39, Error::End { token: 39, position: 60 }),
    ] {
        let before = (write(&document, 0..60), write(&document, first_after..201));
        document[60] = token;
        assert_eq!((write(&document, 0..60), write(&document, first_after..201)), before);
        for positions in [0..201, 0..61, 60..61, first_after - 1..201] {
            assert_eq!(write(&document, positions), Err(refused.clone()));
        }
        document[60] = 1;
    }
}
