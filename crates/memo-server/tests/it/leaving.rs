//! Clients that close their side once they have asked: those that wait for the answer get it, and for those that have left
//! nothing goes on.

use crate::common::{Client, Server};
use memo_server::Config;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn get(path: &str, version: &str) -> String {
    format!("GET {path} HTTP/{version}\r\nhost: localhost\r\n\r\n")
}

fn post(path: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn long(stream: bool) -> String {
    let asked = json!({"prompt": "round", "max_tokens": 1 << 24, "guess": true, "stream": stream});
    post("/api/complete", &asked)
}

/// A stream that says nothing for long.
fn scoring(times: usize) -> String {
    let text = "round and ".repeat(times);
    let asked =
        json!({"prompt": text, "max_tokens": 0, "echo": true, "logprobs": 1, "stream": true});
    post("/v1/completions", &asked)
}

/// Sends a request, closes the side that it was sent on, and gives all that is answered.
async fn ask(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn until_open(client: &mut Client, is: impl Fn(u64) -> bool) {
    while !is(client.metric("memo_requests_open").await) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_client_that_closes_its_side_is_answered() {
    let server = Server::round(Config::default()).await;
    let answer = ask(&server, &get("/health", "1.1")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let answer = ask(&server, &get("/health", "1.0")).await;
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\n"), "{answer}");
    // A long one, so that it is seen meanwhile whether the client has left.
    let asked = json!({"prompt": "round", "max_tokens": 20_000, "guess": true});
    let answer = ask(&server, &post("/api/complete", &asked)).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["tokens"].as_array().unwrap().len(), 20_000);
    let asked = json!({"prompt": "round", "max_tokens": 5_000, "guess": true, "stream": true});
    let answer = ask(&server, &post("/api/complete", &asked)).await;
    assert_eq!(answer.matches("event: token").count(), 5_000);
    assert!(answer.contains("event: done"));
    let answer = ask(&server, &scoring(300)).await;
    assert!(answer.contains("data: [DONE]"), "{answer}");
    // And with several requests at once.
    let both = post("/api/complete", &asked) + &get("/health", "1.1");
    let answer = ask(&server, &both).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 2);
    assert!(answer.ends_with(r#"{"status":"ok"}"#), "{answer}");
}

/// What comes after half of a body is not known: the rest will never come.
#[tokio::test]
async fn half_of_a_request_is_refused_at_once() {
    let server = Server::round(Config::default()).await;
    let whole = post("/tokenize", &json!({"prompt": "round"}));
    let answer = ask(&server, &whole[..whole.len() - 5]).await;
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    assert!(answer.contains("the request's body did not arrive"), "{answer}");
}

#[tokio::test]
async fn nothing_goes_on_for_a_client_that_has_left() {
    let server = Server::round(Config::default()).await;
    let mut client = server.client().await;
    for request in [long(false), long(true), scoring(6_000)] {
        for half_closed in [false, true] {
            let mut leaving = TcpStream::connect(server.address).await.unwrap();
            leaving.write_all(request.as_bytes()).await.unwrap();
            if half_closed {
                leaving.shutdown().await.unwrap();
            }
            until_open(&mut client, |open| open == 1).await;
            drop(leaving);
            until_open(&mut client, |open| open == 0).await;
        }
    }
}

/// The same of a client that asks for more before it leaves: its next request is not begun.
#[tokio::test]
async fn nothing_goes_on_for_a_client_that_asked_twice_and_left() {
    let server = Server::round(Config::default()).await;
    let mut client = server.client().await;
    let mut leaving = TcpStream::connect(server.address).await.unwrap();
    leaving.write_all((long(true) + &long(true)).as_bytes()).await.unwrap();
    until_open(&mut client, |open| open == 1).await;
    drop(leaving);
    until_open(&mut client, |open| open == 0).await;
}
