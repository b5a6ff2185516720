//! Reading a corpus: what becomes a document under which id, what is skipped, what is refused, and in what words.

use memo_text::{
    Content, Corpus, CorpusDocument, CorpusEntry, CorpusError, CorpusErrorKind, CorpusLines,
    CorpusOptions, Encoding, SkipReason, Tokenizer, TokenizerSpec,
};
use proptest::prelude::*;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

type Entry = Result<CorpusEntry, CorpusError>;

fn options() -> CorpusOptions {
    CorpusOptions::default()
}

fn jsonl() -> CorpusOptions {
    CorpusOptions { jsonl: true, ..options() }
}

fn raw() -> CorpusOptions {
    CorpusOptions { encoding: Encoding::Raw, ..options() }
}

fn read_bytes(bytes: &[u8], options: CorpusOptions) -> Vec<Entry> {
    Corpus::from_read(io::Cursor::new(bytes.to_vec()), "in", options).collect()
}

fn one(bytes: &[u8], options: CorpusOptions) -> Entry {
    let mut entries = read_bytes(bytes, options);
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

fn document(entry: Entry) -> CorpusDocument {
    match entry {
        Ok(CorpusEntry::Document(document)) => document,
        other => panic!("not a document: {other:?}"),
    }
}

fn text(entry: Entry) -> String {
    document(entry).content.as_text().unwrap().to_owned()
}

/// A folder with these files; the content of each is its path.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    folder
}

/// Each entry in a few words, with paths inside `home` made relative.
fn outline_of(home: &Path, paths: &[&str], options: CorpusOptions) -> Vec<String> {
    let relative = |text: String| text.replace(&format!("{}/", home.display()), "");
    Corpus::open(paths.iter().map(|path| home.join(path)), options)
        .unwrap()
        .map(|entry| match entry {
            Ok(CorpusEntry::Document(document)) => document.id,
            Ok(CorpusEntry::Skipped(skip)) => relative(skip.to_string()),
            Err(error) => relative(format!("error: {error}")),
        })
        .collect()
}

fn outline(root: &Path, options: CorpusOptions) -> Vec<String> {
    outline_of(root, &[""], options)
}

/// The ids of all documents that paths below `home` give.
fn ids(home: &Path, paths: &[&str]) -> Result<Vec<String>, CorpusError> {
    let paths = paths.iter().map(|path| home.join(path));
    let documents = Corpus::open(paths, options())?.documents()?;
    Ok(documents.into_iter().map(|document| document.id).collect())
}

#[test]
fn a_file_is_one_document_named_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("note.txt");
    fs::write(&path, "one\r\ntwo\n").unwrap();
    let mut corpus = Corpus::open([&path], options()).unwrap();
    let found = document(corpus.next().unwrap());
    assert_eq!(found.id, "note.txt");
    assert_eq!(found.content, Content::Text("one\r\ntwo\n".to_owned()));
    assert_eq!((&found.location.path, found.location.line), (&path, None));
    assert_eq!(found.source, Some(path.canonicalize().unwrap().display().to_string()));
    assert!(found.labels.is_empty());
    assert!(corpus.next().is_none());
}

#[test]
fn a_folder_is_read_in_the_order_of_paths() {
    let folder = folder(&["b.txt", "a/z.txt", "a/b/c.txt", "a-b.txt", "a.txt", "A.txt", "é.txt"]);
    let root = folder.path();
    fs::create_dir(root.join("nothing")).unwrap();
    let ids = outline(root, options());
    assert_eq!(ids, ["A.txt", "a-b.txt", "a.txt", "a/b/c.txt", "a/z.txt", "b.txt", "é.txt"]);
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(ids, sorted);
}

