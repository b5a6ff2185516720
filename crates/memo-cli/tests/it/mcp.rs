//! `memo mcp` as an agent's client runs it: the real binary over standard input and output, alone and several at a time on one model.

use crate::common::{CAT, json, memo, notes, said};
use memo_store::{DocumentState, Snapshot};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

/// A client, and the process that it started.
struct Agent {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Agent {
    fn start(home: &Path, model: &str) -> Self {
        let mut agent = Self::start_silent(home, model);
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        assert_eq!(agent.ask("initialize", &params).unwrap()["serverInfo"]["name"], "memo");
        agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn start_silent(home: &Path, model: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_memo"))
            .args(["mcp", model])
            .current_dir(home)
            // Clients give what they start next to no environment.
            .env_clear()
            .env("HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Agent { child, input, output, id: 0 }
    }

    fn write(&mut self, message: &Value) {
        // A process that was killed does not read.
        let _ = writeln!(self.input, "{message}");
    }

    /// The result, or an error of the protocol; none if the process has ended.
    fn try_ask(&mut self, method: &str, params: &Value) -> Option<Result<Value, Value>> {
        self.id += 1;
        let id = self.id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let mut answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(answer["id"], id, "{answer}");
        let result = answer.get_mut("result").map(Value::take);
        Some(result.ok_or_else(|| answer["error"].take()))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.try_ask(method, params).expect("an answer")
    }

    /// The structured result of a tool, or what it refused; none if the process has ended.
    fn try_call(&mut self, tool: &str, arguments: &Value) -> Option<Result<Value, String>> {
        let mut result =
            self.try_ask("tools/call", &json!({"name": tool, "arguments": arguments}))?.unwrap();
        Some(if result["isError"] == true {
            Err(result["content"][0]["text"].as_str().unwrap().to_owned())
        } else {
            Ok(result["structuredContent"].take())
        })
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.try_call(tool, arguments).expect("an answer").unwrap()
    }

    fn remember(&mut self, text: &str) -> String {
        let kept = self.call("remember", &json!({"text": text}));
        kept["outcome"].as_str().unwrap().to_owned()
    }

    /// Closes its input, as clients do, and waits for its end; returns whether it ended well.
    #[must_use]
    fn end(self) -> bool {
        let Agent { mut child, input, .. } = self;
        drop(input);
        child.wait().unwrap().success()
    }
}

/// The process that has the model, as its lock says.
fn owner(home: &Path, model: &str) -> u32 {
    let lock = std::fs::read_to_string(home.join(model).join("lock")).unwrap();
    lock.lines().next().unwrap().parse().unwrap()
}

/// The texts of live documents.
fn texts(home: &Path, model: &str) -> BTreeSet<String> {
    let snapshot = Snapshot::open(&home.join(model)).unwrap();
    let live = snapshot.documents().unwrap().into_iter();
    let live = live.filter(|document| document.state == DocumentState::Live);
    live.map(|document| snapshot.show(&document.id, None).unwrap().text.unwrap()).collect()
}

#[test]
fn every_revision_of_the_protocol_is_spoken() {
    let home = notes();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut agent = Agent::start_silent(home.path(), "notes.memo");
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        assert_eq!(agent.ask("initialize", &params).unwrap()["protocolVersion"], version);
        agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let found = agent.call("recall", &json!({"text": "the spare key"}));
        assert_eq!(found["passages"][0]["document"], "cat.txt", "{version}");
        assert!(agent.end());
    }
    // Since then there is no handshake: every request says for itself what it speaks.
    let mut agent = Agent::start_silent(home.path(), "notes.memo");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = agent.ask("server/discover", &json!({"_meta": meta})).unwrap();
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    let call = json!({"name": "recall", "arguments": {"text": "the spare key"}, "_meta": meta});
    let called = agent.ask("tools/call", &call).unwrap();
    assert_eq!(called["structuredContent"]["passages"][0]["document"], "cat.txt");
    assert!(agent.end());
}

#[test]
fn what_cannot_be_a_model_is_refused_at_the_start() {
    let home = notes();
    let refused = memo(home.path(), &["mcp", "notes"]).failure();
    let why = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(why.contains("not a model"), "{why}");
    assert!(refused.get_output().stdout.is_empty());
}

#[test]
fn several_processes_and_a_server_use_one_model_and_no_write_is_lost() {
    share(4, 20);
}

/// The same at full size; `cargo xtask load` runs it.
#[test]
#[ignore = "minutes"]
fn eight_processes_remember_a_thousand_texts_each() {
    share(8, 1000);
}

/// Has processes that start at the same time remember texts at the same time, and kills the one that has the model in the middle of it.
fn share(processes: usize, texts_each: usize) {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let kept: Mutex<BTreeSet<String>> = Mutex::default();
    let killed: Mutex<Option<u32>> = Mutex::default();
    std::thread::scope(|scope| {
        for process in 0..processes {
            let (kept, killed) = (&kept, &killed);
            scope.spawn(move || {
                // The model is not there yet: all of them want to make it.
                let mut agent = Agent::start(home, "shared.memo");
                for number in 0..texts_each {
                    let text = memory(process, number);
                    // The owner goes when half of all texts are kept, whoever it is then.
                    if process == 0 && number == texts_each / 2 {
                        let owner = owner(home, "shared.memo");
                        *killed.lock().unwrap() = Some(owner);
                        let kill = Command::new("kill").args(["-9", &owner.to_string()]).status();
                        assert!(kill.unwrap().success());
                    }
                    let Some(answer) = agent.try_call("remember", &json!({"text": text})) else {
                        assert_eq!(*killed.lock().unwrap(), Some(agent.child.id()));
                        let _ = agent.child.wait();
                        return;
                    };
                    answer.unwrap();
                    kept.lock().unwrap().insert(text);
                }
                // The owner may be killed when it has kept all of its own.
                let own = agent.child.id();
                assert!(agent.end() || *killed.lock().unwrap() == Some(own));
            });
        }
    });
    let (kept, there) = (kept.into_inner().unwrap(), texts(home, "shared.memo"));
    let lost: Vec<&String> = kept.difference(&there).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), kept.len());
    // Of the process that was killed, the last text may have been kept without an answer.
    assert!(there.len() <= kept.len() + 1, "{} for {}", there.len(), kept.len());
    assert!(kept.len() >= (processes - 1) * texts_each);
    said(home, &["verify", "shared.memo"]);
    println!("{} texts of {processes} processes kept, none lost", kept.len());
}

