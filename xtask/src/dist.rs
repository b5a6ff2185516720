//! `cargo xtask dist`: the program as it is given to others, on Linux: one file that runs everywhere, and a package for Debian
//! and its relatives with man pages and completions. `Containerfile` makes an image of the same program.

use crate::programs::{output_of, run, target};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Debian has another program called `memo`.
const PACKAGE: &str = "memo-lm";

/// Builds the program, unless one is given, and packs it.
pub(crate) fn dist(program: Option<&Path>) -> Result<()> {
    let folder = target().join("dist-packages");
    fs::create_dir_all(&folder)?;
    let (program, platform) = match program {
        Some(program) => (program.to_owned(), host()?),
        None => build()?,
    };
    let file = folder.join(format!("memo-{VERSION}-{platform}"));
    fs::copy(&program, &file).with_context(|| program.display().to_string())?;
    println!("wrote {}", file.display());
    let package = deb(&file, &folder)?;
    println!("wrote {}", package.display());
    println!("`podman build --tag memo .` makes a container of the same program");
    Ok(())
}

/// The platform of this compiler, such as `x86_64-unknown-linux-gnu`.
fn host() -> Result<String> {
    let version = output_of(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// Builds the program: without any library of the system if the compiler can, and says so if not.
fn build() -> Result<(PathBuf, String)> {
    let host = host()?;
    ensure!(
        host.contains("-linux-"),
        "packages are made on Linux; here `cargo build --profile dist` will do"
    );
    let alone = host.replace("-linux-gnu", "-linux-musl");
    let libraries =
        output_of(Command::new("rustc").args(["--print", "target-libdir", "--target", &alone]))?;
    let platform = if Path::new(libraries.trim()).is_dir() {
        alone
    } else {
        println!(
            "{alone} is not installed: the program will need the C library of a system as new as this one"
        );
        println!("`rustup target add {alone}` lets it run on any Linux");
        host
    };
    run(Command::new("cargo")
        .args(["build", "--locked", "--profile", "dist", "--package", "memo-cli"])
        .args(["--target", &platform]))?;
    Ok((target().join(&platform).join("dist/memo"), platform))
}

/// Makes a package of the program.
fn deb(program: &Path, folder: &Path) -> Result<PathBuf> {
    let architecture = output_of(Command::new("dpkg").arg("--print-architecture")).context(
        "dpkg makes the package; it comes with Debian and Ubuntu, and is a package elsewhere",
    )?;
    let name = format!("{PACKAGE}_{VERSION}_{}", architecture.trim());
    let root = folder.join(&name);
    let _ = fs::remove_dir_all(&root);
    let put = |from: &Path, to: &str| -> Result<PathBuf> {
        let to = root.join(to);
        fs::create_dir_all(to.parent().context("a folder")?)?;
        fs::copy(from, &to).with_context(|| from.display().to_string())?;
        Ok(to)
    };
    run(Command::new("chmod").arg("755").arg(put(program, "usr/bin/memo")?))?;
    // The program writes its own pages.
    let pages = folder.join("pages");
    let _ = fs::remove_dir_all(&pages);
    run(Command::new(program)
        .args(["--quiet", "pages"])
        .arg(&pages)
        .stdout(std::process::Stdio::null()))?;
    for page in fs::read_dir(pages.join("man"))? {
        let page = page?.path();
        let file = page.file_name().context("a name")?.to_string_lossy().into_owned();
        let packed = put(&page, &format!("usr/share/man/man1/{file}"))?;
        run(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(packed))?;
    }
    for (from, to) in [
        ("memo.bash", "bash-completion/completions/memo"),
        ("_memo", "zsh/vendor-completions/_memo"),
        ("memo.fish", "fish/vendor_completions.d/memo.fish"),
    ] {
        put(&pages.join("completions").join(from), &format!("usr/share/{to}"))?;
    }
    let texts: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
    let licences: Vec<String> = texts.iter().map(fs::read_to_string).collect::<Result<_, _>>()?;
    let documents = root.join("usr/share/doc").join(PACKAGE);
    fs::create_dir_all(&documents)?;
    let licence = format!(
        "MeMo, under either of these licences, at your choice.\n\n{}",
        licences.join("\n\n")
    );
    fs::write(documents.join("copyright"), licence)?;
    fs::create_dir_all(root.join("DEBIAN"))?;
    let control = control(&fs::read(program)?, architecture.trim(), size(&root)?);
    fs::write(root.join("DEBIAN/control"), control)?;
    let file = folder.join(format!("{name}.deb"));
    run(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&root).arg(&file))?;
    check(&file)?;
    Ok(file)
}

/// What the package says of itself.
fn control(program: &[u8], architecture: &str, bytes: u64) -> String {
    let depends = glibc(program)
        .map_or_else(String::new, |version| format!("Depends: libc6 (>= {version}), libgcc-s1\n"));
    format!(
        "Package: {PACKAGE}\nVersion: {VERSION}\nArchitecture: {architecture}\n{depends}Conflicts: memo\n\
         Installed-Size: {}\nMaintainer: The MeMo authors <memo@localhost>\nSection: text\nPriority: optional\n\
         Description: a language model that is a memory\n \
         Memorizes text in one pass, completes from it with sources, can be corrected,\n and forgets a text exactly. \
         Has a command line, and a server with a page.\n",
        bytes.div_ceil(1024)
    )
}

/// The newest version of the C library that a program asks for; none if it is linked to none.
fn glibc(program: &[u8]) -> Option<String> {
    let mark = b"GLIBC_2.";
    let minor = |at: usize| {
        let digits = program[at + mark.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(None, |minor: Option<u32>, digit| {
            Some(minor.unwrap_or(0).saturating_mul(10) + u32::from(digit - b'0'))
        })
    };
    let places = program.windows(mark.len()).enumerate().filter(|(_, bytes)| bytes == mark);
    places.filter_map(|(at, _)| minor(at)).max().map(|minor| format!("2.{minor}"))
}

/// The bytes of all files below a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let here = entry.metadata()?;
        bytes += if here.is_dir() { size(&entry.path())? } else { here.len() };
    }
    Ok(bytes)
}

