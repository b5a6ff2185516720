//! Facts: what is stated can be asked both ways, and is taken back exactly; texts never notice.

use crate::sparse_common::{settings, text};
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::{Direction, Memory, Question, Scope, Span};
use proptest::prelude::*;

/// Subject, predicate and object, as tokens.
type Fact = [Vec<u32>; 3];

fn spans(fact: &Fact, weight: i32) -> [Span<'_>; 2] {
    let [subject, predicate, object] = fact;
    let question = |known, asked| Question { known, predicate, asked };
    [
        Span::answer(question(subject, Direction::Object), object, weight),
        Span::answer(question(object, Direction::Subject), subject, weight),
    ]
}

fn facts() -> impl Strategy<Value = Vec<Fact>> {
    let name = || prop::collection::vec(0..6u32, 0..4);
    prop::collection::vec((name(), name(), name()).prop_map(|(s, p, o)| [s, p, o]), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Against a list of facts: every question has the answers that were stated, as often as they were, and no other.
    #[test]
    fn questions_have_the_answers_that_were_stated(stated in facts(), asked in facts()) {
        let mut memory = Memory::new(settings(100)).unwrap();
        for fact in &stated {
            memory.write(&spans(fact, 1)).unwrap();
        }
        for [known, predicate, _] in stated.iter().chain(&asked) {
            for (direction, from, to) in [(Direction::Object, 0, 2), (Direction::Subject, 2, 0)] {
                let question = Question { known, predicate, asked: direction };
                let found = memory.answers(&question, 1000).unwrap();
                let mut expected: Vec<(i64, Vec<u32>)> = Vec::new();
                for fact in stated.iter().filter(|f| f[from] == *known && f[1] == *predicate) {
                    match expected.iter_mut().find(|(_, answer)| *answer == fact[to]) {
                        Some((count, _)) => *count += 1,
                        None => expected.push((1, fact[to].clone())),
                    }
                }
                expected.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
                let found: Vec<_> = found.into_iter().map(|a| (a.count, a.tokens)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    /// What is left after taking facts back is what never had them, in whatever order and however divided.
    #[test]
    fn facts_are_taken_back_exactly(kept in facts(), gone in facts(), cut in 0..1024usize) {
        let mut never = Memory::new(settings(100)).unwrap();
        let document = text(300, 100, 5);
        never.memorize(&document).unwrap();
        for fact in kept.iter().rev() {
            never.write(&spans(fact, 1)).unwrap();
        }
        let mut memory = Memory::new(settings(100)).unwrap();
        let all: Vec<Span<'_>> = kept.iter().chain(&gone).flat_map(|fact| spans(fact, 1)).collect();
        for scope in [Scope::partitions(0..cut), Scope::partitions(cut..1024)] {
            memory.write_within(&scope, &all).unwrap();
        }
        memory.memorize(&document).unwrap();
        for fact in &gone {
            memory.write(&spans(fact, -1)).unwrap();
        }
        prop_assert_eq!(memory.digest().unwrap(), never.digest().unwrap());
    }
}

#[test]
fn texts_do_not_notice_facts() {
    let document = text(2000, 100, 9);
    let mut plain = Memory::new(settings(100)).unwrap();
    plain.memorize(&document).unwrap();
    let mut memory = plain.clone();
    let fact = [document[..2].to_vec(), document[2..4].to_vec(), document[4..7].to_vec()];
    memory.write(&spans(&fact, 3)).unwrap();
    assert_ne!(memory.digest().unwrap(), plain.digest().unwrap());
    assert_eq!(memory.positions(), plain.positions());
    for p in (1..2000).step_by(37) {
        let read = |memory: &Memory| {
            BACKOFF
                .distribution(memory, &document[..p], &mut Scratch::default())
                .unwrap()
                .dense()
                .unwrap()
        };
        assert_eq!(read(&memory), read(&plain), "after {p} tokens");
    }
}

#[test]
fn facts_of_tokens_that_do_not_exist_are_refused() {
    let mut memory = Memory::new(settings(100)).unwrap();
    let before = memory.digest().unwrap();
    for fact in
        [[vec![100], vec![1], vec![2]], [vec![1], vec![100], vec![2]], [vec![1], vec![2], vec![99]]]
    {
        assert!(memory.write(&spans(&fact, 1)).is_err(), "{fact:?}");
    }
    assert_eq!(memory.digest().unwrap(), before);
}
