//! The tests in `clients/`: the server as Python programs see it, in an environment of their own that is kept.

use crate::{run, target};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs them with the program that was built last.
pub(crate) fn clients() -> Result<()> {
    let target = target()?;
    let venv = target.join("clients-venv");
    let python = venv.join("bin/python");
    let wanted = fs::read("clients/requirements.txt").context("clients/requirements.txt")?;
    let stamp = venv.join("installed.txt");
    // Written last, so whatever was interrupted is begun anew.
    if fs::read(&stamp).ok() != Some(wanted.clone()) || !python.exists() {
        make(&venv)?;
        run(Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(["--no-compile", "--requirement", "clients/requirements.txt"]))?;
        fs::write(stamp, wanted)?;
    }
    run(Command::new(&python)
        .args(["-m", "pytest", "--quiet", "clients"])
        .env("MEMO_BIN", target.join("debug/memo")))
}

/// Makes an empty environment. Debian keeps what that needs in a package of its own.
fn make(venv: &Path) -> Result<()> {
    let venv = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(venv));
    let Err(error) = venv() else { return Ok(()) };
    let user = Command::new("id").arg("-u").output().map(|id| id.stdout);
    if !user.is_ok_and(|id| id == b"0\n") || !Path::new("/usr/bin/apt-get").exists() {
        bail!("{error}; the tests of clients/ need Python 3.11 or newer with its module venv");
    }
    run(Command::new("apt-get").args(["install", "--yes", "--quiet", "python3-venv"]))?;
    venv()
}
