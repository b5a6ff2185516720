//! The tour: the abilities of a memory, shown on a small archive. Its commands are parsed and run as if they had been typed in
//! a temporary folder, which is removed afterwards, and the tour shows what they really print.

use crate::args::{Args, Command};
use crate::model;
use crate::output::Report;
use crate::progress::Progress;
use anyhow::{Context, bail, ensure};
use clap::Parser;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Instant;

/// The archive of a lighthouse, in five documents. One of them is about a person, and is forgotten in the tour.
const ARCHIVE: [(&str, &str); 5] = [
    ("ferry.txt", include_str!("archive/ferry.txt")),
    ("garden.txt", include_str!("archive/garden.txt")),
    ("guest.txt", include_str!("archive/guest.txt")),
    ("keeper.txt", include_str!("archive/keeper.txt")),
    ("storm.txt", include_str!("archive/storm.txt")),
];

#[derive(Debug, Serialize)]
pub(super) struct Tour {
    pub(super) documents: usize,
    pub(super) steps: Vec<Step>,
    /// Whether rolling back restored the digest from before the edit.
    rolled_back_exactly: bool,
    /// Whether the digest after forgetting is that of a model that never saw the document.
    forgot_exactly: bool,
    seconds: f64,
}

/// One ability of a memory, with the commands that show it.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) what: &'static str,
    pub(super) commands: Vec<Run>,
    /// The conclusion from what was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) so: Option<&'static str>,
}

/// A command that was run.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) command: String,
    /// What `--json` prints.
    result: Value,
    /// What it prints.
    #[serde(skip)]
    pub(super) shown: String,
}

pub(super) fn run(progress: &Progress) -> anyhow::Result<Tour> {
    let start = Instant::now();
    let home = Home::new()?;
    std::fs::create_dir("archive")?;
    for (name, text) in ARCHIVE {
        std::fs::write(PathBuf::from("archive").join(name), text)?;
    }
    let memo = |words: &[&str]| memo(words, progress);
    let at = "The ferry to Saltmarsh leaves at";
    let mut steps = vec![
        Step::new(
            "Memorize a folder, in one pass",
            vec![memo(&["memorize", "light.memo", "archive"])?, memo(&["digest", "light.memo"])?],
        ),
        Step::new(
            "Complete: it says what it has read",
            vec![memo(&["complete", "light.memo", "The keeper of Saltmarsh Light", "-n", "14"])?],
        ),
        Step::new(
            "Explain: what made it say so, and where that stands",
            vec![memo(&["explain", "light.memo", at, "-n", "1"])?],
        ),
    ];
    let edited = vec![
        memo(&["edit", "light.memo", "--prompt", at, "--target", " noon"])?,
        memo(&["complete", "light.memo", "The ferry to Saltmarsh leaves", "-n", "2"])?,
        memo(&["rollback", "light.memo", "2"])?,
    ];
    let before = steps[0].commands[1].text("digest");
    let rolled_back_exactly = edited[2].text("digest_after") == before;
    ensure!(
        rolled_back_exactly,
        "rolling back did not restore the memory; this is a bug, please report it"
    );
    let so = "The digest is the one from before the edit: nothing of it is left.";
    steps.push(Step { so: Some(so), ..Step::new("Correct a fact, and take that back", edited) });

    let guest =
        ["complete", "light.memo", "Tomas Vell came ashore in the storm. He lives at", "-n", "9"];
    let forgot = vec![
        memo(&guest)?,
        memo(&["forget", "light.memo", "--doc", "guest.txt", "--yes"])?,
        memo(&guest)?,
    ];
    let so = "Where he lives is gone; what is left to say comes from the ferry.";
    steps.push(Step { so: Some(so), ..Step::new("Forget a document, for good", forgot) });

    let proof = vec![memo(&["prove", "light.memo", "--without", "guest.txt"])?];
    let forgot_exactly = proof[0].result["equal"] == true;
    ensure!(
        forgot_exactly,
        "forgetting left a trace in the memory; this is a bug, please report it"
    );
    let so = "A memory made from nothing of the other documents has the same digest.";
    steps.push(Step { so: Some(so), ..Step::new("Prove it", proof) });
    drop(home);
    Ok(Tour {
        documents: ARCHIVE.len(),
        steps,
        rolled_back_exactly,
        forgot_exactly,
        seconds: start.elapsed().as_secs_f64(),
    })
}

impl Step {
    fn new(what: &'static str, commands: Vec<Run>) -> Self {
        Step { what, commands, so: None }
    }
}

impl Run {
    fn text(&self, key: &str) -> &str {
        self.result[key].as_str().unwrap_or_default()
    }
}

/// Parses and runs a command line.
fn memo(words: &[&str], progress: &Progress) -> anyhow::Result<Run> {
    let quoted = words
        .iter()
        .map(|word| if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() });
    let command = format!("memo {}", quoted.collect::<Vec<_>>().join(" "));
    let args = Args::try_parse_from(["memo"].iter().chain(words))?;
    let Command::Model(parsed) = args.command else { bail!("{command}: not about a model") };
    let report: Box<dyn Report> = model::run(&parsed, progress, false)?;
    let result = serde_json::from_str(&report.to_json()?)?;
    Ok(Run { command, result, shown: report.to_string() })
}

/// A temporary working directory. Dropping it restores the previous working directory and removes the folder.
struct Home {
    before: Option<PathBuf>,
    _folder: tempfile::TempDir,
}

impl Home {
    fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("could not make a temporary folder")?;
        // The previous working directory may have been removed meanwhile.
        let before = std::env::current_dir().ok();
        std::env::set_current_dir(folder.path())?;
        Ok(Home { before, _folder: folder })
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let back = self.before.take().unwrap_or_else(std::env::temp_dir);
        let _ = std::env::set_current_dir(back);
    }
}
