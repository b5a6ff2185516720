//! The parts that the programs `memo` and `memo-lab` share: global options, reports printed as text or as JSON, progress,
//! exit codes, and the command that measures a text.

pub mod measure;
pub mod output;
pub mod progress;
pub mod worth;

use clap::Parser;
use clap::builder::styling::{AnsiColor, Styles};
use output::Report;
use progress::Progress;
use std::process::ExitCode;

/// The options that every command takes; help lists them after its own.
#[derive(Debug, clap::Args)]
pub struct GlobalOptions {
    /// Print one JSON object instead of text; errors too, on standard error.
    #[arg(long, global = true, display_order = 900)]
    pub json: bool,

    /// Show no progress.
    #[arg(long, short, global = true, display_order = 901)]
    quiet: bool,

    /// When to use colour: auto, always or never.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(value_parser = color, display_order = 902)]
    color: anstream::ColorChoice,
}

/// The colours of help.
pub const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Green.on_default());

/// The exit code of a failure.
const FAILED: u8 = 1;

/// The exit code of wrong usage.
const USAGE: u8 = 2;

/// Parses the arguments. An error in them is printed as JSON if they contain `--json`.
pub fn parse<A: Parser>() -> A {
    A::try_parse().unwrap_or_else(|error| {
        let mut args = std::env::args_os().take_while(|arg| arg != "--");
        if !error.use_stderr() || !args.any(|arg| arg == "--json") {
            error.exit();
        }
        let shown = error.render().to_string();
        // The part after the empty line is the usage, which JSON leaves out.
        let what = shown.split("\n\n").next().unwrap_or_default().trim();
        let what = what.strip_prefix("error: ").unwrap_or(what).to_owned();
        output::print_error(&anyhow::Error::msg(what), USAGE, true);
        std::process::exit(USAGE.into());
    })
}

/// Runs a command, and prints its report or its error.
pub fn run(
    options: &GlobalOptions,
    command: impl FnOnce(&Progress) -> anyhow::Result<Box<dyn Report>>,
) -> ExitCode {
    options.color.write_global();
    let progress = Progress::new(!options.quiet && !options.json);
    let result = command(&progress);
    progress.end();
    let printed = result.and_then(|report| {
        output::print(report.as_ref(), options.json)?;
        Ok(report.exit_code())
    });
    match printed {
        Ok(code) => ExitCode::from(code),
        // A reader that closed the pipe, such as `head`, is not an error.
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error, FAILED, options.json);
            ExitCode::from(FAILED)
        }
    }
}

fn color(when: &str) -> Result<anstream::ColorChoice, String> {
    match when {
        "auto" => Ok(anstream::ColorChoice::Auto),
        "always" => Ok(anstream::ColorChoice::Always),
        "never" => Ok(anstream::ColorChoice::Never),
        _ => Err("must be auto, always or never".to_owned()),
    }
}
