//! Facts, graphs and rules over HTTP: added, asked both ways, derived, explained, corrected and forgotten with what follows from them.

use crate::common::{Answer, Client, Server, small};
use memo_server::{Config, Key};
use memo_store::NewModel;
use memo_text::Tokenizer;
use serde_json::{Value, json};

const TABLE: &str = "Ada\tborn in\tLondon\nLondon\tcountry\tEngland\nGrace\tborn in\tNew York\n";
const RULES: &str = r#"
[templates]
nationality = "{subject} is from {object}."

[[rule]]
name = "nationality"
when = [["{x}", "born in", "{y}"], ["{y}", "country", "{z}"]]
then = ["{x}", "nationality", "{z}"]
"#;

fn model() -> NewModel {
    NewModel { tokenizer: Tokenizer::gpt2(), ..small() }
}

/// A server that knows where two people were born.
async fn people() -> (Server, Client) {
    let server = Server::start(&model(), Config::default()).await;
    let mut client = server.client().await;
    let added = client.ok("/api/graphs", &json!({"text": TABLE, "id": "people.tsv"})).await;
    assert_eq!(added["document"], "people.tsv", "{added}");
    assert_eq!((&added["facts"], &added["transaction"]), (&json!(3), &json!(1)));
    (server, client)
}

