//! Programs that the tasks run: cargo, those that the system has, and those that it lacks.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    std::path::absolute(&target).unwrap_or_else(|_| target.into())
}

pub(crate) fn cargo(args: &[&str]) -> Result<()> {
    run(Command::new("cargo").args(args))
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    // Where every build is the first one, nothing is kept for the next, and nobody debugs.
    if std::env::var_os("CI").is_some() {
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    }
    let status = command.status().with_context(|| format!("could not start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Where this program is. Asked for at the start: a build that replaces the file makes the system name one that is gone.
pub(crate) static PROGRAM: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::current_exe().unwrap_or_default());

/// Runs another task of this program, and returns whether it passed and what it printed, which would mix with the lines of
/// other tasks if it were shown at once.
pub(crate) fn task(args: &[&str]) -> Result<(bool, String)> {
    let log = target().join("xtask").join(args.join("")).with_extension("log");
    fs::create_dir_all(log.parent().context("a folder")?)?;
    let file = File::create(&log)?;
    let mut command = Command::new(&*PROGRAM);
    command.args(args).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let ended = command.status()?;
    Ok((ended.success(), String::from_utf8_lossy(&fs::read(log)?).into_owned()))
}

/// What a command prints.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("could not start {command:?}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command can be run and succeeds, without printing anything.
pub(crate) fn succeeds(program: &str, args: &[&str]) -> bool {
    let mut probe = Command::new(program);
    probe.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// A program that the tests need and that is not built here.
pub(crate) struct Need {
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
    pub(crate) there: fn() -> bool,
    /// The Debian packages that have it.
    pub(crate) packages: &'static [&'static str],
}

/// Those that are missing, unless nobody here may install them: then an error that says what to do.
pub(crate) fn missing<'a>(needs: &[&'a Need]) -> Result<Vec<&'a Need>> {
    let missing: Vec<&Need> = needs.iter().copied().filter(|need| !(need.there)()).collect();
    let reason = if missing.is_empty() {
        return Ok(missing);
    } else if !succeeds("apt-get", &["--version"]) {
        "this system has no apt-get"
    } else if output_of(Command::new("id").arg("-u"))?.trim() != "0" {
        "only root may install packages"
    } else {
        return Ok(missing);
    };
    let list: String = missing
        .iter()
        .map(|need| format!("\n  {}: {}", need.name, need.why))
        .collect::<Vec<_>>()
        .concat();
    bail!(
        "missing, and not installed because {reason}:{list}\nOn Debian and Ubuntu: sudo apt-get install {}\n\
         Elsewhere, install them as that system does. `cargo xtask check` needs none of them.",
        packages(&missing).join(" ")
    )
}

/// Installs what is missing.
pub(crate) fn install(needs: &[&Need]) -> Result<()> {
    let missing = missing(needs)?;
    if missing.is_empty() {
        return Ok(());
    }
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    run(Command::new("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(packages(&missing))
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null()))
}

fn packages(needs: &[&Need]) -> Vec<&'static str> {
    needs.iter().flat_map(|need| need.packages).copied().collect()
}
