//! Lexicons from files: tables, JSONL, thesauri and ontologies in Turtle and N-Triples, WordNet, and the canonical form.
//!
//! A [`Lexicon`] has single words and their classes; what people have is richer. [`read_lexicon`] makes one of the other by stated rules, and its
//! [`LexiconReport`] says what was left out, and why:
//!
//! | what is met | what is done |
//! |---|---|
//! | words that differ in case, width or kind of quote | one word: units count in [normal form](memo::words::normal_form) |
//! | entry of several words, or of none | skipped and reported |
//! | word with several classes on a level | [`OnConflict`]: the first, none, or an error |
//! | word without a class | skipped and reported |
//! | class name that is empty | no class |
//! | class name of more than 200 bytes or with control characters | skipped and reported |
//! | inflected forms | what the file has; with [`LexiconOptions::inflect`], regular English ones and WordNet's exceptions too |
//! | hierarchy | cut at [depths](LexiconOptions::depths) from its top, or the [`levels`](LexiconOptions::levels) concepts above each word |
//! | concept with several broader ones | [`OnConflict`], too |
//! | concepts that are broader than each other in a circle | the circle is cut at the one that comes first in the file, and reported |
//! | other encodings than UTF-8, a line of more than 64 KiB, a file above the limit | an error that says what to do |

mod entries;
mod error;
mod hierarchy;
mod inflect;
mod json_lines;
mod rdf;
mod table;
mod text;
mod wordnet;

pub use error::{LexiconError, LexiconErrorKind};

use crate::corpus::Location;
use entries::Entries;
use error::At;
use memo::lexicon::{Lexicon, MAX_LEVELS, is_canonical};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where Debian's package `wordnet-base` has its files.
const WORDNET: &str = "/usr/share/wordnet";

/// How a lexicon is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LexiconOptions {
    /// The format, if it does not follow from the file's beginning and name.
    pub format: Option<LexiconFormat>,
    /// The language whose labels are read in Turtle and N-Triples, such as `en`, which takes `en-GB` too. Labels without a language always count.
    pub language: Option<String>,
    /// Depths from the top at which a hierarchy is cut, the finest first: a word's class is the concept there, or the word's own if that is less deep. If
    /// there are none, classes are the concepts above, or in WordNet those of depth [`WORDNET_DEPTH`].
    pub depths: Vec<usize>,
    /// How many concepts above a word are its classes, if a hierarchy is not cut at depths.
    pub levels: usize,
    /// What becomes of a word with several classes on a level; if it is `None`, that is an error in tables and JSONL, and the first counts in hierarchies.
    pub on_conflict: Option<OnConflict>,
    /// Whether all senses of WordNet's words count; otherwise the most frequent one does.
    pub all_senses: bool,
    /// Whether regular English inflections get the class of their word: in WordNet by part of speech and with its lists of exceptions, elsewhere `-s` alone.
    pub inflect: bool,
    /// The largest file, in bytes.
    pub max_bytes: u64,
}

/// The depth at which WordNet is cut if no other is asked for.
pub const WORDNET_DEPTH: usize = 6;

impl Default for LexiconOptions {
    fn default() -> Self {
        Self {
            format: None,
            language: None,
            depths: Vec::new(),
            levels: 1,
            on_conflict: None,
            all_senses: false,
            inflect: false,
            max_bytes: 1 << 30,
        }
    }
}

/// What becomes of a word with several classes on a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The first in the file counts.
    First,
    /// None counts, since none is certain.
    Drop,
    /// The file is refused.
    Error,
}

impl FromStr for OnConflict {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "first" => Ok(Self::First),
            "drop" => Ok(Self::Drop),
            "error" => Ok(Self::Error),
            _ => Err("must be first, drop or error".to_owned()),
        }
    }
}

/// The formats of lexicons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LexiconFormat {
    /// The canonical form, which [`Lexicon::to_bytes`] writes.
    Lexicon,
    /// `word<TAB>class`; more columns are more levels.
    Table,
    /// The same with commas and quotes.
    Csv,
    /// A JSON object a line: `{"word": "volvo", "class": "car"}`, or `"classes": ["car", "vehicle"]`.
    Jsonl,
    /// SKOS or RDFS in Turtle.
    Turtle,
    /// SKOS or RDFS in N-Triples.
    NTriples,
    /// A folder with WordNet's files.
    WordNet,
}

