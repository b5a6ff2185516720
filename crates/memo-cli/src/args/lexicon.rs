//! What can be typed about lexicons.

use super::values::{Depths, between, depths};
use memo::lexicon::{MAX_INDUCED, MAX_LEVELS};
use memo_text::{LexiconFormat, LexiconOptions, OnConflict, TokenizerSpec};
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum LexiconCommand {
    /// Induce a lexicon from text: words that stand between the same words get the same class.
    #[command(
        after_help = "Examples:\n  memo lexicon induce notes/ -o words.lexicon\n  memo lexicon induce book.txt --classes 500 --min-count 3 -o words.lexicon\n\nThe lexicon keeps a digest of each text that it was induced from; docs/lexicon.md says what it remembers of them."
    )]
    Induce(InduceOptions),

    /// Make a lexicon of a table, JSONL, a thesaurus or ontology (Turtle, N-Triples), or WordNet.
    #[command(
        after_help = "Examples:\n  memo lexicon convert cars.tsv -o cars.lexicon              # word<TAB>class\n  memo lexicon convert thesaurus.ttl --language en --depth 3,1 -o words.lexicon\n  memo lexicon convert wordnet --depth 6 --inflect -o wordnet.lexicon\n  memo lexicon convert wordnet --all-senses --on-conflict drop -o certain.lexicon"
    )]
    Convert(ConvertOptions),

    /// Show a lexicon, one of its classes, or a word.
    #[command(
        after_help = "Examples:\n  memo lexicon show words.lexicon\n  memo lexicon show words.lexicon car\n  memo lexicon show words.lexicon --most 100 --json"
    )]
    Show(ShowOptions),

    /// Tell what part of a text a lexicon covers, what it is worth there, and which words it lacks.
    #[command(
        after_help = "Examples:\n  memo lexicon check words.lexicon notes/\n  memo lexicon check wordnet.lexicon notes/ --coverage\n  memo lexicon check words.lexicon book.txt --most 100 --json"
    )]
    Check(CheckOptions),
}

/// Where a lexicon is written.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputOptions {
    /// The file to write.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Replace the file if there is one.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InduceOptions {
    /// Files, folders, globs or .jsonl; - for standard input.
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) texts: Vec<PathBuf>,

    /// How many classes there are at most.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = between(1usize..=MAX_INDUCED))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) classes: usize,

    /// How often a word must occur to get a class of its like; rarer ones share the class (rare).
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = between(1u32..=u32::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) min_count: u32,

    /// How often all words are looked at, at most.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = between(1usize..=1_000))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) rounds: usize,

    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConvertOptions {
    /// The file, WordNet's folder, or `wordnet` for that of Debian's package wordnet-base.
    pub(crate) file: PathBuf,

    /// The format, if the name does not tell: lexicon, table, csv, jsonl, turtle, ntriples or wordnet.
    #[arg(long, value_name = "F")]
    format: Option<LexiconFormat>,

    /// The language of labels in Turtle and N-Triples, e.g. en; all if not given.
    #[arg(long, value_name = "L")]
    language: Option<String>,

    /// Cut a hierarchy at this depth from its top; several, such as 6,3, are levels, the finest first.
    #[arg(long, value_name = "N,…", value_parser = depths, allow_hyphen_values = true)]
    depth: Option<Depths>,

    /// Without --depth, how many concepts above a word are its classes.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = between(1usize..=MAX_LEVELS))]
    #[arg(conflicts_with = "depth", allow_negative_numbers = true)]
    levels: usize,

    /// What becomes of a word with several classes on a level: first, drop or error. If not given, error in tables and JSONL, else first.
    #[arg(long, value_name = "RULE")]
    on_conflict: Option<OnConflict>,

    /// Read all senses of WordNet's words; otherwise the most frequent one.
    #[arg(long)]
    all_senses: bool,

    /// Enter regular English inflections too (and WordNet's exceptions): drives, drove, driving for drive.
    #[arg(long)]
    inflect: bool,

    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

impl ConvertOptions {
    pub(crate) fn options(&self) -> LexiconOptions {
        LexiconOptions {
            format: self.format,
            language: self.language.clone(),
            depths: self.depth.clone().unwrap_or_default().0,
            levels: self.levels,
            on_conflict: self.on_conflict,
            all_senses: self.all_senses,
            inflect: self.inflect,
            ..LexiconOptions::default()
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowOptions {
    /// The lexicon, in any format.
    pub(crate) file: PathBuf,

    /// A class or a word; the largest classes if not given.
    #[arg(value_name = "WORD|CLASS")]
    pub(crate) name: Option<String>,

    /// How many classes, or members of a class, to show.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = between(1usize..=usize::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) most: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckOptions {
    /// The lexicon, in any format.
    pub(crate) file: PathBuf,

    /// Files, folders, globs or .jsonl; - for standard input.
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) texts: Vec<PathBuf>,

    /// Tell what it covers alone; otherwise the last fifth of the text is also held out of a memory, for perplexity with the lexicon and without.
    #[arg(long)]
    pub(crate) coverage: bool,

    /// The tokenizer of that memory: gpt2, cl100k, o200k, bytes, words, a tokenizer.json, or a model's .gguf.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    pub(crate) tokenizer: TokenizerSpec,

    /// How many words without a class to show.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = between(0usize..=usize::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) most: usize,
}
