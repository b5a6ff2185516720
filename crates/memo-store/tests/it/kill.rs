//! Kills at random instants: what was acknowledged is there, anything else is whole or absent, a forget is finished.
//!
//! `cargo xtask kill 1000` kills that often.

use crate::common::{digest_with, files_with, live_parts, small};
use memo::random::{Purpose, Stream};
use memo::sparse::Digest;
use memo_store::{
    Conflict, DocumentState, Error, MemorizeReport, NewDocument, Observer, Snapshot, Store,
    Together,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A text that no other number gives.
fn secret(number: u64) -> String {
    format!("secret number {number} is {:016x}, and nobody may keep it", mix(number))
}

fn mix(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

/// Facts of secrets, and how they are spoken.
const RULES: &str = r#"
[templates]
is = "{object} belongs to {subject}."
[[rule]]
when = "secret number {x} is {y}, and nobody may keep it"
then = ["{x}", "is", "{y}"]
"#;

/// The digest of a memory of all that is live, and of what follows by the rules if they are.
fn expected(store: &Store) -> Digest {
    let (mut parts, mut facts) = (live_parts(store), BTreeMap::new());
    if store.document("rules").unwrap().state == DocumentState::Live {
        for part in parts.clone() {
            let rest = part.strip_prefix("secret number ");
            let rest = rest.and_then(|rest| rest.strip_suffix(", and nobody may keep it"));
            if let Some((number, hash)) = rest.and_then(|rest| rest.split_once(" is ")) {
                parts.push(format!("{hash} belongs to {number}."));
                facts.insert((number.to_owned(), "is".to_owned(), hash.to_owned()), 1);
            }
        }
    }
    digest_with(None, &parts, &[], &facts)
}

/// Not a test: what the child does until it is killed. It says each thing twice, before and after.
#[test]
#[ignore = "child process of what_is_acknowledged_survives_a_kill"]
fn child() {
    let path = std::env::var("MEMO_KILL_PATH").expect("its parent names a model");
    let begin: u64 = std::env::var("MEMO_KILL_BEGIN").unwrap().parse().unwrap();
    let mut store = Store::open(Path::new(&path)).unwrap();
    let say = |words: String| {
        println!("\n@ {words}");
        std::io::stdout().flush().unwrap();
    };
    say("open".to_owned());
    for number in begin.. {
        let (id, text) = (format!("d{number}"), secret(number));
        say(format!("memorizing {number}"));
        store.memorize([NewDocument::text(&text).with_id(&id)], None).unwrap();
        say(format!("memorized {number}"));
        if mix(number).is_multiple_of(5) {
            // Rules go, and what follows by them; or both come back.
            drop(store.retire("rules", None).or_else(|_| store.restore("rules", None)).unwrap());
        }
        match mix(number) % 8 {
            0 => store.checkpoint().unwrap(),
            1 => {
                say(format!("forgetting {number}"));
                store.forget(&[&id], None).unwrap();
                say(format!("forgot {number}"));
            }
            2 => {
                say(format!("forgetting {number}"));
                store.forget_text(&text, None).unwrap();
                say(format!("forgot {number}"));
            }
            3 => drop(store.replace("nobody", "noone", Some(&id), None).unwrap()),
            4 => drop(store.rebuild().unwrap()),
            6 => {
                let to = Path::new(&path).with_extension(format!("frozen{number}"));
                store.freeze(&to).unwrap();
                say(format!("froze {number}"));
            }
            5 => {
                let mut other = Store::open(&Path::new(&path).with_extension("other")).unwrap();
                let text = format!("merged text {number}");
                other
                    .memorize([NewDocument::text(text).with_id(format!("m{number}"))], None)
                    .unwrap();
                store.merge(&mut other, Conflict::Ours, None).unwrap();
                say(format!("merged {number}"));
            }
            7 => {
                say(format!("grouping {number}"));
                for done in store.make_together(group(number).map(memorize)).unwrap() {
                    done.unwrap();
                }
                say(format!("grouped {number}"));
            }
            _ => store.retire(&id, None).map(drop).unwrap(),
        }
    }
}

/// Documents that are memorized together.
fn group(number: u64) -> [NewDocument; 3] {
    [0, 1, 2].map(|k| NewDocument::text(format!("text {k} of {number}")).with_id(member(number, k)))
}

fn member(number: u64, k: u64) -> String {
    format!("g{number}-{k}")
}

fn memorize(
    document: NewDocument,
) -> impl FnOnce(&mut Together<'_>) -> Result<MemorizeReport, Error> {
    move |store| store.memorize([document], None)
}

#[test]
fn what_is_acknowledged_survives_a_kill() {
    let kills: u64 = std::env::var("MEMO_KILLS").map_or(100, |n| n.parse().unwrap());
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([NewDocument::rules(RULES).with_id("rules")], None).unwrap();
    drop(store);
    drop(Store::create(&path.with_extension("other"), &small()).unwrap());
    let mut instants = Stream::new(1, Purpose::Sampling, 0).draws();
    let mut next = 0;
    let mut finished = 0;
    for kill in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "kill::child", "--nocapture"])
            .env("MEMO_KILL_PATH", &path)
            .env("MEMO_KILL_BEGIN", next.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Some kills come while it opens, most while it works.
        let mut said = Vec::new();
        if kill % 8 != 0 {
            said.extend(lines.by_ref().map_while(Result::ok).find(|line| line == "@ open"));
        }
        std::thread::sleep(Duration::from_micros(instants.below(60_000)));
        if kill % 4 == 1 {
            // What Ctrl-C sends.
            let pid = child.id().to_string();
            Command::new("kill").args(["-INT", &pid]).status().unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        // Where Ctrl-C is ignored, as in the background of a shell, it works on until this.
        child.kill().unwrap();
        child.wait().unwrap();
        said.extend(lines.map_while(Result::ok));
        let numbers = |what: &str| -> Vec<u64> {
            let prefix = format!("@ {what} ");
            said.iter().filter_map(|l| l.strip_prefix(&prefix)?.trim().parse().ok()).collect()
        };

        // Whoever comes first puts things right: sometimes that is a reader.
        if kill % 3 == 0 {
            Snapshot::open(&path).unwrap();
        }
        let mut store = Store::open(&path).unwrap();
        let log = store.log().unwrap();
        assert!(log.iter().enumerate().all(|(i, t)| t.id == i as u64 + 1), "a gap in the log");
        for number in numbers("memorized") {
            let document = store.document(&format!("d{number}")).unwrap();
            assert!(!document.versions.is_empty());
        }
        for number in numbers("grouping") {
            let there = [0, 1, 2].map(|k| store.document(&member(number, k)).is_ok());
            let all = numbers("grouped").contains(&number) || there[0];
            assert_eq!(there, [all; 3], "what was made together is there whole or not at all");
        }
        for number in numbers("merged") {
            assert!(store.text(&format!("m{number}"), None).is_ok(), "{number} was merged");
        }
        for number in numbers("froze") {
            let frozen = path.with_extension(format!("frozen{number}"));
            Snapshot::open(&frozen).unwrap();
            std::fs::remove_dir_all(frozen).unwrap();
        }
        for number in numbers("forgetting") {
            let done = numbers("forgot").contains(&number);
            let document = store.document(&format!("d{number}")).unwrap();
            let gone = document.versions.iter().all(|v| v.forgotten.is_some());
            assert!(gone || !done, "{number} was acknowledged as forgotten");
            if gone {
                finished += 1;
                let text = secret(number);
                let tokens: Vec<u8> =
                    text.bytes().flat_map(|b| u32::from(b).to_le_bytes()).collect();
                let derived = format!("{:016x} belongs", mix(number));
                for needle in [text.as_bytes(), &tokens, derived.as_bytes()] {
                    assert_eq!(files_with(&path, needle), [""; 0], "{number} was forgotten");
                }
            }
        }
        assert_eq!(store.digest().unwrap(), expected(&store), "kill {kill}");
        if kill % 16 == 0 {
            assert_eq!(store.verify(&Observer::default()).unwrap().damage, [""; 0]);
        }
        let begun = numbers("memorizing").into_iter().max();
        next = begun.map_or(next, |number| number + 1);
        // A small model is quick to check.
        if next > 40 * (kill / 16 + 1) {
            for document in store.documents().unwrap() {
                if document.version.is_some() && document.id != "rules" {
                    store.retire(&document.id, None).ok();
                }
            }
        }
    }
    println!("{kills} kills, {next} documents, {finished} forgets that were begun are finished");
    assert!(next > kills / 4, "the child did next to nothing");
}
