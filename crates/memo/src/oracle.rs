//! The oracle: MeMo without noise.
//!
//! The paper's section 3.1 starts from a multiset of (sequence, next token) pairs; its vectors only approximate it.
//! The oracle keeps that multiset for every layer and computes by counting what an engine with infinitely many
//! dimensions would return. Every engine must agree with it within the noise that its size predicts.
//!
//! How much a stored window counts follows the options: with linear composition the share of equal tokens, with
//! bound codes the share of equal blocks. With stored recall an inner block is not itself but what the inner memory
//! returns for it: every stored sequence that resembles it, in proportion.

use crate::dense::{Composition, DenseConfig, Distiller, Edges, Recall, Stride};
use crate::error::{ConfigError, Error, check_tokens};
use std::collections::BTreeMap;

/// The tokens of a block or window; `None` before the beginning of a text.
type Sequence = Vec<Option<u32>>;

/// A sum of sequences with coefficients: what a vector stands for.
type Symbolic = Vec<(Sequence, f64)>;

/// The exact, symbolic MeMo.
///
/// ```
/// use memo::dense::DenseConfig;
/// use memo::oracle::Oracle;
/// let mut oracle = Oracle::new(&DenseConfig::new(20, 64, 2, 3))?;
/// oracle.memorize(&[1, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// assert_eq!(oracle.weights(&[1, 2, 3, 4, 5, 6, 7, 8])?[9], 3.0);  // once per layer
/// assert_eq!(oracle.layer_weights(&[0, 8], 1)?[&9], 0.5);          // one of two tokens matches
/// # Ok::<(), memo::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Oracle {
    config: DenseConfig,
    /// Per layer: stored windows, and how often each token follows.
    next: Vec<BTreeMap<Sequence, BTreeMap<u32, i64>>>,
    /// Per inner layer: how often each sequence was memorized.
    inner: Vec<BTreeMap<Sequence, i64>>,
}

impl Oracle {
    /// An empty oracle for the heads, layers and options of a dense configuration; d and the codes do not matter.
    /// Windows are kept token by token, so they may have at most 2²⁰.
    pub fn new(config: &DenseConfig) -> Result<Self, ConfigError> {
        config.check_shape()?;
        if config.window() > 1 << 20 {
            let (heads, layers) = (config.heads, config.layers);
            return Err(ConfigError::WindowOverflow { heads, layers });
        }
        let layers = config.layers;
        Ok(Oracle {
            config: config.clone(),
            next: vec![BTreeMap::new(); layers],
            inner: vec![BTreeMap::new(); layers - 1],
        })
    }

    /// Memorizes a text.
    pub fn memorize(&mut self, text: &[u32]) -> Result<(), Error> {
        check_tokens(text, self.config.vocab)?;
        self.write(text, 1, true);
        Ok(())
    }

    /// Forgets a text; inner sequences stay.
    pub fn forget(&mut self, text: &[u32]) -> Result<(), Error> {
        check_tokens(text, self.config.vocab)?;
        self.write(text, -1, false);
        Ok(())
    }

    /// Forgets a text, and its inner sequences: those that no other text uses, or all occurrences if none are distilled.
    pub fn forget_completely(&mut self, text: &[u32]) -> Result<(), Error> {
        check_tokens(text, self.config.vocab)?;
        self.write(text, -1, true);
        Ok(())
    }

    /// The weight of every token as the successor of a context: the sum over all layers.
    pub fn weights(&self, context: &[u32]) -> Result<Vec<f32>, Error> {
        check_tokens(context, self.config.vocab)?;
        let mut total = vec![0.0; self.config.vocab];
        for layer in self.by_layer(context) {
            for (token, weight) in layer {
                total[token as usize] += weight;
            }
        }
        Ok(total.into_iter().map(|w| w as f32).collect())
    }

    /// The weights that one layer, counted from 1, gives to tokens after a context. Tokens not listed have weight 0.
    pub fn layer_weights(
        &self,
        context: &[u32],
        layer: usize,
    ) -> Result<BTreeMap<u32, f64>, Error> {
        check_tokens(context, self.config.vocab)?;
        Ok(layer
            .checked_sub(1)
            .and_then(|i| self.by_layer(context).into_iter().nth(i))
            .unwrap_or_default())
    }

    fn span(&self, layer: usize) -> usize {
        self.config.heads.pow(layer as u32)
    }

