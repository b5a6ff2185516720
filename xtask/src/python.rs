//! Python: the server as its clients see it (`clients/`), and the package `memo_lm` (`bindings/python`), each tested in an
//! environment that is made here and kept.

use crate::web::packages;
use crate::{run, target};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CLIENTS: &str = "clients/requirements.txt";
const PACKAGE: &str = "bindings/python/requirements.txt";
const HUGGING_FACE: &str = "bindings/python/requirements-hf.txt";

/// Asks the binary that was built last what clients ask.
pub(crate) fn clients() -> Result<()> {
    let python = light()?;
    tidy(&python, "clients")?;
    run(Command::new(&python)
        .args(["-m", "pytest", "--quiet", "clients"])
        .env("MEMO_BIN", binary()))
}

/// Builds the package as users get it, installs it, and tests it: all but what takes long or needs torch.
pub(crate) fn package() -> Result<()> {
    let python = light()?;
    tidy(&python, "bindings/python")?;
    install(&python, &wheel()?)?;
    run(pytest(&python).args(["-m", "not heavy"]).env("MEMO_BIN", binary()))
}

/// Tests the rest: Ray's datasets, and, in an environment of their own, torch and transformers.
pub(crate) fn heavy() -> Result<()> {
    let wheel = wheel()?;
    let python = light()?;
    install(&python, &wheel)?;
    run(pytest(&python).args(["-m", "heavy"]))?;
    let python = environment("hf-venv", &[HUGGING_FACE])?;
    install(&python, &wheel)?;
    run(pytest(&python).args(["tests/test_hf.py", "tests/test_tokenizers.py"]))
}

/// The package is imported from where it is installed, not from its sources.
fn pytest(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "--quiet"]).current_dir("bindings/python");
    command
}

fn binary() -> PathBuf {
    target().join("debug/memo")
}

/// Tests of clients and those of the package that need no torch share an environment.
pub(crate) fn light() -> Result<PathBuf> {
    environment("test-venv", &[CLIENTS, PACKAGE])
}

/// The interpreter of an environment with these packages, which is made unless it is there.
fn environment(name: &str, requirements: &[&str]) -> Result<PathBuf> {
    let venv = target().join(name);
    let python = venv.join("bin/python");
    let mut wanted = Vec::new();
    for list in requirements {
        wanted.extend(fs::read(list).with_context(|| (*list).to_owned())?);
    }
    let installed = venv.join("installed.txt");
    if fs::read(&installed).is_ok_and(|of| of == wanted) {
        return Ok(python);
    }
    let make = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv));
    if make().is_err() {
        packages(&["python3-venv"])?;
        make()?;
    }
    let mut pip = pip(&python);
    pip.arg("--no-compile");
    for list in requirements {
        pip.args(["--requirement", list]);
    }
    run(&mut pip)?;
    // Last, so that whatever is interrupted begins anew.
    fs::write(installed, wanted)?;
    Ok(python)
}

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

/// The package as a wheel, of the profile that everything else is built with.
fn wheel() -> Result<PathBuf> {
    let to = target().join("wheels");
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    run(Command::new(light()?)
        .args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--out"])
        .arg(&to)
        .args(["--manifest-path", "bindings/python/Cargo.toml"]))?;
    let made = fs::read_dir(&to)?.next().context("maturin built no wheel")?;
    Ok(made?.path())
}

/// Installs a wheel, of whatever version, in place of the one before.
fn install(python: &Path, wheel: &Path) -> Result<()> {
    run(pip(python).args(["--no-deps", "--no-compile", "--force-reinstall"]).arg(wheel))
}

fn tidy(python: &Path, folder: &str) -> Result<()> {
    run(Command::new(python).args(["-m", "ruff", "check", "--quiet", "--no-cache", folder]))?;
    run(Command::new(python).args(["-m", "ruff", "format", "--no-cache", "--check", folder]))
}
