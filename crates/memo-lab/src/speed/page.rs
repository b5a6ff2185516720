//! The page: rates beside their bounds.

use super::{Point, Timed, VOCABULARY, dense, sparse};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Table};
use memo::codes::CodeKind;
use memo::superposed::PARAMETERS_PER_TOKEN;
use memo_terminal::output::thousands;
use std::fmt::Write as _;

type Results = [(Point, Timed)];

pub(super) fn page(results: &Results, provenance: Provenance) -> Page {
    let title = "Speed: both engines beside what the machine allows";
    Page::new("speed", title, all_numbers(results), provenance)
        .prose(summary(results))
        .figure("speed", CAPTION, figure(results))
        .heading("What was done")
        .prose(set_up())
        .heading("The sparse engine by size and threads")
        .table(sparse_table(results))
        .prose(SPARSE)
        .heading("Cost against load")
        .table(load_table(results))
        .prose(LOAD)
        .heading("The dense engine by dimension and threads")
        .table(dense_table(results))
        .prose(DENSE)
}

const CAPTION: &str = "Above: the sparse engine; tokens memorized a second by size, beside the rate that memory bandwidth allows, and the cost of a token and of a query \
     as a memory fills. Below: the dense engine; tokens memorized and predictions a second by dimension, and the time of a single query.";

const SPARSE: &str = "
*Bound* is the bandwidth over the 5,632 bytes of cells that a token reads and writes (K = 2 rows in each of seven slots). The bandwidth is that of reading and writing an array in order that \
no cache holds. A small memory that a cache does hold can exceed it. *Rows* is the same for rows visited at random, one by one, in an array as large as the cells: what an engine \
would reach that does not plan its visits. Keeping the tables takes the rest. A query is on one thread; it reads n·K cells of each of the two slots of short contexts \
and transforms n scores for each of the others. That is the same for every size; what grows from row to row is the text, and with it the number of \
tokens that were seen after a frequent one (see below).";

const LOAD: &str = "
A load of 1 is what the memory is made for. Memorizing a token touches the same number of cells whether the memory is empty or three times overfull, so its cost hardly follows the load; what it \
still follows are tables that outgrow a cache and rows that outgrow a byte. A query on random text hardly depends on the load either, up to 1. In an overfull memory noise makes more tokens look \
as if they had followed, each of which is looked up, and the quick read-out of the best token can no longer stop early. On natural text a query grows with the number of different tokens \
that really followed its last ones: with the text's variety, not with the size of the memory.";

const DENSE: &str = "
With Gaussian codes everything is matrix products, 19.5·d² operations a token (W_V in three layers, Prj in two, one update of the memory), and *share* is what memorizing reaches of the product 1,024 × d × d by itself, \
measured just before and after. With Hadamard codes W_V and Prj are fast transforms, and the update is summed by next token first, so there is no such number; what is left is bound by memory. The last column \
says how many times the sparse engine's fastest rate is above.";

fn set_up() -> String {
    format!(
        "A vocabulary of {n}. The sparse engine here is `memo::superposed`, which has a size and cells that contexts share; [docs/engine.md](../engine.md) has the figures of `memo::sparse`, which keeps models. It is filled with text as its cells are for ({PARAMETERS_PER_TOKEN} a token), whose words are as frequent as Zipf's law says and whose phrases come back; \
         the clock runs for the last half of it, or the last million tokens. The dense engine (four heads, three layers, computed recall) memorizes chunks of 1,024 random tokens. Every rate is the best of a few rounds, the bounds' too: what else the machine does \
         only ever adds time. Bounds are measured beside each row, with the same threads, because this machine did other work too: shares say more than rates. A query is a prompt of 64 tokens.",
        n = thousands(u64::from(VOCABULARY))
    )
}

fn sparse_of(results: &Results) -> impl Iterator<Item = &sparse::Timed> {
    results.iter().filter_map(|(_, timed)| match timed {
        Timed::Sparse(timed) => Some(timed),
        _ => None,
    })
}

