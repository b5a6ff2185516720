//! Heat maps: a matrix as coloured cells, blue below zero, white at zero, red above.

use super::Place;
use super::canvas::{Anchor, Canvas};

/// A matrix to be coloured.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    title: String,
    rows: Vec<String>,
    columns: Vec<String>,
    values: Vec<Vec<f32>>,
    numbers: bool,
}

impl HeatMap {
    /// A heat map of rows of values.
    pub fn new(title: &str, values: Vec<Vec<f32>>) -> Self {
        let title = title.to_owned();
        HeatMap { title, rows: Vec::new(), columns: Vec::new(), values, numbers: false }
    }

    /// Names rows and columns.
    #[must_use]
    pub fn labels(self, rows: &[String], columns: &[String]) -> Self {
        HeatMap { rows: rows.to_vec(), columns: columns.to_vec(), ..self }
    }

    /// Writes the values into their cells.
    #[must_use]
    pub fn numbers(self) -> Self {
        HeatMap { numbers: true, ..self }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, place: Place) {
        let width = |text: &String| super::canvas::text_width(11.5, text);
        let rows = self.rows.iter().map(width).fold(0.0, f64::max);
        let columns = if self.columns.is_empty() { 0.0 } else { 18.0 };
        let (left, top) = (place.left + rows + 10.0, place.top + 30.0 + columns);
        let (right, bottom) = (place.left + place.width - 6.0, place.top + place.height - SCALE);
        let across = self.values.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let size =
            ((right - left) / across as f64, (bottom - top) / self.values.len().max(1) as f64);
        canvas.bold(
            (f64::midpoint(left, right), place.top + 18.0),
            14.0,
            Anchor::Middle,
            &self.title,
        );
        let most = self.values.iter().flatten().fold(0.0f32, |most, v| most.max(v.abs()));
        for (r, row) in self.values.iter().enumerate() {
            let y = top + r as f64 * size.1;
            for (c, &value) in row.iter().enumerate() {
                let x = left + c as f64 * size.0;
                let share = if most > 0.0 { value / most } else { 0.0 };
                // A little larger than the cell, so that no seams show.
                canvas.rectangle((x, y), (size.0 + 0.3, size.1 + 0.3), &colour(share), "none");
                if self.numbers {
                    let ink = if share.abs() > 0.6 { "#ffffff" } else { "#222222" };
                    let at = (x + size.0 / 2.0, y + size.1 / 2.0 + 4.0);
                    canvas.coloured(at, 11.5, ink, &shown(value));
                }
            }
            if let Some(label) = self.rows.get(r) {
                canvas.text((left - 6.0, y + size.1 / 2.0 + 4.0), 11.5, Anchor::End, label);
            }
        }
        for (c, label) in self.columns.iter().enumerate() {
            let x = left + (c as f64 + 0.5) * size.0;
            canvas.text((x, top - 6.0), 11.5, Anchor::Middle, label);
        }
        canvas.rectangle((left, top), (right - left, bottom - top), "none", "#888888");
        let negative = self.values.iter().flatten().any(|value| *value < 0.0);
        scale(canvas, f64::midpoint(left, right), bottom + 10.0, most, negative);
    }
}

/// Room for the scale below a map.
const SCALE: f64 = 30.0;

/// What colours stand for, from 0, or the most below it, to the largest value.
fn scale(canvas: &mut Canvas, middle: f64, top: f64, most: f32, negative: bool) {
    const STEPS: i32 = 40;
    const WIDTH: f64 = 160.0;
    let (left, step) = (middle - WIDTH / 2.0, WIDTH / f64::from(STEPS));
    let least = if negative { -most } else { 0.0 };
    for k in 0..STEPS {
        let along = (2 * k + 1) as f32 / (2 * STEPS) as f32;
        let share = if negative { 2.0 * along - 1.0 } else { along };
        let x = left + f64::from(k) * step;
        canvas.rectangle((x, top), (step + 0.3, 9.0), &colour(share), "none");
    }
    canvas.rectangle((left, top), (WIDTH, 9.0), "none", "#888888");
    canvas.text((left - 6.0, top + 9.0), 11.5, Anchor::End, &shown(least));
    canvas.text((left + WIDTH + 6.0, top + 9.0), 11.5, Anchor::Start, &shown(most));
}

/// From −1 (blue) over 0 (white) to 1 (red).
fn colour(share: f32) -> String {
    let (r, g, b) = if share < 0.0 { (0x1f, 0x5f, 0xa8) } else { (0xb5, 0x2a, 0x1e) };
    let towards = |end: i32| (255.0 + (end - 255) as f32 * share.abs().min(1.0)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", towards(r), towards(g), towards(b))
}

/// Two decimals, with a real minus sign, and none before zero.
fn shown(value: f32) -> String {
    let digits = format!("{value:.2}");
    if digits == "-0.00" { "0.00".to_owned() } else { digits.replace('-', "−") }
}
