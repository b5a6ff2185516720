//! The paper's MeMo, equation by equation, in f32.
//!
//! [`SingleMemory`] is section 3.1, [`DenseMemo`] section 3.2. In the paper's notation, with n tokens, dimension d,
//! h heads and l layers:
//!
//! | paper | here |
//! |---|---|
//! | E (n×d) | [`DenseMemo::codes`] |
//! | W_V⁽ⁱ⁾ (d → d/h) | [`DenseMemo::reduction`] |
//! | Prj⁽ⁱ⁾ (h·d → d) | [`DenseMemo::composer`] |
//! | C⁽ⁱ⁾, C⁽ˡᵃˢᵗ⁾ | [`DenseMemo::memory`] |
//! | MM_m | [`DenseMemo::memorize`] |
//! | MM_r | [`DenseMemo::retrieve`], [`DenseMemo::predict`], [`DenseMemo::weights`] |
//! | MM_f | [`DenseMemo::forget`] |
//! | Φ = D·F | [`Distiller`] |
//! | Flat, Sel | index arithmetic; [`Stride`] chooses between a window at every token and the paper's tiles |
//!
//! ## What stored recall can and cannot do
//!
//! The equations take the code of an inner sequence from the inner memory ([`Recall::Stored`]), noise and all, and the
//! next layer multiplies it with its own. This works as long as inner memories are nearly empty: with d = 1024 and three
//! layers it recalls a thousand random tokens and has collapsed at eight thousand (`cargo xtask protocol` prints the
//! numbers). [`Recall::Computed`], which the authors' figures used, takes the composition itself; then inner memories
//! are not needed, and recall follows the linear law of [`capacity`](crate::capacity).
//!
//! ## Batches
//!
//! What takes one text or context has a form that takes many and ends in `_all`; it gives the same up to rounding, and is
//! faster, as memories are read and written once for many. [`DenseMemo::predict_along`] is for every position of one text.
//! [`DenseMemo::change_all`] and [`DenseMemo::predict_in_batches`] are for callers that show progress, or may stop.
//!
//! ```
//! use memo::dense::{DenseConfig, DenseMemo};
//! let mut memo = DenseMemo::new(DenseConfig::authors(100, 1024, 2, 2))?;
//! memo.memorize_all(&[&[1, 2, 3, 4, 5], &[20, 21, 22, 23, 24]])?;
//! let contexts: [&[u32]; 2] = [&[1, 2, 3, 4], &[20, 21, 22, 23]];
//! let next = memo.predict_all(&contexts)?;
//! assert_eq!((next[0].token, next[1].token), (5, 24));
//! let weights = memo.weights_all(&contexts)?; // 100 values for each context
//! assert!(weights[5] > 1.5 && weights[100 + 24] > 1.5);
//! let along = memo.predict_along(&[20, 21, 22, 23])?; // after 20, after 20 21, and so on
//! assert_eq!(along[1..].iter().map(|next| next.token).collect::<Vec<_>>(), [22, 23, 24]);
//! memo.forget_all(&[&[1, 2, 3, 4, 5], &[20, 21, 22, 23, 24]])?;
//! assert!(memo.weights(&[1, 2, 3, 4])?[5].abs() < 0.5);
//! # Ok::<(), memo::Error>(())
//! ```
//!
//! ## Files
//!
//! [`DenseMemo::to_safetensors`] gives the bytes of a file, and [`DenseMemo::from_safetensors`] the model again, bit for bit.
//! [`DenseFile`] says what is in one, and has notes and limits.
//!
//! ## Speed
//!
//! All layers predict the same token at a position, so their keys are added and the last memory is updated and read
//! once. With Gaussian codes the rest is matrix products over batches of windows. With Hadamard codes, W_V, Prj and
//! decoding are fast Walsh–Hadamard transforms, no n×d table exists, and a large batch updates the memory by sums per
//! next token.

mod compose;
mod config;
mod distill;
mod encoder;
mod file;
mod layer;
mod memories;
mod memory;
mod model;
mod noise;
mod pass;
mod retrieve;
mod single;
mod trace;
mod update;
mod windows;

pub use self::compose::Composer;
pub use self::config::{Composition, DenseConfig, Distiller, Edges, Recall, Stride};
pub use self::file::{DenseFile, FileError, Notes};
pub use self::memories::{Change, Progress};
pub use self::memory::CorrelationMemory;
pub use self::model::DenseMemo;
pub use self::retrieve::Prediction;
pub use self::single::{SingleConfig, SingleMemory};
pub use self::trace::{BlockTrace, Candidate, LayerTrace, Trace};
