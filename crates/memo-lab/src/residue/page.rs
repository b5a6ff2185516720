//! The page: what is left, what is read from it, and where forgetting can be complete.

use super::{COMPARED, Forgetting, LAYERS, Model, Outcome, Question, Run, TEXT, VOCABULARY};
use super::{FIRST, HEADS};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Share, Table};
use memo::codes::CodeKind;
use memo::dense::{Distiller, Recall};
use memo_terminal::output::thousands;
use std::fmt::Write as _;

type Runs<'a> = &'a [(Run, Vec<Outcome>)];

pub(super) fn page(runs: Runs<'_>, provenance: Provenance) -> Page {
    Page::new("residue", "What forgetting leaves in the paper's model", data(runs), provenance)
        .prose(
            "The paper forgets a text by subtracting it from the last memory (MM_f). The inner memories, which hold the text's sequences, stay \
             as they are. Is the text gone?",
        )
        .figure(
            "residue",
            "Tokens of a forgotten text that come out, by how much was memorized in all: predicted by the model, or read from its inner memories. \
             Stored recall, exact distiller. Bars are intervals of 95 %.",
            figure(runs),
        )
        .heading("What was done")
        .prose(set_up(runs))
        .heading("After the paper's forgetting (MM_f)")
        .prose("Two texts are memorized and one of them is forgotten. *Residue* is the norm of what is left in a memory, over the norm of what the text had added there: 1 is all of it.")
        .table(after(runs, Forgetting::Paper))
        .heading("After forgetting completely")
        .prose(COMPLETELY)
        .table(after(runs, Forgetting::Completely))
        .heading("By load")
        .table(loads(runs))
        .heading("Sequences that another text shares")
        .prose(format!(
            "The second half of the text ({} tokens) is the first half of a text that is kept. What is shared belongs to the text that stays: it must be read from the \
             inner memories still, and what was the forgotten text's alone must not. *Kept* is the recall of the text that stays.",
            TEXT / 2
        ))
        .table(shared(runs))
        .heading("A text that was never memorized")
        .prose(NEVER)
        .table(never(runs))
        .heading("What it says")
        .prose(findings(runs))
}

fn set_up(runs: Runs<'_>) -> String {
    let dim = runs.first().map_or(0, |(run, _)| run.dim);
    format!(
        "Random texts of {TEXT} tokens from a vocabulary of {}; d = {dim}, h = {HEADS}, l = {LAYERS}, linear composition (jlt), a window at every token. All tokens from position {FIRST} on are \
         tried. *Predicted* is what the model itself says (MM_r).\n\n\
         **The attack.** C⁽ⁱ⁾ leads from the key k of a window to its code c, so that kᵀ·C⁽ⁱ⁾·c is near 1 if the window is stored, and near 0 if it is not. Windows overlap: \
         whoever knows all tokens of a window but the last (three for C⁽¹⁾, fifteen for C⁽²⁾) tries all {} tokens there and takes the one with the largest product. Codes and projections follow \
         from the seed; nothing else is needed. Guessing is right once in {}. *In a row* is how many tokens come out of C⁽¹⁾ one after the other, each read with the help of those read before, \
         when only the text's first three are known; {} would be the whole text.",
        thousands(VOCABULARY as u64),
        thousands(VOCABULARY as u64),
        thousands(VOCABULARY as u64),
        TEXT + 1 - HEADS,
    )
}

const COMPLETELY: &str = "`DenseMemo::forget_completely` (in Python `forget(text, completely=True)`) subtracts from every memory. Where it can:\n\n\
| inner memories | distiller | complete forgetting |\n|---|---|---|\n\
| none (computed recall) | any | is MM_f itself: there is only the last memory |\n\
| some | exact | subtracts the sequences whose count falls to zero |\n\
| some | off | subtracts every occurrence, as every one was added |\n\
| some | by rounding (the paper's), D kept in {0, 1} or not | **refused**. Φ = D·F was rounded from what the memory held when the text came; that state is gone, so that what the text added is known no more. Texts that came later \
were stored or left out because of it: subtracting it would take away what they rely on |\n\n\
Cells are floats: what is left is their rounding. Only the [sparse engine](../engine.md) is equal to one that never saw the text, bit for bit.";

const NEVER: &str = "MM_f checks nothing. A text that was never memorized is written by it, with negative weights: *smallest* is the share of its tokens that have the smallest weight of all tokens in the last \
memory, where a model that knows nothing of the text has them by chance. Forgetting a text twice does the same. The exact distiller counts texts and refuses; the others cannot know.";

