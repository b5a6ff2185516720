//! The provenance of a result: the command, the seed, the version and the kind of machine, without names or folders.

use crate::Options;
use crate::text::duration;
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::Path;

/// The provenance of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    /// The command line.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// The version of this software.
    pub version: &'static str,
    /// The model of the processor.
    pub processor: String,
    /// Its cores, as far as this process may use them.
    pub cores: usize,
    /// Threads used.
    pub threads: usize,
    /// The time that the measurements took, those of interrupted runs included.
    pub seconds: f64,
}

impl Provenance {
    pub(crate) fn new(command: String, options: &Options, seconds: f64) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Provenance {
            command,
            seed: options.seed,
            version: env!("CARGO_PKG_VERSION"),
            processor: processor(),
            cores,
            threads: if options.threads == 0 { cores } else { options.threads },
            seconds,
        }
    }

    /// A command line that can be published: absolute paths are reduced to the names of the files.
    pub fn shown(command: &[String]) -> String {
        let word = |(at, word): (usize, &String)| {
            let path = Path::new(word);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let word = if at == 0 || path.is_absolute() { name } else { None }
                .unwrap_or_else(|| word.clone());
            if word.contains(char::is_whitespace) { format!("'{word}'") } else { word }
        };
        command.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
    }
}

impl Display for Provenance {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Provenance { command, seed, version, processor, cores, threads, seconds } = self;
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        write!(
            f,
            "`{command}` with version {version}, seed {seed}, on {} of {processor}, {}; measuring took {}.",
            plural(*cores, "core"),
            plural(*threads, "thread"),
            duration(*seconds),
        )
    }
}

/// The processor's model on Linux; its architecture elsewhere.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = model.map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    if info.contains("avx512f") { format!("{name} (AVX-512)") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_without_folders_of_this_machine() {
        let words = ["/somewhere/bin/memo-lab", "layers", "--out", "docs/x", "--authors"];
        let mut command: Vec<String> = words.map(str::to_owned).to_vec();
        command.push("/somewhere/my data.csv".to_owned());
        assert_eq!(
            Provenance::shown(&command),
            "memo-lab layers --out docs/x --authors 'my data.csv'"
        );
    }
}
