//! Who may do what, from where, how much and how often.

use crate::common::{Client, Server, small};
use hyper::Method;
use memo_server::{Config, Key, Limits};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn keys_open_what_they_may() {
    let keys = ["write-0123456789abcdef", "read:reads-0123456789abcdef"];
    let keys = keys.iter().map(|key| Key::parse(key).unwrap()).collect();
    let server = Server::start(&small(), Config { keys, ..Config::default() }).await;
    let mut client = server.client().await;
    let text = json!({"text": "The owl reads.", "id": "owl"});
    for open in ["/healthz", "/readyz", "/openapi.json", "/docs", "/"] {
        assert_eq!(client.get(open).await.status, 200, "{open}");
    }
    for key in [None, Some("wrong"), Some("write-0123456789abcde"), Some("")] {
        client.key = key.map(str::to_owned);
        for closed in ["/v1/models", "/metrics", "/api/stats", "/api/documents/owl"] {
            let answer = client.get(closed).await;
            assert_eq!(answer.status, 401, "{closed} with {key:?}");
            assert_eq!(answer.head.headers["www-authenticate"], "Bearer");
        }
        assert_eq!(client.post("/api/documents", &text).await.status, 401);
    }
    client.key = Some("reads-0123456789abcdef".to_owned());
    assert_eq!(client.get("/v1/models").await.status, 200);
    assert_eq!(client.post("/v1/completions", &json!({"prompt": "a"})).await.status, 200);
    // A proof changes nothing.
    assert_eq!(client.post("/api/prove", &json!({})).await.status, 200);
    assert_eq!(client.post("/api/documents", &text).await.status, 403);
    assert_eq!(client.delete("/api/documents/owl").await.status, 403);
    client.key = Some("write-0123456789abcdef".to_owned());
    assert_eq!(client.post("/api/documents", &text).await.status, 200);
    assert_eq!(client.delete("/api/documents/owl").await.status, 200);
}

