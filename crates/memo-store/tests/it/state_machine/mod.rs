//! Whatever is done to a model, in whatever order, it knows exactly its live documents and edits.
//!
//! A [`Book`] keeps its own account of documents, versions and transactions, in strings. After every operation the
//! memory's digest must be that of a memory which never knew anything else, and what the book says is refused must be
//! refused and change nothing. Models grow far beyond their first size and shrink again, their disk is full at times, and
//! their ledger is damaged ([`faults`]).

mod book;
mod faults;
mod knowledge;

use self::book::{Book, Said, Step};
use self::knowledge::RULES;
use crate::common::{lexicon, small};
#[cfg(unix)]
use crate::disk::Disk;
use memo::lexicon::Lexicon;
use memo_knowledge::{Graph, Triple, TriplePattern};
use memo_store::{Conflict, NewDocument, Observer, Selection, Snapshot, Store};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

#[derive(Clone, Debug)]
enum Action {
    Memorize(Vec<(Option<&'static str>, String)>),
    Retire(&'static str),
    Restore(&'static str),
    Replace(&'static str, &'static str, Option<&'static str>),
    Edit(String, &'static str),
    /// The transaction so many before the last.
    Rollback(usize),
    ForgetDocument(&'static str),
    ForgetUnnamed,
    ForgetText(&'static str),
    /// Of the graph of this name, which then has these facts.
    Graph(&'static str, Vec<(&'static str, &'static str, &'static str)>),
    /// The document of this name, which is then the file of rules of that number.
    Rules(&'static str, usize),
    /// All facts with a subject.
    ForgetFacts(&'static str),
    Checkpoint,
    /// With the lexicon of that number.
    Rebuild(usize),
    Reopen,
    Read,
    ContinueFromBackup,
    /// Merges in a model on which these were done.
    Merge(Vec<Action>, Conflict),
    /// Does it while the disk has no room but for so many bytes.
    FullDisk(Box<Action>, usize),
    /// Flips a bit in the tokens of the live document of this number, looks at the model, and flips it back.
    Damage(usize, usize),
}

const LEXICONS: usize = 3;

/// None, or one of two lexicons.
fn numbered(number: usize) -> Option<Arc<Lexicon>> {
    match number {
        0 => None,
        1 => Some(lexicon(&[
            ("owl", "animal"),
            ("cat", "animal"),
            ("sleeps", "verb"),
            (".", "stop"),
        ])),
        _ => Some(lexicon(&[("aaa", "letters"), ("é", "letters"), ("reads", "verb")])),
    }
}

/// Ids, among them such as renaming and edits make themselves.
fn id() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "a", "b", "b", "c", "a~2", "edit-2", "edit-3"])
}

/// Names of subjects and objects, among them such as sentences have.
fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["owl", "cat", "bat", "é"])
}

fn text() -> impl Strategy<Value = String> {
    let words = vec!["owl ", "cat ", "reads ", "at night. ", "sleeps", "aaa", "é"];
    vec(select(words), 0..5).prop_map(|words| words.concat())
}

/// A text that is far longer than the others, so that a model grows, and shrinks when it goes.
fn long() -> impl Strategy<Value = String> {
    (0u64..4).prop_map(|seed| {
        let mut state = seed;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            format!("{:x} ", state >> 49)
        };
        (0..1500).map(|_| word()).collect()
    })
}

/// Texts to look for: words, parts of them, what overlaps itself, what is nowhere.
fn piece() -> impl Strategy<Value = &'static str> {
    select(vec!["owl ", "cat", "reads at", "t", "aa", "sleeps", "é", "zebra", " ", ""])
}

/// What changes documents; what is also done to models that are merged in.
fn change() -> impl Strategy<Value = Action> {
    let document = (prop::option::weighted(0.75, id()), text());
    prop_oneof![
        6 => vec(document, 0..4).prop_map(Action::Memorize),
        1 => (id(), long()).prop_map(|(id, text)| Action::Memorize(vec![(Some(id), text)])),
        1 => id().prop_map(Action::Retire),
        2 => (id(), vec((name(), select(vec!["likes", "knows"]), name()), 1..4))
            .prop_map(|(id, facts)| Action::Graph(id, facts)),
        2 => (id(), 0..RULES.len()).prop_map(|(id, number)| Action::Rules(id, number)),
        2 => (text(), select(vec![" noon", "x", "aaa", ""])).prop_map(|(p, t)| Action::Edit(p, t)),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let conflict =
        select(vec![Conflict::Refuse, Conflict::Ours, Conflict::Theirs, Conflict::Rename]);
    prop_oneof![
        10 => change(),
        1 => id().prop_map(Action::Retire),
        2 => id().prop_map(Action::Restore),
        3 => (piece(), piece(), prop::option::of(id())).prop_map(|(o, n, d)| Action::Replace(o, n, d)),
        5 => (0usize..6).prop_map(Action::Rollback),
        1 => id().prop_map(Action::ForgetDocument),
        1 => Just(Action::ForgetUnnamed),
        2 => piece().prop_map(Action::ForgetText),
        1 => name().prop_map(Action::ForgetFacts),
        1 => Just(Action::Checkpoint),
        1 => (0..LEXICONS).prop_map(Action::Rebuild),
        2 => Just(Action::Reopen),
        1 => Just(Action::Read),
        1 => Just(Action::ContinueFromBackup),
        2 => (vec(change(), 1..4), conflict).prop_map(|(a, c)| Action::Merge(a, c)),
        3 => (faults::needs_room(), select(vec![0, 5_000, 70_000, 300_000, 2_000_000]))
            .prop_map(|(action, room)| Action::FullDisk(Box::new(action), room)),
        1 => (0usize..9, 0usize..99).prop_map(|(document, bit)| Action::Damage(document, bit)),
    ]
}

/// A model and its book.
struct World {
    store: Option<Store>,
    book: Book,
    models: usize,
    /// Where the models are, which may be a disk of their own.
    home: PathBuf,
    #[cfg(unix)]
    disk: Option<Disk>,
    _folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_owned();
        World::at(home, folder)
    }

    /// On a disk of its own, if there can be one.
    #[cfg(unix)]
    fn on_a_disk() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("disk");
        match Disk::mount(&place, "96m") {
            Some(disk) => World { disk: Some(disk), ..World::at(place, folder) },
            None => World::new(),
        }
    }

    #[cfg(not(unix))]
    fn on_a_disk() -> Self {
        World::new()
    }

    fn at(home: PathBuf, folder: TempDir) -> Self {
        let store = Store::create(&home.join("0.memo"), &small()).unwrap();
        World {
            store: Some(store),
            book: Book::default(),
            models: 1,
            home,
            #[cfg(unix)]
            disk: None,
            _folder: folder,
        }
    }

    fn store(&mut self) -> &mut Store {
        self.store.as_mut().unwrap()
    }

    /// Closes the model.
    fn close(&mut self) -> PathBuf {
        self.store.take().unwrap().directory().to_owned()
    }

    fn open(&mut self, path: &Path) {
        self.store = Some(Store::open(path).unwrap());
    }

    fn act(&mut self, action: &Action) {
        let (store, book) = (self.store.as_mut().unwrap(), &mut self.book);
        let (done, expected) = match action {
            Action::Memorize(given) => return self.memorize(given),
            Action::Edit(prompt, target) => return self.edit(prompt, target),
            Action::Merge(theirs, conflict) => return self.merge(theirs, *conflict),
            Action::FullDisk(action, room) => return self.on_full_disk(action, *room),
            Action::Damage(document, bit) => return self.damage(*document, *bit),
            Action::Retire(id) => (store.retire(id, None).map(drop), book.set_live(id, false)),
            Action::Restore(id) => (store.restore(id, None).map(drop), book.set_live(id, true)),
            Action::Replace(old, new, only) => {
                (store.replace(old, new, *only, None).map(drop), book.replace(old, new, *only))
            }
            Action::Rollback(back) => {
                let number = (book.log.len() + 1).saturating_sub(*back);
                (store.rollback(number as u64, None).map(drop), book.rollback(number))
            }
            Action::ForgetDocument(id) => {
                (store.forget(&[id], None).map(drop), book.forget_document(id))
            }
            Action::ForgetUnnamed => {
                let Some(id) = book.unnamed.values().next().cloned() else { return };
                (store.forget(&[&id], None).map(drop), book.forget_document(&id))
            }
            Action::ForgetText(text) => {
                (store.forget_text(text, None).map(drop), book.forget_text(text))
            }
            Action::Graph(id, facts) => return self.graph(id, facts),
            Action::Rules(id, number) => {
                let rules = NewDocument::rules(RULES[*number]).with_id(*id);
                return self.memorize_as(id, rules, Said::Rules(*number));
            }
            Action::ForgetFacts(subject) => {
                let subject_of = TriplePattern {
                    subject: Some((*subject).to_owned()),
                    ..TriplePattern::default()
                };
                let forgot = store.forget_selection(&Selection::Facts(subject_of), None);
                (forgot.map(drop), book.forget_facts(subject))
            }
            Action::Checkpoint => (store.checkpoint(), Some(())),
            Action::Rebuild(lexicon) => {
                book.lexicon = *lexicon;
                (store.rebuild_with_lexicon(numbered(*lexicon)).map(drop), Some(()))
            }
            Action::Reopen => {
                let path = self.close();
                return self.open(&path);
            }
            Action::Read => {
                // Beside the writer.
                let reader = Snapshot::open(store.directory()).unwrap();
                assert_eq!(reader.digest().unwrap(), book.digest());
                assert_eq!(reader.log().unwrap().len(), book.log.len());
                return;
            }
            Action::ContinueFromBackup => {
                let path = self.home.join(format!("{}.memo", self.models));
                self.models += 1;
                self.store().backup(&path).unwrap();
                self.close();
                return self.open(&path);
            }
        };
        assert_eq!(done.as_ref().ok(), expected.as_ref(), "{done:?}");
    }

    fn memorize(&mut self, given: &[(Option<&str>, String)]) {
        let documents: Vec<NewDocument> = given
            .iter()
            .map(|(id, text)| {
                let document = NewDocument::text(text);
                id.map_or(document.clone(), |id| document.with_id(id))
            })
            .collect();
        let done = self.store().memorize(documents, None);
        let book = &mut self.book;
        let Some(batch) = book.batch(given) else {
            return assert!(done.is_err());
        };
        let done = done.unwrap();
        let own = done.added.iter().filter(|id| id.starts_with("doc-"));
        let mut own = own.filter(|id| !book.entries.contains_key(*id)).cloned().collect::<Vec<_>>();
        own.reverse();
        let mut steps = Vec::new();
        for (id, said) in batch {
            let id = id.unwrap_or_else(|text| {
                let id = own.pop().unwrap();
                book.unnamed.insert(text, id.clone());
                id
            });
            if book.entry(&id).live() == Some(&said) {
                assert!(done.unchanged.contains(&id));
            } else {
                steps.push(Step::Add(id, said, true));
            }
        }
        assert_eq!((done.added.len() + done.updated.len(), own.len()), (steps.len(), 0));
        if !steps.is_empty() {
            book.record(false, steps);
        }
        assert_eq!(done.transaction.is_some(), !done.added.is_empty() || !done.updated.is_empty());
    }

    fn graph(&mut self, id: &str, facts: &[(&str, &str, &str)]) {
        let mut graph = Graph::default();
        for (subject, predicate, object) in facts {
            graph.insert(&Triple::new(*subject, *predicate, *object));
        }
        let facts = facts.iter().map(|(s, p, o)| ((*s).into(), (*p).into(), (*o).into()));
        let said = Said::Graph(facts.collect());
        self.memorize_as(id, NewDocument::graph(&graph).with_id(id), said);
    }

    fn memorize_as(&mut self, id: &str, document: NewDocument, said: Said) {
        let done = self.store().memorize([document], None).unwrap();
        let known = self.book.entry(id).live() == Some(&said);
        assert_eq!(done.transaction.is_none(), known);
        if !known {
            self.book.record(false, vec![Step::Add(id.to_owned(), said, true)]);
        }
    }

    /// Whether an edit wins, and how heavy it must be, is for the memory to say.
    fn edit(&mut self, prompt: &str, target: &str) {
        let done = self.store().edit(prompt, target, None);
        let Ok(done) = done else { return };
        assert!(!prompt.is_empty() && !target.is_empty());
        if let Some(id) = done.document {
            assert!(!self.book.entries.contains_key(&id), "{id} was there");
            let said = Said::Edit(prompt.to_owned(), target.to_owned(), done.weight);
            self.book.record(false, vec![Step::Add(id, said, true)]);
        }
    }

    fn merge(&mut self, theirs: &[Action], conflict: Conflict) {
        let mut other = World::new();
        other.act(&Action::Rebuild(self.book.lexicon));
        theirs.iter().for_each(|action| other.act(action));
        let merged = self.store().merge(other.store(), conflict, None);
        let added = merged.as_ref().map_or(&[][..], |merged| &merged.added);
        let expected = self.book.merge(&other.book, conflict, added);
        assert_eq!(merged.as_ref().ok().map(drop), expected, "{merged:?}");
        other.check();
    }

    fn check(&mut self) {
        let expected = self.book.digest();
        let log = self.book.log.len();
        let store = self.store();
        assert_eq!(store.digest().unwrap(), expected);
        assert_eq!(store.log().unwrap().len(), log);
    }

    fn finish(mut self) {
        for (id, said) in self.book.live() {
            let text = self.store.as_ref().unwrap().text(id, None).unwrap();
            match said {
                Said::Text(parts) => assert_eq!(text, parts.join("\n")),
                Said::Edit(prompt, target, _) => assert_eq!(text, format!("{prompt}{target}")),
                Said::Graph(facts) => {
                    let mut expected = knowledge::lines(facts);
                    expected.sort();
                    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
                }
                Said::Rules(number) => assert_eq!(text, RULES[*number]),
            }
        }
        let verified = self.store().verify(&Observer::default()).unwrap();
        assert!(verified.damage.is_empty(), "{verified:?}");
        let path = self.close();
        self.open(&path);
        self.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_model_knows_exactly_what_is_live(actions in vec(action(), 1..25)) {
        let mut world = World::on_a_disk();
        for action in &actions {
            world.act(action);
            world.check();
        }
        world.finish();
    }
}
