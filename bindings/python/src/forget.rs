//! What to forget, as Python says it.

use crate::error::Refusal;
use crate::knowledge::{Pattern, pattern};
use memo_store::{DocumentFilter, Selection, Timestamp};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// What to forget, as a dict of Python, which has seen to it that one way is given.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ForgetOptions {
    ids: Option<Vec<String>>,
    text: Option<String>,
    facts: Option<Pattern>,
    labels: BTreeMap<String, String>,
    glob: Option<String>,
    older_than: Option<String>,
}

impl ForgetOptions {
    pub(crate) fn selection(self) -> Result<Selection, Refusal> {
        let ForgetOptions { ids, text, facts, labels, glob, older_than } = self;
        let before = older_than.as_deref().map(Timestamp::ago).transpose()?;
        let filter = DocumentFilter { labels, glob, before };
        Ok(match (ids, text, facts) {
            (Some(ids), _, _) => Selection::Documents(ids),
            (None, Some(text), _) => Selection::Text(text),
            (None, None, Some(facts)) => Selection::Facts(pattern(facts)),
            (None, None, None) => Selection::Filter(filter),
        })
    }
}
