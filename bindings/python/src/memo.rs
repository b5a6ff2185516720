//! A model directory, as Python sees it.

use crate::convert::{TokenArray, Tokens, json, tokens};
use crate::error::{Kind, Refusal};
use crate::generate::{Generation, Speaker, say};
use crate::options::{Options, size};
use crate::work::{Watch, watched};
use memo::readout::{Backoff, Choice, ReadOut, Scratch, look_at, look_at_all, score_at};
use memo::sparse::Memory;
use memo_store::{Conflict, Engine, Error, Model as About, NewDocument, Reader, Store};
use memo_text::Tokenizer;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Positions that are read before Ctrl-C is heard.
const SLICE: usize = 2048;

/// A model, open for writing or for reading.
pub(crate) enum Model {
    Store(Box<Store>),
    Reader(Box<Reader>),
}

impl Model {
    pub(crate) fn memory(&self) -> &Engine {
        match self {
            Model::Store(store) => store.memory(),
            Model::Reader(reader) => reader.memory(),
        }
    }

    fn about(&self) -> &About {
        match self {
            Model::Store(store) => store.model(),
            Model::Reader(reader) => reader.model(),
        }
    }

    fn sparse(&self, what: &'static str) -> Result<&Memory, Refusal> {
        Ok(self.memory().sparse().ok_or(Error::Engine(what))?)
    }

    fn store(&self) -> Result<&Store, Refusal> {
        match self {
            Model::Store(store) => Ok(store),
            Model::Reader(_) => Err(read_only()),
        }
    }
}

fn read_only() -> Refusal {
    let why = "the model is open for reading only; open it without read_only=True (a frozen model can never be changed, \
               and has no documents)";
    Refusal::new(Kind::ReadOnly, why)
}

/// A model that several objects use, until it is closed.
#[derive(Clone)]
pub(crate) struct Shared(Arc<RwLock<Option<Model>>>);

impl Shared {
    fn new(model: Model) -> Self {
        Shared(Arc::new(RwLock::new(Some(model))))
    }

    /// Reads it. The GIL must be released: whoever holds the model may need it.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Model) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let model = self.0.read().unwrap_or_else(PoisonError::into_inner);
        read(model.as_ref().ok_or_else(closed)?)
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Store) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut model = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match model.as_mut().ok_or_else(closed)? {
            Model::Store(store) => change(store),
            Model::Reader(_) => Err(read_only()),
        }
    }
}

fn closed() -> Refusal {
    Refusal::new(Kind::State, "the model is closed")
}

/// A model directory, open. Every method may be called from any thread; the GIL is released while it works.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Memo {
    path: PathBuf,
    model: Shared,
    tokenizer: Tokenizer,
    read_only: bool,
}

impl Memo {
    fn of_store(path: PathBuf, store: Store) -> Self {
        let tokenizer = store.tokenizer().clone();
        let model = Shared::new(Model::Store(Box::new(store)));
        Memo { path, model, tokenizer, read_only: false }
    }

    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Model) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        Ok(py.detach(|| self.model.read(read))?)
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        change: impl FnOnce(&mut Store) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        watched(py, progress, |watch| {
            self.model.change(|store| {
                store.watch(watch.watcher());
                change(store)
            })
        })
    }

    fn change_json<T: Serialize>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Store) -> Result<T, Error> + Send,
    ) -> PyResult<String> {
        self.change(py, None, |store| json(&change(store)?))
    }

    fn store_json<T: Serialize>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Store) -> Result<T, Error> + Send,
    ) -> PyResult<String> {
        self.read(py, |model| json(&read(model.store()?)?))
    }
}

