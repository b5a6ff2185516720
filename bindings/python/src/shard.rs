//! A memory that several processes hold, as Python sees it.

use crate::complete::{self, CompletionStream};
use crate::convert::{self, TokenArray, Tokens, json, tokens};
use crate::error::Refusal;
use crate::options::{Options, reading};
use crate::threads;
use crate::work::{detached, watched};
use memo::lexicon::Lexicon;
use memo::readout::{BACKOFF, Scratch, best_at, map_distributions_all};
use memo::sparse::{
    Leaves, Memory, Settings, Shard as Held, ShardReader as Inner, ShardRequest, ShardResponse,
    Span,
};
use memo::words::Words;
use memo_store::NewModel;
use memo_text::Tokenizer;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type In<'py, T> = PyReadonlyArray1<'py, T>;
type Out<'py, T> = Bound<'py, PyArray1<T>>;

/// Keys of each table.
type RequestIn<'py> = (In<'py, u64>, In<'py, u64>, In<'py, u64>);
type RequestOut<'py> = (Out<'py, u64>, Out<'py, u64>, Out<'py, u64>);

/// Lengths, tokens, counts.
type ResponseIn<'py> = (In<'py, u32>, In<'py, u32>, In<'py, i64>);
type ResponseOut<'py> = (Out<'py, u32>, Out<'py, u32>, Out<'py, i64>);

fn owned<T: numpy::Element + Copy>(array: &In<'_, T>) -> Vec<T> {
    array.as_array().iter().copied().collect()
}

fn request((pairs, successors, events): &RequestIn<'_>) -> ShardRequest {
    ShardRequest { keys: [pairs, successors, events].map(owned) }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works with what a lock guards, which is taken before: a thread of the pool must not wait for it.
fn with<T: Send, R: Send>(
    of: &Mutex<T>,
    work: impl FnOnce(&mut T) -> Result<R, Refusal> + Send,
) -> Result<R, Refusal> {
    let inside = &mut *lock(of);
    threads::on(0, || work(inside))
}

fn settings(json: &str) -> Result<Settings, Refusal> {
    Ok(serde_json::from_str(json)?)
}

/// The words of a vocabulary with a lexicon, if settings need them.
fn words(
    settings: &Settings,
    tokenizer: &Tokenizer,
    lexicon: Option<Arc<Lexicon>>,
) -> Option<Arc<Words>> {
    (!settings.words.is_empty() || lexicon.is_some()).then(|| {
        let words = Words::new(tokenizer.pieces());
        Arc::new(match lexicon {
            Some(lexicon) => words.with_lexicon(lexicon),
            None => words,
        })
    })
}

/// What one process holds: some partitions of the tables.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Shard(Mutex<Held>);

#[pymethods]
impl Shard {
    #[new]
    #[pyo3(signature = (settings, tokenizer, tokenizer_json, lexicon, index, count))]
    fn new(
        settings: &str,
        tokenizer: &str,
        tokenizer_json: Option<&[u8]>,
        lexicon: Option<&[u8]>,
        index: usize,
        count: usize,
    ) -> PyResult<Self> {
        let settings = self::settings(settings)?;
        let tokenizer = crate::tokenizer::tokenizer(tokenizer, tokenizer_json, None)?;
        let lexicon = lexicon.map(Lexicon::from_bytes).transpose().map_err(Refusal::from)?;
        let words = words(&settings, &tokenizer, lexicon.map(Arc::new));
        let shard = Held::new(settings, words, index, count).map_err(Refusal::from)?;
        Ok(Shard(Mutex::new(shard)))
    }

    /// Writes what is its own of documents; weight −1 forgets. All are checked before anything changes.
    #[pyo3(signature = (documents, weight=1))]
    fn write(&self, py: Python<'_>, documents: Vec<Tokens<'_>>, weight: i32) -> PyResult<()> {
        let documents: Vec<Vec<u32>> = documents.iter().map(tokens).collect();
        watched(py, None, |_| {
            let spans: Vec<Span<'_>> =
                documents.iter().map(|document| Span::whole(document, weight)).collect();
            with(&self.0, |shard| Ok(shard.write(&spans)?))
        })
    }

    fn find<'py>(&self, py: Python<'py>, request: RequestIn<'_>) -> PyResult<ResponseOut<'py>> {
        let request = self::request(&request);
        let response = detached(py, || with(&self.0, |shard| Ok(shard.fetch(&request)?)))?;
        let ShardResponse { lens, tokens, counts } = response;
        let [lens, tokens] = [lens, tokens].map(|values| PyArray1::from_vec(py, values));
        Ok((lens, tokens, PyArray1::from_vec(py, counts)))
    }

    fn unigrams<'py>(&self, py: Python<'py>) -> Out<'py, i64> {
        let counts = py.detach(|| lock(&self.0).unigrams().to_vec());
        PyArray1::from_vec(py, counts)
    }

    fn derived<'py>(&self, py: Python<'py>) -> Out<'py, i64> {
        let counts = py.detach(|| lock(&self.0).derived());
        PyArray1::from_vec(py, counts)
    }

    fn leaves(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let leaves = detached(py, || with(&self.0, |shard| Ok(shard.leaves()?)))?;
        let mut bytes = Vec::new();
        for kind in leaves.tables.iter().chain([&leaves.unigrams]) {
            bytes.extend((kind.len() as u64).to_le_bytes());
            bytes.extend_from_slice(kind.as_flattened());
        }
        Ok(bytes)
    }

    #[getter]
    fn cells(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.0).cells())
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.0).held())
    }
}

