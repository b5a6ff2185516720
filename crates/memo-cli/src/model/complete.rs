//! `memo complete`: continues a prompt.

use super::explain::print_passages;
use super::sources::Footnotes;
use super::{given, snapshot};
use crate::args::model::{CompleteOptions, SamplingOptions};
use crate::output::{Coded, FAINT, Report, UNKNOWN, styled};
use crate::progress::Progress;
use anstyle::{AnsiColor, Style};
use memo::readout::Sampling;
use memo_store::{
    Completion, CompletionOptions, MatchKind, PromptMatch, ReadOptions, Snapshot, fresh_seed,
};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::io::Write;
use std::time::Instant;

/// A prompt and its continuation.
#[derive(Clone, Serialize)]
pub(super) struct CompletionOutput {
    pub(super) prompt: String,
    #[serde(flatten)]
    pub(super) completion: Completion,
    /// Whether sources were asked for.
    #[serde(skip)]
    pub(super) footnotes: bool,
    /// The prompt's tokens as they were continued.
    #[serde(skip)]
    pub(super) said: Vec<u32>,
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
            writeln!(f)?;
            return self.print_match(f);
        }
        write!(f, "{}", styled(FAINT, &self.prompt))?;
        if self.footnotes {
            Footnotes(&self.completion).print(f)?;
            return self.print_match(f);
        }
        for token in &self.completion.tokens {
            write!(f, "{}", styled(tint(token.probability.unwrap_or(0.0)), &token.text))?;
        }
        if self.completion.completion.ends_with('\n') { Ok(()) } else { writeln!(f) }?;
        self.print_match(f)
    }
}

impl CompletionOutput {
    /// Finds the documents that the completion comes from.
    pub(super) fn add_sources(&mut self, model: &Snapshot) -> anyhow::Result<()> {
        model.add_sources(&self.said, &mut self.completion)?;
        self.footnotes = true;
        Ok(())
    }

    /// Prints how the prompt was matched, unless it was matched verbatim.
    fn print_match(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Some(matched) = &self.completion.matched else { return Ok(()) };
        let PromptMatch { kind, tokens, of, typed, remembered } = matched;
        let said = match (kind, typed, remembered) {
            (MatchKind::Verbatim, ..) => return Ok(()),
            (MatchKind::Near, Some(typed), Some(remembered)) => {
                let (typed, remembered) = (typed.trim(), remembered.trim());
                format!("nearly: the memory has {remembered:?} where you have {typed:?}")
            }
            (MatchKind::Near, ..) => match &self.completion.continued {
                Some(continued) => format!("nearly: the memory has {:?}", continued.text),
                None => "nearly: the same words in another layout".to_owned(),
            },
            (MatchKind::General, ..) => {
                format!(
                    "only the last {tokens} of {of} tokens are known; what follows them may be of anything"
                )
            }
            (MatchKind::None, ..) => "not in the memory; `--guess` goes on all the same".to_owned(),
        };
        writeln!(f, "{}", styled(FAINT, format!("({said})")))?;
        let Some(closest @ [_, ..]) = self.completion.closest.as_deref() else { return Ok(()) };
        writeln!(f, "{}", styled(FAINT, "closest:"))?;
        print_passages(closest, f)
    }
}

impl SamplingOptions {
    /// The store's options. Without a seed, a random one is chosen, so that the draws differ from run to run.
    pub(super) fn completion(&self) -> anyhow::Result<CompletionOptions> {
        let options = CompletionOptions {
            max_tokens: self.tokens as usize,
            sampling: Sampling {
                temperature: self.temperature,
                top_k: self.top_k,
                top_p: self.top_p,
                frequency_penalty: self.frequency_penalty,
                presence_penalty: self.presence_penalty,
                seed: self.seed.unwrap_or_else(fresh_seed),
                stop: Vec::new(),
            },
            stop: self.stop.clone(),
            top: Some(1),
            contexts: false,
            heal: true,
            find: true,
            guess: self.guess,
            read: self.reading.options(ReadOptions::completing()),
        };
        options.check()?;
        Ok(options)
    }

    /// Prints a seed that was chosen at random, so that the same completion can be drawn again.
    pub(super) fn name_seed(&self, completion: &Completion) {
        if let (None, Some(seed)) = (self.seed, completion.seed) {
            let again = format!("seed {seed}: --seed {seed} draws the same again");
            anstream::eprintln!("{}", styled(FAINT, again));
        }
    }
}

/// Continues a prompt; `stream` writes tokens as they come.
pub(super) fn continued(
    model: &Snapshot,
    prompt: String,
    options: &CompletionOptions,
    streamed: bool,
) -> anyhow::Result<CompletionOutput> {
    let mut out = anstream::stdout().lock();
    if streamed {
        write!(out, "{}", styled(FAINT, &prompt))?;
    }
    let start = Instant::now();
    let mut stream = model.tokens(&prompt, options)?;
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
    let (mut completion, said) = (stream.completion(tokens, start), stream.continued().to_vec());
    model.add_closest(&said, &mut completion)?;
    Ok(CompletionOutput { prompt, completion, footnotes: false, said, streamed })
}

pub(crate) fn complete(
    options: &CompleteOptions,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    let asked = options.sampling.completion()?;
    let model = snapshot(&options.model, progress)?;
    let prompt = given(&options.prompt)?;
    progress.step("recalling");
    let mut output = continued(&model, prompt, &asked, options.stream && !json)?;
    if options.sources {
        progress.step("looking for sources");
        output.add_sources(&model)?;
    }
    if !json {
        options.sampling.name_seed(&output.completion);
    }
    let unknown = output.completion.matched.as_ref().is_some_and(|m| m.kind == MatchKind::None);
    Ok(Box::new(Coded { report: output, code: if unknown { UNKNOWN } else { 0 } }))
}
