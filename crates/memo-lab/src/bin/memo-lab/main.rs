//! The binary `memo-lab`: arguments, progress and printing; the library measures and draws.

mod args;
mod realtext;

use args::{Args, Command, GridOptions};
use memo_lab::text::duration;
use memo_lab::{
    Lab, Observer, Options, Page, Step, ablation, capacity, cues, editing, examples, forgetting,
    generalize, knowledge, layers, residue, sources, speed, vectors,
};
use memo_terminal::output::Report;
use memo_terminal::progress::Progress;
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Args = memo_terminal::parse();
    memo_terminal::run(&args.global, |progress| run(&args.command, progress))
}

fn run(command: &Command, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    match command {
        Command::Ablation(options) => {
            on_grid(&options.grid, &paths(&options.text), progress, |lab| {
                ablation::run(lab, &options.text, &options.tokenizer)
            })
        }
        Command::Capacity(options) => on_grid(&options.grid, &[], progress, |lab| {
            capacity::run(lab, options.authors.as_deref())
        }),
        Command::Cues(options) => on_grid(&options.grid, &paths(&options.text), progress, |lab| {
            cues::run(lab, &options.text, &options.tokenizer)
        }),
        Command::Editing(options) => {
            on_grid(&options.grid, &[&options.counterfact], progress, |lab| {
                editing::run(lab, &options.counterfact, &options.tokenizer)
            })
        }
        Command::Forgetting(options) => {
            on_grid(&options.grid, &[&options.forget, &options.retain], progress, |lab| {
                forgetting::run(lab, &options.forget, &options.retain, &options.tokenizer)
            })
        }
        Command::Generalize(options) => {
            on_grid(&options.grid, &paths(&options.text), progress, |lab| {
                let wordnet = options.wordnet.as_deref();
                generalize::run(lab, &options.text, &options.tokenizer, wordnet)
            })
        }
        Command::Knowledge(options) => {
            let data: Vec<&Path> = options.data.iter().map(PathBuf::as_path).collect();
            on_grid(&options.grid, &data, progress, |lab| {
                knowledge::run(lab, options.data.as_deref())
            })
        }
        Command::Layers(options) => on_grid(&options.grid, &[], progress, |lab| {
            layers::run(lab, options.authors.as_deref())
        }),
        Command::Vectors(options) => on_grid(options, &[], progress, vectors::run),
        Command::Examples(options) => on_grid(options, &[], progress, examples::run),
        Command::Realtext(options) => realtext::run(options, progress),
        Command::Residue(options) => on_grid(options, &[], progress, residue::run),
        Command::Speed(options) => on_grid(options, &[], progress, speed::run),
    }
}

fn paths(files: &[PathBuf]) -> Vec<&Path> {
    files.iter().map(PathBuf::as_path).collect()
}

/// Runs an experiment on some files and writes its page where that is wanted.
fn on_grid(
    options: &GridOptions,
    files: &[&Path],
    progress: &Progress,
    run: impl FnOnce(&Lab<'_>) -> Result<Page, memo_lab::Error>,
) -> anyhow::Result<Box<dyn Report>> {
    let GridOptions { quick, seed, threads, out } = options;
    let options = Options { quick: *quick, seed: *seed, threads: *threads, out: out.clone() };
    let command: Vec<String> = std::env::args().collect();
    let page = run(&Lab::new(options, &command, &Shown(progress)))?;
    let page = page.credits(sources::credits(files));
    let files = out.as_ref().map(|folder| page.write(folder)).transpose()?.unwrap_or_default();
    let files = out.iter().flat_map(|folder| files.iter().map(|name| folder.join(name))).collect();
    Ok(Box::new(Written { page, files }))
}

/// Shows the library's progress on the terminal.
struct Shown<'a>(&'a Progress);

impl Observer for Shown<'_> {
    fn step(&self, step: &Step<'_>) {
        let Step { setting, done, total, left } = step;
        let left = left
            .map_or_else(String::new, |left| format!(", {} left", duration(left.as_secs_f64())));
        self.0.step(format!("{done} of {total}{left}: {setting}"));
    }
}

/// A page, and the files that it was written to.
#[derive(Serialize)]
struct Written {
    #[serde(flatten)]
    page: Page,
    files: Vec<PathBuf>,
}

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.page)?;
        for file in &self.files {
            writeln!(f, "  wrote {}", file.display())?;
        }
        Ok(())
    }
}
