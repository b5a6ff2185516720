//! Reading corpora: what becomes a document, what is skipped, what is refused, and in what words.

use memo_text::{
    Content, Document, Encoding, Format, Item, ReadError, ReadOptions, Reader, SkipReason,
};
use proptest::prelude::*;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn jsonl() -> ReadOptions {
    ReadOptions { format: Format::Jsonl, ..options() }
}

fn read_bytes(bytes: &[u8], options: ReadOptions) -> Vec<Result<Item, ReadError>> {
    Reader::from_read(io::Cursor::new(bytes.to_vec()), "in", options).collect()
}

fn one(bytes: &[u8], options: ReadOptions) -> Result<Item, ReadError> {
    let mut items = read_bytes(bytes, options);
    assert_eq!(items.len(), 1);
    items.remove(0)
}

fn document(item: Result<Item, ReadError>) -> Document {
    match item {
        Ok(Item::Document(document)) => document,
        other => panic!("not a document: {other:?}"),
    }
}

fn text(item: Result<Item, ReadError>) -> String {
    document(item).content.as_text().unwrap().to_owned()
}

/// Each item in a few words, with paths inside `root` made relative.
fn outline(root: &Path, options: ReadOptions) -> Vec<String> {
    let relative = |text: String| text.replace(&format!("{}/", root.display()), "");
    Reader::open(root, options)
        .unwrap()
        .map(|item| match item {
            Ok(Item::Document(d)) => d.id,
            Ok(Item::Skipped(skipped)) => relative(skipped.to_string()),
            Err(error) => relative(format!("error: {error}")),
        })
        .collect()
}

#[test]
fn a_file_is_one_document_named_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("note.txt");
    fs::write(&path, "one\r\ntwo\n").unwrap();
    let labelled = ReadOptions { labels: vec!["a".into(), "b".into(), "a".into()], ..options() };
    let mut reader = Reader::open(&path, labelled).unwrap();
    let found = document(reader.next().unwrap());
    assert_eq!(found.id, "note.txt");
    assert_eq!(found.content, Content::Text("one\r\ntwo\n".to_owned()));
    assert_eq!((found.source.path, found.source.line), (path, None));
    assert_eq!(found.labels, ["a", "b"]);
    assert!(reader.next().is_none());
}

#[test]
fn a_folder_is_read_in_the_order_of_paths() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for path in ["b.txt", "a/z.txt", "a/b/c.txt", "a-b.txt", "a.txt", "A.txt", "é.txt"] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    fs::create_dir(root.join("nothing")).unwrap();
    let ids = outline(root, options());
    assert_eq!(ids, ["A.txt", "a-b.txt", "a.txt", "a/b/c.txt", "a/z.txt", "b.txt", "é.txt"]);
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(ids, sorted);
}

#[test]
fn a_folder_reports_what_it_skips_and_goes_on_after_errors() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join(".hidden"), "x").unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".git/config"), "x").unwrap();
    fs::write(root.join("bad.txt"), b"ab\xffcd").unwrap();
    fs::write(root.join("empty.txt"), "").unwrap();
    fs::write(root.join("image.png"), b"\x89PNG\x00").unwrap();
    fs::write(root.join("lines.jsonl"), "{\"text\":\"x\"}\n{}\n{\"text\":\"y\"}\n").unwrap();
    fs::write(root.join("z.txt"), "x").unwrap();
    assert_eq!(
        outline(root, options()),
        [
            ".git: skipped, it is hidden",
            ".hidden: skipped, it is hidden",
            "error: bad.txt: the byte at offset 2 is not valid UTF-8; convert the file to UTF-8, \
             for example with: iconv -f LATIN1 -t UTF-8, or use the tokenizer bytes",
            "empty.txt: skipped, it is empty",
            "image.png: skipped, it is binary",
            "lines.jsonl#1",
            "error: lines.jsonl:2: there is no field \"text\"; the object is empty",
            "lines.jsonl#3",
            "z.txt",
        ]
    );
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
        "broken.txt: skipped, it is a symbolic link",
        "deep/er/a.txt",
        "deep/loop: skipped, it is a symbolic link",
        "link.txt: skipped, it is a symbolic link",
        "socket: skipped, it is neither a file nor a folder",
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
    assert!(matches!(Reader::open(&path, options()), Err(ReadError::Name { .. })));
    let items: Vec<_> = Reader::open(folder.path(), options()).unwrap().collect();
    assert!(matches!(&items[..], [Err(ReadError::Name { .. })]));
}

