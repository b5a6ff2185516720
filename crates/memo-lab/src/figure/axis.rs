//! Axes: from values to places on paper, and the ticks between.

use memo_terminal::output::thousands;

/// One axis of a chart: its label with the unit, its kind and its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(super) label: String,
    log: bool,
    range: Option<(f64, f64)>,
    ticks: Vec<f64>,
}

impl Axis {
    /// An axis on which equal distances are equal differences.
    pub fn linear(label: &str) -> Self {
        Axis { label: label.to_owned(), log: false, range: None, ticks: Vec::new() }
    }

    /// An axis on which equal distances are equal factors.
    pub fn log(label: &str) -> Self {
        Axis { log: true, ..Self::linear(label) }
    }

    /// Shows this range and a little around it, so that no mark touches the frame; by default it follows the points.
    #[must_use]
    pub fn range(self, from: f64, to: f64) -> Self {
        Axis { range: Some((from, to)), ..self }
    }

    /// Puts ticks at these values.
    #[must_use]
    pub fn ticks(self, ticks: &[f64]) -> Self {
        Axis { ticks: ticks.to_vec(), ..self }
    }

    /// The axis with a range and ticks that suit the values.
    pub(super) fn fitted(&self, values: impl Iterator<Item = f64>) -> Fitted {
        let fits = |x: &f64| x.is_finite() && (!self.log || *x > 0.0);
        let around = |(low, high): (f64, f64)| {
            if self.log {
                (low / (high / low).powf(0.02), high * (high / low).powf(0.02))
            } else {
                (low - (high - low) * 0.03, high + (high - low) * 0.03)
            }
        };
        let follow = || {
            let ends = values.filter(fits).fold(None, |ends: Option<(f64, f64)>, x| {
                Some(ends.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
            });
            let (low, high) = ends.unwrap_or((1.0, 10.0));
            if self.log {
                (low / 1.3, high * 1.3)
            } else {
                let room = if high > low { (high - low) * 0.04 } else { 0.5 };
                (low - room, high + room)
            }
        };
        let (low, high) = self.range.map_or_else(follow, around);
        // The room around a range does not make its steps larger.
        let (first, last) = self.range.unwrap_or((low, high));
        let ticks = match (self.ticks.is_empty(), self.log) {
            (false, _) => self.ticks.clone(),
            (true, true) => log_ticks(first, last),
            (true, false) => linear_ticks(first, last),
        };
        let inside =
            |tick: &f64| *tick >= low * (1.0 - 1e-9) - 1e-12 && *tick <= high * (1.0 + 1e-9);
        Fitted { log: self.log, low, high, ticks: ticks.into_iter().filter(inside).collect() }
    }
}

/// An axis whose range is known.
pub(super) struct Fitted {
    log: bool,
    low: f64,
    high: f64,
    pub(super) ticks: Vec<f64>,
}

impl Fitted {
    /// Where a value lies: 0 at the beginning, 1 at the end; outside is drawn at the nearer end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    /// What a tick is called.
    pub(super) fn name(&self, tick: f64) -> String {
        let exponent = tick.abs().log10();
        if self.log && tick > 0.0 && !(-2.0..5.0).contains(&exponent.round()) {
            let whole = exponent.floor();
            let factor = tick / 10f64.powf(whole);
            let power = format!("10{}", superscript(whole as i32));
            return if (factor - 1.0).abs() < 1e-6 {
                power
            } else {
                format!("{factor:.0}·{power}")
            };
        }
        if tick.abs() >= 1000.0 {
            let sign = if tick < 0.0 { "−" } else { "" };
            return format!("{sign}{}", thousands(tick.abs().round() as u64));
        }
        let digits = format!("{tick:.4}");
        digits.trim_end_matches('0').trim_end_matches('.').replace('-', "−")
    }
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(power * 10.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    let factors: &[f64] = if decades < 1.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let step = if decades > 8.0 { 2 } else { 1 };
    let powers = (first..=last).filter(|power| power % step == 0);
    powers.flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power))).collect()
}

fn superscript(n: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32('⁰' as u32 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
    };
    n.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let fitted = Axis::linear("x").fitted([0.0, 307_200.0].into_iter());
        assert_eq!(fitted.ticks, [0.0, 100_000.0, 200_000.0, 300_000.0]);
        assert_eq!(fitted.name(100_000.0), "100,000");
        let fitted = Axis::log("x").range(16_384.0, 67_108_864.0).fitted(std::iter::empty());
        assert_eq!(
            fitted.ticks.iter().map(|t| fitted.name(*t)).collect::<Vec<_>>(),
            ["10⁵", "10⁶", "10⁷"]
        );
        assert_eq!(fitted.name(2e-5), "2·10⁻⁵");
        assert!((fitted.place(1_048_576.0) - 0.5).abs() < 1e-9);
        let fitted = Axis::linear("x").range(0.0, 1.0).fitted(std::iter::empty());
        assert_eq!(fitted.ticks.len(), 6);
        assert_eq!((fitted.name(0.2), fitted.place(2.0)), ("0.2".to_owned(), 1.0));
    }
}
