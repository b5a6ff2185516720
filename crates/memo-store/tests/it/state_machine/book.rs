//! An account of documents, versions and transactions that knows nothing of memories: what the store is compared with.

use super::knowledge::{Fact, Known, RULES, lines};
use super::numbered;
use crate::common::digest_with;
use memo::sparse::Digest;
use memo_store::Conflict;
use std::collections::{BTreeMap, BTreeSet};

/// What a version says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    Text(Vec<String>),
    Edit(String, String, i32),
    Graph(BTreeSet<Fact>),
    /// The file of rules of that number.
    Rules(usize),
}

impl Said {
    pub(super) fn contains(&self, text: &str) -> bool {
        match self {
            Said::Text(parts) => parts.iter().any(|part| part.contains(text)),
            Said::Edit(prompt, target, _) => format!("{prompt}{target}").contains(text),
            Said::Graph(facts) => lines(facts).iter().any(|line| line.contains(text)),
            Said::Rules(number) => RULES[*number].contains(text),
        }
    }
}

/// The version that counts, and whether it is live.
pub(super) type Place = Option<(usize, bool)>;

#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// `None` where it was forgotten.
    pub(super) versions: Vec<Option<Said>>,
    pub(super) place: Place,
}

impl Entry {
    pub(super) fn current(&self) -> Option<&Said> {
        self.versions[self.place?.0].as_ref()
    }

    pub(super) fn live(&self) -> Option<&Said> {
        self.current().filter(|_| self.place.is_some_and(|(_, live)| live))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) forget: bool,
    pub(super) undone: bool,
    /// The number of the transaction that this one rolled back.
    pub(super) undoes: Option<usize>,
    /// Document, where it was, where it went.
    pub(super) moves: Vec<(String, Place, Place)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) log: Vec<Done>,
    /// The number of the lexicon.
    pub(super) lexicon: usize,
    /// The ids of documents that came without one, by their text.
    pub(super) unnamed: BTreeMap<String, String>,
}

/// What a document becomes: its place, and a version if that is new.
pub(super) enum Step {
    Move(String, Place),
    Add(String, Said, bool),
}

impl Book {
    pub(super) fn entry(&self, id: &str) -> Entry {
        self.entries.get(id).cloned().unwrap_or_default()
    }

    pub(super) fn record(&mut self, forget: bool, steps: Vec<Step>) {
        let mut moves = Vec::new();
        for step in steps {
            let (id, said, place) = match step {
                Step::Move(id, place) => (id, None, place),
                Step::Add(id, said, live) => {
                    let version = self.entry(&id).versions.len();
                    (id, Some(said), Some((version, live)))
                }
            };
            let entry = self.entries.entry(id.clone()).or_default();
            entry.versions.extend(said.map(Some));
            moves.push((id, entry.place, place));
            entry.place = place;
        }
        self.log.push(Done { forget, undone: false, undoes: None, moves });
    }

    pub(super) fn live(&self) -> impl Iterator<Item = (&String, &Said)> + Clone {
        self.entries.iter().filter_map(|(id, entry)| Some((id, entry.live()?)))
    }

    pub(super) fn digest(&self) -> Digest {
        let (mut parts, mut edits) = (Vec::new(), Vec::new());
        for (_, said) in self.live() {
            match said {
                Said::Text(text) => parts.extend(text.iter().cloned()),
                Said::Edit(prompt, target, weight) => {
                    edits.push((prompt.clone(), target.clone(), *weight));
                }
                Said::Graph(_) | Said::Rules(_) => {}
            }
        }
        let known = Known::of(self.live().map(|(_, said)| said), self.lexicon);
        parts.extend(known.texts);
        digest_with(numbered(self.lexicon), &parts, &edits, &known.facts)
    }

