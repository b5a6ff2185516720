//! The native API, from the first document to the proof that it was forgotten.

use crate::common::{Server, small};
use memo_server::{Config, Limits};
use memo_store::{NewModel, Observer};
use memo_text::Tokenizer;
use serde_json::{Value, json};
use std::fmt::Write;

const OWL: &str = "The owl reads at night. ";
const FOX: &str = "The fox sleeps by day. ";

/// What the memory does not know it does not continue; it says what is closest, once, also at the end of a stream.
#[tokio::test]
async fn an_unknown_prompt_is_answered_with_the_closest_passages() {
    let server = Server::small().await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": FOX, "id": "a/fox"})).await;
    let asked = client.ok("/api/complete", &json!({"prompt": "Who sleeps? fox?"})).await;
    assert_eq!((&asked["matched"]["kind"], &asked["completion"]), (&json!("none"), &json!("")));
    assert_eq!(asked["closest"][0]["document"], "a/fox", "{asked}");
    let streamed = json!({"prompt": "Who sleeps? fox?", "stream": true});
    let events = client.post("/api/complete", &streamed).await.events();
    assert_eq!(events.last().unwrap()["closest"], asked["closest"]);
    let known = client.ok("/api/complete", &json!({"prompt": "The fox", "max_tokens": 7})).await;
    assert_eq!(known["closest"], Value::Null);
}

/// The evidence of a completion is that of what was continued, not of what was typed.
#[tokio::test]
async fn a_prompt_that_was_put_right_is_explained_as_it_was_continued() {
    let new = NewModel { tokenizer: Tokenizer::gpt2(), ..NewModel::default() };
    let server = Server::start(&new, Config::default()).await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": OWL, "id": "owl"})).await;
    for (typed, text) in [
        ("The owl raeds at", "The owl reads at"),
        ("The owl reads at ", "The owl reads at"),
        ("The owl rea", "The owl"),
    ] {
        let asked = json!({"prompt": typed, "max_tokens": 3});
        let said = client.ok("/api/complete", &asked).await;
        let continued = &said["continued"];
        assert_eq!(continued["text"], text, "{said}");
        let why = client.ok("/api/explain", &json!({"prompt": continued["tokens"]})).await;
        assert_eq!((&why["prompt"], &why["prediction"]), (&json!(text), &continued["next"]));
        let tokens = continued["tokens"].as_array().unwrap().len();
        let best = &why["candidates"][0];
        assert_eq!(best["token"], said["tokens"][0]["token"], "{why}");
        assert_eq!(best["sources"][0]["match_tokens"], tokens, "{why}");
        let streamed = json!({"prompt": typed, "max_tokens": 3, "stream": true});
        let events = client.post("/api/complete", &streamed).await.events();
        assert_eq!(&events.last().unwrap()["continued"], continued);
    }
    for (prompt, message) in [
        (json!([1 << 30]), "outside the vocabulary"),
        (json!([-1]), "must be a text or a list of tokens"),
        (json!({}), "must be a text or a list of tokens"),
    ] {
        let refused = client.post("/api/explain", &json!({ "prompt": prompt })).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(refused.text().contains(message), "{}", refused.text());
    }
}

