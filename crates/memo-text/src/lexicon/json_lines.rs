//! JSONL: an object a line, `{"word": "volvo", "class": "car"}` or `{"word": "volvo", "classes": ["car", "vehicle"]}`, where `null` is no class.

use super::entries::Entries;
use super::error::At;
use super::inflect::Part;
use super::text::lines;
use super::{LexiconError, LexiconErrorKind, LexiconOptions, OnConflict, place};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Record {
    word: String,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    classes: Option<Vec<Option<String>>>,
}

pub(super) fn read(
    text: &str,
    path: &Path,
    options: &LexiconOptions,
) -> Result<Entries, LexiconError> {
    let mut entries = Entries::new(options.on_conflict.unwrap_or(OnConflict::Error));
    for line in lines(text, path) {
        let (line, number) = line?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |problem: String| {
            LexiconErrorKind::Syntax { format: "an entry", problem }.at(place(path, number))
        };
        let record: Record = serde_json::from_str(line).map_err(|error| {
            wrong(format!("{error}; a line is like {{\"word\": \"volvo\", \"class\": \"car\"}}"))
        })?;
        if record.class.is_some() && record.classes.is_some() {
            return Err(wrong("it has both \"class\" and \"classes\"".to_owned()));
        }
        let classes = record.classes.unwrap_or_else(|| vec![record.class]);
        let classes = classes.iter().map(|class| class.as_deref().unwrap_or_default());
        entries.add(&record.word, classes, Part::Any, || place(path, number))?;
    }
    if options.inflect {
        entries.inflect([]);
    }
    Ok(entries)
}
