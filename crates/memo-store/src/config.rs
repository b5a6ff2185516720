//! `model.toml`: what a model is, apart from what it has memorized.
//!
//! Its first line is `check = "…"`, a hash of the lines after it and of `tokenizer.json`: with another seed or another
//! word a model would not be damaged but a different one, and nothing else would tell.

use crate::damage::Damage;
use crate::error::{Error, io};
use crate::files;
use memo::lexicon::Lexicon;
use memo::sparse::Settings;
use memo_text::{Tokenizer, TokenizerSpec};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The format of model directories that this program writes.
pub(crate) const FORMAT: u32 = 2;

/// The only engine of model directories.
const ENGINE: &str = "sparse";

/// The largest `model.toml` that is read.
const MOST: u64 = 1 << 20;

const HELP: &str = "restore it from a backup";

/// What a model is: its tokenizer and the contexts of its memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The format of the directory.
    pub format: u32,
    /// The engine: `sparse`.
    pub engine: String,
    /// The tokenizer's name; one that does not come with the program is in `tokenizer.json`.
    pub tokenizer: String,
    /// Whether the model is frozen: a memory without texts, which cannot change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frozen: bool,
    /// The contexts of the memory, and its seed.
    pub memory: Settings,
}

/// What every `model.toml` begins with, whatever its format and engine.
#[derive(Deserialize)]
struct Head {
    format: u32,
    #[serde(default)]
    engine: String,
}

/// `model.toml` as it was in format 1, whose memories had a size.
#[derive(Deserialize)]
struct Format1 {
    engine: String,
    tokenizer: String,
    frozen: Option<u32>,
    memory: Format1Memory,
}

#[derive(Deserialize)]
struct Format1Memory {
    vocabulary: u32,
    end: u32,
    seed: u64,
}

impl Format1 {
    /// The same model with a memory of today, to be made from the ledger. Contexts of words come with it.
    fn upgraded(self, directory: &Path) -> Result<ModelConfig, Error> {
        let Format1 { engine, tokenizer, frozen, memory } = self;
        if frozen.is_some() {
            return Err(Error::FrozenFormat { path: directory.to_owned() });
        }
        let memory = Settings::new(memory.vocabulary, memory.end, memory.seed)?.with_words();
        Ok(ModelConfig { format: FORMAT, engine, tokenizer, frozen: false, memory })
    }
}

/// What a new model should be.
#[derive(Clone, Debug)]
pub struct NewModel {
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
    /// Whether it has contexts of words beside those of tokens, so that case and layout of a prompt do not matter.
    pub words: bool,
    /// The seed of its keys.
    pub seed: u64,
    /// Which words are alike, if somebody says so: contexts are generalised by it.
    pub lexicon: Option<Arc<Lexicon>>,
}

impl Default for NewModel {
    /// GPT-2's tokenizer, and contexts of words.
    fn default() -> Self {
        NewModel { tokenizer: Tokenizer::gpt2(), words: true, seed: 1, lexicon: None }
    }
}

impl NewModel {
    pub(crate) fn config(&self) -> Result<ModelConfig, Error> {
        let (n, end) = (self.tokenizer.vocab_size() as u32, self.tokenizer.eos());
        let memory = Settings::new(n, end, self.seed)?;
        let memory = if self.words { memory.with_words() } else { memory };
        let memory = memory.with_lexicon(self.lexicon.as_deref());
        memory.check()?;
        let (engine, tokenizer) = (ENGINE.to_owned(), self.tokenizer.name().to_owned());
        Ok(ModelConfig { format: FORMAT, engine, tokenizer, frozen: false, memory })
    }
}

impl ModelConfig {
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
        let damaged = |what: Damage| Error::Damaged { path: path.clone(), what, help: HELP };
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
        let syntax = |e: toml::de::Error| damaged(Damage::Syntax(e.message().to_owned()));
        let head: Head = toml::from_str(&text).map_err(syntax)?;
        if ![1, FORMAT].contains(&head.format) {
            return Err(Error::Format { path, found: head.format, known: FORMAT });
        }
        if head.engine == "dense" {
            return Err(Error::Engine { path: directory.to_owned(), engine: head.engine });
        }
        let (check, text) = text.split_once('\n').unwrap_or_default();
        let config: ModelConfig = match head.format {
            1 => toml::from_str::<Format1>(text).map_err(syntax)?.upgraded(directory)?,
            _ => toml::from_str(text).map_err(syntax)?,
        };
        if check != format!("check = \"{}\"", config.check(directory, text)?) {
            return Err(damaged(Damage::Checksum("it, or of tokenizer.json,")));
        }
        if config.engine != ENGINE {
            let what = format!("its engine is {:?}", config.engine);
            return Err(damaged(Damage::Sizes(what)));
        }
        config.memory.check().map_err(|what| damaged(Damage::Sizes(what.to_string())))?;
        Ok(config)
    }

    /// Writes `model.toml` in today's format if it is of an older one; returns whether it was.
    pub(crate) fn upgrade(&self, directory: &Path) -> Result<bool, Error> {
        let path = directory.join("model.toml");
        let text = std::fs::read_to_string(&path).map_err(io(&path))?;
        let head: Head = toml::from_str(&text).map_err(|e| Error::Invalid(e.to_string()))?;
        if head.format == FORMAT {
            return Ok(false);
        }
        self.write(directory)?;
        Ok(true)
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
        let fits = (tokenizer.vocab_size(), tokenizer.eos())
            == (self.memory.vocabulary as usize, self.memory.end);
        if !fits {
            let what =
                Damage::Unfitting(format!("a tokenizer of {} tokens", tokenizer.vocab_size()));
            return Err(Error::Damaged { path, what, help: HELP });
        }
        Ok(tokenizer)
    }
}
