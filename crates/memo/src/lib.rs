//! # MeMo: a language model that is a memory
//!
//! MeMo memorizes text in one pass, without gradient descent, in layers of correlation matrix memories. It predicts the
//! next token by reading them, can show which memories made it say so, and forgets a text by subtracting it. The idea
//! is that of Zanzotto and others, *MeMo: Towards Language Models with Associative Memory Mechanisms*; this crate is
//! their model as a library that runs on any CPU. What follows is a short course on it.
//!
//! ## 1. Tokens are random vectors
//!
//! In a space of d dimensions there is room for far more than d vectors that are *nearly* orthogonal. Give every token
//! such a vector, its code, and a bag of tokens can be kept as one vector, the sum of their codes: its product with a
//! code counts how often that token is in the bag. [`codes`] has two kinds, Gaussian and Hadamard; [`capacity`] says
//! how many fit, and [`codes::orthogonality`] measures it.
//!
//! ```
//! use memo::codes::{CodeKind, TokenCodes};
//! let codes = TokenCodes::new(CodeKind::Hadamard, 50_000, 1024, 42)?;
//! let bag = codes.bag(&[7, 7, 7, 1234]);
//! assert_eq!(codes.count(&bag, 7).round(), 3.0);
//! assert_eq!(codes.count(&bag, 8).round(), 0.0);
//! # Ok::<(), memo::ConfigError>(())
//! ```
//!
//! ## 2. A matrix remembers pairs
//!
//! The sum `C = Σ k·vᵀ` of outer products of keys and values is a memory: `kᵀC ≈ v`, because the other keys are nearly
//! orthogonal to k. The rest is noise of size √(pairs/cells). See [`dense::CorrelationMemory`].
//!
//! ## 3. A language model is a memory of what follows what
//!
//! Take windows of h tokens as keys, each token of a window mapped to its own d/h dimensions by a
//! [Johnson–Lindenstrauss transform](transform), and the tokens that follow as values: section 3.1 of the paper,
//! [`dense::SingleMemory`]. Two windows that share k of h tokens have keys with product k/h, so windows that were never
//! seen are answered by those that resemble them.
//!
//! ```
//! use memo::dense::{SingleConfig, SingleMemory};
//! let mut memory = SingleMemory::new(SingleConfig::new(100, 2048, 4)?)?;
//! memory.memorize(&[10, 11, 12, 13, 14, 15])?;
//! assert_eq!(memory.predict(&[10, 11, 12, 13])?.token, 14);          // weight 1
//! let resembling = memory.predict(&[10, 11, 12, 99])?;
//! assert_eq!(resembling.token, 14);
//! assert!((resembling.weight - 0.75).abs() < 0.2);
//! # Ok::<(), memo::Error>(())
//! ```
//!
//! ## 4. Layers see further
//!
//! Windows can be stacked: layer i cuts a window of hⁱ tokens into h blocks, each with one code composed from its parts
//! in the layer below. All layers write what follows to the last memory, and their answers add up: section 3.2,
//! [`dense::DenseMemo`]. Forgetting subtracts what memorizing added.
//!
//! ```
//! use memo::dense::{DenseConfig, DenseMemo};
//! let mut memo = DenseMemo::new(DenseConfig::new(100, 1024, 2, 3))?; // windows of 2, 4 and 8 tokens
//! let (text, other) = ([1, 2, 3, 4, 5, 6, 7, 8, 9], [50, 51, 52, 53, 54, 55]);
//! memo.memorize(&text)?;
//! memo.memorize(&other)?;
//! assert_eq!(memo.predict(&text[..8])?.token, 9);
//!
//! let why = memo.trace(&text[..8], 1)?; // which layer says what
//! assert!(why.layers.iter().all(|layer| layer.candidates[0].token == 9));
//!
//! memo.forget(&text)?;
//! assert!(memo.weights(&text[..8])?[9].abs() < 0.5);
//! assert_eq!(memo.predict(&other[..5])?.token, 55);
//! # Ok::<(), memo::Error>(())
//! ```
//!
//! ## 5. The memory made to work on text
//!
//! On ordinary text the sum over layers fails: frequent tokens drown exact matches. [`sparse`] keeps the idea, pairs of a context
//! and the token after it that are added up, and little else: codes are so sparse that a key selects one row and a value one
//! column, so that nothing lies on top of anything. What is left are exact counts of how often each token followed each
//! context, of one token to 64, and of a few words, read by back-off instead of a sum (docs/experiments/ablation.md has what
//! each change is worth). Only what is not zero is kept, so a memory has no size.
//! [`readout`] turns what its slots remember into a probability for every token. Memorizing and forgetting are exact, which a
//! digest proves. `superposed` (with the feature of that name) lies between the two, with sparse keys and dense values, for experiments on capacity.
//!
//! ```
//! use memo::readout::{BACKOFF, Scratch};
//! use memo::sparse::{Memory, Settings};
//! let mut memory = Memory::new(Settings::new(1000, 999, 1)?)?;
//! let empty = memory.digest()?;
//! let text: Vec<u32> = (0..200).map(|k| k * k % 777).collect();
//! memory.memorize(&text)?;
//! let mut scratch = Scratch::default();
//! let next = BACKOFF.distribution(&memory, &text[..60], &mut scratch)?.best()?;
//! assert_eq!(next, text[60]);
//! memory.forget(&text)?;
//! assert_eq!(memory.digest()?, empty); // bit for bit
//! # Ok::<(), memo::sparse::Error>(())
//! ```
//!
//! ## 6. Knowing what to trust
//!
//! [`oracle::Oracle`] is the same model without vectors, exact and slow: what an engine would say without noise.
//! [`capacity`] predicts that noise, and the recall that it leaves, from the load and the number of cells; every model
//! reports it for itself, as [`dense::DenseMemo::expected_recall`]. [`measure`] and [`unlearning`] try a memory on text:
//! what it recalls, what forgetting leaves; [`metrics`] has the functions that they count with.
//!
//! ## The same everywhere
//!
//! Everything random comes from a seed by a [generator](random) whose bits are the same on every machine. Dense memories
//! are f32: equal up to rounding whatever the CPU and the number of threads. Sparse memories are integers: equal to the
//! last bit.

pub mod capacity;
pub mod codes;
pub mod dense;
mod error;
mod kernels;
pub mod lexicon;
pub mod measure;
pub mod metrics;
pub mod oracle;
pub mod random;
pub mod readout;
pub mod sparse;
#[cfg(feature = "superposed")]
pub mod superposed;
pub mod transform;
pub mod unlearning;
pub mod words;

pub use dense::Prediction;
pub use error::{ConfigError, Error};
