//! What the server says while it runs, on standard error: errors of the model itself and, as JSON, every request and every change. It never has a
//! text of users: routes are named by their templates, keys by their numbers.

use crate::config::Log;
use memo_store::Timestamp;
use serde::Serialize;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Whether lines are JSON. One for the process, as standard error is.
static JSON: AtomicBool = AtomicBool::new(false);

/// Sets how lines look.
pub(crate) fn set(log: Log) {
    JSON.store(log == Log::Json, Ordering::Relaxed);
}

fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// A line.
#[derive(Serialize)]
struct Line<'a, T: Serialize> {
    time: Timestamp,
    level: &'a str,
    event: &'a str,
    #[serde(flatten)]
    fields: T,
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Timestamp(since.map_or(0, |since| since.as_millis() as u64))
}

fn write<T: Serialize>(level: &str, event: &str, fields: T) {
    let line = Line { time: now(), level, event, fields };
    if let Ok(line) = serde_json::to_string(&line) {
        eprintln!("{line}");
    }
}

/// An error of the server or its model.
pub(crate) fn error(error: &dyn Display) {
    #[derive(Serialize)]
    struct Failure {
        message: String,
    }
    if is_json() {
        write("error", "error", Failure { message: error.to_string() });
    } else {
        eprintln!("memo serve: {error}");
    }
}

/// A request that was answered, or whose answer has begun.
#[derive(Serialize)]
pub(crate) struct RequestLine<'a> {
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    /// The template of its path.
    pub(crate) route: &'a str,
    pub(crate) status: u16,
    pub(crate) milliseconds: f64,
    /// The number of its key, from 1.
    pub(crate) key: Option<usize>,
}

pub(crate) fn request(line: &RequestLine<'_>) {
    if is_json() {
        write(if line.status < 500 { "info" } else { "error" }, "request", line);
    }
}

/// A change of the model, or a proof.
pub(crate) fn change(model: &str, task: &str, kind: &dyn Display, done: bool, time: Duration) {
    #[derive(Serialize)]
    struct Change<'a> {
        model: &'a str,
        task: &'a str,
        kind: String,
        done: bool,
        milliseconds: f64,
    }
    if is_json() {
        let milliseconds = milliseconds(time);
        write("info", "change", Change { model, task, kind: kind.to_string(), done, milliseconds });
    }
}

/// A time in milliseconds, to the microsecond.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
