//! A partner that fails: slow, gone, or talking nonsense, which no real server does on demand. What a real one answers is
//! tested with llama.cpp's server (clients/test_partner.py). The one here speaks just enough of its protocol.

use crate::common::{Server, small};
use memo_server::{Config, Partner, PartnerFailure, PartnerOptions};
use memo_text::Tokenizer;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How a partner answers `/completion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Manner {
    /// The letter x, always.
    Well,
    /// Not at all.
    Slow,
    /// The connection is closed.
    Gone,
    /// Something that is no probability.
    Nonsense,
    /// No JSON.
    Noise,
    /// With an error.
    Refusing,
}

/// A server of bytes that answers as it is told to.
struct Fake {
    url: String,
    manner: Arc<AtomicU8>,
    asked: Arc<AtomicUsize>,
}

impl Fake {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (manner, asked) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicUsize::new(0)));
        let (own, count) = (Arc::clone(&manner), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (own, count) = (Arc::clone(&own), Arc::clone(&count));
                std::thread::spawn(move || serve(&stream.unwrap(), &own, &count));
            }
        });
        Fake { url, manner, asked }
    }

    fn be(&self, manner: Manner) {
        self.manner.store(manner as u8, Ordering::SeqCst);
    }

    /// A partner that has a second for an answer.
    async fn partner(&self, failure: PartnerFailure) -> Partner {
        let mut options = PartnerOptions::new(&self.url);
        (options.timeout, options.failure) = (Duration::from_secs(1), failure);
        let connected =
            tokio::task::spawn_blocking(|| Partner::connect(options, &Tokenizer::bytes()));
        connected.await.unwrap().unwrap()
    }

    async fn server(&self, failure: PartnerFailure) -> Server {
        let partner = Some(Arc::new(self.partner(failure).await));
        Server::start(&small(), Config { partner, ..Config::default() }).await
    }
}

fn serve(stream: &TcpStream, manner: &AtomicU8, asked: &AtomicUsize) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line).unwrap_or(0) > 2 {
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut status, mut answer) = ("200 OK", String::new());
        match path.as_str() {
            "/completion" => {
                asked.fetch_add(1, Ordering::SeqCst);
                let manner = manner.load(Ordering::SeqCst);
                if manner == Manner::Gone as u8 {
                    return;
                } else if manner == Manner::Slow as u8 {
                    std::thread::sleep(Duration::from_secs(20));
                } else if manner == Manner::Nonsense as u8 {
                    let top = json!([{ "id": 7, "logprob": 3.5 }]);
                    answer = json!({ "completion_probabilities": [{ "top_logprobs": top }] })
                        .to_string();
                } else if manner == Manner::Noise as u8 {
                    "<html>".clone_into(&mut answer);
                } else if manner == Manner::Refusing as u8 {
                    status = "500 Internal Server Error";
                    answer = json!({ "error": { "message": "no slot" } }).to_string();
                } else {
                    let top = json!([{ "id": u32::from(b'x'), "logprob": -0.1 }]);
                    answer = json!({ "completion_probabilities": [{ "top_logprobs": top }] })
                        .to_string();
                }
            }
            "/props" => {
                let context = json!({ "n_ctx": 64 });
                answer =
                    json!({ "total_slots": 1, "default_generation_settings": context }).to_string();
            }
            "/v1/models" => {
                answer = json!({ "data": [{ "id": "x", "meta": { "n_vocab": 256 } }] }).to_string();
            }
            "/detokenize" => {
                let tokens = body["tokens"].as_array().cloned().unwrap_or_default();
                let bytes: Vec<u8> = tokens.iter().map(|t| t.as_u64().unwrap() as u8).collect();
                answer = json!({ "content": String::from_utf8_lossy(&bytes) }).to_string();
            }
            "/tokenize" => {
                // The end is a token of its own.
                let end = body["content"] == "</s>";
                answer = json!({ "tokens": if end { vec![0] } else { vec![] } }).to_string();
            }
            "/apply-template" => answer = json!({ "prompt": "" }).to_string(),
            _ => answer = json!({ "status": "ok" }).to_string(),
        }
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", answer.len());
        let mut stream = stream;
        if stream.write_all((head + &answer).as_bytes()).is_err() {
            return;
        }
    }
}

fn question(mode: &str) -> Value {
    json!({ "prompt": "The owl", "max_tokens": 6, "mode": mode })
}

async fn memorize(server: &Server) {
    let text = "The owl reads at night by the light of the moon.";
    server.client().await.ok("/api/documents", &json!({ "text": text, "id": "owl" })).await;
}

/// Each failure is a clear error, in time, whatever is asked; and the next request finds the partner again.
#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_fails_is_an_error_and_never_a_hang() {
    let fake = Fake::start();
    let server = fake.server(PartnerFailure::Error).await;
    memorize(&server).await;
    let mut client = server.client().await;
    let well = client.ok("/api/complete", &question("model")).await;
    assert_eq!(well["completion"], "xxxxxx");
    let failures = [
        (Manner::Gone, 502, "cannot be reached"),
        (Manner::Nonsense, 502, "makes no sense: its probabilities are none"),
        (Manner::Noise, 502, "makes no sense: /completion gives no JSON"),
        (Manner::Refusing, 502, "refused with status 500: no slot"),
        (Manner::Slow, 504, "has not answered within 1 s"),
    ];
    for (manner, status, message) in failures {
        fake.be(manner);
        let explaining = json!({"prompt": question("both")["prompt"], "mode": "both"});
        for (path, asked) in [
            ("/api/complete", question("both")),
            ("/v1/completions", question("both")),
            ("/api/explain", explaining),
        ] {
            let answer = client.post(path, &asked).await;
            assert_eq!(answer.status, status, "{manner:?} {path}: {}", answer.text());
            let error = &answer.json()["error"];
            assert_eq!(error["code"], "partner");
            assert!(error["message"].as_str().unwrap().contains(message), "{error}");
        }
        // The memory needs no partner.
        let alone = client.ok("/api/complete", &question("memory")).await;
        assert_eq!(alone["completion"], " reads");
    }
    // One that did not answer in time is left alone for a while: nobody else waits for it.
    let (asked, start) = (fake.asked.load(Ordering::SeqCst), Instant::now());
    for _ in 0..5 {
        assert_eq!(client.post("/api/complete", &question("both")).await.status, 504);
    }
    assert!(fake.asked.load(Ordering::SeqCst) - asked <= 1, "{:?}", start.elapsed());
    assert!(client.metric("memo_partner_failures_total").await >= 15);
    fake.be(Manner::Well);
    loop {
        let answer = client.post("/api/complete", &question("model")).await;
        if answer.status == 200 {
            break assert_eq!(answer.json()["completion"], "xxxxxx");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    server.stop().await;
}

/// If so configured, the memory answers alone where the partner does not, from the beginning or from where it fell silent.
#[tokio::test(flavor = "multi_thread")]
async fn the_memory_goes_on_alone() {
    let fake = Fake::start();
    let server = fake.server(PartnerFailure::Memory).await;
    memorize(&server).await;
    let mut client = server.client().await;
    for manner in [Manner::Gone, Manner::Nonsense, Manner::Noise, Manner::Refusing, Manner::Slow] {
        fake.be(manner);
        for stream in [false, true] {
            let mut question = question("both");
            question["stream"] = stream.into();
            let answer = client.post("/api/complete", &question).await;
            assert_eq!(answer.status, 200, "{manner:?}: {}", answer.text());
            let said: String = if stream {
                answer.events().iter().filter_map(|token| token["text"].as_str()).collect()
            } else {
                answer.json()["completion"].as_str().unwrap().to_owned()
            };
            assert_eq!(said, " reads", "{manner:?}");
        }
    }
    server.stop().await;
}

/// Who is asked for, and how much the memory counts, is the request's; a text cannot be longer than the partner reads.
#[tokio::test(flavor = "multi_thread")]
async fn requests_say_who_answers() {
    let fake = Fake::start();
    let server = fake.server(PartnerFailure::Error).await;
    memorize(&server).await;
    let mut client = server.client().await;
    let stats = client.found("/api/stats").await;
    assert_eq!(stats["partner"]["model"], "x");
    let both = client.ok("/api/complete", &question("both")).await;
    assert_eq!(both["completion"], " reads", "the memory is quoted");
    let shares = &both["tokens"][0]["mixture"];
    assert!(shares["weight"].as_f64().unwrap() > 0.9, "{shares}");
    let mut fixed = question("both");
    fixed["weight"] = json!(0.1);
    let fixed = client.ok("/v1/completions", &fixed).await;
    assert_eq!(fixed["choices"][0]["text"], "xxxxxx");
    let chat = json!({ "messages": [{ "role": "user", "content": "?" }], "max_tokens": 3, "mode": "model" });
    // The partner's template is empty here: it is given the prompt that it wants.
    assert_eq!(
        client.ok("/v1/chat/completions", &chat).await["choices"][0]["message"]["content"],
        "xxx"
    );
    let why = client.ok("/api/explain", &json!({ "prompt": "The owl" })).await;
    assert_eq!(why["partner"]["model"][0]["text"], "x");
    assert_eq!(why["partner"]["both"][0]["text"], " ");
    assert_eq!(why["candidates"][0]["sources"][0]["document"], "owl");
    for (name, wrong) in [("weight", json!(2)), ("weight", json!("much")), ("mode", json!("all"))] {
        let mut question = question("both");
        question[name] = wrong;
        let answer = client.post("/api/complete", &question).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert_eq!(answer.json()["error"]["param"], name);
    }
    let long = json!({ "prompt": "x".repeat(64), "mode": "both" });
    let answer = client.post("/api/complete", &long).await;
    assert_eq!(
        (answer.status, answer.json()["error"]["code"].as_str()),
        (400, Some("context_length_exceeded"))
    );
    let nearly = json!({ "prompt": "x".repeat(60), "mode": "model", "max_tokens": 9 });
    let nearly = client.ok("/api/complete", &nearly).await;
    assert_eq!(
        (nearly["completion"].as_str(), nearly["finish_reason"].as_str()),
        (Some("xxxx"), Some("length"))
    );
    server.stop().await;
}

/// Without a partner there is nobody else to answer, and that is said.
#[tokio::test]
async fn without_a_partner_there_is_no_other_mode() {
    let server = Server::small().await;
    let mut client = server.client().await;
    for wrong in [question("both"), question("model"), json!({ "prompt": "a", "weight": 0.5 })] {
        let answer = client.post("/api/complete", &wrong).await;
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains("--partner"), "{}", answer.text());
    }
    client.ok("/api/complete", &question("memory")).await;
    server.stop().await;
}

/// A vocabulary in which a number means another token is refused, by name and with what to do; so is an address of nobody.
#[tokio::test(flavor = "multi_thread")]
async fn another_vocabulary_is_refused() {
    let fake = Fake::start();
    let refused = |url: String, tokenizer: Tokenizer| async move {
        let mut options = PartnerOptions::new(url);
        options.timeout = Duration::from_millis(500);
        let connected = tokio::task::spawn_blocking(move || Partner::connect(options, &tokenizer));
        connected.await.unwrap().unwrap_err().to_string()
    };
    let error = refused(fake.url.clone(), Tokenizer::gpt2()).await;
    assert!(error.contains("50256") && error.contains("--tokenizer"), "{error}");
    let words = Tokenizer::words(["one two three"]).unwrap();
    let error = refused(fake.url.clone(), words).await;
    assert!(error.contains("for the memory and") && error.contains("--tokenizer"), "{error}");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(
        refused(format!("http://{nobody}"), Tokenizer::bytes()).await.contains("cannot be reached")
    );
    assert!(refused("https://127.0.0.1".into(), Tokenizer::bytes()).await.contains("http://"));
    assert!(refused("127.0.0.1:1".into(), Tokenizer::bytes()).await.contains("http://"));
}
