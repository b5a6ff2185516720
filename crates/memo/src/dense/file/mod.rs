//! A model as a file: [safetensors](https://github.com/huggingface/safetensors), which other programs read too.
//!
//! [`DenseFile`] says what is in it. Nothing of a file is believed before it was checked: everything that it can get wrong is
//! a [`FileError`] of its own. The digest comes last and covers metadata and tensors, so that a flipped bit is noticed that
//! makes another seed of one, or another cell.

mod error;

pub use self::error::FileError;

use super::config::{DenseConfig, Distiller};
use super::distill::SequenceCounts;
use super::memories::Memories;
use super::memory::CorrelationMemory;
use super::model::DenseMemo;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What the metadata call this kind of file.
const MODEL: &str = "memo-dense";
/// The format that this version writes, and the only one that it reads.
const FORMAT: u32 = 1;
/// What notes are called in the metadata.
const NOTE: &str = "note.";
/// The longest header that readers of safetensors accept.
const MAX_HEADER: usize = 100_000_000;

/// What a caller keeps with a model, by name: its tokenizer, say.
pub type Notes = BTreeMap<String, String>;

/// A model in a safetensors file: checked, and ready to be loaded.
///
/// The metadata say what the model is: `model` (`memo-dense`), `format` (1), `config` (the configuration as JSON, its seed
/// included), `loads` (how many pairs each memory holds, as JSON) and `digest`; a caller's own notes are there as
/// `note.NAME`. The tensors are what was memorized. Codes and projections are not in the file: the seed makes them again.
///
/// | tensor | type and shape | what |
/// |---|---|---|
/// | `C1.T` … `Cl.T` | F32, d × d | the memories, transposed: a row for every value dimension; only the last where recall is computed |
/// | `sequences.1` … | U64, k × 2 | the exact distiller's sequences of an inner layer: hash and count, by hash |
/// | `texts` | U64, k × 2 | the same for whole texts |
///
/// ```
/// use memo::dense::{DenseConfig, DenseFile, DenseMemo, Notes};
/// let mut memo = DenseMemo::new(DenseConfig::new(100, 64, 2, 2))?;
/// memo.memorize(&[1, 2, 3, 4, 5])?;
/// let mut bytes = Vec::new();
/// memo.write_safetensors(&Notes::from([("tokenizer".into(), "gpt2".into())]), &mut bytes)?;
///
/// let file = DenseFile::parse(&bytes)?;
/// assert_eq!(file.notes()["tokenizer"], "gpt2");
/// assert_eq!(file.config().dim, 64);
/// let same = file.load(1, 1 << 20)?; // one thread, at most a MiB
/// assert_eq!(same.memory(2).unwrap().cells(), memo.memory(2).unwrap().cells());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DenseFile<'a> {
    config: DenseConfig,
    loads: Vec<f64>,
    notes: Notes,
    header: Metadata,
    data: &'a [u8],
}

/// A tensor that a configuration calls for.
struct Tensor {
    name: String,
    dtype: Dtype,
    width: usize,
    /// Rows, where their number is not free.
    rows: Option<usize>,
}

/// What a safetensors file begins with, after its length.
#[derive(Serialize)]
struct Header<'a> {
    #[serde(rename = "__metadata__")]
    metadata: &'a BTreeMap<String, String>,
    #[serde(flatten)]
    tensors: BTreeMap<&'a str, TensorInfo>,
}

/// The values of a tensor.
enum Values<'a> {
    /// The cells of a memory.
    Cells(&'a [f32]),
    /// Hashes and counts, as bytes.
    Counts(Vec<u8>),
}

