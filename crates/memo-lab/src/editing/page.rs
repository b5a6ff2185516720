//! The page: what edits change, what they leave alone, and where they do not reach.

use super::judge::{Answer, Verdict};
use super::records::Data;
use super::{Case, ENDINGS, Outcome};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Share, Table};
use memo_terminal::output::thousands;

type Results = [(Case, Outcome)];

pub(super) fn page(results: &Results, data: &Data, provenance: Provenance) -> Page {
    let title = "Editing: facts that are made to say something else";
    Page::new("editing", title, all_numbers(results), provenance)
        .prose(summary(results))
        .figure("editing", CAPTION, figure(results))
        .heading("What was done")
        .prose(set_up(results, data))
        .heading("Which continuation is more probable")
        .prose("In percent, as CounterFact counts: of two continuations, the wanted one is the more probable.")
        .table(verdicts(results, |answer| answer.preferred, |verdict| verdict.scores().0))
        .heading("What the memory says")
        .prose("In percent, and stricter: every token of the wanted continuation is the most probable one of all.")
        .table(verdicts(results, |answer| answer.said, |verdict| verdict.scores().1))
        .prose(TOGETHER)
        .heading("Why paraphrases fail")
        .prose(PARAPHRASES)
        .table(endings(results))
        .heading("What an edit costs, and its way back")
        .table(cost(results))
        .prose(COST)
}

const CAPTION: &str = "Left: records judged after so many edits were made on top of each other. Right: how often a paraphrase prefers the new target, by the number of \
     tokens at its end that it shares with the edited prompt. Bars are intervals of 95 %.";

/// The case that the page is mostly about.
fn main(results: &Results) -> Option<&Outcome> {
    results.iter().find(|(case, _)| *case == Case::Together).map(|(_, edited)| edited)
}

/// A share in percent; what is less than all is never rounded to 100.
fn hundredths(share: f64) -> f64 {
    if share < 1.0 { (100.0 * share).min(99.9) } else { 100.0 }
}

fn percent(share: Share) -> String {
    format!("{:.1} %", hundredths(share.value()))
}

fn summary(results: &Results) -> String {
    let Some(edited) = main(results) else { return String::new() };
    let Verdict { efficacy, paraphrase, specificity } = edited.after;
    let both = results.iter().find(|(case, _)| *case == Case::BothWordings);
    let both = both.map_or_else(String::new, |(_, both)| {
        format!(
            " A paraphrase that is edited too is said almost as surely as the prompt ({} of them).",
            percent(both.after.paraphrase.said)
        )
    });
    format!(
        "Statements are memorized, {records} of them are edited one after the other, and everything is judged when all edits are in. The edited prompt \
         prefers the new target in {e} of the records and says it in {es}; a neighbour's statement still prefers its own in {s} and says it in {ss}. \
         **Paraphrases mostly do not follow**: {p} prefer the new target ({pb} did before any edit), and {ps} say it. A memory knows texts, not what they \
         mean: another wording is another context.{both} Rolling everything back restores the digest bit for bit.",
        records = thousands(edited.records as u64),
        e = percent(efficacy.preferred),
        es = percent(efficacy.said),
        s = percent(specificity.preferred),
        ss = percent(specificity.said),
        p = percent(paraphrase.preferred),
        pb = percent(edited.before.paraphrase.preferred),
        ps = percent(paraphrase.said),
    )
}

fn set_up(results: &Results, data: &Data) -> String {
    let Some(edited) = main(results) else { return String::new() };
    format!(
        "Each of {records} CounterFact records has a prompt with its true target, a new target, another wording of the prompt, and a neighbour: a \
         statement about something else with the same true target, which must stay. The statements with their true targets, the neighbours' too, are memorized as documents \
         of a model directory ({tokens} tokens of `{tokenizer}`; {parameters} cells). Then each \
         record is edited as `memo edit` does it: only the target's positions are written, with the smallest weight up to 8 that makes each of its tokens win by what followed this prompt alone. Paraphrases \
         are never memorized.\n\n\
         | measure | what it is |\n|---|---|\n\
         | efficacy | after the prompt, the new target is more probable than the true one |\n\
         | paraphrase | the same after the other wording |\n\
         | specificity | after the neighbour's prompt, its true target is more probable than the new target of the record |\n\
         | score | the harmonic mean of the three |\n\n\
         The probability of a target of several tokens is the geometric mean of theirs, as in the reference code of CounterFact. There a record is edited alone, judged \
         and undone; *together* is harder, because every edit meets all others.",
        records = thousands(edited.records as u64),
        tokens = thousands(edited.tokens),
        tokenizer = data.tokenizer.name(),
        parameters = thousands(edited.parameters),
    )
}

