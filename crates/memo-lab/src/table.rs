//! Tables: as CSV for programs, as Markdown for pages, as aligned text for terminals.

use memo_terminal::output::thousands;
use serde_json::{Map, Value};
use std::fmt::{Display, Formatter};

/// One cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number and the decimals to show; CSV gets all of them.
    Number(f64, usize),
    /// Nothing there.
    Empty,
}

impl Cell {
    /// A number, or nothing.
    pub fn number(value: Option<f64>, decimals: usize) -> Self {
        value.map_or(Cell::Empty, |value| Cell::Number(value, decimals))
    }

    fn csv(&self) -> String {
        match self {
            Cell::Text(text) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Cell::Text(text) => text.clone(),
            Cell::Count(n) => n.to_string(),
            // Six digits after the point tell everything that was measured, on every machine.
            Cell::Number(x, _) => {
                let digits = format!("{x:.6}");
                digits.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            Cell::Empty => String::new(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::Text(text) => Value::from(text.as_str()),
            Cell::Count(n) => Value::from(*n),
            Cell::Number(x, _) => Value::from(*x),
            Cell::Empty => Value::Null,
        }
    }
}

impl Display for Cell {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Count(n) => f.write_str(&thousands(*n)),
            Cell::Number(x, decimals) => write!(f, "{x:.decimals$}"),
            Cell::Empty => f.write_str("–"),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<usize> for Cell {
    fn from(n: usize) -> Self {
        Cell::Count(n as u64)
    }
}

/// Rows under named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Table { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not one cell a column.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "one cell a column");
        self.rows.push(row);
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// As CSV, with a line of column names.
    pub fn csv(&self) -> String {
        let lines = self.rows.iter().map(|row| row.iter().map(Cell::csv).collect::<Vec<_>>());
        let lines = std::iter::once(self.columns.clone()).chain(lines);
        lines.map(|line| line.join(",") + "\n").collect()
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = |c: usize| if self.is_text(c) { "---|" } else { "---:|" };
        let mut out = line(self.columns.clone()) + "|";
        out.extend((0..self.columns.len()).map(rule));
        out.push('\n');
        for row in &self.rows {
            out += &line(row.iter().map(Cell::to_string).collect());
        }
        out
    }

    /// As a list of objects.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let fields = self.columns.iter().cloned().zip(row.iter().map(Cell::json));
            Value::Object(fields.collect::<Map<_, _>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }

    fn is_text(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Text(_)))
    }
}

/// As aligned text.
impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let shown: Vec<Vec<String>> = std::iter::once(self.columns.clone())
            .chain(self.rows.iter().map(|row| row.iter().map(Cell::to_string).collect()))
            .collect();
        let width = |c: usize| shown.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
        for row in &shown {
            for (c, cell) in row.iter().enumerate() {
                let pad = " ".repeat(width(c) - cell.chars().count());
                let gap = if c == 0 { "  " } else { "   " };
                if self.is_text(c) {
                    write!(f, "{gap}{cell}{pad}")?;
                } else {
                    write!(f, "{gap}{pad}{cell}")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_for_programs_and_rounded_for_people() {
        let mut table = Table::new(["what", "share", "count"]);
        table.push(vec!["a, \"b\"".into(), Cell::Number(0.123_456_7, 2), 12_345.into()]);
        table.push(vec!["c".into(), Cell::number(None, 2), Cell::Number(2.0, 1)]);
        assert_eq!(table.csv(), "what,share,count\n\"a, \"\"b\"\"\",0.123457,12345\nc,,2\n");
        assert_eq!(
            table.markdown(),
            "| what | share | count |\n|---|---:|---:|\n| a, \"b\" | 0.12 | 12,345 |\n| c | – | 2.0 |\n"
        );
        assert_eq!(
            table.to_string(),
            "  what     share    count\n  a, \"b\"    0.12   12,345\n  c            –      2.0\n"
        );
        assert_eq!(table.json()[0]["count"], 12_345);
    }
}