fn triples(facts: &Value) -> Vec<String> {
    let facts = facts["facts"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut triples: Vec<String> = facts
        .map(|f| [&f["subject"], &f["predicate"], &f["object"]].map(text).join(" | "))
        .collect();
    triples.sort();
    triples
}

fn refusal(answer: &Answer) -> (u16, String, String) {
    let error = answer.json()["error"].clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (answer.status, text(&error["param"]), text(&error["message"]))
}

#[tokio::test]
async fn facts_are_asked_from_both_ends() {
    let (_server, mut client) = people().await;
    let born = client.found("/api/facts?subject=Ada&predicate=born+in").await;
    assert_eq!(triples(&born), ["Ada | born in | London"]);
    assert_eq!(born["facts"][0]["documents"], json!(["people.tsv"]));
    let who = client.found("/api/facts?predicate=born+in&object=London").await;
    assert_eq!(triples(&who), ["Ada | born in | London"]);
    // In any case, and what is empty is anything.
    let any = client.found("/api/facts?subject=ada&predicate=&object=").await;
    assert_eq!(triples(&any), ["Ada | born in | London"]);
    let first = client.found("/api/facts?limit=2").await;
    assert_eq!((first["total"].as_u64(), triples(&first).len()), (Some(3), 2));
    assert_eq!(client.found("/api/facts?subject=Nobody").await["total"], 0);
}

#[tokio::test]
async fn graphs_are_listed_written_and_refused_in_words() {
    let (_server, mut client) = people().await;
    let again = client.ok("/api/graphs", &json!({"text": TABLE, "id": "people.tsv"})).await;
    assert_eq!(again["transaction"], Value::Null);
    client.ok("/api/documents", &json!({"text": "Ada wrote.", "id": "note"})).await;
    let list = client.found("/api/graphs").await;
    let entry = json!({"document": "people.tsv", "facts": 3, "triples": 3});
    assert_eq!(list, json!({"graphs": [entry], "total": 1}));

    let table = client.found("/api/graphs/people.tsv?format=table").await;
    let mut lines: Vec<&str> = TABLE.lines().collect();
    lines.sort_unstable();
    let text = table["text"].as_str().unwrap();
    assert_eq!(text.lines().filter(|line| lines.contains(line)).count(), 3, "{table}");
    let turtle = client.found("/api/graphs/people.tsv").await;
    assert!(turtle["text"].as_str().unwrap().contains("<urn:memo:Ada>"), "{turtle}");
    // What was written is read again as the same facts.
    let copy = json!({"text": turtle["text"], "format": "turtle", "id": "copy"});
    assert_eq!(client.ok("/api/graphs", &copy).await["facts"], 3);

    assert_eq!(client.get("/api/graphs/note").await.status, 404);
    assert_eq!(client.get("/api/graphs/nothing").await.status, 404);
    for (path, param) in [
        ("/api/graphs/people.tsv?format=docx", "format"),
        ("/api/graphs/copy?format=rdf-xml", "format"),
    ] {
        let (status, blamed, _) = refusal(&client.get(path).await);
        assert_eq!((status, &*blamed), (400, param), "{path}");
    }
    for (body, param, words) in [
        (json!({"text": "a\tb\n", "format": "table"}), "text", "line 1"),
        (json!({"text": "<a> <b> .", "id": "x.nt"}), "text", "line 1"),
        (json!({"text": TABLE}), "format", "`format` is needed"),
        (
            json!({"text": TABLE, "format": "table", "language": "no such"}),
            "language",
            "is no language",
        ),
        (json!({"text": " ", "format": "table"}), "text", "there is no graph"),
    ] {
        let (status, blamed, message) = refusal(&client.post("/api/graphs", &body).await);
        assert_eq!((status, &*blamed), (400, param), "{body}: {message}");
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn rules_are_tried_added_explained_and_taken_back() {
    let (server, mut client) = people().await;
    let before = client.found("/api/digest").await["digest"].clone();
    let preview = client.ok("/api/rules/preview", &json!({"text": RULES})).await;
    assert_eq!((&preview["facts"], &preview["texts"]), (&json!(1), &json!(1)), "{preview}");
    assert_eq!(preview["examples"][0], "Ada is from England.");
    assert_eq!(client.found("/api/digest").await["digest"], before);
    assert_eq!(client.found("/api/rules").await["total"], 0);

    let added = client.ok("/api/rules", &json!({"id": "people.toml", "text": RULES})).await;
    assert_eq!(
        (&added["document"], &added["examples"]),
        (&json!("people.toml"), &preview["examples"])
    );
    let rules = client.found("/api/rules").await;
    assert_eq!(
        (rules["total"].as_u64(), &rules["rules"][0]["document"]),
        (Some(2), &json!("people.toml"))
    );
    let from = client.found("/api/facts?subject=Ada&predicate=nationality").await;
    assert_eq!(triples(&from), ["Ada | nationality | England"]);
    assert_eq!(from["facts"][0]["rule"], "nationality");

    let why = client.found("/api/why?statement=Ada+%7C+nationality+%7C+England").await;
    let steps = why["steps"].as_array().unwrap();
    assert_eq!((&steps[0]["depth"], &steps[0]["rule"]), (&json!(0), &json!("nationality")));
    assert!(steps.iter().any(|step| step["documents"] == json!(["people.tsv"])), "{why}");
    let said = client.ok("/api/complete", &json!({"prompt": "Ada is from", "sources": true})).await;
    assert_eq!(said["completion"], " England.", "{said}");
    assert_eq!(said["sources"][0]["derivation"][0]["statement"], "Ada is from England.", "{said}");
    let explained = client.ok("/api/explain", &json!({"prompt": "Ada is from"})).await;
    assert_eq!(explained["candidates"][0]["derivation"][1]["rule"], "nationality", "{explained}");
    assert_eq!(client.found("/api/why?statement=Nobody+knows").await["steps"], json!([]));

    // Forgotten rules leave a memory that never had them.
    assert_eq!(client.delete("/api/documents/people.toml").await.status, 200);
    assert_eq!(client.found("/api/digest").await["digest"], before);
    drop(server);
}

#[tokio::test]
async fn rules_are_refused_with_their_line() {
    let (_server, mut client) = people().await;
    let large = format!("# {}\n{RULES}", "x".repeat(1 << 20));
    for (text, words) in [
        ("[[rule]]\nwhen = [\n", "line 2"),
        ("[[rule]]\nwhen = \"{x} sleeps.\"\nthen = [\"{y}\", \"is\", \"asleep\"]\n", "line 3"),
        ("# nothing\n", "there is no rule"),
        (&large, "at most 1048576 bytes"),
    ] {
        for (path, body) in [
            ("/api/rules/preview", json!({"text": text})),
            ("/api/rules", json!({"id": "r.toml", "text": text})),
        ] {
            let (status, param, message) = refusal(&client.post(path, &body).await);
            assert_eq!((status, &*param), (400, "text"), "{path}: {message}");
            assert!(message.contains(words), "{path}: {message}");
        }
    }
    assert_eq!(client.post("/api/rules", &json!({"text": RULES})).await.status, 400);
}

#[tokio::test]
async fn facts_are_stated_corrected_and_forgotten_with_what_follows() {
    let (_server, mut client) = people().await;
    client.ok("/api/rules", &json!({"id": "people.toml", "text": RULES})).await;
    let facts = json!([
        {"subject": "New York", "predicate": "country", "object": "USA"},
        {"subject": "Ada", "predicate": "born in", "object": "New York"},
    ]);
    let done = client.ok("/api/facts", &json!({"facts": facts, "reason": "as of May"})).await;
    assert!(done["transaction"].as_u64().unwrap() > 2, "{done}");
    let from = client.found("/api/facts?predicate=nationality").await;
    assert_eq!(triples(&from), ["Ada | nationality | USA", "Grace | nationality | USA"]);
    let known = client.post("/api/facts", &json!({"facts": facts})).await;
    assert_eq!(known.status, 400, "{}", known.text());

    let what = json!({"subject": "Grace", "predicate": "born in"});
    let preview = client.ok("/api/forget", &json!({"facts": what, "dry_run": true})).await;
    assert_eq!(
        (&preview["places"], &preview["documents"][0]["document"]),
        (&json!(1), &json!("people.tsv"))
    );
    let receipt = client.ok("/api/forget", &json!({"facts": what})).await;
    assert_eq!(receipt["documents"], json!(["people.tsv"]), "{receipt}");
    let from = client.found("/api/facts?predicate=nationality").await;
    assert_eq!(triples(&from), ["Ada | nationality | USA"]);
    assert_eq!(client.found("/api/facts?subject=Grace").await["total"], 0);

    for (path, wrong, status) in [
        ("/api/forget", json!({"facts": {}}), 400),
        ("/api/forget", json!({"facts": what, "text": "Ada"}), 400),
        ("/api/forget", json!({"facts": what, "dry_run": true}), 404),
        ("/api/facts", json!({"facts": []}), 400),
        ("/api/facts", json!({"facts": [{"subject": " ", "predicate": "a", "object": "b"}]}), 400),
        ("/api/facts", json!({"facts": vec![facts[0].clone(); 1001]}), 400),
    ] {
        let answer = client.post(path, &wrong).await;
        assert_eq!(answer.status, status, "{path} {wrong}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_key_that_reads_tries_rules_and_changes_nothing() {
    let keys = ["write-0123456789abcdef", "read:reads-0123456789abcdef"];
    let keys = keys.iter().map(|key| Key::parse(key).unwrap()).collect();
    let server = Server::start(&model(), Config { keys, ..Config::default() }).await;
    let mut client = server.client().await;
    client.key = Some("reads-0123456789abcdef".to_owned());
    for path in ["/api/facts", "/api/graphs", "/api/rules", "/api/why?statement=x"] {
        assert_eq!(client.get(path).await.status, 200, "{path}");
    }
    client.ok("/api/rules/preview", &json!({"text": RULES})).await;
    let fact = json!({"subject": "a", "predicate": "b", "object": "c"});
    for (path, body) in [
        ("/api/graphs", json!({"text": TABLE, "format": "table"})),
        ("/api/rules", json!({"id": "r", "text": RULES})),
        ("/api/facts", json!({"facts": [fact]})),
        ("/api/forget", json!({"facts": fact})),
    ] {
        assert_eq!(client.post(path, &body).await.status, 403, "{path}");
    }
    client.key = Some("write-0123456789abcdef".to_owned());
    client.ok("/api/facts", &json!({"facts": [fact]})).await;
    assert_eq!(triples(&client.found("/api/facts").await), ["a | b | c"]);
}