/// What [`Shard::leaves`] gave, or nothing if it is something else.
fn leaves(mut bytes: &[u8]) -> Option<Leaves> {
    let mut next = || {
        let (count, rest) = bytes.split_first_chunk()?;
        let len = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(32)?;
        let (hashes, rest) = rest.split_at_checked(len)?;
        bytes = rest;
        Some(hashes.chunks_exact(32).filter_map(|hash| hash.try_into().ok()).collect())
    };
    let leaves = Leaves { tables: [next()?, next()?, next()?], unigrams: next()? };
    bytes.is_empty().then_some(leaves)
}

/// The digest of a memory from the leaves of all its shards, in hexadecimal.
#[pyfunction]
pub(crate) fn combine(py: Python<'_>, settings: &str, leaves: Vec<Vec<u8>>) -> PyResult<String> {
    let settings = self::settings(settings)?;
    detached(py, || {
        let each = leaves.iter().map(|bytes| self::leaves(bytes)).collect::<Option<Vec<_>>>();
        let each = each.ok_or_else(|| Refusal::invalid("these are not leaves of a shard"))?;
        threads::on(0, || Ok(Held::digest(&settings, &each)?.to_string()))
    })
}

/// The reader's side: is given what a query needs, and reads as an undivided memory would.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct ShardReader {
    reader: Mutex<Inner>,
    settings: Settings,
    tokenizer: Tokenizer,
    lexicon: Option<Arc<Lexicon>>,
    window: usize,
}

impl ShardReader {
    /// Reads positions of texts; `None` if something was missing.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        texts: &[Tokens<'_>],
        positions: &[(usize, usize)],
        read: impl FnOnce(&Memory, &[(&[u32], Range<usize>)]) -> Result<T, memo::sparse::Error> + Send,
    ) -> PyResult<Option<T>> {
        let texts: Vec<Vec<u32>> = texts.iter().map(tokens).collect();
        let all = paired(&texts, positions)?;
        watched(py, None, |_| {
            with(&self.reader, |reader| Ok(reader.read(|memory| read(memory, &all))?))
        })
    }
}

fn paired<'a>(
    texts: &'a [Vec<u32>],
    positions: &[(usize, usize)],
) -> Result<Vec<(&'a [u32], Range<usize>)>, Refusal> {
    if texts.len() != positions.len() {
        return Err(Refusal::invalid("as many positions as texts are needed"));
    }
    let both = texts.iter().zip(positions);
    Ok(both.map(|(text, &(start, end))| (text.as_slice(), start..end)).collect())
}

#[pymethods]
impl ShardReader {
    #[staticmethod]
    fn create(count: usize, options: Options<'_>) -> PyResult<Self> {
        let NewModel { tokenizer, words: with_words, seed, lexicon } = options.model()?;
        let (n, end) = (tokenizer.vocab_size() as u32, tokenizer.eos());
        let settings = Settings::new(n, end, seed).map_err(Refusal::from)?;
        let settings = if with_words { settings.with_words() } else { settings };
        let settings = settings.with_lexicon(lexicon.as_deref());
        settings.check().map_err(Refusal::from)?;
        let words = words(&settings, &tokenizer, lexicon.clone());
        let mut reader = Inner::new(settings.clone(), words, count).map_err(Refusal::from)?;
        let window = reader.read(|memory| Ok(BACKOFF.window(memory))).map_err(Refusal::from)?;
        let (reader, window) = (Mutex::new(reader), window.unwrap_or(0));
        Ok(ShardReader { reader, settings, tokenizer, lexicon, window })
    }

    #[getter]
    fn settings(&self) -> PyResult<String> {
        Ok(json(&self.settings)?)
    }

