//! The binary `memo`: arguments, printing, exit codes; everything else is in the libraries.

mod args;
mod demo;
mod lexicon;
mod model;
mod pages;
mod printed;
mod serve;

use args::{Args, Command};
use memo_terminal::{measure, output, progress};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Args = memo_terminal::parse();
    if matches!(args.command, Command::Model(_)) {
        clean_up_when_interrupted();
    }
    memo_terminal::run(&args.global, |progress| match &args.command {
        Command::Model(command) => model::run(command, progress, args.global.json),
        Command::Measure(options) => measure::run(options, progress),
        Command::Lexicon(command) => lexicon::run(command, progress),
        Command::Demo(options) => demo::run(options, progress),
        Command::Serve(options) => serve::run(options, progress, args.global.json),
        Command::Completions(options) => pages::completions(options),
        Command::Man(options) => pages::man(options),
        Command::Pages(options) => pages::write(options),
    })
}

/// Removes what is half made when the user presses Ctrl-C, or the system tells the program to end. Models can be left at any
/// instant; what is not yet one would only lie around.
fn clean_up_when_interrupted() {
    /// As shells have it: 128 and the number of the signal.
    const INTERRUPTED: i32 = 130;
    // Without a handler the program just ends.
    let _ = ctrlc::set_handler(|| {
        memo_store::discard_unfinished();
        std::process::exit(INTERRUPTED);
    });
}
