//! What to forget, as Python says it.

use crate::error::Refusal;
use memo_store::{DocumentFilter, Selection, Timestamp};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// What to forget, as a dict of Python, which has seen to it that one way is given.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ForgetOptions {
    ids: Option<Vec<String>>,
    text: Option<String>,
    labels: BTreeMap<String, String>,
    glob: Option<String>,
    older_than: Option<String>,
}

impl ForgetOptions {
    pub(crate) fn selection(self) -> Result<Selection, Refusal> {
        let ForgetOptions { ids, text, labels, glob, older_than } = self;
        let before = older_than.as_deref().map(Timestamp::ago).transpose()?;
        let filter = DocumentFilter { labels, glob, before };
        Ok(match (ids, text) {
            (Some(ids), _) => Selection::Documents(ids),
            (None, Some(text)) => Selection::Text(text),
            (None, None) => Selection::Filter(filter),
        })
    }
}
