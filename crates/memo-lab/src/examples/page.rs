//! The page: the matrices of Figs. 1 and 2 as heat maps, and the weights that come out.

use super::{DIM, DRAWN, Numbers, QUERIES, SENTENCE, Sentence, WORDS};
use crate::figure::{Figure, HeatMap};
use crate::{Cell, Page, Provenance, Table};

pub(super) fn page(
    sentence: &Sentence,
    numbers: &Numbers,
    spread: &[f64],
    provenance: Provenance,
) -> Page {
    Page::new("examples", "The worked examples of section 3", data(sentence, numbers), provenance)
        .prose(format!(
            "The two examples that the paper works through, as matrices. Blue is below zero, white zero, red above; matrices are those of \
             models with d = {DRAWN}, so that cells can be seen, and weights those of models with d = {DIM}, so that noise is small."
        ))
        .heading("A sentence in a single memory")
        .prose(sentence_text(sentence))
        .figure("examples-sentence", "Left: the matrix C. It looks like noise, and yet holds six pairs.", Figure::new(2, 400.0)
            .heat(HeatMap::new(&format!("C = Σ s·yᵀ, {DRAWN} × {DRAWN} cells"), sentence.memory.clone()))
            .heat(matches(sentence)))
        .figure("examples-weights", "The weight of every word after both queries.", weights(sentence))
        .heading("Numbers in three layers")
        .prose(numbers_text(numbers, spread))
        .figure("examples-numbers", "The three matrices after 1 … 9 were memorized. The inner ones translate a sequence's parts into its code; \
             the last one predicts.", memories(numbers))
        .figure("examples-layers", "The weight of every number after 1 … 8, layer by layer.", layers(numbers))
}

/// The third window, and the word after it.
const THIRD: usize = 2;
const PHYSICS: usize = 6;

fn sentence_text(sentence: &Sentence) -> String {
    let Sentence { matches, weights, .. } = sentence;
    let others = matches[0].iter().enumerate().filter(|(k, _)| *k != THIRD);
    let most = others.fold(0.0f32, |most, (_, product)| most.max(product.abs()));
    format!(
        "*He enrolled in the mathematics and physics teaching diploma program* with windows of four words gives six pairs: \
         ([He enrolled in the], mathematics) and so on. Asked for what follows *in the mathematics and*, the product of its key with the six stored keys is {:.2} for the third, where the paper says 1, and \
         at most {most:.2} for the others, and the memory emits *physics* with weight {:.2}. *in the mathematics or* was never seen; three of its four words agree with the third window: the product is {:.2} and \
         *physics* comes out with weight {:.2}, where the paper says 0.75.",
        matches[0][THIRD], weights[0][PHYSICS], matches[1][THIRD], weights[1][PHYSICS]
    )
}

fn numbers_text(numbers: &Numbers, spread: &[f64]) -> String {
    let sum = numbers.weights.last().map_or(&[][..], Vec::as_slice);
    let (emitted, others) = sum.split_last().unwrap_or((&0.0, &[]));
    let other = others.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
    let count = spread.len() as f64;
    let mean = spread.iter().sum::<f64>() / count;
    let squares: f64 = spread.iter().map(|sum| (sum - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let least = spread.iter().copied().fold(f64::INFINITY, f64::min);
    let most = spread.iter().copied().fold(0.0, f64::max);
    format!(
        "The numbers 1 to 9 with h = 2 and l = 3, windows tiling the text as in the paper's figure. Layer 1 sees 7 8, layer 2 56 78, layer 3 \
         1234 5678, and each of them has stored that 9 follows. Their answers add up to {emitted:.2} where the paper says 3; over {count} seeds, this one included, to between {least:.2} and {most:.2} \
         (mean {mean:.2}, standard deviation {deviation:.2}): Gaussian codes and projections do not keep lengths exactly, at every step. No other number gets more than {other:.2}, in absolute value."
    )
}

fn query(k: usize) -> String {
    QUERIES[k].map(|word| WORDS[word as usize]).join(" ")
}

fn matches(sentence: &Sentence) -> HeatMap {
    let window = |k: usize| WORDS[k..k + 4].join(" ");
    let rows: Vec<String> = (0..SENTENCE as usize - 4).map(window).collect();
    let columns = ["… and", "… or"].map(str::to_owned);
    let values = (0..rows.len()).map(|r| sentence.matches.iter().map(|query| query[r]).collect());
    HeatMap::new("Products of keys", values.collect()).labels(&rows, &columns).numbers()
}

fn weights(sentence: &Sentence) -> Figure {
    let rows: Vec<String> = (0..QUERIES.len()).map(query).collect();
    let words = WORDS.map(str::to_owned);
    let map = HeatMap::new("Weights E·(sᵀC)", sentence.weights.clone());
    Figure::new(1, 160.0).heat(map.labels(&rows, &words).numbers())
}

fn memories(numbers: &Numbers) -> Figure {
    let names = ["C⁽¹⁾: pairs of numbers", "C⁽²⁾: pairs of pairs", "C⁽³⁾: what follows"];
    let maps = names.iter().zip(&numbers.memories);
    maps.fold(Figure::new(3, 340.0), |figure, (name, memory)| {
        figure.heat(HeatMap::new(name, memory.clone()))
    })
}

fn layers(numbers: &Numbers) -> Figure {
    let rows =
        ["layer 1: 7, 8", "layer 2: 56, 78", "layer 3: 1234, 5678", "sum"].map(str::to_owned);
    let columns: Vec<String> = (1..=9).map(|n: u32| n.to_string()).collect();
    let map = HeatMap::new("Weights after 1 2 3 4 5 6 7 8", numbers.weights.clone());
    Figure::new(1, 240.0).heat(map.labels(&rows, &columns).numbers())
}

fn data(sentence: &Sentence, numbers: &Numbers) -> Table {
    let mut table = Table::new(["example", "query", "layer", "token", "weight"]);
    for (k, weights) in sentence.weights.iter().enumerate() {
        for (word, weight) in WORDS.iter().zip(weights) {
            let weight = Cell::Number(f64::from(*weight), 3);
            table.push(vec![
                "sentence".into(),
                query(k).into(),
                Cell::Empty,
                (*word).into(),
                weight,
            ]);
        }
    }
    for (layer, weights) in ["1", "2", "3", "sum"].iter().zip(&numbers.weights) {
        for (n, weight) in (1u32..).zip(weights) {
            let weight = Cell::Number(f64::from(*weight), 3);
            let query = "1 2 3 4 5 6 7 8";
            table.push(vec![
                "numbers".into(),
                query.into(),
                (*layer).into(),
                n.to_string().into(),
                weight,
            ]);
        }
    }
    table
}
