//! `memo serve` as a user runs it: the real binary, its messages, its end.

use crate::common::notes;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    address: String,
    /// What it said when it was ready.
    said: String,
}

impl Serving {
    fn start(home: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_memo"))
            .args(["serve", "--addr", "127.0.0.1:0"])
            .args(args)
            .current_dir(home)
            .env("HOME", home)
            .env_remove("XDG_DATA_HOME")
            .env_remove("MEMO_API_KEY")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("Ctrl-C") {
            assert!(out.read_line(&mut said).unwrap() > 0, "it ended: {said}");
        }
        let address = said.lines().next().unwrap().strip_prefix("listening on http://").unwrap();
        Serving { address: address.to_owned(), child, out, said }
    }

    /// Sends a request, and gives status and body.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer[9..12].parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    fn memorize(&self, id: &str, text: &str) {
        let body = serde_json::json!({"id": id, "text": text}).to_string();
        let (status, said) = self.ask("POST", "/api/documents", &body);
        assert_eq!(status, 200, "{said}");
    }

    /// Tells it to stop, and gives the rest of what it said.
    fn stop(mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn memo(home: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memo"))
        .args(args)
        .current_dir(home)
        .env_remove("MEMO_API_KEY")
        .output()
        .unwrap()
}

fn refused(home: &Path, args: &[&str]) -> String {
    let output = memo(home, args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn without_a_name_it_serves_a_model_of_one_s_own() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let server = Serving::start(home, &[]);
    // What the README shows.
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let shown = readme
        .split("$ cargo run --release -- serve\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    assert_eq!(server.said.replace(&server.address, "127.0.0.1:7700"), shown);

    server.memorize("owl", "The owl reads at night by the light of the moon.");
    let (_, page) = server.ask("GET", "/", "");
    assert!(page.contains("<script type=\"module\""), "{page}");
    assert_eq!(server.stop(), "stopped; everything is saved\n");
    let again = Serving::start(home, &[]);
    assert!(again.said.contains(": 1 document, 12 tokens"), "{}", again.said);
    let (_, said) =
        again.ask("POST", "/v1/completions", r#"{"prompt": "The owl reads", "max_tokens": 2}"#);
    assert!(said.contains(" at night"), "{said}");
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for round in 0..3 {
        let mut server = Serving::start(home, &["m.memo"]);
        for k in 0..5 {
            server.memorize(
                &format!("doc-{round}-{k}"),
                &format!("Letter {k} of bundle {round} is about herons."),
            );
        }
        server.child.kill().unwrap();
        server.child.wait().unwrap();
    }
    let docs: serde_json::Value =
        serde_json::from_slice(&memo(home, &["docs", "m.memo", "--json"]).stdout).unwrap();
    assert_eq!(docs["documents"].as_array().unwrap().len(), 15);
    let verified: serde_json::Value =
        serde_json::from_slice(&memo(home, &["verify", "m.memo", "--json"]).stdout).unwrap();
    assert_eq!(verified["damage"], serde_json::json!([]), "{verified}");
}

#[test]
fn what_would_be_unsafe_or_senseless_is_refused() {
    let home = notes();
    let home = home.path();
    let said = refused(home, &["serve", "m.memo", "--addr", "0.0.0.0:0"]);
    assert!(said.contains("needs a key") && said.contains("--api-key-file"), "{said}");
    assert!(!home.join("m.memo").exists());
    let said = refused(home, &["serve", "m.memo", "--api-key", "short"]);
    assert!(said.contains("at least 16 characters"), "{said}");
    std::fs::write(home.join("keys.txt"), "\n").unwrap();
    let said = refused(home, &["serve", "m.memo", "--api-key-file", "keys.txt"]);
    assert!(said.contains("keys.txt: there is no key in it"), "{said}");
    let said = refused(home, &["serve", "m.memo", "--addr", "nowhere"]);
    assert!(said.contains("--addr"), "{said}");
    let said = refused(home, &["serve", "keys.txt"]);
    assert!(said.contains("keys.txt is a file"), "{said}");
    let said = refused(home, &["serve", "m.memo", "--rate", "0"]);
    assert!(said.contains("must be a whole number from 1"), "{said}");

    let server = Serving::start(home, &["m.memo"]);
    let said = refused(home, &["serve", "m.memo", "--addr", "127.0.0.1:0"]);
    assert!(said.contains("is being written by process"), "{said}");
    let said = refused(home, &["serve", "other.memo", "--addr", &server.address]);
    assert!(said.contains("cannot listen on"), "{said}");
    assert!(!home.join("other.memo").exists());
}
