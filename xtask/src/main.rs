//! `cargo xtask …`: everything that checks, measures or builds the project, in one place.

mod dist;
mod peers;
mod programs;
mod python;
mod stages;
mod web;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use programs::{cargo, run, target};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Checks, measures and builds MeMo.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check what a change needs at least: formatting, lints, tests, examples in the documentation. Takes minutes, and nothing
    /// but Rust: no network, no browser, no Python.
    Check,
    /// Run every check and test: all of `check`, the server with Python clients, the Python package, the page in a browser,
    /// documentation, licences and advisories. Installs what that needs.
    Test {
        /// Add the tiers that take long: the Python package with torch, the authors' protocol at full size, a thousand kills, a
        /// text of 200 MB.
        #[arg(long)]
        all: bool,
    },
    /// Run the tests of the server with Python clients.
    Clients {
        /// Test what was built last.
        #[arg(long)]
        built: bool,
    },
    /// Build the Python package, install it in an environment of its own, and run its tests.
    Python {
        /// Add those that take long: Ray's datasets, torch and transformers.
        #[arg(long)]
        all: bool,
        /// Test what was built last.
        #[arg(long)]
        built: bool,
    },
    /// Check the page: its types, its unit tests, and whether the server embeds what web/ has.
    Page {
        /// Walk through it in a browser instead, against the program that was built last.
        #[arg(long)]
        walk: bool,
    },
    /// Rebuild the page that the server embeds, from web/.
    Web,
    /// Walk through the page in a browser, and save pictures of it.
    Pictures {
        /// Where to.
        #[arg(default_value = "docs/pictures")]
        to: PathBuf,
    },
    /// Install what the tests need besides Rust.
    Tools,
    /// Run a benchmark and print its ratios, e.g. `cargo xtask bench dense -- --dim 2048`.
    Bench {
        /// Which one: `dense`, `sparse_read`, … (crates/*/benches).
        name: String,
        /// Passed on to the benchmark.
        #[arg(last = true)]
        options: Vec<String>,
    },
    /// Measure MeMo beside KenLM, infini-gram and the paper's equations, and write docs/benchmarks.md. Installs them in
    /// target/peers.
    Peers {
        /// Texts, or JSON lines with `text`, or with `question` and `answer`; a made-up text if there is none.
        texts: Vec<PathBuf>,
        /// Measure the Python package that was built last.
        #[arg(long)]
        built: bool,
    },
    /// Make a large memory, open it, ask it, change it, and print what that takes beside what docs/scale.md predicts.
    Scale {
        /// How many tokens to generate.
        #[arg(long, default_value_t = 10_000_000)]
        tokens: u64,
        /// A text instead.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        /// Have so many workers of Ray memorize the first 5 million tokens besides.
        #[arg(long, default_value_t = 0)]
        workers: usize,
        /// Measure the Python package that was built last.
        #[arg(long)]
        built: bool,
    },
    /// Write shell completions and man pages to target/pages, and say how to install them.
    Docs,
    /// Build the program as it is given to others, and a Debian package of it, to target/dist-packages. Takes long.
    Dist {
        /// Pack this program instead of building one.
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
    },
    /// Serve 200 clients for a minute, kill the server under load, and check what is left; then short requests beside long ones; then eight
    /// agents with processes of their own on one model, whose owner is killed.
    Load {
        /// Serve 20 clients for half a minute with a real neural model beside the memory instead, and kill that.
        #[arg(long)]
        partner: bool,
    },
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
    LazyLock::force(&programs::PROGRAM);
    match Args::parse().task {
        Task::Check => stages::check(),
        Task::Test { all } => stages::test(all),
        Task::Clients { built } => {
            if !built {
                stages::build()?;
            }
            python::clients()
        }
        Task::Python { all, built } => {
            if !built {
                stages::build()?;
                python::build()?;
            }
            python::package()?;
            if all { python::heavy() } else { Ok(()) }
        }
        Task::Page { walk } => {
            if walk {
                web::walk(&[])
            } else {
                web::check()
            }
        }
        Task::Web => web::build(),
        Task::Pictures { to } => {
            cargo(&["build", "--package", "memo-cli"])?;
            let to = std::path::absolute(to)?.display().to_string();
            web::walk(&["--screenshots", &to])
        }
        Task::Tools => stages::tools(),
        Task::Bench { name, options } => {
            let mut args = vec!["bench", "--workspace", "--bench", &name, "--"];
            args.extend(options.iter().map(String::as_str));
            cargo(&args)
        }
        Task::Peers { texts, built } => peers::peers(&texts, built),
        Task::Scale { tokens, file, workers, built } => {
            peers::scale(tokens, file.as_deref(), workers, built)
        }
        Task::Docs => docs(),
        Task::Dist { program } => dist::dist(program.as_deref()),
        Task::Load { partner } => {
            if partner {
                stages::build()?;
                python::load_partner()
            } else {
                load()
            }
        }
        Task::Protocol => stages::protocol(),
        Task::Kill { kills } => stages::kill(kills),
        Task::Fuzz { cases } => run(Command::new("cargo")
            .args(["test", "--package", "memo-store", "--test", "it", "fuzz::"])
            .env("MEMO_FUZZ", cases.to_string())),
    }
}

/// The server is a release build; the clients, and the agents' processes, are a development build, and that of all crates, as the tests
/// have it: of some crates alone, what they need would be compiled again with other features.
fn load() -> Result<()> {
    cargo(&["build", "--release", "--package", "memo-cli"])?;
    run(Command::new("cargo")
        .args(["test", "--workspace", "--test", "it", "--"])
        .args(["load::", "mcp::", "--ignored", "--nocapture", "--test-threads", "1"])
        .env("MEMO_BIN", target().join("release/memo")))
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
