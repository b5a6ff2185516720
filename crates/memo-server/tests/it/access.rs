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
    for key in [None, Some("wrong"), Some("write-0123456789abcde")] {
        client.key = key.map(str::to_owned);
        let code = if key.is_none() { "missing_api_key" } else { "invalid_api_key" };
        for closed in ["/v1/models", "/metrics", "/api/stats", "/api/documents/owl"] {
            let answer = client.get(closed).await;
            assert_eq!(answer.status, 401, "{closed} with {key:?}");
            assert_eq!(answer.json()["error"]["code"], code, "{closed} with {key:?}");
            assert_eq!(answer.head.headers["www-authenticate"], "Bearer");
        }
        assert_eq!(client.post("/api/documents", &text).await.status, 401);
    }
    client.key = Some("reads-0123456789abcdef".to_owned());
    assert_eq!(client.get("/v1/models").await.status, 200);
    // Who has it can know what it allows.
    assert_eq!(client.found("/api/models").await["permission"], "read");
    assert_eq!(client.post("/v1/completions", &json!({"prompt": "a"})).await.status, 200);
    // A proof changes nothing.
    assert_eq!(client.post("/api/prove", &json!({})).await.status, 200);
    assert_eq!(client.post("/api/documents", &text).await.status, 403);
    assert_eq!(client.delete("/api/documents/owl").await.status, 403);
    client.key = None;
    for (scheme, status) in [("bearer", 200), ("BEARER", 200), ("Basic", 401)] {
        let head = [("authorization", &*format!("{scheme} write-0123456789abcdef"))];
        let answer = client.send(Method::GET, "/v1/models", &head, vec![]).await;
        assert_eq!(answer.status, status, "{scheme}: {}", answer.text());
    }
    client.key = Some("write-0123456789abcdef".to_owned());
    assert_eq!(client.post("/api/documents", &text).await.status, 200);
    assert_eq!(client.delete("/api/documents/owl").await.status, 200);
}

