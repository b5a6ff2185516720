//! The part of the page that is about calibration: reliability curves, tables, and what they say.

use super::Outcome;
use super::calibration::{BINS, JUDGED, Kind, Reliability};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Share, Table};

/// An expected error above which probabilities are not to be relied on.
const BAD: f64 = 0.05;

pub(super) const CAPTION: &str = "The share of tokens that are right against the probability that completions state for them, in ten bins, of all texts together; bins of fewer than ten tokens are left out. On the dashed line \
     what is stated is true; above it completions are surer than they say, below it they say too much.";

/// All texts taken together, of models that are not frozen.
fn together(results: &[(String, Outcome)], kind: Kind) -> Reliability {
    let live = results.iter().filter(|(_, outcome)| !outcome.frozen);
    let mut all = Reliability::default();
    live.filter_map(|(_, outcome)| outcome.reliability(kind)).for_each(|of| all.add(of));
    all
}

impl Outcome {
    fn reliability(&self, kind: Kind) -> Option<&Reliability> {
        self.reliability.iter().find(|(other, _)| *other == kind).map(|(_, of)| of)
    }
}

/// What the numbers say, kind by kind.
pub(super) fn prose(results: &[(String, Outcome)]) -> String {
    let line = |kind: Kind| {
        let all = together(results, kind);
        let (Some(error), Some(stated)) = (all.error(), all.all().stated()) else {
            return format!("- **{}**: nothing was said.\n", kind.name());
        };
        let right = all.all().share.value();
        let verdict = match (error > BAD, stated > right) {
            (false, _) => "what is stated can be relied on",
            (true, true) => "badly calibrated: more is stated than is right",
            (true, false) => "badly calibrated: more is right than is stated",
        };
        format!(
            "- **{}**: {stated:.3} is stated on average, {right:.3} is right; the expected calibration error is {error:.3}: {verdict}.\n",
            kind.name()
        )
    };
    let lines: String = Kind::ALL.into_iter().map(line).collect();
    format!(
        "Prompts of memorized text, careless quotes of it (each fault in turn) and prompts of the tenth that was not memorized, the last by guessing, are continued by the most probable tokens, {JUDGED} at most. \
         Each token is judged by the text the prompt was taken from, white space aside, up to the first that is wrong, which counts. The expected calibration error is the mean distance between stated and right over the \
         bins, weighted by their tokens; above {BAD} it is called bad.\n\n{lines}"
    )
}

/// A row a bin, three columns a kind of prompt.
pub(super) fn bins(results: &[(String, Outcome)]) -> Table {
    let columns = Kind::ALL.into_iter().flat_map(|kind| {
        ["stated", "right", "tokens"].map(|column| format!("{}: {column}", kind.name()))
    });
    let mut table = Table::new(["stated between".to_owned()].into_iter().chain(columns));
    let all = Kind::ALL.map(|kind| together(results, kind));
    for bin in 0..BINS {
        let width = 1.0 / BINS as f64;
        let range = format!("{:.1} and {:.1}", bin as f64 * width, (bin + 1) as f64 * width);
        let cells = all.iter().flat_map(|of| {
            let bin = of.bins[bin];
            let right = Some(bin.share).filter(|share| share.tried > 0).map(Share::value);
            [Cell::number(bin.stated(), 3), Cell::number(right, 3), Cell::Count(bin.share.tried)]
        });
        table.push([range.as_str().into()].into_iter().chain(cells).collect());
    }
    table
}

/// The expected calibration error of each text's model.
pub(super) fn errors(results: &[(String, Outcome)]) -> Table {
    let columns = Kind::ALL.map(|kind| format!("calibration error, {}", kind.name()));
    let mut table = Table::new(["text".to_owned()].into_iter().chain(columns));
    for (name, outcome) in results {
        let cells = Kind::ALL
            .map(|kind| Cell::number(outcome.reliability(kind).and_then(Reliability::error), 3));
        table.push([name.as_str().into()].into_iter().chain(cells).collect());
    }
    table
}

pub(super) fn figure(results: &[(String, Outcome)]) -> Figure {
    /// Fewer tokens tell nothing.
    const LEAST: u64 = 10;
    let (x, y) = (Axis::linear("stated").range(0.0, 1.0), Axis::linear("right").range(0.0, 1.02));
    let true_line =
        Series::new("as stated", Style::new(5).dash(Dash::Dashed), vec![(0.0, 0.0), (1.0, 1.0)]);
    let mut chart = Chart::new("Reliability of stated probabilities", x, y).series(true_line);
    let marks = [Mark::Circle, Mark::Square, Mark::Triangle];
    for (i, kind) in Kind::ALL.into_iter().enumerate() {
        let bins = together(results, kind).bins;
        let bins = bins.iter().filter(|bin| bin.share.tried >= LEAST);
        let points: Vec<(f64, f64)> =
            bins.filter_map(|bin| Some((bin.stated()?, bin.share.value()))).collect();
        if !points.is_empty() {
            chart = chart.series(Series::new(kind.name(), Style::new(i).mark(marks[i]), points));
        }
    }
    Figure::new(1, 330.0).chart(chart)
}