#[test]
fn a_folder_reports_what_it_skips_and_goes_on_after_failures() {
    let folder = folder(&[".hidden", ".git/config", "z.txt"]);
    let root = folder.path();
    fs::write(root.join("bad.txt"), b"ab\xffcd").unwrap();
    fs::write(root.join("empty.txt"), "").unwrap();
    fs::write(root.join("hollow.jsonl"), "\n\n").unwrap();
    fs::write(root.join("image.png"), b"\x89PNG\x00").unwrap();
    fs::write(root.join("lines.jsonl"), "{\"text\":\"x\"}\n{}\n{\"text\":\"y\"}\n").unwrap();
    let bad = "bad.txt: the byte at offset 2 is not valid UTF-8; convert the file to UTF-8, \
               for example with: iconv -f LATIN1 -t UTF-8, or use the tokenizer bytes";
    let line = "lines.jsonl:2: there is no field \"text\"; the object is empty";
    assert_eq!(
        outline(root, options()),
        [
            ".git: it is hidden",
            ".hidden: it is hidden",
            bad,
            "empty.txt: it is empty",
            "hollow.jsonl: it is empty",
            "image.png: it is binary",
            "lines.jsonl#1",
            line,
            "lines.jsonl#3",
            "z.txt",
        ]
    );
    let corpus = Corpus::open([root], options()).unwrap();
    let failures = corpus.filter(
        |entry| matches!(entry, Ok(CorpusEntry::Skipped(skip)) if skip.reason.is_failure()),
    );
    assert_eq!(failures.count(), 2);

    // All or nothing: what should have been read and cannot be is an error, what a rule leaves out is not.
    let strict = CorpusOptions { strict: true, ..options() };
    let errors: Vec<_> =
        outline(root, strict).into_iter().filter(|entry| entry.starts_with("error")).collect();
    assert_eq!(errors, [format!("error: {bad}"), format!("error: {line}")]);
}

#[test]
fn ignore_files_say_what_is_not_meant() {
    let home = folder(&[
        ".git/HEAD",
        "a/.ignore",
        "a/b/keep.log",
        "a/b/c.log",
        "a/d.txt",
        "a/e.tmp",
        "build/x.txt",
        "f.log",
        "g.txt",
    ]);
    let home = home.path();
    fs::write(home.join(".gitignore"), "*.log\n/build/\n*.tmp\n").unwrap();
    fs::write(home.join("a/.gitignore"), "d.txt\n[broken\n").unwrap();
    fs::write(home.join("a/.ignore"), "!d.txt\n!keep.log\n").unwrap();
    let hidden = |ids: Vec<String>| -> Vec<String> {
        ids.into_iter().filter(|id| !id.ends_with("hidden")).collect()
    };
    assert_eq!(
        hidden(outline(home, options())),
        [
            "a/b/c.log: it is ignored",
            "a/b/keep.log",
            "a/d.txt",
            "a/e.tmp: it is ignored",
            "build: it is ignored",
            "f.log: it is ignored",
            "g.txt",
        ]
    );
    let all = hidden(outline(home, CorpusOptions { ignore: false, ..options() }));
    assert_eq!(
        all,
        ["a/b/c.log", "a/b/keep.log", "a/d.txt", "a/e.tmp", "build/x.txt", "f.log", "g.txt"]
    );
    // Rules of the repository hold below it, and for globs; what is pointed at is read.
    assert_eq!(ids(home, &["a/b"]).unwrap(), ["keep.log"]);
    assert_eq!(ids(home, &["**/*.log"]).unwrap(), ["a/b/keep.log"]);
    assert_eq!(ids(home, &["build"]).unwrap(), ["x.txt"]);
    assert_eq!(ids(home, &["f.log"]).unwrap(), ["f.log"]);
    // What lies above a folder that is in no repository says nothing about it.
    fs::remove_dir_all(home.join(".git")).unwrap();
    assert_eq!(ids(home, &["a/b"]).unwrap(), ["c.log", "keep.log"]);
}

#[test]
fn a_caller_chooses_among_what_is_found() {
    let home = folder(&[".e.md", "a.md", "a.txt", "docs/b.md", "docs/old/c.txt", "old/d.md"]);
    let home = home.path();
    let chosen = |include: &[&str], exclude: &[&str], paths: &[&str]| {
        let own = |globs: &[&str]| globs.iter().map(|&p| p.to_owned()).collect();
        let (include, exclude) = (own(include), own(exclude));
        outline_of(home, paths, CorpusOptions { include, exclude, ..options() })
    };
    let hidden = ".e.md: it is hidden";
    assert_eq!(chosen(&["*.md"], &[], &[""]), [hidden, "a.md", "docs/b.md", "old/d.md"]);
    assert_eq!(chosen(&["*.md"], &["old/"], &[""]), [hidden, "a.md", "docs/b.md"]);
    assert_eq!(
        chosen(&["docs/", "a.txt"], &[], &[""]),
        [hidden, "a.txt", "docs/b.md", "docs/old/c.txt"]
    );
    assert_eq!(chosen(&[], &["/old", "*.txt"], &["**/*"]), ["a.md", "docs/b.md"]);
    // What is pointed at was chosen already.
    assert_eq!(chosen(&["*.md"], &["a.*"], &["a.txt"]), ["a.txt"]);
    let wrong = CorpusOptions { include: vec!["{a".to_owned()], ..options() };
    let error = Corpus::open([home], wrong).unwrap_err().to_string();
    assert!(error.starts_with("{a: not a glob: "), "{error}");
}

