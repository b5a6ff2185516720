//! The page of knowledge.

use super::{Data, Row, Value};
use crate::figure::{Figure, HeatMap};
use crate::{Cell, Page, Provenance, Table};
use memo_terminal::output::thousands;

pub(super) fn page(rows: &[Row], data: &Data, provenance: Provenance) -> Page {
    let title = "Knowledge: what facts and rules are worth to a memory";
    let shares = ["asked", "without rules", "with rules", "goal"];
    let changes = ["asked", "before", "after", "goal"];
    Page::new("knowledge", title, all_numbers(rows), provenance)
        .prose(summary(rows))
        .figure("knowledge", CAPTION, figure(rows))
        .heading("What was done")
        .prose(set_up(data))
        .heading("Other wordings")
        .prose(WORDINGS)
        .table(table(rows, "wording", shares))
        .heading("Backwards")
        .prose(BACKWARDS)
        .table(table(rows, "backwards", shares))
        .heading("Two steps")
        .prose(STEPS)
        .table(table(rows, "two steps", shares))
        .heading("Edits")
        .prose(EDITS)
        .table(table(rows, "edits", changes))
        .heading("Forgetting")
        .prose(FORGETTING)
        .table(table(rows, "forgetting", changes))
        .heading("CounterFact as it is")
        .prose(COUNTERFACT)
        .table(table(rows, "counterfact", shares))
        .heading("Speed")
        .prose(SPEED)
        .table(table(rows, "speed", ["measured", "", "with rules", "goal, at most"]))
        .heading("The data")
        .prose(if data.is_made_up { MADE_UP } else { SOURCES })
}

const CAPTION: &str = "Share of questions with a right answer, in percent: facts memorized as text in one wording each, asked without rules and with rules.";

const WORDINGS: &str = "Every fact is a document, one sentence in one wording of its relation. *Right* is a completion by the most probable tokens (what `memo complete` says) \
that has the whole answer, the rest of the sentence and its end, letter for letter. If a subject has several objects of a relation, each of them is right. In a wording with the object first the object is given and a \
subject is asked for; each subject that has this object is right. Some prompts begin sentences of other facts too (*Rome is located in* a country, and in a continent): what they ask for is not said, so they are counted \
apart, and there every sentence of the data that begins so is right.

