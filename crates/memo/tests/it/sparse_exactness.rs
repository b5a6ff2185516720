//! Memorizing and forgetting are sums: whatever the order, the batches, the threads or the detours, the same texts make
//! the same memory, bit for bit. Without this, "forgotten" would be a figure of speech.

use crate::sparse_common::{on_threads, settings, text};
use memo::sparse::{
    Digest, Error, Leaves, Memory, PAGE, PARTITIONS, Ram, SavedMemory, Scope, Settings, Slot, Span,
    Storage, TableKind,
};
use proptest::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Settings with a few odd shapes of slot, small enough for rows to be shared by everything.
fn odd_settings(heads: u32, vocabulary: u32) -> Settings {
    let slot = |skip, len, rows, width, copies, bucketed| Slot {
        skip,
        len,
        rows,
        width,
        copies,
        bucketed,
    };
    Settings {
        vocabulary,
        end: 0,
        seed: 5,
        heads,
        slots: vec![
            slot(0, 1, 37, 64, 2, true),
            slot(0, 2, 9, 128, 1, true),
            slot(0, 3, 11, 64, 3, false),
            slot(0, 9, 300, 256, 2, false),
            slot(4, 5, 2, 512, 2, false),
        ],
    }
}

fn documents(vocabulary: u32) -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(1..vocabulary, 0..60), 1..7)
}

