//! Lexicons from files: what each format gives, what is left out and why, and what hostile files do.

use memo::lexicon::{Lexicon, MAX_CLASSES};
use memo::words::unit_hash;
use memo_text::{
    LexiconError, LexiconErrorKind, LexiconOptions, LexiconReport, LexiconSkipReason, OnConflict,
    read_lexicon,
};
use std::fmt::Write as _;
use std::path::Path;

type Read = Result<(Lexicon, LexiconReport), LexiconError>;

fn read_with(name: &str, content: impl AsRef<[u8]>, options: &LexiconOptions) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    read_lexicon(&path, options)
}

fn read(name: &str, content: impl AsRef<[u8]>) -> Read {
    read_with(name, content, &LexiconOptions::default())
}

fn class<'l>(lexicon: &'l Lexicon, level: usize, word: &str) -> Option<&'l str> {
    Some(lexicon.name(level, lexicon.class(level, unit_hash(word)?)?))
}

fn skipped(report: &LexiconReport) -> Vec<(LexiconSkipReason, usize)> {
    report.skipped.iter().map(|skip| (skip.reason, skip.count)).collect()
}

#[test]
fn a_table_has_words_classes_and_levels() {
    let table = "word\tclass\n# Cars.\n\nVolvo\tcar\tvehicle\nFIAT\tcar\tvehicle\ntrain\t\tvehicle\n#\thash\nAlfa Romeo\tcar\n\tcar\nowl\t\n";
    let (lexicon, report) = read("cars.tsv", table).unwrap();
    assert_eq!((lexicon.len(), report.classes), (4, vec![2, 1]));
    assert_eq!(class(&lexicon, 0, "fiat"), Some("car"));
    assert_eq!((class(&lexicon, 0, "train"), class(&lexicon, 1, "Train")), (None, Some("vehicle")));
    assert_eq!(class(&lexicon, 0, "#"), Some("hash"));
    let (_, report) = read("cars", table.replace('\n', "\r\n")).unwrap();
    let left_out = [
        (LexiconSkipReason::NoWord, 1),
        (LexiconSkipReason::SeveralWords, 1),
        (LexiconSkipReason::NoClass, 1),
    ];
    assert_eq!(skipped(&report), left_out);
}

#[test]
fn csv_and_jsonl_and_the_canonical_form_say_the_same() {
    let (table, _) = read("a.tsv", "volvo\tcar\tvehicle\ntrain\t\tvehicle\n").unwrap();
    let csv = "\u{feff}# Cars.\n\"Volvo\",car, vehicle\ntrain,,\"vehicle\"\n";
    assert_eq!(read("a.csv", csv).unwrap().0, table);
    let jsonl = "{\"word\": \"Volvo\", \"classes\": [\"car\", \"vehicle\"]}\n\n{\"word\": \"train\", \"classes\": [null, \"vehicle\"]}\n";
    assert_eq!(read("a.jsonl", jsonl).unwrap().0, table);
    let one = "{\"word\": \"owl\", \"class\": \"bird\"}\n";
    assert_eq!(class(&read("a.ndjson", one).unwrap().0, 0, "owl"), Some("bird"));
    // Whatever its name is.
    let (lexicon, report) = read("a.ttl", table.to_bytes()).unwrap();
    assert_eq!((lexicon, report.words), (table, 2));
}

#[test]
fn a_word_with_two_classes_is_decided_by_a_rule() {
    let table = "bank\thouse\ttown\nBank\tseat\ttown\nriver\twater\n";
    let error = read("a.tsv", table).unwrap_err().to_string();
    assert!(
        error.contains("a.tsv:2: \"bank\" has several classes on level 0, \"house\" and \"seat\""),
        "{error}"
    );
    assert!(error.contains("--on-conflict"), "{error}");
    let with = |on_conflict| {
        let options =
            LexiconOptions { on_conflict: Some(on_conflict), ..LexiconOptions::default() };
        read_with("a.tsv", table, &options).unwrap()
    };
    let (first, report) = with(OnConflict::First);
    assert_eq!(class(&first, 0, "bank"), Some("house"));
    assert_eq!(skipped(&report), [(LexiconSkipReason::LaterClass, 1)]);
    let (dropped, report) = with(OnConflict::Drop);
    assert_eq!((class(&dropped, 0, "bank"), class(&dropped, 1, "bank")), (None, Some("town")));
    assert_eq!(skipped(&report), [(LexiconSkipReason::UncertainClass, 1)]);
}

