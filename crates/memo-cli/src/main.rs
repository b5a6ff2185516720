//! The binary `memo`: arguments, printing, exit codes; everything else is in the libraries.

mod args;
mod demo;
mod output;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    args.color.write_global();
    let result = match &args.command {
        Command::Demo(options) => demo::run(options),
    };
    match result.and_then(|report| output::print(report.as_ref(), args.json)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!(
                "{}error:{} {error:#}",
                output::ERROR.render(),
                output::ERROR.render_reset()
            );
            ExitCode::FAILURE
        }
    }
}