impl DenseMemo {
    /// The model as the bytes of a safetensors file; see [`DenseFile`]. Equal models give equal bytes.
    ///
    /// ```
    /// use memo::dense::{DenseConfig, DenseMemo};
    /// let mut memo = DenseMemo::new(DenseConfig::new(100, 64, 2, 2))?;
    /// memo.memorize(&[1, 2, 3, 4, 5])?;
    /// let same = DenseMemo::from_safetensors(&memo.to_safetensors()?)?;
    /// assert_eq!(same.predict(&[1, 2, 3, 4])?, memo.predict(&[1, 2, 3, 4])?); // bit for bit
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_safetensors(&self) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        self.write_safetensors(&Notes::new(), &mut bytes)?;
        Ok(bytes)
    }

    /// Reads what [`to_safetensors`](Self::to_safetensors) wrote. The model predicts what the written one did, bit for bit
    /// on the same machine with the same number of threads.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, FileError> {
        DenseFile::parse(bytes)?.load(0, u64::MAX)
    }

    /// Writes the model as a safetensors file, with notes of the caller's own.
    pub fn write_safetensors(&self, notes: &Notes, out: &mut impl Write) -> Result<(), FileError> {
        let Memories { last, inner, counts, texts } = &self.memories;
        let counts = counts.iter().chain(texts).map(|counts| Values::Counts(counts.to_bytes()));
        let cells = inner.iter().chain([last]).map(|memory| Values::Cells(memory.cells()));
        let tensors: Vec<_> = tensors(self.config()).into_iter().zip(counts.chain(cells)).collect();
        let loads: Vec<f64> = inner.iter().chain([last]).map(CorrelationMemory::load).collect();
        check_finite("loads", &loads, |load| load.is_finite())?;
        let mut metadata: BTreeMap<String, String> =
            notes.iter().map(|(name, note)| (format!("{NOTE}{name}"), note.clone())).collect();
        for (name, value) in [
            ("model", MODEL.to_owned()),
            ("format", FORMAT.to_string()),
            ("config", serde_json::to_string(self.config()).map_err(io::Error::from)?),
            ("loads", serde_json::to_string(&loads).map_err(io::Error::from)?),
        ] {
            metadata.insert(name.to_owned(), value);
        }
        let mut hasher = hasher(&metadata);
        for (tensor, values) in &tensors {
            if let Values::Cells(cells) = values {
                check_finite(&tensor.name, *cells, |cell| cell.is_finite())?;
            }
            update(&mut hasher, &tensor.name, values.bytes());
            values.write(&mut hasher)?;
        }
        metadata.insert("digest".to_owned(), hasher.finalize().to_string());

        let mut end = 0;
        let infos = tensors.iter().map(|(Tensor { name, dtype, width, .. }, values)| {
            let (start, shape) = (end, vec![values.bytes() * 8 / dtype.bitsize() / width, *width]);
            end += values.bytes();
            (name.as_str(), TensorInfo { dtype: *dtype, shape, data_offsets: (start, end) })
        });
        let header = Header { metadata: &metadata, tensors: infos.collect() };
        let mut header = serde_json::to_vec(&header).map_err(io::Error::from)?;
        // Numbers begin at a multiple of their size.
        header.resize(header.len().next_multiple_of(8), b' ');
        if header.len() > MAX_HEADER {
            return Err(FileError::NotesTooLong(header.len()));
        }
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        for (_, values) in &tensors {
            values.write(out)?;
        }
        Ok(out.flush()?)
    }
}

impl<'a> DenseFile<'a> {
    /// Checks everything about a file but whether its model fits into memory.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, FileError> {
        let (length, header) = SafeTensors::read_metadata(bytes)
            .map_err(|error| FileError::Container(error.to_string()))?;
        let mut metadata: BTreeMap<String, String> =
            header.metadata().clone().unwrap_or_default().into_iter().collect();
        let entry = |name| metadata.get(name).ok_or(FileError::NotAModel(name));
        if entry("model")? != MODEL {
            return Err(FileError::NotAModel("model"));
        }
        let found = entry("format")?;
        if *found != FORMAT.to_string() {
            return Err(FileError::Format { found: found.clone() });
        }
        let config: DenseConfig = from_json("config", entry("config")?)?;
        config.check_shape()?;
        let loads: Vec<f64> = from_json("loads", entry("loads")?)?;
        let memories = tensors(&config).iter().filter(|tensor| tensor.dtype == Dtype::F32).count();
        if loads.len() != memories {
            let reason = format!("{} loads for {memories} memories", loads.len());
            return Err(FileError::Syntax { name: "loads", reason });
        }
        let digest = entry("digest")?.clone();
        metadata.remove("digest");
        let mut hasher = hasher(&metadata);
        let note = |(name, note): (String, String)| Some((name.strip_prefix(NOTE)?.into(), note));
        let notes = metadata.into_iter().filter_map(note).collect();
        let file = DenseFile { config, loads, notes, header, data: &bytes[8 + length..] };
        file.check_tensors(&mut hasher)?;
        if hasher.finalize().to_string() == digest { Ok(file) } else { Err(FileError::Digest) }
    }

    /// The configuration of the model; threads and limits are not part of a file.
    pub fn config(&self) -> &DenseConfig {
        &self.config
    }

    /// The notes that were written with the model.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Makes the model, with so many threads ([`DenseConfig::threads`]), unless it needs more than `memory_limit` bytes.
    pub fn load(&self, threads: usize, memory_limit: u64) -> Result<DenseMemo, FileError> {
        let config = DenseConfig { threads, memory_limit, ..self.config.clone() };
        let mut memo = DenseMemo::new(config)?;
        let Memories { last, inner, counts, texts } = &mut memo.memories;
        let mut data = tensors(&self.config).into_iter().map(|tensor| self.data(&tensor.name));
        for (counts, data) in counts.iter_mut().chain(texts).zip(&mut data) {
            *counts = SequenceCounts::from_bytes(data);
        }
        for ((memory, load), data) in inner.iter_mut().chain([last]).zip(&self.loads).zip(data) {
            memory.fill(numbers(data, f32::from_le_bytes), *load);
        }
        Ok(memo)
    }

    /// Checks that there is every tensor that the configuration calls for and no other, and that their values can be.
    fn check_tensors(&self, hasher: &mut blake3::Hasher) -> Result<(), FileError> {
        let tensors = tensors(&self.config);
        let known = |name: &String| tensors.iter().any(|tensor| tensor.name == *name);
        if let Some(name) = self.header.offset_keys().into_iter().find(|name| !known(name)) {
            return Err(FileError::Unknown(name));
        }
        for Tensor { name, dtype, width, rows } in tensors {
            let Some(info) = self.header.info(&name) else { return Err(FileError::Missing(name)) };
            let rows = rows.or(info.shape.first().copied()).unwrap_or(0);
            if info.dtype != dtype || info.shape != [rows, width] {
                let expected = format!("{dtype} {:?}", [rows, width]);
                let found = format!("{} {:?}", info.dtype, info.shape);
                return Err(FileError::Shape { name, expected, found });
            }
            let data = self.data(&name);
            if dtype == Dtype::F32 {
                check_finite(&name, numbers(data, f32::from_le_bytes), f32::is_finite)?;
            } else {
                check_counts(&name, &numbers(data, u64::from_le_bytes).collect::<Vec<_>>())?;
            }
            update(hasher, &name, data.len());
            hasher.update(data);
        }
        Ok(())
    }

    /// The bytes of a tensor; none of one that is not there.
    fn data(&self, name: &str) -> &'a [u8] {
        let (start, end) = self.header.info(name).map_or((0, 0), |info| info.data_offsets);
        &self.data[start..end]
    }
}

