//! `memo init`.

use super::size::asked;
use crate::args::Engine;
use crate::args::model::{InitOptions, ShapeOptions};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use anyhow::{Context, bail};
use memo::codes::CodeKind;
use memo::dense::DenseConfig;
use memo::sparse::{Shape, Size};
use memo_store::{NewModel, Store};
use memo_text::{Corpus, CorpusOptions, Tokenizer, TokenizerSpec};
use serde::Serialize;
use std::fmt::{Display, Formatter};

#[derive(Serialize)]
struct Made {
    model: String,
    engine: String,
    tokenizer: String,
    parameters: u64,
}

impl Display for Made {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Made { model, engine, tokenizer, parameters } = self;
        let details = format!("{engine} engine, {} cells, {tokenizer}", thousands(*parameters));
        writeln!(f, "{} {model}  {}", styled(GOOD, "made"), styled(FAINT, details))
    }
}

pub(crate) fn init(options: &InitOptions) -> anyhow::Result<Box<dyn Report>> {
    let size = asked(&options.size);
    check(&options.shape, size)?;
    let tokenizer = tokenizer(&options.shape)?;
    let size = size.unwrap_or(NewModel::default().size);
    let store = Store::create(&options.model, &new_model(&options.shape, tokenizer, size))?;
    let parameters = match store.memory().sparse() {
        Some(memory) => memory.settings().parameters(),
        None => store.memory().dense().map_or(0, |memory| memory.parameters() as u64),
    };
    Ok(Box::new(Made {
        model: options.model.display().to_string(),
        engine: store.model().engine.clone(),
        tokenizer: store.model().tokenizer.clone(),
        parameters,
    }))
}

/// Refuses options that the chosen engine would ignore.
fn check(options: &ShapeOptions, size: Option<Size>) -> anyhow::Result<()> {
    if options.engine == Engine::Sparse {
        if options.dim.is_some() {
            bail!("--dim is for --engine dense; --memory or --params size the sparse engine");
        }
        return Ok(());
    }
    if size.is_some() {
        bail!("--memory and --params are for the sparse engine; --dim sizes the dense one");
    }
    if options.older.is_some() || !options.slots.is_empty() {
        bail!("--older and --slots are for the sparse engine; the dense one uses all heads");
    }
    Ok(())
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
    let options = CorpusOptions { strict: true, ..CorpusOptions::default() };
    let documents = Corpus::open([path], options)?.documents()?;
    let texts: Vec<&str> = documents.iter().filter_map(|d| d.content.as_text()).collect();
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
    let dense = (options.engine == Engine::Dense).then(|| {
        let (heads, layers) = (options.heads.unwrap_or(4), options.layers.unwrap_or(3));
        DenseConfig {
            codes: CodeKind::Hadamard,
            seed: options.seed,
            ..DenseConfig::authors(0, options.dim.unwrap_or(2048), heads as usize, layers as usize)
        }
    });
    NewModel { tokenizer, shape, size, seed: options.seed, dense }
}