const TOGETHER: &str = "
Edits that come later write after the same short contexts, since these prompts come from a few templates. An edit that won by these, narrowly, would lose again. So it is given the smallest \
weight that makes it win by what followed its own prompt, whatever shorter contexts expect: an edit then needs not know of those that come after it. Neighbours that were \
memorized keep what they say, because an edit writes to none of their long contexts; neighbours that were never memorized have nothing to keep, and what is preferred \
there is what is frequent.";

const PARAPHRASES: &str = "
An edit writes what follows one prompt, in contexts of every length that the memory sees. Another wording reads other contexts. It meets the edit only where both end in the \
same words, and then it meets every other statement that ends in these words too: after a short context the memory answers with what mostly \
follows it, not with what is true of this subject. What the table shows is how the answer depends on that shared ending. A preference without any shared ending \
is one between how frequent the two targets are, and all edits together shift that a little; it is no knowledge.

So this is a limit of the kind of model, not a fault of the edit. What can be done: edit every wording that matters (the row of both wordings above), or put something that knows \
paraphrases, a retriever or a language model, in front of the memory.";

const COST: &str = "
An edit is a transaction of a model directory, synced to the disk, with its search for the weight; so is rolling it back. After all edits were rolled back, the last \
first, the digest of the memory was that from before; the run fails if it is not.";

fn verdicts(results: &Results, of: fn(Answer) -> Share, score: fn(&Verdict) -> f64) -> Table {
    let mut table =
        Table::new(["edits", "memory", "efficacy", "paraphrase", "specificity", "score"]);
    for (case, edited) in results {
        for (name, verdict) in [("before", &edited.before), ("after", &edited.after)] {
            let Verdict { efficacy, paraphrase, specificity } = *verdict;
            let mut row = vec![case.name().into(), name.into()];
            let share = |answer| Cell::Number(hundredths(of(answer).value()), 1);
            row.extend([efficacy, paraphrase, specificity].map(share));
            row.push(Cell::Number(hundredths(score(verdict)), 1));
            table.push(row);
        }
    }
    table
}

/// The length of a shared ending as it is shown.
fn ending(length: usize) -> String {
    if length + 1 == ENDINGS { format!("{length} or more") } else { length.to_string() }
}

fn endings(results: &Results) -> Table {
    let mut table = Table::new([
        "tokens of ending in common",
        "records",
        "prefer the new target before, %",
        "after, %",
        "say it before, %",
        "after, %",
    ]);
    let Some(edited) = main(results) else { return table };
    for (length, (before, after)) in edited.endings.iter().enumerate() {
        let share = |share: Share| {
            if share.tried == 0 { Cell::Empty } else { Cell::Number(hundredths(share.value()), 1) }
        };
        table.push(vec![
            ending(length).into(),
            Cell::Count(after.preferred.tried),
            share(before.preferred),
            share(after.preferred),
            share(before.said),
            share(after.said),
        ]);
    }
    table
}

fn cost(results: &Results) -> Table {
    let mut table = Table::new([
        "edits",
        "edits made",
        "did not win",
        "mean weight",
        "ms an edit",
        "ms a rollback",
        "digest before",
        "after rolling back",
    ]);
    for (case, edited) in results {
        let made = edited.weights.iter().skip(1).sum::<u64>();
        let weight: u64 = edited.weights.iter().enumerate().map(|(w, n)| w as u64 * n).sum();
        table.push(vec![
            case.name().into(),
            Cell::Count(edited.edits),
            Cell::Count(edited.failed),
            Cell::Number(weight as f64 / made.max(1) as f64, 2),
            Cell::Number(1e3 * edited.edit_seconds / edited.edits.max(1) as f64, 1),
            Cell::Number(1e3 * edited.rollback_seconds / made.max(1) as f64, 1),
            format!("{}…", &edited.digest[..16]).into(),
            "restored".into(),
        ]);
    }
    table
}

