//! Random programs against a naive evaluation: every assignment of every rule, until nothing changes.

use crate::{conclude, rules};
use memo_knowledge::{Rules, Triple};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A term: below 10 a name, else a variable.
type Term = usize;
type Atom = [Term; 3];

#[derive(Clone, Debug)]
struct Rule {
    when: Vec<Atom>,
    unless: Vec<Atom>,
    then: Vec<Atom>,
}

const NAMES: [&str; 7] = ["a", "b", "c", "p", "q", "r", "s"];
const VARIABLES: usize = 3;

fn end() -> impl Strategy<Value = Term> {
    prop_oneof![3 => 10..10 + VARIABLES, 1 => 0..3_usize]
}

fn predicate() -> impl Strategy<Value = Term> {
    prop_oneof![8 => 3..7_usize, 1 => 10..10 + VARIABLES]
}

fn atom() -> impl Strategy<Value = Atom> {
    (end(), predicate(), end())
        .prop_map(|(subject, predicate, object)| [subject, predicate, object])
}

fn rule() -> impl Strategy<Value = Rule> {
    let atoms = |count| proptest::collection::vec(atom(), count);
    (atoms(1..4), atoms(0..2), atoms(1..3)).prop_map(|(when, unless, then)| {
        // A variable that `when` does not have becomes one that it has, or a name.
        let known: BTreeSet<Term> =
            when.iter().flatten().copied().filter(|term| *term >= 10).collect();
        let fix = |atoms: Vec<Atom>| {
            let term = |term: Term| {
                if known.contains(&term) || term < 10 {
                    term
                } else {
                    known.first().copied().unwrap_or(3)
                }
            };
            atoms.into_iter().map(|atom| atom.map(term)).collect()
        };
        Rule { unless: fix(unless), then: fix(then), when }
    })
}

fn base() -> impl Strategy<Value = BTreeSet<[usize; 3]>> {
    proptest::collection::btree_set(
        (0..3_usize, 3..7_usize, 0..3_usize).prop_map(|(s, p, o)| [s, p, o]),
        0..12,
    )
}

fn text_of(program: &[Rule]) -> String {
    let term = |term: Term| {
        if term < 10 { format!("\"{}\"", NAMES[term]) } else { format!("\"{{v{term}}}\"") }
    };
    let list = |atoms: &[Atom]| {
        let atoms: Vec<String> =
            atoms.iter().map(|atom| format!("[{}]", atom.map(term).join(", "))).collect();
        format!("[{}]", atoms.join(", "))
    };
    let mut text = String::new();
    for rule in program {
        let _ =
            writeln!(text, "[[rule]]\nwhen = {}\nthen = {}", list(&rule.when), list(&rule.then));
        if !rule.unless.is_empty() {
            let _ = writeln!(text, "unless = {}", list(&rule.unless));
        }
    }
    text
}

/// The level of each rule, or `None` if an `unless` depends on itself: raised until all fit, or beyond what is possible.
fn levels(program: &[Rule]) -> Option<Vec<usize>> {
    let same = |one: &Atom, other: &Atom| {
        one.iter().zip(other).all(|(a, b)| *a >= 10 || *b >= 10 || a == b)
    };
    let makes = |maker: &Rule, asked: &[Atom]| {
        asked.iter().any(|asked| maker.then.iter().any(|then| same(then, asked)))
    };
    let mut levels = vec![0; program.len()];
    loop {
        let mut changed = false;
        for (at, rule) in program.iter().enumerate() {
            for (other, maker) in program.iter().enumerate() {
                let least = match (makes(maker, &rule.when), makes(maker, &rule.unless)) {
                    (_, true) => levels[other] + 1,
                    (true, false) => levels[other],
                    _ => 0,
                };
                if levels[at] < least {
                    (levels[at], changed) = (least, true);
                }
            }
        }
        if !changed {
            return Some(levels);
        }
        if levels.iter().any(|level| *level > program.len()) {
            return None;
        }
    }
}

fn fill(atom: &Atom, values: &[usize]) -> [usize; 3] {
    atom.map(|term| if term < 10 { term } else { values[term - 10] })
}