const SKOS: &str = r#"
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:thing skos:prefLabel "thing"@en, "Ding"@de .
:vehicle a skos:Concept ; skos:broader :thing ; skos:prefLabel "vehicle"@en, "Fahrzeug"@de .
:car skos:broader :vehicle ; skos:prefLabel "car"@en-GB ; skos:altLabel "motor car"@en, "auto"@en .
:car skos:narrower :volvo .
:volvo skos:prefLabel "Volvo" .
:fiat skos:broader :car ; skos:altLabel "Fiat", "fiats"@en .
:plane skos:broader :vehicle, :fiat ; skos:prefLabel "plane"@en .
"#;

#[test]
fn a_thesaurus_gives_what_is_above_its_labels() {
    let options =
        LexiconOptions { language: Some("EN".to_owned()), levels: 2, ..LexiconOptions::default() };
    let (lexicon, report) = read_with("a.ttl", SKOS, &options).unwrap();
    assert_eq!(class(&lexicon, 0, "volvo"), Some("car"));
    assert_eq!(class(&lexicon, 1, "volvo"), Some("vehicle"));
    assert_eq!(
        (class(&lexicon, 0, "auto"), class(&lexicon, 1, "car")),
        (Some("vehicle"), Some("thing"))
    );
    assert_eq!(
        (class(&lexicon, 0, "plane"), class(&lexicon, 1, "fiat")),
        (Some("vehicle"), Some("vehicle"))
    );
    assert!(!lexicon.has(unit_hash("Fahrzeug").unwrap()));
    let left_out = [
        (LexiconSkipReason::SeveralWords, 1),
        (LexiconSkipReason::NoClass, 1),
        (LexiconSkipReason::OtherLanguage, 2),
        (LexiconSkipReason::LaterParent, 1),
    ];
    assert_eq!(skipped(&report), left_out);
    // German labels where there are any, the ends of IRIs elsewhere.
    let german = LexiconOptions { language: Some("de".to_owned()), ..LexiconOptions::default() };
    let (lexicon, _) = read_with("a.ttl", SKOS, &german).unwrap();
    assert_eq!(
        (class(&lexicon, 0, "Fahrzeug"), class(&lexicon, 0, "volvo")),
        (Some("Ding"), Some("car"))
    );
    let none = LexiconOptions { language: Some("fr".to_owned()), ..LexiconOptions::default() };
    let tagged = SKOS.replace("\"Volvo\"", "\"Volvo\"@sv").replace("\"Fiat\"", "\"Fiat\"@it");
    let error = read_with("a.ttl", tagged, &none).unwrap_err().to_string();
    assert!(
        error.contains("\"fr\"; there are: de (2), en (6), en-gb (1), it (1), sv (1)"),
        "{error}"
    );
}

#[test]
fn a_hierarchy_is_cut_at_depths() {
    let options = LexiconOptions { depths: vec![2, 1], ..LexiconOptions::default() };
    let (lexicon, _) = read_with("a.ttl", SKOS, &options).unwrap();
    for (word, classes) in [
        ("volvo", ["car", "vehicle"]),
        ("auto", ["car", "vehicle"]),
        ("plane", ["plane", "vehicle"]),
        ("vehicle", ["vehicle", "vehicle"]),
        ("Ding", ["thing", "thing"]),
    ] {
        assert_eq!([0, 1].map(|level| class(&lexicon, level, word)), classes.map(Some), "{word}");
    }
    let drop = LexiconOptions { on_conflict: Some(OnConflict::Drop), ..options.clone() };
    let (lexicon, report) = read_with("a.ttl", SKOS, &drop).unwrap();
    assert_eq!(class(&lexicon, 1, "plane"), Some("plane"));
    assert!(skipped(&report).contains(&(LexiconSkipReason::UncertainParent, 1)));
    let error = LexiconOptions { on_conflict: Some(OnConflict::Error), ..options };
    let error = read_with("a.ttl", SKOS, &error).unwrap_err().to_string();
    assert!(
        error.contains("\"plane\" is below several concepts, \"vehicle\" and \"fiat\""),
        "{error}"
    );
}

