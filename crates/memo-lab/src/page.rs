//! The page of an experiment: prose, tables and figures, written as Markdown beside the CSV and the pictures.

use crate::figure::Figure;
use crate::{Error, Provenance, Table};
use serde::Serialize;
use std::fmt::Write as _;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

enum Part {
    Prose(String),
    Heading(String),
    Table(Table),
    Figure { name: String, caption: String, figure: Figure },
}

/// The results of an experiment, ready to be printed or written.
pub struct Page {
    name: String,
    title: String,
    parts: Vec<Part>,
    data: Table,
    provenance: Provenance,
    credits: Vec<String>,
}

impl Page {
    /// A page that will be `name.md`, with `data`, everything that was measured, as `name.csv`.
    pub fn new(name: &str, title: &str, data: Table, provenance: Provenance) -> Self {
        let (name, title) = (name.to_owned(), title.to_owned());
        Page { name, title, parts: Vec::new(), data, provenance, credits: Vec::new() }
    }

    /// Credits data that others made.
    #[must_use]
    pub fn credits(mut self, credits: Vec<String>) -> Self {
        self.credits.extend(credits);
        self
    }

    /// Adds paragraphs, as Markdown.
    #[must_use]
    pub fn prose(self, text: impl Into<String>) -> Self {
        self.with(Part::Prose(text.into()))
    }

    /// Adds a heading.
    #[must_use]
    pub fn heading(self, text: &str) -> Self {
        self.with(Part::Heading(text.to_owned()))
    }

    /// Adds a table.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.with(Part::Table(table))
    }

    /// Adds a figure, which will be `name.svg` and `name.png`.
    #[must_use]
    pub fn figure(self, name: &str, caption: &str, figure: Figure) -> Self {
        self.with(Part::Figure { name: name.to_owned(), caption: caption.to_owned(), figure })
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// The Markdown.
    pub fn markdown(&self) -> String {
        let Page { name, title, provenance, .. } = self;
        let mut out = format!("# {title}\n");
        for part in &self.parts {
            // Writing to a string cannot fail.
            let _ = match part {
                Part::Prose(text) => write!(out, "\n{}\n", text.trim()),
                Part::Heading(text) => write!(out, "\n## {text}\n"),
                Part::Table(table) => write!(out, "\n{}", table.markdown()),
                Part::Figure { name, caption, .. } => {
                    write!(out, "\n![{caption}]({name}.svg)\n\n*{caption}* ([PNG]({name}.png))\n")
                }
            };
        }
        let _ = write!(
            out,
            "\n## Where this comes from\n\n{provenance} All numbers: [{name}.csv]({name}.csv).\n"
        );
        if !self.credits.is_empty() {
            out += "\nData, none of which is part of this repository:\n\n";
            out.extend(self.credits.iter().map(|credit| format!("- {credit}\n")));
        }
        out
    }

    /// Writes everything to a folder, and returns the files' names.
    pub fn write(&self, folder: &Path) -> Result<Vec<String>, Error> {
        let mut files = vec![
            (format!("{}.md", self.name), self.markdown().into_bytes()),
            (format!("{}.csv", self.name), self.data.csv().into_bytes()),
        ];
        for part in &self.parts {
            if let Part::Figure { name, figure, .. } = part {
                let svg = figure.svg();
                files.push((format!("{name}.png"), crate::figure::png(name, &svg)?));
                files.push((format!("{name}.svg"), svg.into_bytes()));
            }
        }
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        for (name, bytes) in &files {
            let path: PathBuf = folder.join(name);
            std::fs::write(&path, bytes).map_err(Error::file(&path))?;
        }
        Ok(files.into_iter().map(|(name, _)| name).collect())
    }
}

/// Text for a terminal: the tables under their headings, and their provenance.
impl Display for Page {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        let mut heading = None;
        for part in &self.parts {
            match part {
                Part::Table(table) => {
                    // Only headings that have a table under them.
                    if let Some(text) = heading.take() {
                        writeln!(f, "{text}\n")?;
                    }
                    writeln!(f, "{table}")?;
                }
                Part::Heading(text) => heading = Some(text),
                Part::Prose(_) | Part::Figure { .. } => {}
            }
        }
        writeln!(f, "{}", self.provenance)
    }
}

/// One JSON object: all measurements, and their provenance.
impl Serialize for Page {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut object = serializer.serialize_struct("Page", 3)?;
        object.serialize_field("experiment", &self.name)?;
        object.serialize_field("measured", &self.data.json())?;
        object.serialize_field("provenance", &self.provenance)?;
        object.end()
    }
}
