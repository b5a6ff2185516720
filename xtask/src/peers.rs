//! `cargo xtask peers`: KenLM, infini-gram and the paper's equations, installed in a folder of their own, and measured beside
//! MeMo on the same texts (`bindings/python/bench/peers`).

use crate::programs::{Need, install, run, succeeds, target};
use crate::python;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

const REQUIREMENTS: &str = "bindings/python/bench/peers/requirements.txt";
const KENLM: &str = "kenlm-0.3.0";
/// Its CMakeLists.txt is older than what CMake 4 takes without being told.
const POLICY: (&str, &str) = ("CMAKE_POLICY_VERSION_MINIMUM", "3.5");

/// What KenLM is built with.
const BUILDING: Need = Need {
    name: "cmake, a C++ compiler, and Boost's and zlib's headers",
    why: "builds KenLM",
    there: || {
        succeeds("cmake", &["--version"])
            && Path::new("/usr/include/boost/program_options.hpp").exists()
            && Path::new("/usr/include/lzma.h").exists()
    },
    packages: &[
        "cmake",
        "g++",
        "libboost-iostreams-dev",
        "libboost-program-options-dev",
        "libboost-system-dev",
        "libboost-test-dev",
        "libboost-thread-dev",
        "libbz2-dev",
        "liblzma-dev",
        "zlib1g-dev",
    ],
};

/// Measures all of them on texts, and writes docs/benchmarks.md.
pub(crate) fn peers(texts: &[PathBuf], built: bool) -> Result<()> {
    install(&[&BUILDING])?;
    let python = package(python::environment("peers/venv", &[REQUIREMENTS])?, built)?;
    let home = home();
    let kenlm = kenlm(&python, &home)?;
    let docs = std::path::absolute("docs")?;
    let texts = texts.iter().map(std::path::absolute).collect::<std::io::Result<Vec<_>>>()?;
    run(Command::new(&python)
        .args(["-m", "peers", "--docs"])
        .args([&docs, Path::new("--work"), &home])
        .args(texts)
        .current_dir("bindings/python/bench")
        // NumPy's threads wait by spinning, which would count as work beside whatever else the machine does.
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("KENLM_BIN", kenlm))
}

/// Makes a large memory and measures it.
pub(crate) fn scale(tokens: u64, file: Option<&Path>, workers: usize, built: bool) -> Result<()> {
    let python = package(python::light()?, built)?;
    let home = home();
    std::fs::create_dir_all(&home)?;
    let mut command = Command::new(python);
    command.args(["bindings/python/bench/large.py", "--tokens", &tokens.to_string()]);
    command.args(["--workers", &workers.to_string(), "--work"]).arg(home);
    if let Some(file) = file {
        command.arg("--file").arg(file);
    }
    run(&mut command)
}

fn home() -> PathBuf {
    target().join("peers")
}

/// Installs the Python package in an environment.
fn package(python: PathBuf, built: bool) -> Result<PathBuf> {
    if !built {
        python::build()?;
    }
    python::install(&python)?;
    Ok(python)
}

/// Installs KenLM's module and builds its programs, unless they are there; returns where these are.
fn kenlm(python: &Path, home: &Path) -> Result<PathBuf> {
    let (source, archive) = (home.join(KENLM), home.join(format!("{KENLM}.tar.gz")));
    let build = source.join("build");
    let programs = build.join("bin");
    if !programs.join("lmplz").exists() {
        let version = KENLM.replace('-', "==");
        run(Command::new(python)
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"])
            .args(["--no-binary", "kenlm", &version, "--dest"])
            .arg(home))?;
        run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(home))?;
        run(Command::new("cmake")
            .args(["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF", "-S"])
            .args([&source, Path::new("-B"), &build])
            .env(POLICY.0, POLICY.1))?;
        run(Command::new("cmake").arg("--build").arg(&build).args([
            "--parallel",
            "2",
            "--target",
            "lmplz",
            "build_binary",
        ]))?;
    }
    if !Command::new(python).args(["-c", "import kenlm"]).output()?.status.success() {
        let pip = &mut python::pip(python);
        run(pip.args(["--no-deps", "--no-build-isolation"]).arg(&archive).env(POLICY.0, POLICY.1))?;
    }
    Ok(programs)
}
