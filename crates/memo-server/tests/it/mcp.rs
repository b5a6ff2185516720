//! The Model Context Protocol over HTTP: what keys, origins and methods decide. What the tools do is tested with real clients.

use crate::common::{Client, Server, small};
use hyper::Method;
use memo_server::{Config, Key};
use serde_json::{Value, json};

/// Sends a message, and gives the status and the answer.
async fn send(
    client: &mut Client,
    head: &[(&str, &str)],
    method: &str,
    params: Value,
) -> (u16, Value) {
    let types =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let head = [&types, head].concat();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = client.send(Method::POST, "/mcp", &head, body.to_string().into_bytes()).await;
    (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
}

#[tokio::test]
async fn a_key_that_reads_sees_and_calls_only_what_reads() {
    let keys = ["write-0123456789abcdef", "read:reads-0123456789abcdef"];
    let keys = keys.iter().map(|key| Key::parse(key).unwrap()).collect();
    let server = Server::start(&small(), Config { keys, ..Config::default() }).await;
    let mut client = server.client().await;
    assert_eq!(send(&mut client, &[], "tools/list", json!({})).await.0, 401);
    let remember = json!({"name": "remember", "arguments": {"text": "The owl reads at night."}});
    for (key, changes) in [("reads-0123456789abcdef", false), ("write-0123456789abcdef", true)] {
        client.key = Some(key.to_owned());
        let (status, list) = send(&mut client, &[], "tools/list", json!({})).await;
        assert_eq!(status, 200, "{list}");
        let tools = list["result"]["tools"].as_array().unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
        assert!(has("recall") && has("stats"), "{list}");
        for name in ["remember", "forget", "correct", "undo"] {
            assert_eq!(has(name), changes, "{name}");
        }
        let (_, called) = send(&mut client, &[], "tools/call", remember.clone()).await;
        assert_eq!(called["result"]["isError"], !changes, "{called}");
        let (_, stats) = send(&mut client, &[], "tools/call", json!({"name": "stats"})).await;
        assert_eq!(
            stats["result"]["structuredContent"]["documents"],
            u64::from(changes),
            "{stats}"
        );
    }
    server.stop().await;
}

/// An agent is advised what it has: tools.
#[tokio::test]
async fn what_is_not_there_is_said_in_words_of_the_tools() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let cases = [
        (
            "forget",
            json!({"ids": ["nobody"]}),
            "there is no document \"nobody\"; `recall` finds them",
        ),
        (
            "forget",
            json!({"source": "nobody"}),
            "no document fits; `recall` finds them with their labels",
        ),
        ("undo", json!({"transaction": 77}), "there is no transaction 77; `history` lists them"),
    ];
    for (name, arguments, message) in cases {
        let call = json!({"name": name, "arguments": arguments});
        let (_, called) = send(&mut client, &[], "tools/call", call).await;
        assert_eq!(called["result"]["content"][0]["text"], message, "{called}");
    }
    server.stop().await;
}

#[tokio::test]
async fn pages_from_elsewhere_and_other_methods_are_refused() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let list = json!({});
    assert_eq!(send(&mut client, &[], "tools/list", list.clone()).await.0, 200);
    let elsewhere = [("origin", "https://evil.example")];
    assert_eq!(send(&mut client, &elsewhere, "tools/list", list.clone()).await.0, 403);
    assert_eq!(send(&mut client, &[("host", "evil.example")], "tools/list", list).await.0, 403);
    // There is no stream to wait for, and no session to end.
    let accept = [("accept", "text/event-stream")];
    assert_eq!(client.send(Method::GET, "/mcp", &accept, Vec::new()).await.status, 405);
    assert_eq!(client.delete("/mcp").await.status, 405);
    // What is no JSON, and what says another type, never reaches a tool.
    let typed = [("content-type", "text/plain"), ("accept", "application/json, text/event-stream")];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let answer = client.send(Method::POST, "/mcp", &typed, body.into_bytes()).await;
    assert_eq!(answer.status, 415);
    server.stop().await;
}
