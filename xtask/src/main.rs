//! `cargo xtask …`: everything that checks, measures or builds the project, in one place.

mod python;
mod web;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Checks, measures and builds MeMo.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every check and test: formatting, lints, tests, examples in the documentation, the page in a browser.
    Test {
        /// Add the tiers that take long: the authors' protocol at full size, a thousand kills, a text of 200 MB.
        #[arg(long)]
        all: bool,
    },
    /// Run the tests of the server with Python clients.
    Clients,
    /// Run a benchmark and print its ratios, e.g. `cargo xtask bench dense -- --dim 2048`.
    Bench {
        /// Which one: `dense`, `sparse_read`, … (crates/*/benches).
        name: String,
        /// Passed on to the benchmark.
        #[arg(last = true)]
        options: Vec<String>,
    },
    /// Write shell completions and man pages to target/pages, and say how to install them.
    Docs,
    /// Rebuild the page that the server embeds, from web/.
    Web,
    /// Walk through the page in a browser, and save pictures of it.
    Pictures {
        /// Where to.
        #[arg(default_value = "docs/pictures")]
        to: PathBuf,
    },
    /// Build the Python package, install it in an environment of its own, and run its tests.
    Python {
        /// Add those that take long: Ray's datasets, torch and transformers.
        #[arg(long)]
        all: bool,
    },
    /// Serve 200 clients for a minute, kill the server under load, and check what is left.
    Load,
    /// Run the authors' protocol of random texts at full size and print the accuracies.
    Protocol,
    /// Kill a writer of a model at random instants, many times, and check what is left each time.
    Kill {
        /// How often.
        #[arg(default_value_t = 1000)]
        kills: u32,
    },
    /// Open models whose files say whatever they like, many times.
    Fuzz {
        /// How often.
        #[arg(default_value_t = 20_000)]
        cases: u32,
    },
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace's folder")?;
    std::env::set_current_dir(root)?;
    match Args::parse().task {
        Task::Test { all } => test(all),
        Task::Clients => clients(),
        Task::Python { all } => {
            package()?;
            if all { python::heavy() } else { Ok(()) }
        }
        Task::Bench { name, options } => {
            let mut args = vec!["bench", "--workspace", "--bench", &name, "--"];
            args.extend(options.iter().map(String::as_str));
            cargo(&args)
        }
        Task::Docs => docs(),
        Task::Web => web::build(),
        Task::Pictures { to } => {
            cargo(&["build", "--package", "memo-cli"])?;
            let to = std::path::absolute(to)?.display().to_string();
            web::walk(&["--screenshots", &to])
        }
        Task::Load => load(),
        Task::Protocol => protocol(),
        Task::Kill { kills } => kill(kills),
        Task::Fuzz { cases } => run(Command::new("cargo")
            .args(["test", "--package", "memo-store", "--test", "it", "fuzz::"])
            .env("MEMO_FUZZ", cases.to_string())),
    }
}

fn kill(kills: u32) -> Result<()> {
    run(Command::new("cargo")
        .args(["test", "--package", "memo-store", "--test", "it", "kill::", "--", "--nocapture"])
        .env("MEMO_KILLS", kills.to_string()))
}

fn load() -> Result<()> {
    cargo(&["build", "--release", "--package", "memo-cli"])?;
    run(Command::new("cargo")
        .args(["test", "--release", "--package", "memo-server", "--test", "it", "load::", "--"])
        .args(["--ignored", "--nocapture"])
        .env("MEMO_BIN", target().join("release/memo")))
}

fn test(all: bool) -> Result<()> {
    let start = Instant::now();
    // The network is busy while the compiler is.
    let tools = std::thread::spawn(|| python::light().and_then(|_| web::tools()));
    stage("format", || cargo(&["fmt", "--all", "--check"]))?;
    stage("lints", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
    })?;
    if has("nextest") {
        stage("tests", || cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]))?;
    } else {
        stage("tests", || cargo(&["test", "--workspace", "--lib", "--bins", "--tests"]))?;
    }
    stage("tools for the rest", || tools.join().expect("installing does not panic"))?;
    stage("clients", clients)?;
    stage("python package", package)?;
    stage("page", web::check)?;
    stage("page in a browser", || web::walk(&[]))?;
    stage("documentation examples", || cargo(&["test", "--workspace", "--doc", "--quiet"]))?;
    stage("documentation", || {
        run(Command::new("cargo")
            .args(["doc", "--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    if has("deny") {
        stage("licences and duplicates", || {
            cargo(&["deny", "--workspace", "check", "licenses", "bans", "sources"])
        })?;
    } else {
        println!("== licences and duplicates: skipped, cargo-deny is not installed");
    }
    if all {
        stage("python package, what takes long", python::heavy)?;
        stage("the authors' protocol", protocol)?;
        stage("a thousand kills", || kill(1000))?;
        stage("200 MB of text in 2 GB", || {
            cargo(&[
                "test",
                "--release",
                "-p",
                "memo-cli",
                "--test",
                "it",
                "large::",
                "--",
                "--ignored",
                "--nocapture",
            ])
        })?;
    }
    println!("== everything passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn clients() -> Result<()> {
    cargo(&["build", "--workspace", "--bins", "--examples", "--quiet"])?;
    python::clients()
}

fn package() -> Result<()> {
    cargo(&["build", "--workspace", "--bins", "--examples", "--quiet"])?;
    python::package()
}

/// The program writes its own pages, so that they cannot differ from what it takes.
fn docs() -> Result<()> {
    let pages = target().join("pages").display().to_string();
    cargo(&["run", "--quiet", "--package", "memo-cli", "--", "pages", &pages])?;
    let shells = format!("{pages}/completions");
    println!();
    println!("To install them for yourself:");
    println!("  bash        cp {shells}/memo.bash ~/.local/share/bash-completion/completions/memo");
    println!("  zsh         cp {shells}/_memo into a folder of $fpath");
    println!("  fish        cp {shells}/memo.fish ~/.config/fish/completions/");
    println!("  elvish      cat {shells}/memo.elv >> ~/.config/elvish/rc.elv");
    println!("  powershell  cat {shells}/_memo.ps1 >> $PROFILE");
    println!("  man         cp {pages}/man/*.1 ~/.local/share/man/man1/");
    Ok(())
}

fn protocol() -> Result<()> {
    cargo(&[
        "test",
        "--release",
        "--package",
        "memo",
        "--test",
        "it",
        "dense_protocol::",
        "--",
        "--include-ignored",
        "--nocapture",
        "--test-threads",
        "1",
    ])
}

/// Runs one stage and says how long it took.
fn stage(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("== {name}");
    let start = Instant::now();
    work().with_context(|| format!("{name} failed"))?;
    println!("== {name}: {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Where cargo builds.
fn target() -> PathBuf {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    std::path::absolute(&target).unwrap_or_else(|_| target.into())
}

/// What a command prints.
fn output_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("could not start {command:?}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether cargo has a subcommand.
fn has(subcommand: &str) -> bool {
    let mut probe = Command::new("cargo");
    probe.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

fn cargo(args: &[&str]) -> Result<()> {
    run(Command::new("cargo").args(args))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