#[pymethods]
impl Memo {
    /// Makes a model where nothing is yet. `dim` chooses the dense engine.
    #[staticmethod]
    #[pyo3(signature = (path, *, tokenizer="gpt2", tokenizer_json=None, words_from=None, memory=None, parameters=None,
        tokens=None, heads=None, layers=None, older=None, slots=None, seed=1, dim=None))]
    #[allow(clippy::too_many_arguments)]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        tokenizer: &str,
        tokenizer_json: Option<Vec<u8>>,
        words_from: Option<Vec<String>>,
        memory: Option<u64>,
        parameters: Option<u64>,
        tokens: Option<u64>,
        heads: Option<u32>,
        layers: Option<u32>,
        older: Option<u32>,
        slots: Option<Vec<(u32, u32)>>,
        seed: u64,
        dim: Option<usize>,
    ) -> PyResult<Self> {
        let tokenizer = Some(tokenizer.to_owned());
        let new = Options {
            tokenizer,
            tokenizer_json,
            words_from,
            memory,
            parameters,
            tokens,
            heads,
            layers,
            older,
            slots,
            seed: Some(seed),
            dim,
        };
        let new = new.model()?;
        let store = py.detach(|| Store::create(&path, &new).map_err(Refusal::from))?;
        Ok(Self::of_store(path, store))
    }

    /// Opens a model. A frozen one can only be read.
    #[staticmethod]
    #[pyo3(signature = (path, *, read_only=false))]
    fn open(py: Python<'_>, path: PathBuf, read_only: bool) -> PyResult<Self> {
        let opened = py.detach(|| -> Result<Self, Refusal> {
            if !read_only {
                return Ok(Self::of_store(path.clone(), Store::open(&path)?));
            }
            let reader = Reader::open(&path)?;
            let tokenizer = reader.tokenizer().clone();
            let model = Shared::new(Model::Reader(Box::new(reader)));
            Ok(Memo { path, model, tokenizer, read_only: true })
        });
        Ok(opened?)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = py.detach(|| -> Result<(), Refusal> {
            let model = self.model.0.write().unwrap_or_else(PoisonError::into_inner).take();
            match model {
                Some(Model::Store(store)) => Ok(store.close()?),
                _ => Ok(()),
            }
        });
        Ok(closed?)
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.model.0.read().unwrap_or_else(PoisonError::into_inner).is_none())
    }

    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.read_only
    }

    #[getter]
    fn engine(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |model| Ok(model.about().engine.clone()))
    }

    #[getter]
    fn tokenizer(&self) -> &'static str {
        self.tokenizer.name()
    }

    #[getter]
    fn tokenizer_json(&self) -> PyResult<Option<String>> {
        Ok(self.tokenizer.to_json().map_err(Refusal::from)?)
    }

    #[getter]
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |model| json(&model.about().memory))
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.tokenizer.vocab_size()
    }

    #[getter]
    fn eos(&self) -> u32 {
        self.tokenizer.eos()
    }

    #[getter]
    fn eos_text(&self) -> &str {
        self.tokenizer.eos_text()
    }

    #[getter]
    fn transaction(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |model| {
            Ok(match model {
                Model::Store(store) => store.transaction(),
                Model::Reader(reader) => reader.transaction(),
            })
        })
    }

    /// How many of the last tokens of a context can matter.
    #[getter]
    fn window(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |model| {
            Ok(match (model.memory().sparse(), model.memory().dense()) {
                (Some(memory), _) => Backoff::default().window(memory),
                (_, Some(memory)) => memory.config().window(),
                _ => 0,
            })
        })
    }

    fn encode<'py>(&self, py: Python<'py>, text: &str) -> PyResult<TokenArray<'py>> {
        let ids = py.detach(|| self.tokenizer.encode_bytes(text.as_bytes()));
        Ok(PyArray1::from_vec(py, ids.map_err(Refusal::from)?))
    }

    fn encode_many<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<String>,
    ) -> PyResult<Vec<TokenArray<'py>>> {
        let ids = watched(py, None, |_| {
            let each = texts.par_iter().map(|text| self.tokenizer.encode(text));
            Ok(each.collect::<Result<Vec<_>, _>>()?)
        })?;
        Ok(ids.into_iter().map(|ids| PyArray1::from_vec(py, ids)).collect())
    }

    fn decode(&self, tokens: Tokens<'_>) -> String {
        self.tokenizer.decode_lossy(&crate::convert::tokens(&tokens))
    }

    fn token_bytes(&self, token: u32) -> Option<Vec<u8>> {
        self.tokenizer.token_bytes(token).map(std::borrow::Cow::into_owned)
    }

    #[pyo3(signature = (documents, reason=None, force=false, progress=None))]
    fn memorize(
        &self,
        py: Python<'_>,
        documents: Vec<(Option<String>, Text<'_>, Option<BTreeMap<String, String>>)>,
        reason: Option<&str>,
        force: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let owned = documents.into_iter().map(|(id, text, labels)| (id, text.owned(), labels));
        let owned: Vec<_> = owned.collect();
        self.change(py, progress, |store| {
            let (mut new, mut count) = (Vec::new(), 0);
            for (id, text, labels) in owned {
                let ids = match text {
                    Owned::Text(text) => store.tokenizer().encode_bytes(text.as_bytes())?,
                    Owned::Tokens(tokens) => tokens,
                };
                count += ids.len() as u64 + 1;
                let mut document = NewDocument::tokens(ids);
                if let Some(id) = id {
                    document = document.with_id(id);
                }
                for (key, value) in labels.unwrap_or_default() {
                    document = document.with_label(key, value);
                }
                new.push(document);
            }
            if let Some(over) = store.overfull(count).filter(|_| !force) {
                return Err(Refusal::invalid(format!(
                    "{} {over}; make it larger with rebuild(memory=\"{}MiB\"), or pass force=True",
                    store.directory().display(),
                    over.needed >> 20
                )));
            }
            json(&store.memorize(new, reason)?)
        })
    }

    #[pyo3(signature = (ids, reason=None))]
    fn forget(&self, py: Python<'_>, ids: Vec<String>, reason: Option<&str>) -> PyResult<String> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.change_json(py, |store| store.forget_documents(&ids, reason))
    }

    #[pyo3(signature = (text, reason=None))]
    fn forget_text(&self, py: Python<'_>, text: &str, reason: Option<&str>) -> PyResult<String> {
        self.change_json(py, |store| store.forget_text(text, reason))
    }

    #[pyo3(signature = (id, reason=None))]
    fn retire(&self, py: Python<'_>, id: &str, reason: Option<&str>) -> PyResult<String> {
        self.change_json(py, |store| store.retire(id, reason))
    }

    #[pyo3(signature = (id, reason=None))]
    fn restore(&self, py: Python<'_>, id: &str, reason: Option<&str>) -> PyResult<String> {
        self.change_json(py, |store| store.restore(id, reason))
    }

    #[pyo3(signature = (prompt, target, reason=None))]
    fn edit(
        &self,
        py: Python<'_>,
        prompt: &str,
        target: &str,
        reason: Option<&str>,
    ) -> PyResult<String> {
        self.change_json(py, |store| store.edit(prompt, target, reason))
    }

    #[pyo3(signature = (old, new, id=None, reason=None))]
    fn replace(
        &self,
        py: Python<'_>,
        old: &str,
        new: &str,
        id: Option<&str>,
        reason: Option<&str>,
    ) -> PyResult<String> {
        self.change_json(py, |store| store.replace(old, new, id, reason))
    }

    #[pyo3(signature = (transaction, reason=None))]
    fn rollback(&self, py: Python<'_>, transaction: u64, reason: Option<&str>) -> PyResult<String> {
        self.change_json(py, |store| store.rollback(transaction, reason))
    }

    #[pyo3(signature = (other, conflict="refuse", reason=None, progress=None))]
    fn merge(
        &self,
        py: Python<'_>,
        other: &Memo,
        conflict: &str,
        reason: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let conflict = match conflict {
            "refuse" => Conflict::Refuse,
            "ours" => Conflict::Ours,
            "theirs" => Conflict::Theirs,
            "rename" => Conflict::Rename,
            _ => {
                let why = format!("{conflict:?}: choose refuse, ours, theirs or rename");
                return Err(Refusal::invalid(why).into());
            }
        };
        if Arc::ptr_eq(&self.model.0, &other.model.0) {
            return Err(Refusal::new(Kind::Merge, "a model cannot be merged into itself").into());
        }
        // Always in the same order, so that two merges in opposite directions do not wait for each other forever.
        let mine_first = Arc::as_ptr(&self.model.0) < Arc::as_ptr(&other.model.0);
        watched(py, progress, |watch| {
            let merge = |mine: &mut Store, theirs: &mut Store| {
                mine.watch(watch.watcher());
                json(&mine.merge(theirs, conflict, reason)?)
            };
            if mine_first {
                self.model.change(|mine| other.model.change(|theirs| merge(mine, theirs)))
            } else {
                other.model.change(|theirs| self.model.change(|mine| merge(mine, theirs)))
            }
        })
    }

    #[pyo3(signature = (memory=None, parameters=None, progress=None))]
    fn rebuild(
        &self,
        py: Python<'_>,
        memory: Option<u64>,
        parameters: Option<u64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let size = size(memory, parameters, None)?;
        self.change(py, progress, |store| Ok(store.rebuild(size)?))
    }

    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, None, |store| Ok(store.checkpoint()?))
    }

    #[pyo3(signature = (path, bits=8))]
    fn freeze(&self, py: Python<'_>, path: PathBuf, bits: u32) -> PyResult<String> {
        self.change_json(py, |store| store.freeze(&path, bits))
    }

    fn backup(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.change(py, None, |store| Ok(store.backup(&path)?))
    }

    fn docs(&self, py: Python<'_>) -> PyResult<String> {
        self.store_json(py, |store| store.documents())
    }

    #[pyo3(signature = (id, version=None))]
    fn text(&self, py: Python<'_>, id: &str, version: Option<u32>) -> PyResult<String> {
        self.read(py, |model| Ok(model.store()?.text(id, version)?))
    }

    fn find(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        self.store_json(py, |store| store.find(text))
    }

    fn log(&self, py: Python<'_>) -> PyResult<String> {
        self.store_json(py, |store| store.log())
    }

    fn trace(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        self.store_json(py, |store| store.trace(id))
    }

    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        self.store_json(py, |store| store.stats())
    }

    fn verify(&self, py: Python<'_>) -> PyResult<String> {
        self.change_json(py, Store::verify)
    }

    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        self.change(py, None, |store| Ok(store.digest()?.to_string()))
    }

    fn next_token<'py>(
        &self,
        py: Python<'py>,
        context: Tokens<'_>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let context = tokens(&context);
        let p = self.read(py, |model| {
            let memory = model.sparse("a distribution")?;
            let mut scratch = Scratch::default();
            Ok(Backoff::default().distribution(memory, &context, &mut scratch)?.dense())
        })?;
        Ok(PyArray1::from_vec(py, p))
    }

    /// log p(token | tokens[:p]) of every token, for p in start..end (end at most len(tokens) + 1).
    fn log_distributions<'py>(
        &self,
        py: Python<'py>,
        tokens: Tokens<'_>,
        start: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let text = crate::convert::tokens(&tokens);
        let vocabulary = self.tokenizer.vocab_size();
        if start > end || end > text.len() + 1 {
            let why = format!("positions {start} to {end} of a text of {} tokens", text.len());
            return Err(Refusal::invalid(why).into());
        }
        let rows = end - start;
        let logs = watched(py, None, |watch| {
            self.model.read(|model| {
                let memory = model.sparse("a distribution")?;
                let mut logs = Vec::with_capacity(rows * vocabulary);
                for slice in slices(start..end, 64) {
                    watch.at("reading", slice.start - start, rows)?;
                    let seen = look_at(memory, &Backoff::default(), &text, slice, |_, d| {
                        let logs = d.dense().into_iter().map(|p| libm::log(p) as f32);
                        logs.collect::<Vec<f32>>()
                    })?;
                    seen.into_iter().for_each(|row| logs.extend(row));
                }
                Ok(logs)
            })
        })?;
        PyArray1::from_vec(py, logs).reshape([rows, vocabulary])
    }

    /// One more than there are tokens: the end after the last.
    #[pyo3(signature = (tokens, progress=None))]
    fn logprobs<'py>(
        &self,
        py: Python<'py>,
        tokens: Tokens<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let text = crate::convert::tokens(&tokens);
        let logs = watched(py, progress, |watch| {
            self.model.read(|model| {
                let memory = model.sparse("a score")?;
                let mut logs = Vec::with_capacity(text.len() + 1);
                for slice in slices(0..text.len() + 1, SLICE) {
                    watch.at("scoring", slice.start, text.len())?;
                    logs.extend(score_at(memory, &Backoff::default(), &text, slice)?);
                }
                Ok(logs)
            })
        })?;
        Ok(PyArray1::from_vec(py, logs))
    }

    /// For each (tokens, start): log-probabilities of tokens[start:], and whether each was the most probable.
    #[pyo3(signature = (requests, progress=None))]
    fn score_many<'py>(
        &self,
        py: Python<'py>,
        requests: Vec<(Tokens<'_>, usize)>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(Bound<'py, PyArray1<f64>>, bool)>> {
        let requests: Vec<(Vec<u32>, usize)> =
            requests.into_iter().map(|(text, start)| (tokens(&text), start)).collect();
        let scored = watched(py, progress, |watch| {
            self.model.read(|model| score_all(model.sparse("a score")?, &requests, watch))
        })?;
        let each = scored.into_iter();
        Ok(each.map(|(logs, greedy)| (PyArray1::from_vec(py, logs), greedy)).collect())
    }

    /// For each prompt its continuation: tokens, and text, which ends before a stop.
    #[pyo3(signature = (prompts, max_tokens, stop, temperature=0.0, top_k=0, top_p=1.0, seed=0, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn complete_many<'py>(
        &self,
        py: Python<'py>,
        prompts: Vec<Tokens<'_>>,
        max_tokens: Vec<usize>,
        stop: Vec<Vec<String>>,
        temperature: f64,
        top_k: usize,
        top_p: f64,
        seed: u64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(TokenArray<'py>, String)>> {
        let choice = choice(temperature, top_k, top_p, seed)?;
        if prompts.len() != max_tokens.len() || prompts.len() != stop.len() {
            return Err(
                Refusal::invalid("as many max_tokens and stop as prompts are needed").into()
            );
        }
        let prompts: Vec<Vec<u32>> = prompts.iter().map(tokens).collect();
        let made = watched(py, progress, |watch| {
            self.model.read(|model| {
                let (done, whole) = (AtomicUsize::new(0), prompts.len());
                let each = prompts.par_iter().zip(&max_tokens).zip(&stop);
                let each = each.map(|((prompt, most), stop)| {
                    check(prompt, self.tokenizer.vocab_size())?;
                    let speaker = Speaker::new(&self.tokenizer, prompt, choice.clone());
                    let on = || watch.at("completing", done.load(Ordering::Relaxed), whole);
                    let said = say(speaker, model.memory(), *most, stop, &on);
                    done.fetch_add(1, Ordering::Relaxed);
                    said
                });
                each.collect::<Result<Vec<_>, Refusal>>()
            })
        })?;
        let made = made.into_iter();
        Ok(made.map(|(tokens, text)| (PyArray1::from_vec(py, tokens), text)).collect())
    }

    #[pyo3(signature = (prompt, temperature=0.0, top_k=0, top_p=1.0, seed=0))]
    fn generate(
        &self,
        prompt: Tokens<'_>,
        temperature: f64,
        top_k: usize,
        top_p: f64,
        seed: u64,
    ) -> PyResult<Generation> {
        let prompt = tokens(&prompt);
        check(&prompt, self.tokenizer.vocab_size())?;
        let choice = choice(temperature, top_k, top_p, seed)?;
        let speaker = Speaker::new(&self.tokenizer, &prompt, choice);
        Ok(Generation::new(self.model.clone(), speaker))
    }

    #[pyo3(signature = (texts, progress=None))]
    fn recall(
        &self,
        py: Python<'_>,
        texts: Vec<Tokens<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        #[derive(Serialize)]
        struct Recalled {
            tokens: usize,
            evaluated: usize,
            correct: usize,
            recall: f64,
        }
        let texts: Vec<Vec<u32>> = texts.iter().map(tokens).collect();
        watched(py, progress, |watch| {
            self.model.read(|model| {
                let tokens = texts.iter().map(Vec::len).sum();
                let (mut evaluated, mut correct) = (0, 0);
                for text in &texts {
                    check(text, self.tokenizer.vocab_size())?;
                    // The first token has nothing before it to be recalled from.
                    for slice in slices(1..text.len(), SLICE) {
                        watch.at("recalling", evaluated, tokens)?;
                        let best = model.memory().best_at(text, slice.clone())?;
                        evaluated += best.len();
                        correct += text[slice].iter().zip(&best).filter(|(a, b)| a == b).count();
                    }
                }
                let recall = if evaluated == 0 { 1.0 } else { correct as f64 / evaluated as f64 };
                json(&Recalled { tokens, evaluated, correct, recall })
            })
        })
    }

    #[pyo3(signature = (prompt, candidates=3))]
    fn explain(&self, py: Python<'_>, prompt: &str, candidates: usize) -> PyResult<String> {
        self.store_json(py, |store| store.explain(prompt, candidates))
    }
}