fn loads(results: &Results) -> impl Iterator<Item = (bool, &[sparse::Loaded])> {
    results.iter().filter_map(|(point, timed)| match (point, timed) {
        (Point::Load { natural, .. }, Timed::Load(loads)) => Some((*natural, loads.as_slice())),
        _ => None,
    })
}

fn dense_of(results: &Results) -> impl Iterator<Item = (CodeKind, &dense::Timed)> {
    results.iter().filter_map(|(point, timed)| match (point, timed) {
        (Point::Dense { codes, .. }, Timed::Dense(timed)) => Some((*codes, timed)),
        _ => None,
    })
}

/// The most threads that anything ran on.
fn threads(results: &Results) -> usize {
    let sparse = sparse_of(results).map(|timed| timed.threads);
    sparse.chain(dense_of(results).map(|(_, timed)| timed.threads)).max().unwrap_or(1)
}

/// The tokens a second that bandwidth allows.
fn bound(timed: &sparse::Timed) -> f64 {
    timed.stream / timed.moved
}

fn fastest(results: &Results) -> f64 {
    sparse_of(results).map(|timed| timed.memorize).fold(0.0, f64::max)
}

fn summary(results: &Results) -> String {
    let all = threads(results);
    let mut out =
        String::from("How fast text is memorized, forgotten and asked for, and what limits it.\n");
    let sizes: Vec<&sparse::Timed> = sparse_of(results).filter(|t| t.threads == all).collect();
    if let (Some(first), Some(last)) = (sizes.first(), sizes.last()) {
        let shares = sizes.iter().map(|t| t.memorize / bound(t));
        let (low, high) =
            shares.fold((f64::INFINITY, 0.0f64), |(low, high), s| (low.min(s), high.max(s)));
        let _ = write!(
            out,
            "\n- **sparse** memorizes {:.2} million tokens a second with {} MiB of cells and {:.2} million with {} MiB: {:.0} to {:.0} % of what memory bandwidth allows. It holds \
             {:.0} bytes a token, cells and tables, at the largest.",
            first.memorize / 1e6,
            first.cells.div_ceil(1 << 20),
            last.memorize / 1e6,
            last.cells.div_ceil(1 << 20),
            100.0 * low,
            100.0 * high,
            last.cell_bytes + last.table_bytes,
        );
    }
    for (natural, loads) in loads(results) {
        let (Some(first), Some(last)) = (loads.first(), loads.last()) else { continue };
        let whole = loads.iter().find(|loaded| loaded.load >= 1.0).unwrap_or(last);
        let costs = |loaded: &sparse::Loaded| {
            (first.memorize / loaded.memorize, loaded.distribution / first.distribution)
        };
        let (full, over) = (costs(whole), costs(last));
        let _ = write!(
            out,
            "\n- Filled with {} text from {} of what it is made for to all of it, memorizing a token costs {:.2} times as much and a query {:.2} times; at {:.0} times as much text, {:.2} and {:.2} times.",
            if natural { "natural" } else { "random" },
            if first.load == 0.125 { "an eighth".to_owned() } else { format!("{:.2}", first.load) },
            full.0,
            full.1,
            last.load,
            over.0,
            over.1,
        );
    }
    let gaussian = dense_of(results)
        .filter(|(codes, t)| *codes == CodeKind::Gaussian && t.threads == all)
        .filter_map(|(_, t)| Some(100.0 * t.memorize * t.operations? / t.product))
        .fold(0.0, f64::max);
    let _ = write!(
        out,
        "\n- **dense** with Gaussian codes reaches {gaussian:.0} % of the matrix product at best; with Hadamard codes it is several times faster."
    );
    out
}