/// The tensors that a configuration calls for, in the order in which they are written: whole words first, so that all are
/// aligned.
fn tensors(config: &DenseConfig) -> Vec<Tensor> {
    let inner = if config.has_inner_memories() { config.layers - 1 } else { 0 };
    let counts = |name| Tensor { name, dtype: Dtype::U64, width: 2, rows: None };
    let cells = |layer| {
        let name = format!("C{layer}.T");
        Tensor { name, dtype: Dtype::F32, width: config.dim, rows: Some(config.dim) }
    };
    let mut tensors = Vec::new();
    if config.distiller == Distiller::Exact {
        tensors.extend((1..=inner).map(|layer| counts(format!("sequences.{layer}"))));
        tensors.push(counts("texts".to_owned()));
    }
    tensors.extend((1..=inner).chain([config.layers]).map(cells));
    tensors
}

impl Values<'_> {
    fn bytes(&self) -> usize {
        match self {
            Values::Cells(cells) => size_of_val(*cells),
            Values::Counts(bytes) => bytes.len(),
        }
    }

    /// Writes the values, little-endian.
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            // Some thousands at a time.
            Values::Cells(cells) => cells.chunks(1 << 14).try_for_each(|cells| {
                let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
                out.write_all(&bytes)
            }),
            Values::Counts(bytes) => out.write_all(bytes),
        }
    }
}

/// Refuses values that are not finite.
fn check_finite<T>(
    name: &str,
    values: impl IntoIterator<Item = T>,
    finite: impl Fn(T) -> bool,
) -> Result<(), FileError> {
    match values.into_iter().position(|value| !finite(value)) {
        Some(index) => Err(FileError::NotFinite { name: name.to_owned(), index }),
        None => Ok(()),
    }
}

/// Refuses counts that are not those of different hashes in their order.
fn check_counts(name: &str, rows: &[u64]) -> Result<(), FileError> {
    let mut before = None;
    let wrong = |[hash, count]: &[u64; 2]| {
        *count == 0 || before.replace(*hash).is_some_and(|before| before >= *hash)
    };
    match rows.as_chunks().0.iter().position(wrong) {
        Some(row) => Err(FileError::Counts { name: name.to_owned(), row }),
        None => Ok(()),
    }
}

/// An entry of the metadata from its JSON.
fn from_json<T: DeserializeOwned>(name: &'static str, json: &str) -> Result<T, FileError> {
    serde_json::from_str(json)
        .map_err(|error| FileError::Syntax { name, reason: error.to_string() })
}

/// Numbers from their bytes.
pub(super) fn numbers<T, const N: usize>(
    bytes: &[u8],
    number: impl Fn([u8; N]) -> T,
) -> impl Iterator<Item = T> {
    bytes.as_chunks::<N>().0.iter().map(move |bytes| number(*bytes))
}

/// A hasher that has taken the metadata.
fn hasher(metadata: &BTreeMap<String, String>) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    for (name, value) in metadata {
        update(&mut hasher, name, value.len());
        hasher.update(value.as_bytes());
    }
    hasher
}

/// Takes the name of what comes next and its length, so that nothing can be taken for a part of something else.
fn update(hasher: &mut blake3::Hasher, name: &str, bytes: usize) {
    for length in [name.len(), bytes] {
        hasher.update(&(length as u64).to_le_bytes());
    }
    hasher.update(name.as_bytes());
}
