//! The page of generalizing.

use super::curve::{Estimate, HeldOut, MoreText, more_text, ratio};
use super::lexicons::{Classes, Induction};
use super::templates::{Answers, Tried};
use super::text::Text;
use super::{Outcome, Point, Reading};
use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Share, Table};
use memo_terminal::output::thousands;
use std::fmt::Write as _;

type Results = [(Point, Outcome)];

pub(super) fn page(results: &Results, texts: &[Text], seed: u64, provenance: Provenance) -> Page {
    let found = Found { results, texts, seed };
    let title = "Generalizing: what it is worth to know which words are alike";
    let mut page = Page::new("generalize", title, found.all_numbers(), provenance)
        .prose(found.summary())
        .figure("generalize", CAPTION, found.figure())
        .heading("What was done")
        .prose(found.set_up())
        .heading("Less text for the same")
        .table(found.amounts())
        .prose(AMOUNTS)
        .heading("How many classes, and for which words")
        .table(found.parts())
        .heading("Time to read")
        .table(found.readings());
    if let Some(answers) = found.templates() {
        page = page.heading("Templates").prose(templates_prose(answers)).table(templates(answers));
    }
    page
}

const CAPTION: &str = "Perplexity of held-out tokens that the memory knows, as a share of that of a memory of the same text without classes, against the amount of memorized text. Thin lines are the ends of intervals of 95 %.";

const AMOUNTS: &str = "*Of none* is the perplexity as a share of that without classes, on the same tokens: those that this amount of text has. *More text* is how many times as much of this text a memory without classes needs to foretell these \
     tokens as well, read off its curve; a ≈ says that the curve ends before and was drawn on as it ended. The last row of a text asks for tokens that the amount before has. Intervals of 95 % are from 1,000 draws, with repetition, of 40 blocks of the held-out text.";

struct Found<'a> {
    results: &'a Results,
    texts: &'a [Text],
    seed: u64,
}

/// A row of the first table.
struct Amount<'a> {
    text: usize,
    classes: Classes,
    amount: usize,
    found: &'a HeldOut,
    ratio: Option<Estimate>,
    more: Option<MoreText>,
}

/// A row of the second.
struct Part<'a> {
    text: usize,
    induction: Option<Induction>,
    words: bool,
    found: &'a HeldOut,
    without: &'a HeldOut,
}

fn between(low: f64, high: f64, decimals: usize) -> String {
    format!("{low:.decimals$} to {high:.decimals$}")
}

impl<'a> Found<'a> {
    /// Memories without classes, by amount.
    fn curve(&self, wanted: usize) -> Vec<(usize, &'a HeldOut)> {
        let curve = self.results.iter().filter_map(|(point, outcome)| match (point, outcome) {
            (
                Point::Amount { text, classes: Classes::None, tokens, .. },
                Outcome::HeldOut(found),
            ) if *text == wanted => Some((*tokens, found)),
            _ => None,
        });
        curve.collect()
    }

