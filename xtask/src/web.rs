//! The page: built from `web/` into the server's crate, checked, and walked through in a real browser.

use crate::{output_of, run, target};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BUILT: &str = "crates/memo-server/page";

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

/// Walks through the page in Chromium, against the binary that the tests have built.
pub(crate) fn walk(options: &[&str]) -> Result<()> {
    tools()?;
    let binary = target().join("debug/memo");
    run(Command::new("node")
        .arg("e2e/run.mjs")
        .args(options)
        .current_dir("web")
        .env("MEMO_BIN", binary))
}

/// Installs what the page is built and walked through with, unless it is there.
pub(crate) fn tools() -> Result<()> {
    if !works("chromium") {
        packages(&["chromium"])?;
    }
    install()
}

/// Installs what `package-lock.json` names, unless that is done.
fn install() -> Result<()> {
    if !works("npm") {
        packages(&["nodejs", "npm"])?;
    }
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

/// Installs Debian packages.
pub(crate) fn packages(names: &[&str]) -> Result<()> {
    let root = output_of(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || !works("apt-get") {
        bail!(
            "{} must be installed, and only root on a Debian system can do that here",
            names.join(", ")
        );
    }
    let mut update = Command::new("apt-get");
    run(update.args(["update", "-qq"]))?;
    let mut install = Command::new("apt-get");
    run(install
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(names)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null()))
}

/// Whether a program is there.
fn works(program: &str) -> bool {
    let mut probe = Command::new(program);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
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
