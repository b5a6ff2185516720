//! Reading of one file: its content as one document, or its lines as many.

use super::files::STDIN;
use super::jsonl::{Jsonl, NextRecord, Record};
use super::text::Format;
use super::{
    Content, CorpusDocument, CorpusEntry, CorpusError, CorpusErrorKind, CorpusFile, CorpusOptions,
    Location, Skip, SkipReason, text,
};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// A file that may still have documents to give.
pub(super) struct OpenFile {
    file: CorpusFile,
    reading: Reading,
}

enum Reading {
    /// Nothing was read yet.
    Opened(BoxedRead),
    /// Lines are being read; whether there was a record.
    Lines(Box<Jsonl<BoxedRead>>, bool),
    /// Nothing is left.
    Finished,
}

type BoxedRead = BufReader<Box<dyn Read + Send>>;

impl OpenFile {
    pub(super) fn new(file: CorpusFile, read: Box<dyn Read + Send>) -> Self {
        Self { file, reading: Reading::Opened(BufReader::new(read)) }
    }

    pub(super) fn open(mut file: CorpusFile) -> Result<Self, CorpusError> {
        if file.source.is_none() && file.path == Path::new("-") {
            file.path = STDIN.into();
            return Ok(Self::new(file, Box::new(io::stdin())));
        }
        match open(&file) {
            Ok(read) => Ok(Self::new(file, read)),
            Err(error) => Err(CorpusErrorKind::Io(error).at(file.path)),
        }
    }

    pub(super) fn was_found(&self) -> bool {
        self.file.found
    }

    /// The next document, skipped line or error.
    pub(super) fn next(
        &mut self,
        options: &CorpusOptions,
    ) -> Option<Result<CorpusEntry, CorpusError>> {
        let (line, record) = self.next_record(options)?;
        let location = Location { path: self.file.path.clone(), line };
        Some(match record {
            Err(kind) => Err(kind.at(location)),
            Ok(record) if record.content.as_bytes().is_empty() => {
                Ok(CorpusEntry::Skipped(Skip { location, reason: SkipReason::Empty }))
            }
            Ok(record) => Ok(CorpusEntry::Document(self.document(record, location, options))),
        })
    }

    fn next_record(&mut self, options: &CorpusOptions) -> Option<NextRecord> {
        match std::mem::replace(&mut self.reading, Reading::Finished) {
            Reading::Finished => None,
            Reading::Opened(read) if !options.is_jsonl(&self.file.path) => {
                let content = text::read(
                    read,
                    Format::of(&self.file.path),
                    options.encoding,
                    options.max_bytes,
                );
                Some((None, content.map(Record::of)))
            }
            Reading::Opened(read) => match self.lines(read) {
                Ok(lines) => {
                    self.reading = Reading::Lines(Box::new(lines), false);
                    self.next_record(options)
                }
                Err(kind) => Some((None, Err(kind))),
            },
            Reading::Lines(mut lines, any) => match lines.next(options) {
                None if any || self.file.lines.is_some() => None,
                // A JSONL file without records is reported as empty, like an empty text.
                None => Some((None, Ok(Record::of(Content::Text(String::new()))))),
                record => {
                    self.reading = Reading::Lines(lines, true);
                    record
                }
            },
        }
    }

    fn lines(&self, read: BoxedRead) -> Result<Jsonl<BoxedRead>, CorpusErrorKind> {
        match &self.file.lines {
            Some(lines) if lines.start > 0 => Ok(Jsonl::from_line(read, lines.start, lines.first)),
            _ => Jsonl::new(read),
        }
    }

    fn document(
        &self,
        Record { id, content, labels }: Record,
        location: Location,
        options: &CorpusOptions,
    ) -> CorpusDocument {
        let line = location.line.map(|line| line.to_string());
        let source = self.file.source.as_ref().map(|source| match id.as_ref().or(line.as_ref()) {
            Some(key) => format!("{}#{key}", source.display()),
            None => source.display().to_string(),
        });
        let id = id.unwrap_or_else(|| match line {
            Some(line) => format!("{}#{line}", self.file.id),
            None => self.file.id.clone(),
        });
        let id = format!("{}{id}", options.prefix);
        CorpusDocument { id, content, labels, location, source }
    }
}

/// Opens a file at the range of lines that is to be read.
fn open(file: &CorpusFile) -> io::Result<Box<dyn Read + Send>> {
    let mut read = File::open(&file.path)?;
    let Some(lines) = &file.lines else { return Ok(Box::new(read)) };
    read.seek(SeekFrom::Start(lines.start))?;
    Ok(Box::new(read.take(lines.end.saturating_sub(lines.start))))
}
