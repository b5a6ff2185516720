//! Tables: subject, predicate and object in columns.
//!
//! With a tab in the first row that is not empty, columns are separated by tabs and cells are taken as they are. Otherwise it is
//! CSV, with commas, or with semicolons if that row has no comma. A first row that says "subject", "predicate", "object" is a
//! heading. A cell is a term of the text form, so that a table that was written is read again as it was: mostly a plain name.

use super::error::{GraphError, GraphErrorKind};
use super::format::GraphFormat;
use super::read::line_of;
use super::term::{Position, Term};

/// What a heading says.
pub(super) const HEADING: [&str; 3] = ["subject", "predicate", "object"];

pub(super) fn read(bytes: &[u8], take: &mut dyn FnMut([Term; 3])) -> Result<(), GraphError> {
    let at = |line, kind| GraphError { format: Some(GraphFormat::Table), line: Some(line), kind };
    let text = str::from_utf8(bytes)
        .map_err(|error| at(line_of(&bytes[..error.valid_up_to()]), GraphErrorKind::Encoding))?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.contains('\t') {
        let mut heading = true;
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let is_heading = std::mem::take(&mut heading) && is_heading(line.split('\t'));
            if !is_heading {
                take(row(line.split('\t')).map_err(|kind| at(number as u64 + 1, kind))?);
            }
        }
        return Ok(());
    }
    let semicolons = first.contains(';') && !first.contains(',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(if semicolons { b';' } else { b',' })
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let mut heading = true;
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) => {
                return Err(at(line, GraphErrorKind::Syntax { problem: error.to_string() }));
            }
        }
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let is_heading = std::mem::take(&mut heading) && is_heading(record.iter());
        if !is_heading {
            take(row(record.iter()).map_err(|kind| {
                // A record begins where the one before it ends, so empty lines between them are its own.
                let begin = record.position().map_or(0, csv::Position::byte) as usize;
                let blank = |byte: &u8| matches!(byte, b'\r' | b'\n');
                let blank = bytes[begin..].iter().take_while(|byte| blank(byte)).count();
                at(line_of(&bytes[..begin + blank]), kind)
            })?);
        }
    }
}

fn is_heading<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    cells.map(|cell| cell.trim().to_lowercase()).eq(HEADING)
}

/// The triple of a row.
pub(super) fn row<'a>(cells: impl Iterator<Item = &'a str>) -> Result<[Term; 3], GraphErrorKind> {
    let cells: Vec<&str> = cells.collect();
    let [subject, predicate, object] = cells[..] else {
        return Err(GraphErrorKind::Columns { columns: cells.len() });
    };
    Ok([
        Term::parse(subject, Position::Subject)?,
        Term::parse(predicate, Position::Predicate)?,
        Term::parse(object, Position::Object)?,
    ])
}