    fn each_amount(&self) -> Vec<Amount<'a>> {
        let mut all = Vec::new();
        for (point, outcome) in self.results {
            let (Point::Amount { text, classes, amount, .. }, Outcome::HeldOut(found)) =
                (point, outcome)
            else {
                continue;
            };
            let (text, classes, amount) = (*text, *classes, *amount);
            let curve = self.curve(text);
            let without = curve.get(amount).filter(|_| classes != Classes::None);
            let ratio = without.map(|(_, without)| ratio(found, without, amount, self.seed));
            let more = without.and_then(|_| more_text(found, &curve, amount, self.seed));
            all.push(Amount { text, classes, amount, found, ratio, more });
        }
        all
    }

    fn each_part(&self) -> Vec<Part<'a>> {
        let mut all: Vec<Part<'a>> = Vec::new();
        for (point, outcome) in self.results {
            let (Point::Part { text, induction, words, .. }, Outcome::HeldOut(found)) =
                (point, outcome)
            else {
                continue;
            };
            let without = all.iter().rev().find(|part| {
                part.text == *text && part.words == *words && part.induction.is_none()
            });
            let without = without.map_or(found, |part| part.found);
            let (text, induction, words) = (*text, *induction, *words);
            all.push(Part { text, induction, words, found, without });
        }
        all
    }

    fn each_reading(&self) -> impl Iterator<Item = (usize, &'a Reading)> {
        self.results.iter().filter_map(|(point, outcome)| match (point, outcome) {
            (Point::Reading { text, .. }, Outcome::Reading(found)) => Some((*text, found)),
            _ => None,
        })
    }

    fn templates(&self) -> Option<&'a Answers> {
        self.results.iter().find_map(|(_, outcome)| match outcome {
            Outcome::Templates(found) => Some(found),
            _ => None,
        })
    }

    fn name(&self, text: usize) -> &'a str {
        &self.texts[text].name
    }

    fn summary(&self) -> String {
        let mut out = String::from(
            "A lexicon says which words are alike, and a memory with one expects of a word what it knows of its like. Here classes come from the memorized text itself, from chance, or from WordNet.\n",
        );
        for row in self.each_amount() {
            if row.amount + 1 < self.texts[row.text].amounts.len() {
                continue;
            }
            let Some(ratio) = row.ratio else { continue };
            let more = row.more.as_ref().map(|more| more.times.value).filter(|x| x.is_finite());
            let more = more.map_or_else(String::new, |more| {
                format!("; without them it would take about {more:.2} times as much text")
            });
            let _ = write!(
                out,
                "\n- **{}**, {} tokens, {} classes: perplexity {:.1}, which is {:.3} ({}) of that without{more}.",
                self.name(row.text),
                thousands(self.texts[row.text].tokens.len() as u64),
                row.classes.name(),
                row.found.perplexity(row.amount),
                ratio.value,
                between(ratio.low, ratio.high, 3),
            );
        }
        if let Some(found) = self.templates() {
            let _ = write!(
                out,
                "\n- **Templates**: asked for what goes on in a sentence form with a word that never stood there, the memory answers with the right kind of word in {:.3} of the cases, without the lexicon in {:.3}.",
                found.whole.all().value(),
                found.none.all().value()
            );
        }
        out
    }

    fn set_up(&self) -> String {
        let tokenizer = self.texts.first().map_or("", |text| text.tokenizer.name());
        let texts: Vec<String> = self
            .texts
            .iter()
            .map(|text| {
                let (memorized, scored) = (text.tokens.len() as u64, text.held_out.len() as u64);
                format!("{} {} and {}", text.name, thousands(memorized), thousands(scored))
            })
            .collect();
        format!(
            "Each text is cut at the end of the line in which the first four fifths of its characters end (tokenizer `{tokenizer}`; tokens memorized and scored: {}). So many of the first tokens are memorized as one document, with contexts of words, and \
             what is held out is scored; only tokens that the memorized text has count.\n\n\
             | classes | what they are |\n|---|---|\n\
             | none | a memory without a lexicon |\n\
             | induced | {}, induced from the memorized tokens alone |\n\
             | random | as many, as large, of the same words, drawn at random |\n\
             | WordNet | WordNet's concepts of depth 6, the most frequent sense of each word, with inflected forms |",
            texts.join("; "),
            Induction::DEFAULT.name(),
        )
    }

    fn amounts(&self) -> Table {
        let mut table = Table::new([
            "text",
            "tokens",
            "classes",
            "words",
            "perplexity",
            "of none",
            "95 %",
            "more text",
            "95 %",
        ]);
        for row in self.each_amount() {
            let Amount { text, classes, amount, found, ratio, more } = row;
            let times = more.as_ref().map_or(Cell::Empty, |MoreText { times, beyond }| {
                let sign = if *beyond { "≈ " } else { "" };
                let value = times.value;
                if value.is_finite() { format!("{sign}{value:.2}").into() } else { "never".into() }
            });
            let times_between = more.as_ref().filter(|more| more.times.high.is_finite());
            table.push(vec![
                self.name(text).into(),
                self.texts[text].amounts[amount].into(),
                classes.name().into(),
                found.words.into(),
                Cell::Number(found.perplexity(amount), 1),
                Cell::number(ratio.map(|ratio| ratio.value), 3),
                ratio.map_or(Cell::Empty, |ratio| between(ratio.low, ratio.high, 3).into()),
                times,
                times_between
                    .map_or(Cell::Empty, |more| between(more.times.low, more.times.high, 2).into()),
            ]);
        }
        table
    }

    fn parts(&self) -> Table {
        let mut table = Table::new([
            "text",
            "contexts of words",
            "classes",
            "words",
            "perplexity",
            "of none",
            "bytes a token",
            "more",
        ]);
        for Part { text, induction, words, found, without } in self.each_part() {
            let last = self.texts[text].amounts.len() - 1;
            let own = induction.map(|_| found.perplexity(last) / without.perplexity(last));
            table.push(vec![
                self.name(text).into(),
                if words { "yes" } else { "no" }.into(),
                induction.map_or_else(|| "none".to_owned(), Induction::name).into(),
                found.words.into(),
                Cell::Number(found.perplexity(last), 1),
                Cell::number(own, 3),
                Cell::Number(found.bytes, 1),
                Cell::number(induction.map(|_| found.bytes - without.bytes), 1),
            ]);
        }
        table
    }

    fn readings(&self) -> Table {
        let columns = ["text", "tokens scored", "µs a token: without", "with", "times as long"];
        let mut table = Table::new(columns);
        for (text, &Reading { tokens, without, with }) in self.each_reading() {
            let each = |seconds: f64| Cell::Number(1e6 * seconds / tokens.max(1) as f64, 1);
            table.push(vec![
                self.name(text).into(),
                tokens.into(),
                each(without),
                each(with),
                Cell::number((without > 0.0).then(|| with / without), 2),
            ]);
        }
        table
    }

    fn all_numbers(&self) -> Table {
        let mut table = Table::new([
            "what",
            "text",
            "tokens",
            "classes",
            "words_with_class",
            "known",
            "perplexity",
            "of_none",
            "of_none_low",
            "of_none_high",
            "more_text",
            "more_text_low",
            "more_text_high",
            "beyond",
            "bytes_per_token",
            "microseconds",
            "right",
            "tried",
        ]);
        let number = |value: Option<f64>| Cell::number(value.filter(|x| x.is_finite()), 4);
        let held_out =
            |what: &str, text: usize, amount: usize, classes: String, found: &HeldOut| {
                vec![
                    what.into(),
                    self.name(text).into(),
                    self.texts[text].amounts[amount].into(),
                    classes.into(),
                    found.words.into(),
                    Cell::Count(found.known(amount)),
                    Cell::Number(found.perplexity(amount), 4),
                ]
            };
        for row in self.each_amount() {
            let Amount { text, classes, amount, found, ratio, more } = row;
            let mut cells = held_out("amount", text, amount, classes.name().to_owned(), found);
            cells.extend(
                [ratio.map(|r| r.value), ratio.map(|r| r.low), ratio.map(|r| r.high)].map(number),
            );
            let times = more.as_ref().map(|more| more.times);
            cells.extend(
                [times.map(|t| t.value), times.map(|t| t.low), times.map(|t| t.high)].map(number),
            );
            let beyond =
                more.map_or(Cell::Empty, |more| if more.beyond { "yes" } else { "no" }.into());
            cells.extend([
                beyond,
                Cell::Number(found.bytes, 4),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
            ]);
            table.push(cells);
        }
        for Part { text, induction, words, found, without } in self.each_part() {
            let last = self.texts[text].amounts.len() - 1;
            let name = induction.map_or_else(|| "none".to_owned(), Induction::name);
            let what = if words { "part" } else { "part without contexts of words" };
            let mut cells = held_out(what, text, last, name, found);
            cells
                .push(number(induction.map(|_| found.perplexity(last) / without.perplexity(last))));
            cells.extend([
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
            ]);
            cells.extend([Cell::Number(found.bytes, 4), Cell::Empty, Cell::Empty, Cell::Empty]);
            table.push(cells);
        }
        for (text, reading) in self.each_reading() {
            for (classes, seconds) in [("none", reading.without), ("induced", reading.with)] {
                let mut cells: Vec<Cell> = vec![
                    "reading".into(),
                    self.name(text).into(),
                    self.texts[text].tokens.len().into(),
                    classes.into(),
                ];
                cells.extend((0..11).map(|_| Cell::Empty));
                cells.push(Cell::Number(1e6 * seconds / reading.tokens.max(1) as f64, 4));
                cells.extend([Cell::Empty, Cell::Empty]);
                table.push(cells);
            }
        }
        if let Some(answers) = self.templates() {
            for (name, share) in asked(answers) {
                let mut cells: Vec<Cell> =
                    vec!["templates".into(), Cell::Empty, Cell::Empty, name.into()];
                cells.extend((0..12).map(|_| Cell::Empty));
                cells.extend([Cell::Count(share.right), Cell::Count(share.tried)]);
                table.push(cells);
            }
        }
        table
    }

    fn figure(&self) -> Figure {
        let rows = self.each_amount();
        let mut figure = Figure::new(self.texts.len().clamp(1, 3), 300.0);
        for (number, text) in self.texts.iter().enumerate() {
            let axis = Axis::log("tokens memorized");
            let mut chart = Chart::new(&text.name, axis, Axis::linear("perplexity, of none"));
            for (colour, classes) in Classes::ALL.into_iter().enumerate().skip(1) {
                let points = |value: fn(&Estimate) -> f64| -> Vec<(f64, f64)> {
                    let own =
                        rows.iter().filter(|row| row.text == number && row.classes == classes);
                    own.filter_map(|row| {
                        Some((text.amounts[row.amount] as f64, value(row.ratio.as_ref()?)))
                    })
                    .collect()
                };
                let own = points(|ratio| ratio.value);
                if own.is_empty() {
                    continue;
                }
                let style = Style::new(colour - 1);
                for end in [points(|ratio| ratio.low), points(|ratio| ratio.high)] {
                    chart = chart.series(Series::new("", style.dash(Dash::Dotted), end));
                }
                chart = chart.series(Series::new(classes.name(), style.mark(Mark::Circle), own));
            }
            figure = figure.chart(chart);
        }
        figure
    }
}

