//! Appendix A: how many nearly orthogonal vectors fit, promised and measured.

mod page;

use crate::{Error, Lab, Options, Page, Setting, seconds};
use memo::capacity;
use memo::codes::orthogonality::Orthogonality;
use memo::codes::{CodeKind, TokenCodes};
use serde::{Deserialize, Serialize};

/// m codes of d dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Codes {
    kind: CodeKind,
    dim: usize,
    vectors: usize,
}

impl Setting for Codes {
    fn key(&self) -> String {
        format!("{}, d = {}, m = {}", name(self.kind), self.dim, self.vectors)
    }

    fn cost(&self) -> f64 {
        1.0 + (self.vectors * self.vectors) as f64 * (self.dim as f64 + 500.0) / 1e10
    }
}

fn name(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Gaussian => "Gaussian",
        CodeKind::Hadamard => "Hadamard",
    }
}

/// How far products of codes are from their ideal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Missed {
    /// What all pairs of different codes keep.
    all: f64,
    /// What all but the paper's share θ = 2/m² − 1/m⁴ of them keep.
    theta: f64,
    /// What 99 % keep.
    most: f64,
    /// What the squared lengths of all codes but a share 1/m² keep around 1.
    lengths: f64,
}

fn settings(options: &Options) -> Vec<Codes> {
    let (dims, most): (&[usize], u32) = if options.quick {
        (&[256, 1024, 2048], 10)
    } else {
        (&[256, 512, 1024, 2048, 4096, 8192], 13)
    };
    let mut settings = Vec::new();
    for kind in [CodeKind::Gaussian, CodeKind::Hadamard] {
        for &dim in dims {
            settings.extend((4..=most).map(|power| Codes { kind, dim, vectors: 1 << power }));
        }
    }
    settings
}

/// Runs the experiment.
pub fn run(lab: &Lab<'_>) -> Result<Page, Error> {
    let settings = settings(lab.options());
    let seed = lab.options().seed;
    let missed = lab.measure("vectors", "", &settings, |codes| measure(codes, seed))?;
    let provenance = lab.provenance(seconds(&missed));
    let missed: Vec<Missed> = missed.into_iter().map(|m| m.result).collect();
    Ok(page::page(&settings, &missed, provenance))
}

fn measure(codes: &Codes, seed: u64) -> Result<Missed, Error> {
    let Codes { kind, dim, vectors } = *codes;
    let report =
        Orthogonality::measure(&TokenCodes::new(kind, vectors, dim, seed)?, usize::MAX, seed);
    let theta = capacity::theta(vectors as f64);
    // The smallest ε, by halving, that all lengths keep but those which may miss it.
    let (mut low, mut high) = (0.0f32, 2.0f32);
    for _ in 0..30 {
        let middle = f32::midpoint(low, high);
        let kept = report.norm_theta(middle) * (vectors * vectors) as f64 <= 1.0;
        if kept { high = middle } else { low = middle }
    }
    Ok(Missed {
        all: f64::from(report.epsilon(0.0)),
        theta: f64::from(report.epsilon(theta)),
        most: f64::from(report.epsilon(0.01)),
        lengths: f64::from(high),
    })
}

/// The ε that the lemma promises m vectors of d dimensions; none below its limit of 2.
fn promised(dim: usize, vectors: usize) -> Option<f64> {
    let wanted = (vectors as f64).ln();
    let (mut low, mut high) = (0.0, 2.0);
    if capacity::ln_vectors(dim, high) < wanted {
        return None;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if capacity::ln_vectors(dim, middle) < wanted { low = middle } else { high = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_codes_keep_what_the_lemma_promises() {
        for kind in [CodeKind::Gaussian, CodeKind::Hadamard] {
            let codes = Codes { kind, dim: 512, vectors: 200 };
            let missed = measure(&codes, 3).unwrap();
            let bound = promised(512, 200).unwrap();
            assert!((capacity::vectors(512, bound) - 200.0).abs() < 1e-6);
            assert!(missed.most <= missed.theta && missed.theta <= missed.all);
            assert!(missed.all < bound / 2.0, "{missed:?} against {bound}");
            // Fewer than d Hadamard codes are orthogonal and of length 1, up to rounding.
            let exact = missed.all < 1e-6 && missed.lengths < 1e-6;
            assert_eq!(exact, kind == CodeKind::Hadamard, "{missed:?}");
        }
        assert_eq!(promised(16, 1_000_000), None);
    }
}