    fn write(&mut self, text: &[u32], count: i64, inner: bool) {
        for layer in 1..=self.config.layers {
            let span = self.span(layer);
            for p in 0..text.len() {
                let inside = self.config.edges == Edges::Padded || p + 1 >= span;
                let on_stride = self.config.stride == Stride::Token || (p + 1) % span == 0;
                if !inside || !on_stride {
                    continue;
                }
                let window = ending(&text[..=p], span);
                if let Some(sequences) = self.inner.get_mut(layer - 1).filter(|_| inner) {
                    let stored = sequences.entry(window.clone()).or_insert(0);
                    *stored += count;
                    if *stored == 0 {
                        sequences.remove(&window);
                    }
                }
                if let Some(&token) = text.get(p + 1) {
                    let tokens = self.next[layer - 1].entry(window.clone()).or_default();
                    let stored = tokens.entry(token).or_insert(0);
                    *stored += count;
                    if *stored == 0 {
                        tokens.remove(&token);
                    }
                    if tokens.is_empty() {
                        self.next[layer - 1].remove(&window);
                    }
                }
            }
        }
    }

    fn by_layer(&self, context: &[u32]) -> Vec<BTreeMap<u32, f64>> {
        let (h, l) = (self.config.heads, self.config.layers);
        let window = ending(context, self.span(l));
        let mut blocks: Vec<Symbolic> = window.iter().map(|t| vec![(vec![*t], 1.0)]).collect();
        let mut weights = Vec::with_capacity(l);
        for layer in 1..=l {
            let windows: Vec<&[Symbolic]> = blocks.chunks(h).collect();
            let newest = windows[windows.len() - 1];
            let mut layer_weights = BTreeMap::new();
            for (stored, tokens) in &self.next[layer - 1] {
                let share = self.share(newest, stored);
                for (token, count) in tokens.iter().filter(|_| share != 0.0) {
                    *layer_weights.entry(*token).or_insert(0.0) += share * *count as f64;
                }
            }
            weights.push(layer_weights);
            if layer < l {
                let exact = window.chunks(self.span(layer));
                blocks =
                    windows.iter().zip(exact).map(|(w, e)| self.recalled(layer, w, e)).collect();
            }
        }
        weights
    }

    /// What recall gives for a window of an inner layer: stored sequences in proportion to their match, the window
    /// itself, or a blend.
    fn recalled(&self, layer: usize, window: &[Symbolic], exact: &[Option<u32>]) -> Symbolic {
        let alpha = f64::from(self.config.recall.alpha());
        let mut code = Symbolic::new();
        if self.config.recall != Recall::Computed {
            for (stored, count) in &self.inner[layer - 1] {
                let times =
                    if self.config.distiller == Distiller::Off { *count as f64 } else { 1.0 };
                let share = self.share(window, stored);
                if share != 0.0 {
                    code.push((stored.clone(), alpha * share * times));
                }
            }
        }
        if alpha < 1.0 {
            code.push((exact.to_vec(), 1.0 - alpha));
        }
        code
    }

    /// The product of a window's key with a stored window's: the mean over blocks of how alike they are.
    fn share(&self, window: &[Symbolic], stored: &[Option<u32>]) -> f64 {
        let blocks = stored.chunks(stored.len() / window.len());
        let alike: f64 = window
            .iter()
            .zip(blocks)
            .map(|(block, stored)| {
                block.iter().map(|(sequence, c)| c * self.alike(sequence, stored)).sum::<f64>()
            })
            .sum();
        alike / window.len() as f64
    }

    /// The product of two sequences' codes: 1 for equal ones; with linear composition also the share of equal tokens. With products
    /// it follows from the moments of Gaussians, and is 1 for the same tokens in another order.
    fn alike(&self, a: &[Option<u32>], b: &[Option<u32>]) -> f64 {
        let equal = a.iter().zip(b).filter(|(x, y)| x.is_some() && x == y).count();
        match self.config.composition {
            Composition::Jlt => equal as f64 / a.len() as f64,
            Composition::Bind => f64::from(u8::from(equal == a.len())),
            Composition::Product => alike_products(a, b),
        }
    }
}

/// The expected product of two element-wise products of Gaussian codes, each brought to length 1; 0 where a token is missing.
fn alike_products(a: &[Option<u32>], b: &[Option<u32>]) -> f64 {
    let mut times: BTreeMap<u32, [i32; 2]> = BTreeMap::new();
    for (side, sequence) in [a, b].into_iter().enumerate() {
        for token in sequence {
            let Some(token) = token else { return 0.0 };
            times.entry(*token).or_default()[side] += 1;
        }
    }
    // E[gᵏ] = 1·3·5 ⋯ (k − 1) for even k.
    let moment = |k: i32| -> f64 {
        if k % 2 == 1 { 0.0 } else { (1..k).step_by(2).map(f64::from).product() }
    };
    let factor = |[m, n]: &[i32; 2]| moment(m + n) / (moment(2 * m) * moment(2 * n)).sqrt();
    times.values().map(factor).product()
}

