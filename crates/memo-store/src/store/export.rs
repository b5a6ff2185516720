//! Export and import: a model as safetensors and JSON, for other programs and other machines.
//!
//! `memory.safetensors` has `unigrams` and, of each table, the packed entries of all partitions one after the other
//! (`pairs.entries`), the bytes and the number of large counts of each partition (`pairs.lengths`), and the ranks and values
//! of the large counts (`pairs.large`). `model.json` has the settings, the tokenizer, the digest and, unless they were
//! left out, the live documents with their tokens.
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
use crate::lexicon;
use crate::memory::Blueprint;
use crate::progress::Observer;
use crate::record::{CopyKind, Role};
use memo::lexicon::Lexicon;
use memo::sparse::{FrozenBits, LargeCount, Memory, PARTITIONS, SavedMemory, Section, TableKind};
use memo_text::Tokenizer;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

const MEMORY: &str = "memory.safetensors";
const MODEL: &str = "model.json";

#[derive(Serialize, Deserialize)]
struct Exported {
    format: u32,
    model: ModelConfig,
    tokenizer: Option<String>,
    /// In canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lexicon: Option<String>,
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
            lexicon: self.lexicon().map(|lexicon| lexicon.to_text()),
            digest: self.digest()?.to_string(),
            transaction: self.transaction,
            documents: texts.then_some(documents),
        };
        let json = serde_json::to_vec(&exported).map_err(|e| Error::Invalid(e.to_string()))?;
        self.copy_to_new(to, CopyKind::Exported, |store, directory| {
            let tensors = tensors(store.memory()?)?;
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
        let tokenizer = match &exported.tokenizer {
            Some(json) => Tokenizer::from_json(json.as_bytes())?,
            None => Tokenizer::from_spec(&exported.model.tokenizer.parse()?)?,
        };
        let lexicon = exported.lexicon.as_deref().map(|text| {
            let lexicon = Lexicon::from_bytes(text.as_bytes());
            lexicon.map(Arc::new).map_err(|e| damaged(Damage::Syntax(e.to_string())))
        });
        let blueprint = Blueprint::new(&exported.model, &tokenizer, lexicon.transpose()?);
        let memory = read_memory(&from.join(MEMORY), &blueprint)?;
        if memory.digest()?.to_string() != exported.digest {
            return Err(damaged(Damage::Digest("the exported memory")));
        }
        files::create_directory(to, |directory| {
            lexicon::write(directory, blueprint.lexicon().map(|lexicon| &**lexicon))?;
            fill(directory, from, exported, &memory, &damaged)
        })
    }
}

/// Writes the files of an imported model: its documents memorized anew or, without them, a frozen memory.
fn fill(
    directory: &Path,
    from: &Path,
    exported: Exported,
    memory: &Memory,
    damaged: &impl Fn(Damage) -> Error,
) -> Result<(), Error> {
    if let Some(json) = &exported.tokenizer {
        Tokenizer::from_json(json.as_bytes())?;
        files::write_bytes(&directory.join("tokenizer.json"), json.as_bytes())?;
    }
    let Some(documents) = exported.documents else {
        let transaction = exported.transaction;
        let path = directory.join(checkpoint::name(transaction));
        let (bits, observer) = (FrozenBits::default(), Observer::default());
        let beside = checkpoint::write_frozen(&path, memory, bits, transaction, &observer)?;
        files::rename(&beside, &path)?;
        return ModelConfig { frozen: true, ..exported.model }.write(directory);
    };
    Ledger::create(directory)?;
    exported.model.write(directory)?;
    let mut store = Store::open(directory)?;
    let contents = documents.into_iter().map(|document| {
        let ExportedDocument { id, labels, role, parts } = document;
        (Some(id), labels, Content { parts, role })
    });
    store.memorize_contents(contents.collect(), None, Some("imported"))?;
    if store.digest()?.to_string() != exported.digest {
        return Err(damaged(Damage::Digest("its documents")));
    }
    // What is forgotten here later is still there.
    store.note_copy(from, CopyKind::Exported)?;
    store.checkpoint()
}