fn templates_prose(found: &Answers) -> String {
    let tried = found.whole.all().tried;
    format!(
        "Ten sentence forms of people, vehicles, cities, verbs and times, eight words of each kind, in pairs that end alike: *On Monday Anna drives the Volvo to* goes on with a city, *sells the Volvo to* with a person. Half of the combinations of a form and the word in its open \
         place are memorized, four times each with other words around them ({} sentences, some of them of other words); the others are asked. In {} prompts the word stood in neither form of the pair: the table is about these. An answer is right if it is a word of the kind that the form goes on with. \
         *Changed* are answers of another kind than with the whole lexicon: without a class, only those whose open place has a word of that class should be.\n\n\
         {} prompts are misleading: their word stood in the other form of the pair, so that their last words are memorized with another kind of word after them. With the lexicon {:.3} of the answers are right, without {:.3}: what is memorized as it is counts more than what is alike, unless that is the more particular.\n\n\
         With a word in the open place that the lexicon does not have, {} of {} answers are what they are without a lexicon. Of {} places in memorized sentences, {} go on as a memorized sentence does.",
        thousands(found.memorized as u64),
        thousands(tried),
        found.misled[0].tried,
        found.misled[0].value(),
        found.misled[1].value(),
        found.strangers.right,
        found.strangers.tried,
        thousands(found.recalled.tried),
        thousands(found.recalled.right),
    )
}

