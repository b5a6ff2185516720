//! The lexicon over HTTP: what it says, what it does to completions and explanations, how to leave it out, and how to change it.

use crate::common::{Client, Server, small};
use memo::lexicon::{Lexicon, source_digest};
use memo_server::Config;
use memo_store::NewModel;
use serde_json::{Value, json};
use std::sync::Arc;

const ROME: &str = "Anna drives a Volvo to Rome.";
const TABLE: &str = "Volvo\tcar\tvehicle\nFiat\tcar\tvehicle\nbus\tcoach\tvehicle\n";

/// A lexicon of three words and two levels.
fn lexicon() -> Lexicon {
    let entries = TABLE.lines().map(|line| {
        let mut fields = line.split('\t');
        let word = fields.next().unwrap().to_owned();
        (word, fields.map(|class| Some(class.to_owned())).collect::<Vec<_>>())
    });
    Lexicon::new(entries).unwrap()
}

async fn with_lexicon() -> (Server, Client) {
    start(lexicon()).await
}

async fn start(lexicon: Lexicon) -> (Server, Client) {
    let new = NewModel { lexicon: Some(Arc::new(lexicon)), ..small() };
    let server = Server::start(&new, Config::default()).await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": ROME, "id": "rome"})).await;
    (server, client)
}

async fn refused(client: &mut Client, path: &str, status: u16) -> String {
    let answer = client.get(path).await;
    assert_eq!(answer.status, status, "{path}: {}", answer.text());
    answer.json()["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn words_and_classes_can_be_asked() {
    let (_server, mut client) = with_lexicon().await;
    let shown = client.found("/api/lexicon").await;
    assert_eq!((&shown["words"], &shown["classes"]), (&json!(3), &json!([2, 1])));
    assert_eq!(shown, client.found("/api/stats").await["lexicon"]);

    let word = client.found("/api/lexicon/words/FIAT").await;
    let classes = json!([{"level": 0, "class": "car"}, {"level": 1, "class": "vehicle"}]);
    assert_eq!(word, json!({"word": "FIAT", "classes": classes}));
    let missing = refused(&mut client, "/api/lexicon/words/Rome", 404).await;
    assert_eq!(missing, "the lexicon has no class for \"Rome\"");

    let class = client.found("/api/lexicon/classes/vehicle?limit=2").await;
    let words = json!(["bus", "fiat"]);
    assert_eq!(class, json!({"level": 1, "class": "vehicle", "total": 3, "words": words}));
    let missing = refused(&mut client, "/api/lexicon/classes/boat", 404).await;
    assert_eq!(missing, "the lexicon has no class \"boat\"");
}

#[tokio::test]
async fn the_words_of_a_text_are_found_where_they_stand() {
    let (_server, mut client) = with_lexicon().await;
    // Characters count, not bytes.
    let text = "Über Bus und FIAT’s Fiat";
    let found = client.ok("/api/lexicon/text", &json!({"text": text})).await;
    let characters: Vec<char> = text.chars().collect();
    let words = found["words"].as_array().unwrap();
    for word in words {
        let place = |name: &str| word[name].as_u64().unwrap() as usize;
        let there: String = characters[place("start")..place("end")].iter().collect();
        assert_eq!(json!(there), word["word"], "{found}");
    }
    let words: Vec<&Value> = words.iter().map(|word| &word["word"]).collect();
    assert_eq!(words, [&json!("Bus"), &json!("Fiat")], "{found}");
    let long = client.post("/api/lexicon/text", &json!({"text": "a".repeat(1 << 21)})).await;
    assert_eq!((long.status, &long.json()["error"]["param"]), (400, &json!("text")));
}

#[tokio::test]
async fn a_model_without_a_lexicon_says_so() {
    let server = Server::small().await;
    let mut client = server.client().await;
    for path in ["", "/words/Fiat", "/classes/car"] {
        let message = refused(&mut client, &format!("/api/lexicon{path}"), 404).await;
        assert!(message.contains("the model has no lexicon"), "{message}");
    }
    let text = client.post("/api/lexicon/text", &json!({"text": "Fiat"})).await;
    assert_eq!(text.status, 404);
    assert_eq!(client.found("/api/stats").await["lexicon"], Value::Null);
}

#[tokio::test]
async fn completions_and_explanations_generalise_unless_told_not_to() {
    let (_server, mut client) = with_lexicon().await;
    let prompt = "Anna drives a Fiat to";
    let complete = |generalize: f64| json!({"prompt": prompt, "max_tokens": 5, "guess": true, "generalize": generalize});
    let general = client.ok("/api/complete", &complete(1.0)).await;
    assert_eq!(general["completion"], " Rome", "{general}");
    let first = |said: &Value| said["tokens"][0]["probability"].as_f64().unwrap();
    let plain = client.ok("/api/complete", &complete(0.0)).await;
    assert_ne!(first(&general), first(&plain));

    let explain =
        |generalize: Value| json!({"prompt": prompt, "candidates": 1, "generalize": generalize});
    let explained = client.ok("/api/explain", &explain(Value::Null)).await;
    assert_eq!(explained, client.ok("/api/explain", &explain(json!(1))).await);
    let why = &explained["candidates"][0]["general"][0];
    let fiat = why["context"].as_array().unwrap().iter().find(|unit| unit["text"] == "Fiat");
    assert_eq!(fiat.unwrap()["class"], "car", "{explained}");
    let source = &why["sources"][0];
    assert_eq!(source["differences"], json!([["Fiat", "Volvo"]]), "{explained}");
    assert_eq!(source["place"]["document"], "rome");
    let without = client.ok("/api/explain", &explain(json!(0))).await;
    assert_eq!(without["candidates"][0]["general"], json!([]));

    let text = format!("{prompt} Rome");
    let read = |generalize: f64| json!({"text": text, "generalize": generalize});
    let (general, plain) =
        (client.ok("/api/read", &read(1.0)).await, client.ok("/api/read", &read(0.0)).await);
    // How probable the end is, token by token.
    let probable = |read: &Value| {
        let end = read["tokens"].as_array().unwrap()[prompt.len()..].iter();
        end.map(|token| token["probability"].as_f64().unwrap()).product::<f64>()
    };
    assert!((probable(&general) - probable(&plain)).abs() > 1e-9, "{general} {plain}");

    // As an extension of OpenAI's API, where the prompt can be scored too.
    let scored = |generalize: f64| json!({"prompt": text, "max_tokens": 0, "echo": true, "logprobs": 0, "generalize": generalize});
    let (general, plain) = (
        client.ok("/v1/completions", &scored(1.0)).await,
        client.ok("/v1/completions", &scored(0.0)).await,
    );
    let logprob = |said: &Value| {
        let all = said["choices"][0]["logprobs"]["token_logprobs"].as_array().unwrap();
        all[prompt.len()..].iter().map(|logprob| logprob.as_f64().unwrap()).sum::<f64>()
    };
    assert!((logprob(&general) - logprob(&plain)).abs() > 1e-9, "{general} {plain}");
    let chat = |generalize: f64| {
        json!({"messages": [{"role": "user", "content": prompt}], "max_tokens": 4, "logprobs": true,
               "generalize": generalize})
    };
    let (general, plain) = (
        client.ok("/v1/chat/completions", &chat(1.0)).await,
        client.ok("/v1/chat/completions", &chat(0.0)).await,
    );
    let logprobs = |said: &Value| said["choices"][0]["logprobs"].clone();
    assert_ne!(logprobs(&general), logprobs(&plain));
}

#[tokio::test]
async fn other_weights_are_refused() {
    let (_server, mut client) = with_lexicon().await;
    let text = json!("Anna");
    let bodies = [
        ("/api/complete", json!({"prompt": text, "generalize": 1.5})),
        ("/api/complete", json!({"prompt": text, "generalize": -1, "stream": true})),
        ("/api/explain", json!({"prompt": text, "generalize": 2})),
        ("/api/read", json!({"text": text, "generalize": 2})),
        ("/v1/completions", json!({"prompt": text, "generalize": 2})),
    ];
    for (path, body) in bodies {
        let answer = client.post(path, &body).await;
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, &error["param"]), (400, &json!("generalize")), "{path} {error}");
        assert!(error["message"].as_str().unwrap().contains("between 0 and 1"), "{error}");
    }
}