fn memory_with(settings: &Settings, passages: &[Span<'_>]) -> Memory {
    let mut memory = Memory::new(settings.clone()).unwrap();
    memory.write(passages).unwrap();
    memory
}

fn memory_with_result(settings: &Settings, spans: &[Span<'_>]) -> Result<Digest, Error> {
    let mut memory = Memory::new(settings.clone())?;
    memory.write(spans)?;
    memory.digest()
}

fn whole(documents: &[Vec<u32>]) -> Vec<Span<'_>> {
    documents.iter().map(|d| Span::whole(d, 1)).collect()
}

fn digest_of(settings: &Settings, documents: &[Vec<u32>]) -> Digest {
    memory_with(settings, &whole(documents)).digest().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn order_batches_and_threads_cannot_be_seen(
        docs in documents(50), others in documents(50), heads in 2u32..5, threads in 1usize..5, turn in 0usize..7,
    ) {
        let settings = odd_settings(heads, 50);
        let expected = digest_of(&settings, &docs);
        let mut turned = docs.clone();
        turned.rotate_left(turn % docs.len());
        let got = on_threads(threads, || {
            let mut memory = Memory::new(settings.clone()).unwrap();
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
    fn merging_is_memorizing_both(a in documents(40), b in documents(40)) {
        let settings = odd_settings(2, 40);
        let mut merged = memory_with(&settings, &whole(&a));
        merged.digest().unwrap();
        merged.merge(&memory_with(&settings, &whole(&b))).unwrap();
        let mut both = memory_with(&settings, &whole(&a));
        both.write(&whole(&b)).unwrap();
        prop_assert_eq!(merged.digest().unwrap(), both.digest().unwrap());
        let context = &a[0][..a[0].len() / 2];
        prop_assert_eq!(merged.evidence(context).unwrap(), both.evidence(context).unwrap());
    }

    #[test]
    fn parts_of_a_document_add_up_to_it(
        document in prop::collection::vec(1u32..30, 0..80), cuts in prop::collection::vec(0usize..82, 0..5),
    ) {
        let settings = odd_settings(3, 30);
        let end = document.len() + 1;
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(end)).chain([0, end]).collect();
        cuts.sort_unstable();
        let mut parts: Vec<Span<'_>> = cuts
            .windows(2)
            .map(|cut| Span { document: &document, positions: cut[0]..cut[1], weight: 1 })
            .collect();
        parts.reverse();
        let expected = digest_of(&settings, std::slice::from_ref(&document));
        prop_assert_eq!(memory_with(&settings, &parts).digest().unwrap(), expected);
    }

    #[test]
    fn a_weight_is_so_many_times(document in prop::collection::vec(1u32..20, 0..40), weight in -9i32..10) {
        let settings = odd_settings(2, 20);
        let once = Span::whole(&document, weight.signum());
        let times = vec![once; weight.unsigned_abs() as usize];
        prop_assert_eq!(
            memory_with(&settings, &[Span::whole(&document, weight)]).digest().unwrap(),
            memory_with(&settings, &times).digest().unwrap()
        );
    }

    /// Forgetting may come first: sums have no order. In the end nothing is left, not even a trace of having been there.
    #[test]
    fn a_walk_that_returns_leaves_nothing(docs in documents(30), steps in prop::collection::vec((0usize..7, any::<bool>()), 0..30)) {
        let settings = odd_settings(2, 30);
        let mut memory = Memory::new(settings.clone()).unwrap();
        let empty = memory.digest().unwrap();
        let mut balance = vec![0i32; docs.len()];
        for (pick, up) in steps {
            let pick = pick % docs.len();
            if up { memory.memorize(&docs[pick]).unwrap() } else { memory.forget(&docs[pick]).unwrap() }
            balance[pick] += if up { 1 } else { -1 };
        }
        for (document, balance) in docs.iter().zip(balance) {
            memory.write(&[Span::whole(document, -balance)]).unwrap();
        }
        prop_assert_eq!(memory.digest().unwrap(), empty);
        prop_assert!(memory.cells().iter().all(|&b| b == 0));
        prop_assert_eq!(memory.wide_rows().count(), 0);
        let entries = |kind| (0..PARTITIONS).map(|i| memory.partition(kind, i).count()).sum::<usize>();
        prop_assert_eq!(entries(TableKind::Pairs) + entries(TableKind::Totals), 0);
        prop_assert!(memory.unigrams().iter().all(|&c| c == 0));
    }

    #[test]
    fn a_memory_survives_its_checkpoint(docs in documents(60), repeat in 0usize..400) {
        let settings = odd_settings(2, 60);
        let mut memory = memory_with(&settings, &whole(&docs));
        memory.memorize(&vec![7; repeat]).unwrap();
        let mut storage = Ram::new(Memory::storage_len(&settings)).unwrap();
        storage.bytes_mut().copy_from_slice(memory.cells());
        let leaves = (repeat % 2 == 0).then(|| memory.leaves().unwrap());
        let saved = Kept { memory: &memory, leaves };
        let mut restored = Memory::restore(settings, Box::new(storage), &saved).unwrap();
        prop_assert_eq!(restored.digest().unwrap(), memory.digest().unwrap());
        prop_assert_eq!(restored.evidence(&docs[0]).unwrap(), memory.evidence(&docs[0]).unwrap());
        // And goes on as if nothing had been.
        restored.forget(&docs[0]).unwrap();
        memory.forget(&docs[0]).unwrap();
        prop_assert_eq!(restored.digest().unwrap(), memory.digest().unwrap());
    }
}

/// A checkpoint that was never written anywhere.
struct Kept<'m> {
    memory: &'m Memory,
    leaves: Option<Leaves>,
}

impl SavedMemory for Kept<'_> {
    fn unigrams(&self) -> Result<Vec<i64>, Error> {
        Ok(self.memory.unigrams().to_vec())
    }

    fn wide_rows(&self) -> Result<Vec<(usize, u64, Vec<i32>)>, Error> {
        Ok(self.memory.wide_rows().collect())
    }

    fn partition(&self, kind: TableKind, partition: usize) -> Result<Vec<(u32, i64)>, Error> {
        Ok(self.memory.partition(kind, partition).collect())
    }

    fn leaves(&self) -> Result<Option<Leaves>, Error> {
        Ok(self.leaves.clone())
    }
}

/// A text large enough for many batches, shares and threads, written in different ways.
#[test]
fn a_long_text_is_the_same_on_any_number_of_threads() {
    let text = text(30_000, 2_000, 1);
    let other = self::text(9_000, 2_000, 2);
    let settings = settings(2_000, 92 * 30_000);
    let digests: Vec<Digest> = [1, 2, 5]
        .into_iter()
        .map(|threads| {
            on_threads(threads, || {
                let mut memory = Memory::new(settings.clone()).unwrap();
                if threads > 1 {
                    memory.memorize(&other).unwrap();
                }
                memory.memorize(&text).unwrap();
                if threads > 1 {
                    memory.forget(&other).unwrap();
                }
                memory.digest().unwrap()
            })
        })
        .collect();
    assert!(digests.windows(2).all(|d| d[0] == d[1]), "{digests:?}");
}

/// One token a million times: rows leave bytes, then 16 bits; counts stay exact, and all of it can be undone.
#[test]
fn a_million_repetitions_are_counted_and_undone() {
    let settings = settings(300, 1 << 20);
    let document = text(200, 300, 3);
    let mut memory = Memory::new(settings).unwrap();
    memory.memorize(&document).unwrap();
    let (before, evidence) = (memory.digest().unwrap(), memory.evidence(&document[..50]).unwrap());
    let repeated = vec![42; 1_000_000];
    memory.memorize(&repeated).unwrap();
    let wide: Vec<i32> = memory.wide_rows().flat_map(|(_, _, values)| values).collect();
    assert!(wide.iter().any(|v| v.abs() > i32::from(i16::MAX)), "no row left 16 bits");
    for found in memory.evidence(&[42; 40]).unwrap() {
        let slot = &memory.settings().slots[found.slot];
        let short = document.iter().filter(|&&t| t == 42).count() as i64;
        let windows = 1_000_000 - i64::from(slot.skip + slot.len) + 1;
        assert!((windows..=windows + short).contains(&found.total), "{found:?}");
        let first = found.successors[0];
        assert_eq!(first.token, 42);
        assert!((first.count - 1_000_000.0).abs() < 0.01 * 1_000_000.0, "{first:?}");
    }
    memory.forget(&repeated).unwrap();
    assert_eq!(memory.digest().unwrap(), before);
    assert_eq!(memory.evidence(&document[..50]).unwrap(), evidence);
    assert_eq!(memory.wide_rows().count(), 0);
}

/// A digest is a read: many callers, on threads of their own and of one pool, get the same while others read the memory, and
/// what each write changed is hashed whoever asked before.
#[test]
fn digests_are_taken_beside_readers() {
    let settings = settings(500, 1 << 20);
    let texts: Vec<Vec<u32>> = (0..4).map(|seed| text(600, 500, seed)).collect();
    let mut memory = Memory::new(settings.clone()).unwrap();
    for (i, text) in texts.iter().enumerate() {
        memory.memorize(text).unwrap();
        let expected = digest_of(&settings, &texts[..=i]);
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
    let expected = digest_of(&settings, &texts[1..]);
    let shared = &memory;
    let digests: Vec<Digest> = on_threads(2, || {
        (0..16).into_par_iter().with_max_len(1).map(|_| shared.digest().unwrap()).collect()
    });
    assert!(digests.iter().all(|&digest| digest == expected));
}

/// Once hashed, what did not change again is not read again.
#[test]
fn only_what_changed_is_hashed() {
    let settings = settings(2_000, 1 << 23);
    let (first, second) = (text(30, 2_000, 5), text(30, 2_000, 6));
    let (mut memory, page) = damaged(&settings);
    memory.memorize(&first).unwrap();
    memory.digest().unwrap();
    page.store(page_of(&settings, &first, &[&second]), Ordering::Relaxed);
    memory.memorize(&second).unwrap();
    assert_eq!(memory.digest().unwrap(), digest_of(&settings, &[first, second]));
    assert!(memory.digest_anew().is_err());
}

/// A digest that could not be taken is taken later, with all that changed before.
#[test]
fn a_digest_that_failed_loses_nothing() {
    let settings = settings(2_000, 1 << 20);
    let text = text(300, 2_000, 5);
    let (mut memory, page) = damaged(&settings);
    let empty = memory.digest().unwrap();
    memory.memorize(&text).unwrap();
    page.store(0, Ordering::Relaxed);
    assert!(matches!(memory.digest(), Err(Error::Storage(_))));
    assert!(matches!(memory.digest_anew(), Err(Error::Storage(_))));
    page.store(usize::MAX, Ordering::Relaxed);
    assert_eq!(memory.digest().unwrap(), digest_of(&settings, std::slice::from_ref(&text)));
    memory.forget(&text).unwrap();
    assert_eq!(memory.digest().unwrap(), empty);
}

/// Hashes that a checkpoint brought are believed until everything is hashed anew.
#[test]
fn a_digest_taken_anew_believes_no_checkpoint() {
    let settings = odd_settings(2, 40);
    let memory = memory_with(&settings, &[Span::whole(&[1, 2, 3], 1)]);
    let other = memory_with(&settings, &[Span::whole(&[3, 2, 1], 1)]);
    let mut storage = Ram::new(Memory::storage_len(&settings)).unwrap();
    storage.bytes_mut().copy_from_slice(memory.cells());
    let saved = Kept { memory: &memory, leaves: Some(other.leaves().unwrap()) };
    let restored = Memory::restore(settings, Box::new(storage), &saved).unwrap();
    assert_eq!(restored.digest().unwrap(), other.digest().unwrap());
    assert_eq!(restored.digest_anew().unwrap(), memory.digest().unwrap());
}

/// The digest is part of the format: the same text gives the same bytes forever.
#[test]
fn the_digest_never_changes() {
    let mut memory = Memory::new(settings(500, 1 << 19)).unwrap();
    let empty = memory.digest().unwrap().to_string();
    memory.memorize(&text(3_000, 500, 4)).unwrap();
    let full = memory.digest().unwrap().to_string();
    assert_eq!((empty.as_str(), full.as_str()), GOLDEN);
}

const GOLDEN: (&str, &str) = (
    "de2c6d89cd32d29459fd97970faae57a0aafa02428839eb41deba225b07af165",
    "054d654a2bcec808d872136e0b84d7f32b3421412291cfc1555100db9ddd9c6f",
);

#[test]
fn settings_are_in_the_digest() {
    let base = odd_settings(2, 40);
    let digest = |settings: Settings| Memory::new(settings).unwrap().digest().unwrap();
    let changes: [fn(&mut Settings); 5] = [
        |s| s.seed += 1,
        |s| s.end += 1,
        |s| s.heads += 1,
        |s| s.slots[0].rows += 1,
        |s| s.slots[1].skip += 1,
    ];
    for change in changes {
        let mut other = base.clone();
        change(&mut other);
        assert_ne!(digest(other), digest(base.clone()));
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let settings = odd_settings(2, 40);
    let mut memory = memory_with(&settings, &[Span::whole(&[1, 2, 3], 1)]);
    let before = memory.digest().unwrap();
    let good = [4, 5];
    let refused = [
        memory.memorize(&[1, 40]),
        memory.memorize(&[1, 0, 2]),
        memory.write(&[Span::whole(&good, 1), Span::whole(&[99], 1)]),
        memory.write(&[Span { document: &good, positions: 1..4, weight: 1 }]),
        memory.merge(&Memory::new(odd_settings(3, 40)).unwrap()),
    ];
    assert!(matches!(
        refused,
        [
            Err(Error::Token { token: 40, position: 1, vocabulary: 40 }),
            Err(Error::End { token: 0, position: 1 }),
            Err(Error::Token { .. }),
            Err(Error::Range { start: 1, end: 4, positions: 3 }),
            Err(Error::Merge("the number of heads")),
        ]
    ));
    assert!(matches!(memory.evidence(&[1, 77]), Err(Error::Token { token: 77, position: 1, .. })));
    assert_eq!(memory.digest().unwrap(), before);
}

/// A span is checked where it is read: its positions and as many tokens before them as slots reach. Checking the whole document
/// for each of its slices would take time quadratic in its length.
#[test]
fn a_span_is_checked_where_it_is_read() {
    let settings = odd_settings(2, 40);
    let mut document = text(100, 40, 3).into_iter().map(|token| token + 1).collect::<Vec<u32>>();
    let write = |document: &[u32], positions| {
        memory_with_result(&settings, &[Span { document, positions, weight: 1 }])
    };
    let first_after = 60 + settings.reach() + 1;
    for (token, refused) in [
        (99, Error::Token { token: 99, position: 60, vocabulary: 40 }),
        (0, Error::End { token: 0, position: 60 }),
    ] {
        let before = (write(&document, 0..60), write(&document, first_after..101));
        document[60] = token;
        assert_eq!((write(&document, 0..60), write(&document, first_after..101)), before);
        for positions in [0..101, 0..61, 60..61, first_after - 1..101] {
            assert_eq!(write(&document, positions), Err(refused.clone()));
        }
        document[60] = 1;
    }
}

/// Guarded cells in RAM, of which one page fails verification.
struct Damaged {
    cells: Ram,
    page: Arc<AtomicUsize>,
}

impl Storage for Damaged {
    fn bytes(&self) -> &[u8] {
        self.cells.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.cells.bytes_mut()
    }

    fn guarded(&self) -> bool {
        true
    }

    fn verify(&self, page: usize) -> Result<(), Error> {
        if page == self.page.load(Ordering::Relaxed) {
            return Err(Error::Storage(format!("page {page}")));
        }
        Ok(())
    }
}

/// An empty memory of such cells, and the page that fails: none at first.
fn damaged(settings: &Settings) -> (Memory, Arc<AtomicUsize>) {
    let page = Arc::new(AtomicUsize::new(usize::MAX));
    let cells = Ram::new(Memory::storage_len(settings)).unwrap();
    let storage = Damaged { cells, page: page.clone() };
    (Memory::with_storage(settings.clone(), Box::new(storage)).unwrap(), page)
}

/// A page that a document needs and some others do not.
fn page_of(settings: &Settings, document: &[u32], others: &[&[u32]]) -> usize {
    let others: Vec<Span<'_>> = others.iter().map(|other| Span::whole(other, 1)).collect();
    let one = memory_with(settings, &[Span::whole(document, 1)]);
    let others = memory_with(settings, &others);
    let mut both = one.cells().chunks(PAGE).zip(others.cells().chunks(PAGE));
    let written = |page: &[u8]| page.iter().any(|&cell| cell != 0);
    both.position(|(one, others)| written(one) && !written(others)).unwrap()
}

/// Everything that a memory holds.
fn contents(memory: &Memory) -> impl PartialEq + std::fmt::Debug + use<> {
    let table = |kind| (0..PARTITIONS).map(|i| memory.partition(kind, i).collect()).collect();
    let tables: [Vec<Vec<(u32, i64)>>; 2] = [TableKind::Pairs, TableKind::Totals].map(table);
    let wide: Vec<_> = memory.wide_rows().collect();
    let (cells, unigrams) = (memory.cells().to_vec(), memory.unigrams().to_vec());
    (cells, wide, tables, unigrams, memory.digest().unwrap())
}

/// A write that meets a damaged page has written nothing, wherever in the spans the page is needed: an update never takes
/// the old text out without putting the new one in.
#[test]
fn a_write_that_meets_damage_changes_nothing() {
    let settings = settings(2_000, 1 << 23);
    let (old, new) = (text(30, 2_000, 5), text(30, 2_000, 6));
    // More positions than are planned at once, in few rows.
    let long = vec![7; 10_000];
    let (mut memory, page) = damaged(&settings);
    memory.memorize(&old).unwrap();
    let before = contents(&memory);
    page.store(page_of(&settings, &new, &[&old, &long]), Ordering::Relaxed);
    for spans in [
        vec![Span::whole(&old, -1), Span::whole(&new, 1)],
        vec![Span::whole(&long, 1), Span::whole(&new, 1)],
        vec![Span::whole(&old, 1), Span::whole(&long, 3), Span::whole(&new, -2)],
    ] {
        assert!(matches!(memory.write(&spans), Err(Error::Storage(_))));
        assert!(contents(&memory) == before, "{} spans", spans.len());
    }
    // Where nothing is damaged, the same writes succeed.
    page.store(usize::MAX, Ordering::Relaxed);
    memory.write(&[Span::whole(&old, -1), Span::whole(&new, 1)]).unwrap();
    assert_eq!(memory.digest().unwrap(), digest_of(&settings, &[new]));
}

/// Scope by scope, a memory comes out as it would in one go: every cell and every count is in exactly one scope.
#[test]
fn scopes_add_up_to_the_whole() {
    let mut settings = odd_settings(2, 300);
    settings.slots[3].rows = 9000;
    let texts = [text(5000, 300, 1), text(700, 300, 2)];
    let texts = texts.map(|text| text.into_iter().map(|token| token + 1).collect::<Vec<u32>>());
    let cut = |bytes| Scope::cells(&settings, bytes);
    assert!(cut(1).len() > settings.slots.len(), "no slot has several shares");
    assert_eq!(cut(usize::MAX).len(), 1);
    for bytes in [1, 1 << 21, usize::MAX] {
        let cells = cut(bytes);
        assert!(cells.windows(2).all(|pair| pair[0].1.end == pair[1].1.start));
        assert_eq!(cells.last().unwrap().1.end, Memory::storage_len(&settings));
        let tables = [TableKind::Pairs, TableKind::Totals];
        let tables = tables
            .iter()
            .flat_map(|&kind| [0..700, 700..PARTITIONS].map(|some| Scope::partitions(kind, some)));
        let mut sum = Memory::new(settings.clone()).unwrap();
        let cells = cells.into_iter().map(|(scope, _)| scope);
        let rest = Scope::partitions(TableKind::Pairs, 0..0).and_unigrams();
        for scope in cells.chain(tables).chain([rest]) {
            let mut part = Memory::new(settings.clone()).unwrap();
            part.write_within(&scope, &whole(&texts)).unwrap();
            sum.merge(&part).unwrap();
        }
        assert_eq!(sum.digest().unwrap(), digest_of(&settings, &texts), "{bytes} bytes");
    }
}
