//! Commands on a model directory. Each turns its arguments into calls of `memo-store` and returns a report.

mod change;
mod chat;
mod complete;
mod create;
mod diff;
mod explain;
mod find;
mod forget;
mod graph;
mod keep;
mod list;
mod measure;
mod memorize;
mod prove;
mod rules;
mod sources;
mod sync;

use crate::args::model::ModelCommand;
use crate::output::Report;
use crate::progress::Progress;
use anyhow::bail;
use memo_store::{Snapshot, Store};
use std::path::Path;

pub(crate) fn run(
    command: &ModelCommand,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    match command {
        ModelCommand::Init(options) => create::init(options),
        ModelCommand::Memorize(options) => memorize::memorize(options, progress),
        ModelCommand::Complete(options) => complete::complete(options, progress, json),
        ModelCommand::Chat(options) => chat::chat(options, progress, json),
        ModelCommand::Recall(options) => measure::recall(options, progress),
        ModelCommand::Score(options) => measure::score(options, progress),
        ModelCommand::Explain(options) => explain::explain(options, progress),
        ModelCommand::Find(options) => find::find(options, progress),
        ModelCommand::Closest(options) => explain::closest(options, progress),
        ModelCommand::Ask(options) => graph::ask(options, progress),
        ModelCommand::Graph(command) => graph::run(command, progress),
        ModelCommand::Rules(command) => rules::run(command, progress),
        ModelCommand::Forget(options) => forget::forget(options, progress, json),
        ModelCommand::Retire(options) => change::retire(options, progress),
        ModelCommand::Restore(options) => change::restore(options, progress),
        ModelCommand::Replace(options) => change::replace(options, progress),
        ModelCommand::Edit(options) => change::edit(options, progress),
        ModelCommand::Rollback(options) => change::rollback(options, progress),
        ModelCommand::Docs(options) => list::docs(options, progress),
        ModelCommand::Show(options) => list::show(options, progress),
        ModelCommand::Log(options) => list::log(options, progress),
        ModelCommand::Trace(options) => list::trace(options, progress),
        ModelCommand::Stats(options) => list::stats(options, progress),
        ModelCommand::Digest(options) => list::digest(options, progress),
        ModelCommand::Diff(options) => diff::diff(options, progress),
        ModelCommand::Verify(options) => keep::verify(options, progress),
        ModelCommand::Prove(options) => prove::prove(options, progress),
        ModelCommand::Rebuild(options) => keep::rebuild(options, progress),
        ModelCommand::Merge(options) => keep::merge(options, progress),
        ModelCommand::Backup(options) => keep::backup(options, progress),
        ModelCommand::Freeze(options) => keep::freeze(options, progress),
        ModelCommand::Export(options) => keep::export(options, progress),
        ModelCommand::Import(options) => keep::import(options, progress),
    }
}

/// Opens a model for writing.
fn open(path: &Path, progress: &Progress) -> anyhow::Result<Store> {
    progress.step("opening");
    refuse_file(path)?;
    let mut store = Store::open(path)?;
    store.observe(progress.callback());
    Ok(store)
}

/// Opens a model for reading, beside a writer if there is one.
fn snapshot(path: &Path, progress: &Progress) -> anyhow::Result<Snapshot> {
    progress.step("opening");
    refuse_file(path)?;
    Ok(Snapshot::open_observed(path, &progress.observer())?)
}

/// Refuses a file that is given where a model belongs, with a message that is clearer than the system's.
pub(crate) fn refuse_file(path: &Path) -> anyhow::Result<()> {
    if path.is_file() {
        bail!("{} is a file; a model is a directory, which `memo init` makes", path.display());
    }
    Ok(())
}

/// Closes a model; writing its checkpoint may take a while.
fn close(store: Store, progress: &Progress) -> anyhow::Result<()> {
    progress.step("writing a checkpoint");
    Ok(store.close()?)
}

/// A text given on the command line; `-` reads it from standard input.
fn given(text: &str) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = std::io::read_to_string(std::io::stdin())?;
    // The last line end comes from the terminal or from `echo`; it is not part of the text.
    if read.ends_with('\n') {
        read.pop();
    }
    Ok(read)
}