#[test]
fn an_ontology_gives_types_and_superclasses() {
    let owl = r#"
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        <#Car> a owl:Class ; rdfs:subClassOf <#Vehicle>, [ a owl:Restriction ] ; rdfs:label "car" .
        <#volvo> a owl:NamedIndividual, <#Car> ; rdfs:label "Volvo" .
        [] a <#Car> ; rdfs:label "Fiat" .
    "#;
    let (lexicon, report) = read("a.ttl", owl).unwrap();
    assert_eq!(
        (class(&lexicon, 0, "volvo"), class(&lexicon, 0, "fiat")),
        (Some("car"), Some("car"))
    );
    assert_eq!((class(&lexicon, 0, "car"), report.skipped.len()), (Some("Vehicle"), 0));
    let triples = "<http://a/volvo> <http://www.w3.org/2000/01/rdf-schema#label> \"Volvo\" .\n<http://a/volvo> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://a/Car> .\n";
    assert_eq!(class(&read("a.nt", triples).unwrap().0, 0, "volvo"), Some("Car"));
}

#[test]
fn concepts_with_one_name_stay_apart() {
    let skos = r#"
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <http://a/1> skos:prefLabel "bank" . <http://a/2> skos:prefLabel "bank" .
        <http://a/x> skos:prefLabel "teller" ; skos:broader <http://a/1> .
        <http://a/y> skos:prefLabel "reed" ; skos:broader <http://a/2> .
    "#;
    let (lexicon, _) = read("a.ttl", skos).unwrap();
    let classes = ["teller", "reed"].map(|word| class(&lexicon, 0, word));
    assert_eq!(classes, [Some("bank (1)"), Some("bank (2)")]);
}

#[test]
fn circles_are_cut_and_reported() {
    let skos = r#"
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <http://a/a> skos:prefLabel "a1" ; skos:broader <http://a/b> .
        <http://a/b> skos:prefLabel "b1" ; skos:broader <http://a/c> .
        <http://a/c> skos:prefLabel "c1" ; skos:broader <http://a/a> .
        <http://a/d> skos:prefLabel "d1" ; skos:broader <http://a/d> .
    "#;
    let options = LexiconOptions { depths: vec![1], ..LexiconOptions::default() };
    let (lexicon, report) = read_with("a.ttl", skos, &options).unwrap();
    assert_eq!(skipped(&report), [(LexiconSkipReason::Circle, 2)]);
    assert_eq!(report.skipped[0].examples, ["a1", "d1"]);
    let classes = ["a1", "b1", "c1", "d1"].map(|word| class(&lexicon, 0, word).unwrap().to_owned());
    assert_eq!(classes, ["a1", "c1", "c1", "d1"]);
}

#[test]
fn hostile_files_get_an_error_that_says_what_to_do() {
    let error = |name: &str, content: &[u8]| read(name, content).unwrap_err().to_string();
    let says = |error: String, what: &str| assert!(error.contains(what), "{error}");
    says(error("a.tsv", b"\xff\xfev\0o\0"), "UTF-16; convert it to UTF-8");
    says(error("a.tsv", b"volvo\tcar\nfi\xe4t\tcar\n"), "a.tsv:2: this line is not UTF-8");
    says(error("a.tsv", b"volvo\0\tcar\n"), "binary");
    says(error("a.tsv.gz", b"\x1f\x8b\x08abc"), "unpack it");
    says(error("a.tsv", b"volvo car\n"), "a.tsv:1: there is no tab after \"volvo car\"");
    says(error("a.csv", b"volvo;car\n"), "no comma");
    says(error("a.tsv", b""), "no word has a class");
    says(
        error("a.tsv", b"New York\tcity\n"),
        "no word of it can have a class; left out are entries of several words: 1",
    );
    says(
        error("a.tsv", format!("{}\tcar\n", "x".repeat(70_000)).as_bytes()),
        "more than 65536 bytes",
    );
    says(error("a.tsv", b"a\tb\tc\td\te\tf\n"), "5 levels");
    says(error("a.jsonl", b"{\"word\": \"a\"\n"), "a.jsonl:1: not an entry");
    says(error("a.jsonl", b"{\"word\": \"a\", \"class\": \"b\", \"classes\": []}\n"), "both");
    says(error("a.ttl", b"@prefix : <http://a/> .\n:a :b"), "a.ttl:2: not Turtle");
    says(error("a.nt", b"<http://a/> <b> .\n"), "a.nt:1: not N-Triples");
    says(error("a.owl", b"<?xml version=\"1.0\"?><rdf:RDF/>"), "convert it to Turtle");
    says(error("a.tsv", b"memo lexicon 1\nvolvo\tcar\n"), "line 2");
    let missing = read_lexicon("no/such.tsv", &LexiconOptions::default()).unwrap_err();
    says(missing.to_string(), "no/such.tsv: cannot read");
    let small = LexiconOptions { max_bytes: 4, ..LexiconOptions::default() };
    says(
        read_with("a.tsv", "volvo\tcar\n", &small).unwrap_err().to_string(),
        "the limit of 4 bytes",
    );
    let levels = LexiconOptions { depths: vec![1; 9], ..LexiconOptions::default() };
    says(read_with("a.ttl", SKOS, &levels).unwrap_err().to_string(), "9 levels");
}