#[test]
fn models_are_not_texts() {
    let home = folder(&["hollow/model.toml", "hollow/ledger.redb", "crate/model.toml", "a.txt"]);
    let home = home.path();
    fs::create_dir(home.join("frozen.memo")).unwrap();
    fs::write(home.join("frozen.memo/model.toml"), "check = \"0\"\nformat = 1\n").unwrap();
    fs::write(home.join("frozen.memo/memory.0"), "cells").unwrap();
    assert_eq!(
        outline(home, options()),
        ["a.txt", "crate/model.toml", "frozen.memo: it is a model", "hollow: it is a model"]
    );
    for given in ["hollow", "frozen.memo", "frozen.memo/*"] {
        let error = Corpus::open([home.join(given)], options()).unwrap_err();
        assert!(matches!(error.kind, CorpusErrorKind::Model), "{error}");
        assert!(error.to_string().contains("memo merge"), "{error}");
    }
}

/// A folder of folders with notes, and things that are no notes.
fn notes() -> tempfile::TempDir {
    let home = folder(&[
        "n/a.md",
        "n/b.txt",
        "n/x/a.md",
        "n/x/y/c.md",
        "n/.hidden/d.md",
        "n/.e.md",
        "n/f[1].md",
    ]);
    fs::write(home.path().join("n/z.md"), b"\0\x01").unwrap();
    home
}

#[test]
fn globs_find_files_and_name_them_as_their_folder_would() {
    let home = notes();
    let ids = |globs: &[&str]| ids(home.path(), globs).unwrap();
    assert_eq!(ids(&["n/*.md"]), ["a.md", "f[1].md"]);
    assert_eq!(ids(&["n/**/*.md"]), ["a.md", "f[1].md", "x/a.md", "x/y/c.md"]);
    assert_eq!(ids(&["n/x/**/[a-c].md"]), ["a.md", "y/c.md"]);
    assert_eq!(ids(&["n/.hidden/?.md"]), ["d.md"]);
    assert_eq!(ids(&["n/.e*"]), [".e.md"]);
    assert_eq!(ids(&["n/**/*"]), ids(&["n"]));
    assert_eq!(ids(&["./n/../n/**/*"]), ids(&["n"]));
    // A file of that very name wins, and a file that is reached twice is read once.
    assert_eq!(ids(&["n/f[1].md"]), ["f[1].md"]);
    assert_eq!(ids(&["n", "n/a.md", "n/*.txt", "n/x"]), ids(&["n"]));
    assert_eq!(
        outline_of(home.path(), &["n/*.md"], options()),
        ["a.md", "f[1].md", "n/z.md: it is binary"]
    );
}

#[test]
fn what_finds_nothing_is_refused() {
    let home = notes();
    for (wrong, why) in [
        ("n/*.rst", "no file matches"),
        ("no/such/*.md", "no file matches"),
        ("n/a.md/*", "no file matches"),
        ("n/***.md", "not a glob: ** stands for folders"),
        ("n/[a.md", "not a glob: unclosed character class"),
    ] {
        let error = ids(home.path(), &[wrong]).unwrap_err().to_string();
        assert!(error.starts_with(&home.path().join(wrong).display().to_string()), "{error}");
        assert!(error.contains(why), "{wrong}: {error}");
    }
}

#[test]
fn two_documents_of_one_id_are_refused_unless_they_are_equal() {
    let home = notes();
    let home = home.path();
    let error = ids(home, &["n/a.md", "n/x/a.md"]).unwrap_err().to_string();
    let (first, second) = (home.join("n/a.md"), home.join("n/x/a.md"));
    let expected = format!(
        "{}: {} is the document \"a.md\" already, with other content; ",
        second.display(),
        first.display()
    );
    assert!(error.starts_with(&expected), "{error}");
    fs::copy(&first, &second).unwrap();
    assert_eq!(ids(home, &["n/a.md", "n/x/a.md"]).unwrap(), ["a.md"]);

    let line = "{\"id\": \"k\", \"text\": \"one\"}\n";
    let twice = read_bytes(line.repeat(2).as_bytes(), jsonl());
    assert_eq!(twice.into_iter().map(text).collect::<Vec<_>>(), ["one"]);
    let other = format!("{line}{}", line.replace("one", "two"));
    let error = read_bytes(other.as_bytes(), jsonl()).remove(1).unwrap_err();
    assert!(error.to_string().starts_with("in:2: in:1 is the document \"k\""), "{error}");
}

