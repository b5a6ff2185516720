//! Lexicons, as Python sees them: made of entries, read from files, or induced from texts.

use crate::error::{Kind, Refusal};
use crate::files::{storage, write_whole};
use crate::threads;
use crate::work::{detached, watched};
use memo::lexicon::{InduceError, InduceOptions, Lexicon as Inner, UnitCounts};
use memo::words::unit_hash;
use memo_text::LexiconSkipReason::OtherLanguage;
use memo_text::{LexiconError, LexiconErrorKind, LexiconOptions, read_lexicon};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// Steps of progress that inducing is divided into.
const STEPS: f64 = 1000.0;

/// Which words are alike.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Lexicon(Arc<Inner>);

/// How a lexicon is read, as keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    format: Option<String>,
    language: Option<String>,
    depths: Vec<usize>,
    levels: usize,
    on_conflict: Option<String>,
    all_senses: bool,
    inflect: bool,
    max_bytes: Option<u64>,
}

impl Options {
    fn lexicon(self) -> Result<LexiconOptions, Refusal> {
        Ok(LexiconOptions {
            format: named("format", self.format)?,
            language: self.language,
            depths: self.depths,
            levels: self.levels,
            on_conflict: named("on_conflict", self.on_conflict)?,
            all_senses: self.all_senses,
            inflect: self.inflect,
            max_bytes: self.max_bytes.unwrap_or(LexiconOptions::default().max_bytes),
        })
    }
}

fn named<T: FromStr<Err = String>>(
    name: &str,
    given: Option<String>,
) -> Result<Option<T>, Refusal> {
    let parse = |given: String| {
        given.parse().map_err(|why| Refusal::invalid(format!("{name}={given:?} {why}")))
    };
    given.map(parse).transpose()
}

impl From<Arc<Inner>> for Lexicon {
    fn from(lexicon: Arc<Inner>) -> Self {
        Lexicon(lexicon)
    }
}

impl Lexicon {
    pub(crate) fn shared(&self) -> Arc<Inner> {
        self.0.clone()
    }

    /// The levels that are asked for: one, or all.
    fn levels_of(&self, level: Option<usize>) -> Result<Range<usize>, Refusal> {
        match level {
            None => Ok(0..self.0.levels()),
            Some(level) if level < self.0.levels() => Ok(level..level + 1),
            Some(level) => {
                let why =
                    format!("there is no level {level}; this lexicon has {}", self.0.levels());
                Err(Refusal::new(Kind::NotFound, why))
            }
        }
    }
}

#[pymethods]
impl Lexicon {
    /// Of words and their classes on each level, the finest first.
    #[new]
    fn new(py: Python<'_>, entries: Vec<(String, Vec<Option<String>>)>) -> PyResult<Self> {
        detached(py, || Ok(Lexicon(Arc::new(Inner::new(entries)?))))
    }

    /// From a file of any format; and what of it is not in the lexicon: how many, why, and some of them.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        options: Options,
    ) -> PyResult<(Self, Vec<(usize, String, Vec<String>)>)> {
        let options = options.lexicon()?;
        let (lexicon, report) = detached(py, || Ok(read_lexicon(&path, &options)?))?;
        // Who chose a language knows that others are left out.
        let skipped = report.skipped.into_iter().filter(|skip| skip.reason != OtherLanguage);
        let skipped = skipped.map(|skip| (skip.count, skip.reason.to_string(), skip.examples));
        Ok((Lexicon(Arc::new(lexicon)), skipped.collect()))
    }

    /// From the bytes that `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        detached(py, || Ok(Lexicon(Arc::new(Inner::from_bytes(data)?))))
    }

    /// From texts; and the perplexity of these before the first round and after each.
    #[staticmethod]
    #[pyo3(signature = (texts, classes, min_count, rounds, progress=None))]
    fn induce(
        py: Python<'_>,
        texts: Vec<String>,
        classes: usize,
        min_count: u32,
        rounds: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, Vec<f64>)> {
        let options = InduceOptions { classes, min_count, rounds };
        let induced = watched(py, progress, |watch| {
            let whole = texts.iter().map(String::len).sum();
            let (mut counts, mut read) = (UnitCounts::default(), 0);
            for text in &texts {
                watch.at("counting", read, whole)?;
                counts.add(text);
                read += text.len();
            }
            let mut told =
                |done: f64| watch.tell("inducing", (STEPS * done) as usize, STEPS as usize);
            threads::on(0, || Ok(counts.induce(&options, &mut told)?))
        })?;
        Ok((Lexicon(Arc::new(induced.lexicon)), induced.perplexities))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Writes the canonical form: the whole of it, or nothing.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = |mut file: &File| file.write_all(&self.0.to_bytes()).map_err(storage(&path));
        detached(py, || write_whole(&path, write))
    }

    #[getter]
    fn digest(&self) -> String {
        memo::sparse::LexiconSettings::of(&self.0).digest
    }

    #[getter]
    fn levels(&self) -> usize {
        self.0.levels()
    }

    /// How many texts it was induced from.
    #[getter]
    fn sources(&self) -> usize {
        self.0.sources().len()
    }

    /// Whether it was induced from a text, among others.
    fn is_from(&self, text: &str) -> bool {
        self.0.is_from(text.as_bytes())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, word: &str) -> bool {
        unit_hash(word).is_some_and(|unit| self.0.has(unit))
    }

    /// The classes of a word, level by level; nothing if it has none at all.
    fn classes(&self, word: &str) -> Vec<Option<String>> {
        let Some(unit) = unit_hash(word).filter(|&unit| self.0.has(unit)) else {
            return Vec::new();
        };
        let name = |level| Some(self.0.name(level, self.0.class(level, unit)?).to_owned());
        (0..self.0.levels()).map(name).collect()
    }

    /// The words of a class, on a level or on the first that has one of that name.
    #[pyo3(signature = (name, level=None))]
    fn members(&self, name: &str, level: Option<usize>) -> PyResult<Vec<String>> {
        let mut levels = self.levels_of(level)?;
        let found = levels.find_map(|level| Some((level, self.0.find(level, name)?)));
        let (level, class) = found.ok_or_else(|| {
            Refusal::new(Kind::NotFound, format!("the lexicon has no class {name:?}"))
        })?;
        Ok(self.0.members(level, class).map(str::to_owned).collect())
    }

    /// The names of the classes of a level.
    fn names(&self, level: usize) -> PyResult<Vec<String>> {
        let level = self.levels_of(Some(level))?.start;
        let classes = 0..self.0.classes(level) as u32;
        Ok(classes.map(|class| self.0.name(level, class).to_owned()).collect())
    }

    /// All words in normal form, in order.
    fn words(&self) -> Vec<String> {
        self.0.entries().map(|(word, _)| word.to_owned()).collect()
    }
}

impl From<memo::lexicon::Error> for Refusal {
    fn from(error: memo::lexicon::Error) -> Self {
        Refusal::invalid(error)
    }
}

impl From<LexiconError> for Refusal {
    fn from(error: LexiconError) -> Self {
        let kind = match &*error.kind {
            LexiconErrorKind::Io(_) => Kind::Storage,
            _ => Kind::Invalid,
        };
        let advice = error.to_string().replace(
            "choose a rule with --on-conflict first or drop",
            "choose a rule with on_conflict=\"first\" or \"drop\"",
        );
        Refusal::new(kind, advice)
    }
}

impl From<InduceError> for Refusal {
    fn from(error: InduceError) -> Self {
        match error {
            InduceError::Stopped => memo_store::Error::Stopped.into(),
            error => Refusal::invalid(error),
        }
    }
}
