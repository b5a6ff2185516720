//! Whatever is done to a model, in whatever order, it knows exactly its live documents and edits.
//!
//! A [`Book`] keeps its own account of documents, versions and transactions, in strings. After every operation the
//! memory's digest must be that of a memory which never knew anything else, and what the book says is refused must be
//! refused and change nothing.

use crate::common::{digest_with, lexicon, small};
use memo::lexicon::Lexicon;
use memo::sparse::Digest;
use memo_store::{Conflict, NewDocument, Observer, Snapshot, Store};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
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
    Checkpoint,
    /// With the lexicon of that number.
    Rebuild(usize),
    Reopen,
    Read,
    ContinueFromBackup,
    /// Merges in a model on which these were done.
    Merge(Vec<Action>, Conflict),
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

fn text() -> impl Strategy<Value = String> {
    let words = vec!["owl ", "cat ", "reads ", "at night. ", "sleeps", "aaa", "é"];
    vec(select(words), 0..5).prop_map(|words| words.concat())
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
        1 => id().prop_map(Action::Retire),
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
        1 => Just(Action::Checkpoint),
        1 => (0..LEXICONS).prop_map(Action::Rebuild),
        2 => Just(Action::Reopen),
        1 => Just(Action::Read),
        1 => Just(Action::ContinueFromBackup),
        2 => (vec(change(), 1..4), conflict).prop_map(|(a, c)| Action::Merge(a, c)),
    ]
}

/// What a version says.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Text(Vec<String>),
    Edit(String, String, i32),
}

impl Said {
    fn contains(&self, text: &str) -> bool {
        match self {
            Said::Text(parts) => parts.iter().any(|part| part.contains(text)),
            Said::Edit(prompt, target, _) => format!("{prompt}{target}").contains(text),
        }
    }
}

/// The version that counts, and whether it is live.
type Place = Option<(usize, bool)>;

#[derive(Clone, Debug, Default)]
struct Entry {
    /// `None` where it was forgotten.
    versions: Vec<Option<Said>>,
    place: Place,
}

impl Entry {
    fn current(&self) -> Option<&Said> {
        self.versions[self.place?.0].as_ref()
    }

    fn live(&self) -> Option<&Said> {
        self.current().filter(|_| self.place.is_some_and(|(_, live)| live))
    }
}

#[derive(Clone, Debug)]
struct Done {
    forget: bool,
    undone: bool,
    /// The number of the transaction that this one rolled back.
    undoes: Option<usize>,
    /// Document, where it was, where it went.
    moves: Vec<(String, Place, Place)>,
}

#[derive(Clone, Debug, Default)]
struct Book {
    entries: BTreeMap<String, Entry>,
    log: Vec<Done>,
    /// The number of the lexicon.
    lexicon: usize,
    /// The ids of documents that came without one, by their text.
    unnamed: BTreeMap<String, String>,
}

/// What a document becomes: its place, and a version if that is new.
enum Step {
    Move(String, Place),
    Add(String, Said, bool),
}

impl Book {
    fn entry(&self, id: &str) -> Entry {
        self.entries.get(id).cloned().unwrap_or_default()
    }

    fn record(&mut self, forget: bool, steps: Vec<Step>) {
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

    fn live(&self) -> impl Iterator<Item = (&String, &Said)> {
        self.entries.iter().filter_map(|(id, entry)| Some((id, entry.live()?)))
    }

    fn digest(&self) -> Digest {
        let (mut parts, mut edits) = (Vec::new(), Vec::new());
        for (_, said) in self.live() {
            match said {
                Said::Text(text) => parts.extend(text.iter().cloned()),
                Said::Edit(prompt, target, weight) => {
                    edits.push((prompt.clone(), target.clone(), *weight));
                }
            }
        }
        digest_with(numbered(self.lexicon), &parts, &edits)
    }

    /// Documents under their ids, or `None` if one is given twice with different texts. New ones without an id are
    /// given by their text; their ids are not known yet.
    fn batch(
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

    fn set_live(&mut self, id: &str, live: bool) -> Option<()> {
        let (version, was) = self.entry(id).place?;
        if was == live {
            return None;
        }
        self.record(false, vec![Step::Move(id.to_owned(), Some((version, live)))]);
        Some(())
    }

    fn replace(&mut self, old: &str, new: &str, only: Option<&str>) -> Option<()> {
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

    fn rollback(&mut self, number: usize) -> Option<()> {
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

    fn forget_document(&mut self, id: &str) -> Option<()> {
        self.entry(id).versions.iter().find(|version| version.is_some())?;
        self.record(true, vec![Step::Move(id.to_owned(), None)]);
        self.entries.get_mut(id)?.versions.fill(None);
        Some(())
    }

    fn forget_text(&mut self, text: &str) -> Option<()> {
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
                (Some(Said::Edit(..)), _) => Step::Move(id, None),
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

    /// What merging brings: `None` if it is refused. Where it was done, `added` has the ids of what is new, in order.
    fn merge(&mut self, other: &Book, conflict: Conflict, added: &[String]) -> Option<()> {
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

/// A model and its book.
struct World {
    home: TempDir,
    store: Option<Store>,
    book: Book,
    models: usize,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::create(&home.path().join("0.memo"), &small()).unwrap();
        World { home, store: Some(store), book: Book::default(), models: 1 }
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
                let path = self.home.path().join(format!("{}.memo", self.models));
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
        let mut world = World::new();
        for action in &actions {
            world.act(action);
            world.check();
        }
        world.finish();
    }
}
