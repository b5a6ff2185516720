//! The order of rules from triples to triples.
//!
//! A rule with `unless` may be applied only when all that could make its exception true is known. So rules are applied in
//! strata, each closed before the next. That order exists unless a rule asks for the absence of something that follows, over
//! any number of other rules, from what it makes itself: then there is no right answer, and the rules are refused.

use super::error::RulesError;
use super::{Atom, Rule, Slot};
use std::collections::BTreeMap;

/// The rules that make triples of triples, by number, in the order in which they are applied.
pub(super) fn of(rules: &[Rule]) -> Result<Vec<Vec<usize>>, RulesError> {
    let makes = |rule: &Rule| !rule.then.is_empty() && !rule.atoms().is_empty();
    let nodes: Vec<usize> = (0..rules.len()).filter(|&rule| makes(&rules[rule])).collect();
    let needs = needs(rules, &nodes);
    let component = components(&needs);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (node, &component) in component.iter().enumerate() {
        members[component].push(node);
    }
    // Components come with what they need before them.
    let mut level = vec![0; nodes.len()];
    let mut strata: Vec<Vec<usize>> = Vec::new();
    for (at, members) in members.iter().enumerate() {
        for &node in members {
            for &(need, negated) in &needs[node] {
                let other = component[need];
                if other != at {
                    level[at] = level[at].max(level[other] + usize::from(negated));
                } else if negated {
                    return Err(circle(rules, &nodes, node, members));
                }
            }
        }
        if strata.len() <= level[at] && !members.is_empty() {
            strata.resize(level[at] + 1, Vec::new());
        }
        if let Some(stratum) = strata.get_mut(level[at]) {
            stratum.extend(members.iter().map(|&node| nodes[node]));
        }
    }
    for stratum in &mut strata {
        stratum.sort_unstable();
    }
    Ok(strata)
}

fn circle(rules: &[Rule], nodes: &[usize], node: usize, members: &[usize]) -> RulesError {
    let rule = &rules[nodes[node]];
    let others = members.iter().filter(|&&other| other != node);
    let others: Vec<String> = others.take(5).map(|&other| rules[nodes[other]].title()).collect();
    let by = if others.is_empty() { String::new() } else { format!(" (by {})", others.join(", ")) };
    RulesError {
        document: rule.source.clone(),
        place: None,
        problem: format!(
            "{} asks in `unless` for the absence of what follows from what it makes itself{by}, so there is no right order; take that `unless` out, or name what is made otherwise",
            rule.title()
        ),
    }
}

/// For each node, the nodes that may make what it asks for, and whether it asks for the absence of it.
fn needs(rules: &[Rule], nodes: &[usize]) -> Vec<Vec<(usize, bool)>> {
    let mut heads: BTreeMap<Option<&str>, Vec<(usize, &Atom)>> = BTreeMap::new();
    for (node, &rule) in nodes.iter().enumerate() {
        for atom in &rules[rule].then {
            heads.entry(predicate(atom)).or_default().push((node, atom));
        }
    }
    let makers = |asked: &Atom, negated: bool, found: &mut Vec<(usize, bool)>| {
        let mut take = |list: &Vec<(usize, &Atom)>| {
            let fit = list.iter().filter(|(_, head)| may_be_same(head, asked));
            found.extend(fit.map(|&(node, _)| (node, negated)));
        };
        match predicate(asked) {
            None => heads.values().for_each(&mut take),
            named => [None, named].iter().filter_map(|key| heads.get(key)).for_each(&mut take),
        }
    };
    let of_rule = |&rule: &usize| {
        let mut found = Vec::new();
        rules[rule].atoms().iter().for_each(|atom| makers(atom, false, &mut found));
        rules[rule].unless.iter().for_each(|atom| makers(atom, true, &mut found));
        found.sort_unstable();
        found.dedup();
        found
    };
    nodes.iter().map(of_rule).collect()
}

fn predicate([_, predicate, _]: &Atom) -> Option<&str> {
    match predicate {
        Slot::Name(name) => Some(name),
        Slot::Variable(_) => None,
    }
}

/// Whether two triples with variables could be the same triple, each variable taken for itself.
fn may_be_same(one: &Atom, other: &Atom) -> bool {
    one.iter().zip(other).all(|pair| match pair {
        (Slot::Name(one), Slot::Name(other)) => one == other,
        _ => true,
    })
}

/// The strongly connected component of each node, numbered so that a component comes after all that it needs (Tarjan's
/// algorithm, with a stack of its own: there may be many rules).
fn components(needs: &[Vec<(usize, bool)>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = needs.len();
    let (mut order, mut low, mut component) =
        (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut next, mut found) = (0, 0);
    let mut open = Vec::new();
    for root in 0..count {
        if order[root] != NONE {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&(node, edge)) = path.last() {
            if edge == 0 {
                (order[node], low[node]) = (next, next);
                next += 1;
                open.push(node);
            }
            if let Some(&(need, _)) = needs[node].get(edge) {
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                if order[need] == NONE {
                    path.push((need, 0));
                } else if component[need] == NONE {
                    low[node] = low[node].min(order[need]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
