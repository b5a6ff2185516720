//! Rules files: TOML into rules, with the place of what is wrong.
//!
//! ```toml
//! speak = true                        # say facts that have no template as "subject predicate object."
//!
//! [templates]                         # how the facts of a predicate are said
//! capital = ["The capital of {subject} is {object}.", "{object} is the capital of {subject}."]
//!
//! [[rule]]
//! name = "birthplace"
//! when = "{x} was born in {y}."       # a text; or triples; or `when_any`, a list of texts
//! where = { x = "known", y = ["class:city", "words:1-3"] }
//! then = ["{x}", "born in", "{y}"]    # a text, a triple, or a list of triples
//! say = ["{y} is the birthplace of {x}."]
//! unless = [["{x}", "died in", "{y}"]] # only where `when` is triples
//! ```

use super::error::Problem;
use super::pieces::Piece;
use super::variables::{Result, Value, Variables, start};
use super::{Atom, Rule, RuleKind, Slot, When};
use crate::text::{Limit, MAX_WORDS, TextPattern};
use crate::triple::collapse;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const FILE_KEYS: &[&str] = &["speak", "templates", "rule"];
const RULE_KEYS: &[&str] = &["name", "when", "when_any", "where", "unless", "then", "say"];

pub(super) fn parse(text: &str, source: &str) -> Result<Vec<Rule>> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Problem::new(at, format!("this is no TOML: {}", error.message()))
    })?;
    check_keys(table.get_ref(), FILE_KEYS, "a rules file")?;
    let get = |key: &str| table.get_ref().get(key);
    let mut rules = Vec::new();
    if let Some(list) = get("rule") {
        let DeValue::Array(list) = list.get_ref() else {
            return Err(Problem::new(
                start(list),
                "a rule begins with `[[rule]]`, in two brackets",
            ));
        };
        for (at, rule) in list.iter().enumerate() {
            let DeValue::Table(table) = rule.get_ref() else {
                return Err(Problem::new(start(rule), "a rule begins with `[[rule]]`"));
            };
            rules.push(one_rule(table, &rule.span(), at, source)?);
        }
    }
    if let Some(templates) = get("templates") {
        let DeValue::Table(templates) = templates.get_ref() else {
            return Err(Problem::new(
                start(templates),
                "`templates` is a table: begin it with `[templates]`",
            ));
        };
        for (predicate, texts) in templates {
            rules.push(template(predicate, texts, source)?);
        }
    }
    match get("speak").map(|speak| (speak.get_ref(), start(speak))) {
        None | Some((DeValue::Boolean(false), _)) => {}
        Some((DeValue::Boolean(true), _)) => rules.push(speak(source)),
        Some((_, at)) => {
            return Err(Problem::new(at, "`speak` is true or false, without quotation marks"));
        }
    }
    Ok(rules)
}

fn check_keys(table: &DeTable<'_>, known: &[&str], of: &str) -> Result<()> {
    let mut unknown: Vec<_> =
        table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())).collect();
    unknown.sort_by_key(|key| key.span().start);
    let Some(key) = unknown.first() else { return Ok(()) };
    let name = key.get_ref();
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(known, name), known)).min();
    let hint = match near {
        Some((distance, near)) if distance <= 2 => format!("did you mean `{near}`?"),
        _ => format!("there are {}", known.join(", ")),
    };
    Err(Problem::new(key.span().start, format!("{of} has no key `{name}`; {hint}")))
}

/// A text, or a list of texts, with their places.
fn strings<'a>(value: &'a Value<'_>, key: &str) -> Result<Vec<(&'a str, usize)>> {
    let wrong =
        |at| Problem::new(at, format!("`{key}` is a text in quotation marks, or a list of texts"));
    let one = |value: &'a Value<'_>| match value.get_ref().as_str() {
        Some(text) => Ok((text, start(value))),
        None => Err(wrong(start(value))),
    };
    match value.get_ref() {
        DeValue::Array(list) if !list.is_empty() => list.iter().map(one).collect(),
        _ => Ok(vec![one(value)?]),
    }
}

