//! What the server costs over the library: the same work, once through the library and once over a socket of this machine,
//! in turns and in one run. `cargo xtask bench service`.

#[allow(dead_code)]
#[path = "../tests/it/common.rs"]
mod common;

use common::{Client, Server};
use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, Generator, Sampling, score};
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use memo_server::Config;
use memo_store::NewModel;
use memo_text::Tokenizer;
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const WORDS: usize = 1_200_000;

/// Made-up words by rank, as in a text.
fn text(seed: u64, words: usize) -> String {
    let mut reader = Stream::new(seed, Purpose::Sampling, 0).draws();
    let mut text = String::new();
    for k in 0..words {
        let u = reader.below(1 << 20) as f64 / f64::from(1 << 20);
        let rank = (20_000f64.powf(u) - 1.0) as u64;
        let end = if k % 12 == 11 { ". " } else { " " };
        let (a, b) = (rank % 97, rank / 97);
        let _ = write!(
            text,
            "{}{}{end}",
            SYLLABLES[a as usize % SYLLABLES.len()],
            SYLLABLES[b as usize % SYLLABLES.len()]
        );
    }
    text
}

const SYLLABLES: [&str; 41] = [
    "ba", "be", "bi", "bo", "da", "de", "di", "do", "fa", "fe", "ga", "go", "ka", "ke", "ki", "ko",
    "la", "le", "li", "lo", "ma", "me", "mi", "mo", "na", "ne", "ni", "no", "ra", "re", "ri", "ro",
    "sa", "se", "si", "so", "ta", "te", "ti", "to", "va",
];

fn per_second(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

#[tokio::main]
async fn main() {
    let tokenizer = Tokenizer::gpt2();
    let text = text(1, WORDS);
    let tokens = tokenizer.encode(&text).unwrap();
    let new = NewModel { tokenizer: tokenizer.clone(), ..NewModel::default() };
    let settings = Settings::new(50257, tokenizer.eos(), new.seed).unwrap().with_words();
    let words = Arc::new(Words::new(tokenizer.pieces()));
    let mut memory = Memory::with_words(settings, Some(words)).unwrap();
    memory.memorize(&tokens).unwrap();
    println!("{} tokens, {} MB of memory", tokens.len(), memory.usage().total() / 1_000_000);
    let server = Server::start(&new, Config::default()).await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": text, "id": "text"})).await;

    single(&memory, &tokens, &mut client).await;
    one_token(&server, &tokens).await;
    many(&memory, &server, &tokens).await;
    echo(&memory, &tokens, &mut server.client().await).await;
}

/// The tokens of a prompt from somewhere in the text.
fn prompt(tokens: &[u32], k: usize, len: usize) -> Vec<u32> {
    let at = (k * 7919 * 31) % (tokens.len() - len - 1000);
    tokens[at..at + len].to_vec()
}

fn asked(prompt: &[u32], tokens: usize, stream: bool) -> Value {
    json!({"prompt": prompt, "max_tokens": tokens, "stream": stream})
}

fn by_library(memory: &Memory, prompt: &[u32], tokens: usize) -> usize {
    Generator::new(memory, &BACKOFF, prompt, Sampling::default()).take(tokens).count()
}

/// One client, one completion after the other.
async fn single(memory: &Memory, tokens: &[u32], client: &mut Client) {
    const LEN: usize = 512;
    for stream in [false, true] {
        let (mut library, mut service, mut made) = (Duration::ZERO, Duration::ZERO, 0);
        for k in 0..24 {
            let prompt = prompt(tokens, k, 40);
            let start = Instant::now();
            made += by_library(memory, &prompt, LEN);
            library += start.elapsed();
            let start = Instant::now();
            let answer = client.post("/v1/completions", &asked(&prompt, LEN, stream)).await;
            service += start.elapsed();
            assert_eq!(answer.status, 200);
        }
        let (a, b) = (per_second(made, library), per_second(made, service));
        println!(
            "one client, {LEN} tokens each, stream {stream}: library {a:.0}/s, server {b:.0}/s, ratio {:.2}",
            b / a
        );
    }
}

/// How long a single token takes.
async fn one_token(server: &Server, tokens: &[u32]) {
    let mut client = server.client().await;
    let mut times = Vec::new();
    for k in 0..3000 {
        let body = asked(&prompt(tokens, k, 40), 1, false);
        let start = Instant::now();
        client.ok("/v1/completions", &body).await;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "one token: median {:.2} ms, p99 {:.2} ms, worst {:.2} ms",
        at(0.5),
        at(0.99),
        at(0.9999)
    );
}

/// 64 clients at once against as many threads as there are cores.
async fn many(memory: &Memory, server: &Server, tokens: &[u32]) {
    const CLIENTS: usize = 64;
    const EACH: usize = 6;
    const LEN: usize = 128;
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let start = Instant::now();
    let made: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|core| {
                scope.spawn(move || {
                    let share = (core..CLIENTS * EACH).step_by(cores);
                    share.map(|k| by_library(memory, &prompt(tokens, k, 40), LEN)).sum::<usize>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let library = per_second(made, start.elapsed());
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(server.client().await);
    }
    let start = Instant::now();
    let mut work = Vec::new();
    for (c, mut client) in clients.into_iter().enumerate() {
        let bodies: Vec<Value> =
            (0..EACH).map(|k| asked(&prompt(tokens, c * EACH + k, 40), LEN, false)).collect();
        work.push(tokio::spawn(async move {
            for body in bodies {
                client.ok("/v1/completions", &body).await;
            }
        }));
    }
    for client in work {
        client.await.unwrap();
    }
    let service = per_second(made, start.elapsed());
    println!(
        "{CLIENTS} clients, {LEN} tokens each: library on {cores} threads {library:.0}/s, server {service:.0}/s, ratio {:.2}",
        service / library
    );
}

/// A prompt of a thousand tokens, scored.
async fn echo(memory: &Memory, tokens: &[u32], client: &mut Client) {
    let (mut library, mut service) = (Duration::ZERO, Duration::ZERO);
    for k in 0..12 {
        let prompt = prompt(tokens, k, 1000);
        let start = Instant::now();
        score(memory, &BACKOFF, &prompt).unwrap();
        library += start.elapsed();
        let body = json!({"prompt": prompt, "max_tokens": 1, "logprobs": 1, "echo": true});
        let start = Instant::now();
        client.ok("/v1/completions", &body).await;
        service += start.elapsed();
    }
    println!(
        "echo of 1,000 tokens: library {:.1} ms, server {:.1} ms, ratio {:.2}",
        library.as_secs_f64() * 1e3 / 12.0,
        service.as_secs_f64() * 1e3 / 12.0,
        service.as_secs_f64() / library.as_secs_f64()
    );
}