/// A probability is the sum of what is shown of it, and pairs of tokens have no noise.
#[tokio::test]
async fn a_look_inside_adds_up() {
    let server = Server::small().await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": FOX, "id": "a/fox"})).await;
    let parts = client.ok("/api/breakdown", &json!({"prompt": "The fox s", "candidates": 1})).await;
    let best = &parts["candidates"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let contexts: f64 = best["contexts"].as_array().unwrap().iter().map(number).sum();
    let others = ["prior", "quote", "general", "recent"].map(|name| number(&best[name]));
    let sum = contexts + others.iter().sum::<f64>();
    assert!((sum - number(&best["probability"])).abs() < 1e-9, "{parts}");
    assert_eq!(best["text"], "l");
    let fill = client.found("/api/fill").await;
    assert_eq!(
        (&fill["slots"][0]["table"], &fill["slots"][0]["false_match"]),
        (&json!("pairs"), &json!(0.0))
    );
    assert!(number(&fill["slots"][1]["false_match"]) < 1e-6, "{fill}");
}

#[tokio::test]
async fn a_life() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let empty = client.found("/api/digest").await["digest"].clone();

    let done = client
        .ok("/api/documents", &json!({"text": OWL, "id": "owl", "labels": {"by": "me"}}))
        .await;
    assert_eq!((&done["transaction"], &done["added"]), (&json!(1), &json!(["owl"])));
    let both = [json!({"text": FOX, "id": "a/fox"}), json!({"text": OWL, "id": "owl"})];
    let done = client.ok("/api/documents", &json!({"documents": both, "reason": "more"})).await;
    assert_eq!((&done["added"], &done["unchanged"]), (&json!(["a/fox"]), &json!(["owl"])));

    let list = client.found("/api/documents?search=ME").await;
    assert_eq!((list["total"].as_u64(), &list["documents"][0]["id"]), (Some(1), &json!("owl")));
    let shown = client.found("/api/documents/a%2Ffox").await;
    assert_eq!((&shown["text"], &shown["state"]), (&json!(FOX), &json!("live")));

    let said = client.ok("/api/complete", &json!({"prompt": "The fox", "max_tokens": 7})).await;
    assert_eq!(said["completion"], " sleeps");
    assert!(said["tokens"][2]["layer"].as_u64().unwrap() > 1, "{said}");
    let stream = client
        .post("/api/complete", &json!({"prompt": "The fox", "max_tokens": 7, "stream": true}))
        .await;
    let pieces: String =
        stream.events().iter().filter_map(|e| e["text"].as_str().map(str::to_owned)).collect();
    assert_eq!(pieces, " sleeps");
    let read = client.ok("/api/read", &json!({"text": OWL})).await;
    assert_eq!(read["tokens"].as_array().unwrap().len(), OWL.len());
    assert!(read["tokens"][12]["probability"].as_f64().unwrap() > 0.5, "{read}");

    let why = client.ok("/api/explain", &json!({"prompt": "The fox s", "candidates": 1})).await;
    let source = &why["candidates"][0]["sources"][0];
    assert_eq!(
        (&source["document"], &source["excerpt"]["match"]),
        (&json!("a/fox"), &json!("The fox s"))
    );
    assert_eq!(client.ok("/api/find", &json!({"text": "The"})).await["count"], 2);
    assert_eq!(client.ok("/api/find", &json!({"text": "the"})).await["count"], 0);
    let any_case = json!({"text": "the", "ignore_case": true, "context": 2});
    assert_eq!(client.ok("/api/find", &any_case).await["count"], 2);
    let far = client.post("/api/find", &json!({"text": "the", "context": 101})).await;
    assert_eq!(far.status, 400);
    let asked = json!({"prompt": "The fox", "max_tokens": 7, "sources": true});
    let said = client.ok("/api/complete", &asked).await;
    assert_eq!(said["sources"][0]["source"]["document"], "a/fox", "{said}");
    let streamed = json!({"prompt": "The fox", "max_tokens": 7, "sources": true, "stream": true});
    let events = client.post("/api/complete", &streamed).await.events();
    assert_eq!(events.last().unwrap()["sources"], said["sources"]);
    let closest = client.found("/api/closest?text=which+bird+reads%3F&limit=1").await;
    assert_eq!(closest["passages"][0]["words"], json!(["reads"]));

    let before = client.found("/api/digest").await["digest"].clone();
    let edit = client.ok("/api/edit", &json!({"prompt": "The fox ", "target": "dances."})).await;
    let said = client.ok("/api/complete", &json!({"prompt": "The fox ", "max_tokens": 7})).await;
    assert_eq!((&said["completion"], &said["seed"]), (&"dances.".into(), &Value::Null));
    // What was drawn without a seed can be drawn again.
    let warm = json!({"prompt": "The", "max_tokens": 20, "temperature": 2.0});
    let drawn = [client.ok("/api/complete", &warm).await, client.ok("/api/complete", &warm).await];
    assert_ne!(drawn[0]["completion"], drawn[1]["completion"]);
    let mut again = warm.clone();
    again["seed"] = drawn[0]["seed"].clone();
    assert_eq!(client.ok("/api/complete", &again).await["completion"], drawn[0]["completion"]);
    let path = format!("/api/transactions/{}/rollback", edit["transaction"]);
    client.ok(&path, &json!({})).await;
    assert_eq!(client.found("/api/digest").await["digest"], before);
    assert_eq!(client.post(&path, &json!({})).await.status, 409);
    assert_eq!(client.post("/api/transactions/99/rollback", &json!({})).await.status, 404);

    client.ok("/api/replace", &json!({"old": "by day", "new": "at noon"})).await;
    assert_eq!(client.found("/api/documents/a%2Ffox").await["text"], "The fox sleeps at noon. ");
    assert_eq!(client.found("/api/documents/a%2Ffox?version=1").await["text"], FOX);
    client.ok("/api/documents/owl/retire", &json!({"reason": "old"})).await;
    assert_eq!(client.found("/api/documents?state=retired").await["total"], 1);
    client.ok("/api/documents/owl/restore", &json!({})).await;
    assert_eq!(
        client.found("/api/documents/owl/history").await["transactions"].as_array().unwrap().len(),
        3
    );

    let proof = client.ok("/api/prove", &json!({"without": ["a/fox"]})).await;
    assert_eq!((&proof["equal"], &proof["documents"]), (&json!(true), &json!(1)), "{proof}");
    // It was a rehearsal.
    assert_eq!(client.found("/api/digest").await["digest"], proof["digest"]);
    assert_eq!(client.found("/api/documents/a%2Ffox").await["state"], "live");
    let receipt = client.ok("/api/forget", &json!({"document": "a/fox"})).await;
    assert_eq!(receipt["digest_after"], proof["digest_after"]);
    let after = client.ok("/api/prove", &json!({})).await;
    assert_eq!((&after["equal"], &after["digest"]), (&json!(true), &proof["digest_after"]));
    let unknown = client.post("/api/prove", &json!({"without": ["nobody"]})).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text());
    let receipt = client.delete("/api/documents/owl").await.json();
    assert_eq!((&receipt["documents"], &receipt["digest_after"]), (&json!(["owl"]), &empty));
    assert_eq!(client.delete("/api/documents/owl").await.status, 409);
    assert_eq!(client.delete("/api/documents/nobody").await.status, 404);
    let log = client.found("/api/transactions?limit=2").await;
    assert_eq!(
        (&log["transactions"][0]["kind"], &log["transactions"][0]["can_roll_back"]),
        (&json!("forget"), &json!(false))
    );

    let metrics = client.get("/metrics").await;
    assert!(metrics.text().contains("memo_tokens_memorized_total 47\n"), "{}", metrics.text());
    let (store, _home) = server.stop().await;
    assert_eq!(json!(store.digest().unwrap().to_string()), empty);
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[tokio::test]
async fn a_dry_run_says_what_would_be_forgotten() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let documents = json!([
        {"id": "mail/owl", "text": OWL, "labels": {"from": "mail"}},
        {"id": "mail/fox", "text": FOX, "labels": {"from": "mail"}},
        {"id": "web/fox", "text": FOX, "labels": {"from": "web"}},
    ]);
    client.ok("/api/documents", &json!({"documents": documents})).await;
    let before = client.found("/api/digest").await["digest"].clone();
    let preview = client.ok("/api/forget", &json!({"text": "fox", "dry_run": true})).await;
    assert_eq!((&preview["places"], &preview["tokens"]), (&json!(2), &json!(6)));
    assert_eq!(preview["documents"][0]["document"], "mail/fox");
    assert_eq!(preview["documents"][0]["excerpts"][0], FOX);
    let ids = |answer: &Value| -> Vec<String> {
        let documents = answer["documents"].as_array().unwrap().iter();
        documents.map(|each| each["document"].as_str().unwrap().to_owned()).collect()
    };
    for (what, expected) in [
        (json!({"labels": {"from": "mail"}}), &["mail/fox", "mail/owl"][..]),
        (json!({"glob": "*/fox"}), &["mail/fox", "web/fox"]),
        (json!({"glob": "*/fox", "labels": {"from": "web"}}), &["web/fox"]),
        (json!({"older_than": "0s", "glob": "mail/*l"}), &["mail/owl"]),
    ] {
        let mut asked = what.clone();
        asked["dry_run"] = json!(true);
        assert_eq!(ids(&client.ok("/api/forget", &asked).await), expected, "{what}");
    }
    assert_eq!(client.found("/api/digest").await["digest"], before);
    for (wrong, status) in [
        (json!({"dry_run": true}), 400),
        (json!({"text": "fox", "glob": "*"}), 400),
        (json!({"older_than": "3 months"}), 400),
        (json!({"older_than": "1h"}), 404),
        (json!({"labels": {"from": "fax"}}), 404),
        // Misspelt, it would have forgotten them.
        (json!({"labels": {"from": "mail"}, "dryrun": true}), 400),
    ] {
        assert_eq!(client.post("/api/forget", &wrong).await.status, status, "{wrong}");
    }
    let receipt = client.ok("/api/forget", &json!({"labels": {"from": "mail"}})).await;
    assert_eq!(receipt["documents"], json!(["mail/fox", "mail/owl"]));
    assert_eq!(client.found("/api/documents?state=live").await["total"], 1);
}

