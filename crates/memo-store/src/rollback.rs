//! Rollback: a transaction is undone by the inverse that it recorded.

use crate::error::Error;
use crate::forget::scrubbed;
use crate::record::{Kind, Transaction};
use crate::store::Store;
use crate::transact::Change;

impl Store {
    /// Undoes a transaction, if no later one depends on it.
    pub fn rollback(&mut self, id: u64, reason: Option<&str>) -> Result<Transaction, Error> {
        let mut undone = self.view.ledger.transaction(id)?;
        let refuse = |why: String| Err(Error::Rollback { transaction: id, why });
        if undone.kind == Kind::Forget {
            let why = "what was forgotten is gone; an inverse would have been the text itself";
            return refuse(why.to_owned());
        }
        if let Some(by) = undone.undone_by {
            return refuse(format!("transaction {by} has rolled it back already"));
        }
        let mut changes = Vec::new();
        for op in undone.ops.iter().rev().map(crate::record::Op::inverse) {
            let mut document = self.document(&op.document)?;
            if document.place != op.before {
                let touches = |t: &Transaction| t.ops.iter().any(|o| o.number == op.number);
                let later = self.view.ledger.transactions(id)?.into_iter();
                let later: Vec<Transaction> =
                    later.filter(|t| t.undone_by.is_none() && touches(t)).collect();
                if let Some(forget) = later.iter().find(|t| t.kind == Kind::Forget) {
                    return refuse(format!(
                        "transaction {} has forgotten document {:?}, or part of it, for good",
                        forget.id, op.document
                    ));
                }
                let later: Vec<String> = later.iter().map(|t| t.id.to_string()).collect();
                return refuse(format!(
                    "document {:?} was changed since, by transaction {}; roll that back first",
                    op.document,
                    later.join(", ")
                ));
            }
            if let Some(by) = scrubbed(&document, op.after) {
                return refuse(format!(
                    "the earlier text of document {:?} was forgotten in transaction {by}",
                    op.document
                ));
            }
            document.place = op.after;
            changes.push(Change { document, before: op.before, content: None });
        }
        // Undoing a rollback brings back what it undid.
        let mut again = undone.undoes.map(|id| self.view.ledger.transaction(id)).transpose()?;
        self.transact(Kind::Rollback, reason, changes, |transaction, recorded| {
            transaction.undoes = Some(id);
            undone.undone_by = Some(transaction.id);
            recorded.transactions.push(undone);
            if let Some(again) = &mut again {
                again.undone_by = None;
            }
            recorded.transactions.extend(again);
            Ok(())
        })
    }
}
