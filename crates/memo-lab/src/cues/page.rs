//! The page of cues.

use super::careless::Damage;
use super::{
    CHARACTERS, Counts, LAST, NEXT_TOKENS, NEXT_WORDS, Outcome, PROMPT, Question, TOKENS, WORDS,
    curve,
};
use crate::figure::{Axis, Chart, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Share, Table};

type Results = [(String, Outcome)];

pub(super) fn page(
    results: &Results,
    tokenizer: &str,
    counts: Counts,
    provenance: Provenance,
) -> Page {
    let title = "Cues: how little of a text brings it back";
    Page::new("cues", title, all_numbers(results), provenance)
        .prose(summary(results))
        .figure("cues", CAPTION, figure(results))
        .heading("What was done")
        .prose(set_up(tokenizer, counts))
        .heading("Texts")
        .table(texts(results))
        .heading("Cues that occur once")
        .table(table(results, "cue", &unique()))
        .heading("The next token, anywhere")
        .table(table(results, "context", &anywhere()))
        .heading("Careless quotes")
        .table(table(results, "prompt", &careless()))
        .heading("Keywords")
        .table(table(results, "prompt", &[false, true].map(Question::Keywords)))
        .heading("New prompts")
        .table(table(
            results,
            "completion",
            &[Question::FalseVerbatim, Question::Near, Question::Loop],
        ))
        .heading("Stated probabilities")
        .prose(curve::prose(results))
        .figure("cues-reliability", curve::CAPTION, curve::figure(results))
        .table(curve::bins(results))
        .table(curve::errors(results))
}

const CAPTION: &str = "The share of unique cues after which the text goes on as it was memorized, by the length of the cue in tokens and in words; and the share of random places at \
     which the next token is right, beside what exact counting could have right.";

fn unique() -> Vec<Question> {
    TOKENS.map(Question::Tokens).into_iter().chain(WORDS.map(Question::Words)).collect()
}

fn anywhere() -> Vec<Question> {
    LAST.into_iter().flat_map(|len| [Question::Next(len), Question::Possible(len)]).collect()
}

fn careless() -> Vec<Question> {
    let both = |damage: Damage| {
        let name = damage.name().to_owned();
        [Question::Careless(name.clone()), Question::CarelessAtOnce(name)]
    };
    Damage::ALL.into_iter().flat_map(both).collect()
}

impl Question {
    fn name(&self) -> String {
        match self {
            Question::Tokens(len) => format!("unique cue of {len} tokens"),
            Question::Words(len) => format!("unique cue of {len} words"),
            Question::Next(len) => format!("next token after {len}"),
            Question::Possible(len) => format!("possible after {len}"),
            Question::Careless(damage) => damage.clone(),
            Question::CarelessAtOnce(damage) => format!("{damage}: at once"),
            Question::Keywords(false) => "four rare words".to_owned(),
            Question::Keywords(true) => "four rare words with other endings".to_owned(),
            Question::FalseVerbatim => "new prompt wrongly called verbatim".to_owned(),
            Question::Near => "new prompt called near".to_owned(),
            Question::Loop => "new prompt ends in a loop".to_owned(),
        }
    }
}

impl Outcome {
    /// The answer to a question; none if it could not be asked.
    fn answer(&self, question: &Question) -> Option<Share> {
        let matched = [Question::FalseVerbatim, Question::Near].contains(question);
        if matched && !self.says_matched {
            return None;
        }
        let found = self.answers.iter().find(|(other, _)| other == question);
        found.map(|(_, share)| *share).filter(|share| share.tried > 0)
    }
}

/// All texts taken together, of models that are not frozen.
fn total(results: &Results, question: &Question) -> Option<Share> {
    let live = results.iter().filter(|(_, outcome)| !outcome.frozen);
    let all = live.filter_map(|(_, outcome)| outcome.answer(question));
    all.reduce(|a, b| a + b)
}

fn summary(results: &Results) -> String {
    let percent = |question: Question| {
        total(results, &question)
            .map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share.value()))
    };
    let careless = |damage: Damage| percent(Question::Careless(damage.name().to_owned()));
    format!(
        "Texts are memorized, and asked for as people ask: by a few words of them, typed with more or less care.\n\n\
         - **Unique cues**: of cues that occur once, {} of 3 tokens, {} of 4 and {} of 8 bring back the next {NEXT_TOKENS} tokens; {} of 3 words and {} of 6 the next {NEXT_WORDS} words.\n\
         - **Anywhere**: the next token is right after 3 tokens at {} of all places (exact counting: {}), after 16 at {}.\n\
         - **Careless quotes** of {PROMPT} words go on right, after at most one wrong word: {} as they are, {} with a typo in a recent word, {} in the last, {} in lower case, {} cut off in a word.\n\
         - **Keywords**: of passages asked for by four rare words, {} are among the three closest; {} if the words have other endings.\n\
         - **New prompts**: {} are wrongly called verbatim, {} near; {} end in a loop.",
        percent(Question::Tokens(3)),
        percent(Question::Tokens(4)),
        percent(Question::Tokens(8)),
        percent(Question::Words(3)),
        percent(Question::Words(6)),
        percent(Question::Next(3)),
        percent(Question::Possible(3)),
        percent(Question::Next(16)),
        careless(Damage::Nothing),
        careless(Damage::Typo),
        careless(Damage::LastTypo),
        careless(Damage::LowerCase),
        careless(Damage::MidWord),
        percent(Question::Keywords(false)),
        percent(Question::Keywords(true)),
        percent(Question::FalseVerbatim),
        percent(Question::Near),
        percent(Question::Loop),
    )
}