/// A text of its own: no two share more than a few words.
fn memory(process: usize, number: usize) -> String {
    let words =
        ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "ivory", "jolly"];
    let spelled = number
        .to_string()
        .bytes()
        .map(|digit| words[usize::from(digit - b'0')])
        .collect::<Vec<_>>();
    format!("Shelf {} of room {process} holds the {} lamp.", spelled.join(" "), words[number % 10])
}

#[test]
fn a_server_and_commands_take_the_model_from_agents_and_agents_go_on() {
    let home = notes();
    let home = home.path();
    let mut agents = [Agent::start(home, "notes.memo"), Agent::start(home, "notes.memo")];
    assert_eq!(agents[0].remember("The heron fishes at dawn by the mill."), "remembered");
    assert_eq!(agents[1].remember("The heron fishes at dawn by the mill."), "already known");
    assert_eq!(owner(home, "notes.memo"), agents[0].child.id());
    // A command changes the model: it is handed over, and then used by agents again.
    std::fs::write(home.join("notes/dog.txt"), "The dog guards the yellow gate of the farm.")
        .unwrap();
    let done = json(home, &["memorize", "notes.memo", "notes"]);
    assert_eq!(done["added"], json!(["dog.txt"]));
    for agent in &mut agents {
        let found = agent.call("recall", &json!({"text": "yellow gate"}));
        assert_eq!(found["passages"][0]["document"], "dog.txt");
    }
    // A server has it for as long as it runs, and agents go through it.
    let serving = crate::serve::Serving::start(home, &["notes.memo"]);
    assert_eq!(agents[0].remember("The mill was painted green last summer."), "remembered");
    let (status, found) = serving.ask("GET", "/api/closest?text=painted+mill", "");
    assert!(status == 200 && found.contains("painted green"), "{found}");
    assert_eq!(agents[1].remember("The mill was painted green last summer."), "already known");
    assert_eq!(owner(home, "notes.memo"), serving.id());
    // It is not handed over by a server, which others rely on.
    let refused = memo(home, &["forget", "notes.memo", "--doc", "cat.txt", "--yes"]).failure();
    let why = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(why.contains("is being written by process"), "{why}");
    serving.stop();
    let [mut first, second] = agents;
    let forgotten = first.call("forget", &json!({"text": CAT.trim(), "dry_run": false}));
    assert!(forgotten["receipt"]["digest_after"].is_string(), "{forgotten}");
    assert!(first.end());
    assert!(second.end());
    let all = texts(home, "notes.memo");
    assert!(all.contains("The mill was painted green last summer."), "{all:?}");
    assert!(!all.iter().any(|text| text.contains("blue stone")), "{all:?}");
}
