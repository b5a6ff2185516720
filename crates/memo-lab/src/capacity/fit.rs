//! The straight line through some points.

/// `y = offset + slope·x`, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) slope: f64,
    pub(super) offset: f64,
    /// R², the share of the variance that the line explains.
    pub(super) explained: f64,
}

/// The line with the least squared errors; needs two different x.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| f(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|a, _| a * a), sum(&|a, b| a * b), sum(&|_, b| b * b));
    if points.len() < 2 || xx == 0.0 {
        return None;
    }
    let slope = xy / xx;
    let explained = if yy == 0.0 { 1.0 } else { xy * xy / (xx * yy) };
    Some(Fit { slope, offset: y - slope * x, explained })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_give_the_known_line() {
        let exact = fit(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).unwrap();
        assert_eq!((exact.slope, exact.offset, exact.explained), (2.0, 3.0, 1.0));
        // Worked by hand: means 2.5 and 2.5; Σxy = 4, Σxx = 5, Σyy = 5.
        let rough = fit(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)]).unwrap();
        assert!((rough.slope - 0.8).abs() < 1e-12 && (rough.offset - 0.5).abs() < 1e-12);
        assert!((rough.explained - 0.64).abs() < 1e-12);
        assert_eq!(fit(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }
}
