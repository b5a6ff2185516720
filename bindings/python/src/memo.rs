//! A model directory, as Python sees it.

use crate::complete::{self, CompletionStream, Steps};
use crate::convert::{self, Text, TokenArray, Tokens, json, tokens};
use crate::error::{Kind, Refusal, advice};
use crate::follow::{self, Matches};
use crate::forget::ForgetOptions;
use crate::knowledge;
use crate::lexicon::Lexicon;
use crate::model::Handle;
use crate::options::{Options, reading};
use crate::score::{SLICE, score_all, slices};
use crate::threads;
use crate::work::{Watch, detached, watched};
use memo::readout::Distribution;
use memo_store::{
    CompletionOptions, Conflict, Error, FileConflict, FindOptions, NewDocument, Snapshot, Store,
};
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
    model: Handle,
    tokenizer: Tokenizer,
    read_only: bool,
}

/// A document as Python gives it: its id, its content and its labels.
type Given<'py> = (Option<String>, Text<'py>, Option<BTreeMap<String, String>>);

/// The same, of our own.
type OwnedDocument = (Option<String>, convert::Owned, Option<BTreeMap<String, String>>);

fn owned(documents: Vec<Given<'_>>) -> Vec<OwnedDocument> {
    documents.into_iter().map(|(id, text, labels)| (id, text.owned(), labels)).collect()
}

impl Memo {
    /// Documents with the tokens of their texts.
    fn tokenized(
        &self,
        documents: Vec<OwnedDocument>,
        watch: &Watch,
    ) -> Result<Vec<NewDocument>, Refusal> {
        let whole = documents.iter().map(|(_, text, _)| text.bytes()).sum();
        let (mut new, mut before) = (Vec::new(), 0);
        for (id, text, labels) in documents {
            let bytes = text.bytes();
            let told = &mut |done| watch.tell("tokenizing", before + done, whole);
            let ids = threads::on(0, || text.tokens(&self.tokenizer, told))?;
            before += bytes;
            let mut document = NewDocument::tokens(ids);
            if let Some(id) = id {
                document = document.with_id(id);
            }
            for (key, value) in labels.unwrap_or_default() {
                document = document.with_label(key, value);
            }
            new.push(document);
        }
        Ok(new)
    }

    fn new(path: PathBuf, model: Handle, read_only: bool) -> Result<Self, Refusal> {
        let tokenizer = model.read(|model| Ok(model.tokenizer().clone()))?;
        Ok(Memo { path, model, tokenizer, read_only })
    }

    /// The model that is open.
    pub(crate) fn handle(&self) -> &Handle {
        &self.model
    }

