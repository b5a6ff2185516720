//! The page: recall by step, text and size.

use super::{Found, Point, Step, Text, limit};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Table};
use memo_terminal::output::thousands;
use std::fmt::Write as _;

pub(super) fn page(texts: &[Text], found: &[(Point, Found)], provenance: Provenance) -> Page {
    let mut page = Page::new("ablation", "What each part is worth", data(texts, found), provenance)
        .prose("From the paper's dense memory to the exact counts of the sparse engine, one change at a time, at equal bytes: cells, tables and all else that is read are counted.")
        .figure("ablation", "Recall by step. Each step has all changes of those before. Bars are intervals of 95 %; a step is missing where its tables alone take more than there is.", figure(texts, found))
        .heading("What was done")
        .prose(set_up(texts));
    for (k, text) in texts.iter().enumerate() {
        page = page.heading(&heading(text)).table(table(k, text, found));
    }
    page.heading("What it says").prose(findings(texts, found))
}

fn heading(text: &Text) -> String {
    format!("{}: {} tokens", text.name, thousands(text.tokens() as u64))
}

/// The sizes that were tried.
fn dims(found: &[(Point, Found)]) -> Vec<usize> {
    let mut dims: Vec<usize> = found.iter().map(|(point, _)| point.dim).collect();
    dims.sort_unstable();
    dims.dedup();
    dims
}

fn of(found: &[(Point, Found)], text: usize, dim: usize, step: Step) -> Option<Found> {
    let mine =
        |(point, _): &&(Point, Found)| (point.text, point.dim, point.step) == (text, dim, step);
    found.iter().find(mine).map(|(_, found)| *found)
}

fn set_up(texts: &[Text]) -> String {
    let tried = texts.first().map_or(0, |text| text.tried.len());
    format!(
        "Texts are memorized in memories of so many bytes as a dense one of d × d cells in f32 takes, and recall is tried at {} random positions with 64 tokens before them. Random tokens \
         are those of [Fig. 4](layers.md); what follows them is [exact counts or noise](capacity.md), so that they ask for capacity, and decoys for windows that can be told apart. Files ask for more: tokens are \
         not equally frequent, and short contexts have many successors. *Held out* is the perplexity of up to 5,000 tokens that follow, where the read-out has probabilities.\n\n\
         | step | what changes |\n|---|---|\n\
         | 1 dense codes | Hadamard codes, h = 2, l = 4 (windows of 2, 4, 8 and 16 tokens), computed recall, the sum over layers: the paper's model as it recalls best |\n\
         | 2 sparse keys | a key selects 2 rows of 256 cells instead of touching all; as many cells, counted as four bytes each |\n\
         | 3 cells of a byte | integers of one byte: four times as many cells in the same bytes |\n\
         | 4 bound values | a value is multiplied by signs that its key draws |\n\
         | 5 buckets | rows of windows of 2 tokens depend on the block of the next token too |\n\
         | 6 back-off | from the last token to the longest window, each correcting the shorter ones, by what stands out from the noise; no tables |\n\
         | 7 pair table | which tokens followed the last one, exactly, and the prior that follows from it |\n\
         | 8 totals | how often each window occurred, exactly: the engine `memo::superposed` |\n\
         | 9 exact counts | no cells that values share: `memo::sparse`, which takes as many bytes as it needs, with contexts of 14 lengths |",
        thousands(tried as u64)
    )
}

fn table(k: usize, text: &Text, found: &[(Point, Found)]) -> Table {
    let dims = dims(found);
    let mut columns = vec!["step".to_owned()];
    for dim in &dims {
        let bytes = limit(*dim) as f64;
        let each = bytes / text.tokens() as f64;
        columns.push(format!("recall, {:.1} MB ({each:.0} bytes a token)", bytes / 1e6));
    }
    let scored = !text.held_out.is_empty();
    if scored {
        columns
            .extend(dims.iter().map(|dim| format!("held out, {:.1} MB", limit(*dim) as f64 / 1e6)));
    }
    let mut table = Table::new(columns);
    for (number, step) in Step::ALL.into_iter().enumerate() {
        let mut row = vec![Cell::Text(format!("{} {}", number + 1, step.name()))];
        for &dim in &dims {
            row.push(match of(found, k, dim, step) {
                Some(found) if found.fits => Cell::Number(found.recall.value(), 3),
                Some(found) => format!("needs {:.1} MB", found.bytes as f64 / 1e6).into(),
                None => Cell::Empty,
            });
        }
        if scored {
            let perplexity = |&dim: &usize| of(found, k, dim, step).filter(|f| f.fits)?.perplexity;
            row.extend(dims.iter().map(|dim| Cell::number(perplexity(dim), 0)));
        }
        table.push(row);
    }
    table
}