/// Refuses a package that lacks something.
fn check(package: &Path) -> Result<()> {
    let listed = output_of(Command::new("dpkg-deb").arg("--contents").arg(package))?;
    for file in [
        "usr/bin/memo",
        "usr/share/man/man1/memo.1.gz",
        "usr/share/man/man1/memo-complete.1.gz",
        "usr/share/bash-completion/completions/memo",
        "usr/share/doc/memo-lm/copyright",
    ] {
        if !listed.lines().any(|line| line.ends_with(&format!("./{file}"))) {
            bail!("{} lacks {file}", package.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::read_to_string(root.join(name)).unwrap()
    }

    #[test]
    fn a_package_asks_for_the_c_library_only_if_the_program_does() {
        let control = |program: &[u8]| control(program, "amd64", 2049);
        let dynamic = control(b"..GLIBC_2.17\0GLIBC_2.34\0GLIBC_2.4\0GLIBC_PRIVATE");
        assert!(dynamic.contains("\nDepends: libc6 (>= 2.34), libgcc-s1\nConflicts"), "{dynamic}");
        assert!(dynamic.contains("\nInstalled-Size: 3\n"), "{dynamic}");
        assert!(!control(b"nothing of the kind").contains("Depends"));
        // Every line is a field, or goes on with one.
        for line in dynamic.lines() {
            assert!(line.starts_with(' ') || line.split(": ").nth(1).is_some(), "{line}");
        }
    }

    /// What can be known of the container file without building an image.
    #[test]
    fn the_container_file_is_sound() {
        let file = read("Containerfile");
        let lines = file.replace("\\\n", " ");
        let lines: Vec<&str> = lines.lines().map(str::trim).collect();
        let lines = lines.into_iter().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut stages = Vec::new();
        let known = [
            "FROM",
            "WORKDIR",
            "COPY",
            "RUN",
            "ENV",
            "EXPOSE",
            "VOLUME",
            "USER",
            "ENTRYPOINT",
            "CMD",
        ];
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap();
            assert!(known.contains(&word), "{line}");
            assert!(word == "FROM" || !stages.is_empty(), "{line} before the first stage");
            if word == "FROM" {
                stages.push(rest.split(" AS ").nth(1).unwrap_or("last").to_owned());
            }
            if let Some(from) = rest.split("--from=").nth(1) {
                let stage = from.split(' ').next().unwrap();
                assert!(stages.iter().any(|known| known == stage), "{line}: no stage {stage}");
            }
            if ["ENTRYPOINT", "CMD"].contains(&word) {
                assert!(rest.starts_with("[\"") && rest.ends_with("\"]"), "{line}");
            }
        }
        assert_eq!(stages, ["build", "last"]);
        // The compiler is the one that the project names.
        let toolchain = read("rust-toolchain.toml");
        let channel = toolchain.split("channel = \"").nth(1).unwrap().split('"').next().unwrap();
        assert!(file.contains(&format!("rust:{channel}-")), "{channel}");
        assert!(read(".dockerignore").lines().any(|line| line == "target"));
    }
}
