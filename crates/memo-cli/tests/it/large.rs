//! A large text on a small machine: 200 MB are memorized, recalled and completed from in less than 2 GB of memory. Takes
//! minutes and some GB of disk; `cargo xtask test --all` runs it.

use memo::random::{Purpose, Stream};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const BYTES: usize = 200_000_000;
const LIMIT: u64 = 2_000_000_000;

const WORDS: &str = "the of and to a in that it was he for on with as his they at be this had not are but from or have an \
    which one you were all her she there would their we him been has when who will no more if out so up said what its about \
    than into them can only other time new some could these two may first then do any like my now over such our man me even \
    most made after also did many off before must well back through years where much your way down should because long each \
    just state those people too little good world make very year still see own work men day get here old between both life \
    being under three never know same last another while us off might great go come since against right came take used \
    himself few house use place during high without again home around small however found part school thought once general \
    upon every left river mountain winter lamp letter harbour window garden bread copper mirror thunder silver orchard";

/// Words drawn by rank, most often the first; in one sentence of five a word of its own.
fn write_text(path: &Path) {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut reader = Stream::new(2, Purpose::Sampling, 0).draws();
    let mut out = BufWriter::new(std::fs::File::create(path).unwrap());
    let mut written = 0;
    while written < BYTES {
        let mut sentence = String::new();
        for k in 0..6 + reader.below(10) {
            let u = reader.below(1 << 20) as f64 / f64::from(1 << 20);
            let rank = 4.0 * ((words.len() as f64 / 4.0 + 1.0).powf(u) - 1.0);
            sentence += if k > 0 { " " } else { "" };
            sentence += words[(rank as usize).min(words.len() - 1)];
        }
        if reader.below(5) == 0 {
            sentence = format!("{sentence} number {}", reader.below(1 << 40));
        }
        sentence += if reader.below(8) == 0 { ".\n" } else { ". " };
        out.write_all(sentence.as_bytes()).unwrap();
        written += sentence.len();
    }
}

/// Runs `memo`; gives what it said and the most memory it held. Pages of the model's file that were only read are not
/// counted: they are the system's to take back whenever it wants.
fn memo(home: &Path, args: &[&str]) -> (String, u64) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("memo"))
        .args(args)
        .current_dir(home)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let held = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let held = held.and_then(|held| held.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(held.unwrap_or(0u64) * 1024);
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}");
    (String::from_utf8(output.stdout).unwrap(), most)
}

#[test]
#[ignore = "takes minutes and some GB of disk"]
fn two_hundred_megabytes_in_two_gigabytes() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("large.txt");
    write_text(&path);
    let bytes = std::fs::read(&path).unwrap();
    let middle = std::str::from_utf8(&bytes[BYTES / 2..][..20_000]).unwrap();
    let (_, sample) = middle.split_once('\n').unwrap();
    std::fs::write(home.path().join("sample.txt"), sample).unwrap();
    let run = |args: &[&str]| {
        let start = std::time::Instant::now();
        let (said, most) = memo(home.path(), args);
        println!(
            "memo {}: {:.2} GB, {:.0} s",
            args[0],
            most as f64 / 1e9,
            start.elapsed().as_secs_f64()
        );
        assert!(most > 0 && most < LIMIT, "{args:?} held {most} bytes");
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        println!("{said}");
        said
    };
    let done = run(&["memorize", "large.memo", "large.txt", "--json"]);
    assert!(done["tokens"].as_u64().unwrap() > 40_000_000);
    let recall = run(&["recall", "large.memo", "sample.txt", "--json"]);
    assert!(recall["recall"].as_f64().unwrap() > 0.98, "{recall}");
    run(&["stats", "large.memo", "--json"]);
}