The rules have, for each relation, one rule that reads its memorized wording as a triple (one that cannot be taken for another relation's, where there is such a wording), and templates of the others. About a third of the other wordings are left out of the rules: they show what a memory does with words that nobody told it. How the wordings to memorize are chosen, and that true sentences count as right after prompts that ask for nothing certain, was settled after a first quick run: there reading rules that also fit other relations' sentences (*plays* and *plays in the position of*) brought the memorized wording down to 97.2 %, and by the stricter count 12.1 % of its uncertain prompts and 47.1 % of the rules' were right. Rules that read too much do harm.";

const BACKWARDS: &str = "Facts were memorized forwards only, subject first. Asked by triple is `memo ask ? RELATION OBJECT`; right is the one subject and no other. Of several subjects a list is right only if it is whole: one sentence that no rule reads spoils every list that its subject is in.";

const STEPS: &str = "For the 30 pairs of relations by which the most follows there is a rule that joins them, with a sentence for what follows. What has to follow is computed from the data, not from what the model read.";

const EDITS: &str = "Facts are triples of graphs, a graph a relation, with templates of the memorized wording and those of the rules. Facts with one object whose prompts ask for nothing else get another object of their relation, all in one \
transaction (`Store::correct_facts`, `memo graph state --from`). *More probable* compares the new object with the old one, for a neighbour its own with the record's new one, by the geometric mean of their tokens' \
probabilities; *said* is a right completion, whole and to its end. A neighbour is a subject of the same relation, with the same old object if there is one.

For comparison, MEMIT on GPT-J with 10,000 edits of CounterFact (Meng et al. 2023, *Mass-Editing Memory in a Transformer*): 98.9, 88.6 and 73.7 % more probable, 96.0, 54.9 and 11.8 % said. That is another task: there a network that knows a language is changed, and \
paraphrases are written by people; here the wordings are given by rules.";

const FORGETTING: &str = "Facts are forgotten in two ways. As documents, with `Store::forget` of all of them in one transaction. As triples: the graphs that state them are forgotten, and memorized again without them, in two transactions; \
to forget one pattern of facts at a time would derive everything anew each time. Both times the digest of the memory is that of a model that never had these facts; the run fails if it is not. *Still answered* asks forwards and backwards by triple. \
What is still said is what a model that never had the fact says too, as the digest shows: the object that most others of the relation have.";

const COUNTERFACT: &str = "Without rules every statement is a document, which gets a new version with the new target. With rules statements are triples of one graph, with templates, and are corrected as triples. The records name no relation: wordings of prompts are of one relation if a record has one of them and \
its neighbour the other, and a paraphrase's last sentence is a wording of its record's relation. Paraphrases are asked as they are, with the unrelated sentences that stand before them. Some wordings begin like longer ones of their relation (*speaks*, and *speaks the language*): where templates say both equally often, a prompt asks for neither, and what is said is either. *Said* counts the target alone, as CounterFact does; the row after it counts the longer wording too.";

const SPEED: &str = "All ratios are of times in this run. Adding facts includes reading graphs and rules, deriving, encoding, and syncing the transaction. The text is what the templates make of the facts, the same sentences. A question includes its sources. The goals are for 30,000 facts and 100,000 documents: a quick run has fewer, and shows only that nothing is slow at its size. Other programs ran on the machine; the slowest questions were not looked into.";

const SOURCES: &str = "Facts and wordings are ParaRel's (Elazar, Kassner, Ravfogel, Ravichander, Hovy, Schütze, Goldberg 2021, *Measuring and Improving Consistency in Pretrained Language Models*, TACL 9; MIT licence), whose facts are LAMA's T-REx. Records are the first of CounterFact (Meng, Bau, Andonian, Belinkov 2022, *Locating and Editing Factual Associations in GPT*, NeurIPS; MIT licence). None of it is part of this project.";

const MADE_UP: &str = "Facts and records are made up, with names of syllables. `--data` takes a folder with `pararel/triples.tsv` (relation, subject, object), `pararel/patterns.tsv` (relation, pattern with [X] and [Y]) and `counterfact-2000.json`.";

fn set_up(data: &Data) -> String {
    let world = &data.world;
    let patterns: usize = world.relations.iter().map(|relation| relation.patterns.len()).sum();
    let unspoken = match world.unspoken {
        0 => String::new(),
        n => format!(" {} facts of relations without a wording are left out.", thousands(n as u64)),
    };
    format!(
        "{facts} facts of {relations} relations with {patterns} wordings, and {records} records, in models with the default settings (GPT-2's tokens, contexts of words).{unspoken} \
         Wordings are cleaned: no space before the end mark, each a sentence with a full stop, each once.",
        facts = thousands(world.facts() as u64),
        relations = world.relations.len(),
        records = thousands(data.records.len() as u64),
    )
}

fn percent(value: Option<&Value>) -> String {
    match value {
        // All and none are said of nothing less.
        Some(Value::Share(share)) if share.right == 0 || share.right == share.tried => {
            format!("{:.1} %", 100.0 * share.value())
        }
        Some(Value::Share(share)) => {
            format!("{:.1} %", (100.0 * share.value()).clamp(0.1, 99.9))
        }
        Some(Value::Number { value, unit }) => shown(*value, unit),
        None => "–".to_owned(),
    }
}

fn shown(value: f64, unit: &str) -> String {
    match unit {
        "" => thousands(value as u64),
        "µs" => format!("{value:.0} {unit}"),
        _ => format!("{value:.2} {unit}"),
    }
}

fn summary(rows: &[Row]) -> String {
    let find = |part: &str, begin: &str| {
        rows.iter().find(|row| row.part == part && row.what.starts_with(begin))
    };
    let before = |part, begin| percent(find(part, begin).and_then(|row| row.before.as_ref()));
    let after = |part, begin| percent(find(part, begin).and_then(|row| row.after.as_ref()));
    let object = "a wording of the rules, asked for the object";
    format!(
        "Facts memorized in one wording are said in another one, which rules have, in {} of cases ({} without rules); in a wording that rules do not have, in {} ({} without). \
         Asked backwards by triple, {} are answered where one answer is right (none without rules), and {} of what follows in two steps is. Facts corrected as triples are said in the \
         edited wording in {}, in others in {}, and neighbours stay in {}. Forgotten facts leave nothing: digests are equal.",
        after("wording", object),
        before("wording", object),
        after("wording", "a wording left out"),
        before("wording", "a wording left out"),
        after("backwards", "asked by triple, one"),
        after("two steps", "asked by triple: all"),
        after("edits", "the edited wording says the new object: said"),
        after("edits", "another wording does: said"),
        after("edits", "a neighbour says its own: said"),
    )
}

fn table(rows: &[Row], part: &str, [what, before, after, goal]: [&str; 4]) -> Table {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.part == part).collect();
    let has_before = rows.iter().any(|row| row.before.is_some());
    let mut columns = vec![what, "of"];
    columns.extend(has_before.then_some(before));
    columns.extend([after, goal]);
    let mut table = Table::new(columns);
    for row in rows {
        let tried = match &row.after {
            Some(Value::Share(share)) => Cell::Count(share.tried),
            _ => Cell::Empty,
        };
        let mut cells = vec![Cell::from(row.what.as_str()), tried];
        cells.extend(has_before.then(|| Cell::from(percent(row.before.as_ref()))));
        cells.push(percent(row.after.as_ref()).into());
        cells.push(match (row.goal, &row.after) {
            (Some(goal), Some(Value::Share(_))) => format!("{:.0} %", 100.0 * goal).into(),
            (Some(goal), Some(Value::Number { unit, .. })) => format!("{goal:.0} {unit}").into(),
            _ => Cell::Empty,
        });
        table.push(cells);
    }
    table
}

