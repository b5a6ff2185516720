//! The binary `memo`: arguments, printing, exit codes; everything else is in the libraries.

mod args;
mod demo;
mod model;
mod pages;
mod printed;
mod serve;

use args::{Args, Command};
use clap::Parser;
use memo_terminal::{measure, output, progress};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    memo_terminal::run(&args.global, |progress| match &args.command {
        Command::Model(command) => model::run(command, progress, args.global.json),
        Command::Measure(options) => measure::run(options, progress),
        Command::Demo(options) => demo::run(options, progress),
        Command::Serve(options) => serve::run(options, progress, args.global.json),
        Command::Pages(options) => pages::write(options),
    })
}
