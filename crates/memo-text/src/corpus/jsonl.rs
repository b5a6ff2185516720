//! JSONL: one JSON object per line, one document per object.

use super::sniff::{Sniffed, text_only};
use super::{Content, CorpusErrorKind, CorpusOptions, text};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// The field that holds a document's id, in the lines that have it, if no other is asked for.
const ID_FIELD: &str = "id";

/// A JSONL file that is being read.
pub(super) struct Jsonl<R> {
    lines: BufReader<io::Chain<Cursor<Vec<u8>>, R>>,
    /// The number of the line that was read last.
    line: u64,
    /// Bytes of the file before the next line.
    offset: u64,
    /// Whether the rest of a line that was too long has to be skipped before the next line. It is skipped only when the next
    /// line is asked for: a line may be endless, and its error must not wait for the end.
    rest: bool,
    /// Whether reading the file failed, so that there is no next line.
    failed: bool,
}

/// A document of a line, or of a whole file.
pub(super) struct Record {
    pub(super) id: Option<String>,
    pub(super) content: Content,
    pub(super) labels: BTreeMap<String, String>,
}

impl Record {
    /// A content without id and labels of its own.
    pub(super) fn of(content: Content) -> Self {
        Self { id: None, content, labels: BTreeMap::new() }
    }
}

/// A record or its error, with the number of its line if it is about one.
pub(super) type NextRecord = (Option<u64>, Result<Record, CorpusErrorKind>);

/// The outcome of reading one line.
enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

impl<R: BufRead> Jsonl<R> {
    /// A file from its beginning.
    pub(super) fn new(read: R) -> Result<Self, CorpusErrorKind> {
        let Sniffed { read, mark } = text_only(read)?;
        Ok(Self::at(read, mark, 1))
    }

    /// The lines of a file from an offset on, which is the beginning of line `number`.
    pub(super) fn from_line(read: R, offset: u64, line: u64) -> Self {
        Self::at(Cursor::new(Vec::new()).chain(read), offset, line)
    }

    fn at(read: io::Chain<Cursor<Vec<u8>>, R>, offset: u64, line: u64) -> Self {
        let lines = BufReader::new(read);
        Self { lines, line: line.saturating_sub(1), offset, rest: false, failed: false }
    }

    /// The next record or error. After an error in a line the next line follows; after an error of the file nothing does.
    pub(super) fn next(&mut self, options: &CorpusOptions) -> Option<NextRecord> {
        while !self.failed {
            let line = match self.read_line(options.max_bytes) {
                Ok(Line::End) => return None,
                Ok(line) => line,
                Err(reason) => {
                    self.failed = true;
                    return Some((None, Err(CorpusErrorKind::Io(reason))));
                }
            };
            self.line += 1;
            let record = match line {
                Line::Text(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Text(bytes) => {
                    let start = self.offset - bytes.len() as u64;
                    text::decode(bytes, start).and_then(|line| record(&line, options))
                }
                _ => Err(CorpusErrorKind::TooLarge { max: options.max_bytes }),
            };
            return Some((Some(self.line), record));
        }
        None
    }

    fn read_line(&mut self, max: u64) -> io::Result<Line> {
        if std::mem::take(&mut self.rest) {
            self.offset += self.lines.skip_until(b'\n')? as u64;
        }
        let mut line = Vec::new();
        // The line end is not part of the line, so one more byte may be read.
        let limit = max.saturating_add(1);
        let length = self.lines.by_ref().take(limit).read_until(b'\n', &mut line)? as u64;
        self.offset += length;
        self.rest = length > max && !line.ends_with(b"\n");
        Ok(match length {
            0 => Line::End,
            _ if self.rest => Line::TooLong,
            _ => Line::Text(line),
        })
    }
}

fn record(line: &str, options: &CorpusOptions) -> Result<Record, CorpusErrorKind> {
    let mut object: Map<String, Value> = serde_json::from_str(line)
        .map_err(|error| CorpusErrorKind::NotJson { reason: error.to_string() })?;
    let missing = |field: &str, object: &Map<String, Value>| CorpusErrorKind::NoField {
        field: field.to_owned(),
        present: object.keys().cloned().collect(),
    };
    let id = match &options.id_field {
        None => object.get(ID_FIELD).and_then(id),
        Some(field) => {
            let value = object.get(field).ok_or_else(|| missing(field, &object))?;
            let expected = "a string that is not empty, or an integer";
            Some(id(value).ok_or_else(|| wrong(field, expected))?)
        }
    };
    let mut labels = BTreeMap::new();
    for field in &options.label_fields {
        let value = match object.get(field) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            Some(_) => return Err(wrong(field, "a string, a number, true or false")),
        };
        labels.insert(field.clone(), value);
    }
    let field = &options.text_field;
    let text = match object.get_mut(field).map(Value::take) {
        Some(Value::String(text)) => text,
        Some(_) => return Err(wrong(field, "a string")),
        None => return Err(missing(field, &object)),
    };
    Ok(Record { id, content: Content::Text(text), labels })
}

fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) if id.is_i64() || id.is_u64() => Some(id.to_string()),
        _ => None,
    }
}

fn wrong(field: &str, expected: &'static str) -> CorpusErrorKind {
    CorpusErrorKind::FieldType { field: field.to_owned(), expected }
}