fn all_numbers(rows: &[Row]) -> Table {
    let columns = ["part", "what", "before", "before_of", "after", "after_of", "unit", "goal"];
    let mut table = Table::new(columns);
    for row in rows {
        let cells = |value: &Option<Value>| match value {
            Some(Value::Share(share)) => [Cell::Number(share.value(), 4), Cell::Count(share.tried)],
            Some(Value::Number { value, .. }) => [Cell::Number(*value, 4), Cell::Empty],
            None => [Cell::Empty, Cell::Empty],
        };
        let unit = match &row.after {
            Some(Value::Number { unit, .. }) => unit.as_str(),
            _ => "share",
        };
        let mut line = vec![Cell::from(row.part.as_str()), row.what.as_str().into()];
        line.extend(cells(&row.before));
        line.extend(cells(&row.after));
        line.extend([unit.into(), Cell::number(row.goal, 2)]);
        table.push(line);
    }
    table
}

fn figure(rows: &[Row]) -> Figure {
    let asked = [
        ("wording", "the memorized wording, asked for the object", "memorized wording"),
        ("wording", "a wording of the rules, asked for the object", "wording of the rules"),
        ("wording", "a wording left out of the rules, asked for the object", "wording left out"),
        ("backwards", "asked by triple, one", "backwards, by triple"),
        ("two steps", "asked by triple: all", "two steps, by triple"),
        ("two steps", "completed", "two steps, completed"),
    ];
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (part, begin, name) in asked {
        let row = rows.iter().find(|row| row.part == part && row.what.starts_with(begin));
        if let Some(Row {
            before: Some(Value::Share(before)),
            after: Some(Value::Share(after)),
            ..
        }) = row
        {
            names.push(name.to_owned());
            values.push([before, after].map(|s| (100.0 * s.value()) as f32).to_vec());
        }
    }
    let columns = ["without rules", "with rules"].map(str::to_owned);
    let map = HeatMap::new("Right answers, %", values).labels(&names, &columns).numbers();
    Figure::new(1, 360.0).heat(map)
}