#[test]
fn a_prefix_and_a_source_tell_where_a_document_is_from() {
    let home = folder(&["n/x/a.md"]);
    fs::write(home.path().join("n/b.jsonl"), "{\"text\":\"x\"}\n{\"id\":7,\"text\":\"y\"}")
        .unwrap();
    let prefixed = CorpusOptions { prefix: "mine/".to_owned(), ..options() };
    let documents = Corpus::open([home.path().join("n")], prefixed).unwrap().documents().unwrap();
    let found: Vec<(&str, &str)> = documents
        .iter()
        .map(|document| (document.id.as_str(), document.source.as_deref().unwrap()))
        .collect();
    let at = |inside: &str| format!("{}/n/{inside}", home.path().canonicalize().unwrap().display());
    assert_eq!(
        found,
        [
            ("mine/b.jsonl#1", at("b.jsonl#1").as_str()),
            ("mine/7", at("b.jsonl#7").as_str()),
            ("mine/x/a.md", at("x/a.md").as_str()),
        ]
    );
    assert_eq!(document(one(b"x", options())).source, None);
}

#[test]
fn files_are_listed_and_read_in_parts() {
    let home = folder(&["n/.h", "n/a.txt"]);
    let path = home.path().join("n/lines.jsonl");
    let lines =
        "\u{feff}{\"text\":\"one\"}\n\n{\"text\":\"two\"}\n{\"id\":\"k\",\"text\":\"three\"}\n{}";
    fs::write(&path, lines).unwrap();
    let (files, skipped) = Corpus::files([home.path().join("n")], &options()).unwrap();
    let named: Vec<_> = files.iter().map(|file| (file.id.as_str(), file.found)).collect();
    assert_eq!(named, [("a.txt", true), ("lines.jsonl", true)]);
    assert!(matches!(&skipped[..], [skip] if matches!(skip.reason, SkipReason::Hidden)));

    let whole = outline_of(home.path(), &["n/lines.jsonl"], options());
    assert_eq!(whole[..3], ["lines.jsonl#1", "lines.jsonl#3", "k"]);
    let cut = lines.find("{\"id\"").unwrap() as u64;
    let parts = [
        CorpusLines { start: 0, end: cut, first: 1 },
        CorpusLines { start: cut, end: lines.len() as u64, first: 4 },
    ];
    let parts = parts.map(|lines| {
        let mut file = files[1].clone();
        (file.found, file.lines) = (false, Some(lines));
        file
    });
    let entries: Vec<Entry> = Corpus::from_files(parts.to_vec(), options()).collect();
    let ids: Vec<String> = entries
        .into_iter()
        .map(|entry| match entry {
            Ok(CorpusEntry::Document(document)) => document.id,
            Ok(CorpusEntry::Skipped(skip)) => skip.to_string(),
            Err(error) => {
                format!("error: {error}").replace(&format!("{}/", home.path().display()), "")
            }
        })
        .collect();
    assert_eq!(ids, whole);
    assert!(ids[3].starts_with("error: n/lines.jsonl:5: there is no field"), "{}", ids[3]);
}

#[test]
fn a_tokenizer_says_how_bytes_are_read() {
    assert_eq!(Tokenizer::bytes().encoding(), Encoding::Raw);
    for tokenizer in [Tokenizer::gpt2(), Tokenizer::words(["a b"]).unwrap()] {
        assert_eq!(tokenizer.encoding(), Encoding::Utf8);
    }
    assert_eq!(TokenizerSpec::Bytes.encoding(), Encoding::Raw);
    assert_eq!(TokenizerSpec::Words.encoding(), Encoding::Utf8);
}