/// The recall and the distiller in words.
fn named(model: Model) -> [Cell; 2] {
    let recall = match model.recall {
        Recall::Stored => "stored".to_owned(),
        Recall::Computed => "computed".to_owned(),
        Recall::Blend(alpha) => format!("blend, α = {alpha}"),
    };
    let distiller = match (model.recall, model.distiller) {
        (Recall::Computed, _) => "–",
        (_, Distiller::Memory) => "by rounding",
        (_, Distiller::Unclamped) => "by rounding, unclamped",
        (_, Distiller::Exact) => "exact",
        (_, Distiller::Off) => "off",
    };
    [recall.into(), distiller.into()]
}

fn code_name(codes: CodeKind) -> &'static str {
    match codes {
        CodeKind::Gaussian => "Gaussian",
        CodeKind::Hadamard => "Hadamard",
    }
}

/// The kinds of codes that were tried.
fn kinds(runs: Runs<'_>) -> Vec<CodeKind> {
    let tried = |kind: &CodeKind| runs.iter().any(|(run, _)| run.codes == *kind);
    [CodeKind::Gaussian, CodeKind::Hadamard].into_iter().filter(tried).collect()
}

/// The numbers of texts that were tried, ascending.
fn numbers(runs: Runs<'_>) -> Vec<usize> {
    let mut numbers: Vec<usize> = runs.iter().map(|(run, _)| run.texts).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// All outcomes of some runs, the draws together.
struct Pooled<'a>(Vec<&'a Outcome>);

impl<'a> Pooled<'a> {
    fn new(
        runs: Runs<'a>,
        wanted: impl Fn(&Run) -> bool,
        model: Model,
        forgetting: Forgetting,
    ) -> Self {
        let mine = runs.iter().filter(|(run, _)| wanted(run)).flat_map(|(_, outcomes)| outcomes);
        Pooled(mine.filter(|o| o.model == model && o.forgetting == forgetting).collect())
    }

    fn possible(&self) -> bool {
        self.0.iter().all(|outcome| outcome.possible)
    }

    fn share(&self, of: impl Fn(&Outcome) -> Option<Share>) -> Option<Share> {
        self.0.iter().filter_map(|outcome| of(outcome)).reduce(|a, b| a + b)
    }

    fn shown(&self, of: impl Fn(&Outcome) -> Option<Share>) -> Cell {
        Cell::number(self.share(of).map(Share::value), 3)
    }

    /// The largest residue in a memory, counted from 1; the last one if there is only that.
    fn residue(&self, layer: usize) -> Cell {
        let of = |outcome: &&Outcome| match outcome.residue.as_slice() {
            [last] => (layer == LAYERS).then_some(*last),
            all => all.get(layer - 1).copied(),
        };
        let most = self
            .0
            .iter()
            .filter_map(of)
            .fold(None, |most: Option<f64>, r| Some(most.map_or(r, |most| most.max(r))));
        most.map_or(Cell::Empty, |most| {
            if most < 1e-3 { format!("{most:.0e}").into() } else { format!("{most:.2}").into() }
        })
    }

    fn in_a_row(&self) -> Cell {
        let rows: Vec<usize> = self.0.iter().map(|outcome| outcome.in_a_row).collect();
        Cell::Number(rows.iter().sum::<usize>() as f64 / rows.len().max(1) as f64, 0)
    }
}

fn after(runs: Runs<'_>, forgetting: Forgetting) -> Table {
    let mut table = Table::new([
        "codes",
        "recall",
        "distiller",
        "predicted before",
        "predicted after",
        "read from C⁽¹⁾",
        "read from C⁽²⁾",
        "in a row",
        "residue C⁽¹⁾",
        "residue C⁽²⁾",
        "residue C⁽ˡᵃˢᵗ⁾",
        "other text's recall",
    ]);
    for codes in kinds(runs) {
        let two =
            |run: &Run| run.question == Question::Forgotten && run.texts == 2 && run.codes == codes;
        for model in Model::all() {
            let before = Pooled::new(runs, two, model, Forgetting::Not);
            let now = Pooled::new(runs, two, model, forgetting);
            let mut row = vec![code_name(codes).into()];
            row.extend(named(model));
            row.push(before.shown(|o| Some(o.predicted)));
            if !now.possible() {
                row.push("refused".into());
                row.resize(12, Cell::Empty);
                table.push(row);
                continue;
            }
            row.push(now.shown(|o| Some(o.predicted)));
            let inner = model.recall != Recall::Computed;
            row.extend((0..LAYERS - 1).map(|i| now.shown(|o| o.read.get(i).copied())));
            row.push(if inner { now.in_a_row() } else { Cell::Empty });
            row.extend((1..=LAYERS).map(|layer| now.residue(layer)));
            row.push(now.shown(|o| Some(o.kept)));
            table.push(row);
        }
    }
    table
}