fn set_up(tokenizer: &str, counts: Counts) -> String {
    let Counts { cues, places, careless } = counts;
    format!(
        "Each text is memorized as one document of a model directory of its own, with default settings and the tokenizer `{tokenizer}`; its last tenth is not. The model is then opened as readers \
         open it and asked for completions, the most probable tokens; and so is its frozen copy, which has no texts.\n\n\
         | question | what is asked, and what counts as right |\n|---|---|\n\
         | unique cue | {cues} random runs of so many tokens, or words, that occur once in the text: the next {NEXT_TOKENS} tokens, or {NEXT_WORDS} words, all of them. Tokens are given as tokens, words as text |\n\
         | next token | {places} random places, whether or not what stands before them occurs elsewhere. *Possible* is what the token that most often followed the same tokens would have right |\n\
         | careless | {careless} random prompts of {PROMPT} words, typed with a fault: the next {CHARACTERS} characters of the text, white space aside, at once or after at most one wrong word. A typo exchanges or replaces a letter; \
         recent words are the four before the last; line ends become spaces, or a space a line end; a word is cut off in its middle; *{CHARACTERS} characters* end anywhere. The twelve words, letters and digits alone, occur once |\n\
         | keywords | {careless} passages of 24 words: four of their six rarest words, in any order, and whether one of the three closest passages overlaps |\n\
         | new | {careless} prompts of {PROMPT} words from the tenth that was not memorized. *Wrongly verbatim*: called a quote though not even the last eight tokens stand in the text. A loop is an end of the completion ({new} tokens) that is the same tokens three times |",
        new = 120,
    )
}

fn texts(results: &Results) -> Table {
    let mut table =
        Table::new(["text", "tokens", "bytes a token in memory", "bytes a token on disk"]);
    for (name, outcome) in results {
        table.push(vec![
            name.as_str().into(),
            Cell::Count(outcome.tokens),
            Cell::Number(outcome.memory_bytes, 1),
            Cell::Number(outcome.file_bytes, 1),
        ]);
    }
    table
}

/// A row a question, a column a text.
fn table(results: &Results, first: &str, questions: &[Question]) -> Table {
    let names = results.iter().map(|(name, _)| name.clone());
    let mut table = Table::new([first.to_owned()].into_iter().chain(names));
    for question in questions {
        let shares = results.iter().map(|(_, outcome)| outcome.answer(question));
        let shares = shares.map(|share| Cell::number(share.map(Share::value), 3));
        table.push([question.name().as_str().into()].into_iter().chain(shares).collect());
    }
    table
}

fn all_numbers(results: &Results) -> Table {
    let mut table = Table::new(["text", "tokens", "question", "share", "low", "high", "tried"]);
    for (name, outcome) in results {
        for (question, _) in &outcome.answers {
            let Some(share) = outcome.answer(question) else { continue };
            let (low, high) = share.interval();
            table.push(vec![
                name.as_str().into(),
                Cell::Count(outcome.tokens),
                question.name().as_str().into(),
                Cell::Number(share.value(), 4),
                Cell::Number(low, 4),
                Cell::Number(high, 4),
                Cell::Count(share.tried),
            ]);
        }
    }
    table
}

fn figure(results: &Results) -> Figure {
    let marks = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond];
    let chart = |title: &str, unit: &str, lens: &[usize], of: fn(usize) -> Question| {
        let mut chart = Chart::new(title, Axis::log(unit), Axis::linear("share").range(0.0, 1.02));
        for (i, (name, outcome)) in results.iter().enumerate() {
            let point = |&len: &usize| Some((len as f64, outcome.answer(&of(len))?.value()));
            let points: Vec<(f64, f64)> = lens.iter().filter_map(point).collect();
            if !points.is_empty() {
                let style = Style::new(i % 6).mark(marks[i % marks.len()]);
                chart = chart.series(Series::new(name, style, points));
            }
        }
        chart
    };
    Figure::new(2, 290.0)
        .chart(chart("Unique cues of tokens", "tokens", &TOKENS, Question::Tokens))
        .chart(chart("Unique cues of words", "words", &WORDS, Question::Words))
        .chart(chart("Next token, anywhere", "tokens before it", &LAST, Question::Next))
        .chart(chart("The same, exact counting", "tokens before it", &LAST, Question::Possible))
}
