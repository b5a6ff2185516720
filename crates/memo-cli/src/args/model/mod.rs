//! The commands on a model directory.

mod ask;
mod change;
mod keep;
mod knowledge;
mod make;

pub(crate) use self::ask::{
    ChatOptions, ClosestOptions, CompleteOptions, DiffOptions, ExplainOptions, FileOptions,
    FindOptions, SamplingOptions,
};
pub(crate) use self::change::{
    DocumentOptions, EditOptions, ForgetOptions, ReplaceOptions, RollbackOptions, WhatOptions,
};
pub(crate) use self::keep::{
    ExportOptions, ImportOptions, MergeOptions, ProveOptions, ShowOptions, ToOptions, TraceOptions,
};
pub(crate) use self::knowledge::{
    AskOptions, GraphAddOptions, GraphCommand, GraphExportOptions, GraphShowOptions,
    GraphStateOptions, RulesAddOptions, RulesCommand, RulesTestOptions, RulesWhyOptions,
};
pub(crate) use self::make::{InitOptions, MemorizeOptions, TokenizerOptions};

use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ModelCommand {
    /// Make an empty model.
    #[command(
        after_help = "Examples:\n  memo init notes.memo\n  memo init code.memo --tokenizer o200k --no-words"
    )]
    Init(InitOptions),

    /// Memorize files, folders, globs or standard input; makes the model if there is none.
    #[command(
        after_help = "Examples:\n  memo memorize notes.memo ~/notes\n  memo memorize notes.memo a.txt b.txt --label source=mail\n  memo memorize notes.memo \"notes/**/*.md\"\n  memo memorize notes.memo . --include \"*.md\" --exclude drafts/ --sync\n  memo memorize notes.memo posts.jsonl --jsonl body --id-field slug --label-field author\n  memo memorize code.memo src --tokenizer o200k\n  git log | memo memorize notes.memo - --id git-log"
    )]
    Memorize(MemorizeOptions),

    /// Continue a prompt from memory.
    #[command(
        after_help = "Examples:\n  memo complete notes.memo \"The owl reads\"\n  memo complete notes.memo \"Dear\" -n 50 --temperature 0.8 --top-p 0.9 --seed 3\n  memo complete notes.memo \"The owl reads\" --sources"
    )]
    Complete(CompleteOptions),

    /// Continue one prompt after the other; `:why` explains, `:sources` names documents.
    #[command(
        after_help = "Examples:\n  memo chat notes.memo\n  printf 'The owl\\n:sources\\n' | memo chat notes.memo"
    )]
    Chat(ChatOptions),

    /// Tell how much of a text the model recalls, token by token.
    #[command(after_help = "Examples:\n  memo recall notes.memo notes/owl.txt")]
    Recall(FileOptions),

    /// Tell how probable the model finds a text.
    #[command(after_help = "Examples:\n  memo score notes.memo new.txt --json")]
    Score(FileOptions),

    /// Show why the model continues a prompt as it does: evidence and sources.
    #[command(after_help = "Examples:\n  memo explain notes.memo \"The owl reads\"")]
    Explain(ExplainOptions),

    /// Show the passages that share the rarest words with a text.
    #[command(
        after_help = "Examples:\n  memo closest notes.memo \"which bird reads at night?\"\n  memo closest notes.memo - --passages 10 < question.txt"
    )]
    Closest(ClosestOptions),

    /// Find the documents that contain a text, and its lines.
    #[command(
        after_help = "Examples:\n  memo find notes.memo \"owl\"\n  memo find notes.memo owl --ignore-case --context 2"
    )]
    Find(FindOptions),

    /// Ask for facts: one part of a triple by the two others.
    #[command(
        after_help = "Examples:\n  memo ask notes.memo France capital ?\n  memo ask notes.memo ? capital Paris\n  memo ask notes.memo Ada nationality --why"
    )]
    Ask(AskOptions),

    /// Add, show, change and export graphs: facts as subject, predicate and object.
    #[command(
        subcommand,
        after_help = "Examples:\n  memo graph add notes.memo countries.ttl --language en\n  memo graph show notes.memo France ? ?\n  memo graph state notes.memo France capital Lyon"
    )]
    Graph(GraphCommand),

    /// Add, list and try rules: what follows from texts and facts, and why.
    #[command(
        subcommand,
        after_help = "Examples:\n  memo rules add notes.memo family.toml --dry-run\n  memo rules list notes.memo\n  memo rules why notes.memo \"The birthplace of Ada is London.\""
    )]
    Rules(RulesCommand),

    /// Forget documents, facts or a text: exactly, and for good.
    #[command(
        after_help = "Examples:\n  memo forget notes.memo --doc owl.txt\n  memo forget notes.memo --file notes/owl.txt\n  memo forget notes.memo --label source=mail --older-than 90d --dry-run\n  memo forget notes.memo --glob \"drafts/**\" --yes\n  memo forget notes.memo --fact \"France | capital | ?\"\n  memo forget notes.memo --text -      # reads it from standard input, and keeps it out of the shell's history"
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
        after_help = "Examples:\n  memo edit notes.memo --prompt \"The owl reads at\" --target noon.\n  memo edit notes.memo --prompt \"The owl rea\" --target ches --exact"
    )]
    Edit(EditOptions),

    /// Undo a transaction.
    #[command(after_help = "Examples:\n  memo log notes.memo\n  memo rollback notes.memo 7")]
    Rollback(RollbackOptions),

    /// List the documents.
    #[command(after_help = "Examples:\n  memo docs notes.memo\n  memo docs notes.memo --json")]
    Docs(ModelOptions),

    /// Show a document: its versions and its text.
    #[command(
        after_help = "Examples:\n  memo show notes.memo owl.txt --version 1\n  memo show notes.memo owl.txt --text > owl.txt"
    )]
    Show(ShowOptions),

    /// List the transactions.
    #[command(after_help = "Examples:\n  memo log notes.memo")]
    Log(ModelOptions),

    /// List the transactions that changed a document.
    #[command(after_help = "Examples:\n  memo trace notes.memo owl.txt")]
    Trace(TraceOptions),

    /// Show how large a model is, and what is in it.
    #[command(after_help = "Examples:\n  memo stats notes.memo --json")]
    Stats(ModelOptions),

    /// Print the digest of the memory: equal exactly when two memories are.
    #[command(after_help = "Examples:\n  memo digest notes.memo")]
    Digest(ModelOptions),

    /// Compare two models: their documents, and what they say. Ends with 4 if they differ.
    #[command(
        after_help = "Examples:\n  memo diff notes.memo backup.memo\n  memo diff notes.memo backup.memo \"The owl reads\"\n  memo diff notes.memo backup.memo --prompts prompts.txt --json"
    )]
    Diff(DiffOptions),

    /// Check everything, and name what is damaged.
    #[command(after_help = "Examples:\n  memo verify notes.memo")]
    Verify(ModelOptions),

    /// Prove that forgetting leaves nothing: compare with a memory that never saw the text.
    #[command(
        after_help = "Examples:\n  memo prove notes.memo --without owl.txt      # before or after it is forgotten; changes nothing\n  memo prove notes.memo"
    )]
    Prove(ProveOptions),

    /// Make the memory again from the ledger, as it was or with another lexicon.
    #[command(
        after_help = "Examples:\n  memo rebuild notes.memo\n  memo rebuild notes.memo --lexicon words.lexicon\n  memo rebuild notes.memo --lexicon none"
    )]
    Rebuild(RebuildOptions),

    /// Add the documents of another model of equal settings.
    #[command(after_help = "Examples:\n  memo merge notes.memo other.memo --conflict rename")]
    Merge(MergeOptions),

    /// Copy a model.
    #[command(after_help = "Examples:\n  memo backup notes.memo notes-2026.memo")]
    Backup(ToOptions),

    /// Write a read-only model: the memory alone, without texts.
    #[command(after_help = "Examples:\n  memo freeze notes.memo frozen.memo")]
    Freeze(ToOptions),

    /// Write the memory as safetensors, and the documents as JSON.
    #[command(after_help = "Examples:\n  memo export notes.memo out --without-texts")]
    Export(ExportOptions),

    /// Make a model of an export.
    #[command(after_help = "Examples:\n  memo import out notes.memo")]
    Import(ImportOptions),
}

/// The model, and nothing else.
#[derive(Debug, clap::Args)]
pub(crate) struct RebuildOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// Another lexicon, or any file that `memo lexicon convert` reads; `none` for no lexicon.
    #[arg(long, value_name = "FILE|none")]
    pub(crate) lexicon: Option<PathBuf>,
}

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