fn all_numbers(results: &Results) -> Table {
    let questions = ["efficacy", "paraphrase", "specificity"];
    let mut columns = vec!["edits".to_owned(), "memory".to_owned(), "records".to_owned()];
    for how in ["preferred", "said"] {
        columns.extend(questions.map(|question| format!("{question}_{how}")));
        columns.push(format!("score_{how}"));
    }
    columns.extend(["edits_failed", "edit_ms", "rollback_ms", "digest"].map(str::to_owned));
    let mut table = Table::new(columns);
    for (case, edited) in results {
        let mut push = |name: &str, records: usize, verdict: &Verdict, digest: &str| {
            let all = [verdict.efficacy, verdict.paraphrase, verdict.specificity];
            let (preferred, said) = verdict.scores();
            let mut row = vec![case.name().into(), name.into(), records.into()];
            row.extend(all.map(|answer| Cell::Number(answer.preferred.value(), 4)));
            row.push(Cell::Number(preferred, 4));
            row.extend(all.map(|answer| Cell::Number(answer.said.value(), 4)));
            row.push(Cell::Number(said, 4));
            let (edits, made) = (edited.edits, edited.weights.iter().skip(1).sum::<u64>());
            let each = |seconds: f64, n: u64| Cell::Number(1e3 * seconds / n.max(1) as f64, 3);
            row.push(Cell::Count(edited.failed));
            row.push(each(edited.edit_seconds, edits));
            row.push(each(edited.rollback_seconds, made));
            row.push(digest.into());
            table.push(row);
        };
        push("before", edited.records, &edited.before, &edited.digest);
        for (edits, verdict) in edited.curve.iter().filter(|(edits, _)| *edits < edited.records) {
            push("after some", *edits, verdict, "");
        }
        let digest = edited.digest_edited.as_deref().unwrap_or_default();
        push("after", edited.records, &edited.after, digest);
    }
    table
}

fn figure(results: &Results) -> Figure {
    let Some(edited) = main(results) else { return Figure::new(1, 100.0) };
    Figure::new(2, 300.0).chart(curve(edited)).chart(by_ending(edited))
}

fn curve(edited: &Outcome) -> Chart {
    let points = |of: fn(&Verdict) -> Answer| {
        edited.curve.iter().map(move |(edits, verdict)| (*edits as f64, of(verdict).preferred))
    };
    let series = |name: &str, colour: usize, mark: Mark, of: fn(&Verdict) -> Answer| {
        Series::shares(name, Style::new(colour).mark(mark), points(of))
    };
    let y = Axis::linear("share that prefers the wanted target").range(0.0, 1.0);
    Chart::new("Edits together", Axis::log("edits made"), y)
        .series(series("efficacy", 0, Mark::Circle, |v| v.efficacy))
        .series(series("specificity", 2, Mark::Square, |v| v.specificity))
        .series(series("paraphrase", 1, Mark::Triangle, |v| v.paraphrase))
}

fn by_ending(edited: &Outcome) -> Chart {
    let points = |of: fn(&(Answer, Answer)) -> Answer| {
        let known = edited.endings.iter().enumerate().filter(|(_, e)| e.1.preferred.tried > 0);
        known.map(move |(length, e)| (length as f64, of(e).preferred))
    };
    let ticks: Vec<f64> = (0..ENDINGS).map(|length| length as f64).collect();
    let x = Axis::linear("tokens of ending in common (last: or more)")
        .range(-0.3, ENDINGS as f64 - 0.7)
        .ticks(&ticks);
    let y = Axis::linear("share that prefers the new target").range(0.0, 1.0);
    let before = Style::new(6).mark(Mark::Ring).dash(Dash::Dashed);
    Chart::new("Paraphrases", x, y)
        .series(Series::shares("before the edits", before, points(|e| e.0)))
        .series(Series::shares("paraphrase", Style::new(1).mark(Mark::Triangle), points(|e| e.1)))
}
