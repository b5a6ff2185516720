//! The page of the curve.

use super::{Engine, Experiment, Report};
use crate::figure::{Axis, Chart, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Table};
use memo_terminal::output::thousands;
use std::fmt::Write as _;

type Results = [(Engine, Report)];

pub(super) fn page(
    results: &Results,
    experiment: &Experiment<'_>,
    tokenizer: &str,
    provenance: Provenance,
) -> Page {
    let title = "Real text: recall against the size of the memory";
    Page::new("realtext", title, all_numbers(results), provenance)
        .prose(summary(results))
        .figure("realtext", CAPTION, figure(results))
        .heading("What was done")
        .prose(set_up(results, experiment, tokenizer))
        .heading("Measured")
        .table(table(results))
        .heading("What it says")
        .prose(NOTES)
}

const CAPTION: &str = "Recall of memorized text against cells and against bytes a token, recall with one of the last eight tokens of the prompt replaced, and perplexity of text that was \
     held out, for the read-out that has probabilities.";

const NOTES: &str = "
**Why the paper's sum fails on text.** It adds the scores of all windows and takes the largest. A frequent token follows short windows hundreds of times, and that outweighs the one time that the right token \
followed the long window. More cells take noise away, but this is no noise: the curve flattens far below what the memory holds. Back-off reads the same cells from the shortest window to the longest and lets \
each correct the one before, so that an exact match decides.

**Why the dense model stays behind.** It sums too, over windows of 4, 16 and 64 tokens and their parts, and in floats of four bytes. Frequent tokens are moreover in phase in its \
matrix: their crosstalk grows with their count and outshouts everything at this load: one position in ten is recalled at every size, about what \
frequent tokens alone are right at. (Of random tokens the same matrix holds what [layers](layers.md) shows.) [docs/engine.md](../engine.md) says why the sparse engine binds values to keys.

**Perplexity** is that of back-off. The paper's model has weights, not probabilities; the CSV has what taking its sums in proportion would give, which is worse than guessing. It hardly depends on the size: text that was never memorized is predicted from short contexts, whose counts are exact or nearly so at every size here.

Rates are of this run on a machine that did other work too; [speed](speed.md) compares them with what the machine allows.";

fn of(results: &Results, engine: Engine) -> impl Iterator<Item = &Report> {
    results.iter().filter(move |(other, _)| *other == engine).map(|(_, report)| report)
}

fn summary(results: &Results) -> String {
    let mut out = String::from(
        "A text is memorized, and asked for: what comes after these 64 tokens? Every engine and read-out, by the size of the memory.\n",
    );
    for engine in Engine::ALL {
        let best = of(results, engine).max_by(|a, b| a.recall.total_cmp(&b.recall));
        let Some(best) = best else { continue };
        let _ = write!(
            out,
            "\n- **{}** recalls {:.1} % at best ({:.0} cells a token), {:.1} % with a damaged prompt.",
            engine.name(),
            100.0 * best.recall,
            best.parameters_per_token,
            100.0 * best.recall_damaged_prompt
        );
        if engine == Engine::Backoff {
            let enough = of(results, engine).find(|r| r.recall >= 0.999);
            if let Some(r) = enough {
                let _ = write!(
                    out,
                    " At {:.0} cells and {:.0} bytes a token it first reaches 99.9 %.",
                    r.parameters_per_token, r.bytes_per_token
                );
            }
        }
    }
    out
}