#[test]
fn what_is_not_there_is_named() {
    let error = Reader::open("no/such/place", options()).unwrap_err().to_string();
    assert!(error.starts_with("no/such/place: cannot read: "), "{error}");
}

#[test]
fn marks_and_other_encodings() {
    assert_eq!(text(one(b"\xef\xbb\xbfowl", options())), "owl");
    assert!(matches!(one(b"\xef\xbb\xbf", options()), Ok(Item::Skipped(_))));
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
    for options in [options(), jsonl(), ReadOptions { encoding: Encoding::Utf8Lossy, ..options() }]
    {
        let error = one(bytes, options).unwrap_err();
        assert!(matches!(&error, ReadError::Binary { .. }));
        assert!(error.to_string().contains("tokenizer bytes"), "{error}");
    }
    let raw = ReadOptions { encoding: Encoding::Raw, ..options() };
    assert_eq!(document(one(bytes, raw.clone())).content, Content::Raw(bytes.to_vec()));
    let marked = b"\xef\xbb\xbfx";
    assert_eq!(document(one(marked, raw)).content.as_bytes(), marked);
    // Only the head is looked at: a NUL far inside is a character like any other.
    let late = [&vec![b'a'; 9000][..], b"\x00"].concat();
    assert_eq!(text(one(&late, options())).len(), 9001);
}

#[test]
fn invalid_utf8_is_found_at_its_byte() {
    let at = |bytes: &[u8], options| match one(bytes, options).unwrap_err() {
        ReadError::InvalidUtf8 { place, offset } => (place.line, offset),
        other => panic!("{other}"),
    };
    assert_eq!(at(b"\xef\xbb\xbfab\xff", options()), (None, 5));
    assert_eq!(at(b"ab\xe2\x82", options()), (None, 2));
    assert_eq!(at(&[&vec![b'a'; 20_000][..], b"\xff"].concat(), options()), (None, 20_000));
    let lines = b"\xef\xbb\xbf{\"text\":\"a\"}\n\n{\"text\":\"\xff\"}\n";
    let error = read_bytes(lines, jsonl()).remove(1).unwrap_err();
    assert!(error.to_string().starts_with("in:3: the byte at offset 26 "), "{error}");
    let lossy = ReadOptions { encoding: Encoding::Utf8Lossy, ..options() };
    assert_eq!(text(one(b"ab\xffcd\xe2\x82", lossy)), "ab\u{fffd}cd\u{fffd}");
}

#[test]
fn limits_hold_even_for_endless_input() {
    let limited = |max_bytes| ReadOptions { max_bytes, ..options() };
    assert_eq!(text(one(b"12345", limited(5))), "12345");
    for encoding in [Encoding::Utf8, Encoding::Raw] {
        let endless = Reader::from_read(
            io::repeat(b'a'),
            "endless",
            ReadOptions { encoding, ..limited(100_000) },
        );
        let items: Vec<_> = endless.collect();
        assert!(matches!(&items[..], [Err(ReadError::TooLarge { max: 100_000, .. })]));
    }
    let endless = Reader::from_read(io::repeat(b'a'), "endless.jsonl", limited(100_000)).next();
    assert!(matches!(endless, Some(Err(ReadError::TooLarge { max: 100_000, .. }))));
    let line = "{\"text\":\"12\"}";
    let lines = format!("{line}\n{{\"text\":\"123\"}}\n{line}");
    let options = ReadOptions { format: Format::Jsonl, ..limited(line.len() as u64) };
    let items = read_bytes(lines.as_bytes(), options);
    assert!(matches!(
        &items[..],
        [Ok(_), Err(ReadError::TooLarge { place, .. }), Ok(Item::Document(last))]
            if place.line == Some(2) && last.source.line == Some(3)
    ));
    let options = ReadOptions { format: Format::Jsonl, ..limited(4) };
    let error = read_bytes(b"too long\n\n  \xff\n", options).remove(1).unwrap_err();
    assert!(error.to_string().starts_with("in:3: the byte at offset 12 "), "{error}");
}

