//! How large a model should be.

use crate::args::model::SizeOptions;
use memo::sparse::Size;

/// The size that was asked for.
pub(super) fn asked(options: &SizeOptions) -> Option<Size> {
    // One byte a cell.
    options.memory.or(options.params).map(Size::Parameters)
}