fn one_rule(table: &DeTable<'_>, span: &Range<usize>, at: usize, source: &str) -> Result<Rule> {
    check_keys(table, RULE_KEYS, "a rule")?;
    let here = |what: &str| Problem::new(span.start, what);
    let name = match table.get("name") {
        None => format!("rule {}", at + 1),
        Some(name) => match name.get_ref().as_str().map(collapse) {
            Some(text) if !text.is_empty() => text.into_owned(),
            _ => return Err(Problem::new(start(name), "`name` is a text in quotation marks")),
        },
    };
    let mut variables = Variables::default();
    let mut when = when(table, &mut variables, span.start)?;
    variables.fixed = true;
    if let Some(limits) = table.get("where") {
        let When::Text(patterns) = &mut when else {
            return Err(Problem::new(
                start(limits),
                "`where` is for a `when` that is a text; for triples, add a triple to `when`",
            ));
        };
        for (variable, limit) in limited(limits, &mut variables)? {
            patterns.iter_mut().for_each(|pattern| pattern.limit(variable, limit.clone()));
        }
    }
    let mut unless = Vec::new();
    if let Some(value) = table.get("unless") {
        let DeValue::Array(list) = value.get_ref() else {
            return Err(Problem::new(start(value), "`unless` is a triple or a list of triples"));
        };
        if matches!(when, When::Text(_)) {
            return Err(Problem::new(
                start(value),
                "`unless` is for a `when` of triples; make triples of the text first, by a rule of their own",
            ));
        }
        unless = variables.atoms(list, start(value), "unless")?;
    }
    let (mut then, mut said) = (Vec::new(), Vec::new());
    if let Some(value) = table.get("then") {
        match value.get_ref() {
            DeValue::String(text) => said.push((text.as_ref(), start(value))),
            DeValue::Array(list) => then = variables.atoms(list, start(value), "then")?,
            _ => {
                return Err(Problem::new(
                    start(value),
                    "`then` is a text, a triple, or a list of triples",
                ));
            }
        }
    }
    if let Some(value) = table.get("say") {
        said.extend(strings(value, "say")?);
    }
    if said.is_empty() && then.is_empty() {
        return Err(here(
            "this rule makes nothing; add `then` (a text or triples) or `say` (texts)",
        ));
    }
    let say = variables.texts(&said)?;
    let kind = match (&when, then.is_empty()) {
        (When::Text(_), true) => RuleKind::Text,
        (When::Text(_), false) => RuleKind::Extraction,
        (When::Triples(_), true) => RuleKind::Speech,
        (When::Triples(_), false) => RuleKind::Inference,
    };
    let mut parts = vec![match &when {
        When::Text(_) => {
            let texts = ["when", "when_any"].iter().filter_map(|key| table.get(*key));
            let texts = texts.filter_map(|value| strings(value, "when").ok()).flatten();
            format!("when {}", quoted(texts.map(|(text, _)| text), " or "))
        }
        When::Triples(atoms) => format!("when {}", shown(atoms, &variables.names)),
    }];
    if !unless.is_empty() {
        parts.push(format!("unless {}", shown(&unless, &variables.names)));
    }
    if !then.is_empty() {
        parts.push(format!("then {}", shown(&then, &variables.names)));
    }
    if !said.is_empty() {
        parts.push(format!("say {}", quoted(said.iter().map(|(text, _)| *text), ", ")));
    }
    let (text, variables, source) = (parts.join(" "), variables.names.len(), source.to_owned());
    Ok(Rule { name, kind, source, text, variables, when, unless, then, say })
}

fn when(table: &DeTable<'_>, variables: &mut Variables, rule: usize) -> Result<When> {
    let (value, texts) = match (table.get("when"), table.get("when_any")) {
        (Some(value), None) => match value.get_ref() {
            DeValue::Array(list) => {
                return variables.atoms(list, start(value), "when").map(When::Triples);
            }
            DeValue::String(text) => (value, vec![(text.as_ref(), start(value))]),
            _ => {
                return Err(Problem::new(
                    start(value),
                    "`when` is a text, a triple, or a list of triples",
                ));
            }
        },
        (None, Some(value)) => (value, strings(value, "when_any")?),
        (Some(_), Some(value)) => {
            return Err(Problem::new(
                start(value),
                "a rule has `when` or `when_any`; put the texts of both into `when_any`",
            ));
        }
        (None, None) => {
            return Err(Problem::new(rule, "this rule has no `when`; write what it asks for"));
        }
    };
    let mut patterns = Vec::new();
    for (text, at) in texts {
        let pieces = variables.pieces(text, at)?;
        patterns.push(TextPattern::new(&pieces).map_err(|what| Problem::new(at, what))?);
        let used: Vec<usize> = (0..variables.names.len()).collect();
        let has = |variable: &usize| pieces.contains(&Piece::Variable(*variable));
        if let Some(missing) = used.iter().find(|variable| !has(variable)) {
            let name = &variables.names[*missing];
            return Err(Problem::new(
                at,
                format!(
                    "{text:?} has no {{{name}}}, which another text of `when_any` has; each must have all variables"
                ),
            ));
        }
    }
    // A later text may have brought a variable that the first has not.
    let count = variables.names.len();
    if patterns.iter().any(|pattern: &TextPattern| pattern.variables() != count) {
        return Err(Problem::new(
            start(value),
            "the texts of `when_any` have different variables; each must have all of them",
        ));
    }
    Ok(When::Text(patterns))
}

