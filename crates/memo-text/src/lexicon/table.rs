//! Tables: a word a line, and its classes after it.
//!
//! Fields are separated by tabs, or by commas in CSV, where one may stand in quotes. Blank lines are none. A line that begins with `#` is a comment, unless its first
//! field is nothing but that sign, which is a symbol that may have a class. A first line that says `word` and `class` names the columns.

use super::entries::Entries;
use super::error::At;
use super::inflect::Part;
use super::text::{MAX_LINE, lines};
use super::{LexiconError, LexiconErrorKind, LexiconOptions, OnConflict, place};
use std::path::Path;

pub(super) fn read(
    text: &str,
    path: &Path,
    options: &LexiconOptions,
) -> Result<Entries, LexiconError> {
    let mut table = Table::new(path, "tab", options);
    for line in lines(text, path) {
        let (line, number) = line?;
        table.add(&line.split('\t').collect::<Vec<_>>(), number)?;
    }
    Ok(table.finish(options))
}

pub(super) fn read_csv(
    text: &str,
    path: &Path,
    options: &LexiconOptions,
) -> Result<Entries, LexiconError> {
    let mut table = Table::new(path, "comma", options);
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    for record in reader.records() {
        let record = record.map_err(|error| {
            LexiconErrorKind::Syntax { format: "CSV", problem: error.to_string() }.at_path(path)
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.as_slice().len() > MAX_LINE {
            return Err(LexiconErrorKind::LongLine { max: MAX_LINE }.at(place(path, line)));
        }
        table.add(&record.iter().collect::<Vec<_>>(), line)?;
    }
    Ok(table.finish(options))
}

struct Table<'p> {
    path: &'p Path,
    between: &'static str,
    entries: Entries,
    /// Whether there was a line with something on it.
    begun: bool,
}

impl<'p> Table<'p> {
    fn new(path: &'p Path, between: &'static str, options: &LexiconOptions) -> Self {
        let entries = Entries::new(options.on_conflict.unwrap_or(OnConflict::Error));
        Table { path, between, entries, begun: false }
    }

    fn add(&mut self, fields: &[&str], line: u64) -> Result<(), LexiconError> {
        let word = fields.first().map_or("", |word| word.trim());
        let comment = word.starts_with('#')
            && (fields.len() == 1 || !word.chars().all(|character| character == '#'));
        if comment || fields.iter().all(|field| field.trim().is_empty()) {
            return Ok(());
        }
        let begun = std::mem::replace(&mut self.begun, true);
        let Some(class) = fields.get(1) else {
            let word = word.chars().take(40).collect();
            let kind = LexiconErrorKind::NoField { between: self.between, word };
            return Err(kind.at(place(self.path, line)));
        };
        let names = word.eq_ignore_ascii_case("word")
            && class.trim().to_ascii_lowercase().starts_with("class");
        if names && !begun {
            return Ok(());
        }
        let classes = fields[1..].iter().copied();
        self.entries.add(word, classes, Part::Any, || place(self.path, line))
    }

    fn finish(mut self, options: &LexiconOptions) -> Entries {
        if options.inflect {
            self.entries.inflect([]);
        }
        self.entries
    }
}