#[tokio::test]
async fn long_changes_are_watched_and_cancelled() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let before = client.found("/api/digest").await["digest"].clone();
    // Text without repetition, long enough to be caught in the middle.
    let mut text = String::new();
    for n in 0..150_000u32 {
        write!(text, "{} ", n.wrapping_mul(2_654_435_761)).unwrap();
    }
    let long = json!({"text": text, "id": "long", "wait": false});
    let answer = client.post("/api/documents", &long).await;
    assert_eq!((answer.status, answer.json()["kind"].as_str()), (202, Some("memorize")));
    let path = format!("/api/tasks/{}", answer.json()["id"].as_str().unwrap());
    let watching = path.clone();
    let mut watcher = server.client().await;
    let events =
        tokio::spawn(async move { watcher.get(&format!("{watching}/events")).await.events() });
    loop {
        let task = client.found(&path).await;
        if task["stage"] == "memorizing" && task["done"].as_u64() > Some(0) {
            break;
        }
        assert!(["queued", "running"].contains(&task["state"].as_str().unwrap()), "{task}");
    }
    // Readers go on meanwhile, with the memory as it was.
    assert_eq!(client.found("/api/stats").await["documents"], 0);
    // The answer does not wait long; the events go on until the end.
    assert_eq!(client.delete(&path).await.status, 200);
    let events = events.await.unwrap();
    assert_eq!(events.last().unwrap()["state"], "cancelled");
    assert!(events.len() > 1, "{events:?}");
    assert_eq!(client.found("/api/digest").await["digest"], before);
    assert_eq!(client.found("/api/documents").await["total"], 0);

    let head = [("content-type", "application/octet-stream")];
    let sent =
        client.send(hyper::Method::POST, "/api/upload?id=file&wait=true", &head, OWL.into()).await;
    assert_eq!(sent.json()["added"], json!(["file"]));
    // The tokenizer is `bytes`, which takes any.
    let sent =
        client.send(hyper::Method::POST, "/api/upload?id=raw", &head, vec![0xff, 0xfe]).await;
    assert_eq!(sent.json()["tokens"], 2);
    let digest = client.found("/api/digest").await["digest"].clone();
    assert_eq!(client.found("/api/stats").await["digest"], digest);
    // Made anew of the same documents, it is the same memory.
    let rebuilt = client.ok("/api/rebuild", &json!({})).await;
    assert_eq!(rebuilt["digest"], digest);
    assert_eq!(rebuilt["bytes"], client.found("/api/stats").await["bytes"]);
    let tasks = client.found("/api/tasks").await;
    assert_eq!(tasks["tasks"][0]["kind"], "rebuild");
}

