//! Export and import: a model as safetensors and JSON, for other programs and other machines.
//!
//! `memory.safetensors` has the cells of each slot (`cells.SKIP.LEN`, rows × width), the rows that do not fit in a byte
//! (`wide.rows`: slot and row; `wide.values`), `unigrams`, and the keys and counts of both tables. `model.json` has the
//! settings, the tokenizer, the digest and, unless they were left out, the live documents with their tokens.
//!
//! Importing memorizes the documents again and compares digests, so an import is as trustworthy as the original. Without
//! documents there is nothing to rebuild from: such an import is a frozen model.

use super::Store;
use crate::checkpoint::{self, numbers};
use crate::config::{FORMAT, ModelConfig};
use crate::damage::Damage;
use crate::error::{Error, io};
use crate::files;
use crate::ledger::{Content, Ledger};
use crate::progress::Observer;
use crate::record::{CopyKind, Role};
use memo::sparse::{Memory, PARTITIONS, Ram, SavedMemory, Settings, Storage, TableKind};
use memo_text::Tokenizer;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const MEMORY: &str = "memory.safetensors";
const MODEL: &str = "model.json";

#[derive(Serialize, Deserialize)]
struct Exported {
    format: u32,
    model: ModelConfig,
    tokenizer: Option<String>,
    digest: String,
    transaction: u64,
    documents: Option<Vec<ExportedDocument>>,
}

#[derive(Serialize, Deserialize)]
struct ExportedDocument {
    id: String,
    labels: BTreeMap<String, String>,
    role: Role,
    parts: Vec<Vec<u32>>,
}

/// A tensor to be written.
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Store {
    /// Writes the memory and, if `texts`, the live documents into a directory where nothing is yet.
    pub fn export(&mut self, to: &Path, texts: bool) -> Result<(), Error> {
        let mut documents = Vec::new();
        if texts {
            let ledger = self.ledger()?;
            for document in ledger.documents()? {
                let Some(version) = document.live() else { continue };
                let Content { parts, role } = ledger.content(&document, version)?;
                let (id, labels) = (document.id, document.labels);
                documents.push(ExportedDocument { id, labels, role, parts });
            }
        }
        let exported = Exported {
            format: FORMAT,
            model: self.config.clone(),
            tokenizer: self.tokenizer.to_json()?,
            digest: self.digest()?.to_string(),
            transaction: self.transaction,
            documents: texts.then_some(documents),
        };
        let json = serde_json::to_vec(&exported).map_err(|e| Error::Invalid(e.to_string()))?;
        self.copy_to_new(to, CopyKind::Exported, |store, directory| {
            let tensors = tensors(store.memory()?);
            let views = tensors.iter().map(|t| {
                let view = TensorView::new(t.dtype, t.shape.clone(), &t.bytes);
                view.map(|view| (t.name.clone(), view)).map_err(|e| Error::Invalid(e.to_string()))
            });
            let views: HashMap<String, TensorView<'_>> = views.collect::<Result<_, _>>()?;
            let bytes =
                safetensors::serialize(views, None).map_err(|e| Error::Invalid(e.to_string()))?;
            files::write_bytes(&directory.join(MEMORY), &bytes)?;
            files::write_bytes(&directory.join(MODEL), &json)
        })
    }

    /// Makes a model of an export where nothing is yet.
    pub fn import(from: &Path, to: &Path) -> Result<(), Error> {
        if to.exists() {
            return Err(Error::Exists { path: to.to_owned() });
        }
        let path = from.join(MODEL);
        let help = "export the model again";
        let damaged = |what: Damage| Error::Damaged { path: path.clone(), what, help };
        let json = std::fs::read(&path).map_err(io(&path))?;
        let exported: Exported =
            serde_json::from_slice(&json).map_err(|e| damaged(Damage::Syntax(e.to_string())))?;
        if exported.format != FORMAT {
            return Err(Error::Format { path, found: exported.format, known: FORMAT });
        }
        let settings = &exported.model.memory;
        settings.check().map_err(|e| damaged(Damage::Sizes(e.to_string())))?;
        let memory = read_memory(&from.join(MEMORY), settings)?;
        if memory.digest()?.to_string() != exported.digest {
            return Err(damaged(Damage::Digest("the exported memory")));
        }
        files::create_directory(to, |directory| fill(directory, exported, &memory, &damaged))
    }
}

