//! Lexicons: a function of their contents, refused with a reason if they are wrong.

use memo::lexicon::{
    Error, Lexicon, MAX_BYTES, MAX_CLASSES, MAX_LEVELS, NameProblem, is_canonical, source_digest,
};
use memo::words::unit_hash;
use proptest::prelude::*;

type Entry = (String, Vec<Option<String>>);

fn entry(word: &str, classes: &[&str]) -> Entry {
    let named = |class: &&str| Some((*class).to_owned()).filter(|class| !class.is_empty());
    (word.to_owned(), classes.iter().map(named).collect())
}

fn cars() -> Vec<Entry> {
    vec![
        entry("Volvo", &["car", "vehicle"]),
        entry("Fiat", &["car", "vehicle"]),
        entry("train", &["", "vehicle"]),
        entry("Rome", &["city"]),
        entry(",", &["comma"]),
    ]
}

#[test]
fn classes_are_found_by_word_and_words_by_class() {
    let lexicon = Lexicon::new(cars()).unwrap();
    assert_eq!((lexicon.levels(), lexicon.len()), (2, 5));
    assert_eq!((lexicon.classes(0), lexicon.classes(1), lexicon.classes(2)), (3, 1, 0));
    let class = |level, word| {
        let class = lexicon.class(level, unit_hash(word).unwrap())?;
        Some(lexicon.name(level, class))
    };
    assert_eq!((class(0, "VOLVO"), class(1, "volvo")), (Some("car"), Some("vehicle")));
    assert_eq!((class(0, "train"), class(1, "train")), (None, Some("vehicle")));
    assert_eq!((class(0, "rome"), class(1, "rome")), (Some("city"), None));
    assert_eq!((class(0, ","), class(0, "."), class(2, ",")), (Some("comma"), None, None));
    let names: Vec<&str> = (0..3).map(|class| lexicon.name(0, class)).collect();
    assert_eq!(names, ["car", "city", "comma"], "classes have the order of their names");
    assert_eq!(lexicon.find(0, "city"), Some(1));
    assert_eq!((lexicon.find(1, "city"), lexicon.find(7, "city")), (None, None));
    assert_eq!(lexicon.members(1, 0).collect::<Vec<_>>(), ["fiat", "train", "volvo"]);
    assert_eq!((lexicon.members(0, 99).len(), lexicon.members(9, 0).len()), (0, 0));
    assert!(lexicon.has(unit_hash("train").unwrap()) && !lexicon.has(unit_hash("owl").unwrap()));
}

#[test]
fn the_canonical_form_is_text_that_people_can_read() {
    let lexicon = Lexicon::new(cars()).unwrap();
    let bytes = lexicon.to_bytes();
    assert_eq!(
        std::str::from_utf8(&bytes).unwrap(),
        "memo lexicon 1\n2 levels, 0 sources, 5 words\n,\tcomma\t\nfiat\tcar\tvehicle\nrome\tcity\t\n\
         train\t\tvehicle\nvolvo\tcar\tvehicle\n"
    );
    assert_eq!(lexicon.digest(), *blake3::hash(&bytes).as_bytes());
    assert!(is_canonical(&bytes) && !is_canonical(b"volvo\tcar\n"));
}

#[test]
fn sources_are_part_of_a_lexicon() {
    let plain = Lexicon::new(cars()).unwrap();
    let sources = ["one", "two"].map(|text| source_digest(text.as_bytes()));
    let induced = plain.clone().with_sources([sources[1], sources[0], sources[1]]);
    assert_ne!(plain, induced);
    assert_eq!(induced.sources().len(), 2);
    assert!(induced.is_from(b"one") && !induced.is_from(b"three") && !plain.is_from(b"one"));
    assert_eq!(induced, plain.clone().with_sources(sources));
    let read = Lexicon::from_bytes(&induced.to_bytes()).unwrap();
    assert_eq!((read.digest(), read.sources()), (induced.digest(), induced.sources()));
    assert_ne!(source_digest(b"one"), *blake3::hash(b"one").as_bytes(), "keyed");
}

