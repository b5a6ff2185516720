//! Memorizing and forgetting are sums: whatever the order, the batches, the threads or the detours, the same texts make
//! the same memory, bit for bit. Without this, "forgotten" would be a figure of speech.

use crate::sparse_common::{on_threads, text};
use crate::superposed_common::settings;
use memo::sparse::Digest;
use memo::superposed::{Error, Memory, Settings, Slot, Span};
use proptest::prelude::*;

/// Settings with a few odd shapes of slot, small enough for rows to be shared by everything.
fn odd_settings(heads: u32, vocabulary: u32) -> Settings {
    let slot = |skip, len, rows, width, copies, bucketed| Slot {
        skip,
        len,
        rows,
        width,
        copies,
        bucketed,
        bound: true,
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
    Ok(memory.digest())
}

fn whole(documents: &[Vec<u32>]) -> Vec<Span<'_>> {
    documents.iter().map(|d| Span::whole(d, 1)).collect()
}

fn digest_of(settings: &Settings, documents: &[Vec<u32>]) -> Digest {
    memory_with(settings, &whole(documents)).digest()
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
                    memory.digest();
                }
            }
            for other in others.iter().rev() {
                memory.forget(other).unwrap();
            }
            memory.digest()
        });
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn merging_is_memorizing_both(a in documents(40), b in documents(40)) {
        let settings = odd_settings(2, 40);
        let mut merged = memory_with(&settings, &whole(&a));
        merged.digest();
        merged.merge(&memory_with(&settings, &whole(&b))).unwrap();
        let mut both = memory_with(&settings, &whole(&a));
        both.write(&whole(&b)).unwrap();
        prop_assert_eq!(merged.digest(), both.digest());
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
            .map(|cut| Span::part(&document, cut[0]..cut[1], 1))
            .collect();
        parts.reverse();
        let expected = digest_of(&settings, std::slice::from_ref(&document));
        prop_assert_eq!(memory_with(&settings, &parts).digest(), expected);
    }

    #[test]
    fn a_weight_is_so_many_times(document in prop::collection::vec(1u32..20, 0..40), weight in -9i32..10) {
        let settings = odd_settings(2, 20);
        let once = Span::whole(&document, weight.signum());
        let times = vec![once; weight.unsigned_abs() as usize];
        prop_assert_eq!(
            memory_with(&settings, &[Span::whole(&document, weight)]).digest(),
            memory_with(&settings, &times).digest()
        );
    }

    /// Forgetting may come first: sums have no order. In the end nothing is left, not even a trace of having been there.
    #[test]
    fn a_walk_that_returns_leaves_nothing(docs in documents(30), steps in prop::collection::vec((0usize..7, any::<bool>()), 0..30)) {
        let settings = odd_settings(2, 30);
        let mut memory = Memory::new(settings.clone()).unwrap();
        let empty = memory.digest();
        let mut balance = vec![0i32; docs.len()];
        for (pick, up) in steps {
            let pick = pick % docs.len();
            if up { memory.memorize(&docs[pick]).unwrap() } else { memory.forget(&docs[pick]).unwrap() }
            balance[pick] += if up { 1 } else { -1 };
        }
        for (document, balance) in docs.iter().zip(balance) {
            memory.write(&[Span::whole(document, -balance)]).unwrap();
        }
        prop_assert_eq!(memory.digest(), empty);
        prop_assert!(memory.cells().iter().all(|&b| b == 0));
        prop_assert_eq!(memory.usage().wide, 0);
        prop_assert!(memory.unigrams().iter().all(|&c| c == 0));
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
                memory.digest()
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
    let (before, evidence) = (memory.digest(), memory.evidence(&document[..50]).unwrap());
    let repeated = vec![42; 1_000_000];
    memory.memorize(&repeated).unwrap();
    assert!(memory.usage().wide > 0, "no row left its bytes");
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
    assert_eq!(memory.digest(), before);
    assert_eq!(memory.evidence(&document[..50]).unwrap(), evidence);
    assert_eq!(memory.usage().wide, 0);
}

#[test]
fn settings_are_in_the_digest() {
    let base = odd_settings(2, 40);
    let digest = |settings: Settings| Memory::new(settings).unwrap().digest();
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
    let before = memory.digest();
    let good = [4, 5];
    let refused = [
        memory.memorize(&[1, 40]),
        memory.memorize(&[1, 0, 2]),
        memory.write(&[Span::whole(&good, 1), Span::whole(&[99], 1)]),
        memory.write(&[Span::part(&good, 1..4, 1)]),
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
    assert_eq!(memory.digest(), before);
}

/// A span is checked where it is read: its positions and as many tokens before them as slots reach. Checking the whole document
/// for each of its slices would take time quadratic in its length.
#[test]
fn a_span_is_checked_where_it_is_read() {
    let settings = odd_settings(2, 40);
    let mut document = text(100, 40, 3).into_iter().map(|token| token + 1).collect::<Vec<u32>>();
    let write = |document: &[u32], positions| {
        memory_with_result(&settings, &[Span::part(document, positions, 1)])
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
