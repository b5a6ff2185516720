//! One JSON object a line, one document an object.

use super::sniff::{Sniffed, text_only};
use super::{Content, Item, ReadError, ReadOptions, Source, text};
use serde_json::{Map, Value};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;

/// A JSONL file that is being read.
pub(super) struct Jsonl<R> {
    lines: Lines<R>,
    path: PathBuf,
    id: String,
    line: u64,
    /// Bytes of the file before the next line.
    offset: u64,
    /// The rest of a line that was too long comes before the next line. It is passed over only when
    /// that is asked for: a line may be endless, and its error must not wait for its end.
    rest: bool,
    /// The file itself failed, so there is no next line.
    failed: bool,
}

type Lines<R> = BufReader<io::Chain<Cursor<Vec<u8>>, R>>;

/// What reading one line gave.
enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

impl<R: BufRead> Jsonl<R> {
    pub(super) fn new(read: R, path: PathBuf, id: String) -> Result<Self, ReadError> {
        let Sniffed { read, mark } = text_only(read, &path)?;
        let lines = BufReader::new(read);
        Ok(Self { lines, path, id, line: 0, offset: mark, rest: false, failed: false })
    }

    /// The next document, skipped line or error. After an error in a line the next line follows;
    /// after an error of the file nothing does.
    pub(super) fn next(&mut self, options: &ReadOptions) -> Option<Result<Item, ReadError>> {
        while !self.failed {
            let line = match self.read_line(options.max_bytes) {
                Ok(Line::End) => return None,
                Ok(line) => line,
                Err(reason) => {
                    self.failed = true;
                    return Some(Err(ReadError::io(&self.path, reason)));
                }
            };
            self.line += 1;
            let place = Source { path: self.path.clone(), line: Some(self.line) };
            let Line::Text(bytes) = line else {
                return Some(Err(ReadError::TooLarge { place, max: options.max_bytes }));
            };
            let start = self.offset - bytes.len() as u64;
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let text = match text::decode(bytes, options.encoding) {
                Ok(text) => text,
                Err(at) => {
                    return Some(Err(ReadError::InvalidUtf8 { place, offset: start + at }));
                }
            };
            return Some(self.record(&text, place, options));
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

    fn record(&self, line: &str, place: Source, options: &ReadOptions) -> Result<Item, ReadError> {
        let mut object: Map<String, Value> = match serde_json::from_str(line) {
            Ok(object) => object,
            Err(e) => return Err(ReadError::NotJson { place, reason: e.to_string() }),
        };
        let wrong = |field: &str, expected| ReadError::FieldType {
            place: place.clone(),
            field: field.to_owned(),
            expected,
        };
        let missing = |field: &str, object: &Map<String, Value>| ReadError::NoField {
            place: place.clone(),
            field: field.to_owned(),
            present: object.keys().cloned().collect(),
        };

        let id = match &options.id_field {
            None => format!("{}#{}", self.id, self.line),
            Some(field) => match object.get(field) {
                Some(Value::String(id)) if !id.is_empty() => id.clone(),
                Some(Value::Number(id)) if id.is_i64() || id.is_u64() => id.to_string(),
                Some(_) => return Err(wrong(field, "a string that is not empty, or an integer")),
                None => return Err(missing(field, &object)),
            },
        };
        let labels =
            match options.label_field.as_ref().and_then(|field| object.get_key_value(field)) {
                None | Some((_, Value::Null)) => Vec::new(),
                Some((field, value)) => {
                    labels(value).ok_or_else(|| wrong(field, "a string or a list of strings"))?
                }
            };
        let field = &options.text_field;
        let text = match object.get_mut(field).map(Value::take) {
            Some(Value::String(text)) => text,
            Some(_) => return Err(wrong(field, "a string")),
            None => return Err(missing(field, &object)),
        };
        Ok(text::document(id, Content::Text(text), place, labels, options))
    }
}

fn labels(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(label) => Some(vec![label.clone()]),
        Value::Array(list) => list.iter().map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}