/// Writes the files of an imported model: its documents memorized anew or, without them, a frozen memory.
fn fill(
    directory: &Path,
    exported: Exported,
    memory: &Memory,
    damaged: &impl Fn(Damage) -> Error,
) -> Result<(), Error> {
    if let Some(json) = &exported.tokenizer {
        Tokenizer::from_json(json.as_bytes())?;
        files::write_bytes(&directory.join("tokenizer.json"), json.as_bytes())?;
    }
    let Some(documents) = exported.documents else {
        let (transaction, bits) = (exported.transaction, Some(8));
        let path = directory.join(checkpoint::name(transaction));
        let beside = checkpoint::write(&path, memory, transaction, bits, &Observer::default())?;
        files::rename(&beside, &path)?;
        return ModelConfig { frozen: bits, ..exported.model }.write(directory);
    };
    Ledger::create(directory)?;
    exported.model.write(directory)?;
    let mut store = Store::open(directory)?;
    let contents = documents.into_iter().map(|document| {
        let ExportedDocument { id, labels, role, parts } = document;
        (Some(id), labels, Content { parts, role })
    });
    store.memorize_contents(contents.collect(), Some("imported"))?;
    if store.digest()?.to_string() != exported.digest {
        return Err(damaged(Damage::Digest("its documents")));
    }
    store.checkpoint()
}

fn tensors(memory: &Memory) -> Vec<Tensor> {
    let mut tensors = Vec::new();
    let mut cells = memory.cells();
    for slot in &memory.settings().slots {
        let (mine, rest) = cells.split_at(slot.stride());
        cells = rest;
        let (rows, width) = (slot.rows as usize, slot.width as usize);
        tensors.push(Tensor {
            name: format!("cells.{}.{}", slot.skip, slot.len),
            dtype: Dtype::I8,
            shape: vec![rows, width],
            bytes: mine[..rows * width].to_vec(),
        });
    }
    let numbers = |name: &str, dtype, shape: Vec<usize>, bytes: Vec<u8>| Tensor {
        name: name.to_owned(),
        dtype,
        shape,
        bytes,
    };
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for (slot, row, row_values) in memory.wide_rows() {
        rows.extend((slot as u64).to_le_bytes());
        rows.extend(row.to_le_bytes());
        values.extend(row_values.iter().flat_map(|v| v.to_le_bytes()));
    }
    tensors.push(numbers("wide.rows", Dtype::U64, vec![rows.len() / 16, 2], rows));
    tensors.push(numbers("wide.values", Dtype::I32, vec![values.len() / 4], values));
    let unigrams: Vec<u8> = memory.unigrams().iter().flat_map(|c| c.to_le_bytes()).collect();
    tensors.push(numbers("unigrams", Dtype::I64, vec![unigrams.len() / 8], unigrams));
    for (name, kind) in [("pairs", TableKind::Pairs), ("totals", TableKind::Totals)] {
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        for part in 0..PARTITIONS {
            for (key, count) in memory.partition(kind, part) {
                keys.extend(((part as u64) << 32 | u64::from(key)).to_le_bytes());
                counts.extend(count.to_le_bytes());
            }
        }
        let len = vec![keys.len() / 8];
        tensors.push(numbers(&format!("{name}.keys"), Dtype::U64, len.clone(), keys));
        tensors.push(numbers(&format!("{name}.counts"), Dtype::I64, len, counts));
    }
    tensors
}