fn sparse_table(results: &Results) -> Table {
    let mut table = Table::new([
        "cells, MiB",
        "threads",
        "tokens",
        "memorize, tokens/s",
        "bound",
        "share",
        "rows",
        "share of rows",
        "forget, tokens/s",
        "query, µs",
        "best token, µs",
        "bytes a token: cells",
        "tables",
    ]);
    for timed in sparse_of(results) {
        let (bound, rows) = (bound(timed), timed.rows / timed.moved);
        table.push(vec![
            Cell::Count(timed.cells.div_ceil(1 << 20)),
            timed.threads.into(),
            timed.tokens.into(),
            Cell::Count(timed.memorize as u64),
            Cell::Count(bound as u64),
            Cell::Number(timed.memorize / bound, 2),
            Cell::Count(rows as u64),
            Cell::Number(timed.memorize / rows, 2),
            Cell::Count(timed.forget as u64),
            Cell::Number(timed.distribution, 0),
            Cell::Number(timed.best, 0),
            Cell::Number(timed.cell_bytes, 0),
            Cell::Number(timed.table_bytes, 0),
        ]);
    }
    table
}

fn load_table(results: &Results) -> Table {
    let mut table = Table::new([
        "text",
        "load",
        "tokens",
        "memorize, ns a token",
        "query, µs",
        "best token, µs",
    ]);
    for (natural, loads) in loads(results) {
        for loaded in loads {
            table.push(vec![
                if natural { "natural" } else { "random" }.into(),
                Cell::Number(loaded.load, 3),
                loaded.tokens.into(),
                Cell::Number(1e9 / loaded.memorize, 0),
                Cell::Number(loaded.distribution, 0),
                Cell::Number(loaded.best, 0),
            ]);
        }
    }
    table
}

fn dense_table(results: &Results) -> Table {
    let mut table = Table::new([
        "codes",
        "d",
        "threads",
        "cells, millions",
        "memorize, tokens/s",
        "matrix product, GFLOP/s",
        "share of it",
        "one query, ms",
        "256 at once, predictions/s",
        "sparse memorizes faster by",
    ]);
    let fastest = fastest(results);
    for (codes, timed) in dense_of(results) {
        let share = timed.operations.map(|operations| timed.memorize * operations / timed.product);
        table.push(vec![
            format!("{codes:?}").into(),
            timed.dim.to_string().into(),
            timed.threads.into(),
            Cell::Number(timed.cells as f64 / 1e6, 2),
            Cell::Count(timed.memorize as u64),
            Cell::Number(timed.product / 1e9, 0),
            Cell::number(share, 2),
            Cell::Number(timed.query, 2),
            Cell::Count(timed.batch as u64),
            format!("{:.0}×", fastest / timed.memorize).into(),
        ]);
    }
    table
}

fn all_numbers(results: &Results) -> Table {
    let mut table = Table::new([
        "engine",
        "text_or_codes",
        "d",
        "cells",
        "threads",
        "load",
        "tokens",
        "memorize_tokens_per_second",
        "forget_tokens_per_second",
        "query_us",
        "best_us",
        "batch_predictions_per_second",
        "cell_bytes_per_token",
        "table_bytes_per_token",
        "bytes_moved_per_token",
        "stream_bytes_per_second",
        "random_rows_bytes_per_second",
        "matrix_product_flops",
        "flops_per_token",
    ]);
    let number = |x: f64| Cell::Number(x, 3);
    let none = |n: usize| std::iter::repeat_n(Cell::Empty, n);
    for (point, timed) in results {
        match timed {
            Timed::Sparse(t) => {
                let mut row = vec!["sparse".into(), "natural".into(), Cell::Empty];
                row.extend([Cell::Count(t.cells), t.threads.into(), Cell::Empty, t.tokens.into()]);
                row.extend([t.memorize, t.forget, t.distribution, t.best].map(number));
                row.push(Cell::Empty);
                row.extend([t.cell_bytes, t.table_bytes, t.moved, t.stream, t.rows].map(number));
                row.extend(none(2));
                table.push(row);
            }
            Timed::Load(loads) => {
                let Point::Load { cells, natural } = point else { continue };
                for t in loads {
                    let text = if *natural { "natural" } else { "random" };
                    let mut row = vec!["sparse".into(), text.into(), Cell::Empty];
                    row.extend([Cell::Count(*cells), threads(results).into(), number(t.load)]);
                    row.extend([t.tokens.into(), number(t.memorize), Cell::Empty]);
                    row.extend([number(t.distribution), number(t.best)]);
                    row.extend(none(8));
                    table.push(row);
                }
            }
            Timed::Dense(t) => {
                let Point::Dense { codes, .. } = point else { continue };
                let mut row = vec!["dense".into(), format!("{codes:?}").into(), t.dim.into()];
                row.extend([Cell::Count(t.cells), t.threads.into(), Cell::Empty, t.tokens.into()]);
                row.extend([number(t.memorize), Cell::Empty, number(t.query * 1e3), Cell::Empty]);
                row.push(number(t.batch));
                row.extend(none(5));
                row.extend([number(t.product), Cell::number(t.operations, 0)]);
                table.push(row);
            }
        }
    }
    table
}

