//! Full disks and damaged ledgers, in the middle of everything else.

use super::book::Said;
use super::{Action, LEXICONS, World, id, long, numbered, piece, text};
use memo_store::{Error, NewDocument, Observer};
use proptest::prelude::*;

/// What writes to the disk.
pub(super) fn needs_room() -> impl Strategy<Value = Action> {
    let document = (id(), prop_oneof![text(), long()]);
    prop_oneof![
        3 => document.prop_map(|(id, text)| Action::Memorize(vec![(Some(id), text)])),
        1 => id().prop_map(Action::Retire),
        1 => id().prop_map(Action::Restore),
        1 => (piece(), piece()).prop_map(|(old, new)| Action::Replace(old, new, None)),
        3 => id().prop_map(Action::ForgetDocument),
        2 => piece().prop_map(Action::ForgetText),
        1 => Just(Action::Checkpoint),
        1 => (0..LEXICONS).prop_map(Action::Rebuild),
    ]
}

/// Whether a disk was full.
fn was_full(error: &Error) -> bool {
    matches!(error, Error::NoRoom { .. }) || error.to_string().contains("No space left")
}

impl World {
    /// A change is whole or absent, and says why; a forget may also be recorded and pending, and is then finished as soon
    /// as there is room.
    #[cfg(unix)]
    pub(super) fn on_full_disk(&mut self, action: &Action, room: usize) {
        let Some(disk) = &self.disk else { return self.act(action) };
        disk.fill(room);
        let (store, mut book) = (self.store.as_mut().unwrap(), self.book.clone());
        let (done, expected) = match action {
            Action::Memorize(given) => {
                let [(Some(id), text)] = &given[..] else { unreachable!() };
                let document = NewDocument::text(text).with_id(*id);
                let said = Said::Text(vec![text.clone()]);
                if book.entry(id).live() != Some(&said) {
                    book.record(false, vec![super::Step::Add((*id).to_owned(), said, true)]);
                }
                (store.memorize([document], None).map(drop), Some(()))
            }
            Action::Retire(id) => (store.retire(id, None).map(drop), book.set_live(id, false)),
            Action::Restore(id) => (store.restore(id, None).map(drop), book.set_live(id, true)),
            Action::Replace(old, new, _) => {
                (store.replace(old, new, None, None).map(drop), book.replace(old, new, None))
            }
            Action::ForgetDocument(id) => {
                (store.forget(&[id], None).map(drop), book.forget_document(id))
            }
            Action::ForgetText(text) => {
                (store.forget_text(text, None).map(drop), book.forget_text(text))
            }
            Action::Checkpoint => (store.checkpoint(), Some(())),
            Action::Rebuild(lexicon) => {
                book.lexicon = *lexicon;
                (store.rebuild_with_lexicon(numbered(*lexicon)).map(drop), Some(()))
            }
            _ => unreachable!("it needs no room"),
        };
        let pending = matches!(done, Err(Error::Pending { .. }));
        match (done, expected) {
            (Ok(()), Some(())) => self.book = book,
            (Err(error), Some(())) => {
                assert!(was_full(&error), "{error}");
                if pending {
                    self.book = book;
                }
            }
            (done, None) => assert!(done.is_err()),
        }
        // Whoever reads goes on.
        self.check();
        self.disk.as_ref().unwrap().clear();
        if pending {
            let path = self.close();
            self.open(&path);
        }
        assert!(!self.store().log().unwrap().iter().any(|transaction| transaction.unfinished));
    }

    #[cfg(not(unix))]
    pub(super) fn on_full_disk(&mut self, action: &Action, _room: usize) {
        self.act(action);
    }

    /// The document is named by whatever would use its tokens, nothing copies them, and the memory is right all the same.
    pub(super) fn damage(&mut self, which: usize, bit: usize) {
        let texts = self.book.live().filter_map(|(id, said)| match said {
            Said::Text(parts) => parts.iter().find(|part| !part.is_empty()).map(|part| (id, part)),
            Said::Edit(..) | Said::Graph(_) | Said::Rules(_) => None,
        });
        let texts: Vec<(String, String)> =
            texts.map(|(id, part)| (id.clone(), part.clone())).collect();
        let Some((id, part)) = texts.get(which % texts.len().max(1)) else { return };
        self.store().checkpoint().unwrap();
        let path = self.close();
        let ledger = path.join("ledger.redb");
        let sound = std::fs::read(&ledger).unwrap();
        // Pages that are free may have an older copy of it, and other documents the same text: all of them.
        let stored: Vec<u8> = part.bytes().flat_map(|byte| u32::from(byte).to_le_bytes()).collect();
        let places: Vec<usize> = memchr::memmem::find_iter(&sound, &stored).collect();
        assert!(!places.is_empty());
        let mut changed = sound.clone();
        for place in places {
            changed[place + bit % part.len() * 4] ^= 1 << (bit % 7);
        }
        std::fs::write(&ledger, changed).unwrap();
        self.open(&path);
        self.check();
        let name = format!("document {id:?}");
        let (copy, store) = (path.with_extension("copy"), self.store());
        let error = store.text(id, None).unwrap_err().to_string();
        assert!(error.contains(&name), "{error}");
        assert!(matches!(store.rebuild(), Err(Error::Damaged { .. })));
        assert!(matches!(store.backup(&copy), Err(Error::Damaged { .. })));
        assert!(matches!(store.export(&copy, true), Err(Error::Damaged { .. })));
        assert!(!copy.exists());
        let damage = store.verify(&Observer::default()).unwrap().damage;
        assert!(damage.iter().any(|what| what.contains(&name)), "{damage:?}");
        self.close();
        std::fs::write(&ledger, sound).unwrap();
        self.open(&path);
    }
}