    #[getter]
    fn tokenizer(&self) -> &'static str {
        self.tokenizer.name()
    }

    /// What must be kept to have it again; None if its name is enough.
    #[getter]
    fn tokenizer_json(&self) -> PyResult<Option<String>> {
        Ok(self.tokenizer.to_json().map_err(Refusal::from)?)
    }

    #[getter]
    fn lexicon(&self) -> Option<crate::lexicon::Lexicon> {
        self.lexicon.clone().map(Into::into)
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
    fn window(&self) -> usize {
        self.window
    }

    fn encode<'py>(&self, py: Python<'py>, text: &str) -> PyResult<TokenArray<'py>> {
        convert::encode(py, &self.tokenizer, text)
    }

    fn decode(&self, tokens: Tokens<'_>) -> String {
        convert::decode(&self.tokenizer, &tokens)
    }

    /// After every write: what was fetched is dropped, and the counts of all shards, added up, are taken.
    fn refresh(&self, unigrams: In<'_, i64>, derived: In<'_, i64>) -> PyResult<()> {
        let counts = (owned(&unigrams), owned(&derived));
        let refreshed = lock(&self.reader).refresh(&[(&counts.0, &counts.1)]);
        Ok(refreshed.map_err(Refusal::from)?)
    }

    /// What the last read found missing, shard by shard.
    fn want<'py>(&self, py: Python<'py>) -> Vec<Option<RequestOut<'py>>> {
        let requests = py.detach(|| lock(&self.reader).missing());
        let each = requests.into_iter().map(|request| {
            let [pairs, successors, events] = Some(request)
                .filter(|request| !request.is_empty())?
                .keys
                .map(|keys| PyArray1::from_vec(py, keys));
            Some((pairs, successors, events))
        });
        each.collect()
    }

    fn take(&self, shard: usize, request: RequestIn<'_>, response: ResponseIn<'_>) -> PyResult<()> {
        let (lens, tokens, counts) = &response;
        let response =
            ShardResponse { lens: owned(lens), tokens: owned(tokens), counts: owned(counts) };
        let taken = lock(&self.reader).insert(&self::request(&request), &response);
        Ok(taken.map_err(|error| Refusal::invalid(format!("shard {shard}: {error}")))?)
    }

    /// Log-probabilities of texts[i][p] (the end at p == len); None: more is wanted.
    #[pyo3(signature = (texts, positions, generalize=1.0))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Tokens<'_>>,
        positions: Vec<(usize, usize)>,
        generalize: f64,
    ) -> PyResult<Option<Vec<Out<'py, f64>>>> {
        let (end, readout) = (self.settings.end, reading(generalize)?.readout());
        let scores = self.read(py, &texts, &positions, |memory, all| {
            map_distributions_all(memory, &readout, all, |which, p, distribution| {
                let token = all[which].0.get(p).copied().unwrap_or(end);
                Ok(libm::log(distribution.probability(token)?))
            })
        })?;
        let arrays = |scores: Vec<Vec<f64>>| {
            scores.into_iter().map(|scores| PyArray1::from_vec(py, scores)).collect()
        };
        Ok(scores.map(arrays))
    }

    /// The most probable tokens; None: more is wanted.
    #[pyo3(signature = (texts, positions, generalize=1.0))]
    fn best<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Tokens<'_>>,
        positions: Vec<(usize, usize)>,
        generalize: f64,
    ) -> PyResult<Option<Vec<TokenArray<'py>>>> {
        let readout = reading(generalize)?.readout();
        let best = self.read(py, &texts, &positions, |memory, all| {
            let each = all.iter();
            each.map(|(text, at)| best_at(memory, &readout, text, at.clone())).collect()
        })?;
        let arrays = |best: Vec<Vec<u32>>| {
            best.into_iter().map(|tokens| PyArray1::from_vec(py, tokens)).collect()
        };
        Ok(best.map(arrays))
    }

    #[pyo3(signature = (context, generalize=1.0))]
    fn next_token<'py>(
        &self,
        py: Python<'py>,
        context: Tokens<'_>,
        generalize: f64,
    ) -> PyResult<Option<Out<'py, f64>>> {
        let readout = reading(generalize)?.readout();
        let len = context.as_array().len();
        let p = self.read(py, &[context], &[(len, len + 1)], |memory, all| {
            let mut scratch = Scratch::default();
            let window = readout.window(memory);
            let context = &all[0].0[len.saturating_sub(window)..];
            readout.distribution(memory, context, &mut scratch)?.dense()
        })?;
        Ok(p.map(|p| PyArray1::from_vec(py, p)))
    }

    /// A completion of a prompt, which has no token yet.
    fn stream(&self, prompt: Tokens<'_>, options: complete::Options) -> PyResult<CompletionStream> {
        Ok(CompletionStream::new(&self.tokenizer, &tokens(&prompt), options)?)
    }

    /// Goes on with a completion by a token; False: more is wanted.
    fn step(&self, py: Python<'_>, stream: &CompletionStream) -> PyResult<bool> {
        detached(py, || {
            let steps = &mut *stream.steps();
            with(&self.reader, |reader| {
                // What is chosen from a memory that lacks something is chosen again.
                let chosen = reader.read(|memory| Ok(steps.choose(memory)))?;
                let Some(chosen) = chosen else { return Ok(false) };
                if let Some(choice) = chosen? {
                    steps.accept(choice);
                }
                Ok(true)
            })
        })
    }
}
