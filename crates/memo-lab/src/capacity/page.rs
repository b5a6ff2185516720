//! The page: the linear law, engine by engine, and what few dimensions a head do.

use super::fit::{Fit, fit};
use super::memories::VOCABULARY;
use super::narrow::{FAMILY, PER_PAIR, Recalled};
use super::search::BATCH;
use super::{ENGINES, Engine, GAUSSIAN, Grid, Held, Single, Theirs};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Share, Table};
use memo::capacity;
use memo::codes::CodeKind;
use memo_terminal::output::thousands;

/// Everything that the page shows.
pub(super) struct Results<'a> {
    pub(super) grid: &'a Grid,
    pub(super) held: &'a [Held],
    pub(super) narrow: &'a [Recalled],
    pub(super) authors: &'a [Theirs],
}

impl Results<'_> {
    /// Parameters and pairs of an engine's memories, the failing batch included.
    fn points(&self, engine: Engine) -> Vec<(f64, f64)> {
        let all = self.grid.singles.iter().zip(self.held);
        all.filter(|(single, _)| single.engine == engine)
            .map(|(single, held)| (single.shape.parameters() as f64, held.stopped as f64))
            .collect()
    }

    /// The linear law, engine by engine.
    fn laws(&self) -> Table {
        let mut table = Table::new([
            "memory",
            "settings",
            "parameters a pair",
            "R²",
            "bits a pair",
            "parameters a pair, median above 2²⁰",
        ]);
        let mut row = |name: &str, points: &[(f64, f64)], bits: f64| {
            let Some(Fit { slope, explained, .. }) = fit(points) else { return };
            let mut large: Vec<f64> =
                points.iter().filter(|p| p.0 >= f64::from(1 << 20)).map(|p| p.0 / p.1).collect();
            large.sort_by(f64::total_cmp);
            table.push(vec![
                name.into(),
                points.len().into(),
                Cell::Number(1.0 / slope, 1),
                Cell::Number(explained, 4),
                Cell::Number(bits / slope, 0),
                Cell::number(large.get(large.len() / 2).copied(), 1),
            ]);
        };
        row("authors (Gaussian, f32)", self.authors, 32.0);
        let small = |point: &&Theirs| point.0 <= GAUSSIAN as f64;
        let small: Vec<Theirs> = self.authors.iter().filter(small).copied().collect();
        row("authors, up to 2²² cells", &small, 32.0);
        for engine in ENGINES.iter().rev() {
            let bits = match engine {
                Engine::Gaussian | Engine::Reduced | Engine::Hadamard => 32.0,
                Engine::Sparse { bits } => f64::from(bits.unwrap_or(8)),
            };
            row(engine.name(), &self.points(*engine), bits);
        }
        table
    }

    /// Every memory.
    fn data(&self) -> Table {
        let mut table = Table::new([
            "engine",
            "heads",
            "d_h",
            "d",
            "parameters",
            "stored_pairs",
            "with_failing_batch",
            "recall_there",
            "parameters_per_pair",
        ]);
        for (single, held) in self.grid.singles.iter().zip(self.held) {
            let parameters = single.shape.parameters();
            table.push(vec![
                single.engine.name().into(),
                single.shape.heads.into(),
                single.shape.head_dim.into(),
                single.shape.dim.into(),
                parameters.into(),
                (held.stopped - BATCH).into(),
                held.stopped.into(),
                Cell::Number(held.recall.value(), 4),
                Cell::Number(parameters as f64 / held.stopped as f64, 2),
            ]);
        }
        table
    }

    /// Largest memories side by side.
    fn sizes(&self) -> Table {
        let mut table = Table::new(
            ["parameters", "authors", "Gaussian", "Hadamard", "sparse", "2 bits", "1 bit"]
                .map(str::to_owned),
        );
        let engines = [
            Engine::Gaussian,
            Engine::Hadamard,
            Engine::Sparse { bits: None },
            Engine::Sparse { bits: Some(2) },
            Engine::Sparse { bits: Some(1) },
        ];
        let mean = |points: &[(f64, f64)], parameters: f64| {
            let here: Vec<f64> = points.iter().filter(|p| p.0 == parameters).map(|p| p.1).collect();
            let mean = here.iter().sum::<f64>() / here.len().max(1) as f64;
            if here.is_empty() { Cell::Empty } else { Cell::Count(mean.round() as u64) }
        };
        let mut sizes: Vec<f64> = self.points(Engine::Hadamard).iter().map(|p| p.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        for parameters in sizes {
            let mut row = vec![Cell::Count(parameters as u64), mean(self.authors, parameters)];
            row.extend(engines.map(|engine| mean(&self.points(engine), parameters)));
            table.push(row);
        }
        table
    }

    /// What a Gaussian W_V costs, by d_h/d.
    fn reduced(&self) -> Table {
        let mut table =
            Table::new(["d_h/d", "memories", "pairs with W_V over pairs without", "1/(1 + d_h/d)"]);
        let all = || self.grid.singles.iter().zip(self.held);
        let stopped = |wanted: Single| {
            all().find(|(single, _)| **single == wanted).map(|(_, held)| held.stopped as f64)
        };
        let mut ratios: Vec<(usize, f64)> = all()
            .filter(|(single, held)| single.engine == Engine::Gaussian && held.stopped >= FINE)
            .filter_map(|(single, held)| {
                let reduced = stopped(Single { engine: Engine::Reduced, ..*single })?;
                Some((single.shape.dim / single.shape.head_dim, reduced / held.stopped as f64))
            })
            .collect();
        ratios.sort_by_key(|(share, _)| *share);
        for same in ratios.chunk_by(|a, b| a.0 == b.0) {
            let mean = same.iter().map(|(_, ratio)| ratio).sum::<f64>() / same.len() as f64;
            let share = same[0].0;
            table.push(vec![
                format!("1/{share}").into(),
                same.len().into(),
                Cell::Number(mean, 2),
                Cell::Number(1.0 / (1.0 + 1.0 / share as f64), 2),
            ]);
        }
        table
    }

    fn heads(&self) -> Table {
        let mut table = Table::new([
            "d/h",
            "h",
            "Hadamard, unrelated",
            "Hadamard, families",
            "Gaussian, unrelated",
            "Gaussian, families",
        ]);
        let dim = self.grid.narrow.first().map_or(1, |narrow| narrow.dim);
        for (pair, recalled) in self.grid.narrow.chunks(2).zip(self.narrow.chunks(2)) {
            let share = |share: Share| Cell::Number(share.value(), 3);
            let mut row = vec![Cell::from(dim / pair[0].heads), pair[0].heads.into()];
            for recalled in recalled {
                row.extend([share(recalled.unrelated), share(recalled.families)]);
            }
            table.push(row);
        }
        table
    }

    fn figure(&self) -> Figure {
        let x = || Axis::log("parameters (cells)");
        let law = |per_pair: f64| {
            vec![(16_384.0, 16_384.0 / per_pair), (67_108_864.0, 67_108_864.0 / per_pair)]
        };
        let mut stored = Chart::new("Pairs stored", x(), Axis::log("pairs"));
        let mut each = Chart::new(
            "Parameters a pair",
            x(),
            Axis::linear("parameters a pair").range(14.0, 68.0),
        );
        let looks = [
            (Engine::Sparse { bits: Some(1) }, 4, Mark::Triangle),
            (Engine::Sparse { bits: Some(2) }, 5, Mark::Triangle),
            (Engine::Gaussian, 3, Mark::Diamond),
            (Engine::Hadamard, 0, Mark::Circle),
            (Engine::Sparse { bits: None }, 1, Mark::Square),
        ];
        let ratio =
            |points: &[(f64, f64)]| points.iter().map(|p| (p.0, p.0 / p.1)).collect::<Vec<_>>();
        let predicted = capacity::parameters_per_pair(VOCABULARY, 0.9);
        let line = Style::new(6).dash(Dash::Dotted);
        let name = format!("predicted: {predicted:.1} parameters a pair");
        stored = stored.series(Series::new(&name, line, law(predicted)));
        each = each.series(Series::new(
            "",
            line,
            law(predicted).iter().map(|p| (p.0, predicted)).collect(),
        ));
        if !self.authors.is_empty() {
            let style = Style::new(6).mark(Mark::Ring).dash(Dash::None);
            stored = stored.series(Series::new("authors", style, self.authors.to_vec()));
            each = each.series(Series::new("", style, ratio(self.authors)));
        }
        for (engine, colour, mark) in looks {
            let style = Style::new(colour).mark(mark).dash(Dash::None);
            let points = self.points(engine);
            each = each.series(Series::new("", style, ratio(&points)));
            stored = stored.series(Series::new(engine.name(), style, points));
        }
        Figure::new(2, 400.0)
            .chart(stored)
            .chart(each)
            .chart(self.of_heads(Engine::Gaussian))
            .chart(self.of_heads(Engine::Hadamard))
    }

    /// The same for one kind of codes, told apart by h.
    fn of_heads(&self, engine: Engine) -> Chart {
        let mut chart = Chart::new(
            &format!("{} codes, by h", engine.name()),
            Axis::log("parameters (cells)"),
            Axis::linear("parameters a pair").range(28.0, 54.0),
        );
        let marks = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Ring];
        for (colour, (heads, mark)) in [2, 4, 8, 16, 32].into_iter().zip(marks).enumerate() {
            let all = self.grid.singles.iter().zip(self.held);
            let mine = all.filter(|(s, held)| {
                s.engine == engine && s.shape.heads == heads && held.stopped >= FINE
            });
            let points = mine.map(|(s, held)| {
                let parameters = s.shape.parameters() as f64;
                (parameters, parameters / held.stopped as f64)
            });
            let style = Style::new(colour).mark(mark).dash(Dash::None);
            chart = chart.series(Series::new(&format!("h = {heads}"), style, points.collect()));
        }
        chart
    }

    fn heads_figure(&self) -> Figure {
        let dim = self.grid.narrow.first().map_or(1, |narrow| narrow.dim) as f64;
        let x = Axis::log("d/h: dimensions of a head")
            .ticks(&[4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0]);
        let mut chart = Chart::new(
            &format!("Recall of a {dim:.0} × {dim:.0} memory"),
            x,
            Axis::linear("recall").range(0.0, 1.0),
        );
        for (colour, codes, name) in
            [(0, CodeKind::Hadamard, "Hadamard"), (3, CodeKind::Gaussian, "Gaussian")]
        {
            let points = |of: fn(&Recalled) -> Share| -> Vec<(f64, Share)> {
                let all = self.grid.narrow.iter().zip(self.narrow);
                let mine = all.filter(|(narrow, _)| narrow.codes == codes);
                mine.map(|(narrow, r)| (dim / narrow.heads as f64, of(r))).collect()
            };
            let style = Style::new(colour).mark(Mark::Circle);
            chart = chart
                .series(Series::shares(
                    &format!("{name}, unrelated windows"),
                    style.dash(Dash::Dashed),
                    points(|r| r.unrelated),
                ))
                .series(Series::shares(
                    &format!("{name}, families of {FAMILY}"),
                    style,
                    points(|r| r.families),
                ));
        }
        Figure::new(1, 320.0).chart(chart)
    }

    /// How far memories of one size differ, at the largest sizes that Gaussian codes were tried at.
    fn spans(&self) -> String {
        let span = |points: &[(f64, f64)], parameters: f64| {
            let here = points.iter().filter(|p| p.0 == parameters).map(|p| p.1);
            here.fold(None, |ends: Option<(f64, f64)>, x| {
                Some(ends.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
            })
        };
        let gaussian = self.points(Engine::Gaussian);
        let mut sizes: Vec<f64> = gaussian.iter().map(|p| p.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let said = sizes.iter().rev().take(3).filter_map(|&parameters| {
            let (low, high) = span(&gaussian, parameters)?;
            Some(format!(
                "{} to {} pairs in {} cells",
                thousands(low as u64),
                thousands(high as u64),
                thousands(parameters as u64)
            ))
        });
        format!(
            "with Gaussian vectors memories of one size hold {}",
            said.collect::<Vec<_>>().join(", ")
        )
    }

    /// Pairs by number of heads, at sizes that every number has: whether capacity depends on h.
    fn by_heads(&self) -> Table {
        let mut heads: Vec<usize> = self.grid.singles.iter().map(|s| s.shape.heads).collect();
        heads.sort_unstable();
        heads.dedup();
        let mut table = Table::new(
            ["memory", "parameters"]
                .map(str::to_owned)
                .into_iter()
                .chain(heads.iter().map(|h| format!("h = {h}"))),
        );
        for engine in [Engine::Gaussian, Engine::Hadamard, Engine::Sparse { bits: None }] {
            let mine =
                || self.grid.singles.iter().zip(self.held).filter(|(s, _)| s.engine == engine);
            let mut sizes: Vec<usize> = mine().map(|(s, _)| s.shape.parameters()).collect();
            sizes.sort_unstable();
            sizes.dedup();
            let mean = |parameters: usize, heads: usize| {
                let here: Vec<f64> = mine()
                    .filter(|(s, _)| (s.shape.parameters(), s.shape.heads) == (parameters, heads))
                    .map(|(_, held)| held.stopped as f64)
                    .collect();
                (!here.is_empty()).then(|| here.iter().sum::<f64>() / here.len() as f64)
            };
            for &parameters in &sizes {
                let row: Option<Vec<f64>> = heads.iter().map(|h| mean(parameters, *h)).collect();
                let Some(row) = row else { continue };
                let mut cells = vec![engine.name().into(), Cell::Count(parameters as u64)];
                cells.extend(row.into_iter().map(|pairs| Cell::Count(pairs.round() as u64)));
                table.push(cells);
            }
        }
        table
    }

    /// What the fits say beside the authors' own.
    fn findings(&self) -> String {
        let per_pair = |points: &[(f64, f64)]| fit(points).map(|fit| 1.0 / fit.slope);
        let spans = self.spans();
        let predicted = capacity::parameters_per_pair(VOCABULARY, 0.9);
        let [gaussian, hadamard, sparse, one] = [
            Engine::Gaussian,
            Engine::Hadamard,
            Engine::Sparse { bits: None },
            Engine::Sparse { bits: Some(1) },
        ]
        .map(|engine| per_pair(&self.points(engine)).unwrap_or(f64::NAN));
        format!(
            "Capacity is linear in the number of cells. Their arrangement matters much less, but it does: {spans}. The authors' own 125 points give {AUTHORS} \
             parameters a pair with R² {AUTHORS_R2}, ours with Gaussian vectors {gaussian:.1} (up to 2²² cells, as is the second row of theirs); Hadamard codes need {hadamard:.1}, sparse keys \
             {sparse:.1}, and with one bit a cell, that is one bit a parameter, {one:.1}. Theory ({NOISE}) predicts {predicted:.1} for codes without noise of \
             their own; Gaussian ones have random lengths, which is what they need more.\n\n\
             Small memories lie off the line in the figure because a batch is coarse for them: one of 16,384 cells holds less than one."
        )
    }
}

/// The authors' fit: a fact that needs no file.
const AUTHORS: f64 = 36.1;
const AUTHORS_R2: f64 = 0.9992;

/// Pairs from which a batch more or less changes little.
const FINE: usize = 10_000;

/// Where the prediction is derived.
const NOISE: &str = "documented with `memo::capacity`";

pub(super) fn page(results: &Results<'_>, provenance: Provenance) -> Page {
    let set_up = format!(
        "Random windows of h symbols out of {n}, each followed by a random symbol, are stored in batches of {BATCH} in one memory of h·d_h × d \
         cells: h ∈ {{2, 4, 8, 16, 32}}, d_h ∈ {{16, 32, 64, 128, 256}}, d ∈ {{512, …, 8192}}. The rule is the paper's: stop where the mean recall of the first \
         batch and the current one is no longer above 0.9. Recall falls steadily as a memory fills, so the batch is found by halving an interval \
         (to 1 % of it), storing or taking away what lies between. In each of the two batches {s} pairs are tried ({g} with Gaussian codes), which \
         fixes the stopping point of a large memory to about ±2 %. Like the authors, tables and figures count the batch that failed; the CSV has both numbers.\n\n\
         To sparse keys only h and the number of cells matter, which leaves 45 of the 125 settings. One row has 256 cells, a key selects two rows, and the \
         read-out is the paper's sum. *2 bits* and *1 bit* cut the cells when they are read: signs and one or two sizes a row, as `memo freeze` does. \
         8 bits lose nothing here.\n\n\
         *Gaussian* is as the authors have it here: in keys a symbol is a random vector of d_h dimensions, as a value another of d. *Gaussian, W_V* is how the \
         rest of the paper comes to the former: a code of d dimensions, brought to d_h by a Gaussian W_V. Both go up to 2²² cells.",
        n = thousands(VOCABULARY as u64),
        s = Engine::Hadamard.sample(),
        g = Engine::Gaussian.sample(),
    );
    let heads = format!(
        "The paper warns that with a small d/h \"vectors will be not enough different\". For windows that have nothing in common this cannot be seen: whole \
         keys are compared, and they have d dimensions whatever h is. It can be seen in *families*: {FAMILY} windows that differ in their last token only, \
         which the d/h dimensions of that token alone tell apart, against a background of h − 1 that agree. The memory has {cells} cells throughout: {u} parameters a pair for \
         unrelated windows, near the limit, and {f} for families, far from it. Gaussian codes lose something at the other end too, where a head has many \
         dimensions: that is W_V's 1/d again.",
        cells = thousands(results.grid.narrow.first().map_or(0, |n| n.dim * n.dim) as u64),
        u = PER_PAIR[0],
        f = PER_PAIR[1],
    );
    Page::new("capacity", "A single memory: the paper's Fig. 3", results.data(), provenance)
        .prose("How many pairs (sequence, next symbol) a single correlation matrix memory holds, and what it depends on.")
        .figure("capacity", "Left: pairs stored until recall falls to 0.9, by number of parameters. Right: the same as parameters a pair. Below: those of 10,000 pairs and more, where a batch is fine enough to tell, by number of heads. A point is one memory.", results.figure())
        .heading("What was done")
        .prose(set_up)
        .heading("The linear law")
        .table(results.laws())
        .prose(results.findings())
        .heading("Pairs stored, by size")
        .prose("Means over all shapes of a size.")
        .table(results.sizes())
        .heading("Whether it depends on h")
        .prose("The paper's second panel says that capacity does not depend on the number of heads. Means over the memories of a size with so many heads, at the sizes that every h has.")
        .table(results.by_heads())
        .heading("What W_V costs")
        .prose(format!(
            "Two vectors of d_h dimensions have a product of variance 1/d_h. Two codes of d dimensions have one of 1/d already when a Gaussian W_V adds its 1/d_h: \
             noise grows by 1 + d_h/d, and capacity falls by as much. Means over memories of {} pairs and more. A Hadamard W_V keeps what it maps \
             apart, and costs nothing.",
            thousands(FINE as u64)
        ))
        .table(results.reduced())
        .heading("Few dimensions a head")
        .prose(heads)
        .table(results.heads())
        .figure("capacity-heads", "Recall of a square memory against the dimensions that each token has in a key.", results.heads_figure())
}