#[tokio::test]
async fn nobody_asks_too_often() {
    let limits = Limits { rate: Some(5), ..Limits::default() };
    let server = Server::start(&small(), Config { limits, ..Config::default() }).await;
    let mut client = server.client().await;
    let mut refused = 0;
    for _ in 0..40 {
        let answer = client.get("/v1/models").await;
        if answer.status == 429 {
            assert_eq!(answer.head.headers["retry-after"], "1");
            refused += 1;
        }
    }
    assert!(refused > 0);
    assert_eq!(client.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn pages_from_elsewhere_are_refused() {
    let origins = vec!["https://friend.example".to_owned()];
    let server = Server::start(&small(), Config { origins, ..Config::default() }).await;
    let mut client = server.client().await;
    let json = ("content-type", "application/json");
    let text = json!({"text": "The owl reads."}).to_string();
    let mut post = async |head: &[(&str, &str)]| {
        client.send(Method::POST, "/api/documents", head, text.clone().into()).await
    };
    assert_eq!(post(&[json, ("host", "evil.example")]).await.status, 403);
    assert_eq!(post(&[json, ("origin", "https://evil.example")]).await.status, 403);
    assert_eq!(post(&[json, ("origin", "null")]).await.status, 403);
    // What a form can send.
    assert_eq!(post(&[("content-type", "text/plain")]).await.status, 415);
    assert_eq!(post(&[]).await.status, 415);
    let answer = post(&[json, ("origin", "https://friend.example")]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.head.headers["access-control-allow-origin"], "https://friend.example");
    let answer = client.get("/").await;
    let head = &answer.head.headers;
    assert!(head["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    assert_eq!(
        (&head["x-frame-options"], &head["x-content-type-options"]),
        (&"DENY".parse().unwrap(), &"nosniff".parse().unwrap())
    );
    // Also where there is nothing.
    assert!(client.get("/nothing").await.head.headers.contains_key("content-security-policy"));
    assert_eq!(
        client.send(Method::GET, "/nothing", &[("host", "evil.example")], vec![]).await.status,
        403
    );
}

#[tokio::test]
async fn limits_hold() {
    let limits = Limits {
        body: 10_000,
        prompt: 100,
        tokens: 50,
        time: Duration::from_millis(400),
        ..Limits::default()
    };
    let server = Server::start(&small(), Config { limits, ..Config::default() }).await;
    let mut client = server.client().await;
    let huge = json!({"text": "x".repeat(20_000)});
    assert_eq!(client.post("/api/documents", &huge).await.status, 413);
    let mut client = server.client().await;
    let long = client.post("/v1/completions", &json!({"prompt": "x".repeat(101)})).await;
    assert_eq!(
        (long.status, &long.json()["error"]["code"]),
        (400, &json!("context_length_exceeded"))
    );
    let many = client.post("/v1/completions", &json!({"prompt": "x", "max_tokens": 51})).await;
    assert_eq!((many.status, &many.json()["error"]["param"]), (400, &json!("max_tokens")));
    // Without a length, the limit is none to be refused for.
    let chat = json!({"messages": [{"role": "user", "content": "x"}]});
    client.ok("/v1/chat/completions", &chat).await;

    // A body that never comes.
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /v1/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{{",
        server.address
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&answer));
    // Nonsense.
    let mut wild = TcpStream::connect(server.address).await.unwrap();
    wild.write_all(b"\x16\x03\x01\x02\x00 hello\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    wild.read_to_end(&mut answer).await.unwrap();
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"));
    assert_eq!(Client::connect(server.address).await.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_refusal_arrives_while_the_client_still_sends() {
    let server = Server::small().await;
    let host = server.address;
    let head = format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: {}\r\n\r\n", "x".repeat(4 << 20));
    let body = format!(
        "POST /tokenize HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{}",
        "x".repeat(4 << 20)
    );
    for (status, request) in [("431", head.as_str()), ("413", &body)].repeat(5) {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
}

#[tokio::test]
async fn work_that_nobody_waits_for_ends() {
    let limits = Limits { tokens: 1 << 20, time: Duration::from_secs(2), ..Limits::default() };
    let server = Server::start(&small(), Config { limits, ..Config::default() }).await;
    let mut client = server.client().await;
    // It leads back into itself: its completion has no end, or draws one late.
    let round = "round and ".repeat(5_000);
    client.ok("/api/documents", &json!({"text": round, "id": "round"})).await;
    let (tokens, prompts, long) = (1 << 20, ["round"; 16], "round and ".repeat(6000));
    let much = [
        (
            "/v1/completions",
            json!({"prompt": prompts, "n": 128, "max_tokens": tokens, "temperature": 1}),
        ),
        (
            "/v1/completions",
            json!({"prompt": long, "n": 128, "max_tokens": 0, "echo": true, "logprobs": 2}),
        ),
        (
            "/v1/chat/completions",
            json!({"messages": [{"role": "user", "content": "round"}], "n": 128, "max_tokens": tokens, "temperature": 1}),
        ),
        ("/api/complete", json!({"prompt": "round", "max_tokens": tokens, "guess": true})),
    ];
    let (one, seats) = (json!({"prompt": "round"}), std::thread::available_parallelism().unwrap());
    // Takes all seats, and returns when others wait.
    let take = async |path: &'static str, asked: &serde_json::Value| {
        let mut all = Vec::new();
        for _ in 0..seats.get() {
            let (mut client, asked) = (server.client().await, asked.clone());
            all.push(tokio::spawn(async move { client.post(path, &asked).await.status }));
        }
        let mut waits = false;
        while !waits {
            let mut other = server.client().await;
            let answer = other.post("/tokenize", &one);
            waits = tokio::time::timeout(Duration::from_millis(200), answer).await.is_err();
        }
        all
    };
    for (path, mut asked) in much.clone() {
        for stream in [false, true] {
            asked["stream"] = json!(stream);
            let all = take(path, &asked).await;
            // Figures take no seat.
            assert_eq!(client.get("/metrics").await.status, 200);
            for taken in all {
                assert!(!taken.is_finished(), "{path}, stream {stream}");
                taken.abort();
            }
            let answer = client.post("/tokenize", &one).await;
            assert_eq!(answer.status, 200, "{path}, stream {stream}");
        }
    }
    let (path, asked) = &much[0];
    for taken in take(path, asked).await {
        assert_eq!(taken.await.unwrap(), 408);
    }
    assert_eq!(client.post("/tokenize", &one).await.status, 200);
}
