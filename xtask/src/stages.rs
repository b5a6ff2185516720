//! What `cargo xtask check` and `cargo xtask test` run, stage by stage, each with its time.
//!
//! The compiler takes the longest. What does not wait for it runs beside it: tools are fetched and the page is checked
//! while tests are compiled, and Python and the browser use what was built while lints are checked.

use crate::programs::{Need, cargo, install, missing, run, succeeds, task};
use crate::{python, web};
use anyhow::{Context, Result, bail};
use std::process::Command;
use std::thread;
use std::time::Instant;

/// What `test` needs besides Rust.
const NEEDS: &[&Need] = &[&web::NODE, &web::CHROMIUM, &python::PYTHON];

/// Runs all that needs nothing but Rust.
pub(crate) fn check() -> Result<()> {
    let start = Instant::now();
    stage("format", format)?;
    stage("lints", lints)?;
    stage("tests", tests)?;
    stage("documentation examples", examples)?;
    passed(start);
    Ok(())
}

/// Runs everything.
pub(crate) fn test(all: bool) -> Result<()> {
    let start = Instant::now();
    // Those who may not install anything learn it now, not after minutes.
    missing(NEEDS)?;
    // A scope waits for what was begun in it, also after a failure.
    thread::scope(|scope| -> Result<()> {
        let tools = scope.spawn(|| beside(&[("tools", &["tools"]), ("page", &["page"])]));
        stage("format", format)?;
        stage("tests", tests)?;
        stage("program and examples", build)?;
        tools.join().expect("no panic")?;
        stage("python package", python::build)?;
        // These mostly wait: for servers, for a browser, for Ray.
        let package =
            scope.spawn(|| beside(&[("tests of the python package", &["python", "--built"])]));
        let users = scope.spawn(|| {
            beside(&[
                ("clients", &["clients", "--built"]),
                ("page in a browser", &["page", "--walk"]),
            ])
        });
        stage("lints", lints)?;
        stage("documentation examples", examples)?;
        stage("documentation", documentation)?;
        stage("dependencies", dependencies)?;
        package.join().expect("no panic")?;
        users.join().expect("no panic")
    })?;
    if all {
        stage("python package, what takes long", python::heavy)?;
        stage("the authors' protocol", protocol)?;
        stage("a thousand kills", || kill(1000))?;
        stage("200 MB of text in 2 GB", large)?;
        stage("residue of the paper's forgetting", residue)?;
    }
    passed(start);
    Ok(())
}

fn format() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])
}

fn lints() -> Result<()> {
    cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
}

fn tests() -> Result<()> {
    if succeeds("cargo", &["nextest", "--version"]) {
        return cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]);
    }
    println!("`cargo install --locked cargo-nextest` makes this stage shorter");
    cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
}

fn examples() -> Result<()> {
    cargo(&["test", "--workspace", "--doc", "--quiet"])
}

fn documentation() -> Result<()> {
    run(Command::new("cargo")
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}

/// Builds the programs that Python and the browser use.
pub(crate) fn build() -> Result<()> {
    cargo(&["build", "--workspace", "--bins", "--examples", "--quiet"])
}

/// Installs what the tests need besides Rust.
pub(crate) fn tools() -> Result<()> {
    install(NEEDS)?;
    python::light()?;
    python::inspector()?;
    web::install()
}

/// Checks licences, versions and sources, and advisories if their database can be fetched.
fn dependencies() -> Result<()> {
    if !succeeds("cargo", &["deny", "--version"]) {
        println!("skipped: cargo-deny is missing (`cargo install --locked cargo-deny`)");
        return Ok(());
    }
    let mut checks = vec!["deny", "--workspace", "check", "licenses", "bans", "sources"];
    if succeeds("cargo", &["deny", "fetch", "db"]) {
        checks.push("advisories");
    } else {
        println!("advisories are skipped: their database could not be fetched");
    }
    cargo(&checks)
}

pub(crate) fn protocol() -> Result<()> {
    run(Command::new("cargo")
        .args(["test", "--release", "--package", "memo", "--test", "it", "dense_protocol::", "--"])
        .args(["--include-ignored", "--nocapture", "--test-threads", "1"]))
}

pub(crate) fn kill(kills: u32) -> Result<()> {
    run(Command::new("cargo")
        .args(["test", "--package", "memo-store", "--test", "it", "kill::", "--", "--nocapture"])
        .env("MEMO_KILLS", kills.to_string()))
}

fn large() -> Result<()> {
    run(Command::new("cargo")
        .args(["test", "--release", "--package", "memo-cli", "--test", "it", "large::", "--"])
        .args(["--ignored", "--nocapture"]))
}

fn residue() -> Result<()> {
    cargo(&["test", "--release", "--package", "memo-lab", "--lib", "residue::", "--", "--ignored"])
}

/// Runs one stage and says how long it took.
fn stage(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("== {name}");
    let start = Instant::now();
    let done = work().with_context(|| format!("{name} failed"));
    println!("== {}", time(name, done.is_ok(), start));
    done
}

/// Runs other tasks, one after the other; what each prints is shown when it ends.
fn beside(tasks: &[(&str, &[&str])]) -> Result<()> {
    for (name, args) in tasks {
        let start = Instant::now();
        let (done, printed) = task(args)?;
        println!("== {name}, beside the rest\n{printed}== {}", time(name, done, start));
        if !done {
            bail!("{name} failed");
        }
    }
    Ok(())
}

fn time(name: &str, done: bool, start: Instant) -> String {
    let failed = if done { "" } else { "failed after " };
    format!("{name}: {failed}{:.0} s", start.elapsed().as_secs_f64())
}

fn passed(start: Instant) {
    println!("== everything passed in {:.0} s", start.elapsed().as_secs_f64());
}
