//! `memo init` and `memo memorize`.

use super::paths::{Names, expand};
use super::size::asked;
use super::{advise, close, load, open};
use crate::args::model::{InitOptions, MemorizeOptions, ShapeOptions};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use memo::sparse::{Shape, Size};
use memo_store::{NewDocument, NewModel, Store, fitting};
use memo_text::{Encoding, Format, Item, ReadOptions, Reader, Tokenizer, TokenizerSpec};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;
use std::time::Instant;

#[derive(Serialize)]
struct Made {
    model: String,
    tokenizer: String,
    parameters: u64,
}

impl Display for Made {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Made { model, tokenizer, parameters } = self;
        let details = format!("{} cells, {tokenizer}", thousands(*parameters));
        writeln!(f, "{} {model}  {}", styled(GOOD, "made"), styled(FAINT, details))
    }
}

pub(crate) fn init(options: &InitOptions) -> anyhow::Result<Box<dyn Report>> {
    let size = asked(&options.size);
    let tokenizer = tokenizer(&options.shape)?;
    let size = size.unwrap_or(NewModel::default().size);
    let store = Store::create(&options.model, &new_model(&options.shape, tokenizer, size))?;
    Ok(Box::new(Made {
        model: options.model.display().to_string(),
        tokenizer: store.config().tokenizer.clone(),
        parameters: store.config().memory.parameters(),
    }))
}

fn tokenizer(options: &ShapeOptions) -> anyhow::Result<Tokenizer> {
    if options.tokenizer != TokenizerSpec::Words {
        if options.vocab_from.is_some() {
            bail!("--vocab-from is for --tokenizer words; the others bring their vocabulary");
        }
        return Ok(Tokenizer::from_spec(&options.tokenizer)?);
    }
    let path = options.vocab_from.as_deref();
    let path = path.context("--tokenizer words needs --vocab-from FILE, whose words it knows")?;
    let mut texts = Vec::new();
    for item in Reader::open(path, ReadOptions::default())? {
        if let Item::Document(document) = item? {
            texts.extend(document.content.as_text().map(str::to_owned));
        }
    }
    if texts.iter().all(|text| text.trim().is_empty()) {
        bail!("{}: there is no word in it; --vocab-from needs a text", path.display());
    }
    Ok(Tokenizer::words(texts)?)
}

fn new_model(options: &ShapeOptions, tokenizer: Tokenizer, size: Size) -> NewModel {
    let (heads, layers) = (options.heads.unwrap_or(2), options.layers.unwrap_or(5));
    let shape = if options.slots.is_empty() {
        Shape::new(heads, layers, options.older.unwrap_or(2).min(layers))
    } else {
        Shape::of_blocks(heads, options.slots.clone())
    };
    NewModel { tokenizer, shape, size, seed: options.seed }
}

#[derive(Serialize)]
struct Memorized {
    documents: usize,
    tokens: u64,
    seconds: f64,
    tokens_per_second: f64,
    transaction: Option<u64>,
    added: usize,
    updated: usize,
    unchanged: usize,
    skipped: Vec<String>,
    model: String,
    made: bool,
    load: Option<f64>,
}

impl Display for Memorized {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for skipped in &self.skipped {
            writeln!(f, "{} {skipped}", styled(FAINT, "skipped"))?;
        }
        if self.made {
            writeln!(f, "{} {}", styled(GOOD, "made"), self.model)?;
        }
        let plural = if self.documents == 1 { "document" } else { "documents" };
        let Memorized { added, updated, unchanged, .. } = self;
        writeln!(
            f,
            "{} {} {plural}, {} tokens  {}",
            styled(GOOD, "memorized"),
            thousands(self.documents as u64),
            thousands(self.tokens),
            styled(FAINT, format!("{added} new, {updated} changed, {unchanged} known already"))
        )?;
        if let Some(transaction) = self.transaction {
            let rate = thousands(self.tokens_per_second as u64);
            let details = format!("transaction {transaction}, {rate} tokens/s");
            writeln!(f, "  {}", styled(FAINT, details))?;
        }
        advise(f, &self.model, self.load)
    }
}