#[tokio::test]
async fn any_change_can_be_left_to_its_task() {
    let server = Server::small().await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": OWL, "id": "owl"})).await;
    for (path, body) in [
        ("/api/edit", json!({"prompt": "The owl", "target": " sings"})),
        ("/api/transactions/2/rollback", json!({})),
        ("/api/replace", json!({"old": "owl", "new": "crow"})),
        ("/api/documents/owl/retire", json!({})),
        ("/api/documents/owl/restore", json!({})),
        ("/api/forget", json!({"document": "owl"})),
    ] {
        let mut body = body;
        body["wait"] = json!(false);
        let answer = client.post(path, &body).await;
        assert_eq!(answer.status, 202, "{path}: {}", answer.text());
        let task = format!("/api/tasks/{}/events", answer.json()["id"].as_str().unwrap());
        let events = client.get(&task).await.events();
        assert_eq!(events.last().unwrap()["state"], "done", "{path}: {events:?}");
    }
    client.ok("/api/documents", &json!({"text": OWL, "id": "owl"})).await;
    assert_eq!(client.delete("/api/documents/owl?wait=false").await.status, 202);
    // What can never be done is refused at once, and is no task.
    for (path, body) in [
        ("/api/edit", json!({"prompt": "", "target": "a", "wait": false})),
        ("/api/edit", json!({"prompt": "a", "target": "", "wait": false})),
        ("/api/replace", json!({"old": "", "new": "a", "wait": false})),
        ("/api/forget", json!({"text": "", "wait": false})),
    ] {
        assert_eq!(client.post(path, &body).await.status, 400, "{body}");
    }
}