#[cfg(unix)]
#[test]
fn a_walk_stays_in_its_folder_and_ends() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("corpus");
    fs::create_dir_all(root.join("deep/er")).unwrap();
    fs::write(folder.path().join("secret.txt"), "x").unwrap();
    fs::write(root.join("deep/er/a.txt"), "x").unwrap();
    symlink(&root, root.join("deep/loop")).unwrap();
    symlink(folder.path().join("secret.txt"), root.join("link.txt")).unwrap();
    symlink("nowhere", root.join("broken.txt")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let expected = [
        "broken.txt: it is a symbolic link",
        "deep/er/a.txt",
        "deep/loop: it is a symbolic link",
        "link.txt: it is a symbolic link",
        "socket: it is neither a file nor a folder",
    ];
    assert_eq!(outline(&root, options()), expected);
    // What the user names is followed.
    symlink(&root, folder.path().join("also")).unwrap();
    assert_eq!(outline(&folder.path().join("also"), options()).len(), expected.len());
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_cannot_be_an_id_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"bad\xff.txt"));
    fs::write(&path, "x").unwrap();
    let error = Corpus::open([&path], options()).unwrap_err();
    assert!(matches!(error.kind, CorpusErrorKind::Name));
    let entries: Vec<_> = Corpus::open([folder.path()], options()).unwrap().collect();
    assert!(matches!(&entries[..], [Ok(CorpusEntry::Skipped(skip))]
        if matches!(skip.reason, SkipReason::Failure(CorpusErrorKind::Name))));
}

#[test]
fn what_is_not_there_is_named() {
    let error = Corpus::open(["no/such/place"], options()).unwrap_err().to_string();
    assert!(error.starts_with("no/such/place: cannot read: "), "{error}");
}

#[test]
fn marks_and_other_encodings() {
    assert_eq!(text(one(b"\xef\xbb\xbfowl", options())), "owl");
    assert!(matches!(one(b"\xef\xbb\xbf", options()), Ok(CorpusEntry::Skipped(_))));
    let lines = read_bytes(b"\xef\xbb\xbf{\"text\":\"owl\"}", jsonl());
    assert_eq!(lines.into_iter().map(text).collect::<Vec<_>>(), ["owl"]);
    for (bytes, name) in [
        (&b"\xff\xfeo\x00w\x00"[..], "UTF-16"),
        (b"\xfe\xff\x00o", "UTF-16"),
        (b"\xff\xfe\x00\x00o\x00\x00\x00", "UTF-32"),
        (b"\x00\x00\xfe\xff", "UTF-32"),
    ] {
        for options in [options(), jsonl()] {
            let error = one(bytes, options).unwrap_err().to_string();
            assert!(error.contains(&format!("iconv -f {name}")), "{error}");
        }
    }
}

#[test]
fn binary_is_refused_by_name_and_read_raw() {
    let bytes = b"\x7fELF\x00\xff";
    for options in [options(), jsonl()] {
        let error = one(bytes, options).unwrap_err();
        assert!(matches!(error.kind, CorpusErrorKind::Binary));
        assert!(error.to_string().contains("tokenizer bytes"), "{error}");
    }
    assert_eq!(document(one(bytes, raw())).content, Content::Raw(bytes.to_vec()));
    let marked = b"\xef\xbb\xbfx";
    assert_eq!(document(one(marked, raw())).content.as_bytes(), marked);
    // Only the head is looked at: a NUL far inside is a character like any other.
    let late = [&vec![b'a'; 9000][..], b"\x00"].concat();
    assert_eq!(text(one(&late, options())).len(), 9001);
}

/// The name of a file says how its text is found, unless bytes are taken as they are.
#[test]
fn pages_are_read_without_markup_and_what_cannot_be_read_says_so() {
    let read = |name: &str, bytes: &[u8], options: CorpusOptions| {
        let read = std::io::Cursor::new(bytes.to_vec());
        Corpus::from_read(read, name, options).documents().map(|mut all| all.remove(0).content)
    };
    let page = b"<h1>Owls</h1><script>no()</script><p>They <b>read</b>.";
    let plain = Content::Text("Owls\n\nThey read.\n".into());
    assert_eq!(read("a.html", page, options()).unwrap(), plain);
    assert_eq!(read("A.HTM", page, options()).unwrap(), plain);
    assert_eq!(read("a.html", page, raw()).unwrap(), Content::Raw(page.to_vec()));
    let source = Content::Text(String::from_utf8(page.to_vec()).unwrap());
    assert_eq!(read("a.txt", page, options()).unwrap(), source);
    let pdf = read("a.pdf", b"%PDF-1.7\n%\xe2\xe3", options()).unwrap_err();
    assert!(matches!(pdf.kind, CorpusErrorKind::Pdf));
    assert!(pdf.to_string().contains("pdftotext"), "{pdf}");
    let word = read("a.docx", b"PK\x03\x04 no archive", options()).unwrap_err();
    assert!(matches!(word.kind, CorpusErrorKind::Word { .. }), "{word}");
}

