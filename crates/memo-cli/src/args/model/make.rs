//! Arguments of the commands that make a model and memorize documents.

use super::ReasonOptions;
use crate::args::values::{between, bytes, label, label_name};
use memo_text::{CorpusOptions, TokenizerSpec};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct TokenizerOptions {
    /// The tokenizer of a new model: gpt2 (if not given), cl100k, o200k, bytes, words, a tokenizer.json, or a model's .gguf.
    #[arg(long, value_name = "T")]
    pub(crate) tokenizer: Option<TokenizerSpec>,

    /// The text whose words are the vocabulary of the tokenizer `words`.
    #[arg(long, value_name = "FILE")]
    pub(crate) vocab_from: Option<PathBuf>,

    /// Which words are alike: a lexicon, or any file that `memo lexicon convert` reads.
    #[arg(long, value_name = "FILE")]
    pub(crate) lexicon: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitOptions {
    /// The directory to make, e.g. notes.memo.
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(crate) tokenizer: TokenizerOptions,

    /// Know tokens alone: case and layout of a prompt then matter, and the memory is an eighth smaller.
    #[arg(long)]
    pub(crate) no_words: bool,

    /// The seed of keys; only models of equal seeds can be merged.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = between(0..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

/// How files are read.
#[derive(Debug, clap::Args)]
pub(crate) struct CorpusArgs {
    /// Read the files as JSONL, with the text in this field.
    #[arg(long, value_name = "FIELD")]
    jsonl: Option<String>,

    /// The JSONL field that holds ids, which every line must have; `id`, where a line has it, if not given.
    #[arg(long, value_name = "FIELD")]
    id_field: Option<String>,

    /// A JSONL field that becomes a label; may be given several times.
    #[arg(long = "label-field", value_name = "FIELD", value_parser = label_name)]
    label_fields: Vec<String>,

    /// What all ids begin with, e.g. work/.
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    prefix: Option<String>,

    /// Of folders and globs, read only files that match, e.g. "*.md" or docs/; may be given several times.
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Of folders and globs, leave out what matches; may be given several times.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Read what .gitignore and .ignore files name, too.
    #[arg(long)]
    no_ignore: bool,

    /// Memorize nothing if a file of a folder or glob cannot be read; without it, such a file is skipped.
    #[arg(long)]
    strict: bool,

    /// The largest document that is read, 256MiB if not given.
    #[arg(long, value_name = "SIZE", value_parser = bytes, allow_hyphen_values = true)]
    max_bytes: Option<u64>,
}

impl CorpusArgs {
    /// Whether ids were given something to begin with.
    pub(crate) fn names(&self) -> bool {
        self.prefix.is_some()
    }

    pub(crate) fn options(&self) -> CorpusOptions {
        let default = CorpusOptions::default();
        CorpusOptions {
            jsonl: self.jsonl.is_some(),
            text_field: self.jsonl.clone().unwrap_or(default.text_field),
            id_field: self.id_field.clone(),
            label_fields: self.label_fields.clone(),
            prefix: self.prefix.clone().unwrap_or_default(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            ignore: !self.no_ignore,
            strict: self.strict,
            max_bytes: self.max_bytes.unwrap_or(default.max_bytes),
            encoding: default.encoding,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct MemorizeOptions {
    /// The model's directory; made if it is not there.
    pub(crate) model: PathBuf,

    /// Files, folders, globs in quotes ("notes/**/*.md"), or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// The document's id, if there is just one; standard input has none of its own.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// A label for every document.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,

    #[command(flatten)]
    pub(crate) tokenizer: TokenizerOptions,

    /// Let documents replace those of the same ids that come from other files.
    #[arg(long)]
    pub(crate) replace: bool,

    /// Retire the documents of the given folders and files whose text is gone from them.
    #[arg(long)]
    pub(crate) sync: bool,

    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}