    /// How many tokens there are.
    pub(crate) fn vocabulary(&self) -> usize {
        self.tokenizer.vocab_size()
    }

    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Snapshot) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        detached(py, || self.model.read(read))
    }

    fn read_json<T: Serialize>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Snapshot) -> Result<T, Error> + Send,
    ) -> PyResult<String> {
        self.read(py, |model| json(&read(model)?))
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        change: impl FnOnce(&mut Store) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        watched(py, progress, |watch| {
            self.model.change(|store| {
                store.observe(watch.callback());
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
}

#[pymethods]
impl Memo {
    /// Makes a model where nothing is yet.
    #[staticmethod]
    fn create(py: Python<'_>, path: PathBuf, options: Options<'_>) -> PyResult<Self> {
        let new = options.model()?;
        detached(py, || {
            let model = Handle::create(&path, &new)?;
            Self::new(path, model, false)
        })
    }

    /// Opens a model; for writing, one for all handles of a process. A frozen one can only be read. With `rebuild`, its memory
    /// is made anew from the ledger.
    #[staticmethod]
    #[pyo3(signature = (path, *, read_only=false, rebuild=false))]
    fn open(py: Python<'_>, path: PathBuf, read_only: bool, rebuild: bool) -> PyResult<Self> {
        if read_only && rebuild {
            let why = "rebuild writes the model; open it without read_only=True";
            return Err(Refusal::invalid(why).into());
        }
        detached(py, || {
            let model =
                if read_only { Handle::read_only(&path)? } else { Handle::open(&path, rebuild)? };
            Self::new(path, model, read_only)
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.model.close())
    }

    #[getter]
    fn closed(&self) -> bool {
        self.model.is_closed()
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
        self.read(py, |model| json(&model.config().memory))
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
        self.read(py, |model| Ok(model.transaction()))
    }

    /// How many of the last tokens of a context can matter.
    #[getter]
    fn window(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |model| Ok(model.window()?))
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
            threads::on(0, || Ok(each.collect::<Result<Vec<_>, _>>()?))
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
    #[pyo3(signature = (documents, reason=None, progress=None, replace=true))]
    fn memorize(
        &self,
        py: Python<'_>,
        documents: Vec<Given<'_>>,
        reason: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
        replace: bool,
    ) -> PyResult<String> {
        let documents = owned(documents);
        watched(py, progress, |watch| {
            // What cannot be changed is not worth the tokenizing.
            self.model.change(|_| Ok(()))?;
            let new = self.tokenized(documents, watch)?;
            self.model.change(|store| {
                if !replace {
                    refuse(&store.file_conflicts(&new)?)?;
                }
                store.observe(watch.callback());
                json(&store.memorize(new, reason)?)
            })
        })
    }

    /// Writes a portion of a memory of documents to a file; the model does not change.
    fn write_portion(
        &self,
        py: Python<'_>,
        documents: Vec<Given<'_>>,
        index: usize,
        count: usize,
        path: PathBuf,
    ) -> PyResult<()> {
        let documents = owned(documents);
        watched(py, None, |watch| {
            let new = self.tokenized(documents, watch)?;
            self.model.change(|store| Ok(store.write_portion(new, (index, count), &path)?))
        })
    }

    /// Memorizes documents whose memory is in portions that were written. Documents of other files are not replaced.
    fn memorize_portions(
        &self,
        py: Python<'_>,
        documents: Vec<Given<'_>>,
        portions: Vec<PathBuf>,
    ) -> PyResult<String> {
        let documents = owned(documents);
        watched(py, None, |watch| {
            let new = self.tokenized(documents, watch)?;
            self.model.change(|store| {
                refuse(&store.file_conflicts(&new)?)?;
                json(&store.memorize_portions(new, &portions, None)?)
            })
        })
    }

    fn forget(
        &self,
        py: Python<'_>,
        what: ForgetOptions,
        reason: Option<&str>,
    ) -> PyResult<String> {
        let what = what.selection()?;
        self.change_json(py, |store| store.forget_selection(&what, reason))
    }

    fn preview_forget(&self, py: Python<'_>, what: ForgetOptions) -> PyResult<String> {
        let what = what.selection()?;
        self.read_json(py, |model| model.preview_forget(&what))
    }

    fn state(
        &self,
        py: Python<'_>,
        facts: Vec<knowledge::Fact>,
        reason: Option<&str>,
    ) -> PyResult<String> {
        let facts = knowledge::triples(facts);
        self.change_json(py, |store| store.correct_facts(&facts, reason))
    }

    /// The graph of a file's bytes. Without a format, the file's name says it.
    #[allow(clippy::too_many_arguments, reason = "Python gives each by itself")]
    #[pyo3(signature = (data, name, format, language, id, reason, progress=None))]
    fn add_graph(
        &self,
        py: Python<'_>,
        data: Vec<u8>,
        name: &str,
        format: Option<&str>,
        language: Option<String>,
        id: Option<&str>,
        reason: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        self.change(py, progress, |store| {
            let graph = knowledge::graph(&data, name, format, language)?;
            json(&store.add_graph(&graph, id, reason)?)
        })
    }

    #[pyo3(signature = (id, text, reason, progress=None))]
    fn add_rules(
        &self,
        py: Python<'_>,
        id: &str,
        text: &str,
        reason: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        self.change(py, progress, |store| json(&store.add_rules(id, text, reason)?))
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
        prompt: Tokens<'_>,
        target: Tokens<'_>,
        reason: Option<&str>,
    ) -> PyResult<String> {
        let (prompt, target) = (tokens(&prompt), tokens(&target));
        self.change_json(py, |store| store.edit_tokens(&prompt, &target, reason))
    }

    /// The same with texts: where a document has the prompt, its text goes on after the target.
    #[pyo3(signature = (prompt, target, exact, reason=None))]
    fn edit_text(
        &self,
        py: Python<'_>,
        prompt: &str,
        target: &str,
        exact: bool,
        reason: Option<&str>,
    ) -> PyResult<String> {
        let edit = if exact { Store::edit } else { Store::edit_passage };
        self.change_json(py, |store| edit(store, prompt, target, reason))
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
        let conflict: Conflict = conflict.parse().map_err(Refusal::from)?;
        if self.model.is(&other.model) {
            return Err(Refusal::new(Kind::Merge, "a model cannot be merged into itself").into());
        }
        watched(py, progress, |watch| {
            self.model.change_both(&other.model, |mine, theirs| {
                mine.observe(watch.callback());
                json(&mine.merge(theirs, conflict, reason)?)
            })
        })
    }

    #[pyo3(signature = (progress=None))]
    fn rebuild(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        self.change(py, progress, |store| json(&store.rebuild()?))
    }

    /// The same with another lexicon, or with none.
    #[pyo3(signature = (lexicon, progress=None))]
    fn rebuild_with_lexicon(
        &self,
        py: Python<'_>,
        lexicon: Option<&Lexicon>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let lexicon = lexicon.map(Lexicon::shared);
        self.change(py, progress, |store| json(&store.rebuild_with_lexicon(lexicon)?))
    }

    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, None, |store| Ok(store.checkpoint()?))
    }

    fn freeze(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        self.change_json(py, |store| store.freeze(&path))
    }

    fn backup(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.change(py, None, |store| Ok(store.backup(&path)?))
    }

    fn docs(&self, py: Python<'_>) -> PyResult<String> {
        self.read_json(py, Snapshot::documents)
    }

    fn document(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        self.read_json(py, |model| model.document(id))
    }

    #[pyo3(signature = (id, version=None))]
    fn show(&self, py: Python<'_>, id: &str, version: Option<u32>) -> PyResult<String> {
        self.read_json(py, |model| model.show(id, version))
    }

    #[pyo3(signature = (id, version=None))]
    fn text(&self, py: Python<'_>, id: &str, version: Option<u32>) -> PyResult<String> {
        self.read(py, |model| Ok(model.text(id, version)?))
    }

    fn find(
        &self,
        py: Python<'_>,
        text: &str,
        ignore_case: bool,
        context: usize,
    ) -> PyResult<String> {
        let options = FindOptions { ignore_case, context };
        self.read_json(py, |model| model.find_with(text, &options))
    }

    fn closest(&self, py: Python<'_>, text: &str, limit: usize) -> PyResult<String> {
        self.read_json(py, |model| model.closest(text, limit))
    }

    fn log(&self, py: Python<'_>) -> PyResult<String> {
        self.read_json(py, Snapshot::log)
    }

    fn history(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        self.read_json(py, |model| model.history(id))
    }

    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        self.read_json(py, Snapshot::stats)
    }

    fn fill(&self, py: Python<'_>) -> PyResult<String> {
        self.read_json(py, Snapshot::fill)
    }

    #[getter]
    fn lexicon(&self, py: Python<'_>) -> PyResult<Option<Lexicon>> {
        self.read(py, |model| Ok(model.lexicon().cloned().map(Lexicon::from)))
    }

    fn word_classes(&self, py: Python<'_>, word: &str) -> PyResult<String> {
        self.read_json(py, |model| Ok(model.word_classes(word)))
    }

    #[pyo3(signature = (name, limit=None))]
    fn class_members(&self, py: Python<'_>, name: &str, limit: Option<usize>) -> PyResult<String> {
        self.read_json(py, |model| model.class_members(name, limit.unwrap_or(usize::MAX)))
    }

    fn ask(&self, py: Python<'_>, pattern: knowledge::Pattern, most: usize) -> PyResult<String> {
        let pattern = knowledge::pattern(pattern);
        self.read_json(py, |model| model.ask(&pattern, most))
    }

    fn graphs(&self, py: Python<'_>) -> PyResult<String> {
        self.read_json(py, Snapshot::graphs)
    }

    fn export_graph(&self, py: Python<'_>, id: Option<&str>, format: &str) -> PyResult<String> {
        let format = knowledge::format(format)?;
        self.read(py, |model| Ok(model.export_graph(id, format)?))
    }

    fn rules(&self, py: Python<'_>) -> PyResult<String> {
        self.read_json(py, Snapshot::rules)
    }

    #[pyo3(signature = (id, text, examples, progress=None))]
    fn preview_rules(
        &self,
        py: Python<'_>,
        id: &str,
        text: &str,
        examples: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        watched(py, progress, |watch| {
            self.model
                .read(|model| json(&model.preview_rules(id, text, examples, &watch.observer())?))
        })
    }

    fn why(&self, py: Python<'_>, statement: &str) -> PyResult<String> {
        self.read_json(py, |model| model.why(statement))
    }

    fn verify(&self, py: Python<'_>) -> PyResult<String> {
        watched(py, None, |watch| {
            self.model.read(|model| {
                let mut report = model.verify(&watch.observer())?;
                report.damage.iter_mut().for_each(|damage| *damage = advice(damage));
                json(&report)
            })
        })
    }

    #[pyo3(signature = (without, progress=None))]
    fn prove(
        &self,
        py: Python<'_>,
        without: Vec<String>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let without: Vec<&str> = without.iter().map(String::as_str).collect();
        watched(py, progress, |watch| {
            self.model.read(|model| json(&model.prove(&without, &watch.observer())?))
        })
    }

    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |model| Ok(model.digest()?.to_string()))
    }

    #[pyo3(signature = (context, generalize=1.0))]
    fn next_token<'py>(
        &self,
        py: Python<'py>,
        context: Tokens<'_>,
        generalize: f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (context, read) = (tokens(&context), reading(generalize)?);
        let p = self.read(py, |model| {
            Ok(model.distribution(&context, &read)?.dense().map_err(Error::from)?)
        })?;
        Ok(PyArray1::from_vec(py, p))
    }

    /// log p(token | tokens[:p]) of every token, for p in start..end (end at most len(tokens) + 1).
    #[pyo3(signature = (tokens, start, end, generalize=1.0))]
    fn log_distributions<'py>(
        &self,
        py: Python<'py>,
        tokens: Tokens<'_>,
        start: usize,
        end: usize,
        generalize: f64,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (text, read) = (convert::tokens(&tokens), reading(generalize)?);
        let vocabulary = self.tokenizer.vocab_size();
        let rows = end.saturating_sub(start);
        let logs = watched(py, None, |watch| {
            self.model.read(|model| {
                let mut logs = Vec::new();
                for slice in slices(start..end, 64) {
                    watch.at("reading", slice.start - start, rows)?;
                    let look = |_, distribution: &Distribution<'_>| {
                        let logs = distribution.dense()?.into_iter().map(|p| libm::log(p) as f32);
                        Ok(logs.collect::<Vec<f32>>())
                    };
                    let seen = model.map_distributions(&text, slice, &read, look)?;
                    seen.into_iter().for_each(|row| logs.extend(row));
                }
                Ok(logs)
            })
        })?;
        PyArray1::from_vec(py, logs).reshape([rows, vocabulary])
    }

    /// How well each position is known, one more than there are tokens.
    #[pyo3(signature = (tokens, generalize=1.0))]
    fn matches<'py>(
        &self,
        py: Python<'py>,
        tokens: Tokens<'_>,
        generalize: f64,
    ) -> PyResult<Matches<'py>> {
        follow::matches(py, self, tokens, generalize)
    }

    /// One more than there are tokens: the end after the last.
    #[pyo3(signature = (tokens, progress=None, generalize=1.0))]
    fn logprobs<'py>(
        &self,
        py: Python<'py>,
        tokens: Tokens<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        generalize: f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (text, read) = (convert::tokens(&tokens), reading(generalize)?);
        let logs = watched(py, progress, |watch| {
            self.model.read(|model| {
                let mut logs = Vec::with_capacity(text.len() + 1);
                for slice in slices(0..text.len() + 1, SLICE) {
                    watch.at("scoring", slice.start, text.len())?;
                    let scores = model.token_scores(&text, slice, 0, &read)?;
                    logs.extend(scores.into_iter().map(|score| score.logprob));
                }
                Ok(logs)
            })
        })?;
        Ok(PyArray1::from_vec(py, logs))
    }

    /// For each (tokens, start): log-probabilities of tokens[start:], and whether each was the most probable.
    #[pyo3(signature = (requests, progress=None, generalize=1.0))]
    fn score_many<'py>(
        &self,
        py: Python<'py>,
        requests: Vec<(Tokens<'_>, usize)>,
        progress: Option<&Bound<'_, PyAny>>,
        generalize: f64,
    ) -> PyResult<Vec<(Bound<'py, PyArray1<f64>>, bool)>> {
        let requests: Vec<(Vec<u32>, usize)> =
            requests.into_iter().map(|(text, start)| (tokens(&text), start)).collect();
        let read = reading(generalize)?;
        let scored = watched(py, progress, |watch| {
            self.model.read(|model| score_all(model, &requests, &read, watch))
        })?;
        let each = scored.into_iter();
        Ok(each.map(|(logs, greedy)| (PyArray1::from_vec(py, logs), greedy)).collect())
    }

    /// For each prompt its continuation: tokens, and text.
    #[pyo3(signature = (prompts, options, progress=None))]
    fn complete_many<'py>(
        &self,
        py: Python<'py>,
        prompts: Vec<Tokens<'_>>,
        options: Vec<complete::Options>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(TokenArray<'py>, String)>> {
        if prompts.len() != options.len() {
            return Err(Refusal::invalid("as many options as prompts are needed").into());
        }
        let prompts: Vec<Vec<u32>> = prompts.iter().map(tokens).collect();
        let options: Vec<CompletionOptions> = options.into_iter().map(Into::into).collect();
        let made = watched(py, progress, |watch| {
            self.model.read(|model| {
                let (done, total) = (AtomicUsize::new(0), prompts.len());
                let each = prompts.par_iter().zip(&options).map(|(prompt, options)| {
                    let mut steps = Steps::new(&self.tokenizer, prompt, options)?;
                    while steps.next(model.memory()?)?.is_some() {
                        watch.at("completing", done.load(Ordering::Relaxed), total)?;
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                    Ok(steps.completion())
                });
                each.collect::<Result<Vec<_>, Refusal>>()
            })
        })?;
        let made = made.into_iter().map(|made| {
            let tokens = made.tokens.iter().map(|token| token.token);
            (PyArray1::from_iter(py, tokens), made.completion)
        });
        Ok(made.collect())
    }

    /// The continuation of a prompt, as JSON.
    fn complete(
        &self,
        py: Python<'_>,
        prompt: Tokens<'_>,
        options: complete::Options,
        sources: bool,
    ) -> PyResult<String> {
        let mut steps = Steps::new(&self.tokenizer, &tokens(&prompt), &options.into())
            .map_err(Refusal::from)?;
        watched(py, None, |watch| {
            self.model.read(|model| {
                while steps.next(model.memory()?)?.is_some() {
                    watch.at("completing", 0, 1)?;
                }
                let mut completion = steps.completion();
                if sources {
                    model.add_sources(steps.prompt(), &mut completion)?;
                }
                model.add_closest(steps.prompt(), &mut completion)?;
                json(&completion)
            })
        })
    }

    /// A completion of a prompt, which has no token yet.
    fn stream(&self, prompt: Tokens<'_>, options: complete::Options) -> PyResult<CompletionStream> {
        Ok(CompletionStream::new(&self.tokenizer, &tokens(&prompt), options)?)
    }

    /// Goes on with a completion until it has more text; None at its end.
    fn next_text(&self, py: Python<'_>, stream: &CompletionStream) -> PyResult<Option<String>> {
        detached(py, || {
            let steps = &mut *stream.steps();
            self.model.read(|model| {
                loop {
                    match steps.next(model.memory()?)? {
                        Some(text) if text.is_empty() => {}
                        text => return Ok(text),
                    }
                }
            })
        })
    }

    #[pyo3(signature = (texts, progress=None, generalize=1.0))]
    fn recall(
        &self,
        py: Python<'_>,
        texts: Vec<Tokens<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
        generalize: f64,
    ) -> PyResult<String> {
        let texts: Vec<Vec<u32>> = texts.iter().map(tokens).collect();
        let read = reading(generalize)?;
        watched(py, progress, |watch| {
            self.model.read(|model| json(&model.recall(&texts, &read, &watch.observer())?))
        })
    }

    #[pyo3(signature = (texts, progress=None, generalize=1.0))]
    fn score(
        &self,
        py: Python<'_>,
        texts: Vec<Tokens<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
        generalize: f64,
    ) -> PyResult<String> {
        let texts: Vec<Vec<u32>> = texts.iter().map(tokens).collect();
        let read = reading(generalize)?;
        watched(py, progress, |watch| {
            self.model.read(|model| json(&model.score(&texts, &read, &watch.observer())?))
        })
    }

    #[pyo3(signature = (prompt, candidates=3, generalize=1.0))]
    fn explain(
        &self,
        py: Python<'_>,
        prompt: Tokens<'_>,
        candidates: usize,
        generalize: f64,
    ) -> PyResult<String> {
        let (prompt, read) = (tokens(&prompt), reading(generalize)?);
        self.read_json(py, |model| model.explain_tokens(&prompt, candidates, &read))
    }

    #[pyo3(signature = (prompt, candidates=3, generalize=1.0))]
    fn breakdown(
        &self,
        py: Python<'_>,
        prompt: Tokens<'_>,
        candidates: usize,
        generalize: f64,
    ) -> PyResult<String> {
        let (prompt, read) = (tokens(&prompt), reading(generalize)?);
        self.read_json(py, |model| model.breakdown_tokens(&prompt, candidates, &read))
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
