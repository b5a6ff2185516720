//! The page: built from `web/` into the server's crate, checked, and walked through in a real browser.

use crate::programs::{self, Need, output_of, run, succeeds, target};
use crate::python;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const BUILT: &str = "crates/memo-server/page";

pub(crate) const NODE: Need = Need {
    name: "Node 20.19 or newer, with npm",
    why: "checks the page and builds it",
    there: || succeeds("npm", &["--version"]),
    packages: &["nodejs", "npm"],
};

pub(crate) const CHROMIUM: Need = Need {
    name: "Chromium, or another browser of its kind that the variable CHROMIUM names",
    why: "walks through the page",
    there: || succeeds(&browser(), &["--version"]),
    packages: &["chromium"],
};

/// Rebuilds the files that the server embeds.
pub(crate) fn build() -> Result<()> {
    install()?;
    npm(&["run", "build"])
}

/// Types, unit tests, and whether the embedded files are those that the sources give.
pub(crate) fn check() -> Result<()> {
    install()?;
    npm(&["run", "check"])?;
    npm(&["test"])?;
    let fresh = target().join("page");
    npm(&["run", "build", "--", "--outDir", &fresh.display().to_string(), "--emptyOutDir"])?;
    if files(&fresh)? != files(Path::new(BUILT))? {
        bail!("{BUILT} is stale: run `cargo xtask web`, and commit what it writes");
    }
    Ok(())
}

/// Walks through the page in Chromium, against the program that was built last.
pub(crate) fn walk(options: &[&str]) -> Result<()> {
    programs::install(&[&CHROMIUM])?;
    install()?;
    run(Command::new("node")
        .arg("e2e/run.mjs")
        .args(options)
        .current_dir("web")
        .env("CHROMIUM", browser())
        .env("PYTHON", python::light()?)
        .env("MEMO_BIN", target().join("debug/memo")))
}

fn browser() -> String {
    std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned())
}

/// Installs what `package-lock.json` names, unless that is done.
pub(crate) fn install() -> Result<()> {
    programs::install(&[&NODE])?;
    let version = output_of(Command::new("node").arg("--version"))?;
    let major: u32 =
        version.trim_start_matches('v').split('.').next().unwrap_or("").parse().unwrap_or(0);
    if major < 20 {
        bail!("the page is built with Node 20.19 or newer, and this is {}", version.trim());
    }
    let lock = std::fs::read("web/package-lock.json").context("web/package-lock.json")?;
    let done = Path::new("web/node_modules/.installed");
    if std::fs::read(done).is_ok_and(|of| of == lock) {
        return Ok(());
    }
    npm(&["ci", "--no-audit", "--no-fund"])?;
    Ok(std::fs::write(done, lock)?)
}

fn npm(args: &[&str]) -> Result<()> {
    run(Command::new("npm").args(args).current_dir("web"))
}

/// All files under a folder, with their contents.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder)?.to_owned(), std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}
