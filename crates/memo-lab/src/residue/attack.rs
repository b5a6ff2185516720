//! The attack: reading a forgotten text from an inner memory.
//!
//! C⁽ⁱ⁾ leads from a window's key k to its code c, so that kᵀ·C⁽ⁱ⁾·c is near 1 if the window is stored and near 0 if it is not. Windows
//! overlap: whoever knows all tokens of one but the last tries every token of the vocabulary there, takes the one with the
//! largest product, and goes on with it. Codes and projections follow from the seed, so that this needs nothing but the memory
//! and the tokens before.
//!
//! With linear composition, key and code are sums of a part that the known tokens make and one that the last token makes.
//! The latter is the same at all positions and is computed once, for every token.

use memo::dense::{CorrelationMemory, DenseConfig, DenseMemo};

/// The parts of keys and codes that the last token of a window makes, for one inner layer.
pub(super) struct Attack<'m> {
    memo: &'m DenseMemo,
    layer: usize,
    /// A row for every token, so that reading a vector takes its products with all of them.
    keys: CorrelationMemory,
    codes: CorrelationMemory,
}

impl<'m> Attack<'m> {
    /// An attack on the memory of an inner layer, counted from 1, of models with the codes and projections of this one.
    pub(super) fn new(memo: &'m DenseMemo, layer: usize) -> Self {
        let DenseConfig { vocab, dim, heads, .. } = *memo.config();
        let tokens: Vec<u32> = (0..vocab as u32).collect();
        let mut last = memo.codes().rows(&tokens);
        let (mut keys, mut codes) = (Vec::new(), Vec::new());
        for i in 1..=layer {
            let mut blocks = vec![0.0; vocab * heads * dim];
            for (block, code) in blocks.chunks_exact_mut(heads * dim).zip(last.chunks_exact(dim)) {
                block[(heads - 1) * dim..].copy_from_slice(code);
            }
            keys = key(memo, i, &blocks);
            codes = compose(memo, i, &blocks);
            last.clone_from(&codes);
        }
        Attack { memo, layer, keys: table(&keys, dim), codes: table(&codes, dim) }
    }

    /// How many tokens before the wanted one must be known: all of a window but its last.
    pub(super) fn known(&self) -> usize {
        self.memo.config().heads.pow(self.layer as u32) - 1
    }

    /// A reader of one memory.
    pub(super) fn on<'a>(&'a self, memory: &'a CorrelationMemory) -> Reader<'a> {
        let dim = self.memo.config().dim;
        let read = memory.read_batch(self.keys.cells());
        let own = read.chunks_exact(dim).zip(self.codes.cells().chunks_exact(dim));
        let own = own.map(|(a, b)| dot(a, b)).collect();
        let rows = memory.cells().chunks_exact(dim);
        let back: Vec<f32> = (0..dim).flat_map(|k| rows.clone().map(move |row| row[k])).collect();
        Reader { attack: self, memory, back: table(&back, dim), own }
    }
}

/// Rows of `dim` values each, whose products with a vector are what reading it gives.
fn table(rows: &[f32], dim: usize) -> CorrelationMemory {
    let mut table = CorrelationMemory::new(dim, rows.len() / dim);
    table.set_cells(rows);
    table
}

/// The attack on one memory.
pub(super) struct Reader<'a> {
    attack: &'a Attack<'a>,
    memory: &'a CorrelationMemory,
    /// The memory from codes to keys.
    back: CorrelationMemory,
    /// What the parts of the last token alone give.
    own: Vec<f32>,
}

impl Reader<'_> {
    /// The token that, after each of these contexts, makes the window that the memory knows best.
    ///
    /// # Panics
    /// If a context has fewer tokens than must be known.
    pub(super) fn next(&self, contexts: &[&[u32]]) -> Vec<u32> {
        let Attack { memo, layer, keys, codes } = self.attack;
        let dim = memo.config().dim;
        let mut blocks = Vec::new();
        for context in contexts {
            blocks.extend(memo.codes().rows(&context[context.len() - self.attack.known()..]));
            // The last token's place is left empty.
            blocks.resize(blocks.len() + dim, 0.0);
        }
        for i in 1..*layer {
            blocks = compose(memo, i, &blocks);
        }
        let (key, code) = (key(memo, *layer, &blocks), compose(memo, *layer, &blocks));
        let by_key = keys.read_batch(&self.back.read_batch(&code));
        let by_code = codes.read_batch(&self.memory.read_batch(&key));
        let vocabulary = self.own.len();
        let scores = by_key.chunks_exact(vocabulary).zip(by_code.chunks_exact(vocabulary));
        let best = scores.map(|(by_key, by_code)| {
            let parts = self.own.iter().zip(by_key).zip(by_code);
            let scores = parts.map(|((own, key), code)| own + key + code).enumerate();
            scores.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(token, _)| token as u32)
        });
        best.collect()
    }

    /// How many tokens of a text, after the first that must be known, are read one after the other, each from those read
    /// before, until one is wrong.
    pub(super) fn in_a_row(&self, text: &[u32]) -> usize {
        let known = self.attack.known();
        let mut read = text[..known.min(text.len())].to_vec();
        while read.len() < text.len() && self.next(&[&read])[0] == text[read.len()] {
            read.push(text[read.len()]);
        }
        read.len().saturating_sub(known)
    }
}

/// The keys of blocks in a layer, counted from 1.
fn key(memo: &DenseMemo, layer: usize, blocks: &[f32]) -> Vec<f32> {
    let DenseConfig { dim, heads, .. } = *memo.config();
    let mut keys = vec![0.0; blocks.len() / heads];
    memo.reduction(layer).expect("the model has this layer").apply_rows(blocks, &mut keys);
    debug_assert!(keys.len().is_multiple_of(dim));
    keys
}

/// Their codes.
fn compose(memo: &DenseMemo, layer: usize, blocks: &[f32]) -> Vec<f32> {
    memo.composer(layer).expect("an inner layer composes").code(blocks, memo.config().heads)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memo::codes::CodeKind;
    use memo::random::{Purpose, Stream};

    /// The attack's sums are the products of whole keys and codes.
    #[test]
    fn parts_add_up_to_whole_windows() {
        for (codes, layer) in
            [(CodeKind::Gaussian, 1), (CodeKind::Gaussian, 2), (CodeKind::Hadamard, 2)]
        {
            let config = DenseConfig { codes, ..DenseConfig::new(40, 64, 2, 3) };
            let mut memo = DenseMemo::new(config).unwrap();
            let text = Stream::new(1, Purpose::Sampling, 0).draws().tokens(30, 40);
            memo.memorize(&text).unwrap();
            let attack = Attack::new(&memo, layer);
            let memory = memo.memory(layer).unwrap();
            let span = attack.known() + 1;
            let product = |token: u32| {
                let mut window = text[10..10 + span].to_vec();
                window[span - 1] = token;
                let mut blocks = memo.codes().rows(&window);
                (1..layer).for_each(|i| blocks = compose(&memo, i, &blocks));
                dot(&memory.read(&key(&memo, layer, &blocks)), &compose(&memo, layer, &blocks))
            };
            let best = (0..40).max_by(|a, b| product(*a).total_cmp(&product(*b))).unwrap();
            assert_eq!(attack.on(memory).next(&[&text[..10 + span - 1]]), [best]);
        }
    }
}