/// The limits of variables.
fn limited(value: &Value<'_>, variables: &mut Variables) -> Result<Vec<(usize, Limit)>> {
    let DeValue::Table(table) = value.get_ref() else {
        return Err(Problem::new(
            start(value),
            "`where` is a table: { x = \"known\", y = \"class:city\" }",
        ));
    };
    let mut limits = Vec::new();
    for (name, value) in table {
        let variable = variables.number(name.get_ref(), name.span().start)?;
        for (text, at) in strings(value, "where")? {
            limits.push((variable, limit(text).map_err(|what| Problem::new(at, what))?));
        }
    }
    Ok(limits)
}

fn limit(text: &str) -> std::result::Result<Limit, String> {
    let text = text.trim();
    if text == "known" {
        return Ok(Limit::Known);
    }
    if let Some(class) =
        text.strip_prefix("class:").map(str::trim).filter(|class| !class.is_empty())
    {
        return Ok(Limit::Class(class.to_owned()));
    }
    if let Some(words) = text.strip_prefix("words:") {
        let (least, most) = words.split_once('-').unwrap_or((words, words));
        let number = |text: &str| text.trim().parse().ok().filter(|n| (1..=MAX_WORDS).contains(n));
        if let (Some(least), Some(most)) = (number(least), number(most))
            && least <= most
        {
            return Ok(Limit::Words(least, most));
        }
        return Err(format!(
            "{text:?} is no number of words; write `words:2`, or `words:1-3` up to {MAX_WORDS}"
        ));
    }
    Err(format!("{text:?} is no limit; write \"known\", \"class:NAME\" or \"words:1-3\""))
}

fn template(
    predicate: &Spanned<toml::de::DeString<'_>>,
    texts: &Value<'_>,
    source: &str,
) -> Result<Rule> {
    let name = collapse(predicate.get_ref()).into_owned();
    if name.is_empty() {
        return Err(Problem::new(
            predicate.span().start,
            "a template is of a predicate; write its name before the `=`",
        ));
    }
    if texts.get_ref().is_table() {
        return Err(Problem::new(
            start(texts),
            format!(
                "put the whole predicate in quotation marks before the `=`: \"{name}…\" = \"…\""
            ),
        ));
    }
    let mut variables = Variables {
        names: ["subject", "object", "predicate"].map(String::from).into(),
        fixed: true,
    };
    let said = strings(texts, &name)?;
    let mut say = variables.texts(&said)?;
    // The predicate is known, so it is written into the text.
    for piece in say.iter_mut().flatten().filter(|piece| **piece == Piece::Variable(2)) {
        *piece = Piece::Text(name.clone());
    }
    let text = format!(
        "when ({{subject}}, {name}, {{object}}) say {}",
        quoted(said.iter().map(|(text, _)| *text), ", ")
    );
    let when =
        When::Triples(vec![[Slot::Variable(0), Slot::Name(name.clone()), Slot::Variable(1)]]);
    let source = source.to_owned();
    let (kind, unless, then) = (RuleKind::Template, Vec::new(), Vec::new());
    Ok(Rule { name, kind, source, text, variables: 2, when, unless, then, say })
}

/// The rule of `speak = true`.
fn speak(source: &str) -> Rule {
    let space = || Piece::Text(" ".into());
    let variable = Piece::Variable;
    let say = vec![vec![
        variable(0),
        space(),
        variable(1),
        space(),
        variable(2),
        Piece::Text(".".into()),
    ]];
    Rule {
        name: "speak".into(),
        kind: RuleKind::Speak,
        source: source.to_owned(),
        text: "when a fact has no template say “{subject} {predicate} {object}.”".into(),
        variables: 3,
        when: When::Triples(vec![[Slot::Variable(0), Slot::Variable(1), Slot::Variable(2)]]),
        unless: Vec::new(),
        then: Vec::new(),
        say,
    }
}

fn quoted<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> String {
    texts.map(|text| format!("“{}”", collapse(text))).collect::<Vec<_>>().join(between)
}

fn shown(atoms: &[Atom], names: &[String]) -> String {
    let slot = |slot: &Slot| match slot {
        Slot::Variable(number) => format!("{{{}}}", names[*number]),
        Slot::Name(name) => name.clone(),
    };
    let atom = |atom: &Atom| format!("({})", atom.each_ref().map(slot).join(", "));
    atoms.iter().map(atom).collect::<Vec<_>>().join(" and ")
}