fn assignments() -> impl Iterator<Item = [usize; VARIABLES]> {
    let count = NAMES.len();
    (0..count.pow(3)).map(move |n| [n % count, n / count % count, n / count / count])
}

/// All facts, each with the round in which it first follows.
fn naive(
    program: &[Rule],
    levels: &[usize],
    base: &BTreeSet<[usize; 3]>,
) -> BTreeMap<[usize; 3], usize> {
    let mut facts: BTreeMap<[usize; 3], usize> = base.iter().map(|fact| (*fact, 0)).collect();
    let mut round = 0;
    for level in 0..=levels.iter().copied().max().unwrap_or(0) {
        loop {
            round += 1;
            let mut new = Vec::new();
            for (rule, _) in program.iter().zip(levels).filter(|(_, at)| **at == level) {
                for values in assignments() {
                    let has = |atom: &Atom| facts.contains_key(&fill(atom, &values));
                    if rule.when.iter().all(has) && !rule.unless.iter().any(has) {
                        new.extend(rule.then.iter().map(|then| fill(then, &values)));
                    }
                }
            }
            let before = facts.len();
            for fact in new {
                facts.entry(fact).or_insert(round);
            }
            if facts.len() == before {
                break;
            }
        }
    }
    facts
}

fn named(fact: &[usize; 3]) -> Triple {
    let [subject, predicate, object] = fact.map(|term| NAMES[term]);
    Triple::new(subject, predicate, object)
}

fn numbered(triple: &Triple) -> [usize; 3] {
    let number = |name: &str| NAMES.iter().position(|known| *known == name).unwrap();
    [number(&triple.subject), number(&triple.predicate), number(&triple.object)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn conclusions_are_those_of_a_naive_evaluation(
        program in proptest::collection::vec(rule(), 1..5),
        base in base(),
    ) {
        let parsed = Rules::parse(&text_of(&program), "random.toml");
        let Some(levels) = levels(&program) else {
            prop_assert!(parsed.is_err(), "{}", text_of(&program));
            return Ok(());
        };
        let parsed = parsed.unwrap();
        let expected = naive(&program, &levels, &base);
        let given: Vec<Triple> = base.iter().map(named).collect();
        let found = conclude(&parsed, &given);
        let what: Vec<Triple> = found.triples.iter().map(|found| found.what.clone()).collect();
        let new = expected.keys().filter(|fact| !base.contains(*fact)).map(named);
        prop_assert_eq!(&what, &new.collect::<Vec<_>>());

        // Each reason is one: its facts are what the rule asks for, and were there in an earlier round.
        for found in &found.triples {
            let fact = numbered(&found.what);
            let from: BTreeSet<[usize; 3]> = found.from.iter().map(|&number| {
                numbered(if number < given.len() { &given[number] } else { &what[number - given.len()] })
            }).collect();
            let rule = &program[found.rule];
            let holds = assignments().any(|values| {
                let when: BTreeSet<[usize; 3]> = rule.when.iter().map(|atom| fill(atom, &values)).collect();
                when == from
                    && rule.then.iter().any(|then| fill(then, &values) == fact)
                    && !rule.unless.iter().any(|unless| expected.contains_key(&fill(unless, &values)))
            });
            prop_assert!(holds, "{:?}", found);
            prop_assert!(from.iter().all(|fact_before| expected[fact_before] < expected[&fact]));
        }
    }

    #[test]
    fn the_order_of_rules_changes_no_conclusion(
        program in proptest::collection::vec(rule(), 1..5).prop_filter("in order", |program| levels(program).is_some()),
        base in base(),
    ) {
        let mut backwards = program.clone();
        backwards.reverse();
        let given: Vec<Triple> = base.iter().map(named).collect();
        let what = |program: &[Rule]| -> Vec<Triple> {
            conclude(&rules(&text_of(program)), &given).triples.into_iter().map(|found| found.what).collect()
        };
        prop_assert_eq!(what(&program), what(&backwards));
        // Of one file or of several.
        let mut several = Rules::default();
        for rule in &program {
            several.extend(rules(&text_of(std::slice::from_ref(rule)))).unwrap();
        }
        prop_assert_eq!(conclude(&several, &given), conclude(&rules(&text_of(&program)), &given));
    }
}
