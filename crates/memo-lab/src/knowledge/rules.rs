//! Rules files of a world: what reads its memorized sentences, what says its facts, and what follows in two steps.

use super::data::{Relation, Use, World};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// A text in quotation marks, as TOML has it.
pub(super) fn quoted(text: &str) -> String {
    // TOML's strings in quotation marks are written as those of JSON are.
    serde_json::Value::from(text).to_string()
}

/// Rules that make triples of memorized sentences.
pub(super) fn extraction(world: &World) -> String {
    let mut rules = String::new();
    for relation in &world.relations {
        let when = relation.memorized().template();
        // Writing to a string cannot fail.
        let _ = writeln!(
            rules,
            "[[rule]]\nname = {}\nwhen = {}\nthen = [\"{{subject}}\", {}, \"{{object}}\"]\n",
            quoted(&format!("reads {}", relation.name)),
            quoted(&when),
            quoted(&relation.name),
        );
    }
    rules
}

/// Templates of the patterns that are wanted.
pub(super) fn templates(relations: &[Relation], wanted: impl Fn(Use) -> bool) -> String {
    let mut rules = String::from("[templates]\n");
    for relation in relations {
        let patterns = relation.patterns.iter().filter(|(_, of)| wanted(*of));
        let texts: Vec<String> = patterns.map(|(pattern, _)| quoted(&pattern.template())).collect();
        if !texts.is_empty() {
            let _ = writeln!(rules, "{} = [{}]", quoted(&relation.name), texts.join(", "));
        }
    }
    rules
}

/// Two relations, one after the other: what the first leads to has the second.
pub(super) struct Steps {
    pub(super) name: String,
    first: String,
    second: String,
    /// Each subject with all that it leads to.
    pub(super) leads: Vec<(String, BTreeSet<String>)>,
}

impl Steps {
    /// The pairs of relations by which the most follows, at most `most`.
    pub(super) fn all(world: &World, most: usize) -> Vec<Steps> {
        let mut all = Vec::new();
        for (first, of) in world.relations.iter().enumerate() {
            for (second, then) in world.relations.iter().enumerate() {
                if first == second {
                    continue;
                }
                let mut leads: HashMap<&str, BTreeSet<String>> = HashMap::new();
                for (subject, object) in &of.facts {
                    let ends = world.objects.get(&(second, object.clone())).into_iter().flatten();
                    for end in ends {
                        leads.entry(subject).or_default().insert(end.clone());
                    }
                }
                if leads.is_empty() {
                    continue;
                }
                let mut leads: Vec<_> =
                    leads.into_iter().map(|(from, to)| (from.to_owned(), to)).collect();
                leads.sort();
                let (first, second) = (of.name.clone(), then.name.clone());
                all.push(Steps { name: format!("{first}, then {second}"), first, second, leads });
            }
        }
        all.sort_by(|a, b| b.leads.len().cmp(&a.leads.len()).then_with(|| a.name.cmp(&b.name)));
        all.truncate(most);
        all
    }

    /// How what follows is said.
    pub(super) fn prompt(&self, subject: &str) -> String {
        format!("By way of {}, the road from {subject} ends at", self.name)
    }

    /// The rule.
    pub(super) fn rule(&self) -> String {
        let Steps { name, first, second, .. } = self;
        format!(
            "[[rule]]\nname = {name}\nwhen = [[\"{{x}}\", {first}, \"{{y}}\"], [\"{{y}}\", {second}, \"{{z}}\"]]\nthen = [\"{{x}}\", {name}, \"{{z}}\"]\nsay = {say}\n\n",
            say = quoted(&format!("{} {{z}}.", self.prompt("{x}"))),
            name = quoted(name),
            first = quoted(first),
            second = quoted(second),
        )
    }
}
