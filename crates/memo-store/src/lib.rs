//! The model directory: a memory that can be trusted for years.
//!
//! A model is a directory. Its *ledger* (`ledger.redb`, a transactional database) is the truth: documents with
//! their versions and tokens, and every transaction. The *memory*, cells and tables, is a sum over the documents that
//! are live; `memory.*` is a checkpoint of it, which opening completes from the ledger and which
//! [`Store::rebuild`] recreates bit for bit.
//!
//! - What is acknowledged survives a kill at any instant; anything else is whole or absent.
//! - Every change is a transaction with a recorded inverse, so it can be rolled back, except forgetting.
//! - Forgetting subtracts a text from the memory exactly, and then copies the ledger without it, so that no byte of
//!   the text is left in the directory. Opening finishes a forget that was interrupted.
//! - One writer at a time, and any number of readers, which never wait for it.
//!
//! ```
//! use memo_store::{NewDocument, NewModel, Store};
//!
//! let home = tempfile::tempdir()?;
//! let mut store = Store::create(&home.path().join("notes.memo"), &NewModel::default())?;
//! let text = "The owl reads at night. The cat sleeps.";
//! store.memorize([NewDocument::text(text).with_id("note")], None)?;
//! assert_eq!(store.complete("The owl reads", 3)?, " at night.");
//! let receipt = store.forget_document("note", None)?;
//! assert_eq!(receipt.documents, ["note"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod checkpoint;
mod copies;
mod damage;
mod edit;
mod engine;
mod error;
mod explain;
mod export;
mod files;
mod find;
mod forget;
mod freeze;
mod ledger;
mod lock;
mod mapped;
mod memorize;
mod merge;
mod model;
mod moves;
mod packed;
mod reader;
mod record;
mod rollback;
mod source;
mod stats;
mod store;
mod transact;
mod verify;
mod view;
mod watch;

pub use self::damage::Damage;
pub use self::edit::Edited;
pub use self::engine::Engine;
pub use self::error::Error;
pub use self::explain::{Candidate, Excerpt, Explanation, Heard, Origin, Spoke};
pub use self::files::utc;
pub use self::find::Found;
pub use self::forget::Receipt;
pub use self::freeze::Frozen;
pub use self::memorize::{Memorized, NewDocument};
pub use self::merge::{Conflict, Merged};
pub use self::model::{Model, NewModel, Sizes};
pub use self::reader::Reader;
pub use self::record::{
    Copy, CopyKind, Document, Forgotten, Kind, Op, Place, Role, Transaction, Version,
};
pub use self::source::{FILE_LABEL, FileConflict};
pub use self::stats::{Fill, Overfull, Stats, fitting};
pub use self::store::Store;
pub use self::verify::Verified;
pub use self::view::View;
pub use self::watch::Step;
