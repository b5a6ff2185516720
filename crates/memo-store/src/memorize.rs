//! Documents come, get new versions, are retired and come back.

use crate::error::Error;
use crate::files;
use crate::ledger::Content;
use crate::record::{Document, Kind, Place, Role, Transaction, Version};
use crate::store::Store;
use crate::transact::Change;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// A document to memorize.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewDocument {
    pub(crate) id: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) text: Option<String>,
    pub(crate) tokens: Vec<u32>,
}

impl NewDocument {
    /// A document with this text.
    pub fn text(text: impl Into<String>) -> Self {
        NewDocument { text: Some(text.into()), ..NewDocument::default() }
    }

    /// A document with these tokens, without an end token.
    pub fn tokens(tokens: Vec<u32>) -> Self {
        NewDocument { tokens, ..NewDocument::default() }
    }

    /// Gives it an id. Without one, it gets one from its content.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        NewDocument { id: Some(id.into()), ..self }
    }

    /// Gives it a label.
    #[must_use]
    pub fn with_label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }
}

/// What came of memorizing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memorized {
    /// The transaction; `None` if nothing had to change.
    pub transaction: Option<u64>,
    /// Documents that are new.
    pub added: Vec<String>,
    /// Documents that got a new version.
    pub updated: Vec<String>,
    /// Documents that were here with the same content.
    pub unchanged: Vec<String>,
    /// Tokens that were memorized.
    pub tokens: u64,
}

impl Store {
    /// Memorizes documents in one transaction: all of them or, if one is refused, none.
    ///
    /// A known id with the same content changes nothing; with another content it makes a new version, and the old one
    /// leaves the memory. A retired or rolled-back document comes back with what is given.
    pub fn memorize(
        &mut self,
        documents: impl IntoIterator<Item = NewDocument>,
        reason: Option<&str>,
    ) -> Result<Memorized, Error> {
        let mut contents = Vec::new();
        for NewDocument { id, labels, text, tokens } in documents {
            let tokens = match text {
                Some(text) => self.view.tokenizer.encode(&text)?,
                None => tokens,
            };
            contents.push((id, labels, Content::text(tokens)));
        }
        self.bring(Kind::Memorize, reason, contents)
    }

    /// Brings contents in under their ids.
    pub(crate) fn bring_all(
        &mut self,
        kind: Kind,
        reason: Option<&str>,
        contents: Vec<(String, BTreeMap<String, String>, Content)>,
    ) -> Result<Memorized, Error> {
        let contents =
            contents.into_iter().map(|(id, labels, content)| (Some(id), labels, content));
        self.bring(kind, reason, contents.collect())
    }

    /// Brings contents in under the ids they were given, or ids of their own.
    fn bring(
        &mut self,
        kind: Kind,
        reason: Option<&str>,
        contents: Vec<(Option<String>, BTreeMap<String, String>, Content)>,
    ) -> Result<Memorized, Error> {
        for part in contents.iter().flat_map(|(_, _, content)| &content.parts) {
            self.view.memory.check(part)?;
        }
        let mut result = Memorized::default();
        let mut next = self.view.ledger.next_number()?;
        let mut changes: Vec<Change> = Vec::new();
        let mut seen: HashMap<String, String> = HashMap::new();
        let transaction = self.view.ledger.last()? + 1;
        for (given, labels, content) in contents {
            let digest = self.view.ledger.digest(&content);
            let id = given.unwrap_or_else(|| format!("doc-{}", &digest[..16]));
            check_id(&id)?;
            if let Some(before) = seen.insert(id.clone(), digest.clone()) {
                if before == digest {
                    continue;
                }
                let why = "was given twice with different contents".to_owned();
                return Err(Error::State { id, why });
            }
            let known = self.view.ledger.document(&id)?;
            let current = known.as_ref().and_then(current);
            let live = known.as_ref().and_then(|d| d.place).is_some_and(|place| place.live);
            if live && current.is_some_and(|version| version.digest == digest) {
                result.unchanged.push(id);
                continue;
            }
            let fresh = known.is_none();
            let mut document = known.unwrap_or_else(|| {
                next += 1;
                let labels = BTreeMap::new();
                let number = next - 1;
                Document { id: id.clone(), number, labels, versions: Vec::new(), place: None }
            });
            let before = document.place;
            result.tokens += content.tokens();
            document.labels.extend(labels);
            add_version(&mut document, &content, digest, transaction);
            if fresh {
                result.added.push(id);
            } else {
                result.updated.push(id);
            }
            changes.push(Change { document, before, content: Some(content) });
        }
        if !changes.is_empty() {
            let done = self.transact(kind, reason, changes, |_, _| Ok(()))?;
            result.transaction = Some(done.id);
        }
        Ok(result)
    }

    /// Takes a document out of the memory and keeps it in the ledger.
    pub fn retire(&mut self, id: &str, reason: Option<&str>) -> Result<Transaction, Error> {
        self.set_live(id, reason, Kind::Retire, false)
    }

    /// Brings a retired document back.
    pub fn restore(&mut self, id: &str, reason: Option<&str>) -> Result<Transaction, Error> {
        self.set_live(id, reason, Kind::Restore, true)
    }

    fn set_live(
        &mut self,
        id: &str,
        reason: Option<&str>,
        kind: Kind,
        live: bool,
    ) -> Result<Transaction, Error> {
        let mut document = self.document(id)?;
        let state = |why: &str| Error::State { id: id.to_owned(), why: why.to_owned() };
        let before = document.place.ok_or_else(|| state("is not in the model any more"))?;
        if before.live == live {
            return Err(state(if live { "is live already" } else { "is retired already" }));
        }
        document.place = Some(Place { live, ..before });
        let change = Change { document, before: Some(before), content: None };
        self.transact(kind, reason, vec![change], |_, _| Ok(()))
    }
}

/// Adds a version, which from then on counts and is live.
pub(crate) fn add_version(
    document: &mut Document,
    content: &Content,
    digest: String,
    transaction: u64,
) {
    let number = document.versions.last().map_or(1, |version| version.number + 1);
    document.versions.push(Version {
        number,
        time: files::now(),
        tokens: content.tokens(),
        digest,
        transaction,
        parts: content.parts.iter().map(|part| part.len() as u64).collect(),
        role: content.role,
        forgotten: None,
    });
    document.place = Some(Place { version: number, live: true });
}

/// The version that counts.
pub(crate) fn current(document: &Document) -> Option<&Version> {
    let place = document.place?;
    document.versions.iter().find(|version| version.number == place.version)
}

/// Refuses ids that would make trouble in listings and file names.
fn check_id(id: &str) -> Result<(), Error> {
    if id.is_empty() || id.len() > 1024 || id.chars().any(char::is_control) {
        let shown: String = id.chars().take(40).collect();
        return Err(Error::Invalid(format!(
            "{shown:?} cannot be an id: it must have 1 to 1024 bytes and no control characters"
        )));
    }
    Ok(())
}

/// A version that an edit made.
pub(crate) fn is_edit(version: &Version) -> bool {
    matches!(version.role, Role::Edit { .. })
}
