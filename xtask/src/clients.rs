//! The server as Python programs see it: the tests in `clients/`, in an environment of their own that is kept.

use crate::web::packages;
use crate::{run, target};
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;

/// Runs them with the binary that was built last.
pub(crate) fn clients() -> Result<()> {
    let venv = target().join("clients-venv");
    let python = venv.join("bin/python");
    let wanted = fs::read("clients/requirements.txt").context("clients/requirements.txt")?;
    let installed = venv.join("installed.txt");
    if !fs::read(&installed).is_ok_and(|of| of == wanted) {
        let make = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv));
        if make().is_err() {
            packages(&["python3-venv"])?;
            make()?;
        }
        run(Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(["--no-compile", "--requirement", "clients/requirements.txt"]))?;
        // Last, so that whatever is interrupted begins anew.
        fs::write(installed, wanted)?;
    }
    run(Command::new(&python).args(["-m", "ruff", "check", "--quiet", "--no-cache", "clients"]))?;
    run(Command::new(&python).args(["-m", "ruff", "format", "--no-cache", "--check", "clients"]))?;
    run(Command::new(&python)
        .args(["-m", "pytest", "--quiet", "clients"])
        .env("MEMO_BIN", target().join("debug/memo")))
}
