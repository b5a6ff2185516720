//! docs/guide.md does what it says: its commands are run, and what they print is what the page shows.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

/// Numbers that differ from run to run, or from machine to machine, become marks.
fn steady(shown: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(['"', ',', '…']);
        let hex = bare.len() >= 16 && bare.chars().all(|c| c.is_ascii_hexdigit());
        if hex { "HASH".to_owned() } else { word.to_owned() }
    };
    let line = |line: &str| {
        let line: Vec<String> = line.trim_end().split(' ').map(word).collect();
        let line = line.join(" ");
        // Rates, and the noise of a memory's cells.
        match (line.find(" tokens/s"), line.find(" ± ")) {
            (Some(end), _) => {
                let start = line[..end].rfind(' ').map_or(0, |at| at + 1);
                format!("{}RATE{}", &line[..start], &line[end..])
            }
            (_, Some(at)) => format!("{}NOISE", &line[..at]),
            _ => line,
        }
    };
    shown.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_guide_is_true() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let home = tempfile::tempdir().unwrap();
    let memo = assert_cmd::cargo::cargo_bin("memo");
    let path = format!("{}:{}", memo.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for block in guide.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for step in block.split("$ ").skip(1) {
            let (command, expected) = step.split_once('\n').unwrap();
            let output = Command::new("bash")
                .args(["-c", command])
                .env("PATH", &path)
                .env("NO_COLOR", "1")
                .current_dir(home.path())
                .output()
                .unwrap();
            let shown = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(steady(&shown), steady(expected), "$ {command}");
            commands += 1;
        }
    }
    assert!(commands > 15, "{commands} commands were run");
}