/// A client that sends the head of a request and its body one after the other, as many do, is refused at the head. If the
/// connection is then closed it must be told so: else it sends its next request there and loses it.
#[tokio::test]
async fn a_connection_that_ends_with_a_refusal_says_so() {
    let keys = vec![Key::parse("write-0123456789abcdef").unwrap()];
    let server = Server::start(&small(), Config { keys, ..Config::default() }).await;
    let open = async |target: &str| {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "POST {target} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n",
            server.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let answer = async |stream: &mut TcpStream| {
        let mut response = [0; 4096];
        let read = stream.read(&mut response).await.unwrap();
        let head = String::from_utf8_lossy(&response[..read]).to_lowercase();
        assert!(head.starts_with("http/1.1 4"), "{head}");
        head.contains("\r\nconnection: close\r\n")
    };
    for target in ["/api/documents", "/nowhere", "/healthz"] {
        let mut stream = open(target).await;
        assert!(answer(&mut stream).await, "{target}: the body never came");
        let mut stream = open(target).await;
        stream.write_all(b"{}").await.unwrap();
        if !answer(&mut stream).await {
            let again = format!("GET /v1/models HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
            stream.write_all(again.as_bytes()).await.unwrap();
            assert!(!answer(&mut stream).await, "{target}: the connection goes on");
        }
    }
    // Where there is nothing left to read, the connection stays open.
    let mut client = server.client().await;
    let refused = client.get("/v1/models").await;
    assert_eq!((refused.status, refused.head.headers.get("connection")), (401, None));
    assert_eq!(client.get("/healthz").await.status, 200);
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
    let (tokens, time) = (1 << 20, Duration::from_secs(4));
    let limits = Limits { tokens, total: usize::MAX, time, ..Limits::default() };
    let server = Server::start(&small(), Config { limits, ..Config::default() }).await;
    let mut client = server.client().await;
    // It leads back into itself: its completion has no end, or draws one late.
    let round = "round and ".repeat(500);
    client.ok("/api/documents", &json!({"text": round, "id": "round"})).await;
    let (prompts, long) = (["round"; 16], "round and ".repeat(6000));
    let much = [
        (
            "/v1/completions",
            json!({"prompt": prompts, "n": 128, "max_tokens": tokens, "temperature": 1}),
        ),
        (
            "/v1/completions",
            json!({"prompt": vec![long; 100], "max_tokens": 0, "echo": true, "logprobs": 2}),
        ),
        (
            "/v1/chat/completions",
            json!({"messages": [{"role": "user", "content": "round"}], "n": 128, "max_tokens": tokens, "temperature": 1}),
        ),
        ("/api/complete", json!({"prompt": "round", "max_tokens": tokens, "guess": true})),
    ];
    let ask = |mut client: Client, path: &'static str, asked: &serde_json::Value| {
        let asked = asked.clone();
        tokio::spawn(async move { client.post(path, &asked).await.status })
    };
    for (path, mut asked) in much.clone() {
        for stream in [false, true] {
            asked["stream"] = json!(stream);
            let mut all = Vec::new();
            for _ in 0..3 {
                all.push(ask(server.client().await, path, &asked));
            }
            while client.metric("memo_requests_open").await < 3 {}
            for taken in all {
                assert!(!taken.is_finished(), "{path}, stream {stream}");
                taken.abort();
            }
            while client.metric("memo_requests_open").await > 0 {}
        }
    }
    // Also if their time is over.
    let (path, asked) = &much[0];
    assert_eq!(ask(server.client().await, path, asked).await.unwrap(), 408);
    while client.metric("memo_requests_open").await > 0 {}
}

#[tokio::test]
async fn the_idlest_connection_makes_room_for_a_new_one() {
    let limits = Limits { connections: 4, tokens: 1 << 20, ..Limits::default() };
    let server = Server::start(&small(), Config { limits, ..Config::default() }).await;
    let mut busy = server.client().await;
    let round = "round and ".repeat(500);
    busy.ok("/api/documents", &json!({"text": round, "id": "round"})).await;
    // A stream goes on, however long ago it began.
    let head = [("content-type", "application/json")];
    let asked = json!({"prompt": "round", "max_tokens": 1 << 20, "guess": true, "stream": true});
    let body = asked.to_string().into_bytes();
    let stream = busy.begin(Method::POST, "/api/complete", &head, body).await.unwrap();
    let mut idlest = server.client().await;
    assert_eq!(idlest.get("/healthz").await.status, 200);
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    let mut last = server.client().await;
    assert_eq!(last.get("/healthz").await.status, 200);
    // One more, and then another.
    let mut new = server.client().await;
    assert_eq!(new.get("/healthz").await.status, 200);
    assert!(idlest.begin(Method::GET, "/healthz", &[], Vec::new()).await.is_err());
    let mut newer = server.client().await;
    assert_eq!(newer.get("/healthz").await.status, 200);
    assert_eq!(silent.read(&mut [0; 16]).await.unwrap_or(0), 0, "it is closed");
    for client in [&mut last, &mut new, &mut newer] {
        assert_eq!(client.get("/healthz").await.status, 200);
    }
    let mut stream = stream.into_body();
    assert!(http_body_util::BodyExt::frame(&mut stream).await.unwrap().is_ok());
}

#[tokio::test]
async fn as_many_idle_connections_as_there_may_be_keep_nobody_out() {
    let server = Server::small().await;
    let mut idle = Vec::new();
    for _ in 0..Limits::default().connections {
        // A system that lets a process open few files makes fewer of them.
        let Ok(mut client) = Client::try_connect(server.address).await else { break };
        assert_eq!(client.get("/healthz").await.status, 200);
        idle.push(client);
    }
    let whole = idle.len() == Limits::default().connections;
    idle.truncate(idle.len() - usize::from(!whole));
    let mut new = server.client().await;
    assert_eq!(new.get("/healthz").await.status, 200);
    let open = async |client: &mut Client| {
        client.begin(Method::GET, "/healthz", &[], Vec::new()).await.is_ok()
    };
    assert!(!whole || !open(&mut idle[0]).await, "the idlest is closed");
    assert!(open(idle.last_mut().unwrap()).await, "and no other");
}
