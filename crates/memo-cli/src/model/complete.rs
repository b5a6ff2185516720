//! `memo complete`: what a model says.

use super::{given, reader};
use crate::args::model::CompleteOptions;
use crate::output::{FAINT, Report, styled};
use crate::progress::Progress;
use anstyle::{AnsiColor, Style};
use anyhow::bail;
use memo::readout::{Backoff, Generator, Sampling};
use memo_text::StreamDecoder;
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::io::Write;
use std::time::Instant;

/// A continuation, and how sure the memory was of each token.
#[derive(Default, Serialize)]
struct Completed {
    prompt: String,
    completion: String,
    tokens: usize,
    ended: bool,
    probabilities: Vec<f64>,
    tokens_per_second: f64,
    /// The completion in pieces, each in its colour.
    #[serde(skip)]
    pieces: Vec<(String, Style)>,
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

impl Display for Completed {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if self.streamed {
            return writeln!(f);
        }
        write!(f, "{}", styled(FAINT, &self.prompt))?;
        for (piece, style) in &self.pieces {
            write!(f, "{}", styled(*style, piece))?;
        }
        if self.completion.ends_with('\n') { Ok(()) } else { writeln!(f) }
    }
}

impl Completed {
    fn push(&mut self, piece: String, probability: f64) {
        self.completion.push_str(&piece);
        self.pieces.push((piece, tint(probability)));
        self.probabilities.push(probability);
        self.tokens += 1;
    }

    /// Ends the completion at a byte, which may lie some pieces back: a stop can be longer than a token.
    fn cut(&mut self, at: usize) {
        let mut excess = self.completion.len() - at;
        self.completion.truncate(at);
        for (piece, _) in self.pieces.iter_mut().rev() {
            let kept = piece.len().saturating_sub(excess);
            excess -= piece.len() - kept;
            piece.truncate(kept);
        }
    }
}

pub(crate) fn complete(
    options: &CompleteOptions,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    let reader = reader(&options.model, progress)?;
    let prompt = given(&options.prompt)?;
    let tokenizer = reader.tokenizer();
    let mut done = Completed { prompt, streamed: options.stream && !json, ..Completed::default() };
    let start = Instant::now();
    let Some(memory) = reader.memory().sparse() else {
        if options.temperature > 0.0 || options.stream || !options.stop.is_empty() {
            bail!(
                "--temperature, --stop and --stream need the sparse engine; this model has the dense one"
            );
        }
        done.completion = reader.complete(&done.prompt, options.tokens as usize)?;
        done.tokens = tokenizer.encode(&done.completion)?.len();
        done.pieces = vec![(done.completion.clone(), Style::new())];
        done.tokens_per_second = done.tokens as f64 / start.elapsed().as_secs_f64().max(1e-9);
        return Ok(Box::new(done));
    };
    let context = tokenizer.encode(&done.prompt)?;
    let readout = Backoff::default();
    let choice = Sampling {
        temperature: options.temperature,
        top_k: options.top_k,
        top_p: options.top_p,
        seed: options.seed,
        stop: Vec::new(),
    };
    progress.step("recalling");
    let mut out = anstream::stdout().lock();
    if done.streamed {
        write!(out, "{}", styled(FAINT, &done.prompt))?;
    }
    let mut stream = StreamDecoder::after(tokenizer, &context);
    let mut stopped = false;
    let tokens = Generator::new(memory, &readout, &context, choice).weighed();
    for token in tokens.take(options.tokens as usize) {
        let (token, probability) = token?;
        done.push(stream.push(token), probability);
        if let Some(at) = options.stop.iter().filter_map(|stop| done.completion.find(stop)).min() {
            done.cut(at);
            stopped = true;
        }
        if let (true, Some((piece, style))) = (done.streamed, done.pieces.last()) {
            write!(out, "{}", styled(*style, piece))?;
            out.flush()?;
        }
        if stopped {
            break;
        }
    }
    if !stopped {
        // Bytes of a character that never became whole.
        let rest = stream.finish();
        if done.streamed {
            write!(out, "{rest}")?;
        }
        done.completion.push_str(&rest);
        done.pieces.push((rest, Style::new()));
    }
    done.ended = !stopped && done.tokens < options.tokens as usize;
    done.tokens_per_second = done.tokens as f64 / start.elapsed().as_secs_f64().max(1e-9);
    Ok(Box::new(done))
}
