//! Handing a model over: how a process that wants to write asks one that has the model, and lets others use it, to give it up.
//!
//! The owner listens on a Unix socket, whose path it writes into the writer's lock. It takes requests of one line and answers each with
//! one; what else can be asked there is the business of the owner. To hand over, it finishes what it does, releases the lock, and then
//! answers [`DONE`].

use std::path::Path;

/// The request to hand the model over, without the end of its line.
pub const REQUEST: &str = "hand over";

/// The answer of an owner that has handed the model over.
pub const DONE: &str = "done";

/// Asks the owner that listens at `socket` to hand the model over; says whether it did.
#[cfg(unix)]
pub(crate) fn ask(socket: &Path) -> bool {
    use std::io::{BufRead, BufReader, Write};
    let asked = || {
        let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
        writeln!(stream, "{REQUEST}")?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer)?;
        Ok::<_, std::io::Error>(answer.trim_end() == DONE)
    };
    // An owner that was killed has left its socket, and holds no lock.
    asked().unwrap_or(true)
}

#[cfg(not(unix))]
pub(crate) fn ask(_: &Path) -> bool {
    false
}