fn tensors(memory: &Memory) -> Result<Vec<Tensor>, Error> {
    let tensor = |name: &str, dtype, bytes: Vec<u8>, size: usize| Tensor {
        name: name.to_owned(),
        dtype,
        shape: vec![bytes.len() / size],
        bytes,
    };
    let unigrams = memory.unigrams().iter().flat_map(|count| count.to_le_bytes()).collect();
    let mut tensors = vec![tensor("unigrams", Dtype::I64, unigrams, 8)];
    for kind in TableKind::ALL {
        let (mut entries, mut lens, mut large) = (Vec::new(), Vec::new(), Vec::new());
        for partition in 0..PARTITIONS {
            let packed = memory.partition(kind, partition)?;
            lens.extend((packed.bytes.len() as u64).to_le_bytes());
            lens.extend((packed.large.len() as u64).to_le_bytes());
            entries.extend_from_slice(&packed.bytes);
            for LargeCount { rank, count } in packed.large.iter() {
                large.extend(rank.to_le_bytes());
                large.extend(count.to_le_bytes());
            }
        }
        let name = |part: &str| format!("{}.{part}", kind.name());
        tensors.push(tensor(&name("entries"), Dtype::U8, entries, 1));
        tensors.push(tensor(&name("lengths"), Dtype::U64, lens, 8));
        tensors.push(tensor(&name("large"), Dtype::I64, large, 8));
    }
    Ok(tensors)
}

fn read_memory(path: &Path, blueprint: &Blueprint) -> Result<Memory, Error> {
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
    let mut partitions = Vec::new();
    for kind in TableKind::ALL {
        let name = |part: &str| format!("{}.{part}", kind.name());
        let unfitting = || damaged(Damage::Unfitting(kind.name().to_owned()));
        let entries = get(&name("entries"), Dtype::U8)?;
        let lens = numbers(&get(&name("lengths"), Dtype::U64)?, u64::from_le_bytes);
        let large = numbers(&get(&name("large"), Dtype::I64)?, i64::from_le_bytes);
        let (mut entries, mut large) = (&entries[..], large.as_chunks::<2>().0);
        for len in lens.as_chunks::<2>().0 {
            let [bytes, counts] = len.map(|len| usize::try_from(len).unwrap_or(usize::MAX));
            let own;
            (own, entries) = entries.split_at_checked(bytes).ok_or_else(unfitting)?;
            let own_large;
            (own_large, large) = large.split_at_checked(counts).ok_or_else(unfitting)?;
            let counts =
                own_large.iter().map(|&[rank, count]| LargeCount { rank: rank as u64, count });
            partitions.push((own.to_vec(), counts.collect()));
        }
    }
    if partitions.len() != TableKind::ALL.len() * PARTITIONS {
        return Err(damaged(Damage::Unfitting("the number of partitions".to_owned())));
    }
    let unigrams = numbers(&get("unigrams", Dtype::I64)?, i64::from_le_bytes);
    let saved = Read { unigrams, partitions };
    let memory = Memory::restore(blueprint.settings.clone(), blueprint.words.clone(), &saved)?;
    memory.verify()?;
    Ok(memory)
}

/// What was read of an exported memory.
struct Read {
    unigrams: Vec<i64>,
    /// Of each table, one after the other.
    partitions: Vec<(Vec<u8>, Vec<LargeCount>)>,
}

/// Bytes in RAM.
struct Own(Vec<u8>);

impl Section for Own {
    fn bytes(&self) -> Result<&[u8], memo::sparse::Error> {
        Ok(&self.0)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl SavedMemory for Read {
    fn unigrams(&self) -> Result<Vec<i64>, memo::sparse::Error> {
        Ok(self.unigrams.clone())
    }

    fn partition(
        &self,
        kind: TableKind,
        partition: usize,
    ) -> Result<(Arc<dyn Section>, Vec<LargeCount>), memo::sparse::Error> {
        let (bytes, large) = &self.partitions[kind as usize * PARTITIONS + partition];
        Ok((Arc::new(Own(bytes.clone())), large.clone()))
    }

    fn derived(&self) -> Result<Option<Vec<i64>>, memo::sparse::Error> {
        Ok(None)
    }
}
