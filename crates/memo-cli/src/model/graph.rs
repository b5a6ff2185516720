//! `memo graph` and `memo ask`: facts.

use super::change::changed;
use super::{close, open, rules, snapshot};
use crate::args::model::{
    AskOptions, GraphAddOptions, GraphCommand, GraphExportOptions, GraphShowOptions,
    GraphStateOptions, ModelOptions,
};
use crate::args::values::pattern;
use crate::output::{FAINT, GOOD, Report, TITLE, styled, thousands};
use crate::printed::Printed;
use crate::progress::Progress;
use anyhow::{Context, bail, ensure};
use memo_knowledge::{Graph, GraphFormat, GraphOptions, GraphReport, Triple};
use memo_store::{
    DerivationStep, Fact, Facts, GraphStats, MemorizeReport, NewDocument, NewModel, Store,
};
use serde::Serialize;
use std::fmt::Formatter;
use std::path::Path;

pub(crate) fn run(command: &GraphCommand, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    match command {
        GraphCommand::Add(options) => add(options, progress),
        GraphCommand::List(options) => list(options, progress),
        GraphCommand::Show(options) => show(options, progress),
        GraphCommand::State(options) => state(options, progress),
        GraphCommand::Export(options) => export(options, progress),
    }
}

/// A graph that was added.
#[derive(Serialize)]
struct AddedGraph {
    document: String,
    #[serde(flatten)]
    report: GraphReport,
}

#[derive(Serialize)]
struct Added {
    graphs: Vec<AddedGraph>,
    #[serde(flatten)]
    report: MemorizeReport,
}

fn print_added(added: &Added, f: &mut Formatter<'_>) -> std::fmt::Result {
    for AddedGraph { document, report } in &added.graphs {
        let unchanged = added.report.unchanged.contains(document);
        let done = if unchanged { "unchanged" } else { "added" };
        let facts = counted(report.facts, "fact");
        let details = format!("{facts} of {}", counted(report.triples, "triple"));
        writeln!(f, "{} {document}  {}", styled(GOOD, done), styled(FAINT, details))?;
        if report.blank > 0 {
            let blank = counted(report.blank, "triple");
            writeln!(f, "  {blank} with nameless nodes cannot be asked for")?;
        }
        if !report.same_name.is_empty() {
            writeln!(f, "  different things have these names: {}", report.same_name.join(", "))?;
        }
    }
    match added.report.transaction {
        Some(transaction) => {
            writeln!(f, "  {}", styled(FAINT, format!("transaction {transaction}")))
        }
        None => Ok(()),
    }
}

fn add(options: &GraphAddOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    ensure!(options.id.is_none() || options.files.len() == 1, "--id names one graph, not several");
    let (mut graphs, mut documents) = (Vec::new(), Vec::new());
    for file in &options.files {
        progress.step(format!("reading {}", file.display()));
        let graph = read(file, options.format, options.language.as_deref())?;
        let document = options.id.clone().unwrap_or_else(|| name_of(file));
        documents.push(NewDocument::graph(&graph).with_id(document.clone()));
        graphs.push(AddedGraph { document, report: graph.report() });
    }
    let reason = options.reason.reason.as_deref();
    progress.step("memorizing");
    let report = fill(&options.model, progress, |store| store.memorize(documents, reason))?;
    Ok(Box::new(Printed::new(Added { graphs, report }, print_added)))
}

/// Changes a model, which is made if there is none.
pub(super) fn fill<T>(
    path: &Path,
    progress: &Progress,
    change: impl FnOnce(&mut Store) -> Result<T, memo_store::Error>,
) -> anyhow::Result<T> {
    if path.exists() {
        let mut store = open(path, progress)?;
        let done = change(&mut store)?;
        close(store, progress)?;
        return Ok(done);
    }
    Store::create_filled(path, &NewModel::default(), |store| {
        store.observe(progress.callback());
        anyhow::Ok(change(store)?)
    })
}

fn read(file: &Path, format: Option<GraphFormat>, language: Option<&str>) -> anyhow::Result<Graph> {
    let shown = file.display();
    let named = || GraphFormat::of_name(&name_of(file));
    let Some(format) = format.or_else(named) else {
        bail!(
            "{shown}: its name does not say what format it has; --format does: turtle, n-triples, n-quads, json-ld, rdf-xml or table"
        );
    };
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {shown}"))?;
    let options = GraphOptions { language: language.map(str::to_owned) };
    Graph::read(&bytes, format, &options).with_context(|| shown.to_string())
}

