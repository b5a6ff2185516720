//! `memo rules`: rules, what follows from them, and why.

use super::graph::{counted, fill, name_of};
use super::{given, snapshot};
use crate::args::model::{
    ModelOptions, RulesAddOptions, RulesCommand, RulesTestOptions, RulesWhyOptions,
};
use crate::output::{FAINT, GOOD, Report, TITLE, styled};
use crate::printed::Printed;
use crate::progress::Progress;
use anyhow::Context;
use memo_knowledge::{Limits, Rules, Triple, Vocabulary};
use memo_store::{DerivationStep, Rule, RulesPreview};
use serde::Serialize;
use std::fmt::Formatter;

/// New statements that are shown.
const SHOWN: usize = 10;

pub(crate) fn run(command: &RulesCommand, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    match command {
        RulesCommand::Add(options) => add(options, progress),
        RulesCommand::List(options) => list(options, progress),
        RulesCommand::Test(options) => test(options),
        RulesCommand::Why(options) => why(options, progress),
    }
}

#[derive(Serialize)]
struct Added {
    document: String,
    /// None if nothing had to change, or nothing was to.
    transaction: Option<u64>,
    dry_run: bool,
    #[serde(flatten)]
    preview: RulesPreview,
}

fn add(options: &RulesAddOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let shown = options.file.display();
    let text =
        std::fs::read_to_string(&options.file).with_context(|| format!("cannot read {shown}"))?;
    let document = options.id.clone().unwrap_or_else(|| name_of(&options.file));
    let dry_run = options.dry_run;
    let (preview, transaction) = if dry_run {
        let model = snapshot(&options.model, progress)?;
        progress.step("deriving");
        (model.preview_rules(&document, &text, SHOWN, &progress.observer())?, None)
    } else {
        progress.step("deriving");
        let reason = options.reason.reason.as_deref();
        let added =
            fill(&options.model, progress, |store| store.add_rules(&document, &text, reason))?;
        (added.preview, added.transaction)
    };
    Ok(Box::new(Printed::new(Added { document, transaction, dry_run, preview }, print_added)))
}

fn print_added(added: &Added, f: &mut Formatter<'_>) -> std::fmt::Result {
    let Added { document, transaction, dry_run, preview } = added;
    print_rules(&preview.rules, f)?;
    let follows = format!(
        "{} and {}",
        counted(preview.facts, "new fact"),
        counted(preview.texts, "new text")
    );
    let would = if *dry_run { "would follow" } else { "follow" };
    writeln!(f, "{follows} {would}")?;
    for example in &preview.examples {
        writeln!(f, "  {}", styled(FAINT, example))?;
    }
    if preview.facts + preview.texts > preview.examples.len() {
        writeln!(f, "  {}", styled(FAINT, "…"))?;
    }
    match transaction {
        Some(transaction) => {
            let details = format!("transaction {transaction}");
            writeln!(f, "{} {document}  {}", styled(GOOD, "added"), styled(FAINT, details))
        }
        None if *dry_run => writeln!(f, "{}", styled(FAINT, "nothing was changed")),
        None => writeln!(f, "{document} is unchanged"),
    }
}

fn print_rules(rules: &[Rule], f: &mut Formatter<'_>) -> std::fmt::Result {
    for Rule { name, document, text, facts, texts, .. } in rules {
        let follows = match (facts, texts) {
            (0, 0) => "nothing follows".to_owned(),
            (0, texts) => counted(*texts, "text"),
            (facts, 0) => counted(*facts, "fact"),
            (facts, texts) => format!("{}, {}", counted(*facts, "fact"), counted(*texts, "text")),
        };
        let details = format!("{document}, {follows}");
        writeln!(f, "{}  {}", styled(TITLE, name), styled(FAINT, details))?;
        writeln!(f, "  {text}")?;
    }
    Ok(())
}

fn list(options: &ModelOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let rules = snapshot(&options.model, progress)?.rules()?;
    Ok(Box::new(Printed::new(rules, |rules, f| {
        if rules.is_empty() {
            return writeln!(f, "{}", styled(FAINT, "no rules; `memo rules add` adds some"));
        }
        print_rules(rules, f)
    })))
}

/// What rules find in a text.
#[derive(Serialize)]
struct Found {
    facts: Vec<Triple>,
    texts: Vec<String>,
}

/// Without a model nothing is known and no word has a class, so that limits of variables let everything through.
struct Anything;

impl Vocabulary for Anything {
    fn is_known(&self, _: &str) -> bool {
        true
    }

    fn has_class(&self, _: &str, _: &str) -> bool {
        true
    }
}

fn test(options: &RulesTestOptions) -> anyhow::Result<Box<dyn Report>> {
    let shown = options.file.display();
    let file =
        std::fs::read_to_string(&options.file).with_context(|| format!("cannot read {shown}"))?;
    let rules = Rules::parse(&file, &name_of(&options.file))?;
    let limits = Limits::default();
    let found = rules.matches(&given(&options.text)?, &Anything, &limits)?;
    let mut facts: Vec<Triple> = found.triples.into_iter().map(|found| found.what).collect();
    facts.sort();
    facts.dedup();
    let concluded =
        rules.conclude(&facts, &limits, &mut |_| std::ops::ControlFlow::Continue(()))?;
    facts.extend(concluded.triples.into_iter().map(|concluded| concluded.what));
    let mut texts: Vec<String> = found.texts.into_iter().map(|found| found.what).collect();
    texts.extend(concluded.texts.into_iter().map(|concluded| concluded.what));
    texts.sort();
    texts.dedup();
    Ok(Box::new(Printed::new(Found { facts, texts }, |found, f| {
        if found.facts.is_empty() && found.texts.is_empty() {
            return writeln!(f, "{}", styled(FAINT, "nothing follows"));
        }
        for Triple { subject, predicate, object } in &found.facts {
            writeln!(f, "{}", styled(TITLE, format!("{subject} | {predicate} | {object}")))?;
        }
        found.texts.iter().try_for_each(|text| writeln!(f, "{text}"))
    })))
}

fn why(options: &RulesWhyOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    let steps = model.why(&given(&options.statement)?)?;
    Ok(Box::new(Printed::new(steps, |steps, f| {
        if steps.is_empty() {
            let nothing = "no graph and no rule says this; `memo explain` shows what documents say";
            return writeln!(f, "{}", styled(FAINT, nothing));
        }
        print_steps(steps, "", f)
    })))
}

/// A derivation, what follows from something above it.
pub(super) fn print_steps(
    steps: &[DerivationStep],
    margin: &str,
    f: &mut Formatter<'_>,
) -> std::fmt::Result {
    for DerivationStep { depth, statement, rule, documents, sentence, .. } in steps {
        let because = match (rule, sentence) {
            (Some(rule), Some(sentence)) => {
                format!("by {rule}, from {sentence:?} in {}", documents.join(", "))
            }
            (Some(rule), None) => format!("by {rule}"),
            (None, _) => format!("stated in {}", documents.join(", ")),
        };
        let indent = "  ".repeat(*depth);
        writeln!(f, "{margin}{indent}{statement}  {}", styled(FAINT, because))?;
    }
    Ok(())
}