fn asked(found: &Answers) -> Vec<(String, Share)> {
    let mut all =
        vec![("hand-written".to_owned(), found.whole.all()), ("none".to_owned(), found.none.all())];
    for tried in &found.each {
        let name = format!("hand-written without {}", tried.without.as_deref().unwrap_or_default());
        all.push((name, tried.all()));
    }
    all.push(("hand-written, misleading prompts".to_owned(), found.misled[0]));
    all.push(("none, misleading prompts".to_owned(), found.misled[1]));
    all.push(("words that the lexicon lacks: unchanged".to_owned(), found.strangers));
    all.push(("memorized sentences".to_owned(), found.recalled));
    all
}

fn templates(found: &Answers) -> Table {
    let kinds = found.whole.right.iter().map(|(kind, _)| format!("open place: {kind}"));
    let columns = ["lexicon".to_owned(), "right".to_owned()].into_iter().chain(kinds);
    let mut table = Table::new(columns.chain(["changed".to_owned()]));
    let mut row = |name: String, tried: &Tried| {
        let mut cells = vec![name.into(), Cell::Number(tried.all().value(), 3)];
        cells.extend(tried.right.iter().map(|(_, share)| Cell::Number(share.value(), 3)));
        let changed = tried.changed.iter().filter(|(_, changed)| *changed > 0);
        let changed: Vec<String> =
            changed.map(|(kind, changed)| format!("{changed} with a {kind}")).collect();
        cells.push(if changed.is_empty() { "none".into() } else { changed.join(", ").into() });
        table.push(cells);
    };
    row("hand-written".to_owned(), &found.whole);
    row("none".to_owned(), &found.none);
    for tried in &found.each {
        row(format!("without {}", tried.without.as_deref().unwrap_or_default()), tried);
    }
    table
}
