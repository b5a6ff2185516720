//! Errors: what the crates below refuse, as Python's exceptions, in the same words but for the advice.

use memo_store::Error;
use memo_text::{CorpusError, CorpusErrorKind};
use pyo3::exceptions::{
    PyException, PyFileExistsError, PyFileNotFoundError, PyLookupError, PyOSError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::fmt::Display;

/// What kind of refusal it is: each is an exception of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    NotAModel,
    Exists,
    Busy,
    Damaged,
    NotFound,
    State,
    Rollback,
    Merge,
    Edit,
    Invalid,
    ReadOnly,
    Storage,
}

use Kind::{
    Busy, Damaged, Edit, Exists, Invalid, Merge, NotAModel, NotFound, ReadOnly, Rollback, State,
    Storage,
};

/// In the order of [`Kind`].
const NAMES: [(Kind, &str, &str); 12] = [
    (NotAModel, "NotAModelError", "A directory that is not a model, or is not there."),
    (Exists, "ExistsError", "A model would be made where something is already."),
    (Busy, "BusyError", "Another process is writing the model."),
    (Damaged, "DamagedError", "A file does not hold what it should."),
    (
        NotFound,
        "NotFoundError",
        "A document, transaction, text or class that the model does not have.",
    ),
    (State, "StateError", "A change that makes no sense for the document as it is."),
    (Rollback, "RollbackError", "A transaction that cannot be rolled back."),
    (Merge, "MergeError", "Models that cannot be merged."),
    (Edit, "EditError", "An edit that no allowed weight makes win."),
    (Invalid, "InvalidError", "An argument that makes no sense."),
    (
        ReadOnly,
        "ReadOnlyError",
        "Something that a model cannot do that is open for reading, or frozen.",
    ),
    (Storage, "StorageError", "A file that could not be read or written."),
];

/// The exceptions, the base last.
static TYPES: PyOnceLock<Vec<Py<PyType>>> = PyOnceLock::new();

fn types(py: Python<'_>) -> PyResult<&Vec<Py<PyType>>> {
    TYPES.get_or_try_init(py, || {
        // As `class name(*bases)` makes it: Rust's own way knows a single base only.
        let class = |name: &str, bases: Bound<'_, PyTuple>, doc: &str| -> PyResult<Py<PyType>> {
            let body = PyDict::new(py);
            body.set_item("__module__", "memo_lm")?;
            body.set_item("__doc__", doc)?;
            let class = py.get_type::<PyType>().call1((name, bases, body))?;
            Ok(class.cast_into::<PyType>()?.unbind())
        };
        let doc = "Something that a model refused. Nothing has changed, unless it says so.";
        let base = PyTuple::new(py, [py.get_type::<PyException>()])?;
        let base = class("MemoError", base, doc)?;
        let mut types = Vec::new();
        for (kind, name, doc) in NAMES {
            // What Python's own code catches, where there is such a thing.
            let builtin = match kind {
                NotAModel => Some(py.get_type::<PyFileNotFoundError>()),
                Exists => Some(py.get_type::<PyFileExistsError>()),
                NotFound => Some(py.get_type::<PyLookupError>()),
                Invalid => Some(py.get_type::<PyValueError>()),
                Storage => Some(py.get_type::<PyOSError>()),
                _ => None,
            };
            let bases: Vec<_> =
                [Some(base.bind(py).clone()), builtin].into_iter().flatten().collect();
            types.push(class(name, PyTuple::new(py, bases)?, doc)?);
        }
        types.push(base);
        Ok(types)
    })
}

/// Adds all exceptions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for exception in types(module.py())? {
        let exception = exception.bind(module.py());
        module.add(exception.name()?, exception)?;
    }
    Ok(())
}

/// A refusal on its way to Python.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) kind: Kind,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(kind: Kind, message: impl Display) -> Self {
        Refusal { kind, message: message.to_string() }
    }

    /// An argument that makes no sense.
    pub(crate) fn invalid(message: impl Display) -> Self {
        Self::new(Invalid, message)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotAModel { .. } => NotAModel,
            Error::Exists { .. } => Exists,
            Error::Busy { .. } | Error::Reading { .. } => Busy,
            Error::Damaged { .. }
            | Error::Format { .. }
            | Error::Memory(memo::sparse::Error::Storage(_)) => Damaged,
            Error::NoDocument(_)
            | Error::NoTransaction(_)
            | Error::NotFound
            | Error::NoneFits
            | Error::NoClass(_)
            | Error::NoLexicon => NotFound,
            Error::State { .. } => State,
            Error::Rollback { .. } => Rollback,
            Error::Merge(_) | Error::Conflict(_) => Merge,
            Error::EditFails(_) => Edit,
            Error::Frozen { .. } | Error::NoTexts { .. } => ReadOnly,
            Error::Io { .. }
            | Error::Ledger { .. }
            | Error::NoRoom { .. }
            | Error::Pending { .. } => Storage,
            _ => Invalid,
        };
        let more = match &error {
            Error::Busy { .. } => "; Memo.open(path, read_only=True) reads beside it",
            Error::Frozen { .. } => "; Memo.open(path, read_only=True) reads it",
            _ => "",
        };
        let message = match &error {
            // What cannot be opened cannot be asked to rebuild itself.
            Error::Damaged { .. } => {
                error.to_string().replace("`memo rebuild`", "`Memo.open(path, rebuild=True)`")
            }
            _ => error.to_string(),
        };
        Refusal::new(kind, advice(&message) + more)
    }
}

/// A message of the crates below with advice for Python: where the command line has `memo docs`, `Memo.docs`.
pub(crate) fn advice(message: &str) -> String {
    let message = message.replace("`memo forget MODEL --finish`", "`Memo.open`");
    let message = message.replace("`memo rebuild --lexicon FILE`", "`Memo.rebuild(lexicon=…)`");
    message.replace("`memo init`", "`Memo.create`").replace("`memo ", "`Memo.")
}

impl From<memo::sparse::Error> for Refusal {
    fn from(error: memo::sparse::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<memo_text::TokenizerError> for Refusal {
    fn from(error: memo_text::TokenizerError) -> Self {
        Error::from(error).into()
    }
}

impl From<CorpusError> for Refusal {
    fn from(error: CorpusError) -> Self {
        let kind = match error.kind {
            CorpusErrorKind::Io(_) => Kind::Storage,
            CorpusErrorKind::Duplicate { .. } => Kind::State,
            _ => Kind::Invalid,
        };
        Refusal::new(kind, advice(&error.to_string()))
    }
}

impl From<memo::Error> for Refusal {
    fn from(error: memo::Error) -> Self {
        Refusal::invalid(error)
    }
}

impl From<memo::ConfigError> for Refusal {
    fn from(error: memo::ConfigError) -> Self {
        Refusal::invalid(error)
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Refusal::invalid(error)
    }
}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> Self {
        Python::attach(|py| match types(py) {
            Ok(types) => {
                let exception = types[refusal.kind as usize].bind(py).clone();
                PyErr::from_type(exception, refusal.message)
            }
            Err(error) => error,
        })
    }
}
