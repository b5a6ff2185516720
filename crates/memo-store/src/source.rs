//! Where documents were read.
//!
//! Ids are short: `owl.txt` of the folder `notes`. Two folders may each have one, and one must not become a version of
//! the other unnoticed. So whoever reads files labels each document with its file, and asks here before memorizing. As
//! a label, the path shows in listings, goes along with copies, and is scrubbed with the document.

use crate::error::Error;
use crate::ledger::Content;
use crate::record::DocumentRecord;
use crate::snapshot::Snapshot;
use crate::store::NewDocument;
use std::collections::HashMap;

/// The label that holds the file in which a document was read.
pub const FILE_LABEL: &str = "file";

/// A document that would replace one from another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileConflict {
    /// The id that both have.
    pub document: String,
    /// The file of the document that is live.
    pub live: String,
    /// The file of the new document.
    pub new: String,
}

impl Snapshot {
    /// The new documents whose ids are live from other files with other contents. Documents without a file, on either
    /// side, are never among them.
    pub fn file_conflicts(&self, new: &[NewDocument]) -> Result<Vec<FileConflict>, Error> {
        let ledger = self.ledger("documents")?;
        let live = ledger.documents()?.into_iter().filter(|document| document.live().is_some());
        let live: HashMap<String, DocumentRecord> = live.map(|d| (d.id.clone(), d)).collect();
        let mut conflicts = Vec::new();
        for NewDocument { id, labels, text, tokens, .. } in new {
            let Some(document) = id.as_ref().and_then(|id| live.get(id)) else { continue };
            let files = (document.labels.get(FILE_LABEL), labels.get(FILE_LABEL));
            let (Some(before), Some(after)) = files else { continue };
            if before == after {
                continue;
            }
            let tokens = match text {
                Some(text) => self.tokenizer.encode(text)?,
                None => tokens.clone(),
            };
            let digest = ledger.digest(&Content::text(tokens));
            if document.live().is_some_and(|version| version.digest != digest) {
                conflicts.push(FileConflict {
                    document: document.id.clone(),
                    live: before.clone(),
                    new: after.clone(),
                });
            }
        }
        Ok(conflicts)
    }
}
