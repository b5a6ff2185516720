//! The page of texts.

use super::{Engine, Point, Report};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Table};
use memo_terminal::output::thousands;
use std::fmt::Write as _;

type Results = [(Point, Report)];

pub(super) fn page(results: &Results, tokenizer: &str, provenance: Provenance) -> Page {
    let title = "Real text: recall, perplexity and size";
    Page::new("realtext", title, all_numbers(results), provenance)
        .prose(summary(results))
        .figure("realtext", CAPTION, figure(results))
        .heading("What was done")
        .prose(set_up(results, tokenizer))
        .heading("Measured")
        .table(table(results))
        .heading("What it says")
        .prose(NOTES)
}

const CAPTION: &str = "Recall of memorized text, as it is and with one of the last eight tokens of the prompt replaced, against bytes a token; a point a text.";

const NOTES: &str = "
**Why the dense model stays behind.** It adds the scores of windows of 4, 16 and 64 tokens and their parts and takes the largest. A frequent token follows short windows hundreds of times, and that \
outweighs the one time that the right token followed the long window. Frequent tokens are moreover in phase in its matrix: their crosstalk grows with their count and outshouts everything at this load. \
(Of random tokens the same matrix holds what [layers](layers.md) shows.) The sparse engine reads exact counts from the shortest context to the longest and lets each correct the one before, so that an \
exact match decides.

**Perplexity** is that of the sparse engine. The paper's model has weights, not probabilities. Other pages have other figures for the same text: [docs/engine.md](../engine.md) holds out a fifth of the characters, not of the lines or documents, and scores all of it as one document.

Rates are of this run on a machine that did other work too; [speed](speed.md) compares them with what the machine allows.";

fn of(results: &Results, engine: Engine) -> impl Iterator<Item = &Report> {
    results.iter().filter(move |(point, _)| point.engine == engine).map(|(_, report)| report)
}

fn summary(results: &Results) -> String {
    let mut out = String::from(
        "Texts are memorized, and asked for: what comes after these 64 tokens? Every engine, text by text.\n",
    );
    for engine in Engine::ALL {
        let range = |value: fn(&Report) -> f64, decimals: usize| {
            let values = of(results, engine).map(value);
            let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| {
                (a.min(value), b.max(value))
            });
            let [least, most] = [least, most].map(|value| format!("{value:.decimals$}"));
            if least == most { least } else { format!("{least} to {most}") }
        };
        if of(results, engine).next().is_none() {
            continue;
        }
        let _ = write!(
            out,
            "\n- **{}** recalls {} %, {} % with a damaged prompt, and takes {} bytes a token.",
            engine.name(),
            range(|r| 100.0 * r.recall, 1),
            range(|r| 100.0 * r.recall_damaged_prompt, 1),
            range(|r| r.bytes_per_token, 0)
        );
    }
    out
}

fn set_up(results: &Results, tokenizer: &str) -> String {
    let positions = results.iter().map(|(_, report)| report.recall_positions).max().unwrap_or(0);
    let mut sparse = results.iter().filter(|(point, _)| point.engine != Engine::Dense);
    let exact = sparse.all(|(_, report)| report.forget_exact);
    format!(
        "Each text is memorized in a memory of its own (tokenizer `{tokenizer}`); what of it is held out is scored. *Recall* is the share of up to {positions} random positions whose token is the \
         model's first answer after the 64 tokens before it. *Damaged*: one of the last eight of these is replaced by a random other token. *Perplexity* is exp of the mean negative log-probability of a \
         held-out token, among those whose word is known.\n\n\
         | model | what it is |\n|---|---|\n\
         | sparse | the default: exact counts of what followed contexts of tokens and of words |\n\
         | sparse: tokens alone | the same without contexts of words |\n\
         | dense: the paper's model | Hadamard codes, four heads, three layers, computed recall (jlt, Φ off), d × d cells of four bytes, about {dense} a token |\n\n\
         Half of each text was forgotten too. {exact}",
        positions = thousands(positions as u64),
        dense = super::DENSE_CELLS_PER_TOKEN,
        exact = if exact {
            "The sparse engine's digest was then that of a memory that never saw it, for every text."
        } else {
            "The sparse engine's digest was **not** always that of a memory that never saw it; the CSV says where."
        },
    )
}

