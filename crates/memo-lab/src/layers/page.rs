//! The page: tables and figures from the curves, and what they say.

use super::authors::Authors;
use super::model::Engine;
use super::texts::{CHUNK, HEADS, VOCABULARY};
use super::{Curve, DRAWS, Filled, Grid, Measured, tokens};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Share, Table};
use memo_terminal::output::thousands;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Everything that the page shows.
pub(super) struct Results<'a> {
    grid: &'a Grid,
    /// By curve, a result for each draw.
    filled: HashMap<Curve, Vec<&'a Filled>>,
    authors: &'a Authors,
}

impl<'a> Results<'a> {
    pub(super) fn new(
        grid: &'a Grid,
        measured: &'a [Measured<Vec<Filled>>],
        authors: &'a Authors,
    ) -> Self {
        let mut filled: HashMap<Curve, Vec<&Filled>> = HashMap::new();
        for (run, measured) in grid.runs.iter().zip(measured) {
            for (curve, result) in run.curves().zip(&measured.result) {
                filled.entry(curve).or_default().push(result);
            }
        }
        Results { grid, filled, authors }
    }

    /// Recall of both ends together, in the first draw.
    fn recall(&self, curve: Curve, iteration: usize) -> Option<Share> {
        // With one layer nothing is composed or recalled.
        let engine = match curve.engine {
            Engine::Bind | Engine::Stored | Engine::Printed if curve.layers == 1 => {
                Engine::Hadamard
            }
            Engine::Product if curve.layers == 1 => Engine::Gaussian,
            engine => engine,
        };
        let filled = self.filled.get(&Curve { engine, ..curve })?.first()?;
        filled.recalls.get(iteration).map(|recalled| recalled.both())
    }

    fn last(&self) -> usize {
        self.grid.iterations - 1
    }

