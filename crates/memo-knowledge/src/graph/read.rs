//! The formats of RDF, by their parsers.

use super::error::{GraphError, GraphErrorKind};
use super::format::GraphFormat;
use super::json;
use super::term::Term;
use super::xml;
use oxjsonld::{JsonLdErrorCode, JsonLdParser};
use oxrdf::{BlankNode, NamedOrBlankNode, Triple};
use oxrdfxml::RdfXmlParser;
use oxttl::{NQuadsParser, NTriplesParser, TurtleParser, TurtleSyntaxError};
use rustc_hash::FxHashMap;

/// What relative IRIs are relative to, if the file does not say. Only their ends are seen, as names.
const BASE: &str = "memo:/";
/// Room for the JSON-LD parser to follow the definitions of a context, which `json::check` bounds.
const JSON_STACK: usize = 256 << 20;

pub(super) fn read(
    bytes: &[u8],
    format: GraphFormat,
    take: &mut (dyn FnMut([Term; 3]) + Send),
) -> Result<(), GraphError> {
    // Labels of blank nodes are made by chance where a format does without; N-Triples and N-Quads have them all.
    let keep = matches!(format, GraphFormat::NTriples | GraphFormat::NQuads);
    let mut blanks = Blanks { keep, ..Blanks::default() };
    let mut take = |triple: Triple| take(blanks.terms(triple));
    let turtle = |error: TurtleSyntaxError| {
        let line = Some(error.location().start.line + 1);
        let problem = error.message().to_owned();
        GraphError { format: Some(format), line, kind: GraphErrorKind::Syntax { problem } }
    };
    match format {
        GraphFormat::Turtle => {
            let parser = TurtleParser::new().with_base_iri(BASE).unwrap_or_default();
            parser.for_slice(bytes).try_for_each(|triple| triple.map(&mut take)).map_err(turtle)
        }
        GraphFormat::NTriples => {
            let mut triples = NTriplesParser::new().for_slice(bytes);
            triples.try_for_each(|triple| triple.map(&mut take)).map_err(turtle)
        }
        GraphFormat::NQuads => {
            let mut quads = NQuadsParser::new().for_slice(bytes);
            quads.try_for_each(|quad| quad.map(|quad| take(quad.into()))).map_err(turtle)
        }
        GraphFormat::RdfXml => read_xml(bytes, &mut take),
        GraphFormat::JsonLd => read_json(bytes, &mut take),
        GraphFormat::Table => Ok(()),
    }
}

fn read_xml(bytes: &[u8], take: &mut dyn FnMut(Triple)) -> Result<(), GraphError> {
    let error =
        |line, kind| GraphError { format: Some(GraphFormat::RdfXml), line: Some(line), kind };
    xml::check(bytes).map_err(|(line, kind)| error(line, kind))?;
    let parser = RdfXmlParser::new().with_base_iri(BASE).unwrap_or_default();
    let mut triples = parser.for_slice(bytes);
    while let Some(triple) = triples.next() {
        take(triple.map_err(|problem| {
            let seen = usize::try_from(triples.buffer_position()).unwrap_or(0).min(bytes.len());
            let kind = GraphErrorKind::Syntax { problem: problem.to_string() };
            error(line_of(&bytes[..seen]), kind)
        })?);
    }
    if !xml::is_whole(bytes) {
        let problem = "the file ends before its first element does".to_owned();
        return Err(error(line_of(bytes), GraphErrorKind::Syntax { problem }));
    }
    Ok(())
}

fn read_json(bytes: &[u8], take: &mut (dyn FnMut(Triple) + Send)) -> Result<(), GraphError> {
    let error = |line, kind| GraphError { format: Some(GraphFormat::JsonLd), line, kind };
    json::check(bytes).map_err(|(line, kind)| error(Some(line), kind))?;
    let parse = || {
        let parser = JsonLdParser::new().with_base_iri(BASE).unwrap_or_default();
        for quad in parser.for_slice(bytes) {
            let quad = quad.map_err(|problem| {
                let line = problem.location().map(|location| location.start.line + 1);
                let remote =
                    matches!(problem.code(), Some(JsonLdErrorCode::LoadingRemoteContextFailed));
                let syntax = || GraphErrorKind::Syntax { problem: problem.to_string() };
                error(line, if remote { GraphErrorKind::RemoteContext } else { syntax() })
            })?;
            take(quad.into());
        }
        Ok(())
    };
    let failed =
        |problem: &str| error(None, GraphErrorKind::Syntax { problem: problem.to_owned() });
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(JSON_STACK);
        let thread = builder.spawn_scoped(scope, parse);
        let thread = thread.map_err(|_| failed("there is no room for a thread to parse it"))?;
        thread.join().unwrap_or_else(|_| Err(failed("the parser failed")))
    })
}

/// The number of the line that follows these bytes.
pub(super) fn line_of(before: &[u8]) -> u64 {
    before.split(|&byte| byte == b'\n').count() as u64
}

/// Blank nodes by number, in the order in which a file first has them: parsers make up labels by chance.
#[derive(Default)]
struct Blanks {
    keep: bool,
    numbers: FxHashMap<BlankNode, usize>,
}

impl Blanks {
    fn terms(&mut self, triple: Triple) -> [Term; 3] {
        let subject = match triple.subject {
            NamedOrBlankNode::NamedNode(node) => Term::iri(&node),
            NamedOrBlankNode::BlankNode(node) => self.blank(node),
        };
        let predicate = Term::iri(&triple.predicate);
        let object = match triple.object {
            oxrdf::Term::NamedNode(node) => Term::iri(&node),
            oxrdf::Term::BlankNode(node) => self.blank(node),
            oxrdf::Term::Literal(literal) => Term::of_literal(&literal),
        };
        [subject, predicate, object]
    }

    fn blank(&mut self, node: BlankNode) -> Term {
        if self.keep {
            return Term::of_blank(&node);
        }
        let next = self.numbers.len();
        Term::blank(*self.numbers.entry(node).or_insert(next))
    }
}
