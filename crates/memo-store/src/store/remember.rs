//! Remembering: a text that is worth keeping, and is kept once.
//!
//! Memories that programs collect fill with duplicates and with texts that say nothing. So what stands in a live document already, alone
//! or as part of it, is not memorized again, and what is too short to be understood later, or too long to be one memory, is refused.

use super::{NewDocument, Store};
use crate::error::Error;
use crate::snapshot::Snapshot;
use memo::sparse::Context;
use serde::Serialize;
use std::collections::BTreeMap;

/// The label of a document that says where its text comes from.
pub const SOURCE_LABEL: &str = "source";

/// The fewest bytes of letters and digits: two words of English, four characters of Chinese.
const LEAST: usize = 12;

/// The most bytes of a text: some ten thousand words.
const MOST: usize = 1 << 16;

/// The most places that a report names.
const NAMED: usize = 5;

/// The longest contexts, in tokens, that a text's tokens are looked up with before documents are searched.
const CONTEXT: u32 = 8;

/// The most tokens of a text that are looked up before documents are searched.
const LOOKED_UP: usize = 64;

/// What remembering did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RememberReport {
    /// Whether the text is new.
    pub outcome: RememberOutcome,
    /// The document that has it.
    pub document: String,
    /// The transaction; none if nothing had to change.
    pub transaction: Option<u64>,
    /// Tokens that were memorized.
    pub tokens: u64,
    /// Where it was known already: up to five places in live documents.
    pub known: Vec<KnownPlace>,
}

/// Whether a text is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum RememberOutcome {
    /// It is, and is memorized now.
    #[serde(rename = "remembered")]
    Remembered,
    /// It is not, and nothing has changed.
    #[serde(rename = "already known")]
    Known,
}

/// A place where a text stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KnownPlace {
    /// The document.
    pub document: String,
    /// The line that it begins in, from 1.
    pub line: u64,
}

impl Store {
    /// Memorizes a text under an id of its content, unless a live document contains it already. Space around it does not count.
    ///
    /// ```
    /// # use memo_store::{NewModel, RememberOutcome, Store};
    /// # let home = tempfile::tempdir()?;
    /// # let mut store = Store::create(&home.path().join("notes.memo"), &NewModel::default())?;
    /// let text = "Marta keeps the spare key under the blue stone.";
    /// assert_eq!(store.remember(text, [], None)?.outcome, RememberOutcome::Remembered);
    /// assert_eq!(store.remember(text, [], None)?.outcome, RememberOutcome::Known);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remember(
        &mut self,
        text: &str,
        labels: impl IntoIterator<Item = (String, String)>,
        reason: Option<&str>,
    ) -> Result<RememberReport, Error> {
        let text = worth_keeping(text)?;
        let known = self.places_of(text)?;
        if let Some(first) = known.first() {
            let (outcome, document) = (RememberOutcome::Known, first.document.clone());
            return Ok(RememberReport { outcome, document, transaction: None, tokens: 0, known });
        }
        let labels: BTreeMap<_, _> = labels.into_iter().collect();
        let document = NewDocument { labels, ..NewDocument::text(text) };
        let report = self.memorize([document], reason)?;
        let outcome = match report.transaction {
            Some(_) => RememberOutcome::Remembered,
            None => RememberOutcome::Known,
        };
        let (transaction, tokens) = (report.transaction, report.tokens);
        let mut documents = report.added.into_iter().chain(report.updated).chain(report.unchanged);
        let document = documents.next().unwrap_or_default();
        Ok(RememberReport { outcome, document, transaction, tokens, known })
    }
}

impl Snapshot {
    /// Where live documents contain a text.
    fn places_of(&self, text: &str) -> Result<Vec<KnownPlace>, Error> {
        if !self.may_contain(text)? {
            return Ok(Vec::new());
        }
        let found = self.find(text)?.documents.into_iter().filter(|found| found.live);
        let places = found.filter_map(|found| {
            Some(KnownPlace { line: found.matches.first()?.line, document: found.document })
        });
        Ok(places.take(NAMED).collect())
    }

    /// Whether the memory has seen the tokens of a text in this order, as far as short contexts tell; without that, no document that is
    /// memorized contains it, and none need be searched. The first and the last word may have other tokens within a text.
    fn may_contain(&self, text: &str) -> Result<bool, Error> {
        let ends = (text.find(char::is_whitespace), text.rfind(char::is_whitespace));
        let (Some(start), Some(end)) = ends else { return Ok(true) };
        let inner = self.tokenizer.encode(text[start..end].trim_end())?;
        let memory = self.memory()?;
        let lengths = &self.config().memory.tokens;
        for at in (1..inner.len()).rev().take(LOOKED_UP) {
            let (context, token) = (&inner[..at], inner[at]);
            let longest = lengths.iter().filter(|&&len| len <= CONTEXT.min(at as u32)).max();
            let seen = memory.evidence(context)?.into_iter().any(|evidence| {
                longest.is_none_or(|&longest| evidence.context == Context::Tokens(longest))
                    && evidence.successors.iter().any(|successor| successor.token == token)
            });
            if !seen {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A text without space around it, if it can be a memory.
fn worth_keeping(text: &str) -> Result<&str, Error> {
    let text = text.trim();
    let said: usize = text.chars().filter(|c| c.is_alphanumeric()).map(char::len_utf8).sum();
    if said == 0 {
        return Err(Error::Invalid("there is no text to remember".to_owned()));
    }
    if said < LEAST {
        return Err(Error::Invalid(format!(
            "{text:?} is too short to be understood later; say it in a whole sentence that names what it is about"
        )));
    }
    if text.len() > MOST {
        return Err(Error::Invalid(format!(
            "the text has {} bytes, and one memory has at most {MOST}; remember the facts in it one by one, or memorize it as a \
             document with `memo memorize`",
            text.len()
        )));
    }
    Ok(text)
}