#[test]
fn the_same_word_again_needs_the_same_classes() {
    let same = [entry("Bank", &["money"]), entry("bank", &["money", ""])];
    assert_eq!(Lexicon::new(same).unwrap().len(), 1);
    let error =
        Lexicon::new([entry("Bank", &["money", "a"]), entry("bank", &["river", "a"])]).unwrap_err();
    let (word, first, second) = ("bank".into(), "money".into(), "river".into());
    assert_eq!(error, Error::Conflict { word, level: 0, first, second });
    let error =
        Lexicon::new([entry("bank", &["money"]), entry("bank", &["money", "b"])]).unwrap_err();
    assert!(matches!(error, Error::Conflict { level: 1, .. }), "{error}");
}

#[test]
fn wrong_entries_are_refused_with_a_reason() {
    let refused = |word: &str, classes: &[&str]| Lexicon::new([entry(word, classes)]).unwrap_err();
    assert_eq!(
        refused("New York", &["city"]),
        Error::NotOneUnit { word: "New York".into(), units: 2 }
    );
    assert_eq!(refused("", &["city"]), Error::NotOneUnit { word: String::new(), units: 0 });
    assert!(matches!(refused(&"x".repeat(MAX_BYTES + 1), &["x"]), Error::LongWord { .. }));
    // Longer in lower case.
    assert!(matches!(refused(&"Ⱥ".repeat(MAX_BYTES / 2), &["x"]), Error::LongWord { .. }));
    let levels = vec!["x"; MAX_LEVELS + 1];
    assert!(matches!(refused("x", &levels), Error::Levels { levels: 5, .. }));
    let name = |name: &str| match refused("x", &["ok", name]) {
        Error::Name { problem, .. } => problem,
        error => panic!("{error}"),
    };
    assert_eq!(name("a\tb"), NameProblem::Control);
    assert_eq!(name("a\nb"), NameProblem::Control);
    assert_eq!(name(" a"), NameProblem::Blank);
    assert_eq!(name(&"a".repeat(MAX_BYTES + 1)), NameProblem::Long);
    let empty = Lexicon::new([("x".into(), vec![Some(String::new())])]).unwrap_err();
    assert!(matches!(empty, Error::Name { problem: NameProblem::Empty, .. }));
    assert_eq!(refused("x", &[]), Error::Empty);
    let many = (0..=MAX_CLASSES).map(|class| entry(&format!("w{class}"), &[&format!("c{class}")]));
    assert_eq!(
        Lexicon::new(many).unwrap_err(),
        Error::Classes { level: 0, classes: MAX_CLASSES + 1 }
    );
}

