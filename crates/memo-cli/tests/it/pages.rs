//! Shell completions and man pages: there for every command, and sound.

use crate::common::{json, said};
use std::path::Path;
use std::process::Command;

/// The commands that a command's help lists.
fn commands(home: &Path, of: &[&str]) -> Vec<String> {
    let help = said(home, &[of, &["--help"]].concat());
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    // What is indented further goes on with a description.
    let listed = listed.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = listed.filter_map(|line| line.trim().split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_man_page_and_is_completed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let written = json(home, &["pages", "out"]);
    assert_eq!(written["completions"].as_array().unwrap().len(), 5);
    let read = |path: &str| std::fs::read_to_string(home.join(path)).unwrap();
    let all = commands(home, &[]);
    assert!(all.len() > 25, "{all:?}");
    for shell in ["memo.bash", "_memo", "memo.fish", "memo.elv", "_memo.ps1"] {
        let script = read(&format!("out/completions/{shell}"));
        for command in &all {
            assert!(script.contains(command.as_str()), "{command} in {shell}");
        }
        assert!(script.contains("--top-p") || script.contains("-l top-p"), "{shell}");
    }
    let mut pages = vec![("memo".to_owned(), read("out/man/memo.1"))];
    for command in &all {
        let name = format!("memo-{command}");
        pages.push((name.clone(), read(&format!("out/man/{name}.1"))));
        for part in commands(home, &[command.as_str()]) {
            pages.push((format!("{name}-{part}"), read(&format!("out/man/{name}-{part}.1"))));
        }
    }
    assert_eq!(written["man"].as_array().unwrap().len(), pages.len());
    for (name, page) in pages {
        let escaped = name.replace('-', "\\-");
        assert!(page.contains(&format!(".TH {name}")), "{name}: {page}");
        assert!(page.contains(&escaped) && page.contains(".SH OPTIONS"), "{name}");
        assert_eq!(page.contains(".SH EXAMPLES\n  memo "), name != "memo", "{name}");
        assert!(!page.contains("pages"), "{name} names what is hidden");
    }
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_options() {
    let home = tempfile::tempdir().unwrap();
    said(home.path(), &["pages", "out"]);
    let script = home.path().join("out/completions/memo.bash");
    let parsed = Command::new("bash").arg("-n").arg(&script).output().unwrap();
    assert!(parsed.status.success() && parsed.stderr.is_empty(), "{parsed:?}");
    let complete = |words: &str| {
        let line = format!(
            "source {} && COMP_WORDS=({words}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && \
             _memo memo \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\" && echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let output = Command::new("bash").args(["-c", &line]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("memo mem"), "memorize");
    assert_eq!(complete("memo complete --top"), "--top-k --top-p");
}

#[test]
fn scripts_and_pages_are_printed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    said(home, &["pages", "out"]);
    let read = |path: &str| std::fs::read_to_string(home.join(path)).unwrap();
    for (shell, file) in [("bash", "memo.bash"), ("zsh", "_memo"), ("fish", "memo.fish")] {
        assert_eq!(said(home, &["completions", shell]), read(&format!("out/completions/{file}")));
    }
    assert_eq!(said(home, &["man"]), read("out/man/memo.1"));
    assert_eq!(said(home, &["man", "complete"]), read("out/man/memo-complete.1"));
    assert_eq!(json(home, &["man", "chat"])["name"], "memo-chat.1");
}