    /// Documents under their ids, or `None` if one is given twice with different texts. New ones without an id are
    /// given by their text; their ids are not known yet.
    pub(super) fn batch(
        &self,
        given: &[(Option<&str>, String)],
    ) -> Option<Vec<(Result<String, String>, Said)>> {
        let mut batch: Vec<(Result<String, String>, Said)> = Vec::new();
        for (id, text) in given {
            let unnamed = || self.unnamed.get(text).cloned().ok_or(text.clone());
            let id = id.map_or_else(unnamed, |id| Ok(id.to_owned()));
            let said = Said::Text(vec![text.clone()]);
            match batch.iter().find(|(known, _)| *known == id) {
                Some((_, known)) if *known != said => return None,
                Some(_) => {}
                None => batch.push((id, said)),
            }
        }
        Some(batch)
    }

    pub(super) fn set_live(&mut self, id: &str, live: bool) -> Option<()> {
        let (version, was) = self.entry(id).place?;
        if was == live {
            return None;
        }
        self.record(false, vec![Step::Move(id.to_owned(), Some((version, live)))]);
        Some(())
    }

    pub(super) fn replace(&mut self, old: &str, new: &str, only: Option<&str>) -> Option<()> {
        let mut steps = Vec::new();
        for (id, entry) in self.entries.iter().filter(|(id, _)| only.is_none_or(|only| only == *id))
        {
            let (Some(Said::Text(parts)), Some((_, live))) = (entry.current(), entry.place) else {
                continue;
            };
            if parts.iter().any(|part| part.contains(old)) {
                let mut parts: Vec<String> = parts.iter().map(|p| p.replace(old, new)).collect();
                parts.retain(|part| !part.is_empty());
                steps.push(Step::Add(id.clone(), Said::Text(parts), live));
            }
        }
        if old.is_empty() || old == new || steps.is_empty() {
            return None;
        }
        self.record(false, steps);
        Some(())
    }

    pub(super) fn rollback(&mut self, number: usize) -> Option<()> {
        let undone = self.log.get(number.checked_sub(1)?)?.clone();
        let scrubbed = |entry: &Entry, place: Place| {
            place.is_some_and(|(version, _)| entry.versions[version].is_none())
        };
        let stands = |(id, before, after): &(String, Place, Place)| {
            let entry = self.entry(id);
            entry.place == *after && !scrubbed(&entry, *before)
        };
        if undone.forget || undone.undone || !undone.moves.iter().all(stands) {
            return None;
        }
        let back = undone.moves.into_iter().map(|(id, before, _)| Step::Move(id, before)).collect();
        self.record(false, back);
        self.log[number - 1].undone = true;
        // Undoing a rollback brings back what it undid.
        if let Some(again) = undone.undoes {
            self.log[again - 1].undone = false;
        }
        let last = self.log.len() - 1;
        self.log[last].undoes = Some(number);
        Some(())
    }

    pub(super) fn forget_document(&mut self, id: &str) -> Option<()> {
        self.entry(id).versions.iter().find(|version| version.is_some())?;
        self.record(true, vec![Step::Move(id.to_owned(), None)]);
        self.entries.get_mut(id)?.versions.fill(None);
        Some(())
    }

    pub(super) fn forget_text(&mut self, text: &str) -> Option<()> {
        let knows = |said: &Option<Said>| said.as_ref().is_some_and(|said| said.contains(text));
        let known = self.entries.iter().filter(|(_, entry)| entry.versions.iter().any(knows));
        let known: Vec<(String, Entry)> = known.map(|(id, e)| (id.clone(), e.clone())).collect();
        if text.trim().is_empty() || known.is_empty() {
            return None;
        }
        let steps = known.iter().map(|(id, entry)| {
            let id = id.clone();
            match (entry.current().filter(|said| said.contains(text)), entry.place) {
                (Some(Said::Text(parts)), Some((_, live))) => {
                    let pieces = parts.iter().flat_map(|part| {
                        // A part that does not contain it stays as it is, even if it is empty.
                        let cut = part.contains(text);
                        part.split(text).filter(move |piece| !cut || !piece.is_empty())
                    });
                    let pieces: Vec<String> = pieces.map(str::to_owned).collect();
                    if pieces.is_empty() {
                        Step::Move(id, None)
                    } else {
                        Step::Add(id, Said::Text(pieces), live)
                    }
                }
                (Some(Said::Graph(facts)), Some((_, live))) => {
                    let mut facts = facts.clone();
                    facts.retain(|fact| !lines(&BTreeSet::from([fact.clone()]))[0].contains(text));
                    if facts.is_empty() {
                        Step::Move(id, None)
                    } else {
                        Step::Add(id, Said::Graph(facts), live)
                    }
                }
                (Some(Said::Edit(..) | Said::Rules(_)), _) => Step::Move(id, None),
                (_, place) => Step::Move(id, place),
            }
        });
        let steps = steps.collect();
        self.record(true, steps);
        for (id, before) in known {
            let versions = &mut self.entries.get_mut(&id)?.versions;
            for (version, said) in before.versions.iter().enumerate() {
                if knows(said) {
                    versions[version] = None;
                }
            }
        }
        Some(())
    }

