//! The page: bound against measurement.

use super::{Codes, Missed, name, promised};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Table};
use memo::capacity;
use memo::codes::CodeKind;
use memo_terminal::output::thousands;

pub(super) fn page(settings: &[Codes], missed: &[Missed], provenance: Provenance) -> Page {
    Page::new("vectors", "Nearly orthogonal vectors: the paper's Appendix A", data(settings, missed), provenance)
        .prose("How many vectors fit in d dimensions if their products may miss the ideal, 1 for a vector with itself and 0 otherwise, by ε.")
        .figure(
            "vectors",
            "The smallest ε that all pairs of m codes keep, measured (marks), and the ε that the lemma promises for as many (broken lines). \
             Up to m = d, Hadamard codes are exactly orthogonal.",
            figure(settings, missed),
        )
        .heading("What was done")
        .prose(SET_UP)
        .heading("How many vectors fit")
        .table(table(settings, missed))
        .heading("What it says")
        .prose(FINDINGS)
}

const SET_UP: &str = "The appendix derives from the Johnson–Lindenstrauss lemma that m vectors fit with ε and θ = 2/m² − 1/m⁴, where θ is the share of pairs that may \
miss ε. Done rightly this gives ln m ≤ d(ε²/32 − ε³/96); the closed form that the paper prints does not follow from its lemma ([errata, 1](../errata.md)). \
Here m codes are drawn and all m(m − 1)/2 products are taken. θ allows about one pair to miss. The product of a vector with itself must keep ε too: codes count as fitting \
if their squared lengths miss 1 by ε at most. The CSV has the ε that all pairs keep, that all but θ keep, that 99 % keep, and that all squared lengths keep.";

const FINDINGS: &str = "The lemma is true and cautious: it must hold for any set of points that is projected, and asks for lengths of differences, from which products \
follow at the price of a factor of two. Independent random codes have products of standard deviation 1/√d, so that the largest of m²/2 of them is near \
2√(ln m/d): they do with an eighth of the lemma's dimensions. Hadamard codes are better still as long as m ≤ d, when their products are 0, and beyond \
that behave like random ones between blocks of d; their lengths are always exactly 1, which Gaussian ones are only up to √(2/d).";

const EPSILONS: [f64; 4] = [0.1, 0.2, 0.3, 0.5];

/// For each d and ε: what the lemma promises, what is printed, what was found.
fn table(settings: &[Codes], missed: &[Missed]) -> Table {
    let mut table = Table::new([
        "d",
        "ε",
        "m, from the lemma",
        "m, as printed",
        "m, Gaussian measured",
        "m, Hadamard measured",
    ]);
    let mut dims: Vec<usize> = settings.iter().map(|codes| codes.dim).collect();
    dims.sort_unstable();
    dims.dedup();
    let found = |kind: CodeKind, dim: usize, epsilon: f64| {
        let mine = || {
            settings
                .iter()
                .zip(missed)
                .filter(move |(codes, _)| (codes.kind, codes.dim) == (kind, dim))
        };
        let most = mine().map(|(codes, _)| codes.vectors).max();
        let fits = mine()
            .filter(|(_, missed)| missed.theta.max(missed.lengths) <= epsilon)
            .map(|(codes, _)| codes.vectors)
            .max();
        let fits = fits.map(|m| {
            if Some(m) == most {
                format!("≥ {}", thousands(m as u64))
            } else {
                thousands(m as u64)
            }
        });
        Cell::Text(fits.unwrap_or_else(|| "< 16".to_owned()))
    };
    for dim in dims {
        for epsilon in EPSILONS {
            table.push(vec![
                Cell::Text(dim.to_string()),
                Cell::Number(epsilon, 1),
                Cell::Text(power(capacity::ln_vectors(dim, epsilon))),
                Cell::Text(power(capacity::printed_ln_vectors(dim, epsilon))),
                found(CodeKind::Gaussian, dim, epsilon),
                found(CodeKind::Hadamard, dim, epsilon),
            ]);
        }
    }
    table
}

/// e to some power, as a number that can be read.
fn power(ln: f64) -> String {
    let digits = ln / std::f64::consts::LN_10;
    if digits < 6.0 { thousands(ln.exp() as u64) } else { format!("10^{digits:.0}") }
}

fn data(settings: &[Codes], missed: &[Missed]) -> Table {
    let mut table = Table::new([
        "codes",
        "d",
        "vectors",
        "theta",
        "epsilon_all",
        "epsilon_theta",
        "epsilon_99_percent",
        "epsilon_lengths",
        "epsilon_lemma",
    ]);
    for (codes, missed) in settings.iter().zip(missed) {
        let mut row = vec![name(codes.kind).into(), codes.dim.into(), codes.vectors.into()];
        row.push(Cell::Text(format!("{:.3e}", capacity::theta(codes.vectors as f64))));
        row.extend(
            [missed.all, missed.theta, missed.most, missed.lengths].map(|x| Cell::Number(x, 4)),
        );
        row.push(Cell::number(promised(codes.dim, codes.vectors), 4));
        table.push(row);
    }
    table
}

fn figure(settings: &[Codes], missed: &[Missed]) -> Figure {
    let mut dims: Vec<usize> = settings.iter().map(|codes| codes.dim).collect();
    dims.sort_unstable();
    dims.dedup();
    let mut figure = Figure::new(2, 380.0);
    for kind in [CodeKind::Gaussian, CodeKind::Hadamard] {
        let x = Axis::log("m: number of vectors").ticks(&[16.0, 64.0, 256.0, 1024.0, 4096.0]);
        let mut chart = Chart::new(
            &format!("{} codes", name(kind)),
            x,
            Axis::linear("ε: largest product").range(0.0, 1.5),
        );
        for (colour, &dim) in dims.iter().enumerate() {
            let mine = settings
                .iter()
                .zip(missed)
                .filter(|(codes, _)| (codes.kind, codes.dim) == (kind, dim));
            let measured: Vec<(f64, f64)> =
                mine.map(|(codes, missed)| (codes.vectors as f64, missed.all)).collect();
            let bound =
                measured.iter().filter_map(|(m, _)| Some((*m, promised(dim, *m as usize)?)));
            // Above the picture it would be drawn along its edge.
            let bound: Vec<(f64, f64)> = bound.filter(|point| point.1 <= 1.5).collect();
            let style = Style::new(colour);
            chart = chart
                .series(Series::new(&format!("d = {dim}"), style.mark(Mark::Circle), measured))
                .series(Series::new("", style.dash(Dash::Dashed), bound));
        }
        let lemma = Style::new(6).dash(Dash::Dashed);
        figure =
            figure.chart(chart.series(Series::new("promised by the lemma", lemma, Vec::new())));
    }
    figure
}
