//! `memo chat`: prompts one after the other, with the model open all the time.
//!
//! On a terminal, lines can be edited and recalled with the arrow keys; the history is never written to disk. From a pipe,
//! lines are read as they are.

use super::complete::{CompletionOutput, continued};
use super::explain::print_explanation;
use super::snapshot;
use crate::args::model::ChatOptions;
use crate::output::{ERROR, FAINT, Report, styled};
use crate::printed::Printed;
use crate::progress::Progress;
use memo_store::{Explanation, ReadOptions, Snapshot};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use serde::Serialize;
use serde_json::Value;
use std::fmt::{Display, Formatter};
use std::io::{BufRead, IsTerminal, Write};

const HELP: &str = "\
type how a text begins to see how it goes on; nothing but Enter goes on further
  :why [N]   why the memory said the first token, or the N-th
  :sources   which documents it comes from
  :help      this list
  :quit      the end; so is Ctrl-D
";

/// How many candidates `:why` explains.
const CANDIDATES: usize = 3;

/// The source of input lines.
enum Lines {
    Typed(Box<DefaultEditor>),
    Piped(std::io::StdinLock<'static>),
}

impl Lines {
    fn new(json: bool) -> anyhow::Result<Self> {
        let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if terminal && !json {
            return Ok(Lines::Typed(Box::new(DefaultEditor::new()?)));
        }
        Ok(Lines::Piped(std::io::stdin().lock()))
    }

    /// The next line; `None` at the end of the input.
    fn next(&mut self) -> anyhow::Result<Option<String>> {
        match self {
            Lines::Typed(editor) => loop {
                match editor.readline("› ") {
                    Ok(line) => {
                        editor.add_history_entry(line.as_str())?;
                        return Ok(Some(line));
                    }
                    // Ctrl-C discards the line.
                    Err(ReadlineError::Interrupted) => {}
                    Err(ReadlineError::Eof) => return Ok(None),
                    Err(error) => return Err(error.into()),
                }
            },
            Lines::Piped(input) => {
                let mut line = String::new();
                if input.read_line(&mut line)? == 0 {
                    return Ok(None);
                }
                while line.ends_with(['\n', '\r']) {
                    line.pop();
                }
                Ok(Some(line))
            }
        }
    }
}

/// The whole conversation, which `--json` prints at the end.
#[derive(Serialize)]
struct Chat {
    answers: Vec<Value>,
}

impl Display for Chat {
    fn fmt(&self, _: &mut Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

/// What a line requests.
enum Answer {
    Said(Box<dyn Report>),
    End,
}

pub(crate) fn chat(
    options: &ChatOptions,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    options.sampling.completion()?;
    let model = snapshot(&options.model, progress)?;
    progress.end();
    let mut lines = Lines::new(json)?;
    if matches!(lines, Lines::Typed(_)) {
        let hello = format!("{}; :help lists what can be typed", options.model.display());
        anstream::println!("{}", styled(FAINT, hello));
    }
    let (mut last, mut answers) = (None, Vec::new());
    while let Some(line) = lines.next()? {
        match answer(options, &model, &line, &mut last, json) {
            Ok(Answer::End) => break,
            Ok(Answer::Said(report)) if json => {
                answers.push(serde_json::from_str(&report.to_json()?)?);
            }
            Ok(Answer::Said(report)) => {
                let mut out = anstream::stdout().lock();
                write!(out, "{report}")?;
                out.flush()?;
            }
            // From a pipe an error ends the session, because nobody can correct the line.
            Err(error) if matches!(lines, Lines::Typed(_)) => {
                anstream::eprintln!("{ERROR}error:{ERROR:#} {error:#}");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Box::new(Chat { answers }))
}

fn answer(
    options: &ChatOptions,
    model: &Snapshot,
    line: &str,
    last: &mut Option<CompletionOutput>,
    json: bool,
) -> anyhow::Result<Answer> {
    let mut words = line.trim_end().splitn(2, ' ');
    let command = words.next().filter(|word| word.starts_with(':'));
    let said = || last.as_ref().ok_or_else(|| anyhow::anyhow!("nothing was said yet"));
    let report: Box<dyn Report> = match command {
        Some(":quit" | ":q") => return Ok(Answer::End),
        Some(":help" | ":h") => Box::new(Help { help: HELP }),
        Some(":why") => Box::new(why(
            model,
            said()?,
            words.next(),
            &options.sampling.reading.options(ReadOptions::default()),
        )?),
        Some(":sources") => {
            let mut said = said()?.clone();
            said.add_sources(model)?;
            Box::new(said)
        }
        Some(other) => {
            anyhow::bail!(
                "{other} is no command; :help lists them, and a prompt may begin with a space"
            )
        }
        None => {
            let prompt = match last.take() {
                Some(said) if line.is_empty() => said.prompt + &said.completion.completion,
                None if line.is_empty() => return Ok(Answer::Said(Box::new(Help { help: HELP }))),
                _ => line.to_owned(),
            };
            // Without --seed, each prompt gets a new random seed.
            let output = continued(model, prompt, &options.sampling.completion()?, false)?;
            if !json {
                options.sampling.name_seed(&output.completion);
            }
            let shown = last.insert(output).clone();
            Box::new(shown)
        }
    };
    Ok(Answer::Said(report))
}

/// Explains one token of the last completion.
fn why(
    model: &Snapshot,
    said: &CompletionOutput,
    number: Option<&str>,
    read: &ReadOptions,
) -> anyhow::Result<Printed<Explanation>> {
    let tokens = &said.completion.tokens;
    let number = match number.map(str::trim) {
        None => 1,
        Some(number) => number.parse::<usize>().ok().filter(|n| *n >= 1).ok_or_else(|| {
            anyhow::anyhow!(":why takes the number of a token, from 1 to {}", tokens.len().max(1))
        })?,
    };
    let before = &tokens[..(number - 1).min(tokens.len())];
    let mut context = said.said.clone();
    context.extend(before.iter().map(|token| token.token));
    Ok(Printed::new(model.explain_tokens(&context, CANDIDATES, read)?, print_explanation))
}

#[derive(Serialize)]
struct Help {
    help: &'static str,
}

impl Display for Help {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", styled(FAINT, self.help))
    }
}
