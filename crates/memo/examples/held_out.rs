//! Measures perplexity on numbered tokens, as programs that count words do, so that they can be compared on the same numbers:
//!
//! ```text
//! cargo run -p memo --example held_out [--recent W] VOCABULARY FIRST[,CLASSES] TEXT...
//! ```
//!
//! A file has documents, one a line, of numbers below VOCABULARY with spaces between them (0: one more than FIRST has, and one for
//! all others; see the example `tokens` of `memo-text`). FIRST is memorized, without contexts of words. Each TEXT is scored, all tokens but ends of
//! documents: those that FIRST has, and all. CLASSES is a lexicon for them: lines of a number and a class.
//! W is how much the context memory counts: 0, not at all, unless it is said.

use memo::lexicon::Lexicon;
use memo::readout::{BACKOFF, Backoff, score};
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let recent = arguments.iter().position(|argument| argument == "--recent");
    let recent = match recent {
        Some(at) if at + 1 < arguments.len() => {
            arguments.drain(at..at + 2).next_back().unwrap_or_default().parse()?
        }
        _ => 0.0,
    };
    let [vocabulary, first, texts @ ..] = arguments.as_slice() else {
        return Err("usage: held_out [--recent W] VOCABULARY FIRST[,CLASSES] TEXT...".into());
    };
    let (first, classes) = first.split_once(',').unwrap_or((first, ""));
    let first = read(first)?;
    let most = first.iter().flatten().max().copied().unwrap_or(0);
    let vocabulary = match vocabulary.parse()? {
        0 => most + 3,
        vocabulary => vocabulary,
    };
    let settings = Settings::new(vocabulary, vocabulary - 1, 1)?;
    let mut memory = if classes.is_empty() {
        Memory::new(settings)?
    } else {
        let lexicon = Arc::new(lexicon(classes)?);
        let words = Words::new((0..vocabulary).map(|token| format!(" {token}")));
        let settings = settings.with_lexicon(Some(&lexicon));
        Memory::with_words(settings, Some(Arc::new(words.with_lexicon(lexicon))))?
    };
    first.iter().try_for_each(|document| memory.memorize(document))?;
    let readout = Backoff { recent, ..BACKOFF.clone() };
    println!("{:.1} bytes", memory.usage().total() as f64 / memory.positions() as f64);
    for text in texts {
        let (mut known, mut all) = ((0.0, 0), (0.0, 0));
        for document in read(text)? {
            let document: Vec<u32> =
                document.into_iter().map(|token| token.min(vocabulary - 2)).collect();
            let scores = score(&memory, &readout, &document)?;
            for (&token, score) in document.iter().zip(scores) {
                let sums =
                    [Some(&mut all), (memory.unigrams()[token as usize] > 0).then_some(&mut known)];
                for (sum, count) in sums.into_iter().flatten() {
                    *sum += score;
                    *count += 1;
                }
            }
        }
        let perplexity = |(sum, count): (f64, u32)| (-sum / f64::from(count.max(1))).exp();
        println!(
            "{text}: known tokens {} perplexity {:.2}, all {} perplexity {:.2}",
            known.1,
            perplexity(known),
            all.1,
            perplexity(all)
        );
    }
    Ok(())
}

fn lexicon(path: &str) -> Result<Lexicon, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    Ok(Lexicon::new(lines.map(|(word, class)| (word.into(), vec![Some(class.into())])))?)
}

fn read(path: &str) -> Result<Vec<Vec<u32>>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let line = |line: &str| line.split_whitespace().map(|token| Ok(token.parse()?)).collect();
    text.lines().map(line).collect()
}