pub(crate) fn memorize(
    options: &MemorizeOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let existing =
        if options.model.exists() { Some(open(&options.model, progress)?) } else { None };
    let tokenizer = existing.as_ref().map_or_else(Tokenizer::gpt2, |s| s.tokenizer().clone());
    let (documents, skipped, tokens) = read(options, &tokenizer, progress)?;
    let made = existing.is_none();
    let count = documents.len();
    let (done, seconds, load) = if let Some(mut store) = existing {
        let done = put(&mut store, documents, tokens, options)?;
        close(store, progress)?;
        done
    } else {
        let new = NewModel { size: fitting(tokens), ..NewModel::default() };
        Store::create_filled(&options.model, &new, |store| {
            store.watch(progress.watcher());
            put(store, documents, tokens, options)
        })?
    };
    Ok(Box::new(Memorized {
        documents: count,
        tokens: done.tokens,
        seconds,
        tokens_per_second: done.tokens as f64 / seconds.max(1e-9),
        transaction: done.transaction,
        added: done.added.len(),
        updated: done.updated.len(),
        unchanged: done.unchanged.len(),
        skipped,
        model: options.model.display().to_string(),
        made,
        load,
    }))
}

/// Bytes whose tokenizing takes long enough to show how far it is.
const LONG: usize = 4 << 20;

/// Memorizes documents of so many tokens; gives the seconds that took and the load of the memory afterwards too.
fn put(
    store: &mut Store,
    documents: Vec<NewDocument>,
    tokens: u64,
    options: &MemorizeOptions,
) -> anyhow::Result<(memo_store::Memorized, f64, Option<f64>)> {
    if let Some(over) = store.overfull(tokens).filter(|_| !options.force) {
        let model = options.model.display();
        bail!(
            "{model} {over}; make it larger with `memo rebuild {model} --memory {}MiB`, or use --force",
            over.needed >> 20
        );
    }
    let start = Instant::now();
    let done = store.memorize(documents, options.reason.reason.as_deref())?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((done, seconds, load(store)))
}

/// The documents that were asked for, what was skipped, and how many tokens there are.
fn read(
    options: &MemorizeOptions,
    tokenizer: &Tokenizer,
    progress: &Progress,
) -> anyhow::Result<(Vec<NewDocument>, Vec<String>, u64)> {
    let raw = tokenizer.name() == "bytes";
    let how = ReadOptions {
        encoding: if raw { Encoding::Raw } else { Encoding::Utf8 },
        format: if options.jsonl.is_some() { Format::Jsonl } else { Format::Auto },
        text_field: options.jsonl.clone().unwrap_or_else(|| "text".to_owned()),
        ..ReadOptions::default()
    };
    let (mut documents, mut skipped, mut tokens) = (Vec::new(), Vec::new(), 0);
    let mut names = Names::default();
    for given in expand(&options.paths)? {
        for item in given.read(how.clone())? {
            match item? {
                Item::Document(document) => {
                    if !names.is_new(&document)? {
                        continue;
                    }
                    let bytes = document.content.as_bytes();
                    let what = format!("reading {}", document.id);
                    if bytes.len() > LONG {
                        progress.begin(what, bytes.len() as u64, true);
                    } else {
                        progress.step(what);
                    }
                    let told = &mut |done| {
                        progress.at(done as u64);
                        ControlFlow::Continue(())
                    };
                    let ids = tokenizer.encode_bytes_watched(bytes, told)?;
                    tokens += ids.len() as u64 + 1;
                    let id = options.id.clone().unwrap_or(document.id);
                    let mut new = NewDocument::tokens(ids).with_id(id);
                    for (key, value) in &options.labels {
                        new = new.with_label(key, value);
                    }
                    documents.push(new);
                }
                Item::Skipped(what) => skipped.push(what.to_string()),
            }
        }
    }
    if documents.is_empty() {
        let given: Vec<String> = options.paths.iter().map(|p| p.display().to_string()).collect();
        let why = if skipped.is_empty() { vec!["there is no file".to_owned()] } else { skipped };
        bail!("there is nothing to memorize in {}:\n  {}", given.join(", "), why.join("\n  "));
    }
    if options.id.is_some() && documents.len() > 1 {
        bail!("--id names one document, and there are {}", documents.len());
    }
    Ok((documents, skipped, tokens))
}
