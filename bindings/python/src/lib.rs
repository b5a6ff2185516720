//! The compiled part of the Python package `memo_lm`. Thin: types are converted, the GIL is released, Ctrl-C is heard;
//! everything else is in the crates below or in Python above. `_memo.pyi` says what there is.

// Functions that Python calls take what Python gives: by value, and as tuples of arrays.
#![allow(clippy::needless_pass_by_value, clippy::type_complexity)]

mod complete;
mod convert;
mod dense;
mod error;
mod files;
mod follow;
mod forget;
mod knowledge;
mod lexicon;
mod memo;
mod model;
mod options;
mod read;
mod score;
mod shard;
mod threads;
mod tokenizer;
mod unlearning;
mod weight;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _memo {
    #[pymodule_export]
    use crate::complete::CompletionStream;
    #[pymodule_export]
    use crate::dense::{DenseMemo, Oracle, SingleMemory};
    #[pymodule_export]
    use crate::follow::Follower;
    #[pymodule_export]
    use crate::lexicon::Lexicon;
    #[pymodule_export]
    use crate::memo::Memo;
    #[pymodule_export]
    use crate::read::Corpus;
    #[pymodule_export]
    use crate::shard::{Shard, ShardReader, combine};
    #[pymodule_export]
    use crate::tokenizer::Tokenizer;
    #[pymodule_export]
    use crate::unlearning::forgetting;
    #[pymodule_export]
    use crate::weight::{auto, weights};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::threads::imported();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("FILE_LABEL", memo_store::FILE_LABEL)?;
        crate::error::add_to(module)
    }
}
