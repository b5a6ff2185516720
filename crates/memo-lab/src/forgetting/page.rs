//! The page: what is left of what was forgotten, what stays of the rest, and what it costs.

use crate::figure::{Axis, Chart, Dash, Figure, Mark, Series, Style};
use crate::{Cell, Page, Provenance, Table};
use memo::metrics::KolmogorovSmirnov;
use memo::unlearning::{Level, Measures, Outcome, PAIRS_PER_AUTHOR, QUANTILES, ROUNDS, State};
use memo_terminal::output::thousands;
use std::fmt::Write as _;

type Results = [(Level, Outcome)];

pub(super) fn page(
    results: &Results,
    tokenizer: &str,
    asked: usize,
    provenance: Provenance,
) -> Page {
    let title = "Forgetting: what is left of authors that were memorized";
    Page::new("forgetting", title, all_numbers(results), provenance)
        .prose(summary(results))
        .figure("forgetting", CAPTION, figure(results))
        .heading("What was done")
        .prose(set_up(results, tokenizer, asked))
        .heading("What is left of what was forgotten")
        .table(left(results))
        .prose(LEFT)
        .heading("What stays of the rest")
        .table(kept(results))
        .prose(KEPT)
        .heading("Exactness, and what it costs")
        .table(cost(results))
        .prose(format!(
            "Both digests are of every cell and every table; the run fails if they differ. Times are the best of {ROUNDS} rounds in which \
             the same documents were forgotten and memorized again, in memory, on a machine that did other work too, so that single ratios vary from run to run; forgetting does what memorizing does, with the opposite sign. `memo forget` on a model directory also scrubs the text \
             from the disk, which takes the time of writing a checkpoint; see [docs/store.md](../store.md)."
        ))
        .heading("Beside published methods")
        .table(published(results))
        .prose(PUBLISHED)
}

const CAPTION: &str = "Above: the log-likelihoods of the tokens of forgotten answers, as distribution functions. After forgetting, the curve lies on that of \
     a memory that never knew them. Below: exact memorization of what was forgotten and of what was kept; and the time of a token.";

fn summary(results: &Results) -> String {
    let mut out = String::from(
        "Questions and answers about authors are memorized; some authors are forgotten. After that the memory is, bit for bit, one that never \
         knew them, so every measure of what is left of them is that of a memory that never knew them. What was kept is recalled as before.\n",
    );
    for (level, result) in results {
        let Outcome { before, after, kept_before, kept_after, .. } = result;
        let (authors, of) = level.authors();
        let _ = write!(
            out,
            "\n- {authors} of {of} authors: exact memorization {:.3} before, {:.3} after; extraction strength {:.3}, then {:.3}; \
             digest equal to that of a memory without them.",
            before.measures.exact_memorization,
            after.measures.exact_memorization,
            before.measures.extraction_strength,
            after.measures.extraction_strength,
        );
        if let (Some(before), Some(after)) = (kept_before, kept_after) {
            let (before, after) = (before.utility(), after.utility());
            let _ = write!(out, " Utility on what was kept: {before:.4} before, {after:.4} after.");
        }
    }
    out
}

fn set_up(results: &Results, tokenizer: &str, asked: usize) -> String {
    let Some((level, result)) = results.first() else { return String::new() };
    format!(
        "The data has {pairs} questions and answers about {authors} made-up authors, {PAIRS_PER_AUTHOR} each (TOFU: the files of what to forget and what to \
         retain). A pair is one document: the question, a line feed, the answer; {tokens} tokens of `{tokenizer}` in all, document ends included. The memory \
         is then left with {parameters} cells that are not zero. Forgotten are the last authors of the file, as in \
         TOFU's own smaller splits; then the whole file; then everything. At most {asked} answers are asked for, drawn at random where there are more.\n\n\
         | measure | what it is |\n|---|---|\n\
         | exact memorization | the share of an answer's tokens that are the most probable ones, given the question and the true tokens before; over all tokens |\n\
         | extraction strength | 1 − k/length for the smallest k such that all tokens of the answer from k on are the most probable ones; mean over answers. 1: the question is enough; 0: not even the last token is right |\n\
         | ROUGE-L | the answer is written greedily from the question alone, at most as long as the true one; the longest common subsequence of words (lower case, letters and digits, no stemming) over the number of true words (recall, as TOFU takes it); mean over answers |\n\
         | probability | exp of the mean log-likelihood of an answer's tokens; mean over answers |\n\
         | utility | the harmonic mean of probability and ROUGE-L on answers that are kept. TOFU's own also has truth ratios, and questions about real authors and the world, which a memory of this data alone cannot know |\n\
         | forget quality | the p-value of the two-sample Kolmogorov–Smirnov test between log-likelihoods of forgotten answers and those of a memory that never knew them: of every token, and of every answer (the mean of its tokens). 1 means that they cannot be told apart. **This is not TOFU's forget quality**, which tests truth ratios of paraphrased and perturbed answers |",
        pairs = thousands(level.of as u64),
        authors = level.authors().1,
        tokens = thousands(result.tokens as u64),
        parameters = thousands(result.parameters),
    )
}

