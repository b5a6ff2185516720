//! `memo complete`: what a model says.

use super::{given, snapshot};
use crate::args::model::CompleteOptions;
use crate::output::{FAINT, Report, styled};
use crate::progress::Progress;
use anstyle::{AnsiColor, Style};
use memo::readout::Sampling;
use memo_store::{Completion, CompletionOptions};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::io::Write;
use std::time::Instant;

/// A prompt and its continuation.
#[derive(Serialize)]
struct CompletionOutput {
    prompt: String,
    #[serde(flatten)]
    completion: Completion,
    #[serde(skip)]
    streamed: bool,
}

/// The colour of a token by how sure the memory is of it.
pub(super) fn tint(probability: f64) -> Style {
    match probability {
        p if p > 0.8 => AnsiColor::Green.on_default(),
        p if p > 0.3 => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default(),
    }
}

impl Display for CompletionOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if self.streamed {
            return writeln!(f);
        }
        write!(f, "{}", styled(FAINT, &self.prompt))?;
        for token in &self.completion.tokens {
            write!(f, "{}", styled(tint(token.probability.unwrap_or(0.0)), &token.text))?;
        }
        if self.completion.completion.ends_with('\n') { Ok(()) } else { writeln!(f) }
    }
}

pub(crate) fn complete(
    options: &CompleteOptions,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    let asked = CompletionOptions {
        max_tokens: options.tokens as usize,
        sampling: Sampling {
            temperature: options.temperature,
            top_k: options.top_k,
            top_p: options.top_p,
            seed: options.seed,
            stop: Vec::new(),
        },
        stop: options.stop.clone(),
        top: Some(1),
        contexts: false,
    };
    asked.check()?;
    let model = snapshot(&options.model, progress)?;
    let prompt = given(&options.prompt)?;
    let streamed = options.stream && !json;
    progress.step("recalling");
    let mut out = anstream::stdout().lock();
    if streamed {
        write!(out, "{}", styled(FAINT, &prompt))?;
    }
    let start = Instant::now();
    let mut stream = model.tokens(&prompt, &asked)?;
    let mut tokens = Vec::new();
    for token in stream.by_ref() {
        let token = token?;
        if streamed {
            write!(out, "{}", styled(tint(token.probability.unwrap_or(0.0)), &token.text))?;
            out.flush()?;
        }
        if !token.end {
            tokens.push(token);
        }
    }
    let completion = stream.completion(tokens, start);
    Ok(Box::new(CompletionOutput { prompt, completion, streamed }))
}
