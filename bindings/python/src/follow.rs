//! Texts that grow token by token, as a language model reads them: what was read of each is kept, so that the next position
//! costs one query; and how well the memory knows each position.

use crate::convert::{self, Tokens};
use crate::error::Refusal;
use crate::memo::Memo;
use crate::options::reading;
use crate::score::{SLICE, slices};
use crate::work::{Watch, detached, watched};
use memo::readout::{Backoff, Confidence, Distribution, Scratch};
use memo_store::{Error, ReadOptions, Snapshot};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Positions that are read one after the other; more of them are read by all threads.
const FEW: usize = 64;

/// Texts that are kept, the last ones: several batches of any size that people use.
const KEPT: usize = 512;

/// How well a memory knows positions of a text, as arrays: matched, times, kinds, quote, familiarity, best,
/// probability.
pub(crate) type Matches<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// What is seen at one position.
struct Seen {
    confidence: Confidence,
    best: u32,
    probability: f64,
}

impl Seen {
    fn new(
        confidence: Confidence,
        distribution: &Distribution<'_>,
    ) -> Result<Self, memo::sparse::Error> {
        let best = distribution.best()?;
        Ok(Seen { confidence, best, probability: distribution.probability(best)? })
    }
}

fn arrays<'py>(py: Python<'py>, seen: &[Seen]) -> Matches<'py> {
    let matched =
        seen.iter().map(|seen| u32::try_from(seen.confidence.matched).unwrap_or(u32::MAX));
    (
        PyArray1::from_iter(py, matched),
        PyArray1::from_iter(py, seen.iter().map(|seen| seen.confidence.times)),
        PyArray1::from_iter(py, seen.iter().map(|seen| seen.confidence.kinds)),
        PyArray1::from_iter(py, seen.iter().map(|seen| seen.confidence.quote)),
        PyArray1::from_iter(py, seen.iter().map(|seen| seen.confidence.familiarity)),
        PyArray1::from_iter(py, seen.iter().map(|seen| seen.best)),
        PyArray1::from_iter(py, seen.iter().map(|seen| seen.probability)),
    )
}

/// How well the memory knows each position of a text, and after its last token.
pub(crate) fn matches<'py>(
    py: Python<'py>,
    memo: &Memo,
    tokens: Tokens<'_>,
    generalize: f64,
) -> PyResult<Matches<'py>> {
    let (text, read) = (convert::tokens(&tokens), reading(generalize)?);
    let seen = watched(py, None, |watch| {
        memo.handle().read(|model| {
            let mut all = Vec::with_capacity(text.len() + 1);
            for slice in slices(0..text.len() + 1, SLICE) {
                watch.at("reading", slice.start, text.len())?;
                all.extend(model.map_confidences(&text, slice, &read, |_, confidence, seen| {
                    Seen::new(confidence, seen)
                })?);
            }
            Ok(all)
        })
    })?;
    Ok(arrays(py, &seen))
}

/// Texts that grow.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Follower {
    memo: Py<Memo>,
    read: ReadOptions,
    readout: Backoff,
    /// What was read of each text, the last one at the end.
    kept: Mutex<Vec<Scratch>>,
}

/// Rows of log-probabilities, and what is seen at each.
type Rows = (Vec<f32>, Vec<Seen>);

impl Follower {
    fn kept(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read of a text up to its last token but one, if it was.
    fn take(&self, model: &Snapshot, context: &[u32]) -> Result<Scratch, Refusal> {
        let memory = model.memory()?;
        let mut kept = self.kept();
        let found = kept.iter().rposition(|kept| kept.precedes(memory, &self.readout, context));
        Ok(found.map(|at| kept.remove(at)).unwrap_or_default())
    }

    fn keep(&self, scratch: Scratch) {
        let mut kept = self.kept();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(scratch);
    }

    /// Reads positions one after the other.
    fn walk(
        &self,
        model: &Snapshot,
        text: &[u32],
        positions: std::ops::Range<usize>,
        (logs, seen): &mut Rows,
    ) -> Result<(), Refusal> {
        let memory = model.memory()?;
        let window = self.readout.window(memory);
        let mut scratch: Option<Scratch> = None;
        for p in positions {
            let context = &text[p.saturating_sub(window)..p];
            let mut own = match scratch.take() {
                Some(scratch) => scratch,
                None => self.take(model, context)?,
            };
            let (confidence, distribution) =
                self.readout.confident(memory, context, &mut own).map_err(Error::from)?;
            seen.push(Seen::new(confidence, &distribution).map_err(Error::from)?);
            logs.extend(row(&distribution).map_err(Error::from)?);
            scratch = Some(own);
        }
        scratch.into_iter().for_each(|scratch| self.keep(scratch));
        Ok(())
    }

    fn rows(
        &self,
        model: &Snapshot,
        (text, start, end): &(Vec<u32>, usize, usize),
        watch: &Watch,
    ) -> Result<Rows, Refusal> {
        let mut rows = Rows::default();
        let mut first = *start;
        // The last one is left to what is kept.
        if end - start > FEW {
            for slice in slices(*start..end - 1, FEW) {
                watch.at("reading", slice.start - start, end - start)?;
                let look = |_, confidence, distribution: &Distribution<'_>| {
                    Ok((row(distribution)?, Seen::new(confidence, distribution)?))
                };
                for (logs, seen) in model.map_confidences(text, slice, &self.read, look)? {
                    rows.0.extend(logs);
                    rows.1.push(seen);
                }
            }
            first = end - 1;
        }
        self.walk(model, text, first..*end, &mut rows)?;
        Ok(rows)
    }
}

