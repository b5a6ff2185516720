//! A model directory, as Python sees it.

use crate::convert::{self, Text, TokenArray, Tokens, json, tokens};
use crate::error::{Kind, Refusal};
use crate::generate::{Generation, Speaker, choice, say};
use crate::model::{Model, Shared};
use crate::options::{Options, size};
use crate::score::{SLICE, check, score_all, slices};
use crate::work::watched;
use memo::readout::{Backoff, ReadOut, Scratch, map_distributions, score_at};
use memo_store::{Conflict, Error, FileConflict, NewDocument, Reader, Store};
use memo_text::{Encoding, Tokenizer};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

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
        Ok(py.detach(|| self.model.close())?)
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.model.is_closed())
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

    /// Whether the tokenizer takes the bytes of a file as they are, rather than text.
    #[getter]
    fn raw(&self) -> bool {
        self.tokenizer.encoding() == Encoding::Raw
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
        convert::encode(py, &self.tokenizer, text)
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
        convert::decode(&self.tokenizer, &tokens)
    }

    fn token_bytes(&self, token: u32) -> Option<Vec<u8>> {
        self.tokenizer.token_bytes(token).map(std::borrow::Cow::into_owned)
    }

    /// Unless `replace`, documents of other files are not replaced.
    #[pyo3(signature = (documents, reason=None, force=false, progress=None, replace=true))]
    fn memorize(
        &self,
        py: Python<'_>,
        documents: Vec<(Option<String>, Text<'_>, Option<BTreeMap<String, String>>)>,
        reason: Option<&str>,
        force: bool,
        progress: Option<&Bound<'_, PyAny>>,
        replace: bool,
    ) -> PyResult<String> {
        let owned = documents.into_iter().map(|(id, text, labels)| (id, text.owned(), labels));
        let owned: Vec<_> = owned.collect();
        let whole = owned.iter().map(|(_, text, _)| text.bytes()).sum();
        watched(py, progress, |watch| {
            // What cannot be changed is not worth the tokenizing.
            self.model.read(|model| model.store().map(drop))?;
            let (mut new, mut count, mut before) = (Vec::new(), 0, 0);
            for (id, text, labels) in owned {
                let bytes = text.bytes();
                let told = &mut |done| watch.tell("tokenizing", before + done, whole);
                let ids = text.tokens(&self.tokenizer, told)?;
                before += bytes;
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
            self.model.change(|store| {
                if !replace {
                    refuse(&store.file_conflicts(&new)?)?;
                }
                if let Some(over) = store.overfull(count).filter(|_| !force) {
                    return Err(Refusal::invalid(format!(
                        "{} {over}; make it larger with rebuild(memory=\"{}MiB\"), or pass force=True",
                        store.directory().display(),
                        over.needed >> 20
                    )));
                }
                store.watch(watch.watcher());
                json(&store.memorize(new, reason)?)
            })
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
        if self.model.is(&other.model) {
            return Err(Refusal::new(Kind::Merge, "a model cannot be merged into itself").into());
        }
        watched(py, progress, |watch| {
            self.model.change_both(&other.model, |mine, theirs| {
                mine.watch(watch.watcher());
                json(&mine.merge(theirs, conflict, reason)?)
            })
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
        let text = convert::tokens(&tokens);
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
                    let seen =
                        map_distributions(memory, &Backoff::default(), &text, slice, |_, d| {
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
        let text = convert::tokens(&tokens);
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

/// Refuses to replace documents that come from elsewhere.
fn refuse(conflicts: &[FileConflict]) -> Result<(), Refusal> {
    let Some(FileConflict { document, live, new }) = conflicts.first() else { return Ok(()) };
    let more = match conflicts.len() - 1 {
        0 => String::new(),
        more => format!(", and so would {more} more"),
    };
    let why = format!(
        "document {document:?} of {live} would be replaced by {new}{more}; prefix=… gives these documents ids of their \
         own, replace=True makes them new versions"
    );
    Err(Refusal::new(Kind::State, why))
}
