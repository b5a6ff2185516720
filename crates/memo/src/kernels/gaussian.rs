//! Gaussian random numbers by Box–Muller, on basic arithmetic alone so that every CPU draws the same bits.

use super::dispatch;
use crate::random::Stream;

dispatch! {
    /// Fills `out` with N(0, scale²) values of `stream`, beginning at block `first`, four values a block.
    pub(crate) fn gaussians / gaussians_at(stream: &Stream, first: u64, scale: f32, out: &mut [f32]) = gaussians_body
}

/// Blocks computed side by side, so that the compiler can use vector instructions.
const SIDE: usize = 16;

#[inline(always)]
fn gaussians_body(stream: &Stream, first: u64, scale: f32, out: &mut [f32]) {
    for (i, chunk) in out.chunks_mut(4 * SIDE).enumerate() {
        let start = first + (i * SIDE) as u64;
        let mut words = [[0u32; SIDE]; 4];
        for k in 0..SIDE {
            let block = stream.block(start + k as u64);
            for w in 0..4 {
                words[w][k] = block[w];
            }
        }
        let mut values = [0.0f32; 4 * SIDE];
        for k in 0..SIDE {
            (values[4 * k], values[4 * k + 1]) = gaussian_pair(words[0][k], words[1][k], scale);
            (values[4 * k + 2], values[4 * k + 3]) = gaussian_pair(words[2][k], words[3][k], scale);
        }
        let n = chunk.len();
        chunk.copy_from_slice(&values[..n]);
    }
}

/// Box–Muller: radius from one word, angle from the other.
#[inline(always)]
fn gaussian_pair(radius_word: u32, angle_word: u32, scale: f32) -> (f32, f32) {
    let u = (f64::from(radius_word) + 1.0) * (1.0 / 4_294_967_296.0);
    let radius = (-2.0 * ln(u)).sqrt() * f64::from(scale);
    let (sin, cos) = sin_cos(angle_word);
    ((radius * cos) as f32, (radius * sin) as f32)
}

/// Natural logarithm of a normal positive number, to about 1e-12, by `2·artanh((m−1)/(m+1))` of the mantissa.
#[inline(always)]
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) as i32) - 1023;
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    let high = mantissa > std::f64::consts::SQRT_2;
    let m = if high { mantissa * 0.5 } else { mantissa };
    let e = f64::from(if high { exponent + 1 } else { exponent });
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let series = 1.0
        + q * (1.0 / 3.0
            + q * (1.0 / 5.0
                + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0))))));
    e * std::f64::consts::LN_2 + 2.0 * s * series
}

/// Sine and cosine of a uniformly random angle: the two high bits choose the quadrant, the others an angle in
/// [−π/4, π/4) around its axis.
#[inline(always)]
fn sin_cos(word: u32) -> (f64, f64) {
    let x = f64::from((word & 0x3FFF_FFFF) as i32 - (1 << 29))
        * (std::f64::consts::FRAC_PI_2 / 1_073_741_824.0);
    let q = x * x;
    let sin = x
        * (1.0
            - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0 * (1.0 - q / 110.0)))));
    let cos = 1.0
        - q / 2.0
            * (1.0
                - q / 12.0
                    * (1.0 - q / 30.0 * (1.0 - q / 56.0 * (1.0 - q / 90.0 * (1.0 - q / 132.0)))));
    let swap = word >> 30 & 1 == 1;
    let (s, c) = if swap { (cos, -sin) } else { (sin, cos) };
    if word >> 31 == 1 { (-s, -c) } else { (s, c) }
}

#[cfg(test)]
mod tests {
    use super::super::Path;
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn series_agree_with_libm() {
        for word in (0..=u32::MAX).step_by(65_521).chain([u32::MAX]) {
            let u = (f64::from(word) + 1.0) / 4_294_967_296.0;
            assert!((ln(u) - libm::log(u)).abs() < 1e-11 * (1.0 + libm::log(u).abs()), "ln {u}");
            let quadrant = f64::from(word >> 30);
            let inside = f64::from(word & 0x3FFF_FFFF) / 1_073_741_824.0 - 0.5;
            let angle = (quadrant + inside) * std::f64::consts::FRAC_PI_2;
            let (sin, cos) = sin_cos(word);
            assert!((sin - libm::sin(angle)).abs() < 1e-9, "sin {angle}");
            assert!((cos - libm::cos(angle)).abs() < 1e-9, "cos {angle}");
        }
    }

    #[test]
    fn every_path_draws_the_same_bits() {
        let stream = Stream::new(0x0123_4567_89AB_CDEF, Purpose::GaussianCodes, 3);
        let mut expected = vec![0.0; 1003];
        gaussians_at(Path::PORTABLE, &stream, 17, 0.25, &mut expected);
        for path in Path::available() {
            let mut got = vec![0.0; 1003];
            gaussians_at(path, &stream, 17, 0.25, &mut got);
            assert!(got.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{path:?}");
        }
    }
}