#[test]
fn invalid_utf8_is_found_at_its_byte() {
    let at = |bytes: &[u8], options| match one(bytes, options).unwrap_err() {
        CorpusError { location, kind: CorpusErrorKind::InvalidUtf8 { offset } } => {
            (location.line, offset)
        }
        other => panic!("{other}"),
    };
    assert_eq!(at(b"\xef\xbb\xbfab\xff", options()), (None, 5));
    assert_eq!(at(b"ab\xe2\x82", options()), (None, 2));
    assert_eq!(at(&[&vec![b'a'; 20_000][..], b"\xff"].concat(), options()), (None, 20_000));
    let lines = b"\xef\xbb\xbf{\"text\":\"a\"}\n\n{\"text\":\"\xff\"}\n";
    let error = read_bytes(lines, jsonl()).remove(1).unwrap_err();
    assert!(error.to_string().starts_with("in:3: the byte at offset 26 "), "{error}");
}

#[test]
fn limits_hold_even_for_endless_input() {
    let limited = |max_bytes| CorpusOptions { max_bytes, ..options() };
    let too_large = |entry: &Entry| {
        matches!(entry, Err(CorpusError { kind: CorpusErrorKind::TooLarge { max: 100_000 }, .. }))
    };
    assert_eq!(text(one(b"12345", limited(5))), "12345");
    for encoding in [Encoding::Utf8, Encoding::Raw] {
        let endless = CorpusOptions { encoding, ..limited(100_000) };
        let endless = Corpus::from_read(io::repeat(b'a'), "endless", endless);
        let entries: Vec<_> = endless.collect();
        assert!(matches!(&entries[..], [entry] if too_large(entry)));
    }
    let endless = Corpus::from_read(io::repeat(b'a'), "endless.jsonl", limited(100_000)).next();
    assert!(too_large(&endless.unwrap()));
    let line = "{\"text\":\"12\"}";
    let lines = format!("{line}\n{{\"text\":\"123\"}}\n{line}");
    let options = CorpusOptions { jsonl: true, ..limited(line.len() as u64) };
    let entries = read_bytes(lines.as_bytes(), options);
    assert!(matches!(
        &entries[..],
        [Ok(_), Err(error), Ok(CorpusEntry::Document(last))]
            if error.location.line == Some(2) && last.location.line == Some(3)
    ));
    let options = CorpusOptions { jsonl: true, ..limited(4) };
    let error = read_bytes(b"too long\n\n  \xff\n", options).remove(1).unwrap_err();
    assert!(error.to_string().starts_with("in:3: the byte at offset 12 "), "{error}");
}

#[test]
fn fields_of_lines() {
    let options = CorpusOptions {
        text_field: "body".into(),
        id_field: Some("key".into()),
        label_fields: vec!["kind".into(), "year".into()],
        ..jsonl()
    };
    let lines = r#"
        {"body": "one", "key": "k1", "kind": "x", "year": 1984, "other": {"deep": [1]}}

        {"body": "two\n\u00e9", "key": 2, "kind": true}
        {"body": "three", "key": 3, "kind": null}"#;
    let found: Vec<_> =
        read_bytes(lines.as_bytes(), options.clone()).into_iter().map(document).collect();
    let ids: Vec<_> = found.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["k1", "2", "3"]);
    assert_eq!(found[1].content.as_text(), Some("two\né"));
    assert_eq!(found[1].location.to_string(), "in:4");
    let labels = |n: usize| -> Vec<(&str, &str)> {
        found[n].labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
    };
    assert_eq!(labels(0), [("kind", "x"), ("year", "1984")]);
    assert_eq!(labels(1), [("kind", "true")]);
    assert_eq!(labels(2), []);

    for (line, message) in [
        ("{", "in:1: not a JSON object: "),
        ("[1]", "in:1: not a JSON object: "),
        ("{\"body\":\"\\ud800\",\"key\":1}", "in:1: not a JSON object: "),
        (
            "{\"text\":\"a\",\"key\":1}",
            "in:1: there is no field \"body\"; the fields are: key, text",
        ),
        ("{\"body\":\"a\"}", "in:1: there is no field \"key\"; the fields are: body"),
        ("{\"body\":7,\"key\":1}", "in:1: the field \"body\" must be a string"),
        ("{\"body\":\"a\",\"key\":1.5}", "in:1: the field \"key\" must be a string that is not"),
        ("{\"body\":\"a\",\"key\":\"\"}", "in:1: the field \"key\" must be a string that is not"),
        ("{\"body\":\"a\",\"key\":1,\"kind\":[1]}", "in:1: the field \"kind\" must be a string, a"),
    ] {
        let error = one(line.as_bytes(), options.clone()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{line}: {error}");
    }
    match one(b"{\"body\":\"\",\"key\":1}", options) {
        Ok(CorpusEntry::Skipped(skip)) => assert!(matches!(skip.reason, SkipReason::Empty)),
        other => panic!("{other:?}"),
    }
    let deep = "{\"text\":".to_owned() + &"[".repeat(100_000);
    let deep = one(deep.as_bytes(), jsonl()).unwrap_err();
    assert!(matches!(deep.kind, CorpusErrorKind::NotJson { .. }));
}

