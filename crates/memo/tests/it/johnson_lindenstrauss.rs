//! Distances survive both transforms as the Johnson–Lindenstrauss lemma says.

use memo::capacity;
use memo::random::{Purpose, Stream};
use memo::transform::{FastTransform, GaussianTransform, Transform};
use proptest::prelude::*;

/// Pairs among `points` whose squared distance changes by more than a share of ϵ.
fn violations(transform: &dyn Transform, points: &[Vec<f32>], epsilon: f64) -> usize {
    let mapped: Vec<Vec<f32>> = points.iter().map(|p| transform.apply(p)).collect();
    let distance = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(x, y)| f64::from(x - y).powi(2)).sum()
    };
    let mut count = 0;
    for i in 0..points.len() {
        for j in 0..i {
            let ratio = distance(&mapped[i], &mapped[j]) / distance(&points[i], &points[j]);
            count += usize::from((ratio - 1.0).abs() > epsilon);
        }
    }
    count
}

/// Points of very different kinds: spread out, almost along one axis, and rows of a Walsh matrix.
fn points(kind: u8, count: usize, dim: usize, seed: u64) -> Vec<Vec<f32>> {
    (0..count)
        .map(|i| {
            let mut x = vec![0.0; dim];
            match kind {
                0 => Stream::new(seed, Purpose::Sampling, i as u32).gaussians(0, 1.0, &mut x),
                1 => x[i * 7 % dim] = 1.0 + i as f32,
                _ => (0..dim).for_each(|k| x[k] = 1.0 - 2.0 * ((i & k).count_ones() % 2) as f32),
            }
            x
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn distances_are_kept(
        kind in 0..3u8,
        seed in any::<u64>(),
        epsilon in prop_oneof![Just(0.3), Just(0.5), Just(0.8)],
    ) {
        let (count, input) = (40, 1500);
        // The lemma's own dimension for this many points. It bounds a pair's chance to be violated by 2/m², so at
        // most one violation is expected among the m²/2 pairs; eight would be a wonder. Coordinates spread by signs and
        // a Walsh–Hadamard transform do as well as Gaussian ones.
        let output = capacity::dimension(count as f64, 2.0 * epsilon);
        let points = points(kind, count, input, seed);
        let gaussian = violations(&GaussianTransform::new(input, output, seed, 0), &points, epsilon);
        prop_assert!(gaussian < 8, "{gaussian} pairs");
        let fast = violations(&FastTransform::new(input, output, seed, 0), &points, epsilon);
        prop_assert!(fast < 8, "{fast} pairs");
    }
}