fn figure(texts: &[Text], found: &[(Point, Found)]) -> Figure {
    let steps: Vec<f64> = (1..=Step::ALL.len()).map(|step| step as f64).collect();
    let mut figure = Figure::new(texts.len().clamp(1, 3), 330.0);
    for (k, text) in texts.iter().enumerate() {
        let mut chart = Chart::new(
            &text.name,
            Axis::linear("step").range(1.0, steps.len() as f64).ticks(&steps),
            Axis::linear("recall").range(0.0, 1.0),
        );
        let marks = [Mark::Circle, Mark::Square, Mark::Triangle];
        for (colour, (dim, mark)) in dims(found).into_iter().zip(marks).enumerate() {
            let point = |(number, step): (usize, Step)| {
                let found = of(found, k, dim, step).filter(|found| found.fits)?;
                Some(((number + 1) as f64, found.recall))
            };
            let points: Vec<_> = Step::ALL.into_iter().enumerate().filter_map(point).collect();
            let style = Style::new(colour).mark(mark).dash(Dash::Solid);
            let name = format!("d = {dim}: {:.1} MB", limit(dim) as f64 / 1e6);
            chart = chart.series(Series::shares(&name, style, points));
        }
        figure = figure.chart(chart);
    }
    figure
}

/// The largest gain of one step at each size, text by text.
fn findings(texts: &[Text], found: &[(Point, Found)]) -> String {
    let mut out = String::new();
    for (k, text) in texts.iter().enumerate() {
        for dim in dims(found) {
            let recalls: Vec<(Step, f64)> = Step::ALL
                .into_iter()
                .filter_map(|step| {
                    Some((step, of(found, k, dim, step).filter(|f| f.fits)?.recall.value()))
                })
                .collect();
            let gains = recalls.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1));
            let most = gains.clone().max_by(|a, b| a.1.total_cmp(&b.1));
            let least = gains.min_by(|a, b| a.1.total_cmp(&b.1));
            let (Some(first), Some(last)) = (recalls.first(), recalls.last()) else { continue };
            let (Some(most), Some(least)) = (most, least) else { continue };
            let _ = write!(
                out,
                "- {}, {:.1} MB: from {:.3} to {:.3} with *{}*, the last that fits; *{}* gives most ({:+.3})",
                text.name,
                limit(dim) as f64 / 1e6,
                first.1,
                last.1,
                last.0.name(),
                most.0.name(),
                most.1
            );
            if least.1 < -0.005 {
                let _ = write!(out, ", *{}* takes {:.3}", least.0.name(), -least.1);
            }
            out += ".\n";
        }
    }
    let exact = found.iter().filter(|(point, _)| point.step == Step::Exact);
    let each = exact.map(|(point, found)| found.bytes as f64 / texts[point.text].tokens() as f64);
    let (low, high) =
        each.fold((f64::INFINITY, 0.0f64), |(low, high), each| (low.min(each), high.max(each)));
    let _ = write!(
        out,
        "\nBack-off weighs what a window says against its noise, so it needs cells that are hardly shared: with room it puts right what the sum of all windows cannot, and with little room it recalls less than the sum does. \
         Tables take room that cells then lack. Exact counts have no noise, and take the {low:.0} to {high:.0} bytes a token that they need; with fewer, cells of a byte that are read by the sum (steps 3 to 5) recall most."
    );
    out
}

fn data(texts: &[Text], found: &[(Point, Found)]) -> Table {
    let mut table = Table::new([
        "text",
        "tokens",
        "d",
        "limit",
        "step",
        "bytes",
        "fits",
        "recall",
        "low",
        "high",
        "perplexity",
    ]);
    for (point, found) in found {
        let (low, high) = found.recall.interval();
        let number = |x| if found.fits { Cell::Number(x, 3) } else { Cell::Empty };
        table.push(vec![
            point.name.clone().into(),
            texts[point.text].tokens().into(),
            point.dim.into(),
            Cell::Count(limit(point.dim)),
            point.step.name().into(),
            Cell::Count(found.bytes),
            found.fits.to_string().into(),
            number(found.recall.value()),
            number(low),
            number(high),
            Cell::number(found.perplexity, 1),
        ]);
    }
    table
}