#[test]
fn fields_of_lines() {
    let options = ReadOptions {
        text_field: "body".into(),
        id_field: Some("key".into()),
        label_field: Some("tags".into()),
        labels: vec!["all".into()],
        ..jsonl()
    };
    let lines = r#"
        {"body": "one", "key": "k1", "tags": ["x", "all"], "other": {"deep": [1]}}

        {"body": "two\n\u00e9", "key": 2, "tags": "y"}
        {"body": "three", "key": 3, "tags": null}"#;
    let found: Vec<_> =
        read_bytes(lines.as_bytes(), options.clone()).into_iter().map(document).collect();
    let ids: Vec<_> = found.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["k1", "2", "3"]);
    assert_eq!(found[1].content.as_text(), Some("two\né"));
    assert_eq!(found[1].source.to_string(), "in:4");
    assert_eq!(found[0].labels, ["x", "all"]);
    assert_eq!(found[1].labels, ["y", "all"]);
    assert_eq!(found[2].labels, ["all"]);

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
        ("{\"body\":\"a\",\"key\":1,\"tags\":[1]}", "in:1: the field \"tags\" must be a string or"),
    ] {
        let error = one(line.as_bytes(), options.clone()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{line}: {error}");
    }
    match one(b"{\"body\":\"\",\"key\":1}", options) {
        Ok(Item::Skipped(skipped)) => assert_eq!(skipped.reason, SkipReason::Empty),
        other => panic!("{other:?}"),
    }
    let deep = "{\"text\":".to_owned() + &"[".repeat(100_000);
    assert!(matches!(one(deep.as_bytes(), jsonl()), Err(ReadError::NotJson { .. })));
}

#[test]
fn the_format_follows_the_name_unless_it_is_given() {
    let line = "{\"text\":\"x\"}";
    let read = |name: &str, format| {
        let options = ReadOptions { format, ..options() };
        text(Reader::from_read(line.as_bytes(), name, options).next().unwrap())
    };
    assert_eq!(read("a.jsonl", Format::Auto), "x");
    assert_eq!(read("a.NDJSON", Format::Auto), "x");
    assert_eq!(read("a.json", Format::Auto), line);
    assert_eq!(read("a.jsonl", Format::Text), line);
    assert_eq!(read("stdin", Format::Jsonl), "x");
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
        let items: Vec<_> = Reader::from_read(pipe, name, options()).collect();
        let error = items.last().unwrap().as_ref().unwrap_err().to_string();
        assert_eq!(error, format!("{name}: cannot read: the line went dead"));
        assert!(items.len() <= 2);
    }
}

proptest! {
    /// Whatever the bytes, a reader ends, and text that it gives is the bytes.
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'{')], 0..200),
    ) {
        for item in read_bytes(&bytes, options()) {
            if let Ok(Item::Document(d)) = item {
                let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
                prop_assert_eq!(d.content.as_bytes(), bytes);
            }
        }
        let lines = bytes.split(|&b| b == b'\n').count();
        prop_assert!(read_bytes(&bytes, jsonl()).len() <= lines);
        let raw = ReadOptions { encoding: Encoding::Raw, ..options() };
        if !bytes.is_empty() {
            prop_assert_eq!(document(one(&bytes, raw)).content, Content::Raw(bytes));
        }
    }

    #[test]
    fn lines_come_back_however_slowly(texts in prop::collection::vec("\\PC{1,20}", 0..6)) {
        let file: String =
            texts.iter().map(|t| serde_json::json!({ "text": t }).to_string() + "\r\n").collect();
        let slow = Trickle(io::Cursor::new(file.into_bytes()), false);
        let read: Vec<String> = Reader::from_read(slow, "a", jsonl()).map(text).collect();
        prop_assert_eq!(read, texts);
    }
}
