//! The measurement of a text, shared by both programs: reads and tokenizes the files, and prints the report.

use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use memo::measure::{self, Experiment};
use memo::readout::BACKOFF;
use memo::words::Words;
use memo_text::{
    Content, Corpus, CorpusOptions, Encoding, LexiconOptions, Tokenizer, TokenizerSpec,
    read_lexicon,
};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The command-line options of a measurement.
#[derive(Debug, clap::Args)]
pub struct MeasureOptions {
    /// The text to memorize: a file, a folder, a .jsonl, or - for standard input.
    #[arg(long, value_name = "FILE")]
    text: PathBuf,

    #[command(flatten)]
    options: TextOptions,
}

/// The same options without the text.
#[derive(Debug, clap::Args)]
pub struct TextOptions {
    /// Text that is not memorized, for perplexity.
    #[arg(long, value_name = "FILE")]
    held_out: Option<PathBuf>,

    /// gpt2, cl100k, o200k, bytes, words (vocabulary from the text), or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    tokenizer: TokenizerSpec,

    /// Remember contexts of tokens alone, not those of words that make case and layout of a prompt indifferent.
    #[arg(long)]
    no_words: bool,

    /// Generalise contexts by a lexicon, in any format that `memo lexicon convert` reads.
    #[arg(long, value_name = "FILE", conflicts_with = "no_words")]
    lexicon: Option<PathBuf>,

    /// Positions to try recall at, chosen at random; 0 tries all.
    #[arg(long, value_name = "N", default_value_t = 3000)]
    sample: usize,

    /// The seed that everything random comes from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Threads to use; 0 takes all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
}

/// Measures the sparse engine on a text.
pub fn run(measure: &MeasureOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let MeasureOptions { text, options } = measure;
    Texts::read(text, options, progress)?.encode(options, progress)?.sparse(progress)
}

/// The texts to memorize, and those to hold out.
pub struct Texts {
    /// The name of the text's source.
    pub name: String,
    /// The documents to memorize.
    pub memorized: Vec<Content>,
    /// Documents that are not memorized.
    pub held_out: Vec<Content>,
}

impl Texts {
    /// Reads the text and the held-out text that the options name.
    pub fn read(text: &Path, options: &TextOptions, progress: &Progress) -> anyhow::Result<Self> {
        progress.step("reading");
        let encoding = options.tokenizer.encoding();
        let memorized = read(text, encoding)?;
        let held_out = options.held_out.as_ref().map(|path| read(path, encoding)).transpose()?;
        let name = text.display().to_string();
        Ok(Texts { name, memorized, held_out: held_out.unwrap_or_default() })
    }

    /// Tokenizes the texts.
    pub fn encode<'o>(
        self,
        options: &'o TextOptions,
        progress: &Progress,
    ) -> anyhow::Result<Encoded<'o>> {
        progress.step("tokenizing");
        let texts = self.memorized.iter().filter_map(Content::as_text);
        let tokenizer = Tokenizer::for_texts(&options.tokenizer, texts)?;
        let encode = |texts: &[Content]| -> anyhow::Result<Vec<Vec<u32>>> {
            texts.iter().map(|text| Ok(tokenizer.encode_bytes(text.as_bytes())?)).collect()
        };
        let (memorized, held_out) = (encode(&self.memorized)?, encode(&self.held_out)?);
        let lexicon = options.lexicon.as_ref().map(|path| {
            let (lexicon, report) = read_lexicon(path, &LexiconOptions::default())?;
            anyhow::Ok((lexicon, path.display().to_string(), report))
        });
        let mut words = (!options.no_words).then(|| Words::new(tokenizer.pieces()));
        let mut used = None;
        if let Some((lexicon, path, report)) = lexicon.transpose()? {
            words = words.map(|words| words.with_lexicon(Arc::new(lexicon)));
            used = Some(UsedLexicon { path, words: report.words, classes: report.classes });
        }
        let words = words.map(Arc::new);
        let (name, lexicon) = (self.name, used);
        Ok(Encoded { options, name, tokenizer, words, lexicon, memorized, held_out })
    }
}

/// The texts as tokens.
pub struct Encoded<'o> {
    options: &'o TextOptions,
    name: String,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    words: Option<Arc<Words>>,
    lexicon: Option<UsedLexicon>,
    memorized: Vec<Vec<u32>>,
    held_out: Vec<Vec<u32>>,
}

