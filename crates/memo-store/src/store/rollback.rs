//! Rollback: a transaction is undone by the inverse that it recorded.

use super::Store;
use super::transaction::ChangeReport;
use crate::error::Error;
use crate::record::{OpRecord, TransactionKind, TransactionRecord};

impl Store {
    /// Undoes a transaction, if no later one depends on it.
    pub fn rollback(&mut self, id: u64, reason: Option<&str>) -> Result<ChangeReport, Error> {
        let mut undone = self.ledger()?.transaction(id)?;
        let refuse = |why: String| Err(Error::Rollback { transaction: id, why });
        if undone.kind == TransactionKind::Forget {
            let why = "what was forgotten is gone; an inverse would have been the text itself";
            return refuse(why.to_owned());
        }
        if let Some(by) = undone.undone_by {
            return refuse(format!("transaction {by} has rolled it back already"));
        }
        let mut change = self.begin(TransactionKind::Rollback, reason)?;
        for op in undone.ops.iter().rev().map(OpRecord::inverse) {
            let document = self.record(&op.document)?;
            if document.place != op.before {
                return refuse(self.dependents(id, &op)?);
            }
            let back = op.after.and_then(|place| document.version(place.version));
            if let Some(by) = back.and_then(|version| version.forgotten) {
                return refuse(format!(
                    "the earlier text of document {:?} was forgotten in transaction {by}",
                    op.document
                ));
            }
            change.move_to(document, op.after);
        }
        change.undoes = Some(id);
        undone.undone_by = Some(change.id);
        // Undoing a rollback brings back what it undid.
        if let Some(again) = undone.undoes {
            let again = self.ledger()?.transaction(again)?;
            change.earlier.push(TransactionRecord { undone_by: None, ..again });
        }
        change.earlier.push(undone);
        self.commit(&change)?;
        self.report(&change)
    }

    /// Which later transactions keep a document from going back.
    fn dependents(&self, id: u64, op: &OpRecord) -> Result<String, Error> {
        let touches = |t: &TransactionRecord| t.ops.iter().any(|o| o.number == op.number);
        let later = self.ledger()?.transactions(id)?.into_iter();
        let later: Vec<TransactionRecord> =
            later.filter(|t| t.undone_by.is_none() && touches(t)).collect();
        if let Some(forget) = later.iter().find(|t| t.kind == TransactionKind::Forget) {
            return Ok(format!(
                "transaction {} has forgotten document {:?}, or part of it, for good",
                forget.id, op.document
            ));
        }
        let later: Vec<String> = later.iter().map(|t| t.id.to_string()).collect();
        Ok(format!(
            "document {:?} was changed since, by transaction {}; roll that back first",
            op.document,
            later.join(", ")
        ))
    }
}
