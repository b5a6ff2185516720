//! Johnson–Lindenstrauss transforms: linear maps into a smaller space that nearly keep distances (paper, section 2).
//!
//! [`GaussianTransform`] multiplies by a matrix of independent Gaussians, as in the paper. [`FastTransform`] does
//! with sign flips, one fast Walsh–Hadamard transform and a random choice of its outputs what the matrix does with m·k
//! multiplications.
//!
//! ```
//! use memo::transform::{FastTransform, Transform};
//! let t = FastTransform::new(1024, 256, 42, 0);
//! let x = vec![1.0 / 32.0; 1024]; // a vector of norm 1
//! let y = t.apply(&x);
//! let norm: f32 = y.iter().map(|v| v * v).sum();
//! assert_eq!(y.len(), 256);
//! assert!((norm - 1.0).abs() < 0.5);
//! ```

mod fast;
mod gaussian;

pub use self::fast::FastTransform;
pub(crate) use self::fast::signed_permutation;
pub use self::gaussian::GaussianTransform;

/// A linear map that keeps the expected squared length of every vector, times [`scale`](Transform::scale)².
pub trait Transform: std::fmt::Debug + Send + Sync {
    /// The dimension k of the space it maps from.
    fn input_dim(&self) -> usize;

    /// The dimension m of the space it maps to.
    fn output_dim(&self) -> usize;

    /// The factor by which lengths are multiplied.
    fn scale(&self) -> f32;

    /// Maps the rows of `x` (k values each) to the rows of `out` (m values each).
    fn apply_rows(&self, x: &[f32], out: &mut [f32]);

    /// Bytes held in memory.
    fn bytes(&self) -> usize;

    /// Its matrix, row by row, if that is stored.
    fn stored(&self) -> Option<&[f32]> {
        None
    }

    /// Maps one vector.
    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.output_dim()];
        self.apply_rows(x, &mut out);
        out
    }
}