impl Encoded<'_> {
    /// The measurement that the options ask for.
    pub fn experiment(&self) -> anyhow::Result<Experiment<'_>> {
        let Encoded { options, tokenizer, words, memorized, held_out, .. } = self;
        Ok(Experiment {
            memorized,
            held_out,
            vocabulary: u32::try_from(tokenizer.vocab_size())
                .context("the vocabulary is too large")?,
            end: tokenizer.eos(),
            unknown: tokenizer.unknown(),
            words: words.clone(),
            seed: options.seed,
            sample: options.sample,
        })
    }

    /// Measures the sparse engine.
    pub fn sparse(&self, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
        self.on_engine("sparse", progress, |experiment, step| {
            Ok(measure::run(experiment, &BACKOFF, step)?)
        })
    }

    /// Measures the dense engine with about `cells` cells.
    pub fn dense(&self, cells: u64, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
        self.on_engine("dense", progress, |experiment, step| {
            Ok(measure::run_dense(experiment, cells, step)?)
        })
    }

    fn on_engine(
        &self,
        engine: &'static str,
        progress: &Progress,
        measure: impl FnOnce(&Experiment<'_>, &dyn Fn(&str)) -> anyhow::Result<measure::Report> + Send,
    ) -> anyhow::Result<Box<dyn Report>> {
        let (experiment, threads) = (self.experiment()?, self.options.threads);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.with_context(|| format!("could not start {threads} threads"))?;
        let report = pool.install(|| measure(&experiment, &|what| progress.step(what)))?;
        Ok(Box::new(Measured {
            text: self.name.clone(),
            tokenizer: self.tokenizer.name(),
            vocabulary: self.tokenizer.vocab_size(),
            engine,
            lexicon: self.lexicon.clone(),
            documents: self.memorized.len(),
            report,
        }))
    }
}

/// The documents of a file, a folder or standard input; it is an error if there are none.
fn read(path: &Path, encoding: Encoding) -> anyhow::Result<Vec<Content>> {
    let how = CorpusOptions { encoding, strict: true, ..CorpusOptions::default() };
    let documents = Corpus::open([path], how)?.documents()?;
    let documents: Vec<Content> = documents.into_iter().map(|document| document.content).collect();
    if documents.is_empty() {
        bail!("{}: nothing to read; give a text that is not empty", path.display());
    }
    Ok(documents)
}

/// A lexicon that contexts are generalised by.
#[derive(Clone, Serialize)]
struct UsedLexicon {
    path: String,
    words: usize,
    /// Classes of each level.
    classes: Vec<usize>,
}

/// The printed form of a measurement.
#[derive(Serialize)]
struct Measured {
    text: String,
    tokenizer: &'static str,
    vocabulary: usize,
    engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lexicon: Option<UsedLexicon>,
    documents: usize,
    #[serde(flatten)]
    report: measure::Report,
}

impl Display for Measured {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let r = &self.report;
        let faint = |text: String| styled(FAINT, text);
        let share = |x: f64| styled(GOOD, format!("{:.2} %", 100.0 * x));
        let documents = if self.documents == 1 { "document" } else { "documents" };
        writeln!(
            f,
            "  text        {}  {}",
            self.text,
            faint(format!(
                "{} {documents}, {} tokens, {} (n = {})",
                self.documents,
                thousands(r.tokens as u64),
                self.tokenizer,
                thousands(self.vocabulary as u64)
            ))
        )?;
        if let Some(UsedLexicon { path, words, classes }) = &self.lexicon {
            let classes: Vec<String> = classes.iter().map(|&n| thousands(n as u64)).collect();
            let words = thousands(*words as u64);
            let details = faint(format!("{words} words in {} classes", classes.join(" and ")));
            writeln!(f, "  lexicon     {path}  {details}")?;
        }
        writeln!(
            f,
            "  memory      {} cells, {:.1} a token  {}",
            thousands(r.parameters),
            r.parameters_per_token,
            faint(format!(
                "{} engine; {:.0} bytes a token: cells {:.0}, tables {:.0}",
                self.engine, r.bytes_per_token, r.cell_bytes_per_token, r.table_bytes_per_token
            ))
        )?;
        writeln!(
            f,
            "  recall      {}  {}",
            share(r.recall),
            faint(format!("of {} positions", thousands(r.recall_positions as u64)))
        )?;
        writeln!(
            f,
            "    damaged   {}  {}",
            share(r.recall_damaged_prompt),
            faint("one of the last eight prompt tokens replaced".to_owned())
        )?;
        if let Some(perplexity) = r.held_out_perplexity {
            let known = match r.held_out_perplexity_known {
                Some(known) if (known - perplexity).abs() > 1e-9 => {
                    format!("{known:.1} without unknown words")
                }
                _ => String::new(),
            };
            writeln!(f, "  held out    perplexity {perplexity:.1}  {}", faint(known))?;
        }
        writeln!(
            f,
            "  speed       memorize {} tokens/s, retrieve {} tokens/s",
            thousands(r.memorize_tokens_per_second as u64),
            thousands(r.retrieve_tokens_per_second as u64)
        )?;
        writeln!(f, "  forget half of it")?;
        for (name, [before, after]) in
            [("kept", r.recall_kept_half), ("forgotten", r.recall_forgotten_half)]
        {
            writeln!(f, "    {name:10}recall {:.2} % → {:.2} %", 100.0 * before, 100.0 * after)?;
        }
        let verdict = if r.forget_exact { styled(GOOD, "yes") } else { "no".to_owned() };
        writeln!(f, "    equal to a memory that never saw it: {verdict}")
    }
}
