//! Knowledge: graphs of facts from files, rules in TOML, and what follows from both.
//!
//! A [`Graph`] is what a file of triples says, in Turtle, N-Triples, N-Quads, JSON-LD, RDF/XML or a table. [`Graph::facts`] gives
//! it by names, as people say it. [`Rules`] are what an expert writes beside it: how a fact is spoken, which sentences state a
//! fact, and which facts follow from others. [`Rules::matches`] applies them to a text, [`Rules::conclude`] to facts.
//!
//! Nothing here opens a file or knows a model: bytes and strings come in, values go out. Every result is a function of what is
//! given, sorted and each once, whatever the order of the input; so what a model derives can be derived again, and forgotten.
//!
//! ```
//! use memo_knowledge::{Graph, GraphFormat, GraphOptions, Limits, Rules};
//! use std::ops::ControlFlow;
//!
//! let table = "Ada\tborn in\tLondon\nLondon\tcountry\tEngland\n";
//! let graph = Graph::read(table.as_bytes(), GraphFormat::Table, &GraphOptions::default())?;
//!
//! let rules = Rules::parse(
//!     r#"
//!     [templates]
//!     nationality = "{subject} is from {object}."
//!
//!     [[rule]]
//!     when = [["{x}", "born in", "{y}"], ["{y}", "country", "{z}"]]
//!     then = ["{x}", "nationality", "{z}"]
//!     "#,
//!     "people.toml",
//! )?;
//! let found = rules.conclude(&graph.facts(), &Limits::default(), &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(found.triples[0].what.to_string(), "Ada, nationality, England");
//! assert_eq!(found.texts[0].what, "Ada is from England.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conclude;
mod graph;
mod limits;
mod rules;
mod text;
mod triple;

pub use conclude::{Concluded, Conclusions};
pub use graph::{
    Graph, GraphError, GraphErrorKind, GraphFormat, GraphOptions, GraphReport, MAX_BYTES,
};
pub use limits::{LimitError, Limits};
pub use rules::{RuleInfo, RuleKind, Rules, RulesError};
pub use text::{Match, Matches, Vocabulary};
pub use triple::{Triple, TriplePattern};
