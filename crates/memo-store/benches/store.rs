//! The store against the engine alone: memorizing, single lines, forgetting, opening.
//!
//! `cargo bench -p memo-store --bench store`
//!
//! Documents of 5,000 tokens with Zipf-like statistics, five million tokens in all (20 MB of text), as tokens: encoding
//! is in neither figure. The engine's bound is memory bandwidth (`sparse_write`); the store adds the ledger's writes.

use memo::random::{Purpose, Stream};
use memo::sparse::{Memory, Span};
use memo::words::Words;
use memo_store::{NewDocument, NewModel, ReadOptions, Snapshot, Store};
use std::sync::Arc;
use std::time::Instant;

const TOKENS: usize = 5_000_000;
const DOCUMENT: usize = 5_000;

fn main() {
    let home = tempfile::tempdir_in(".").unwrap();
    let path = home.path().join("m.memo");
    let new = NewModel::default();
    let vocabulary = f64::from(new.tokenizer.vocab_size() as u32 - 1);
    let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
    let text: Vec<u32> = (0..TOKENS)
        .map(|_| {
            let uniform = reader.below(1 << 32) as f64 / 4_294_967_296.0;
            vocabulary.powf(uniform) as u32 - 1
        })
        .collect();
    let documents: Vec<&[u32]> = text.chunks(DOCUMENT).collect();

    let mut store = Store::create(&path, &new).unwrap();
    let settings = store.config().memory.clone();
    let words = Arc::new(Words::new(new.tokenizer.pieces()));
    let mut memory = Memory::with_words(settings, Some(words)).unwrap();
    let passages: Vec<Span<'_>> = documents.iter().map(|d| Span::whole(d, 1)).collect();
    // The first pass also makes the system hand out pages; it is not timed.
    memory.write(&passages).unwrap();
    let back: Vec<Span<'_>> = documents.iter().map(|d| Span::whole(d, -1)).collect();
    memory.write(&back).unwrap();
    let engine = timed(|| memory.write(&passages).unwrap());
    println!("memory                   {:>10} MiB", memory.usage().total() >> 20);
    drop(memory);
    println!("engine alone             {:>10.0} tokens/s", TOKENS as f64 / engine);

    let given: Vec<NewDocument> = documents
        .iter()
        .enumerate()
        .map(|(i, d)| NewDocument::tokens(d.to_vec()).with_id(format!("d{i:05}")))
        .collect();
    let first = store.memorize(given.clone(), None).unwrap().transaction.unwrap();
    let undone = timed(|| drop(store.rollback(first, None).unwrap()));
    println!("rolled back              {:>10.0} tokens/s", TOKENS as f64 / undone);
    store.checkpoint().unwrap();
    let through = timed(|| drop(store.memorize(given.clone(), None).unwrap()));
    println!(
        "through the store        {:>10.0} tokens/s, {:.2} of the engine, acknowledged",
        TOKENS as f64 / through,
        engine / through
    );
    let checkpoint = timed(|| store.checkpoint().unwrap());
    println!("a checkpoint             {checkpoint:>10.2} s");

    let mut slowest = 0f64;
    let mut all = 0.0;
    for line in 0..50 {
        let text = format!("Line number {line} of the log: nothing happened at all today.");
        let took = timed(|| drop(store.memorize([NewDocument::text(text)], None).unwrap()));
        slowest = slowest.max(took);
        all += took;
    }
    println!(
        "one line, acknowledged   {:>10.2} ms (slowest of 50: {:.2})",
        all * 20.0,
        slowest * 1e3
    );

    let subtract = timed(|| store.retire("d00007", None).map(drop).unwrap());
    println!("retire a document        {:>10.2} ms for {DOCUMENT} tokens", subtract * 1e3);
    let receipt = store.forget(&["d00008"], None).unwrap();
    println!(
        "forget a document        {:>10.2} ms to subtract, {:.2} s to scrub",
        receipt.subtracting_seconds * 1e3,
        receipt.scrubbing_seconds
    );
    drop(store);

    let (mut opening, mut first) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let start = Instant::now();
        let reader = Snapshot::open(&path).unwrap();
        opening = opening.min(start.elapsed().as_secs_f64());
        reader.distribution(&text[1000..1064], &ReadOptions::default()).unwrap();
        first = first.min(start.elapsed().as_secs_f64());
    }
    println!("open                     {opening:>10.3} s; with the first query {first:.3} s");

    let mut store = Store::open(&path).unwrap();
    let more: Vec<NewDocument> = documents[..200]
        .iter()
        .enumerate()
        .map(|(i, d)| NewDocument::tokens(d.to_vec()).with_id(format!("more{i:05}")))
        .collect();
    let through = timed(|| drop(store.memorize(more.clone(), None).unwrap()));
    println!(
        "more, once opened        {:>10.0} tokens/s, acknowledged",
        (200 * DOCUMENT) as f64 / through
    );
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
