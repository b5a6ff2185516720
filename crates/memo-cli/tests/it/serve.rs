//! `memo serve` as a user runs it: the real binary, its messages, its end.

use crate::common::notes;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

pub(crate) struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    address: String,
    /// What it said when it was ready.
    said: String,
}

impl Serving {
    pub(crate) fn start(home: &Path, args: &[&str]) -> Self {
        Self::start_at(home, "127.0.0.1:0", args)
    }

    fn start_at(home: &Path, addr: &str, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_memo"))
            .args(["serve", "--addr", addr])
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
        let address = said.lines().next().unwrap().strip_prefix("listening on ").unwrap();
        let address = address.strip_prefix("http://").unwrap_or(address);
        Serving { address: address.to_owned(), child, out, said }
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request, and gives status and body.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
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
    pub(crate) fn stop(mut self) -> String {
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
    assert!(said.contains("--addr") && said.contains("localhost:7700"), "{said}");
    let said = refused(home, &["serve", "m.memo", "--addr", "unix:keys.txt"]);
    assert!(said.contains("there is a file that is no socket"), "{said}");
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

#[test]
fn names_and_notes() {
    let home = notes();
    let home = home.path();
    let server = Serving::start_at(home, "localhost:0", &["m.memo"]);
    assert_eq!(server.ask("GET", "/health", "").0, 200);
    assert!(!server.said.contains("plain HTTP"), "{}", server.said);
    drop(server);
    let key = ["m.memo", "--api-key", "0123456789abcdef"];
    let server = Serving::start_at(home, "0.0.0.0:0", &key);
    assert!(server.said.contains("  note    plain HTTP: "), "{}", server.said);
}

/// What docs/server.md shows after a line.
fn shown(after: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    docs.split(after).nth(1).unwrap().split("```").next().unwrap().to_owned()
}

#[test]
fn a_folder_of_models_and_models_by_name() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for name in ["notes", "work"] {
        let model = format!("models/{name}.memo");
        assert!(memo(home, &["init", &model]).status.success());
    }
    let server = Serving::start(home, &["models"]);
    let said = server.said.replace(&server.address, "127.0.0.1:7700");
    assert_eq!(said, shown("$ memo serve models\n"));
    let asked = r#"{"text": "The owl reads at night.", "id": "owl"}"#;
    assert_eq!(server.ask("POST", "/api/documents?model=notes", asked).0, 200);
    let (status, said) = server.ask("POST", "/api/documents", asked);
    assert!(status == 400 && said.contains(r#"this server has \"notes\", \"work\""#), "{said}");
    // Others use what is not open, and make what is served then.
    std::fs::write(home.join("letter.txt"), "Dear Anna, the heron is back.").unwrap();
    for model in ["models/work.memo", "models/diary.memo"] {
        assert!(memo(home, &["memorize", model, "letter.txt"]).status.success());
    }
    let said = refused(home, &["memorize", "models/notes.memo", "letter.txt"]);
    assert!(said.contains("is being written by process"), "{said}");
    assert!(server.ask("GET", "/v1/models", "").1.contains("\"id\":\"diary\""));
    assert_eq!(server.ask("POST", "/api/models", r#"{"name": "letters"}"#).0, 201);
    assert!(home.join("models/letters.memo/model.toml").is_file());
    assert_eq!(server.stop(), "stopped; everything is saved\n");
    let docs: serde_json::Value =
        serde_json::from_slice(&memo(home, &["docs", "models/notes.memo", "--json"]).stdout)
            .unwrap();
    assert_eq!(docs["documents"][0]["id"], "owl");

    let server = Serving::start(home, &["models/notes.memo", "new.memo"]);
    assert!(server.said.contains("  models  new, notes\n"), "{}", server.said);
    assert_eq!(server.ask("GET", "/api/stats?model=new", "").0, 200);
    drop(server);

    std::fs::create_dir(home.join("empty")).unwrap();
    let server = Serving::start(home, &["empty"]);
    assert!(server.said.contains("  models  none yet, in empty\n"), "{}", server.said);
    drop(server);
    std::fs::write(home.join("empty/letter.txt"), "Dear Anna").unwrap();
    for (args, says) in [
        (vec!["empty"], "empty is not a model"),
        (vec!["models", "new.memo"], "a folder of models is served alone"),
        (vec!["new.memo", "models/../new"], "would both be called \"new\""),
        (vec!["models", "--max-models", "0"], "must be a whole number from 1"),
    ] {
        let said = refused(home, &[&["serve", "--addr", "127.0.0.1:0"], &*args].concat());
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

/// The unit that docs/server.md prints: systemd has nothing to say about it, and its command runs.
#[cfg(target_os = "linux")]
#[test]
fn the_systemd_unit_as_it_is_printed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let unit = shown("```ini\n");
    let own = unit.replace("/usr/local/bin/memo", env!("CARGO_BIN_EXE_memo"));
    std::fs::write(home.join("memo.service"), &own).unwrap();
    let verify = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "./memo.service"])
        .current_dir(home)
        .output();
    // Systems without systemd cannot tell.
    if let Ok(verify) = verify {
        let said = String::from_utf8_lossy(&verify.stderr);
        assert!(verify.status.success() && said.is_empty(), "{said}");
    }
    std::fs::write(home.join("keys"), "write:0123456789abcdef\n").unwrap();
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let line = line.replace("/var/lib/memo/", "").replace("%d/", "");
    let mut args = line.split(' ').skip_while(|word| *word != "serve").skip(1);
    let args: Vec<&str> = std::iter::from_fn(|| match args.next()? {
        // A port that is free.
        "--addr" => args.nth(1),
        word => Some(word),
    })
    .collect();
    let server = Serving::start(home, &args);
    assert_eq!(server.ask("GET", "/v1/models", "").0, 401);
    assert_eq!(server.ask("GET", "/health", "").0, 200);
    server.stop();
}

#[cfg(unix)]
#[test]
fn a_unix_socket_serves_the_same_and_is_gone_afterwards() {
    use std::os::unix::net::UnixStream;
    let home = notes();
    let home = home.path();
    let ask = || {
        let mut stream = UnixStream::connect(home.join("s.sock")).unwrap();
        let head = "GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    for killed in [true, false] {
        // Also where one that was killed left its socket.
        let mut server = Serving::start_at(home, "unix:s.sock", &["m.memo"]);
        assert!(server.said.starts_with("listening on unix:s.sock\n"), "{}", server.said);
        assert!(server.said.contains("curl --unix-socket s.sock http://localhost/health"));
        assert!(ask().contains("\"id\":\"m\""));
        let said = refused(home, &["serve", "other.memo", "--addr", "unix:s.sock"]);
        assert!(said.contains("another process does already"), "{said}");
        if killed {
            server.child.kill().unwrap();
            server.child.wait().unwrap();
            assert!(home.join("s.sock").exists());
        } else {
            server.stop();
            assert!(!home.join("s.sock").exists());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_few_files_may_be_open_idle_connections_make_room() {
    let home = notes();
    let server = Serving::start(home.path(), &["m.memo"]);
    let limit = ["--pid", &server.id().to_string(), "--nofile=64:64"];
    assert!(Command::new("prlimit").args(limit).status().unwrap().success());
    let mut idle = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let head = format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        idle.push(stream);
    }
    server.memorize("cat", "There are files enough for the model, too.");
    server.stop();
}

#[test]
fn the_log_as_json_has_every_request_and_no_text() {
    let home = notes();
    let home = home.path();
    let mut server = Serving::start(home, &["m.memo", "--log", "json"]);
    server.memorize("heron-and-owl", "The heron waits in the reeds.");
    let (status, _) =
        server.ask("POST", "/v1/completions", r#"{"prompt": "The heron", "max_tokens": 3}"#);
    assert_eq!(status, 200);
    assert_eq!(server.ask("GET", "/api/documents/heron-and-owl", "").0, 200);
    assert_eq!(server.ask("DELETE", "/api/documents/heron-and-owl", "").0, 200);
    assert_eq!(server.ask("POST", "/v1/completions", r#"{"prompt": 7, "heron": 1}"#).0, 400);
    let mut log = String::new();
    let mut errors = server.child.stderr.take().unwrap();
    server.stop();
    errors.read_to_string(&mut log).unwrap();
    assert!(!log.to_lowercase().contains("heron"), "{log}");
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let routes: Vec<&str> = lines.iter().filter_map(|line| line["route"].as_str()).collect();
    let document = "/api/documents/{id}";
    let asked = ["/api/documents", "/v1/completions", document, document, "/v1/completions"];
    assert_eq!(routes, asked, "{log}");
    let changes: Vec<&str> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(changes, ["memorize", "forget"], "{log}");
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["status"], &last["event"], &last["level"]),
        (&400.into(), &"request".into(), &"info".into())
    );
    assert!(
        last["id"].as_str().unwrap().starts_with("req-")
            && last["time"].as_str().unwrap().ends_with('Z')
    );
}
