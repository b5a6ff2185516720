//! `memo completions`, `man` and `pages`: shell completions and man pages, generated from the definitions of the arguments.

use crate::args::{Args, CompletionsOptions, ManOptions, PagesOptions};
use crate::output::{GOOD, Report, styled};
use anyhow::{Context, bail};
use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate, generate_to};
use clap_mangen::Man;
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

/// The files that were written, and their folder.
#[derive(Serialize)]
struct Pages {
    completions: Vec<PathBuf>,
    man: Vec<PathBuf>,
}

impl Display for Pages {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for path in &self.completions {
            writeln!(f, "{} {}", styled(GOOD, "wrote"), path.display())?;
        }
        if let Some(folder) = self.man.first().and_then(|path| path.parent()) {
            let (pages, folder) = (self.man.len(), folder.display());
            writeln!(f, "{} {pages} man pages to {folder}", styled(GOOD, "wrote"))?;
        }
        Ok(())
    }
}

pub(crate) fn write(options: &PagesOptions) -> anyhow::Result<Box<dyn Report>> {
    let (completions, man) = (options.to.join("completions"), options.to.join("man"));
    for folder in [&completions, &man] {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let shells = [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell];
    let shells = shells.iter().map(|&shell| {
        generate_to(shell, &mut Args::command(), "memo", &completions)
            .with_context(|| completions.display().to_string())
    });
    let shells = shells.collect::<anyhow::Result<Vec<PathBuf>>>()?;
    let mut command = Args::command();
    command.build();
    let mut pages = Vec::new();
    write_man(&command, &man, &mut pages)?;
    Ok(Box::new(Pages { completions: shells, man: pages }))
}

/// A script or a page, printed as it is.
#[derive(Serialize)]
struct Printout {
    name: String,
    text: String,
}

impl Display for Printout {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

pub(crate) fn completions(options: &CompletionsOptions) -> anyhow::Result<Box<dyn Report>> {
    let mut script = Vec::new();
    generate(options.shell, &mut Args::command(), "memo", &mut script);
    Ok(Box::new(Printout { name: options.shell.to_string(), text: String::from_utf8(script)? }))
}

pub(crate) fn man(options: &ManOptions) -> anyhow::Result<Box<dyn Report>> {
    let mut command = Args::command();
    command.build();
    let command = match &options.command {
        None => &command,
        Some(name) => match command.find_subcommand(name).filter(|found| !found.is_hide_set()) {
            Some(found) => found,
            None => bail!("there is no command {name:?}; `memo --help` lists them"),
        },
    };
    let (name, text) = page(command)?;
    Ok(Box::new(Printout { name, text }))
}

/// The page of a command and those of its subcommands.
fn write_man(command: &Command, folder: &Path, pages: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for part in command.get_subcommands().filter(|part| !part.is_hide_set()) {
        if part.get_name() != "help" {
            write_man(part, folder, pages)?;
        }
    }
    let (name, page) = page(command)?;
    let path = folder.join(name);
    std::fs::write(&path, page).with_context(|| path.display().to_string())?;
    pages.push(path);
    Ok(())
}

/// The page of a command, and the name of its file.
fn page(command: &Command) -> anyhow::Result<(String, String)> {
    let version = concat!("memo ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(version).manual("MeMo");
    let mut page = Vec::new();
    man.render(&mut page)?;
    // The examples, which help prints below the options, get a section of their own.
    let page = String::from_utf8(page)?.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n");
    Ok((man.get_filename(), page))
}