/// A document's text as Python gives it.
#[derive(FromPyObject)]
enum Text<'py> {
    Text(String),
    Tokens(Tokens<'py>),
}

/// The same, of our own.
enum Owned {
    Text(String),
    Tokens(Vec<u32>),
}

impl Text<'_> {
    fn owned(self) -> Owned {
        match self {
            Text::Text(text) => Owned::Text(text),
            Text::Tokens(array) => Owned::Tokens(tokens(&array)),
        }
    }
}

fn choice(temperature: f64, top_k: usize, top_p: f64, seed: u64) -> Result<Choice, Refusal> {
    if !(0.0..=100.0).contains(&temperature) {
        return Err(Refusal::invalid(format!("temperature {temperature}: choose 0 to 100")));
    }
    if !(top_p > 0.0 && top_p <= 1.0) {
        return Err(Refusal::invalid(format!("top_p {top_p}: choose above 0, up to 1")));
    }
    Ok(Choice { temperature, top_k, top_p, seed, stop: Vec::new() })
}

/// Refuses tokens outside the vocabulary.
fn check(tokens: &[u32], vocabulary: usize) -> Result<(), Refusal> {
    match tokens.iter().find(|token| **token as usize >= vocabulary) {
        Some(token) => Err(Refusal::invalid(format!(
            "token {token} is outside the vocabulary of {vocabulary}"
        ))),
        None => Ok(()),
    }
}

