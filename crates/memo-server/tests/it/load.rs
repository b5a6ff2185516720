//! Many clients at once for a minute: completions, documents that come and go, connections that break; then the server is
//! killed under load and must have kept all that it acknowledged. And few clients that ask for much, beside one that asks for
//! little. `cargo xtask load` runs both on the real binary, and prints how long each operation took.

use crate::common::Client;
use hyper::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The binary itself, serving.
struct Process {
    child: Child,
    address: SocketAddr,
    _out: BufReader<ChildStdout>,
}

impl Process {
    fn start(binary: &Path, model: &Path) -> Self {
        let mut child = Command::new(binary)
            .args(["serve", "--addr", "127.0.0.1:0", "--color", "never"])
            .arg(model)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}"));
        Process { address: address.parse().unwrap(), child, _out: out }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the server acknowledged to all clients.
#[derive(Default)]
struct Outcome {
    /// Documents that were acknowledged and not forgotten since.
    kept: Mutex<BTreeSet<String>>,
    /// Forgets that were acknowledged.
    forgotten: Mutex<BTreeSet<String>>,
    /// Documents of which it is not known: a change was begun and not answered.
    open: Mutex<BTreeSet<String>>,
    completions: AtomicU64,
    refused: AtomicU64,
    left: AtomicU64,
    times: Times,
}

/// How long operations took, by name, in microseconds.
#[derive(Default)]
struct Times(Mutex<BTreeMap<&'static str, Vec<u64>>>);

impl Times {
    fn add(&self, name: &'static str, start: Instant) {
        let time = start.elapsed().as_micros() as u64;
        self.0.lock().unwrap().entry(name).or_default().push(time);
    }

    /// Prints the median, the 99th percentile and the longest of each.
    fn print(&self) {
        for (name, times) in &mut *self.0.lock().unwrap() {
            times.sort_unstable();
            let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize] as f64 / 1e3;
            let (p50, p99, most) = (at(0.5), at(0.99), at(1.0));
            let count = times.len();
            println!(
                "  {name:<24} {count:>6}  p50 {p50:>8.1} ms  p99 {p99:>8.1} ms  longest {most:>8.1} ms"
            );
        }
    }
}

/// One client: reads mostly, writes now and then, leaves in the middle sometimes.
async fn client(
    number: u64,
    address: SocketAddr,
    until: Instant,
    outcome: Arc<Outcome>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut seed = number * 7919 + 1;
    let mut draw = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut client = Client::try_connect(address).await?;
    let head = [("content-type", "application/json")];
    let mut count = 0;
    while Instant::now() < until {
        count += 1;
        let post = |body: Value| body.to_string().into_bytes();
        match draw(100) {
            0..86 => {
                let body = post(
                    json!({"prompt": format!("client {} writes", draw(200)), "max_tokens": 16}),
                );
                let start = Instant::now();
                let answer = client.begin(Method::POST, "/v1/completions", &head, body).await?;
                let status = answer.status().as_u16();
                http_body_util::BodyExt::collect(answer.into_body()).await?;
                outcome.times.add("completion, 16 tokens", start);
                let counter = if status == 200 { &outcome.completions } else { &outcome.refused };
                assert!(status == 200 || status == 503, "{status}");
                counter.fetch_add(1, Ordering::Relaxed);
            }
            86..90 => {
                // Leaves in the middle of a stream.
                let body = post(
                    json!({"prompt": "client", "max_tokens": 2000, "temperature": 1.0, "stream": true}),
                );
                let answer = client.begin(Method::POST, "/v1/completions", &head, body).await?;
                drop(answer);
                outcome.left.fetch_add(1, Ordering::Relaxed);
                client = Client::try_connect(address).await?;
            }
            90..98 => {
                let id = format!("{number}-{count}");
                let text = format!("client {number} writes line {count} of {}. ", draw(1 << 30))
                    .repeat(1 + draw(20) as usize);
                outcome.open.lock().unwrap().insert(id.clone());
                let start = Instant::now();
                let body = post(json!({"text": text, "id": id}));
                let answer = client.begin(Method::POST, "/api/documents", &head, body).await?;
                let status = answer.status().as_u16();
                http_body_util::BodyExt::collect(answer.into_body()).await?;
                assert!([200, 503].contains(&status), "{status}");
                outcome.times.add("memorize", start);
                if status == 200 {
                    outcome.kept.lock().unwrap().insert(id.clone());
                }
                outcome.open.lock().unwrap().remove(&id);
            }
            _ => {
                let prefix = format!("{number}-");
                let found = outcome.kept.lock().unwrap().range(prefix.clone()..).next().cloned();
                let Some(id) = found.filter(|id| id.starts_with(&prefix)) else { continue };
                outcome.kept.lock().unwrap().remove(&id);
                outcome.open.lock().unwrap().insert(id.clone());
                let path = format!("/api/documents/{id}");
                let start = Instant::now();
                let answer = client.begin(Method::DELETE, &path, &[], Vec::new()).await?;
                let status = answer.status().as_u16();
                http_body_util::BodyExt::collect(answer.into_body()).await?;
                outcome.times.add("forget", start);
                match status {
                    200 => drop(outcome.forgotten.lock().unwrap().insert(id.clone())),
                    503 => drop(outcome.kept.lock().unwrap().insert(id.clone())),
                    _ => panic!("{status}"),
                }
                outcome.open.lock().unwrap().remove(&id);
            }
        }
    }
    Ok(())
}

/// Checks that the model holds what was acknowledged.
fn check(binary: &Path, model: &Path, outcome: &Outcome) {
    let memo = |args: &[&str]| -> Value {
        let output = Command::new(binary).args(args).arg(model).arg("--json").output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let documents = memo(&["docs"]);
    let in_state = |state: &str| -> BTreeSet<String> {
        let all = documents["documents"].as_array().unwrap().iter();
        all.filter(|d| d["state"] == state).map(|d| d["id"].as_str().unwrap().to_owned()).collect()
    };
    let (live, forgotten, open) =
        (in_state("live"), in_state("forgotten"), outcome.open.lock().unwrap());
    let kept = outcome.kept.lock().unwrap();
    let lost: Vec<&String> = kept.difference(&live).filter(|id| !open.contains(*id)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let back: Vec<String> =
        outcome.forgotten.lock().unwrap().difference(&forgotten).cloned().collect();
    assert!(back.is_empty(), "forgotten and there: {back:?}");
    let verified = memo(&["verify"]);
    assert_eq!(verified["damage"], json!([]), "{verified}");
    println!(
        "{} documents live, {} forgotten; the memory equals one made anew: {}",
        live.len(),
        forgotten.len(),
        verified["digest"]
    );
}

#[test]
#[ignore = "takes minutes; cargo xtask load runs it"]
fn many_clients_for_a_minute_and_a_kill() {
    let binary = PathBuf::from(std::env::var("MEMO_BIN").expect("MEMO_BIN: the memo binary"));
    let seconds: u64 = std::env::var("MEMO_LOAD_SECONDS").map_or(60, |s| s.parse().unwrap());
    let clients: u64 = std::env::var("MEMO_LOAD_CLIENTS").map_or(200, |s| s.parse().unwrap());
    let home = tempfile::tempdir().unwrap();
    let model = home.path().join("m.memo");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for killed in [false, true] {
        let outcome = Arc::new(Outcome::default());
        let mut server = Process::start(&binary, &model);
        let time = if killed { seconds.div_ceil(6) } else { seconds };
        let until = Instant::now() + Duration::from_secs(time);
        let ends = runtime.block_on(async {
            let work: Vec<_> = (0..clients)
                .map(|number| {
                    let number = if killed { number + clients } else { number };
                    tokio::spawn(client(number, server.address, until, Arc::clone(&outcome)))
                })
                .collect();
            if killed {
                tokio::time::sleep(Duration::from_secs(time) / 2).await;
                server.child.kill().unwrap();
            }
            let mut ends = Vec::new();
            for client in work {
                ends.push(client.await.unwrap());
            }
            ends
        });
        if killed {
            server.child.wait().unwrap();
        } else {
            assert!(
                ends.iter().all(Result::is_ok),
                "a connection broke: {:?}",
                ends.iter().find(|e| e.is_err())
            );
            // Told to stop, it finishes.
            let stopped = Command::new("kill").arg(server.child.id().to_string()).status().unwrap();
            assert!(stopped.success() && server.child.wait().unwrap().success());
        }
        println!(
            "{clients} clients, {time} s{}: {} completions, {} documents, {} forgotten, {} refused (503), {} left",
            if killed { ", killed in the middle" } else { "" },
            outcome.completions.load(Ordering::Relaxed),
            outcome.kept.lock().unwrap().len(),
            outcome.forgotten.lock().unwrap().len(),
            outcome.refused.load(Ordering::Relaxed),
            outcome.left.load(Ordering::Relaxed),
        );
        outcome.times.print();
        check(&binary, &model, &outcome);
    }
}

/// Posts what must succeed, and gives the answer.
async fn ask(client: &mut Client, path: &str, body: Value) -> Value {
    let answer = client.post(path, &body).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// Words that are drawn one after the other, the first ones more often, as in a text.
fn words(seed: u64, count: usize) -> String {
    const WORDS: &str = "the of and to in a was his with that at by night light moon owl reads sleeps old tower river bridge stone \
        garden winter letter morning window house road mountain field summer market silver evening harbour captain sister brother \
        paper candle forest distant quiet narrow golden broken hidden carried watched waited answered remembered travelled gathered \
        returned followed whispered between behind towards beyond without against among during before after never always";
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let mut state = seed;
    let mut text = String::new();
    for _ in 0..count {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = (state >> 40) as f64 / f64::from(1 << 24);
        let rank = ((all.len() as f64 + 1.0).powf(uniform) - 1.0) as usize;
        text.push_str(all[rank.min(all.len() - 1)]);
        text.push(' ');
    }
    text
}

/// The processor time that a process has used, in seconds; none where the system does not say.
fn processor_time(process: u32) -> Option<f64> {
    /// Of a second, as Linux counts for programs.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the program's name, which may have spaces: user and system time are the 12th and 13th.
    let mut fields = stat.rsplit(") ").next()?.split(' ').skip(11).map_while(|n| n.parse().ok());
    let (user, system): (f64, f64) = (fields.next()?, fields.next()?);
    Some((user + system) / TICKS)
}

/// What was done in a time, and the processor time of server and clients in it.
struct Phase {
    /// Requests that ask for much.
    long: u64,
    /// Requests for one token, each with one for figures.
    short: u64,
    seconds: f64,
    server: f64,
    clients: f64,
}

impl Phase {
    fn long_per_second(&self) -> f64 {
        self.long as f64 / self.seconds
    }

    /// The part of all processors' time that so many seconds of one are.
    fn share(&self, seconds: f64) -> f64 {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        seconds / (self.seconds * processors as f64)
    }
}

/// Requests that ask for much, from so many clients, beside one that asks for little, again and again for some time.
struct Mix<'a> {
    server: &'a Process,
    /// What is asked for again and again, and by how many clients.
    long: Option<(&'a Value, usize)>,
    /// A prompt of which one token is asked for, if that is.
    short: Option<&'a str>,
    seconds: u64,
}

impl Mix<'_> {
    async fn run(&self, times: &Times) -> Phase {
        let Mix { server, long, short, seconds } = *self;
        let address = server.address;
        let used = |process: u32| processor_time(process).unwrap_or(f64::NAN);
        let (server_before, own_before) = (used(server.child.id()), used(std::process::id()));
        let (start, mut count) = (Instant::now(), 0);
        let until = start + Duration::from_secs(seconds);
        let mut working = tokio::task::JoinSet::new();
        for asked in long.into_iter().flat_map(|(asked, clients)| vec![asked.clone(); clients]) {
            working.spawn(async move {
                let (mut client, mut done) = (Client::connect(address).await, 0);
                while Instant::now() < until {
                    ask(&mut client, "/v1/completions", asked.clone()).await;
                    done += 1;
                }
                done
            });
        }
        let (mut client, mut figures) =
            (Client::connect(address).await, Client::connect(address).await);
        let mut done = 0;
        // Until the last long request is answered, so that all of them have the same beside them.
        while Instant::now() < until || !working.is_empty() {
            while let Some(answered) = working.try_join_next() {
                done += answered.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            let Some(prompt) = short else { continue };
            let start = Instant::now();
            ask(&mut client, "/v1/completions", json!({"prompt": prompt, "max_tokens": 1})).await;
            times.add("one token", start);
            let start = Instant::now();
            assert_eq!(figures.get("/api/stats").await.status, 200);
            times.add("/api/stats", start);
            count += 1;
        }
        Phase {
            long: done,
            short: count,
            seconds: start.elapsed().as_secs_f64(),
            server: used(server.child.id()) - server_before,
            clients: used(std::process::id()) - own_before,
        }
    }
}

/// What a client that asks for one token waits while eight others ask for much, and what these lose by it: in requests a second,
/// beside the processor time that the short requests take.
#[test]
#[ignore = "takes minutes; cargo xtask load runs it"]
fn short_requests_beside_long_ones() {
    const LONG: usize = 8;
    let binary = PathBuf::from(std::env::var("MEMO_BIN").expect("MEMO_BIN: the memo binary"));
    let seconds: u64 = std::env::var("MEMO_LOAD_SECONDS").map_or(60, |s| s.parse().unwrap());
    let home = tempfile::tempdir().unwrap();
    let server = Process::start(&binary, &home.path().join("m.memo"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let text = words(1, 300_000);
    runtime.block_on(async {
        let mut client = Client::connect(server.address).await;
        ask(&mut client, "/api/documents", json!({"id": "text", "text": text})).await;
        let mix = Mix { server: &server, long: None, short: Some(&text[300..400]), seconds: seconds.div_ceil(12) };
        let short = mix.run(&Times::default()).await;
        let each = short.server / short.short as f64;
        println!("one token and /api/stats: {:.2} ms of the server's processor time", 1e3 * each);
        let scored: String = words(2, 100_000).chars().take(200_000).collect();
        let generating = json!({"prompt": [text[..200].to_owned()], "max_tokens": 16_384, "temperature": 1.0});
        let scoring = json!({"prompt": scored, "max_tokens": 0, "echo": true, "logprobs": 1});
        for (what, asked) in [("completions of 16,384 tokens", generating), ("scorings of 200 kB", scoring)] {
            let (times, long) = (Times::default(), Some((&asked, LONG)));
            // Both as long, because at the end of each some processors have nothing to do.
            let seconds = seconds.div_ceil(2);
            let alone = Mix { long, short: None, seconds, ..mix }.run(&times).await;
            let beside = Mix { long, seconds, ..mix }.run(&times).await;
            println!("beside {LONG} {what}:");
            times.print();
            let (was, is) = (alone.long_per_second(), beside.long_per_second());
            println!(
                "  {was:.3} a second without the short ones, {is:.3} beside them: {:.1} % less",
                100.0 * (1.0 - is / was)
            );
            let for_short = each * beside.short as f64;
            let others = for_short + beside.clients - alone.clients * beside.long as f64 / alone.long as f64;
            println!(
                "  the short ones took {:.1} % of the processors: {for_short:.2} s of the server's time, the rest their client's",
                100.0 * beside.share(others),
            );
            // Other jobs on the machine change how much is done in a second, but not what each takes.
            println!(
                "  processor time of each: {:.3} s without them, {:.3} s beside them",
                alone.server / alone.long as f64,
                (beside.server - for_short) / beside.long as f64,
            );
            let used = |phase: &Phase| 100.0 * phase.share(phase.server + phase.clients);
            println!(
                "  server and clients used {:.1} % of the processors without them, {:.1} % beside them",
                used(&alone),
                used(&beside)
            );
        }
    });
}
