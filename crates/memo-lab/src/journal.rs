//! The journal of a run: one line of JSON for each finished setting, so that an interrupted run can be resumed.
//!
//! Its first line names everything that the results depend on. A journal whose first line differs is refused, so results of
//! different runs are never mixed. A line that was cut off by a kill is dropped, and its setting is measured again.

use crate::{Error, Measured, Options};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

/// Everything that the results of a journal depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    experiment: String,
    version: String,
    quick: bool,
    seed: u64,
    inputs: String,
}

impl std::fmt::Display for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let grid = if self.quick { "quick" } else { "full" };
        write!(f, "{} {}, {grid}, seed {}", self.experiment, self.version, self.seed)?;
        if self.inputs.is_empty() { Ok(()) } else { write!(f, ", {}", self.inputs) }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    setting: String,
    seconds: f64,
    result: serde_json::Value,
}

/// The settings that are done; without a folder, of this run only.
pub(crate) struct Journal {
    file: Option<(PathBuf, File)>,
    /// By setting, with the number of its line.
    done: HashMap<String, (usize, Line)>,
}

impl Journal {
    pub(crate) fn open(options: &Options, experiment: &str, inputs: &str) -> Result<Self, Error> {
        let Some(folder) = &options.out else {
            return Ok(Journal { file: None, done: HashMap::new() });
        };
        let header = Header {
            experiment: experiment.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick: options.quick,
            seed: options.seed,
            inputs: inputs.to_owned(),
        };
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let path = folder.join(format!("{experiment}.journal.jsonl"));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::file(&path)(error)),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines().enumerate();
        let wrong = |line: usize, reason: &serde_json::Error| Error::Line {
            path: path.clone(),
            line: line + 1,
            reason: reason.to_string(),
        };
        let known = lines.next().map(|(at, line)| {
            serde_json::from_str::<Header>(line).map_err(|error| wrong(at, &error))
        });
        let known = known.transpose()?;
        if let Some(found) = known.as_ref().filter(|found| **found != header) {
            let (found, wanted) = (found.to_string(), header.to_string());
            return Err(Error::OtherJournal { path, found, wanted });
        }
        let mut done = HashMap::new();
        for (at, line) in lines {
            let line: Line = serde_json::from_str(line).map_err(|error| wrong(at, &error))?;
            done.insert(line.setting.clone(), (at + 1, line));
        }
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(Error::file(&path))?;
        file.set_len(whole as u64).map_err(Error::file(&path))?;
        let mut journal = Journal { file: Some((path, file)), done };
        if known.is_none() {
            journal.append(&header)?;
        }
        Ok(journal)
    }

    /// The result of a setting in an earlier run.
    pub(crate) fn get<R: DeserializeOwned>(&self, key: &str) -> Result<Option<Measured<R>>, Error> {
        let Some(((at, line), (path, _))) = self.done.get(key).zip(self.file.as_ref()) else {
            return Ok(None);
        };
        let result = serde_json::from_value(line.result.clone()).map_err(|error| Error::Line {
            path: path.clone(),
            line: *at,
            reason: error.to_string(),
        })?;
        Ok(Some(Measured { result, seconds: line.seconds }))
    }

    /// Appends a result.
    pub(crate) fn add<R: Serialize>(
        &mut self,
        key: &str,
        measured: &Measured<R>,
    ) -> Result<(), Error> {
        #[derive(Serialize)]
        struct New<'a, R> {
            setting: &'a str,
            seconds: f64,
            result: &'a R,
        }
        self.append(&New { setting: key, seconds: measured.seconds, result: &measured.result })
    }

    fn append(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let text = serde_json::to_string(line).map_err(std::io::Error::from);
        let text = text.map_err(Error::file(path))? + "\n";
        // One write a line, synced: a kill loses at most the setting that was being measured.
        file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).map_err(Error::file(path))
    }
}
