//! `memo init`, and the tokenizer of a new model.

use crate::args::model::{InitOptions, TokenizerOptions};
use crate::output::{FAINT, GOOD, Report, styled};
use anyhow::{Context, bail};
use memo::lexicon::Lexicon;
use memo_store::{NewModel, Store};
use memo_text::{Corpus, CorpusOptions, LexiconOptions, Tokenizer, TokenizerSpec, read_lexicon};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::Path;
use std::sync::Arc;

#[derive(Serialize)]
struct Made {
    model: String,
    tokenizer: String,
    words: bool,
}

impl Display for Made {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Made { model, tokenizer, words } = self;
        let details = if *words { "" } else { ", tokens alone" };
        let details = styled(FAINT, format!("{tokenizer}{details}"));
        writeln!(f, "{} {model}  {details}", styled(GOOD, "made"))
    }
}

pub(crate) fn init(options: &InitOptions) -> anyhow::Result<Box<dyn Report>> {
    let new =
        NewModel { words: !options.no_words, seed: options.seed, ..new_model(&options.tokenizer)? };
    let store = Store::create(&options.model, &new)?;
    Ok(Box::new(Made {
        model: options.model.display().to_string(),
        tokenizer: store.config().tokenizer.clone(),
        words: new.words,
    }))
}

/// A new model with the tokenizer and the lexicon that were asked for.
pub(super) fn new_model(options: &TokenizerOptions) -> anyhow::Result<NewModel> {
    let lexicon = options.lexicon.as_deref().map(lexicon).transpose()?;
    Ok(NewModel { tokenizer: tokenizer(options)?, lexicon, ..NewModel::default() })
}

/// The lexicon in a file of any format.
pub(super) fn lexicon(path: &Path) -> anyhow::Result<Arc<Lexicon>> {
    Ok(Arc::new(read_lexicon(path, &LexiconOptions::default())?.0))
}

/// The tokenizer of a new model.
pub(super) fn tokenizer(options: &TokenizerOptions) -> anyhow::Result<Tokenizer> {
    let spec = options.tokenizer.clone().unwrap_or_default();
    if spec != TokenizerSpec::Words {
        if options.vocab_from.is_some() {
            bail!("--vocab-from is for --tokenizer words; the others bring their vocabulary");
        }
        return Ok(Tokenizer::from_spec(&spec)?);
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