/// Lines that have an id keep it; those that have none, or something that cannot be one, are counted.
#[test]
fn a_line_s_own_id_is_its_document_s() {
    let lines = b"{\"id\":\"owl\",\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"id\":3,\"text\":\"c\"}\n\
        {\"id\":null,\"text\":\"d\"}\n{\"id\":\"\",\"text\":\"e\"}\n{\"id\":[6],\"text\":\"f\"}";
    let ids: Vec<String> =
        read_bytes(lines, jsonl()).into_iter().map(|entry| document(entry).id).collect();
    assert_eq!(ids, ["owl", "in#2", "3", "in#4", "in#5", "in#6"]);
}

#[test]
fn the_format_follows_the_name_unless_it_is_given() {
    let line = "{\"text\":\"x\"}";
    let read = |name: &str, jsonl| {
        let options = CorpusOptions { jsonl, ..options() };
        text(Corpus::from_read(line.as_bytes(), name, options).next().unwrap())
    };
    assert_eq!(read("a.jsonl", false), "x");
    assert_eq!(read("a.NDJSON", false), "x");
    assert_eq!(read("a.json", false), line);
    assert_eq!(read("stdin", true), "x");
}

/// Gives one byte at a time, as a slow pipe does, then fails if told to.
struct Trickle(io::Cursor<Vec<u8>>, bool);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(1);
        match self.0.read(&mut buffer[..n])? {
            0 if self.1 => Err(io::Error::other("the line went dead")),
            n => Ok(n),
        }
    }
}

#[test]
fn a_broken_pipe_is_an_error_and_the_end() {
    for (name, text) in [("a.txt", "half a te"), ("a.jsonl", "{\"text\":\"x\"}\n{\"te")] {
        let pipe = Trickle(io::Cursor::new(text.into()), true);
        let entries: Vec<_> = Corpus::from_read(pipe, name, options()).collect();
        let error = entries.last().unwrap().as_ref().unwrap_err().to_string();
        assert_eq!(error, format!("{name}: cannot read: the line went dead"));
        assert!(entries.len() <= 2);
    }
}

proptest! {
    /// Whatever the bytes, reading ends, and text that it gives is the bytes.
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'{')], 0..200),
    ) {
        for entry in read_bytes(&bytes, options()) {
            if let Ok(CorpusEntry::Document(d)) = entry {
                let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
                prop_assert_eq!(d.content.as_bytes(), bytes);
            }
        }
        let lines = bytes.split(|&b| b == b'\n').count();
        prop_assert!(read_bytes(&bytes, jsonl()).len() <= lines);
        if !bytes.is_empty() {
            prop_assert_eq!(document(one(&bytes, raw())).content, Content::Raw(bytes));
        }
    }

    #[test]
    fn lines_come_back_however_slowly(texts in prop::collection::vec("\\PC{1,20}", 0..6)) {
        let file: String =
            texts.iter().map(|t| serde_json::json!({ "text": t }).to_string() + "\r\n").collect();
        let slow = Trickle(io::Cursor::new(file.into_bytes()), false);
        let read = Corpus::from_read(slow, "a", jsonl()).documents().unwrap();
        let read: Vec<_> = read.iter().map(|document| document.content.as_text().unwrap()).collect();
        prop_assert_eq!(read, texts);
    }
}