#[test]
fn too_many_classes_are_refused_and_bad_names_reported() {
    let mut table = String::new();
    (0..=MAX_CLASSES).for_each(|at| writeln!(table, "w{at}\tc{at}").unwrap());
    let error = read("a.tsv", &table).unwrap_err();
    assert!(
        matches!(*error.kind, LexiconErrorKind::Lexicon(memo::lexicon::Error::Classes { .. })),
        "{error}"
    );
    let long = "x".repeat(300);
    let (lexicon, report) =
        read("a.tsv", format!("a\t{long}\n{long}\tb\nc\td\u{1}\ne\tf\n")).unwrap();
    assert_eq!(lexicon.len(), 1);
    assert_eq!(
        skipped(&report),
        [(LexiconSkipReason::LongWord, 1), (LexiconSkipReason::ClassName, 2)]
    );
}

#[test]
fn a_hierarchy_as_deep_as_the_file_is_long_is_read() {
    let mut triples = String::new();
    for at in 0..30_000 {
        let above = at + 1;
        writeln!(
            triples,
            "<http://a/{at}> <http://www.w3.org/2004/02/skos/core#broader> <http://a/{above}> ."
        )
        .unwrap();
    }
    writeln!(triples, "<http://a/0> <http://www.w3.org/2004/02/skos/core#prefLabel> \"deep\" .")
        .unwrap();
    let options = LexiconOptions { depths: vec![3], ..LexiconOptions::default() };
    let (lexicon, _) = read_with("a.nt", triples, &options).unwrap();
    assert_eq!(class(&lexicon, 0, "deep"), Some("29997"));
    let nested = format!(
        "<http://a/x> <http://a/p> {}1{} .",
        "[ <http://a/p> ".repeat(5_000),
        " ]".repeat(5_000)
    );
    assert!(read("a.ttl", nested).is_err(), "there is no word in it");
}

/// A WordNet of a few synsets, in its format. Offsets need not be true: they are only names.
fn little_wordnet(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "data.noun",
        "  1 A licence.\n\
         00000001 03 n 01 entity 0 001 ~ 00000002 n 0000 | all\n\
         00000002 06 n 02 vehicle 0 conveyance 0 001 @ 00000001 n 0000 | rides\n\
         00000003 06 n 01 car 0 001 @ 00000002 n 0000 | drives\n\
         00000004 06 n 01 Volvo 0 002 @i 00000003 n 0000 ! 00000001 n 0101 | one\n\
         00000005 05 n 01 mouse 0 001 @ 00000001 n 0000 | small\n\
         00000006 06 n 01 park 0 001 @ 00000001 n 0000 | green\n",
    );
    write(
        "index.noun",
        "  1 A licence.\n\
         car n 1 1 @ 1 0 00000003  \nconveyance n 1 1 @ 1 0 00000002  \nentity n 1 0 1 0 00000001  \n\
         mouse n 2 1 @ 2 0 00000005 00000003  \npark n 1 1 @ 1 0 00000006  \nvehicle n 1 1 @ 1 0 00000002  \nvolvo n 1 1 @ 1 0 00000004  \nwater_car n 1 1 @ 1 0 00000003  \n",
    );
    // Two verbs in a circle, as the real one has them.
    write(
        "data.verb",
        "00000010 38 v 01 drive 0 001 @ 00000011 v 0000 01 + 01 00 | goes\n00000011 38 v 01 park 0 001 @ 00000010 v 0000 01 + 01 00 | stands\n",
    );
    write("index.verb", "drive v 1 1 @ 1 0 00000010  \npark v 1 1 @ 1 0 00000011  \n");
    write(
        "data.adj",
        "00000020 00 a 01 big 0 001 & 00000021 a 0000 | large\n00000021 00 s 01 huge(p) 0 001 & 00000020 a 0000 | larger\n",
    );
    write("index.adj", "big a 1 1 & 1 0 00000020  \nhuge a 1 1 & 1 0 00000021  \n");
    write("data.adv", "00000030 02 r 01 hugely 0 001 \\ 00000021 a 0101 | very\n");
    write("index.adv", "hugely r 1 1 \\ 1 0 00000030  \n");
    write("noun.exc", "mice mouse\n");
    write("verb.exc", "driven drive\ndrove drive\n");
    write("cntlist.rev", "park%1:15:00:: 1 3\npark%2:38:00:: 1 9\n");
}

