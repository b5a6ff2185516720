//! Printing of reports: as text for people, or as one JSON object for programs.

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use std::fmt::{Display, Formatter};
use std::io::{ErrorKind, Write};

/// Headings.
pub const TITLE: Style = AnsiColor::Yellow.on_default().bold();
/// Results.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Details.
pub const FAINT: Style = Style::new().dimmed();
/// The word before an error.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The result of a command, in both printed forms.
pub trait Report: Display {
    /// The report as one JSON object.
    fn to_json(&self) -> serde_json::Result<String>;

    /// The exit code of the program.
    fn exit_code(&self) -> u8 {
        0
    }
}

impl<T: Display + serde::Serialize> Report for T {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}

/// The exit code of a command that did its work, except for files that could not be read.
pub const INCOMPLETE: u8 = 3;

/// The exit code of a prompt that is not in the memory.
pub const UNKNOWN: u8 = 5;
/// The exit code of a comparison that found differences. It is not 1, as it is for `diff`, because 1 is a failure here.
pub const DIFFERENT: u8 = 4;

/// A report with an exit code of its own.
pub struct Coded<T> {
    /// The report that is printed.
    pub report: T,
    /// The exit code of the program.
    pub code: u8,
}

impl<T: Display> Display for Coded<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.report.fmt(f)
    }
}

impl<T: Report> Report for Coded<T> {
    fn to_json(&self) -> serde_json::Result<String> {
        self.report.to_json()
    }

    fn exit_code(&self) -> u8 {
        self.code
    }
}

/// The JSON form of an error.
#[derive(serde::Serialize)]
struct ErrorOutput {
    error: ErrorDetail,
}

#[derive(serde::Serialize)]
struct ErrorDetail {
    message: String,
    /// The causes of the error, the nearest first.
    causes: Vec<String>,
    exit_code: u8,
}

/// Writes an error to standard error: in words, or as one JSON object on a line.
pub fn print_error(error: &anyhow::Error, exit_code: u8, json: bool) {
    if json {
        let causes = error.chain().skip(1).map(ToString::to_string).collect();
        let error = ErrorDetail { message: error.to_string(), causes, exit_code };
        if let Ok(line) = serde_json::to_string(&ErrorOutput { error }) {
            anstream::eprintln!("{line}");
            return;
        }
    }
    anstream::eprintln!("{ERROR}error:{ERROR:#} {error:#}");
}

/// Writes a report to standard output.
pub fn print(report: &dyn Report, json: bool) -> anyhow::Result<()> {
    let text = if json { report.to_json()? + "\n" } else { report.to_string() };
    let mut out = anstream::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.context("could not write to standard output")
}

/// Whether writing failed because the reader closed the pipe, as `head` does.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Text in a style.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// 1234567 as 1,234,567.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
