//! `memo init`, and the tokenizer of a new model.

use crate::args::model::{InitOptions, TokenizerOptions};
use crate::output::{FAINT, GOOD, Report, styled};
use anyhow::{Context, bail};
use memo_store::{NewModel, Store};
use memo_text::{Corpus, CorpusOptions, Tokenizer, TokenizerSpec};
use serde::Serialize;
use std::fmt::{Display, Formatter};

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
    let tokenizer = tokenizer(&options.tokenizer)?;
    let new = NewModel { tokenizer, words: !options.no_words, seed: options.seed };
    let store = Store::create(&options.model, &new)?;
    Ok(Box::new(Made {
        model: options.model.display().to_string(),
        tokenizer: store.config().tokenizer.clone(),
        words: new.words,
    }))
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