const LEFT: &str = "
*Never knew them* is a memory of the kept documents alone, with the same seed: forgetting must equal it, and does. That makes the p-value 1 by construction, so \
there is a second, harder comparison: *another seed* is a memory of the kept documents whose contexts all have other hashes. It shows how far two memories that \
never knew the text differ by chance, and is what a test would see that knows nothing of the digest. Tokens of one answer are not \
independent, so a p-value over tokens is rather too small; one over answers is not.

What is right after forgetting was never learnt from the forgotten authors: answers of this data are alike in form, repeat words of \
their question, and share phrases with those of other authors. When everything is forgotten nothing is left but an even spread over all tokens.";

const KEPT: &str = "
What is kept may be said a little differently afterwards, because discounts and the prior follow from all counts: it is said as by a memory that never knew the forgotten authors, to the last bit. When everything is forgotten nothing is kept, and there is no row.";

const PUBLISHED: &str = "
The published figures are those of OpenUnlearning (Dorna and others, 2025, arXiv:2506.12618; `docs/repro.md` of `locuslab/open-unlearning` at commit `7fa0b55`) for Llama-2-7b-chat on the same split (forget10), with TOFU's own two measures; \
its authors say that tuning improves some of them. The retrained model defines what is attainable. Ours is another kind of model and another \
definition of both measures, so the rows cannot be compared as scores. What can be compared is what is promised: a method that changes \
the weights tries to come near the retrained model, and the test says how near; here the memory *is* the one that was never told, and the digest says so.";

/// A p-value as people read it.
fn p(value: f64) -> Cell {
    if value < 1e-4 { "< 0.0001".into() } else { format!("{value:.4}").into() }
}