#[test]
fn bytes_that_are_not_canonical_are_refused_by_line() {
    let line = |text: &str| match Lexicon::from_bytes(text.as_bytes()).unwrap_err() {
        Error::Line { line, .. } => line,
        error => panic!("{error}: {text:?}"),
    };
    let head = "memo lexicon 1\n1 levels, 0 sources, 2 words\n";
    assert!(Lexicon::from_bytes(format!("{head}a\tx\nb\tx\n").as_bytes()).is_ok());
    for (rest, at) in [
        ("", 3),
        ("a\tx\n", 4),
        ("a\tx\nb\tx", 4),
        ("a\tx\nb\tx\nc\tx\n", 5),
        ("b\tx\na\tx\n", 4),
        ("a\tx\na\tx\n", 4),
        ("a\tx\nB\tx\n", 4),
        ("a\tx\n b\tx\n", 4),
        ("a\tx\nb c\tx\n", 4),
        ("a\tx\nb\t\n", 4),
        ("a\tx\nb\n", 4),
        ("a\tx\ty\nb\tx\n", 3),
        ("a\tx\nb\tx \n", 4),
        ("a\tx\r\nb\tx\n", 3),
    ] {
        assert_eq!(line(&format!("{head}{rest}")), at, "{rest:?}");
    }
    assert_eq!(line("memo lexicon one\n"), 1);
    assert_eq!(line("memo lexicon 1\n1 level, 0 sources, 2 words\n"), 2);
    assert_eq!(line("memo lexicon 1\n01 levels, 0 sources, 2 words\n"), 2);
    assert_eq!(line("memo lexicon 1\n1 levels, 0 sources, 99999999999 words\n"), 2);
    assert_eq!(line("memo lexicon 1\n2 levels, 0 sources, 1 words\na\tx\t\n"), 2);
    assert_eq!(line("memo lexicon 1\n1 levels, 1 sources, 1 words\nabc\na\tx\n"), 3);
    assert_eq!(line("memo lexicon 1\n1 levels, 99999999999 sources, 1 words\n"), 3);
    let mut latin = format!("{head}a\tx\n").into_bytes();
    latin.extend(b"caf\xe9\tx\n");
    assert!(matches!(Lexicon::from_bytes(&latin), Err(Error::Line { line: 4, .. })));
    assert_eq!(Lexicon::from_bytes(b"memo lexicon 2\n"), Err(Error::Version(2)));
    assert_eq!(Lexicon::from_bytes(b"a\tx\n"), Err(Error::NotCanonical));
    assert_eq!(
        Lexicon::from_bytes(b"memo lexicon 1\n0 levels, 0 sources, 0 words\n"),
        Err(Error::Empty)
    );
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let class = prop::option::of(prop::sample::select(vec!["a", "b", "ç", "a b", "#"]));
    let classes =
        prop::collection::vec(class.prop_map(|class| class.map(str::to_owned)), 1..=MAX_LEVELS);
    let word = prop_oneof!["[a-dÉé]{1,2}", "[-.,#]{1,2}", "夜"];
    prop::collection::vec((word, classes), 1..20)
}

proptest! {
    #[test]
    fn a_lexicon_is_a_function_of_its_contents(mut entries in entries(), seed in any::<u64>()) {
        let lexicon = Lexicon::new(entries.clone());
        let mut order = seed;
        entries.sort_by_key(|_| {
            order = order.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            order >> 33
        });
        let other = Lexicon::new(entries.clone());
        prop_assert_eq!(lexicon.is_ok(), other.is_ok());
        if let (Ok(lexicon), Ok(other)) = (lexicon, other) {
            prop_assert_eq!(lexicon.to_bytes(), other.to_bytes());
            let read = Lexicon::from_bytes(&lexicon.to_bytes()).unwrap();
            prop_assert_eq!(&read, &lexicon);
            prop_assert_eq!(read.to_bytes(), lexicon.to_bytes());
            // Every word is where its classes are, and nowhere else.
            for level in 0..lexicon.levels() {
                let members: usize = (0..lexicon.classes(level) as u32).map(|class| lexicon.members(level, class).len()).sum();
                let with_class = lexicon.entries().filter(|(_, classes)| classes[level].is_some()).count();
                prop_assert_eq!(members, with_class);
            }
            for (word, classes) in lexicon.entries() {
                let hash = unit_hash(word).unwrap();
                for (level, class) in classes.into_iter().enumerate() {
                    prop_assert_eq!(lexicon.class(level, hash), class);
                    if let Some(class) = class {
                        prop_assert!(lexicon.members(level, class).any(|member| member == word));
                    }
                }
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), at in any::<usize>()) {
        let mut lexicon = Lexicon::new(cars()).unwrap().to_bytes();
        let at = at % lexicon.len();
        let end = (at + bytes.len() / 8).min(lexicon.len());
        lexicon.splice(at..end, bytes.iter().take(8).copied());
        if let Ok(read) = Lexicon::from_bytes(&lexicon) {
            prop_assert_eq!(read.to_bytes(), lexicon);
        }
    }
}