fn loads(runs: Runs<'_>) -> Table {
    let mut table = Table::new([
        "codes",
        "texts",
        "tokens",
        "predicted before",
        "predicted after MM_f",
        "read from C⁽¹⁾ after MM_f",
        "read from C⁽²⁾ after MM_f",
        "read from C⁽¹⁾ after complete forgetting",
    ]);
    for codes in kinds(runs) {
        for texts in numbers(runs) {
            let mine = |run: &Run| {
                run.question == Question::Forgotten && (run.texts, run.codes) == (texts, codes)
            };
            let of = |forgetting| Pooled::new(runs, mine, COMPARED, forgetting);
            let mut row = vec![code_name(codes).into(), texts.into(), (texts * TEXT).into()];
            row.push(of(Forgetting::Not).shown(|o| Some(o.predicted)));
            row.push(of(Forgetting::Paper).shown(|o| Some(o.predicted)));
            row.extend((0..2).map(|i| of(Forgetting::Paper).shown(|o| o.read.get(i).copied())));
            row.push(of(Forgetting::Completely).shown(|o| o.read.first().copied()));
            table.push(row);
        }
    }
    table
}

fn shared(runs: Runs<'_>) -> Table {
    let mut table = Table::new([
        "codes",
        "recall",
        "distiller",
        "forgetting",
        "own half read from C⁽¹⁾",
        "shared half read from C⁽¹⁾",
        "own half predicted",
        "kept before",
        "kept after",
    ]);
    for codes in kinds(runs) {
        let mine = |run: &Run| run.question == Question::Shared && run.codes == codes;
        for model in Model::all() {
            let before = Pooled::new(runs, mine, model, Forgetting::Not);
            for (forgetting, name) in
                [(Forgetting::Paper, "MM_f"), (Forgetting::Completely, "completely")]
            {
                let now = Pooled::new(runs, mine, model, forgetting);
                if !now.possible() {
                    continue;
                }
                let mut row = vec![code_name(codes).into()];
                row.extend(named(model));
                row.push(name.into());
                row.push(now.shown(|o| o.read.first().copied()));
                row.push(now.shown(|o| o.shared.first().copied()));
                row.push(now.shown(|o| Some(o.predicted)));
                row.push(before.shown(|o| Some(o.kept)));
                row.push(now.shown(|o| Some(o.kept)));
                table.push(row);
            }
        }
    }
    table
}

fn never(runs: Runs<'_>) -> Table {
    let mut table = Table::new([
        "codes",
        "recall",
        "distiller",
        "smallest, after MM_f",
        "smallest, after complete forgetting",
    ]);
    for codes in kinds(runs) {
        let mine = |run: &Run| run.question == Question::Never && run.codes == codes;
        for model in Model::all() {
            let mut row = vec![code_name(codes).into()];
            row.extend(named(model));
            for forgetting in [Forgetting::Paper, Forgetting::Completely] {
                let now = Pooled::new(runs, mine, model, forgetting);
                let share = now.share(|o| Some(o.negative)).map_or(0.0, Share::value);
                let said =
                    if now.possible() { format!("{share:.3}") } else { "refused".to_owned() };
                row.push(said.into());
            }
            table.push(row);
        }
    }
    table
}

fn figure(runs: Runs<'_>) -> Figure {
    let loads: Vec<f64> = numbers(runs).iter().map(|texts| (texts * TEXT) as f64).collect();
    let kinds = kinds(runs);
    let mut figure = Figure::new(kinds.len(), 360.0);
    for codes in kinds {
        let x = Axis::log("tokens memorized").ticks(&loads);
        let mut chart = Chart::new(
            &format!("{} codes", code_name(codes)),
            x,
            Axis::linear("share of the forgotten text").range(0.0, 1.0),
        );
        let curve = |forgetting, of: &dyn Fn(&Outcome) -> Option<Share>| -> Vec<(f64, Share)> {
            let point = |texts: usize| {
                let mine = |run: &Run| {
                    run.question == Question::Forgotten && (run.texts, run.codes) == (texts, codes)
                };
                let share = Pooled::new(runs, mine, COMPARED, forgetting).share(of)?;
                Some(((texts * TEXT) as f64, share))
            };
            numbers(runs).into_iter().filter_map(point).collect()
        };
        let predicted = |o: &Outcome| Some(o.predicted);
        let read = |i: usize| move |o: &Outcome| o.read.get(i).copied();
        let (first, second) = (read(0), read(1));
        let (not, paper) = (Forgetting::Not, Forgetting::Paper);
        let style = |colour| Style::new(colour).mark(Mark::Circle);
        for (name, style, points) in [
            ("predicted, before", style(0), curve(not, &predicted)),
            (
                "predicted, after MM_f",
                style(0).dash(Dash::Dashed).mark(Mark::Ring),
                curve(paper, &predicted),
            ),
            ("read from C⁽¹⁾, after MM_f", style(1).mark(Mark::Square), curve(paper, &first)),
            ("read from C⁽²⁾, after MM_f", style(4).mark(Mark::Triangle), curve(paper, &second)),
            (
                "read from C⁽¹⁾, after complete forgetting",
                style(2).dash(Dash::Dashed).mark(Mark::Diamond),
                curve(Forgetting::Completely, &first),
            ),
        ] {
            chart = chart.series(Series::shares(name, style, points));
        }
        figure = figure.chart(chart);
    }
    figure
}

