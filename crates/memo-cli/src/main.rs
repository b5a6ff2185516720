//! The program `memo`: arguments, printing and exit codes. Everything else is in the libraries.

mod address;
mod args;
mod demo;
mod lexicon;
mod mcp;
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
        Command::Mcp(options) => mcp::run(options),
        Command::Completions(options) => pages::completions(options),
        Command::Man(options) => pages::man(options),
        Command::Pages(options) => pages::write(options),
    })
}

/// Removes unfinished directories on Ctrl-C and on termination by the system. A finished model survives an interruption at
/// any instant; a directory that is not yet a model would only be left behind.
fn clean_up_when_interrupted() {
    /// The convention of shells: 128 plus the number of the signal.
    const INTERRUPTED: i32 = 130;
    // If the handler cannot be installed, the signal ends the program as usual.
    let _ = ctrlc::set_handler(|| {
        memo_store::discard_unfinished();
        std::process::exit(INTERRUPTED);
    });
}