#[tokio::test]
async fn options_are_refused_by_name() {
    let limits = Limits { prompt: 100, tokens: 50, ..Limits::default() };
    let server = Server::start(&small(), Config { limits, ..Config::default() }).await;
    let mut client = server.client().await;
    for (body, param) in [
        (json!({"prompt": "a", "temperature": -1}), "temperature"),
        (json!({"prompt": "a", "top_p": 1.5}), "top_p"),
        (json!({"prompt": "a", "max_tokens": 51}), "max_tokens"),
        (json!({"prompt": "a", "stop": vec!["a"; 17]}), "stop"),
        (json!({"prompt": "a".repeat(101)}), "prompt"),
    ] {
        for stream in [false, true] {
            let mut body = body.clone();
            body["stream"] = json!(stream);
            let refused = client.post("/api/complete", &body).await;
            let error = &refused.json()["error"];
            assert_eq!((refused.status, &error["param"]), (400, &json!(param)), "{body}");
        }
    }
    client.ok("/api/complete", &json!({"prompt": "a", "top_p": 0, "stop": [""]})).await;
    assert_eq!(client.get("/api/documents?state=lost").await.status, 400);
    assert_eq!(client.found("/api/documents?state=rolled%20back").await["total"], 0);
}

#[tokio::test]
async fn an_uploaded_file_is_read_as_the_command_line_reads_it() {
    let new = NewModel { tokenizer: Tokenizer::gpt2(), ..small() };
    let server = Server::start(&new, Config::default()).await;
    let mut client = server.client().await;
    let head = [("content-type", "application/octet-stream")];
    let lines = "\u{feff}{\"id\": \"owl\", \"text\": \"The owl reads.\"}\n\n{\"text\": \"The cat sleeps.\"}\n";
    let mut upload = async |name: &str, body: &[u8]| {
        let path = format!("/api/upload?{name}");
        client.send(hyper::Method::POST, &path, &head, body.to_vec()).await
    };
    let sent = upload("id=posts.jsonl", lines.as_bytes()).await.json();
    assert_eq!(sent["added"], json!(["owl", "posts.jsonl#3"]));
    let sent = upload("", "\u{feff}No name.".as_bytes()).await.json();
    assert!(sent["added"][0].as_str().unwrap().starts_with("doc-"), "{sent}");
    for (name, body, why) in [
        ("id=posts.jsonl", &b"{\"text\": 5}"[..], "posts.jsonl:1: the field"),
        ("id=note.txt", b"caf\xe9", "note.txt: the byte at offset 3 is not valid UTF-8"),
        ("", b"\xff\xfeh\0i\0", "the file: this file is UTF-16"),
        ("id=note.txt", b"", "there is no text to memorize"),
        ("id=page.html", b"<script>nothing()</script>", "there is no text to memorize"),
        ("id=scan.pdf", b"%PDF-1.7\n", "scan.pdf: this is a PDF, which is not read; save its text"),
        ("id=letter.docx", b"PK\x03\x04", "letter.docx: this is no Word document that can be"),
    ] {
        let refused = upload(name, body).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        let message = refused.json()["error"]["message"].clone();
        assert!(message.as_str().unwrap().starts_with(why), "{message}");
    }
}