fn read_memory(path: &Path, settings: &Settings) -> Result<Memory, Error> {
    let damaged = |what: Damage| Error::Damaged {
        path: path.to_owned(),
        what,
        help: "export the model again",
    };
    let bytes = std::fs::read(path).map_err(io(path))?;
    let tensors =
        SafeTensors::deserialize(&bytes).map_err(|e| damaged(Damage::Syntax(e.to_string())))?;
    let get = |name: &str, dtype: Dtype| {
        let tensor = tensors.tensor(name).map_err(|e| damaged(Damage::Syntax(e.to_string())))?;
        if tensor.dtype() != dtype {
            return Err(damaged(Damage::Unfitting(name.to_owned())));
        }
        Ok(tensor.data().to_vec())
    };
    let mut cells = Ram::new(Memory::storage_len(settings))?;
    let mut rest = cells.bytes_mut();
    for slot in &settings.slots {
        let (mine, others) = rest.split_at_mut(slot.stride());
        rest = others;
        let name = format!("cells.{}.{}", slot.skip, slot.len);
        let data = get(&name, Dtype::I8)?;
        if data.len() as u64 != slot.rows * u64::from(slot.width) {
            return Err(damaged(Damage::Unfitting(name)));
        }
        mine[..data.len()].copy_from_slice(&data);
    }
    let rows = numbers(&get("wide.rows", Dtype::U64)?, u64::from_le_bytes);
    let values = numbers(&get("wide.values", Dtype::I32)?, i32::from_le_bytes);
    let mut left = &values[..];
    let mut wide = Vec::new();
    for pair in rows.as_chunks::<2>().0 {
        let slot = pair[0] as usize;
        let width = settings.slots.get(slot).map_or(usize::MAX, |s| s.width as usize);
        let (mine, others) = left
            .split_at_checked(width)
            .ok_or_else(|| damaged(Damage::Unfitting("wide.values".to_owned())))?;
        left = others;
        wide.push((slot, pair[1], mine.to_vec()));
    }
    let table = |name: &str| {
        let keys = numbers(&get(&format!("{name}.keys"), Dtype::U64)?, u64::from_le_bytes);
        let counts = numbers(&get(&format!("{name}.counts"), Dtype::I64)?, i64::from_le_bytes);
        let mut parts = vec![Vec::new(); PARTITIONS];
        for (key, count) in keys.iter().zip(&counts) {
            let part = parts.get_mut((key >> 32) as usize);
            let part = part.ok_or_else(|| damaged(Damage::Unfitting(name.to_owned())))?;
            part.push((*key as u32, *count));
        }
        if keys.len() == counts.len() {
            Ok(parts)
        } else {
            Err(damaged(Damage::Unfitting(name.to_owned())))
        }
    };
    let saved = Read {
        unigrams: numbers(&get("unigrams", Dtype::I64)?, i64::from_le_bytes),
        wide,
        tables: [table("pairs")?, table("totals")?],
    };
    Ok(Memory::restore(settings.clone(), Box::new(cells), &saved)?)
}

/// What was read of an exported memory.
struct Read {
    unigrams: Vec<i64>,
    wide: Vec<(usize, u64, Vec<i32>)>,
    tables: [Vec<Vec<(u32, i64)>>; 2],
}

impl SavedMemory for Read {
    fn unigrams(&self) -> Result<Vec<i64>, memo::sparse::Error> {
        Ok(self.unigrams.clone())
    }

    fn wide_rows(&self) -> Result<Vec<(usize, u64, Vec<i32>)>, memo::sparse::Error> {
        Ok(self.wide.clone())
    }

    fn partition(
        &self,
        kind: TableKind,
        part: usize,
    ) -> Result<Vec<(u32, i64)>, memo::sparse::Error> {
        Ok(self.tables[usize::from(kind == TableKind::Totals)][part].clone())
    }
}
