//! What can go wrong in an experiment: only what its engine refuses.

use thiserror::Error;

/// An experiment that could not be run.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The sparse engine refused.
    #[error(transparent)]
    Sparse(#[from] memo::sparse::Error),
    /// The dense engine refused.
    #[error(transparent)]
    Dense(#[from] memo::Error),
}
