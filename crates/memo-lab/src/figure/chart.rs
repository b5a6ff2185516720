//! Charts: series of points over two axes.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas};
use super::{COLOURS, Place};
use crate::Share;

/// How points are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Not at all.
    None,
    /// A disc.
    Circle,
    /// A ring.
    Ring,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A diamond.
    Diamond,
}

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Not at all.
    None,
    /// By a line.
    Solid,
    /// By a broken line.
    Dashed,
    /// By dots.
    Dotted,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    colour: &'static str,
    mark: Mark,
    dash: Dash,
}

impl Style {
    /// A solid line without marks in one of the [`COLOURS`].
    pub fn new(colour: usize) -> Self {
        Style { colour: COLOURS[colour % COLOURS.len()], mark: Mark::None, dash: Dash::Solid }
    }

    /// With points marked so.
    #[must_use]
    pub fn mark(self, mark: Mark) -> Self {
        Style { mark, ..self }
    }

    /// With points joined so.
    #[must_use]
    pub fn dash(self, dash: Dash) -> Self {
        Style { dash, ..self }
    }

    pub(super) fn draw(self, canvas: &mut Canvas, line: &[(f64, f64)], marks: &[(f64, f64)]) {
        let Style { colour, mark, dash } = self;
        match dash {
            Dash::None => {}
            Dash::Solid => canvas.line(line, colour, 2.0, ""),
            Dash::Dashed => canvas.line(line, colour, 1.8, "7 4"),
            Dash::Dotted => canvas.line(line, colour, 1.8, "2 3"),
        }
        for &(x, y) in marks {
            let around = |points: [(f64, f64); 4]| points.map(|(dx, dy)| (x + dx, y + dy));
            match mark {
                Mark::None => {}
                Mark::Circle => canvas.circle((x, y), 3.4, colour, colour),
                Mark::Ring => canvas.circle((x, y), 3.4, "#ffffff", colour),
                Mark::Square => canvas.rectangle((x - 3.1, y - 3.1), (6.2, 6.2), colour, colour),
                Mark::Triangle => {
                    let points = around([(0.0, -4.2), (4.0, 3.2), (-4.0, 3.2), (0.0, -4.2)]);
                    canvas.polygon(&points, colour, colour);
                }
                Mark::Diamond => {
                    let points = around([(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)]);
                    canvas.polygon(&points, colour, colour);
                }
            }
        }
    }
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(super) name: String,
    pub(super) style: Style,
    points: Vec<(f64, f64)>,
    /// The low and high end of each point's interval, or none.
    intervals: Vec<(f64, f64)>,
}

impl Series {
    /// A series; one without a name is not in the legend, one without points only there.
    pub fn new(name: &str, style: Style, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.to_owned(), style, points, intervals: Vec::new() }
    }

    /// Shares with their intervals of 95 %, as points with bars.
    pub fn shares(
        name: &str,
        style: Style,
        points: impl IntoIterator<Item = (f64, Share)>,
    ) -> Self {
        let points: Vec<(f64, Share)> = points.into_iter().collect();
        let intervals = points.iter().map(|(_, share)| share.interval()).collect();
        let points = points.into_iter().map(|(x, share)| (x, share.value())).collect();
        Series { intervals, ..Series::new(name, style, points) }
    }
}

/// Series over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    pub(super) series: Vec<Series>,
}

impl Chart {
    /// An empty chart.
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Chart { title: title.to_owned(), x, y, series: Vec::new() }
    }

    /// Adds a series, on top of those before.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, place: Place) {
        let points = || self.series.iter().flat_map(|series| series.points.iter());
        let (x, y) = (self.x.fitted(points().map(|p| p.0)), self.y.fitted(points().map(|p| p.1)));
        let labels = y.ticks.iter().map(|tick| y.name(*tick).chars().count()).max().unwrap_or(1);
        let left = place.left + 30.0 + 7.6 * labels as f64;
        let right = place.left + place.width - 14.0;
        let (top, bottom) = (place.top + 30.0, place.top + place.height - 44.0);
        let at = |(px, py): (f64, f64)| {
            (left + x.place(px) * (right - left), bottom - y.place(py) * (bottom - top))
        };
        canvas.bold(
            (f64::midpoint(left, right), place.top + 18.0),
            14.0,
            Anchor::Middle,
            &self.title,
        );
        for &tick in &x.ticks {
            let px = left + x.place(tick) * (right - left);
            canvas.line(&[(px, top), (px, bottom)], "#e6e6e6", 1.0, "");
            canvas.text((px, bottom + 17.0), 12.0, Anchor::Middle, &x.name(tick));
        }
        for &tick in &y.ticks {
            let py = bottom - y.place(tick) * (bottom - top);
            canvas.line(&[(left, py), (right, py)], "#e6e6e6", 1.0, "");
            canvas.text((left - 6.0, py + 4.2), 12.0, Anchor::End, &y.name(tick));
        }
        canvas.rectangle((left, top), (right - left, bottom - top), "none", "#888888");
        canvas.text(
            (f64::midpoint(left, right), bottom + 37.0),
            13.0,
            Anchor::Middle,
            &self.x.label,
        );
        canvas.upwards((place.left + 12.0, f64::midpoint(top, bottom)), 13.0, &self.y.label);
        for series in self.series.iter().filter(|series| !series.points.is_empty()) {
            let points: Vec<(f64, f64)> = series.points.iter().map(|p| at(*p)).collect();
            for (&(x, _), &(low, high)) in points.iter().zip(&series.intervals) {
                let end =
                    |value: f64| (bottom - y.place(value) * (bottom - top)).clamp(top, bottom);
                let (low, high) = (end(low), end(high));
                let colour = series.style.colour;
                canvas.line(&[(x, low), (x, high)], colour, 1.2, "");
                for y in [low, high] {
                    canvas.line(&[(x - 3.0, y), (x + 3.0, y)], colour, 1.2, "");
                }
            }
            series.style.draw(canvas, &points, &points);
        }
    }
}