impl LexiconFormat {
    const ALL: [Self; 7] = [
        Self::Lexicon,
        Self::Table,
        Self::Csv,
        Self::Jsonl,
        Self::Turtle,
        Self::NTriples,
        Self::WordNet,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Lexicon => "lexicon",
            Self::Table => "table",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Turtle => "turtle",
            Self::NTriples => "ntriples",
            Self::WordNet => "wordnet",
        }
    }

    /// The format that a name ends like.
    fn of_name(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Self::Csv,
            "jsonl" | "ndjson" => Self::Jsonl,
            "ttl" | "turtle" => Self::Turtle,
            "nt" => Self::NTriples,
            _ => Self::Table,
        }
    }
}

impl Display for LexiconFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LexiconFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            "must be lexicon, table, csv, jsonl, turtle, ntriples or wordnet".to_owned()
        })
    }
}

/// What was read, and what was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LexiconReport {
    /// The format.
    pub format: LexiconFormat,
    /// Words of the lexicon.
    pub words: usize,
    /// Of these, forms that were added because they inflect a word.
    pub inflected: usize,
    /// Classes of each level.
    pub classes: Vec<usize>,
    /// What was left out, or decided by a rule.
    pub skipped: Vec<LexiconSkip>,
}

/// Entries that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LexiconSkip {
    /// Why.
    pub reason: LexiconSkipReason,
    /// How many.
    pub count: usize,
    /// The first of them.
    pub examples: Vec<String>,
}

/// Why an entry of a file is not in the lexicon, or not as it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LexiconSkipReason {
    /// It has neither letters nor symbols.
    NoWord,
    /// It has several words or runs of symbols.
    SeveralWords,
    /// It is longer than a word of a lexicon can be.
    LongWord,
    /// It has no class.
    NoClass,
    /// Its class has a name that cannot be.
    ClassName,
    /// It has another class on a level, which counts because it came first.
    LaterClass,
    /// It has several classes on a level, none of which counts.
    UncertainClass,
    /// A label in another language than the chosen one.
    OtherLanguage,
    /// A concept that stands below several others; the first counts.
    LaterParent,
    /// A concept that stands below several others, none of which counts.
    UncertainParent,
    /// A concept that stands below itself, which is at the top instead.
    Circle,
}

impl Display for LexiconSkipReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoWord => "entries without a word",
            Self::SeveralWords => "entries of several words",
            Self::LongWord => "words of more than 200 bytes",
            Self::NoClass => "words without a class",
            Self::ClassName => "class names of more than 200 bytes or with control characters",
            Self::LaterClass => "other classes of a word that has one: the first counts",
            Self::UncertainClass => "classes of words with several: none counts",
            Self::OtherLanguage => "labels in other languages",
            Self::LaterParent => "concepts below several others: the first counts",
            Self::UncertainParent => "concepts below several others: none counts",
            Self::Circle => "concepts below themselves: taken as the top",
        })
    }
}

/// Reads a lexicon from a file in any format, or WordNet from a folder. The path `wordnet`, unless there is such a file, is the folder of Debian's package
/// `wordnet-base`.
///
/// ```
/// use memo_text::{LexiconOptions, read_lexicon};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("cars.tsv");
/// std::fs::write(&path, "Volvo\tcar\nFiat\tcar\nAlfa Romeo\tcar\n")?;
/// let (lexicon, report) = read_lexicon(&path, &LexiconOptions::default())?;
/// assert_eq!((lexicon.len(), report.classes), (2, vec![1]));
/// assert_eq!(report.skipped[0].examples, ["Alfa Romeo"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_lexicon(
    path: impl AsRef<Path>,
    options: &LexiconOptions,
) -> Result<(Lexicon, LexiconReport), LexiconError> {
    let path = path.as_ref();
    let levels = options.depths.len().max(options.levels);
    if levels > MAX_LEVELS || options.levels == 0 {
        return Err(LexiconErrorKind::Levels { levels }.at_path(path));
    }
    let named = options.format == Some(LexiconFormat::WordNet) || path.is_dir();
    if named || (path == Path::new("wordnet") && !path.exists()) {
        let default = path == Path::new("wordnet") && !path.exists();
        let folder = if default { PathBuf::from(WORDNET) } else { path.to_owned() };
        return finish(LexiconFormat::WordNet, wordnet::read(&folder, options)?, &folder);
    }
    parse(&text::read(path, options.max_bytes)?, path, options)
}

