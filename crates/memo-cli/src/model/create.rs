//! `memo init`.

use super::size::asked;
use crate::args::model::{InitOptions, ShapeOptions};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use anyhow::{Context, bail};
use memo::sparse::{Shape, Size};
use memo_store::{NewModel, Store};
use memo_text::{Corpus, CorpusOptions, Tokenizer, TokenizerSpec};
use serde::Serialize;
use std::fmt::{Display, Formatter};

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
    NewModel { tokenizer, shape, size, seed: options.seed }
}