pub(super) fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn list(options: &ModelOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    let graphs = model.graphs()?;
    Ok(Box::new(Printed::new(graphs, |graphs, f| {
        if graphs.is_empty() {
            return writeln!(f, "{}", styled(FAINT, "no graphs; `memo graph add` adds one"));
        }
        for GraphStats { document, facts, triples } in graphs {
            let details = format!("{} of {}", counted(*facts, "fact"), counted(*triples, "triple"));
            writeln!(f, "{}  {}", styled(TITLE, document), styled(FAINT, details))?;
        }
        Ok(())
    })))
}

fn show(options: &GraphShowOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let GraphShowOptions { model, subject, predicate, object, most } = options;
    let model = snapshot(model, progress)?;
    let facts = model.ask(&pattern(subject, predicate, object), *most)?;
    Ok(Box::new(Printed::new(facts, print_facts)))
}

/// Facts, each with its derivation if that was asked for.
#[derive(Serialize)]
struct Answered {
    #[serde(flatten)]
    facts: Facts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    derivations: Vec<Vec<DerivationStep>>,
}

pub(crate) fn ask(options: &AskOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let AskOptions { model, subject, predicate, object, most, why } = options;
    let model = snapshot(model, progress)?;
    let facts = model.ask(&pattern(subject, predicate, object), *most)?;
    let mut derivations = Vec::new();
    if *why {
        for Fact { subject, predicate, object, .. } in &facts.facts {
            derivations.push(model.why(&format!("{subject} | {predicate} | {object}"))?);
        }
    }
    Ok(Box::new(Printed::new(Answered { facts, derivations }, |answered, f| {
        print_facts(&answered.facts, f)?;
        for derivation in answered.derivations.iter().filter(|steps| steps.len() > 1) {
            writeln!(f)?;
            rules::print_steps(derivation, "", f)?;
        }
        Ok(())
    })))
}

fn print_facts(facts: &Facts, f: &mut Formatter<'_>) -> std::fmt::Result {
    if facts.facts.is_empty() {
        return writeln!(f, "{}", styled(FAINT, "no such fact is known"));
    }
    for Fact { subject, predicate, object, count, documents, rule } in &facts.facts {
        let times = if *count == 1 { String::new() } else { format!(", stated {count} times") };
        let from = match rule {
            Some(rule) if documents.is_empty() => format!("follows by {rule}"),
            Some(rule) => format!("found by {rule} in {}", documents.join(", ")),
            None if documents.is_empty() => "in the memory".to_owned(),
            None => documents.join(", "),
        };
        let fact = format!("{subject} | {predicate} | {object}");
        writeln!(f, "{}  {}", styled(TITLE, fact), styled(FAINT, format!("{from}{times}")))?;
    }
    if facts.total > facts.facts.len() {
        writeln!(f, "{}", styled(FAINT, "there are more; --most shows them"))?;
    }
    Ok(())
}

fn state(options: &GraphStateOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let facts: Vec<Triple> = match (&options.from, &options.fact[..]) {
        (Some(file), _) => read(file, Some(GraphFormat::Table), None)?.facts(),
        (None, [subject, predicate, object]) => {
            let [subject, predicate, object] = [subject, predicate, object].map(Clone::clone);
            vec![Triple { subject, predicate, object }]
        }
        _ => bail!("a fact has a subject, a predicate and an object"),
    };
    let mut store = open(&options.model, progress)?;
    progress.step("changing");
    let report = store.correct_facts(&facts, options.reason.reason.as_deref())?;
    close(store, progress)?;
    Ok(changed(report))
}

/// A graph as text.
#[derive(Serialize)]
struct Exported {
    format: &'static str,
    text: String,
}

fn export(options: &GraphExportOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    let text = model.export_graph(options.document.as_deref(), options.format)?;
    let exported = Exported { format: options.format.name(), text };
    Ok(Box::new(Printed::new(exported, |exported, f| f.write_str(&exported.text))))
}

pub(super) fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", thousands(n as u64), if n == 1 { "" } else { "s" })
}