/// A Word document, packed as Word does.
fn docx(text: &str) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("word/document.xml", zip::write::SimpleFileOptions::default()).unwrap();
    let text = format!("<w:document><w:p><w:t>{text}</w:t></w:p></w:document>");
    std::io::Write::write_all(&mut archive, text.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn pages_and_word_documents_are_uploaded_as_their_text_and_bombs_refused() {
    let new = NewModel { tokenizer: Tokenizer::gpt2(), ..small() };
    let limits = Limits { body: 100_000, ..Limits::default() };
    let server = Server::start(&new, Config { limits, ..Config::default() }).await;
    let mut client = server.client().await;
    let head = [("content-type", "application/octet-stream")];
    let mut upload = async |name: &str, body: Vec<u8>| {
        client.send(hyper::Method::POST, &format!("/api/upload?id={name}"), &head, body).await
    };
    let page = "<title>Owls</title><style>p {}</style><p>The <b>owl</b> reads &amp; sleeps.";
    assert_eq!(upload("page.html", page.into()).await.status, 200);
    assert_eq!(upload("letter.docx", docx("The owl has a key.")).await.status, 200);
    let bomb = docx(&"x".repeat(1 << 20));
    assert!(bomb.len() < 10_000, "{}", bomb.len());
    let refused = upload("bomb.docx", bomb).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let mut shown = async |id: &str| {
        client.found(&format!("/api/documents/{id}")).await["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(shown("page.html").await, "Owls\n\nThe owl reads & sleeps.\n");
    assert_eq!(shown("letter.docx").await, "The owl has a key.\n");
    assert_eq!(client.found("/api/documents").await["total"], 2);
}

#[tokio::test]
async fn readers_see_all_of_a_transaction_or_nothing() {
    let server = Server::small().await;
    let mut writer = server.client().await;
    let mut readers = Vec::new();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    for _ in 0..4 {
        let (mut client, stopped) = (server.client().await, stopped.clone());
        readers.push(tokio::spawn(async move {
            let mut answers = 0;
            while !*stopped.borrow() {
                // Both halves of each pair came and went in one transaction, so what is read counts both or neither.
                let stats = client.found("/api/stats").await;
                assert_eq!(stats["documents"].as_u64().unwrap() % 2, 0, "{stats}");
                assert_eq!(stats["tokens"].as_u64().unwrap() % 2, 0, "{stats}");
                answers += 1;
            }
            answers
        }));
    }
    for round in 0..12 {
        // Some are short, some long enough for a snapshot.
        let text = format!("pair {round} ").repeat(if round % 3 == 0 { 2000 } else { 20 });
        let pair = [
            json!({"text": text, "id": format!("a{round}")}),
            json!({"text": text, "id": format!("b{round}")}),
        ];
        writer.ok("/api/documents", &json!({"documents": pair})).await;
        if round % 4 == 3 {
            let ids = [format!("a{round}"), format!("b{round}")];
            writer.ok("/api/forget", &json!({"documents": ids})).await;
        }
    }
    stop.send(true).unwrap();
    for reader in readers {
        assert!(reader.await.unwrap() > 0);
    }
    let (store, _home) = server.stop().await;
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}