fn set_up(results: &Results, experiment: &Experiment<'_>, tokenizer: &str) -> String {
    let Some((_, first)) = results.first() else { return String::new() };
    let held_out: usize = experiment.held_out.iter().map(Vec::len).sum();
    let documents = match experiment.memorized.len() {
        1 => "one document".to_owned(),
        n => format!("{} documents", thousands(n as u64)),
    };
    let exact = of(results, Engine::Backoff).all(|report| report.forget_exact);
    format!(
        "{tokens} tokens of text ({tokenizer}, a vocabulary of {n}) are memorized as {documents}; {held_out} tokens that were not are scored. *Recall* is the share of {positions} random \
         positions whose token is the model's first answer after the 64 tokens before it. *Damaged*: one of the last eight of these is replaced by a random other token. *Perplexity* is exp of the \
         mean negative log-probability of a held-out token{known}.\n\n\
         | model | what it is |\n|---|---|\n\
         | sparse: back-off | the default: integer cells of one byte, and tables of counts |\n\
         | sparse: the paper's sum | the same memory, but the scores of all windows are added and the largest wins |\n\
         | dense: the paper's model | Hadamard codes, four heads, three layers, computed recall (jlt, Φ off), d × d cells of four bytes |\n\n\
         At every size half of the text was forgotten too. {exact}",
        tokens = thousands(first.tokens as u64),
        n = thousands(u64::from(experiment.vocabulary)),
        held_out = thousands(held_out as u64),
        positions = thousands(first.recall_positions as u64),
        known = if experiment.unknown.is_some() { " among those whose word is known" } else { "" },
        exact = if exact {
            "The sparse engine's digest was then that of a memory that never saw it, at every size."
        } else {
            "The sparse engine's digest was **not** always that of a memory that never saw it; the CSV says where."
        },
    )
}

fn table(results: &Results) -> Table {
    let mut table = Table::new([
        "model",
        "cells a token",
        "bytes a token",
        "recall",
        "damaged prompt",
        "perplexity",
        "memorize, tokens/s",
        "retrieve, tokens/s",
    ]);
    for (engine, r) in results {
        table.push(vec![
            engine.name().into(),
            Cell::Number(r.parameters_per_token, 1),
            Cell::Number(r.bytes_per_token, 0),
            Cell::Number(r.recall, 4),
            Cell::Number(r.recall_damaged_prompt, 4),
            Cell::number(r.held_out_perplexity_known.filter(|_| *engine == Engine::Backoff), 1),
            Cell::Count(r.memorize_tokens_per_second as u64),
            Cell::Count(r.retrieve_tokens_per_second as u64),
        ]);
    }
    table
}

fn all_numbers(results: &Results) -> Table {
    let mut table = Table::new([
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
    for (engine, r) in results {
        let number = |x: f64| Cell::Number(x, 4);
        let mut row = vec![engine.name().into(), r.tokens.into(), Cell::Count(r.parameters)];
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
    match engine {
        Engine::Backoff => Style::new(0).mark(Mark::Circle),
        Engine::Sum => Style::new(1).mark(Mark::Triangle),
        Engine::Dense => Style::new(2).mark(Mark::Square),
    }
}

fn figure(results: &Results) -> Figure {
    let with = |mut chart: Chart, x: fn(&Report) -> f64, y: fn(&Report) -> Option<f64>| {
        for engine in Engine::ALL {
            let points: Vec<(f64, f64)> =
                of(results, engine).filter_map(|r| Some((x(r), y(r)?))).collect();
            if !points.is_empty() {
                chart = chart.series(Series::new(engine.name(), style(engine), points));
            }
        }
        chart
    };
    let share = || Axis::linear("recall").range(0.0, 1.02);
    let cells = || Axis::linear("cells a token");
    // The paper's sum has weights, and no probabilities that a perplexity could be taken of.
    let perplexities: Vec<(f64, f64)> = of(results, Engine::Backoff)
        .filter_map(|r| Some((r.parameters_per_token, r.held_out_perplexity_known?)))
        .collect();
    let most = perplexities.iter().map(|point| point.1).fold(1.0, f64::max);
    let perplexity = Axis::linear("perplexity").range(0.0, most * 1.15);
    Figure::new(2, 290.0)
        .chart(with(
            Chart::new("Recall", cells(), share()),
            |r| r.parameters_per_token,
            |r| Some(r.recall),
        ))
        .chart(with(
            Chart::new("Recall, damaged prompt", cells(), share()),
            |r| r.parameters_per_token,
            |r| Some(r.recall_damaged_prompt),
        ))
        .chart(with(
            Chart::new("Recall by bytes", Axis::log("bytes a token"), share()),
            |r| r.bytes_per_token,
            |r| Some(r.recall),
        ))
        .chart(Chart::new("Held-out text", cells(), perplexity).series(Series::new(
            Engine::Backoff.name(),
            style(Engine::Backoff),
            perplexities,
        )))
}
