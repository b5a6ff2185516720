//! What can be typed about a model directory.

use super::Engine;
use memo_text::TokenizerSpec;
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ModelCommand {
    /// Make an empty model.
    #[command(
        after_help = "Examples:\n  memo init notes.memo\n  memo init big.memo --memory 2GiB --tokenizer cl100k\n  memo init paper.memo --engine dense --dim 2048 --heads 4 --layers 3"
    )]
    Init(InitOptions),

    /// Memorize files, folders or standard input; makes the model if there is none.
    #[command(
        after_help = "Examples:\n  memo memorize notes.memo ~/notes\n  memo memorize notes.memo a.txt b.txt --label source=mail\n  memo memorize notes.memo posts.jsonl --jsonl body\n  git log | memo memorize notes.memo - --id git-log"
    )]
    Memorize(MemorizeOptions),

    /// Continue a prompt from memory.
    #[command(
        after_help = "Examples:\n  memo complete notes.memo \"The owl reads\"\n  memo complete notes.memo \"Dear\" -n 50 --temperature 0.8 --top-p 0.9 --seed 3"
    )]
    Complete(CompleteOptions),

    /// Tell how much of a text the model recalls, token by token.
    #[command(after_help = "Examples:\n  memo recall notes.memo notes/owl.txt")]
    Recall(FileOptions),

    /// Tell how probable the model finds a text.
    #[command(after_help = "Examples:\n  memo score notes.memo new.txt --json")]
    Score(FileOptions),

    /// Show why the model continues a prompt as it does: evidence and sources.
    #[command(after_help = "Examples:\n  memo explain notes.memo \"The owl reads\"")]
    Explain(ExplainOptions),

    /// Find the documents that contain a text.
    #[command(after_help = "Examples:\n  memo find notes.memo \"owl\"")]
    Find(TextOptions),

    /// Forget a document or a text: exactly, and for good.
    #[command(
        after_help = "Examples:\n  memo forget notes.memo --doc owl.txt\n  memo forget notes.memo --file notes/owl.txt\n  memo forget notes.memo --text -      # reads it from standard input, and keeps it out of the shell's history"
    )]
    Forget(ForgetOptions),

    /// Take a document out of the memory, and keep it.
    #[command(after_help = "Examples:\n  memo retire notes.memo owl.txt --reason outdated")]
    Retire(DocumentOptions),

    /// Bring a retired document back.
    #[command(after_help = "Examples:\n  memo restore notes.memo owl.txt")]
    Restore(DocumentOptions),

    /// Replace a text in one document or in all.
    #[command(
        after_help = "Examples:\n  memo replace notes.memo --old 1984 --new 1985 --doc owl.txt"
    )]
    Replace(ReplaceOptions),

    /// Give a prompt another continuation.
    #[command(
        after_help = "Examples:\n  memo edit notes.memo --prompt \"The owl reads at\" --target \" noon.\""
    )]
    Edit(EditOptions),

    /// Undo a transaction.
    #[command(after_help = "Examples:\n  memo log notes.memo\n  memo rollback notes.memo 7")]
    Rollback(RollbackOptions),

    /// List the documents.
    #[command(after_help = "Examples:\n  memo docs notes.memo\n  memo docs notes.memo --json")]
    Docs(ModelOptions),

    /// Show a document: its versions and its text.
    #[command(after_help = "Examples:\n  memo show notes.memo owl.txt --version 1")]
    Show(ShowOptions),

    /// List the transactions.
    #[command(after_help = "Examples:\n  memo log notes.memo")]
    Log(ModelOptions),

    /// List the transactions that changed a document.
    #[command(after_help = "Examples:\n  memo trace notes.memo owl.txt")]
    Trace(DocumentOptions),

    /// Show how large and how full a model is.
    #[command(after_help = "Examples:\n  memo stats notes.memo --json")]
    Stats(ModelOptions),

    /// Print the digest of the memory: equal exactly when two memories are.
    #[command(after_help = "Examples:\n  memo digest notes.memo")]
    Digest(ModelOptions),

    /// Check everything, and name what is damaged.
    #[command(after_help = "Examples:\n  memo verify notes.memo")]
    Verify(ModelOptions),

    /// Make the memory again from the ledger, larger or smaller if asked.
    #[command(
        after_help = "Examples:\n  memo rebuild notes.memo\n  memo rebuild notes.memo --memory 2GiB"
    )]
    Rebuild(RebuildOptions),

    /// Add the documents of another model of equal settings.
    #[command(after_help = "Examples:\n  memo merge notes.memo other.memo --conflict rename")]
    Merge(MergeOptions),

    /// Copy a model.
    #[command(after_help = "Examples:\n  memo backup notes.memo notes-2026.memo")]
    Backup(ToOptions),

    /// Write a read-only model with fewer bits a cell, without texts.
    #[command(after_help = "Examples:\n  memo freeze notes.memo small.memo --bits 1")]
    Freeze(FreezeOptions),

    /// Write the memory as safetensors, and the documents as JSON.
    #[command(after_help = "Examples:\n  memo export notes.memo out --without-texts")]
    Export(ExportOptions),

    /// Make a model of an export.
    #[command(after_help = "Examples:\n  memo import out notes.memo")]
    Import(ImportOptions),
}

