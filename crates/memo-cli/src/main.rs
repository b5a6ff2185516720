//! The binary `memo`: arguments, printing, exit codes; everything else is in the libraries.

mod args;
mod demo;
mod lab;
mod model;
mod output;
mod pages;
mod progress;
mod serve;

use args::{Args, Command};
use clap::Parser;
use progress::Progress;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    args.color.write_global();
    let progress = Progress::new(!args.quiet && !args.json);
    let result = match &args.command {
        Command::Model(command) => model::run(command, &progress, args.json),
        Command::Demo(options) => demo::run(options, &progress),
        Command::Lab(command) => lab::run(command, &progress),
        Command::Serve(options) => serve::run(options, &progress, args.json),
        Command::Pages(options) => pages::write(options),
    };
    progress.end();
    let printed = result.and_then(|report| {
        output::print(report.as_ref(), args.json)?;
        Ok(report.exit_code())
    });
    match printed {
        Ok(code) => ExitCode::from(code),
        // A reader that has seen enough and closed the pipe is not an error.
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
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