    /// The distinct values of something, ascending.
    fn distinct(&self, of: impl Fn(&Curve) -> usize) -> Vec<usize> {
        let mut values: Vec<usize> = self.grid.curves().map(|curve| of(&curve)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Every engine at the last iteration.
    fn table(&self) -> Table {
        let mut table = Table::new([
            "d",
            "decoys",
            "l",
            "authors",
            "Gaussian",
            "Hadamard",
            "bind",
            "product",
            "stored",
            "stored, Φ as printed",
            "sparse",
            "sparse cells a token",
        ]);
        let last = self.last();
        for dim in self.distinct(|curve| curve.dim) {
            for decoys in self.distinct(|curve| curve.decoys) {
                for layers in self.distinct(|curve| curve.layers) {
                    let curve = |engine| Curve { engine, dim, layers, decoys };
                    let recall = |engine| {
                        Cell::number(self.recall(curve(engine), last).map(Share::value), 3)
                    };
                    let theirs = self.authors.recall(&curve(Engine::Gaussian), last);
                    let mut row = vec![dim.to_string().into(), decoys.into(), layers.into()];
                    row.push(Cell::number(theirs, 3));
                    row.extend(
                        [
                            Engine::Gaussian,
                            Engine::Hadamard,
                            Engine::Bind,
                            Engine::Product,
                            Engine::Stored,
                            Engine::Printed,
                            Engine::Sparse,
                        ]
                        .map(recall),
                    );
                    row.push(Cell::Number((dim * dim) as f64 / tokens(self.grid, last) as f64, 1));
                    table.push(row);
                }
            }
        }
        table
    }

    /// Every point of every curve.
    fn data(&self) -> Table {
        let mut table = Table::new([
            "engine",
            "d",
            "layers",
            "decoys",
            "draw",
            "tokens",
            "first",
            "current",
            "recall",
            "low",
            "high",
            "authors",
            "parameters",
            "bytes",
        ]);
        let draws = |curve: Curve| self.filled[&curve].iter().enumerate().map(move |d| (curve, d));
        for (curve, (draw, filled)) in self.grid.curves().flat_map(draws) {
            for (iteration, recalled) in filled.recalls.iter().enumerate() {
                let (low, high) = recalled.both().interval();
                let mut row = vec![curve.engine.name().into(), curve.dim.into()];
                row.extend([curve.layers, curve.decoys, draw + 1].map(Cell::from));
                row.push(tokens(self.grid, iteration).into());
                row.extend(
                    [recalled.first.value(), recalled.current.value(), recalled.both().value()]
                        .map(|share| Cell::Number(share, 3)),
                );
                row.extend([Cell::Number(low, 3), Cell::Number(high, 3)]);
                row.push(Cell::number(self.authors.recall(&curve, iteration), 3));
                row.extend([Cell::Count(filled.parameters), Cell::Count(filled.bytes)]);
                table.push(row);
            }
        }
        table
    }

    fn points<T>(&self, recall: impl Fn(usize) -> Option<T>) -> Vec<(f64, T)> {
        let at = |iteration| Some((tokens(self.grid, iteration) as f64, recall(iteration)?));
        (0..self.grid.iterations).filter_map(at).collect()
    }

    fn chart(&self, title: &str, least: f64) -> Chart {
        let most = tokens(self.grid, self.last()) as f64;
        let x = Axis::linear("tokens memorized").range(0.0, most);
        Chart::new(title, x, Axis::linear("recall").range(least, 1.0))
    }

    /// The tenth below all points of some curves, ours and the authors'.
    fn least(&self, curves: &[Curve]) -> f64 {
        let points = |curve: &Curve| {
            let curve = *curve;
            (0..self.grid.iterations).flat_map(move |iteration| {
                let ours = self.recall(curve, iteration).map(|share| share.interval().0);
                ours.into_iter().chain(self.authors.recall(&curve, iteration))
            })
        };
        let least = curves.iter().flat_map(points).fold(1.0, f64::min);
        (10.0 * least).floor() / 10.0
    }

    /// One of our curves and the authors' beside it.
    fn pair(&self, chart: Chart, curve: Curve, name: &str, colour: usize) -> Chart {
        let theirs = self.points(|k| self.authors.recall(&curve, k));
        let style = Style::new(colour);
        let ours = self.points(|k| self.recall(curve, k));
        let chart = chart.series(Series::shares(name, style.mark(Mark::Circle), ours));
        if theirs.is_empty() {
            return chart;
        }
        let style = style.mark(Mark::Ring).dash(Dash::Dashed);
        chart.series(Series::new(&format!("{name}, authors"), style, theirs))
    }

    /// The paper's figure: dimensions above, layers below, a column for each number of decoys.
    fn figure(&self) -> Figure {
        let decoys = self.distinct(|c| c.decoys);
        let engine = Engine::Gaussian;
        let mut figure = Figure::new(decoys.len(), 270.0);
        let there = |dim: &usize, decoys: usize| {
            self.filled.contains_key(&Curve { engine, dim: *dim, layers: 3, decoys })
        };
        let dims = self.distinct(|c| c.dim);
        for &decoys in &decoys {
            let mut chart = self.chart(&format!("3 layers, {decoys} decoys"), 0.0);
            for (colour, dim) in dims.iter().enumerate().filter(|(_, dim)| there(dim, decoys)) {
                let curve = Curve { engine, dim: *dim, layers: 3, decoys };
                chart = self.pair(chart, curve, &format!("d = {dim}"), colour);
            }
            figure = figure.chart(chart);
        }
        for &decoys in &decoys {
            let Some(&dim) = dims.iter().rfind(|dim| there(dim, decoys)) else {
                continue;
            };
            let curves: Vec<Curve> = [1, 2, 3]
                .map(|layers| Curve { engine, dim, layers, decoys })
                .into_iter()
                .filter(|curve| self.filled.contains_key(curve))
                .collect();
            let mut chart = self.chart(&format!("d = {dim}, {decoys} decoys"), self.least(&curves));
            for curve in curves {
                let layers = curve.layers;
                chart = self.pair(chart, curve, &format!("l = {layers}"), layers + 3);
            }
            figure = figure.chart(chart);
        }
        figure
    }

    /// Recall of every draw of a curve after an iteration.
    fn draws(&self, curve: Curve, iteration: usize) -> Vec<Share> {
        let draws = self.filled.get(&curve).into_iter().flatten();
        draws.filter_map(|filled| Some(filled.recalls.get(iteration)?.both())).collect()
    }

    /// Curves of which there are several draws.
    fn drawn(&self) -> impl Iterator<Item = Curve> + '_ {
        self.grid.curves().filter(|curve| self.filled[curve].len() > 1)
    }

    /// The draws of a curve beside the authors' one, early, midway and at the end.
    fn spread(&self) -> Table {
        let last = self.last();
        let iterations = [0, last / 3, last];
        let mut columns = vec!["d".to_owned(), "decoys".to_owned(), "l".to_owned()];
        for iteration in iterations {
            let at = thousands(tokens(self.grid, iteration) as u64);
            columns.extend([format!("authors, {at} tokens"), "ours: mean ± deviation".to_owned()]);
        }
        let mut table = Table::new(columns);
        for curve in self.drawn() {
            let mut row = vec![curve.dim.to_string().into(), curve.decoys.into()];
            row.push(curve.layers.into());
            for iteration in iterations {
                row.push(Cell::number(self.authors.recall(&curve, iteration), 3));
                let (mean, deviation) = moments(&self.draws(curve, iteration));
                row.push(format!("{mean:.3} ± {deviation:.3}").into());
            }
            table.push(row);
        }
        table
    }

    /// How draws differ from each other, and the authors' runs from them.
    fn spread_findings(&self) -> String {
        let (mut points, mut within, mut sum) = (0, 0, 0.0);
        for curve in self.drawn() {
            for iteration in 0..self.grid.iterations {
                let Some(theirs) = self.authors.recall(&curve, iteration) else {
                    continue;
                };
                let draws: Vec<f64> =
                    self.draws(curve, iteration).into_iter().map(Share::value).collect();
                let least = draws.iter().copied().fold(f64::INFINITY, f64::min);
                let most = draws.iter().copied().fold(0.0, f64::max);
                points += 1;
                within += usize::from((least..=most).contains(&theirs));
                sum += draws.iter().sum::<f64>() / draws.len() as f64 - theirs;
            }
        }
        let mut out = format!(
            "Of {points} points that the authors have too, {within} lie between the lowest and the highest of ours; a sixth draw like ours would do so in {} of {}. Our means differ from theirs by {:+.3} on average.",
            DRAWS - 1,
            DRAWS + 1,
            sum / f64::from(points.max(1)),
        );
        for decoys in self.distinct(|curve| curve.decoys) {
            let (mut between, mut sample, mut count) = (0.0, 0.0, 0.0);
            for curve in self.drawn().filter(|curve| curve.decoys == decoys) {
                for iteration in 0..self.grid.iterations {
                    let draws = self.draws(curve, iteration);
                    let (mean, deviation) = moments(&draws);
                    let tried =
                        draws.iter().map(|d| d.tried as f64).sum::<f64>() / draws.len() as f64;
                    between += deviation * deviation;
                    sample += mean * (1.0 - mean) / tried;
                    count += 1.0;
                }
            }
            let root = |sum: f64| (sum / f64::max(count, 1.0)).sqrt();
            let _ = write!(
                out,
                " With {decoys} decoys draws deviate by {:.3} (the root of the mean square), where the sample of positions alone would by {:.3}.",
                root(between),
                root(sample)
            );
        }
        out
    }

    /// Bytes of each engine with three layers, everything included.
    fn bytes(&self) -> Table {
        let engines = [
            (Engine::Hadamard, "Hadamard"),
            (Engine::Gaussian, "Gaussian"),
            (Engine::Stored, "stored"),
            (Engine::Cells, "sparse: cells alone"),
            (Engine::Sparse, "sparse: with tables"),
        ];
        let mut table = Table::new(
            std::iter::once("d".to_owned()).chain(engines.map(|(_, name)| format!("{name}, MB"))),
        );
        for dim in self.distinct(|curve| curve.dim) {
            let mut row = vec![Cell::Text(dim.to_string())];
            for (engine, _) in engines {
                // Without decoys; where there are none of these, what is held is the same.
                let of = |decoys| self.filled.get(&Curve { engine, dim, layers: 3, decoys });
                let filled = of(0).or_else(|| of(20)).and_then(|draws| draws.first());
                row.push(Cell::number(filled.map(|filled| filled.bytes as f64 / 1e6), 1));
            }
            table.push(row);
        }
        table
    }

    /// The sentences of the paper's results, beside its own points and ours.
    fn sentences(&self) -> Table {
        let mut table = Table::new([
            "the paper's sentence",
            "tokens",
            "published points, lowest",
            "holds",
            "Gaussian, lowest",
            "95 %",
            "holds",
            "Hadamard, lowest",
            "95 %",
            "holds",
        ]);
        let quarter =
            (0..self.grid.iterations).take_while(|k| tokens(self.grid, *k) <= 250_000).count();
        let all = self.grid.iterations;
        for (said, bound, dim, layers, decoys, iterations) in [
            ("constantly over 0.97", 0.97, 4096, 3, 0, all),
            ("above 0.96 for at least 250,000", 0.96, 8192, 2, 20, quarter),
            ("above 0.96 for at least 250,000", 0.96, 8192, 3, 20, quarter),
            ("more than 0.88 for 250,000", 0.88, 8192, 3, 40, quarter),
        ] {
            let curve = |engine| Curve { engine, dim, layers, decoys };
            let theirs: Option<Vec<f64>> =
                (0..iterations).map(|k| self.authors.recall(&curve(Engine::Gaussian), k)).collect();
            let theirs = theirs.and_then(|points| points.into_iter().reduce(f64::min));
            let mut row =
                vec![Cell::from(format!("{}: \"{said}\"", curve(Engine::Gaussian).named()))];
            row.push(tokens(self.grid, iterations.saturating_sub(1)).into());
            row.push(Cell::number(theirs, 3));
            row.push(theirs.map_or(Cell::Empty, |lowest| yes(lowest > bound).into()));
            for engine in [Engine::Gaussian, Engine::Hadamard] {
                let ours: Option<Vec<Share>> =
                    (0..iterations).map(|k| self.recall(curve(engine), k)).collect();
                let lowest = ours.and_then(|points| {
                    points.into_iter().min_by(|a, b| a.value().total_cmp(&b.value()))
                });
                let Some(lowest) = lowest else {
                    row.extend([Cell::Empty, Cell::Empty, Cell::Empty]);
                    continue;
                };
                let (low, high) = lowest.interval();
                row.push(Cell::Number(lowest.value(), 3));
                row.push(format!("{low:.3} to {high:.3}").into());
                let holds = yes(lowest.value() > bound);
                let open = (low..=high).contains(&bound);
                row.push(if open { format!("{holds}, not surely") } else { holds }.into());
            }
            table.push(row);
        }
        table
    }

    /// All engines at one size.
    fn engines(&self) -> Figure {
        let decoys = self.distinct(|c| c.decoys);
        let dims: Vec<usize> =
            self.distinct(|c| c.dim).into_iter().filter(|d| *d <= 4096).collect();
        let dims = &dims[dims.len().saturating_sub(2)..];
        let mut figure = Figure::new(decoys.len(), 270.0);
        for &dim in dims {
            for &decoys in &decoys {
                let mut chart = self.chart(&format!("d = {dim}, l = 3, {decoys} decoys"), 0.0);
                for (colour, engine, name) in [
                    (0, Engine::Hadamard, "dense: Hadamard"),
                    (3, Engine::Gaussian, "dense: Gaussian"),
                    (2, Engine::Bind, "dense: bind"),
                    (4, Engine::Stored, "dense: stored recall"),
                    (5, Engine::Cells, "sparse, as many cells: cells alone, the sum"),
                    (1, Engine::Sparse, "sparse, as many cells: with tables, back-off"),
                ] {
                    let curve = Curve { engine, dim, layers: 3, decoys };
                    let points = self.points(|k| self.recall(curve, k));
                    if !points.is_empty() {
                        let style = Style::new(colour).mark(Mark::Circle);
                        chart = chart.series(Series::shares(name, style, points));
                    }
                }
                figure = figure.chart(chart);
            }
        }
        figure
    }

    /// A summary of the results in numbers.
    fn findings(&self) -> String {
        let mut out = String::new();
        for engine in [Engine::Gaussian, Engine::Hadamard] {
            out += &self.against_authors(engine);
        }
        out + &self.sparse_findings()
    }

    /// How an engine compares with the authors' points, in both directions.
    fn against_authors(&self, engine: Engine) -> String {
        let (mut points, mut sum) = (0, 0.0);
        let (mut below, mut above) = (Vec::new(), 0);
        for curve in self.grid.curves().filter(|curve| curve.engine == engine) {
            for iteration in 0..self.grid.iterations {
                let theirs = self.authors.recall(&curve, iteration);
                let ours = self.recall(curve, iteration);
                let Some((theirs, ours)) = theirs.zip(ours) else {
                    continue;
                };
                points += 1;
                sum += ours.value() - theirs;
                let (low, high) = ours.interval();
                above += usize::from(low > theirs);
                if high < theirs {
                    below.push((
                        theirs - ours.value(),
                        self.beside(&curve, iteration, ours, theirs),
                    ));
                }
            }
        }
        if points == 0 {
            return String::new();
        }
        below.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (name, mean) = (engine.name(), sum / f64::from(points));
        let outside = below.len() + above;
        let largest: Vec<String> = below.iter().take(3).map(|(_, text)| text.clone()).collect();
        let largest = if largest.is_empty() {
            String::new()
        } else {
            format!("; furthest below: {}", largest.join("; "))
        };
        format!(
            "- **{name}**, {points} points that the authors have too: on average {mean:+.3}. Theirs lie outside our intervals of 95 % at {outside} ({} of ours below theirs, {above} above), where chance alone has {:.0}{largest}.\n",
            below.len(),
            0.05 * f64::from(points),
        )
    }

    fn beside(&self, curve: &Curve, iteration: usize, ours: Share, other: f64) -> String {
        let at = thousands(tokens(self.grid, iteration) as u64);
        format!("{}, {at} tokens: {:.3} against {other:.3}", curve.named(), ours.value())
    }

    /// Whether the sparse engine keeps what it should.
    fn sparse_findings(&self) -> String {
        let (mut roomy, mut kept, mut crowded, mut behind) = (0, 0, 0, Vec::new());
        let mut least = 1.0f64;
        for curve in self.grid.curves().filter(|curve| curve.engine == Engine::Sparse) {
            for iteration in 0..self.grid.iterations {
                let Some(ours) = self.recall(curve, iteration) else {
                    continue;
                };
                let room = (curve.dim * curve.dim) as f64 / tokens(self.grid, iteration) as f64;
                if room >= 90.0 && curve.layers >= 2 {
                    roomy += 1;
                    kept += usize::from(ours.value() >= 0.99);
                    least = least.min(ours.value());
                }
                let dense = Curve { engine: Engine::Hadamard, ..curve };
                let Some(dense) = self.recall(dense, iteration) else {
                    continue;
                };
                crowded += 1;
                if ours.interval().1 < dense.interval().0 {
                    behind.push(self.beside(&curve, iteration, ours, dense.value()));
                }
            }
        }
        let worse = if behind.is_empty() {
            "nowhere worse than Hadamard beyond the error of the sample".to_owned()
        } else {
            format!(
                "worse than Hadamard beyond the error of the sample at {}: {}",
                behind.len(),
                behind.join("; ")
            )
        };
        format!(
            "- **sparse**: recall of at least .99 at {kept} of the {roomy} points with two or three layers and 90 or more \
             cells a token (the least is {least:.3}); of all {crowded} points, {worse}.\n"
        )
    }
}

fn yes(holds: bool) -> String {
    if holds { "yes" } else { "no" }.to_owned()
}

/// The mean of some draws, and their standard deviation.
fn moments(draws: &[Share]) -> (f64, f64) {
    let count = draws.len() as f64;
    let mean = draws.iter().map(|share| share.value()).sum::<f64>() / count;
    let squares: f64 = draws.iter().map(|share| (share.value() - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

impl Curve {
    /// The setting without the engine.
    fn named(&self) -> String {
        format!("d = {}, l = {}, {} decoys", self.dim, self.layers, self.decoys)
    }
}

pub(super) fn page(results: &Results<'_>, provenance: Provenance) -> Page {
    let Grid { iterations, chunks, .. } = results.grid;
    let error = |sample: usize| {
        let tried = 2 * sample as u64;
        let (low, high) = Share { right: tried / 2, tried }.interval();
        (high - low) / 2.0
    };
    let (many, few) = (results.grid.sample, results.grid.sample * 3 / 10);
    let all = thousands(tokens(results.grid, results.last()) as u64);
    let set_up = format!(
        "Random tokens from a vocabulary of {n}, h = {HEADS}. Every iteration memorizes {chunks} more chunks of {CHUNK} tokens; \
         after each, recall is tried in the first chunks and in those memorized last, from position {HEADS} on. A *decoy* makes it \
         hard: tokens 5 to 8 of each chunk are pasted over at 20 or 40 random places, the same in all chunks of an iteration, so that \
         the same four tokens are followed by many different ones. Only a longer window can tell which. There are {iterations} iterations, \
         {all} tokens in all.\n\n\
         *Recall* is the mean over both ends, each tried at {s} random positions ({few} for stored recall, product, cells alone, and for Gaussian codes from d = 4096 or with four layers); at one half that is known to \
         ±{e:.3} (±{f:.3}) with 95 % confidence, and better elsewhere. The CSV has every interval.\n\n\
         | engine | what it is |\n|---|---|\n\
         | Gaussian | as the authors ran theirs: Gaussian codes, linear composition (jlt), computed recall, Φ off. Four layers with 20 decoys up to d = 4096, and d = 8192 only with decoys, as they have them |\n\
         | Hadamard | the same with Hadamard codes and fast transforms |\n\
         | bind | Hadamard codes composed by binding |\n\
         | product | Gaussian codes composed by the authors' other way, the product of codes at length 1, which ignores order; d = 1024 |\n\
         | stored | Hadamard codes with recall from the inner memories, the paper's equation, and the exact distiller; d ≤ 4096. It has l times the cells |\n\
         | stored, Φ as printed | the same with Φ = D·F by rounding and not clamped ([errata, 3](../errata.md)); d = 1024 |\n\
         | sparse | `memo::superposed` with as many cells as the last memory of the others, d². One slot for each layer's window (4, 16, 64 tokens), \
         with two layers and more a 32nd of the cells for the last token. A cell is one byte, not four, but there are exact tables of pairs and totals besides, and the read-out is back-off. \
         So three things differ from the dense engines; [ablation](ablation.md) takes them one by one at equal bytes |\n\
         | cells alone | the same cells read by the paper's sum, without tables |",
        n = thousands(VOCABULARY as u64),
        s = thousands(many as u64),
        e = error(many),
        f = error(few),
    );
    let page = Page::new("layers", "Several layers: the paper's Fig. 4", results.data(), provenance)
        .prose("How much random text MeMo memorizes, by dimension and number of layers, and whether more layers see through decoys.")
        .figure("layers", "Recall against tokens memorized. Above: three layers, by dimension. Below: the dimension fixed, by number of layers; recall begins at the tenth below the curves. \
             Gaussian codes, with intervals of 95 %; rings and broken lines are the authors' own results.", results.figure())
        .heading("What was done")
        .prose(set_up)
        .heading(&format!("Recall after {all} tokens"))
        .table(results.table())
        .heading("The paper's sentences")
        .prose("The lowest recall of a curve up to the number of tokens that a sentence names (iterations end at 245,760 and 276,480, so 250,000 is the former). *Not surely*: the bound lies within the interval.")
        .table(results.sentences());
    let page = if results.drawn().next().is_some() {
        page.heading("Five draws").prose(format!("Gaussian codes of d = 1024 with {DRAWS} seeds: other codes, texts and places of decoys. The first draw is the one of the figures; the others were tried at {few} positions of each end.")).table(results.spread()).prose(results.spread_findings())
    } else {
        page
    };
    page.heading("What it says")
        .prose(results.findings() + NOTES)
        .figure("layers-engines", "Every engine with three layers, at two sizes, with intervals of 95 %. All dense engines have d² cells in their last memory, stored recall \
             two more memories; sparse has d² cells in all, and tables besides where it says so.", results.engines())
        .prose("Bytes, everything included, with three layers and no decoys:")
        .table(results.bytes())
}

/// Explanations that the counts alone do not give.
const NOTES: &str = "
Why decoys hurt a dense memory so much more than the few positions that they make ambiguous: within a decoy, the same token is \
predicted again and again by windows that share one, two or three tokens. Their keys add up in step, so that a foreign key that happens to \
point the same way returns that token with a weight of 20 or 40 times its chance product. These tokens then outshout the right one \
everywhere. Longer windows share less, which is why layers help. In the sparse engine a window that differs in one token selects \
other rows, and nothing adds up.

Recall under heavy load does not fall to zero but to about the share of tokens inside decoys, three of whose four tokens are easy to \
predict: .06 with 20 decoys, .11 with 40.

Curves with 40 decoys differ from run to run by more than the sample's error while few tokens are memorized: the places of decoys are drawn once for all chunks of \
an iteration, and how many of them touch matters. The authors have two runs of d = 4096, l = 1 with 40 decoys; after the first iteration one recalls .34, the other .22.

Stored recall takes inner codes from inner memories, noise and all, and the next layer multiplies that with its own: it fails at a fraction of the \
load that computed recall bears. [Errata, 5](../errata.md) has more on that.

Cells alone, read by the paper's sum, recall less than a dense memory of as many cells: it is the tables and back-off that put the sparse engine \
ahead, at the price in bytes of the table below.";
