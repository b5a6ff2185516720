//! What can be typed about a model directory.

mod ask;
mod change;
mod keep;
mod make;

pub(crate) use self::ask::{CompleteOptions, ExplainOptions, FileOptions, TextOptions};
pub(crate) use self::change::{
    DocumentOptions, EditOptions, ForgetOptions, ReplaceOptions, RollbackOptions,
};
pub(crate) use self::keep::{
    ExportOptions, FreezeOptions, ImportOptions, MergeOptions, RebuildOptions, ShowOptions,
    ToOptions, TraceOptions,
};
pub(crate) use self::make::{InitOptions, MemorizeOptions, ShapeOptions, SizeOptions};

use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ModelCommand {
    /// Make an empty model.
    #[command(
        after_help = "Examples:\n  memo init notes.memo\n  memo init big.memo --memory 2GiB --tokenizer cl100k\n  memo init own.memo --slots 0:1,0:2,0:4,0:8,8:8"
    )]
    Init(InitOptions),

    /// Memorize files, folders, globs or standard input; makes the model if there is none.
    #[command(
        after_help = "Examples:\n  memo memorize notes.memo ~/notes\n  memo memorize notes.memo a.txt b.txt --label source=mail\n  memo memorize notes.memo \"notes/**/*.md\"\n  memo memorize notes.memo . --include \"*.md\" --exclude drafts/ --sync\n  memo memorize notes.memo posts.jsonl --jsonl body --id-field slug --label-field author\n  git log | memo memorize notes.memo - --id git-log"
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
    Trace(TraceOptions),

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
pub(crate) struct ReasonOptions {
    /// Why, for the log.
    #[arg(long, value_name = "WORDS")]
    pub(crate) reason: Option<String>,
}