fn figure(results: &Results) -> Figure {
    Figure::new(3, 290.0)
        .chart(by_size(results))
        .chart(by_load(results, "Memorizing as it fills", "ns a token", |t| 1e9 / t.memorize))
        .chart(by_load(results, "Asking as it fills", "µs a query", |t| t.distribution))
        .chart(by_dim(results, "Dense: memorizing", "tokens/s", |t| t.memorize))
        .chart(by_dim(results, "Dense: 256 contexts", "predictions/s", |t| t.batch))
        .chart(by_dim(results, "Dense: one query", "ms", |t| t.query))
}

fn by_size(results: &Results) -> Chart {
    let all = threads(results);
    let points = |of: fn(&sparse::Timed) -> f64| -> Vec<(f64, f64)> {
        let sizes = sparse_of(results).filter(|t| t.threads == all);
        sizes.map(|t| ((t.cells >> 10) as f64 / 1024.0, of(t) / 1e6)).collect()
    };
    let most = points(bound).iter().chain(&points(|t| t.memorize)).map(|p| p.1).fold(0.1, f64::max);
    let x = Axis::log("cells, MiB");
    let y = Axis::linear("million tokens/s").range(0.0, most * 1.1);
    Chart::new("Sparse: memorizing", x, y)
        .series(Series::new("bandwidth allows", Style::new(6).dash(Dash::Dashed), points(bound)))
        .series(Series::new(
            "sparse, memorize",
            Style::new(0).mark(Mark::Circle),
            points(|t| t.memorize),
        ))
        .series(Series::new(
            "sparse, forget",
            Style::new(5).mark(Mark::Triangle),
            points(|t| t.forget),
        ))
}

fn by_load(results: &Results, title: &str, unit: &str, of: fn(&sparse::Loaded) -> f64) -> Chart {
    let all: Vec<f64> = loads(results).flat_map(|(_, loads)| loads.iter().map(of)).collect();
    let most = all.into_iter().fold(0.1, f64::max);
    let x = Axis::linear("load (1: what it is made for)").range(0.0, 3.1);
    let mut chart = Chart::new(title, x, Axis::linear(unit).range(0.0, most * 1.15));
    for (natural, loads) in loads(results) {
        let (name, style) = if natural {
            ("sparse, natural text", Style::new(3).mark(Mark::Diamond))
        } else {
            ("sparse, random text", Style::new(4).mark(Mark::Square))
        };
        let points = loads.iter().map(|loaded| (loaded.load, of(loaded))).collect();
        chart = chart.series(Series::new(name, style, points));
    }
    chart
}

fn by_dim(results: &Results, title: &str, unit: &str, of: fn(&dense::Timed) -> f64) -> Chart {
    let all = threads(results);
    let ticks = [512.0, 1024.0, 2048.0, 4096.0];
    let x = Axis::log("d").range(430.0, 4900.0).ticks(&ticks);
    let mut chart = Chart::new(title, x, Axis::log(unit));
    for (kind, name, style) in [
        (CodeKind::Hadamard, "dense, Hadamard", Style::new(2).mark(Mark::Circle)),
        (CodeKind::Gaussian, "dense, Gaussian", Style::new(1).mark(Mark::Ring)),
    ] {
        let timed = dense_of(results).filter(|(codes, t)| *codes == kind && t.threads == all);
        let points: Vec<(f64, f64)> = timed.map(|(_, t)| (t.dim as f64, of(t))).collect();
        if !points.is_empty() {
            chart = chart.series(Series::new(name, style, points));
        }
    }
    chart
}
