//! Those who ask for little do not wait for those who ask for much, whoever they are.

use crate::common::{Client, Server, WRITE_KEY};
use http_body_util::BodyExt;
use hyper::Method;
use memo_server::{Config, Key, Limits};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinHandle;

fn endless() -> Value {
    json!({"prompt": "round", "max_tokens": 1 << 24, "guess": true})
}

/// Scores more than anybody waits for.
fn scoring() -> Value {
    let long = "round and ".repeat(6_000);
    json!({"prompt": vec![long; 50], "max_tokens": 0, "echo": true, "logprobs": 2})
}

async fn begin(server: &Server, path: &'static str, asked: Value, key: &str) -> JoinHandle<u16> {
    let mut client = server.client().await;
    client.key = Some(key.to_owned());
    tokio::spawn(async move { client.post(path, &asked).await.status })
}

/// Waits until so many requests are worked on.
async fn open(client: &mut Client, count: u64) {
    while client.metric("memo_requests_open").await < count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Requests that are asked for and answered while long ones go on.
async fn all_answered(client: &mut Client) {
    for path in ["/v1/completions", "/api/complete"] {
        client.ok(path, &json!({"prompt": "round", "max_tokens": 1})).await;
    }
    for path in ["/tokenize", "/api/explain"] {
        client.ok(path, &json!({"prompt": "round"})).await;
    }
    client.ok("/api/read", &json!({"text": "round"})).await;
    client.found("/api/stats").await;
}

#[tokio::test]
async fn short_requests_overtake_long_ones() {
    let server = Server::round(Config::default()).await;
    let mut client = server.client().await;
    let mut long = Vec::new();
    for k in 0..8 {
        let (path, asked) = match k % 2 {
            0 => ("/api/complete", endless()),
            _ => ("/v1/completions", scoring()),
        };
        long.push(begin(&server, path, asked, "").await);
    }
    open(&mut client, 8).await;
    all_answered(&mut client).await;
    client.ok("/api/documents", &json!({"text": "The owl reads.", "id": "owl"})).await;
    assert_eq!(client.delete("/api/documents/owl").await.status, 200);
    assert!(long.iter().all(|long| !long.is_finished()));
}

#[tokio::test]
async fn who_may_only_read_does_not_keep_others_from_anything() {
    let keys = [WRITE_KEY, "read:reads-0123456789abcdef"];
    let keys = keys.iter().map(|key| Key::parse(key).unwrap()).collect();
    // So few may wait that the reader fills the queue.
    let limits = Limits { waiting: 8, ..Limits::default() };
    let server = Server::round(Config { keys, limits, ..Config::default() }).await;
    let mut client = server.client().await;
    client.key = Some(WRITE_KEY.to_owned());
    let mut long = Vec::new();
    for _ in 0..8 {
        long.push(begin(&server, "/api/complete", endless(), "reads-0123456789abcdef").await);
    }
    open(&mut client, 8).await;
    let refused = begin(&server, "/api/complete", endless(), "reads-0123456789abcdef").await;
    assert_eq!(refused.await.unwrap(), 503);
    // Nor do proofs that wait.
    let mut reader = server.client().await;
    reader.key = Some("reads-0123456789abcdef".to_owned());
    let mut proofs = 0;
    while reader.post("/api/prove", &json!({"wait": false})).await.status == 202 {
        proofs += 1;
        assert!(proofs < 1000);
    }
    all_answered(&mut client).await;
    client.ok("/api/documents", &json!({"text": "The owl reads.", "id": "owl"})).await;
    assert!(long.iter().all(|long| !long.is_finished()));
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_up_nobody_and_loses_nothing() {
    let server = Server::round(Config::default()).await;
    let mut client = server.client().await;
    let count = 80_000;
    let asked = json!({"prompt": "round", "max_tokens": count, "guess": true, "stream": true});
    let body = asked.to_string().into_bytes();
    let head = [("content-type", "application/json")];
    let (mut slow, mut streams) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let mut client = server.client().await;
        let answer = client.begin(Method::POST, "/api/complete", &head, body.clone()).await;
        streams.push(answer.unwrap());
        slow.push(client);
    }
    // They have lost their seats, but are not done.
    while client.metric("memo_requests_open").await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(client.metric("memo_tokens_generated_total").await, 0);
    all_answered(&mut client).await;
    for stream in streams {
        let all = stream.into_body().collect().await.unwrap().to_bytes();
        let all = std::str::from_utf8(&all).unwrap();
        assert_eq!(all.matches("event: token").count(), count);
        assert!(all.contains("event: done"));
    }
}