/// Reads a lexicon from a text, which is what a file of it would contain; `name` stands for the file's in errors, and its end for the format.
///
/// ```
/// use memo_text::{LexiconOptions, parse_lexicon};
/// let (lexicon, _) = parse_lexicon("Volvo\tcar\nFiat\tcar\n", "cars.tsv", &LexiconOptions::default())?;
/// assert_eq!(lexicon.len(), 2);
/// # Ok::<(), memo_text::LexiconError>(())
/// ```
pub fn parse_lexicon(
    text: &str,
    name: &str,
    options: &LexiconOptions,
) -> Result<(Lexicon, LexiconReport), LexiconError> {
    let path = Path::new(name);
    if options.format == Some(LexiconFormat::WordNet) {
        // It is a folder: a text from elsewhere must not have this program read one.
        let problem = "WordNet is a folder of files, and cannot be given as a text".to_owned();
        return Err(LexiconErrorKind::Syntax { format: "a text", problem }.at_path(path));
    }
    parse(&text::checked(text.as_bytes().to_vec(), path, options.max_bytes)?, path, options)
}

fn parse(
    text: &str,
    path: &Path,
    options: &LexiconOptions,
) -> Result<(Lexicon, LexiconReport), LexiconError> {
    let canonical = is_canonical(text.as_bytes());
    let format = options.format.unwrap_or_else(|| {
        if canonical { LexiconFormat::Lexicon } else { LexiconFormat::of_name(path) }
    });
    let entries = match format {
        LexiconFormat::Lexicon => {
            let lexicon = Lexicon::from_bytes(text.as_bytes())
                .map_err(|error| LexiconErrorKind::Lexicon(error).at_path(path))?;
            let report = report(format, &lexicon, 0, Vec::new());
            return Ok((lexicon, report));
        }
        LexiconFormat::Table => table::read(text, path, options)?,
        LexiconFormat::Csv => table::read_csv(text, path, options)?,
        LexiconFormat::Jsonl => json_lines::read(text, path, options)?,
        LexiconFormat::Turtle | LexiconFormat::NTriples => rdf::read(text, format, path, options)?,
        LexiconFormat::WordNet => wordnet::read(path, options)?,
    };
    finish(format, entries, path)
}

fn finish(
    format: LexiconFormat,
    entries: Entries,
    path: &Path,
) -> Result<(Lexicon, LexiconReport), LexiconError> {
    let (entries, inflected, skipped) = entries.into_parts();
    let nothing = skipped.iter().map(|skip| format!("{}: {}", skip.reason, skip.count));
    let nothing = nothing.collect::<Vec<_>>().join("; ");
    let lexicon = Lexicon::new(entries).map_err(|error| match error {
        memo::lexicon::Error::Empty if !nothing.is_empty() => LexiconErrorKind::Nothing { nothing },
        error => LexiconErrorKind::Lexicon(error),
    });
    let lexicon = lexicon.map_err(|kind| kind.at_path(path))?;
    let report = report(format, &lexicon, inflected, skipped);
    Ok((lexicon, report))
}

fn report(
    format: LexiconFormat,
    lexicon: &Lexicon,
    inflected: usize,
    skipped: Vec<LexiconSkip>,
) -> LexiconReport {
    let classes = (0..lexicon.levels()).map(|level| lexicon.classes(level)).collect();
    LexiconReport { format, words: lexicon.len(), inflected, classes, skipped }
}

/// A line of a file.
fn place(path: &Path, line: u64) -> Location {
    Location { path: path.to_owned(), line: Some(line) }
}
