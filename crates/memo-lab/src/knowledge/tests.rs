//! The experiment on its own data.

use super::*;
use crate::Options;

/// The share of a row whose part and beginning are these, before and after.
fn shares(rows: &[Row], part: &str, begin: &str) -> (f64, f64) {
    let row = rows.iter().find(|row| row.part == part && row.what.starts_with(begin));
    let row = row.unwrap_or_else(|| panic!("no {part}: {begin} in {rows:?}"));
    let share = |value: &Option<Value>| match value {
        Some(Value::Share(share)) => share.value(),
        other => panic!("{other:?} is no share"),
    };
    (share(&row.before), share(&row.after))
}

fn small() -> (World, Size) {
    let size = Size { facts: 60, questions: 60, edits: 20, records: 12, documents: 200 };
    (World::made_up(40, 3), size)
}

#[test]
fn rules_say_what_was_memorized_in_their_wordings_backwards_and_in_two_steps() {
    let (world, size) = small();
    let rows = wording::measure(&world, &size, 3).unwrap();
    let (before, after) = shares(&rows, "wording", "the memorized wording, asked for the object");
    assert!(before > 0.99 && after > 0.99, "{rows:?}");
    let (before, after) = shares(&rows, "wording", "a wording of the rules, asked for the object");
    assert!(before < 0.3 && after > 0.99, "{rows:?}");
    let left_out =
        shares(&rows, "wording", "a wording left out of the rules, asked for the object");
    assert!(left_out.1 < 0.9, "nobody told the memory these words: {rows:?}");
    for (part, begin) in [
        ("backwards", "asked by triple, one"),
        ("backwards", "asked by triple, several"),
        ("two steps", "asked by triple: all"),
        ("two steps", "completed"),
    ] {
        assert_eq!(shares(&rows, part, begin), (0.0, 1.0), "{part} {begin}: {rows:?}");
    }
}

#[test]
fn corrected_facts_change_in_every_wording_and_neighbours_stay() {
    let (world, size) = small();
    let rows = edits::measure(&world, &size, 3).unwrap();
    for how in ["more probable", "said"] {
        for name in ["the edited wording says the new object", "another wording does"] {
            assert_eq!(shares(&rows, "edits", &format!("{name}: {how}")), (0.0, 1.0), "{rows:?}");
        }
        let neighbours = shares(&rows, "edits", &format!("a neighbour says its own: {how}"));
        assert_eq!(neighbours, (1.0, 1.0), "{rows:?}");
    }
}

#[test]
fn forgotten_facts_leave_nothing() {
    let (world, size) = small();
    // Fails by itself if a digest is not that of a model that never had them.
    let rows = forget::measure(&world, &size, 3).unwrap();
    for way in ["a document a fact", "graphs forgotten"] {
        let row = rows.iter().position(|row| row.what.starts_with(way)).unwrap();
        assert_eq!(shares(&rows[row..], "forgetting", way), (1.0, 0.0), "{rows:?}");
    }
}

#[test]
fn paraphrases_of_records_follow_with_rules_only() {
    let rows = counterfact::measure(&counterfact::made_up(12), 3).unwrap();
    let said = |what: &str| shares(&rows, "counterfact", &format!("{what}: said"));
    assert_eq!(said("the prompt has the new target"), (1.0, 1.0), "{rows:?}");
    let (without, with) = said("the paraphrase does");
    assert!(without < 0.5 && with > 0.9, "{rows:?}");
    assert_eq!(said("the neighbour has its own"), (1.0, 1.0), "{rows:?}");
}

#[test]
fn tables_are_read_and_mistakes_are_named_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("triples.tsv", "P1\tAda\tRome\nP2\tAda\tink\nP1\tBo\tRome\n");
    write("patterns.tsv", "P1\t[X] was born in [Y] .\nP1\t[X] was born in [Y].\nP1\t[Y] saw [X]\n");
    let world = World::read(folder.path(), 10, 1).unwrap();
    assert_eq!((world.facts(), world.unspoken, world.relations[0].patterns.len()), (2, 1, 2));
    assert_eq!(world.beginning("Ada was").collect::<Vec<_>>(), ["Ada was born in Rome."]);
    write("patterns.tsv", "P1\t[X] was born in [Y] .\nP1\tborn\n");
    let error = World::read(folder.path(), 10, 1).err().unwrap().to_string();
    assert!(error.contains("patterns.tsv, line 2"), "{error}");
}

#[test]
fn the_page_has_a_goal_beside_every_share_that_has_one() {
    let options = Options { quick: true, seed: 3, ..Options::default() };
    let data = Data::read(None, &Size::of(true), 3).unwrap();
    let share = |right| Some(Value::Share(Share { right, tried: 4 }));
    let rows = [
        Row {
            part: "wording".into(),
            what: "a wording of the rules, asked for the object".into(),
            before: share(1),
            after: share(4),
            goal: Some(0.99),
        },
        Row::ratio("facts, over text", 3.5, Some(10.0)),
    ];
    let lab = Lab::new(options, &["memo-lab".to_owned()], &());
    let text = page::page(&rows, &data, lab.provenance(1.0)).markdown();
    assert!(
        text.contains(
            "| a wording of the rules, asked for the object | 4 | 25.0 % | 100.0 % | 99 % |"
        ),
        "{text}"
    );
    assert!(text.contains("| facts, over text | – | 3.50 times | 10 times |"), "{text}");
}