/// The model, and nothing else.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SizeOptions {
    /// The size of the cells, e.g. 512MiB; tables grow with the text and come on top.
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "params")]
    pub(crate) memory: Option<u64>,

    /// The number of cells, one byte each; 92 a token recall everything.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1 << 16..1 << 40))]
    pub(crate) params: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShapeOptions {
    /// The engine: sparse, or dense (the paper's, for study).
    #[arg(long, value_name = "E", default_value = "sparse")]
    pub(crate) engine: Engine,

    /// Heads: the blocks that a window is cut into.
    #[arg(long, value_name = "H", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub(crate) heads: Option<u32>,

    /// Layers: layer i sees windows of H^i tokens.
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) layers: Option<u32>,

    /// Top layers whose older heads are used too: they make a damaged prompt recall (sparse engine).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=16))]
    pub(crate) older: Option<u32>,

    /// The dimension of codes (dense engine).
    #[arg(long, value_name = "D", default_value_t = 2048)]
    pub(crate) dim: usize,

    /// gpt2, cl100k, o200k, bytes, words, or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    pub(crate) tokenizer: TokenizerSpec,

    /// The text whose words are the vocabulary of the tokenizer `words`.
    #[arg(long, value_name = "FILE")]
    pub(crate) vocab_from: Option<PathBuf>,

    /// The seed of keys and codes; only models of equal seeds can be merged.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitOptions {
    /// The directory to make, e.g. notes.memo.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) size: SizeOptions,
    #[command(flatten)]
    pub(crate) shape: ShapeOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MemorizeOptions {
    /// The model's directory; made with room for the input if it is not there.
    pub(crate) model: PathBuf,

    /// Files, folders, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the files as JSONL, with the text in this field.
    #[arg(long, value_name = "FIELD")]
    pub(crate) jsonl: Option<String>,

    /// The document's id, if there is just one.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// A label for every document.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Memorize even if the memory is then too full to recall everything.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReasonOptions {
    /// Why, for the log.
    #[arg(long, value_name = "WORDS")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompleteOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What to continue.
    pub(crate) prompt: String,
    /// The most tokens to add.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 32)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) tokens: u32,
    /// 0 takes the most probable token each time; 1 draws in proportion.
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = temperature)]
    pub(crate) temperature: f64,
    /// Draw only from this many of the most probable tokens; 0 is all.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) top_k: usize,
    /// Draw only from the most probable tokens that together have this probability.
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = share)]
    pub(crate) top_p: f64,
    /// The seed of the draws.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// End before this text.
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) stop: Vec<String>,
    /// Print tokens as they come.
    #[arg(long)]
    pub(crate) stream: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text: a file, a folder, a .jsonl, or - for standard input.
    pub(crate) file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What to continue.
    pub(crate) prompt: String,
    /// How many of the most probable tokens to explain.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) candidates: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TextOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text; - reads it from standard input.
    pub(crate) text: String,
}

#[derive(Debug, clap::Args)]
#[group(id = "what", required = true, multiple = false, args = ["doc", "file", "text"])]
pub(crate) struct ForgetOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// Forget this document with all its versions; may be given several times.
    #[arg(long, value_name = "ID")]
    pub(crate) doc: Vec<String>,
    /// Forget the document with the content of this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Forget this text wherever it stands; - reads it from standard input.
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DocumentOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The document's id.
    pub(crate) document: String,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The document's id.
    pub(crate) document: String,
    /// Which version; the current one if not given.
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplaceOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text to replace.
    #[arg(long, value_name = "TEXT")]
    pub(crate) old: String,
    /// What to put in its place.
    #[arg(long, value_name = "TEXT")]
    pub(crate) new: String,
    /// Only in this document.
    #[arg(long, value_name = "ID")]
    pub(crate) doc: Option<String>,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EditOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The prompt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: String,
    /// What should follow it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RollbackOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The transaction's number.
    pub(crate) transaction: u64,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RebuildOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) size: SizeOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MergeOptions {
    /// The model that gets the documents.
    pub(crate) model: PathBuf,
    /// The model whose documents come.
    pub(crate) other: PathBuf,
    /// What to do with a document that both have with different contents.
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    pub(crate) conflict: ConflictKind,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ConflictKind {
    Refuse,
    Ours,
    Theirs,
    Rename,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ToOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The directory to make.
    pub(crate) to: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FreezeOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The directory to make.
    pub(crate) to: PathBuf,
    /// Bits a cell: 8, 2 or 1.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) bits: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The directory to make.
    pub(crate) to: PathBuf,
    /// Leave the documents out; what is imported can then only be read.
    #[arg(long)]
    pub(crate) without_texts: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportOptions {
    /// The directory that `memo export` made.
    pub(crate) from: PathBuf,
    /// The model to make.
    pub(crate) model: PathBuf,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    if key.is_empty() { Err("must be KEY=VALUE".into()) } else { Ok((key.into(), value.into())) }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("must be between 0 and 1".to_owned()),
    }
}

fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err("must be between 0 and 100".to_owned()),
    }
}

/// 512MiB, 2GB, 1.5GiB, 100000.
fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 7] = [
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("", 1.0),
    ];
    let number = |unit: &str| text.trim().strip_suffix(unit)?.trim().parse::<f64>().ok();
    let parsed = UNITS.iter().find_map(|(unit, factor)| Some(number(unit)? * factor));
    match parsed {
        Some(bytes) if (65_536.0..=1e12).contains(&bytes) => Ok(bytes as u64),
        Some(_) => Err("must be between 64KiB and 1000GB".to_owned()),
        None => Err("must be a size such as 512MiB or 2GiB".to_owned()),
    }
}