fn findings(runs: Runs<'_>) -> String {
    let two = |run: &Run| run.question == Question::Forgotten && run.texts == 2;
    let of = |model: Model, forgetting| Pooled::new(runs, two, model, forgetting);
    let mut out = String::new();
    let paper = Model { recall: Recall::Stored, distiller: Distiller::Memory };
    let after = of(paper, Forgetting::Paper);
    if let (Some(predicted), Some(read)) =
        (after.share(|o| Some(o.predicted)), after.share(|o| o.read.first().copied()))
    {
        let _ = writeln!(
            out,
            "- **The paper's model forgets a text as far as it is asked for it, and keeps it where it is not asked.** After MM_f {} of {} tokens are predicted; {} of {} are read from C⁽¹⁾.",
            predicted.right, predicted.tried, read.right, read.tried
        );
    }
    let inner: Vec<Model> =
        Model::all().into_iter().filter(|m| m.recall != Recall::Computed).collect();
    let reads =
        inner.iter().filter_map(|m| of(*m, Forgetting::Paper).share(|o| o.read.first().copied()));
    let (low, high) =
        reads.fold((1.0f64, 0.0f64), |(low, high), s| (low.min(s.value()), high.max(s.value())));
    let _ = writeln!(
        out,
        "- **Every recall and every distiller with inner memories leaks**: {low:.3} to {high:.3} of the tokens, those of both codes together, are read from C⁽¹⁾. What recall takes of the stored code does not matter, because the attack does not \
         recall: it asks whether a window is there."
    );
    let complete = numbers(runs).into_iter().flat_map(|texts| {
        let mine = move |run: &Run| run.question == Question::Forgotten && run.texts == texts;
        inner.iter().map(move |m| Pooled::new(runs, mine, *m, Forgetting::Completely))
    });
    let most = complete
        .filter(Pooled::possible)
        .filter_map(|p| p.share(|o| o.read.first().copied()))
        .map(Share::value)
        .fold(0.0, f64::max);
    let _ = write!(
        out,
        "- **Complete forgetting leaves nothing to read**: at most {most:.3} of the tokens at any load, where guessing has {:.3}; it is possible with the exact distiller, with none, and without inner memories.\n\
         - **Computed recall has no inner memories and no leak**: what is left in the last memory is the rounding of floats.\n\
         - Subtracting what was never added is not forgetting but writing: the text can be read from its negative weights.",
        1.0 / VOCABULARY as f64
    );
    out
}

fn data(runs: Runs<'_>) -> Table {
    let mut table = Table::new([
        "question",
        "codes",
        "texts",
        "draw",
        "recall",
        "distiller",
        "forgetting",
        "possible",
        "predicted",
        "read_c1",
        "read_c2",
        "in_a_row",
        "shared_read_c1",
        "kept",
        "smallest",
        "residue",
    ]);
    for (run, outcomes) in runs {
        for o in outcomes {
            let share = |share: Option<Share>| Cell::number(share.map(Share::value), 3);
            let mut row = vec![format!("{:?}", run.question).to_lowercase().into()];
            row.push(code_name(run.codes).into());
            row.extend([run.texts.into(), (run.draw as usize).into()]);
            row.extend(named(o.model));
            row.push(format!("{:?}", o.forgetting).to_lowercase().into());
            row.push(o.possible.to_string().into());
            row.push(share(Some(o.predicted)));
            row.extend((0..2).map(|i| share(o.read.get(i).copied())));
            row.push(o.in_a_row.into());
            row.push(share(o.shared.first().copied()));
            row.extend([share(Some(o.kept)), share(Some(o.negative))]);
            let residue: Vec<String> = o.residue.iter().map(|r| format!("{r:.3e}")).collect();
            row.push(residue.join(" ").into());
            table.push(row);
        }
    }
    table
}