/// The log-probability of every token. Single precision may make the best token equal to others: the best stays the best.
fn row(distribution: &Distribution<'_>) -> Result<Vec<f32>, memo::sparse::Error> {
    let p = distribution.dense()?;
    let mut logs: Vec<f32> = p.iter().map(|&p| libm::log(p) as f32).collect();
    let better = |best: usize, i: usize| if p[i] > p[best] { i } else { best };
    let best = (0..p.len()).fold(0, better);
    let highest = logs[best];
    if logs.iter().enumerate().any(|(i, &log)| i != best && log >= highest) {
        logs[best] = highest.next_up();
    }
    Ok(logs)
}

#[pymethods]
impl Follower {
    #[new]
    #[pyo3(signature = (memo, generalize=1.0))]
    fn new(memo: Py<Memo>, generalize: f64) -> PyResult<Self> {
        let read = reading(generalize)?;
        Ok(Follower { memo, read, readout: read.readout(), kept: Mutex::default() })
    }

    /// For each (tokens, start, end): log p(token | tokens[:p]) of every token, for p in start..end (end at most
    /// len(tokens) + 1), and how well each of these positions is known.
    fn read<'py>(
        &self,
        py: Python<'py>,
        requests: Vec<(Tokens<'_>, usize, usize)>,
    ) -> PyResult<Vec<(Bound<'py, PyArray2<f32>>, Matches<'py>)>> {
        let requests: Vec<(Vec<u32>, usize, usize)> =
            requests.into_iter().map(|(text, s, e)| (convert::tokens(&text), s, e)).collect();
        let memo = self.memo.get();
        for (text, start, end) in &requests {
            let wrong = if *start > *end || *end > text.len() + 1 {
                format!("positions {start} to {end} of a text of {} tokens", text.len())
            } else if let Some(token) =
                text.iter().find(|token| **token as usize >= memo.vocabulary())
            {
                format!("token {token} is outside the vocabulary of {}", memo.vocabulary())
            } else {
                continue;
            };
            return Err(Refusal::invalid(wrong).into());
        }
        let work = |watch: &Watch| {
            memo.handle().read(|model| match &requests[..] {
                [only] => Ok(vec![self.rows(model, only, watch)?]),
                several => several.par_iter().map(|each| self.rows(model, each, watch)).collect(),
            })
        };
        let few =
            requests.iter().all(|(_, start, end)| end - start <= FEW) && requests.len() <= FEW;
        let made: Vec<Rows> = if few {
            // A thread of its own would take longer than the work.
            detached(py, || work(&Watch::default()))?
        } else {
            watched(py, None, work)?
        };
        let vocabulary = memo.vocabulary();
        let each = made.into_iter().map(|(logs, seen)| {
            let rows = seen.len();
            Ok((PyArray1::from_vec(py, logs).reshape([rows, vocabulary])?, arrays(py, &seen)))
        });
        each.collect()
    }

    /// What the memory would say after a context: tokens and their probabilities, at most `most`, until one has less than
    /// `least` or is the end.
    fn propose<'py>(
        &self,
        py: Python<'py>,
        context: Tokens<'_>,
        most: usize,
        least: f64,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>)> {
        let context = convert::tokens(&context);
        let made = detached(py, || {
            self.memo.get().handle().read(|model| {
                let memory = model.memory()?;
                let window = self.readout.window(memory);
                let seen = &context[context.len().saturating_sub(window)..];
                let mut scratch = Scratch::default();
                Ok(self
                    .readout
                    .propose(memory, seen, most, least, &mut scratch)
                    .map_err(Error::from)?)
            })
        })?;
        let (tokens, p): (Vec<u32>, Vec<f64>) = made.into_iter().unzip();
        Ok((PyArray1::from_vec(py, tokens), PyArray1::from_vec(py, p)))
    }
}