/// The last `span` tokens of a text, with `None` for those before its beginning.
fn ending(text: &[u32], span: usize) -> Sequence {
    (0..span).map(|k| (text.len() + k).checked_sub(span).map(|p| text[p])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracle(change: impl Fn(&mut DenseConfig)) -> Oracle {
        let mut config = DenseConfig::new(20, 64, 2, 2);
        config.recall = Recall::Computed;
        change(&mut config);
        Oracle::new(&config).unwrap()
    }

    #[test]
    fn products_ignore_order_and_resemble_where_tokens_repeat() {
        let alike = |a: &[u32], b: &[u32]| {
            let some = |tokens: &[u32]| tokens.iter().copied().map(Some).collect::<Vec<_>>();
            alike_products(&some(a), &some(b))
        };
        assert_eq!(alike(&[1, 2, 3], &[3, 1, 2]), 1.0);
        assert_eq!(alike(&[1, 2, 3], &[1, 2, 4]), 0.0);
        // E[a²b²] over E[a⁴]; E[a⁴] over √(E[a⁶]·E[a²]) where one pair is a token more of the other.
        assert!((alike(&[1, 1], &[2, 2]) - 1.0 / 3.0).abs() < 1e-12);
        assert!((alike(&[1, 1, 1], &[1, 2, 2]) - 3.0 / 45f64.sqrt()).abs() < 1e-12);
        assert_eq!(alike_products(&[None, Some(1)], &[None, Some(1)]), 0.0);
    }

    #[test]
    fn linear_codes_count_equal_tokens_and_bound_ones_equal_blocks() {
        // Layer 2 stores 1 2 3 4 → 5; the context has one token of the older block wrong.
        for (composition, layer2) in [(Composition::Jlt, 0.75), (Composition::Bind, 0.5)] {
            let mut oracle = oracle(|c| c.composition = composition);
            oracle.memorize(&[1, 2, 3, 4, 5]).unwrap();
            assert_eq!(oracle.layer_weights(&[9, 2, 3, 4], 2).unwrap()[&5], layer2);
            assert_eq!(oracle.layer_weights(&[9, 2, 3, 4], 1).unwrap()[&5], 1.0);
            // One token of each block wrong: no block is equal, half of the tokens are.
            let graded = oracle.layer_weights(&[9, 2, 9, 4], 2).unwrap();
            let expected = if composition == Composition::Jlt { Some(&0.5) } else { None };
            assert_eq!(graded.get(&5), expected);
        }
    }

    #[test]
    fn stored_recall_returns_every_sequence_that_resembles() {
        // The inner memory holds 1 2 and 2 3 and 3 4 and 4 5. Asked for 9 2 it returns half of 1 2.
        let mut oracle = oracle(|c| c.recall = Recall::Stored);
        oracle.memorize(&[1, 2, 3, 4, 5]).unwrap();
        // Blocks: half of "1 2", and "3 4" in full.
        assert_eq!(oracle.layer_weights(&[9, 2, 3, 4], 2).unwrap()[&5], 0.75);
        // With bound codes too: the half block is that of an equal sequence.
        let mut bound = self::oracle(|c| {
            c.recall = Recall::Stored;
            c.composition = Composition::Bind;
        });
        bound.memorize(&[1, 2, 3, 4, 5]).unwrap();
        assert_eq!(bound.layer_weights(&[9, 2, 3, 4], 2).unwrap()[&5], 0.75);
    }

    #[test]
    fn without_a_distiller_repetitions_count() {
        for (distiller, weight) in [(Distiller::Exact, 1.0), (Distiller::Off, 2.0)] {
            let mut oracle = oracle(|c| {
                c.recall = Recall::Stored;
                c.distiller = distiller;
                c.composition = Composition::Bind;
            });
            oracle.memorize(&[1, 2, 3, 4, 5]).unwrap();
            oracle.memorize(&[1, 2]).unwrap(); // the block 1 2 once more, with nothing after it
            oracle.memorize(&[3, 4]).unwrap();
            assert_eq!(oracle.layer_weights(&[1, 2, 3, 4], 2).unwrap()[&5], weight);
        }
    }

    #[test]
    fn complete_forgetting_removes_sequences_that_nothing_else_uses() {
        let mut oracle = oracle(|c| c.recall = Recall::Stored);
        oracle.memorize(&[1, 2, 3, 4]).unwrap();
        oracle.memorize(&[1, 2, 7]).unwrap();
        oracle.forget_completely(&[1, 2, 3, 4]).unwrap();
        let kept: Vec<_> = oracle.inner[0].keys().cloned().collect();
        assert_eq!(kept, [vec![Some(1), Some(2)], vec![Some(2), Some(7)]]);
        oracle.forget(&[1, 2, 7]).unwrap();
        assert!(oracle.next.iter().all(BTreeMap::is_empty) && !oracle.inner[0].is_empty());
    }
}