fn table(results: &Results) -> Table {
    let mut table = Table::new([
        "text",
        "tokens",
        "model",
        "bytes a token",
        "recall",
        "damaged prompt",
        "perplexity",
        "memorize, tokens/s",
        "retrieve, tokens/s",
    ]);
    for (point, r) in results {
        let probabilities = point.engine != Engine::Dense;
        table.push(vec![
            point.name.as_str().into(),
            r.tokens.into(),
            point.engine.name().into(),
            Cell::Number(r.bytes_per_token, 1),
            Cell::Number(r.recall, 4),
            Cell::Number(r.recall_damaged_prompt, 4),
            Cell::number(r.held_out_perplexity_known.filter(|_| probabilities), 1),
            Cell::Count(r.memorize_tokens_per_second as u64),
            Cell::Count(r.retrieve_tokens_per_second as u64),
        ]);
    }
    table
}

fn all_numbers(results: &Results) -> Table {
    let mut table = Table::new([
        "text",
        "model",
        "tokens",
        "parameters",
        "parameters_per_token",
        "bytes_per_token",
        "cell_bytes_per_token",
        "table_bytes_per_token",
        "positions",
        "recall",
        "recall_damaged_prompt",
        "perplexity",
        "perplexity_known",
        "memorize_tokens_per_second",
        "retrieve_tokens_per_second",
        "score_tokens_per_second",
        "recall_kept_before",
        "recall_kept_after",
        "recall_forgotten_before",
        "recall_forgotten_after",
        "forget_exact",
    ]);
    for (point, r) in results {
        let number = |x: f64| Cell::Number(x, 4);
        let mut row: Vec<Cell> = vec![
            point.name.as_str().into(),
            point.engine.name().into(),
            r.tokens.into(),
            Cell::Count(r.parameters),
        ];
        row.extend(
            [
                r.parameters_per_token,
                r.bytes_per_token,
                r.cell_bytes_per_token,
                r.table_bytes_per_token,
            ]
            .map(number),
        );
        row.push(r.recall_positions.into());
        row.extend([r.recall, r.recall_damaged_prompt].map(number));
        row.push(Cell::number(r.held_out_perplexity, 2));
        row.push(Cell::number(r.held_out_perplexity_known, 2));
        row.extend([r.memorize_tokens_per_second, r.retrieve_tokens_per_second].map(number));
        row.push(Cell::number(r.score_tokens_per_second, 0));
        row.extend(r.recall_kept_half.map(number));
        row.extend(r.recall_forgotten_half.map(number));
        row.push(if r.forget_exact { "yes" } else { "no" }.into());
        table.push(row);
    }
    table
}

fn style(engine: Engine) -> Style {
    let style = match engine {
        Engine::Sparse => Style::new(0).mark(Mark::Circle),
        Engine::TokensAlone => Style::new(1).mark(Mark::Triangle),
        Engine::Dense => Style::new(2).mark(Mark::Square),
    };
    // Texts have no order, so no line joins them.
    style.dash(Dash::None)
}

fn figure(results: &Results) -> Figure {
    let with = |mut chart: Chart, y: fn(&Report) -> f64| {
        for engine in Engine::ALL {
            let points: Vec<(f64, f64)> =
                of(results, engine).map(|r| (r.bytes_per_token, y(r))).collect();
            if !points.is_empty() {
                chart = chart.series(Series::new(engine.name(), style(engine), points));
            }
        }
        chart
    };
    let (bytes, share) =
        (|| Axis::log("bytes a token"), || Axis::linear("recall").range(0.0, 1.02));
    Figure::new(2, 290.0).chart(with(Chart::new("Recall", bytes(), share()), |r| r.recall)).chart(
        with(Chart::new("Recall, damaged prompt", bytes(), share()), |r| r.recall_damaged_prompt),
    )
}
