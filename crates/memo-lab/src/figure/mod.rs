//! Figures: charts and heat maps side by side, drawn as SVG, and that rendered as PNG.
//!
//! Panels stand in columns; one legend below them names every series once, so that nothing overlaps. The font comes with
//! the program, so that a figure looks the same on every machine.

mod axis;
mod canvas;
mod chart;
mod heat;

pub use self::axis::Axis;
use self::canvas::{Anchor, Canvas};
pub use self::chart::{Chart, Dash, Mark, Series, Style};
pub use self::heat::HeatMap;
use crate::Error;

/// The width of a figure, that of a page.
const WIDTH: f64 = 960.0;

/// Between panels.
const GAP: f64 = 18.0;

/// Around everything.
const MARGIN: f64 = 12.0;

/// Heights of a line of the legend and of the text in it.
const LEGEND: f64 = 22.0;
const LEGEND_TEXT: f64 = 13.0;

/// The colours of series, told apart by those who see few colours too (after Okabe and Ito).
pub const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];

/// One part of a figure.
enum Panel {
    Chart(Chart),
    Heat(HeatMap),
}

/// A picture of one or more panels.
pub struct Figure {
    columns: usize,
    height: f64,
    panels: Vec<Panel>,
}

impl Figure {
    /// An empty figure whose panels stand in `columns` columns, each `height` high (the figure is 960 wide).
    pub fn new(columns: usize, height: f64) -> Self {
        Figure { columns: columns.max(1), height, panels: Vec::new() }
    }

    /// Adds a chart.
    #[must_use]
    pub fn chart(mut self, chart: Chart) -> Self {
        self.panels.push(Panel::Chart(chart));
        self
    }

    /// Adds a heat map.
    #[must_use]
    pub fn heat(mut self, map: HeatMap) -> Self {
        self.panels.push(Panel::Heat(map));
        self
    }

    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let width = (WIDTH - 2.0 * MARGIN + GAP) / self.columns as f64 - GAP;
        let rows = self.panels.len().div_ceil(self.columns);
        let legend = self.legend();
        let panels = MARGIN + rows as f64 * (self.height + GAP);
        let mut canvas = Canvas::new(WIDTH, panels + legend.len() as f64 * LEGEND + MARGIN);
        for (k, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + (k % self.columns) as f64 * (width + GAP);
            let top = MARGIN + (k / self.columns) as f64 * (self.height + GAP);
            let place = Place { left, top, width, height: self.height };
            match panel {
                Panel::Chart(chart) => chart.draw(&mut canvas, place),
                Panel::Heat(map) => map.draw(&mut canvas, place),
            }
        }
        for (line, entries) in legend.iter().enumerate() {
            let whole: f64 = entries.iter().map(|series| entry_width(series)).sum();
            let mut x = (WIDTH - whole) / 2.0;
            let y = panels + (line as f64 + 0.5) * LEGEND;
            for series in entries {
                series.style.draw(&mut canvas, &[(x, y), (x + 28.0, y)], &[(x + 14.0, y)]);
                canvas.text((x + 34.0, y + 4.5), LEGEND_TEXT, Anchor::Start, &series.name);
                x += entry_width(series);
            }
        }
        canvas.finish()
    }

    /// The series of all charts, each name once, in lines that fit.
    fn legend(&self) -> Vec<Vec<&Series>> {
        let mut all: Vec<&Series> = Vec::new();
        for panel in &self.panels {
            let Panel::Chart(chart) = panel else { continue };
            for series in &chart.series {
                if !series.name.is_empty() && all.iter().all(|known| known.name != series.name) {
                    all.push(series);
                }
            }
        }
        let mut lines: Vec<Vec<&Series>> = Vec::new();
        let room = WIDTH - 2.0 * MARGIN;
        let mut used = room;
        for series in all {
            let width = entry_width(series);
            if used + width > room {
                lines.push(Vec::new());
                used = 0.0;
            }
            used += width;
            lines.last_mut().expect("a line was begun").push(series);
        }
        lines
    }
}

fn entry_width(series: &Series) -> f64 {
    34.0 + canvas::text_width(LEGEND_TEXT, &series.name) + 26.0
}

/// Where a panel goes.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// Renders an SVG at twice its size; `name` is for the error.
pub fn png(name: &str, svg: &str) -> Result<Vec<u8>, Error> {
    canvas::render(svg, 2.0).map_err(|reason| Error::Figure { name: name.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_names_each_series_once_and_renders() {
        let chart = |title: &str| {
            let x = Axis::linear("tokens").range(0.0, 10.0);
            let points = vec![(1.0, 0.5), (4.0, 0.9)];
            let style = Style::new(0).mark(Mark::Circle);
            Chart::new(title, x, Axis::linear("recall")).series(Series::new("a < b", style, points))
        };
        let figure = Figure::new(2, 200.0).chart(chart("one")).chart(chart("two"));
        let svg = figure.svg();
        assert_eq!(svg.matches("a &lt; b").count(), 1, "{svg}");
        let png = png("test", &svg).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        // 960 wide at twice the size, in the header's big-endian bytes.
        assert_eq!(png[16..20], 1920u32.to_be_bytes());
        assert!(super::png("test", "<svg").is_err());
    }
}