#[test]
fn wordnet_is_read_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    little_wordnet(folder.path());
    let read = |options: &LexiconOptions| read_lexicon(folder.path(), options).unwrap();
    let options = LexiconOptions { depths: vec![2, 1], ..LexiconOptions::default() };
    let (lexicon, report) = read(&options);
    let classes = |lexicon: &Lexicon, word: &str| {
        [0, 1].map(|level| class(lexicon, level, word).unwrap_or_default().to_owned())
    };
    assert_eq!(classes(&lexicon, "Volvo"), ["car.n.1", "vehicle.n.1"]);
    assert_eq!(classes(&lexicon, "conveyance"), ["vehicle.n.1", "vehicle.n.1"]);
    assert_eq!(classes(&lexicon, "hugely"), ["hugely.r.1", "huge.a.1"]);
    // A verb, by its count; and the circle is cut at the first.
    assert_eq!(classes(&lexicon, "park"), ["park.v.1", "park.v.1"]);
    assert_eq!(
        skipped(&report),
        [(LexiconSkipReason::SeveralWords, 1), (LexiconSkipReason::Circle, 1)]
    );
    let certain =
        LexiconOptions { all_senses: true, on_conflict: Some(OnConflict::Drop), ..options.clone() };
    let (lexicon, _) = read(&certain);
    assert_eq!(classes(&lexicon, "park"), ["", ""]);
    assert_eq!(classes(&lexicon, "car"), ["car.n.1", "vehicle.n.1"]);
    let (lexicon, report) = read(&LexiconOptions { inflect: true, ..options });
    for (form, word) in [
        ("cars", "car"),
        ("mice", "mouse"),
        ("drove", "drive"),
        ("driving", "drive"),
        ("bigger", "big"),
        ("parked", "park"),
    ] {
        assert_eq!(classes(&lexicon, form), classes(&lexicon, word), "{form}");
    }
    for none in ["mouses", "drived", "hugelys"] {
        assert!(!lexicon.has(unit_hash(none).unwrap()), "{none}");
    }
    assert!(report.inflected > 10, "{}", report.inflected);
}

#[test]
fn damaged_wordnets_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = || read_lexicon(folder.path(), &LexiconOptions::default()).unwrap_err().to_string();
    assert!(error().contains("there is no data.noun"), "{}", error());
    little_wordnet(folder.path());
    std::fs::write(folder.path().join("data.adv"), "00000030 02 r 01 hugely 0 009 \\ 00000021\n")
        .unwrap();
    assert!(error().contains("data.adv:1: not WordNet"), "{}", error());
    std::fs::write(
        folder.path().join("data.adv"),
        "00000030 02 r 01 hugely 0 001 \\ 00000099 a 0101 | very\n",
    )
    .unwrap();
    assert!(
        error().contains("data.adv:1: not WordNet: synset 99 of data.adj is not there"),
        "{}",
        error()
    );
    std::fs::write(folder.path().join("data.adv"), "00000030 02 r ffffffffffffffff hugely 0 001\n")
        .unwrap();
    assert!(error().contains("data.adv:1"), "{}", error());
}

#[test]
fn words_of_a_table_are_inflected_if_asked_for() {
    let options = LexiconOptions { inflect: true, ..LexiconOptions::default() };
    let (lexicon, report) =
        read_with("a.tsv", "city\tplace\ncities\tmany\nbus\tvehicle\n", &options).unwrap();
    // What the table says itself counts.
    assert_eq!(class(&lexicon, 0, "cities"), Some("many"));
    assert_eq!((class(&lexicon, 0, "buses"), report.inflected), (Some("vehicle"), 1));
}