    /// Takes all facts with a subject out of every graph.
    pub(super) fn forget_facts(&mut self, subject: &str) -> Option<()> {
        let about = |said: &Option<Said>| matches!(said, Some(Said::Graph(facts)) if facts.iter().any(|fact| fact.0 == subject));
        let known = self.entries.iter().filter(|(_, entry)| entry.versions.iter().any(about));
        let known: Vec<(String, Entry)> = known.map(|(id, e)| (id.clone(), e.clone())).collect();
        if known.is_empty() {
            return None;
        }
        let steps = known.iter().map(|(id, entry)| match (entry.current(), entry.place) {
            (Some(Said::Graph(facts)), Some((_, live))) if facts.iter().any(|f| f.0 == subject) => {
                let mut facts = facts.clone();
                facts.retain(|fact| fact.0 != subject);
                if facts.is_empty() {
                    Step::Move(id.clone(), None)
                } else {
                    Step::Add(id.clone(), Said::Graph(facts), live)
                }
            }
            (_, place) => Step::Move(id.clone(), place),
        });
        let steps = steps.collect();
        self.record(true, steps);
        for (id, before) in known {
            let versions = &mut self.entries.get_mut(&id)?.versions;
            for (version, said) in before.versions.iter().enumerate() {
                if about(said) {
                    versions[version] = None;
                }
            }
        }
        Some(())
    }

    /// What merging brings: `None` if it is refused. Where it was done, `added` has the ids of what is new, in order.
    pub(super) fn merge(
        &mut self,
        other: &Book,
        conflict: Conflict,
        added: &[String],
    ) -> Option<()> {
        let mut steps: Vec<Step> = Vec::new();
        let mut renamed: Vec<String> = Vec::new();
        let mut added = added.iter();
        let mut unnamed = self.unnamed.clone();
        for (id, said) in other.live() {
            let mut id = id.clone();
            // A text that came without an id is the same document here.
            let text = other.unnamed.iter().find(|(text, own)| {
                let first = Some(Said::Text(vec![(*text).clone()]));
                **own == id && other.entry(&id).versions.contains(&first)
            });
            if let Some((text, _)) = text {
                id = unnamed.get(text).cloned().unwrap_or_default();
            }
            // A retired document is ours too.
            if let Some(ours) = self.entry(&id).current() {
                match conflict {
                    _ if ours == said => continue,
                    Conflict::Refuse => return None,
                    Conflict::Ours => continue,
                    Conflict::Theirs => {}
                    Conflict::Rename => {
                        let free = (2..99).map(|n| format!("{id}~{n}")).find(|free| {
                            let taken = [&self.entries, &other.entries];
                            !renamed.contains(free) && !taken.iter().any(|t| t.contains_key(free))
                        });
                        id = free?;
                        renamed.push(id.clone());
                    }
                }
            } else if let Some(new) = added.next() {
                if let Some((text, _)) = text {
                    unnamed.insert(text.clone(), new.clone());
                    id.clone_from(new);
                }
                assert_eq!(*new, id);
            }
            steps.push(Step::Add(id, said.clone(), true));
        }
        self.unnamed = unnamed;
        if !steps.is_empty() {
            self.record(false, steps);
        }
        Some(())
    }
}