/// A rebuild with another lexicon is the model that had it from the beginning.
#[tokio::test]
async fn the_lexicon_can_be_changed_and_taken_away() {
    let server = Server::small().await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": ROME, "id": "rome"})).await;
    let none = client.found("/api/digest").await["digest"].clone();

    let rebuilt = client.ok("/api/rebuild", &json!({"lexicon": TABLE})).await;
    let (_other, mut born_with) = with_lexicon().await;
    assert_eq!(rebuilt["digest"], born_with.found("/api/digest").await["digest"]);
    assert_eq!(client.found("/api/lexicon").await["words"], 3);
    let csv = json!({"lexicon": "Fiat,car\n", "format": "csv"});
    client.ok("/api/rebuild", &csv).await;
    assert_eq!(client.found("/api/lexicon").await["words"], 1);
    // Left out, it stays.
    client.ok("/api/rebuild", &json!({})).await;
    assert_eq!(client.found("/api/lexicon").await["words"], 1);

    for (body, names) in [
        (json!({"lexicon": "no class"}), "lexicon"),
        (json!({"lexicon": ""}), "lexicon"),
        (json!({"lexicon": "/", "format": "wordnet"}), "lexicon"),
        (json!({"lexicon": TABLE, "format": "poem"}), "format"),
    ] {
        let answer = client.post("/api/rebuild", &body).await;
        let param = answer.json()["error"]["param"].clone();
        assert_eq!((answer.status, param), (400, json!(names)), "{}", answer.text());
    }
    assert_eq!(client.found("/api/lexicon").await["words"], 1);

    let rebuilt = client.ok("/api/rebuild", &json!({"lexicon": "none"})).await;
    assert_eq!(rebuilt["digest"], none);
    assert_eq!(client.get("/api/lexicon").await.status, 404);
}

/// What was forgotten is still in a lexicon that was induced from it, and the receipt says so.
#[tokio::test]
async fn a_receipt_says_what_the_lexicon_was_induced_from() {
    let induced = lexicon().with_sources([source_digest(ROME.as_bytes())]);
    let (_server, mut client) = start(induced).await;
    client.ok("/api/documents", &json!({"text": "Ben walks.", "id": "ben"})).await;
    let receipt = client.ok("/api/forget", &json!({"documents": ["rome", "ben"]})).await;
    assert_eq!(receipt["lexicon_sources"], json!(["rome"]), "{receipt}");
}
