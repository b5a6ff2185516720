//! How fast facts are read, spoken and concluded, and how fast sentences are found. `cargo bench -p memo-knowledge`.
//!
//! What bounds each is printed beside it: bytes for reading and searching, facts and texts for speaking, pairs for a closure.

use memo_knowledge::{Graph, GraphFormat, GraphOptions, Limits, Rules, Triple};
use std::fmt::Write as _;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

fn main() {
    speak();
    close(true);
    close(false);
    search();
    read();
}

fn timed<T>(work: impl Fn() -> T) -> (T, Duration) {
    let once = || {
        let begin = Instant::now();
        (black_box(work()), begin.elapsed())
    };
    let (first, second) = (once(), once());
    if first.1 < second.1 { first } else { second }
}

fn rules(text: &str) -> Rules {
    Rules::parse(text, "bench.toml").expect("rules of the benchmark")
}

/// 30,000 facts, each said in 8 ways.
fn speak() {
    let say =
        |n: usize| format!("\"The {n}th way to say it: {{subject}} has {{object}} as its own.\"");
    let texts: Vec<String> = (0..8).map(say).collect();
    let rules = rules(&format!("[templates]\nhas = [{}]\n", texts.join(", ")));
    let mut facts: Vec<Triple> = (0..30_000)
        .map(|n| Triple::new(format!("thing {n}"), "has", format!("part {}", n % 977)))
        .collect();
    facts.sort();
    let (found, time) = timed(|| conclude(&rules, &facts));
    println!("speak: 30,000 facts, 8 templates: {} texts in {time:.0?}", found.1);
}

/// The closure of a relation: pairs that a chain of things makes.
fn close(linear: bool) {
    let second = if linear { "next" } else { "before" };
    let rules = rules(&format!(
        "[[rule]]\nwhen = [\"{{x}}\", \"next\", \"{{y}}\"]\nthen = [\"{{x}}\", \"before\", \"{{y}}\"]\n\
         [[rule]]\nwhen = [[\"{{x}}\", \"before\", \"{{y}}\"], [\"{{y}}\", \"{second}\", \"{{z}}\"]]\n\
         then = [\"{{x}}\", \"before\", \"{{z}}\"]\n"
    ));
    let mut facts: Vec<Triple> =
        (0..450).map(|n| Triple::new(format!("n{n}"), "next", format!("n{}", n + 1))).collect();
    facts.sort();
    let (found, time) = timed(|| conclude(&rules, &facts));
    println!("close by `{second}`: {} pairs in {time:.0?}", found.0);
}

fn conclude(rules: &Rules, facts: &[Triple]) -> (usize, usize) {
    let found = rules.conclude(facts, &Limits::default(), &mut |_| ControlFlow::Continue(()));
    let found = found.expect("within the limits");
    (found.triples.len(), found.texts.len())
}

/// 20 patterns over 20 MB of sentences of which one in ten fits one of them.
fn search() {
    let mut text = String::new();
    for n in 0..300_000 {
        let _ = match n % 10 {
            0 => writeln!(text, "Person Number{n} was born in Town{}.", n % 331),
            _ => writeln!(text, "Nothing of note was said about the weather of that {n}th day."),
        };
    }
    let mut file = String::new();
    for n in 0..20 {
        let verb = if n == 0 { "born".to_owned() } else { format!("verb{n}ed") };
        let _ = writeln!(
            file,
            "[[rule]]\nwhen = \"{{x}} was {verb} in {{y}}.\"\nthen = [\"{{x}}\", \"{verb}\", \"{{y}}\"]"
        );
    }
    let rules = rules(&file);
    let (found, time) = timed(|| {
        rules.matches(&text, &(), &Limits::default()).map_or(0, |found| found.triples.len())
    });
    let speed = text.len() as f64 / 1e6 / time.as_secs_f64();
    println!(
        "search: {:.1} MB, 20 patterns: {found} triples in {time:.0?}, {speed:.0} MB/s",
        text.len() as f64 / 1e6
    );
}

/// 200,000 triples as N-Triples, and their facts.
fn read() {
    let mut text = String::new();
    for n in 0..200_000 {
        let _ = writeln!(
            text,
            "<http://example.org/thing/{}> <http://example.org/has> <http://example.org/part_{n}> .",
            n % 5003
        );
    }
    let options = GraphOptions::default();
    let (graph, time) =
        timed(|| Graph::read(text.as_bytes(), GraphFormat::NTriples, &options).unwrap_or_default());
    let (facts, named) = timed(|| graph.facts().len());
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "read: {megabytes:.1} MB, {} triples in {time:.0?}; {facts} facts in {named:.0?}",
        graph.len()
    );
}
