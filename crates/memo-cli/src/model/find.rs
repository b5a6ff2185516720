//! `memo find`: the places of a text in the documents, printed as `grep` prints them.

use super::{given, snapshot};
use crate::args::model::FindOptions;
use crate::output::{FAINT, GOOD, Report, TITLE, styled};
use crate::printed::Printed;
use crate::progress::Progress;
use memo_store::{DocumentMatches, TextMatch, TextMatches};
use std::fmt::{Formatter, Write};
use std::ops::Range;

/// A line of a document, and the ranges of it that match.
struct Line {
    number: u64,
    text: String,
    found: Vec<Range<usize>>,
}

/// The lines of a match.
fn lines(found: &TextMatch) -> Vec<Line> {
    let TextMatch { before, matching, after, line, .. } = found;
    let whole = format!("{before}{matching}{after}");
    let (from, to) = (before.len(), before.len() + matching.len());
    let (mut number, mut start) = (line - before.matches('\n').count() as u64, 0);
    let mut lines = Vec::new();
    for text in whole.split('\n') {
        let end = start + text.len();
        let range = from.clamp(start, end) - start..to.clamp(start, end) - start;
        let found = if range.is_empty() { Vec::new() } else { vec![range] };
        lines.push(Line { number, text: text.to_owned(), found });
        (number, start) = (number + 1, end + 1);
    }
    lines
}

/// The lines of all matches, each once.
fn merged(found: &DocumentMatches) -> Vec<Line> {
    let mut all: Vec<Line> = found.matches.iter().flat_map(lines).collect();
    all.sort_by_key(|line| line.number);
    all.dedup_by(|line, kept| {
        // A long line is cut to the part around each match.
        let same = line.number == kept.number && line.text == kept.text;
        if same {
            kept.found.append(&mut line.found);
        }
        same
    });
    for line in &mut all {
        line.found.sort_by_key(|range| range.start);
        line.found.dedup();
    }
    all
}

fn print_matches(found: &TextMatches, f: &mut Formatter<'_>) -> std::fmt::Result {
    let mut last: Option<(&str, u64)> = None;
    for document in &found.documents {
        let name = &document.document;
        for line in merged(document) {
            let gap = last.is_some_and(|(other, number)| {
                other != name || (number != line.number && number + 1 != line.number)
            });
            // Like `grep`, print a rule between groups of lines that are not adjacent when context is shown.
            if gap
                && document
                    .matches
                    .iter()
                    .any(|m| format!("{}{}", m.before, m.after).contains('\n'))
            {
                writeln!(f, "{}", styled(FAINT, "--"))?;
            }
            last = Some((name, line.number));
            let mark = if line.found.is_empty() { '-' } else { ':' };
            let place = format!("{mark}{}{mark}", line.number);
            let retired = if document.live { "" } else { " (retired)" };
            writeln!(
                f,
                "{}{} {}",
                styled(GOOD, format!("{name}{retired}")),
                styled(FAINT, place),
                highlighted(&line)?
            )?;
        }
        let more = document.count - document.matches.len();
        if more > 0 {
            writeln!(f, "{name}  {}", styled(FAINT, format!("and {more} more")))?;
        }
    }
    let plural = if found.documents.len() == 1 { "document" } else { "documents" };
    let all = format!("{} in {} {plural}", found.count, found.documents.len());
    writeln!(f, "{}", styled(FAINT, all))
}

/// A line with its matches highlighted.
fn highlighted(line: &Line) -> Result<String, std::fmt::Error> {
    let (mut shown, mut at) = (String::new(), 0);
    for range in &line.found {
        let start = range.start.max(at);
        write!(shown, "{}", &line.text[at..start])?;
        write!(shown, "{}", styled(TITLE, &line.text[start..range.end.max(start)]))?;
        at = range.end.max(start);
    }
    write!(shown, "{}", &line.text[at..])?;
    Ok(shown)
}

pub(crate) fn find(options: &FindOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    progress.step("searching");
    let FindOptions { ignore_case, context, .. } = *options;
    let how = memo_store::FindOptions { ignore_case, context };
    Ok(Box::new(Printed::new(model.find_with(&given(&options.text)?, &how)?, print_matches)))
}
