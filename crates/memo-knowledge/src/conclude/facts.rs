//! Facts as numbers, indexed by what rules ask for.
//!
//! Every name has a number, and every fact a place in one list, those that are given first. For each predicate, each predicate
//! and subject, and each predicate and object there is a chain through the list, from the newest fact to the oldest, so that
//! the facts of the last round come first and an index costs four bytes a fact.

use rustc_hash::{FxBuildHasher, FxHashMap};

/// A fact: subject, predicate and object by number.
pub(super) type Fact = [u32; 3];

/// The end of a chain.
const END: u32 = u32::MAX;

/// Numbers of names.
#[derive(Default)]
pub(super) struct Names<'a> {
    numbers: FxHashMap<&'a str, u32>,
    names: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn number(&mut self, name: &'a str) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }

    pub(super) fn name(&self, number: u32) -> &'a str {
        self.names[number as usize]
    }
}

/// Which facts a rule asks for: those that agree with what is known of a triple.
#[derive(Clone, Copy, Debug)]
pub(super) struct FactPattern {
    pub(super) subject: Option<u32>,
    pub(super) predicate: Option<u32>,
    pub(super) object: Option<u32>,
}

/// One index: the newest fact of each key, and for each fact the next older one of the same key.
#[derive(Default)]
struct Chains {
    newest: FxHashMap<u64, u32>,
    older: Vec<u32>,
}

impl Chains {
    fn push(&mut self, key: u64) {
        let at = self.older.len() as u32;
        self.older.push(self.newest.insert(key, at).unwrap_or(END));
    }

    fn newest(&self, key: u64) -> u32 {
        self.newest.get(&key).copied().unwrap_or(END)
    }
}

/// All facts so far.
#[derive(Default)]
pub(super) struct Facts {
    list: Vec<Fact>,
    places: FxHashMap<Fact, u32>,
    by_predicate: Chains,
    by_subject: Chains,
    by_object: Chains,
    /// Indexes of subjects and objects of any predicate, if a rule has a predicate that is a variable.
    any: Option<[Chains; 2]>,
}

impl Facts {
    pub(super) fn new(expected: usize, any_predicate: bool) -> Self {
        let places = FxHashMap::with_capacity_and_hasher(expected, FxBuildHasher);
        Self { places, any: any_predicate.then(Default::default), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, place: u32) -> Fact {
        self.list[place as usize]
    }

    pub(super) fn has(&self, fact: &Fact) -> bool {
        self.places.contains_key(fact)
    }

    /// Adds a fact that is not there.
    pub(super) fn push(&mut self, fact: Fact) {
        let [subject, predicate, object] = fact;
        self.places.insert(fact, self.list.len() as u32);
        self.list.push(fact);
        self.by_predicate.push(predicate.into());
        self.by_subject.push(pair(predicate, subject));
        self.by_object.push(pair(predicate, object));
        if let Some([subjects, objects]) = &mut self.any {
            subjects.push(subject.into());
            objects.push(object.into());
        }
    }

    /// Where facts that are asked for begin, as a walk for [`next`](Self::next). They may include others.
    pub(super) fn walk(&self, asked: &FactPattern) -> Walk<'_> {
        let (at, older) = match (*asked, &self.any) {
            (FactPattern { subject: Some(s), predicate: Some(p), object: Some(o) }, _) => {
                (self.places.get(&[s, p, o]).copied().unwrap_or(END), None)
            }
            (FactPattern { predicate: Some(p), subject: Some(s), .. }, _) => {
                (self.by_subject.newest(pair(p, s)), Some(&self.by_subject.older))
            }
            (FactPattern { predicate: Some(p), object: Some(o), .. }, _) => {
                (self.by_object.newest(pair(p, o)), Some(&self.by_object.older))
            }
            (FactPattern { predicate: Some(p), .. }, _) => {
                (self.by_predicate.newest(p.into()), Some(&self.by_predicate.older))
            }
            (FactPattern { subject: Some(s), .. }, Some([subjects, _])) => {
                (subjects.newest(s.into()), Some(&subjects.older))
            }
            (FactPattern { object: Some(o), .. }, Some([_, objects])) => {
                (objects.newest(o.into()), Some(&objects.older))
            }
            _ => {
                return Walk {
                    at: (self.list.len() as u32).checked_sub(1).unwrap_or(END),
                    older: None,
                    all: true,
                };
            }
        };
        Walk { at, older: older.map(Vec::as_slice), all: false }
    }
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Places of facts, from the newest to the oldest.
pub(super) struct Walk<'a> {
    at: u32,
    older: Option<&'a [u32]>,
    all: bool,
}

impl Iterator for Walk<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.at == END {
            return None;
        }
        let at = self.at;
        self.at = match self.older {
            Some(older) => older[at as usize],
            None if self.all => at.checked_sub(1).unwrap_or(END),
            None => END,
        };
        Some(at)
    }
}
