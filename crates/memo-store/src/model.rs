//! `model.toml`: what a model is, apart from what it has memorized.
//!
//! Its first line is `check = "…"`, a hash of the lines after it and of `tokenizer.json`: with another seed or another
//! word a model would not be damaged but a different one, and nothing else would tell.

use crate::damage::Damage;
use crate::error::{Error, io};
use crate::files;
use memo::dense::DenseConfig;
use memo::sparse::{Settings, Shape, Size};
use memo_text::{Tokenizer, TokenizerSpec};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The format of model directories that this program writes.
pub(crate) const FORMAT: u32 = 1;

/// The largest `model.toml` that is read.
const MOST: u64 = 1 << 20;

/// What a model is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The format of the directory.
    pub format: u32,
    /// The engine: `sparse` or `dense`.
    pub engine: String,
    /// The tokenizer's name; one that does not come with the program is in `tokenizer.json`.
    pub tokenizer: String,
    /// Bits a cell, if the model is frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<u32>,
    /// The sizes of the memory.
    pub memory: Sizes,
}

/// The sizes of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sizes {
    /// Of the sparse engine.
    Sparse(Settings),
    /// Of the dense engine.
    Dense(DenseConfig),
}

/// What every format of `model.toml` begins with.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

/// What a new model should be.
#[derive(Clone, Debug)]
pub struct NewModel {
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
    /// Heads, layers and older heads.
    pub shape: Shape,
    /// How large its memory is.
    pub size: Size,
    /// The seed of its keys and codes.
    pub seed: u64,
    /// The dense engine instead, with this configuration; its vocabulary is the tokenizer's.
    pub dense: Option<DenseConfig>,
}

impl Default for NewModel {
    /// GPT-2's tokenizer and 64 MiB: enough for half a million tokens.
    fn default() -> Self {
        NewModel {
            tokenizer: Tokenizer::gpt2(),
            shape: Shape::default(),
            size: Size::Memory(64 << 20),
            seed: 1,
            dense: None,
        }
    }
}

impl NewModel {
    pub(crate) fn model(&self) -> Result<Model, Error> {
        let vocabulary = self.tokenizer.vocab_size();
        let (engine, memory) = if let Some(config) = &self.dense {
            let config = DenseConfig { vocab: vocabulary, ..config.clone() };
            config.check()?;
            ("dense", Sizes::Dense(config))
        } else {
            let (n, end) = (vocabulary as u32, self.tokenizer.eos());
            let settings = Settings::new(n, end, self.seed, &self.shape, self.size)?;
            ("sparse", Sizes::Sparse(settings))
        };
        let (engine, tokenizer) = (engine.to_owned(), self.tokenizer.name().to_owned());
        Ok(Model { format: FORMAT, engine, tokenizer, frozen: None, memory })
    }
}

impl Model {
    pub(crate) fn write(&self, directory: &Path) -> Result<(), Error> {
        let path = directory.join("model.toml");
        let text = toml::to_string(self).map_err(|e| Error::Invalid(e.to_string()))?;
        let check = self.check(directory, &text)?;
        files::write_bytes(&path, format!("check = \"{check}\"\n{text}").as_bytes())
    }

    /// The hash of all but the first line of `model.toml`, and of the tokenizer's file if there is one.
    fn check(&self, directory: &Path, text: &str) -> Result<blake3::Hash, Error> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(text.as_bytes());
        if self.has_file() {
            let path = directory.join("tokenizer.json");
            hasher.update(&std::fs::read(&path).map_err(io(&path))?);
        }
        Ok(hasher.finalize())
    }

    /// Whether the tokenizer is in a file of its own.
    fn has_file(&self) -> bool {
        matches!(self.tokenizer.as_str(), "words" | "huggingface")
    }

    pub(crate) fn read(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("model.toml");
        let damaged = |what: Damage| Error::Damaged {
            path: path.clone(),
            what,
            help: "restore it from a backup",
        };
        let size = match std::fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::NotAModel { path: directory.to_owned() });
            }
            Err(error) => return Err(io(&path)(error)),
        };
        if size > MOST {
            return Err(damaged(Damage::Huge(size)));
        }
        let text = std::fs::read(&path).map_err(io(&path))?;
        let text = String::from_utf8(text).map_err(|_| damaged(Damage::NotText))?;
        let head: Head =
            toml::from_str(&text).map_err(|e| damaged(Damage::Syntax(e.message().to_owned())))?;
        if head.format != FORMAT {
            return Err(Error::Format { path, found: head.format, known: FORMAT });
        }
        let (check, text) = text.split_once('\n').unwrap_or_default();
        let model: Model =
            toml::from_str(text).map_err(|e| damaged(Damage::Syntax(e.message().to_owned())))?;
        if check != format!("check = \"{}\"", model.check(directory, text)?) {
            return Err(damaged(Damage::Checksum("it, or of tokenizer.json,")));
        }
        let checked = match (model.engine.as_str(), &model.memory) {
            ("sparse", Sizes::Sparse(settings)) => settings.check().map_err(|e| e.to_string()),
            ("dense", Sizes::Dense(config)) => config.check().map_err(|e| e.to_string()),
            (engine, _) => Err(format!("its engine is {engine:?}, and its sizes are of another")),
        };
        checked.map_err(|what| damaged(Damage::Sizes(what)))?;
        Ok(model)
    }

    /// The sizes of a sparse memory.
    pub fn sparse(&self) -> Option<&Settings> {
        match &self.memory {
            Sizes::Sparse(settings) => Some(settings),
            Sizes::Dense(_) => None,
        }
    }

    /// The sizes of a sparse memory, for something that needs one.
    pub(crate) fn need_sparse(&self, what: &'static str) -> Result<&Settings, Error> {
        self.sparse().ok_or(Error::Engine(what))
    }

    /// The model's tokenizer.
    pub(crate) fn tokenizer(&self, directory: &Path) -> Result<Tokenizer, Error> {
        let path = directory.join("tokenizer.json");
        let spec = if self.has_file() {
            TokenizerSpec::File(path.clone())
        } else {
            self.tokenizer.parse()?
        };
        let tokenizer = Tokenizer::from_spec(&spec)?;
        let expected = match &self.memory {
            Sizes::Sparse(settings) => (settings.vocabulary as usize, settings.end),
            Sizes::Dense(config) => (config.vocab, tokenizer.eos()),
        };
        if (tokenizer.vocab_size(), tokenizer.eos()) != expected {
            let what =
                Damage::Unfitting(format!("a tokenizer of {} tokens", tokenizer.vocab_size()));
            return Err(Error::Damaged { path, what, help: "restore it from a backup" });
        }
        Ok(tokenizer)
    }
}