/// Some positions in parts of at most `size`.
fn slices(positions: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = positions.end;
    positions.step_by(size).map(move |start| start..end.min(start + size))
}

/// Scores requests, so many positions at a time.
fn score_all(
    memory: &Memory,
    requests: &[(Vec<u32>, usize)],
    watch: &Watch,
) -> Result<Vec<(Vec<f64>, bool)>, Refusal> {
    let mut scored: Vec<(Vec<f64>, bool)> = requests.iter().map(|_| (Vec::new(), true)).collect();
    let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
    for (i, (text, start)) in requests.iter().enumerate() {
        if *start > text.len() {
            let why = format!("start {start} of a text of {} tokens", text.len());
            return Err(Refusal::invalid(why));
        }
        check(text, memory.settings().vocabulary as usize)?;
        parts.extend(slices(*start..text.len(), SLICE).map(|slice| (i, slice)));
    }
    let whole: usize = parts.iter().map(|(_, slice)| slice.len()).sum();
    let (mut first, mut done) = (0, 0);
    while first < parts.len() {
        watch.at("scoring", done, whole)?;
        let (mut last, mut positions) = (first, 0);
        while last < parts.len() && (last == first || positions + parts[last].1.len() <= SLICE) {
            positions += parts[last].1.len();
            last += 1;
        }
        let together = &parts[first..last];
        let texts: Vec<(&[u32], Range<usize>)> =
            together.iter().map(|(i, slice)| (&requests[*i].0[..], slice.clone())).collect();
        let seen = look_at_all(memory, &Backoff::default(), &texts, |which, p, distribution| {
            let token = texts[which].0[p];
            (libm::log(distribution.probability(token)), distribution.best() == token)
        })?;
        for ((i, _), seen) in together.iter().zip(seen) {
            let (logs, greedy) = &mut scored[*i];
            *greedy &= seen.iter().all(|(_, best)| *best);
            logs.extend(seen.iter().map(|(log, _)| log));
        }
        (first, done) = (last, done + positions);
    }
    Ok(scored)
}