fn states(result: &Outcome) -> [(&'static str, &State); 4] {
    [
        ("before", &result.before),
        ("after", &result.after),
        ("never knew them", &result.never),
        ("never, another seed", &result.other),
    ]
}

fn authors(level: Level) -> Cell {
    let (forgotten, of) = level.authors();
    format!("{forgotten} of {of}").into()
}

fn left(results: &Results) -> Table {
    let mut table = Table::new([
        "authors forgotten",
        "memory",
        "exact memorization",
        "extraction strength",
        "ROUGE-L",
        "probability",
        "KS distance, tokens",
        "forget quality, tokens",
        "forget quality, answers",
    ]);
    for (level, result) in results {
        for (name, State { measures, tokens, answers }) in states(result) {
            let mut row = vec![authors(*level), name.into()];
            row.extend(numbers(measures));
            row.push(Cell::Number(tokens.statistic, 3));
            row.extend([p(tokens.p_value), p(answers.p_value)]);
            table.push(row);
        }
    }
    table
}

fn numbers(measures: &Measures) -> [Cell; 4] {
    let Measures { exact_memorization, extraction_strength, rouge_l, probability, .. } = measures;
    let number = |x: &f64| Cell::Number(*x, if *x < 0.001 && *x > 0.0 { 5 } else { 3 });
    [exact_memorization, extraction_strength, rouge_l, probability].map(number)
}

fn kept(results: &Results) -> Table {
    let mut table = Table::new([
        "authors forgotten",
        "memory",
        "exact memorization",
        "extraction strength",
        "ROUGE-L",
        "probability",
        "utility",
    ]);
    for (level, result) in results {
        for (name, measures) in [("before", &result.kept_before), ("after", &result.kept_after)] {
            let Some(measures) = measures else { continue };
            let mut row = vec![authors(*level), name.into()];
            row.extend(numbers(measures));
            row.push(Cell::Number(measures.utility(), 4));
            table.push(row);
        }
    }
    table
}

/// Microseconds a forgotten token, to memorize and to forget it.
fn micros(result: &Outcome) -> (f64, f64) {
    let each = |seconds: f64| seconds * 1e6 / result.forgotten_tokens.max(1) as f64;
    (each(result.memorizing), each(result.forgetting))
}

fn cost(results: &Results) -> Table {
    let mut table = Table::new([
        "authors forgotten",
        "tokens",
        "digest after forgetting",
        "equal to never known",
        "memorize, µs a token",
        "forget, µs a token",
        "forget / memorize",
    ]);
    for (level, result) in results {
        let (memorize, forget) = micros(result);
        table.push(vec![
            authors(*level),
            result.forgotten_tokens.into(),
            format!("{}…", &result.digest[..16]).into(),
            "yes".into(),
            Cell::Number(memorize, 2),
            Cell::Number(forget, 2),
            Cell::Number(forget / memorize, 2),
        ]);
    }
    table
}

fn published(results: &Results) -> Table {
    let mut table = Table::new(["model", "forget quality", "utility", "what was measured"]);
    let theirs = "TOFU's: truth ratios, seven billion parameters";
    for (name, quality, utility) in [
        ("before unlearning", "< 0.0001", "0.63"),
        ("retrained without the text", "1.00", "0.61"),
        ("NPO", "0.42", "0.54"),
        ("GradDiff", "< 0.0001", "0.58"),
        ("RMU", "< 0.0001", "0.03"),
        ("GradAscent", "< 0.0001", "0.00"),
    ] {
        table.push(vec![name.into(), quality.into(), utility.into(), theirs.into()]);
    }
    let Some((level, result)) = results.iter().find(|(level, _)| level.forgotten < level.of) else {
        return table;
    };
    // The level that the published figures are of, if it is there: the whole file.
    let (level, result) = results
        .iter()
        .rev()
        .find(|(level, _)| level.forgotten < level.of)
        .map_or((level, result), |(level, result)| (level, result));
    let ours = format!("ours: log-likelihoods, {:.0} % of authors", level.percent());
    let kept = |measures: &Option<Measures>| {
        measures.as_ref().map_or(Cell::Empty, |m| format!("{:.2}", m.utility()).into())
    };
    for (name, test, utility) in [
        ("MeMo before forgetting", &result.before.answers, &result.kept_before),
        ("MeMo after forgetting", &result.after.answers, &result.kept_after),
        ("MeMo without the text, another seed", &result.other.answers, &None),
    ] {
        table.push(vec![name.into(), p(test.p_value), kept(utility), ours.clone().into()]);
    }
    table
}

fn all_numbers(results: &Results) -> Table {
    let mut table = Table::new([
        "authors_forgotten",
        "authors",
        "tokens_forgotten",
        "tokens",
        "parameters",
        "asked",
        "memory",
        "answers",
        "answer_tokens",
        "exact_memorization",
        "extraction_strength",
        "rouge_l",
        "probability",
        "utility",
        "ks_tokens",
        "p_tokens",
        "ks_answers",
        "p_answers",
        "digest",
        "memorize_us",
        "forget_us",
    ]);
    for (level, result) in results {
        let mut push = |asked: &str,
                        name: &str,
                        measures: &Measures,
                        tests: Option<[KolmogorovSmirnov; 2]>| {
            let (forgotten, of) = level.authors();
            let (memorize, forget) = micros(result);
            let digest = match name {
                "before" => result.digest_before.as_str(),
                "never, another seed" => "",
                _ => result.digest.as_str(),
            };
            let mut row = vec![forgotten.into(), of.into()];
            row.extend([result.forgotten_tokens.into(), result.tokens.into()]);
            row.extend([Cell::Count(result.parameters), asked.into(), name.into()]);
            row.extend([measures.answers.into(), measures.tokens.into()]);
            row.extend(numbers(measures));
            row.push(Cell::Number(measures.utility(), 4));
            for k in 0..2 {
                row.push(Cell::number(tests.map(|tests| tests[k].statistic), 4));
                row.push(Cell::number(tests.map(|tests| tests[k].p_value), 4));
            }
            row.push(digest.into());
            row.extend([Cell::Number(memorize, 3), Cell::Number(forget, 3)]);
            table.push(row);
        };
        for (name, state) in states(result) {
            push("forgotten", name, &state.measures, Some([state.tokens, state.answers]));
        }
        for (name, measures) in [("before", &result.kept_before), ("after", &result.kept_after)] {
            if let Some(measures) = measures {
                push("kept", name, measures, None);
            }
        }
    }
    table
}

fn figure(results: &Results) -> Figure {
    let mut figure = Figure::new(results.len().max(2), 280.0);
    for (level, result) in results {
        let (forgotten, of) = level.authors();
        let lines = [
            ("before", &result.before, Style::new(1)),
            ("never knew them", &result.never, Style::new(5)),
            ("never, another seed", &result.other, Style::new(3).dash(Dash::Dotted)),
            ("after forgetting", &result.after, Style::new(6).dash(Dash::Dashed)),
        ];
        let axis = Axis::linear("log-likelihood of a token").range(-24.5, 0.4);
        let mut chart = Chart::new(
            &format!("{forgotten} of {of} authors forgotten"),
            axis,
            Axis::linear("share of tokens below").range(0.0, 1.02),
        );
        for (name, state, style) in lines {
            chart = chart.series(Series::new(name, style, distribution(&state.measures.quantiles)));
        }
        figure = figure.chart(chart);
    }
    figure.chart(memorization(results)).chart(utility(results)).chart(times(results))
}

/// A distribution function from its quantiles.
fn distribution(quantiles: &[f64]) -> Vec<(f64, f64)> {
    let place = |(part, value): (usize, &f64)| (*value, part as f64 / QUANTILES as f64);
    quantiles.iter().enumerate().map(place).collect()
}

fn shares() -> Axis {
    Axis::log("authors forgotten, %").range(0.7, 140.0).ticks(&[1.0, 10.0, 100.0])
}

fn points(results: &Results, value: impl Fn(&Outcome) -> Option<f64>) -> Vec<(f64, f64)> {
    results.iter().filter_map(|(level, r)| Some((level.percent(), value(r)?))).collect()
}

fn memorization(results: &Results) -> Chart {
    let exact = |measures: &Measures| Some(measures.exact_memorization);
    let y = Axis::linear("exact memorization").range(0.0, 1.04);
    Chart::new("What was forgotten", shares(), y)
        .series(Series::new(
            "before",
            Style::new(1).mark(Mark::Circle),
            points(results, |r| exact(&r.before.measures)),
        ))
        .series(Series::new(
            "never knew them",
            Style::new(5).mark(Mark::Circle),
            points(results, |r| exact(&r.never.measures)),
        ))
        .series(Series::new(
            "after forgetting",
            Style::new(6).mark(Mark::Ring).dash(Dash::Dashed),
            points(results, |r| exact(&r.after.measures)),
        ))
}

fn utility(results: &Results) -> Chart {
    let exact = |measures: &Option<Measures>| measures.as_ref().map(|m| m.exact_memorization);
    let y = Axis::linear("exact memorization").range(0.0, 1.04);
    Chart::new("What was kept", shares(), y)
        .series(Series::new(
            "before",
            Style::new(1).mark(Mark::Circle),
            points(results, |r| exact(&r.kept_before)),
        ))
        .series(Series::new(
            "after forgetting",
            Style::new(6).mark(Mark::Ring).dash(Dash::Dashed),
            points(results, |r| exact(&r.kept_after)),
        ))
}

fn times(results: &Results) -> Chart {
    let most = results.iter().map(|(_, r)| micros(r)).fold(0.1, |m: f64, (a, b)| m.max(a).max(b));
    let y = Axis::linear("µs a token").range(0.0, most * 1.15);
    Chart::new("Time of a token", shares(), y)
        .series(Series::new(
            "memorize",
            Style::new(0).mark(Mark::Square),
            points(results, |r| Some(micros(r).0)),
        ))
        .series(Series::new(
            "forget",
            Style::new(2).mark(Mark::Triangle),
            points(results, |r| Some(micros(r).1)),
        ))
}
