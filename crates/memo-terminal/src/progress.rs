//! Progress on the terminal: the current stage, its speed, and the time left. Nothing is shown if standard error is not a
//! terminal.

use indicatif::{ProgressBar, ProgressStyle};
use memo_store::{Observer, Unit};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::Duration;

/// A line at the bottom of the terminal that disappears when the work is done.
#[derive(Clone)]
pub struct Progress(ProgressBar);

const OPEN: &str = "{spinner} {msg} {elapsed}";
const COUNTED: &str =
    "{spinner} {msg} {bar:24} {percent:>3} %  {human_pos} of {human_len}, {per_sec}, {eta} left";
const BYTES: &str = "{spinner} {msg} {bar:24} {percent:>3} %  {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";

impl Progress {
    /// Shows progress if `wanted` and standard error is a terminal.
    pub fn new(wanted: bool) -> Self {
        let bar = if wanted && std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        } else {
            ProgressBar::hidden()
        };
        let progress = Progress(bar);
        progress.style(OPEN);
        progress
    }

    fn style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.0.set_style(style);
        }
    }

    /// Begins a stage of unknown length.
    pub fn step(&self, what: impl Into<String>) {
        if self.0.length().is_some() {
            self.0.unset_length();
            self.style(OPEN);
        }
        self.0.set_message(what.into());
    }

    /// Begins a stage of a known number of tokens or bytes.
    pub fn begin(&self, what: impl Into<String>, whole: u64, bytes: bool) {
        self.style(if bytes { BYTES } else { COUNTED });
        self.0.set_message(what.into());
        self.0.reset();
        self.0.set_length(whole);
    }

    /// Sets how much of the stage is done.
    pub fn at(&self, done: u64) {
        self.0.set_position(done);
    }

    /// A callback that shows the progress of a store.
    pub fn callback(
        &self,
    ) -> impl Fn(memo_store::Progress) -> ControlFlow<()> + Send + Sync + 'static {
        let bar = self.clone();
        move |progress| {
            let memo_store::Progress { stage, done, total, unit } = progress;
            if bar.0.message() != stage || bar.0.length() != Some(total) {
                bar.begin(stage, total, unit == Unit::Bytes);
            }
            bar.at(done);
            ControlFlow::Continue(())
        }
    }

    /// An observer that shows the progress of reading.
    pub fn observer(&self) -> Observer {
        Observer::new(self.callback())
    }

    /// Hides the line while `action` runs, so that it can ask a question.
    pub fn suspended<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }

    /// Removes the line.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}
