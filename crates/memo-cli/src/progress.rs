//! Progress on the terminal: what is being done and for how long. Nothing where nobody watches.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A line at the bottom of the terminal, gone when the work is done.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Shows progress if wanted and standard error is a terminal.
    pub(crate) fn new(wanted: bool) -> Self {
        let bar = if wanted && std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        } else {
            ProgressBar::hidden()
        };
        Progress(bar)
    }

    /// What is being done now.
    pub(crate) fn step(&self, what: impl Into<String>) {
        self.0.set_message(what.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
