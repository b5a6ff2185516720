//! Settings of a superposed memory: its vocabulary, its seed and its slots.
//!
//! A *slot* is a (layer, head) pair of the paper in use: a block of `len` tokens that ends `skip` tokens before the
//! position to predict. With h heads, head j of layer i (j = 0 the newest) is the block of hⁱ⁻¹ tokens that ends
//! j·hⁱ⁻¹ tokens back. [`Shape`] lists the slots of any h and l, or any blocks; [`Settings::new`] divides the parameters
//! among them. Settings are plain numbers: equal settings and equal texts give equal memories, bit for bit.

use super::{Error, LINE, PAGE};
use crate::sparse::check_positions;
use serde::{Deserialize, Serialize};

/// Bits of a token in a pair's key.
pub(super) const TOKEN_BITS: u32 = 21;

/// The largest vocabulary: two tokens, or a token and the boundary symbol, fit in a pair's key.
pub const MAX_VOCABULARY: u32 = (1 << TOKEN_BITS) - 1;

/// Parameters for each memorized token, as its defaults are made for.
pub const PARAMETERS_PER_TOKEN: u64 = 92;

/// A (layer, head) pair and the matrix that holds its pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Tokens between the block and the position to predict; 0 is the newest head of its layer.
    pub skip: u32,
    /// Tokens in the block.
    pub len: u32,
    /// Rows of the matrix.
    pub rows: u64,
    /// Cells in a row, the paper's d of this matrix: a power of two, 64 to 1024.
    pub width: u32,
    /// Rows that a key selects (K).
    pub copies: u32,
    /// Whether the rows also depend on the next token's Hadamard block. Short contexts have many successors;
    /// bucketed, they do not share a row unless their codes are orthogonal.
    pub bucketed: bool,
    /// Whether a value is multiplied by signs that its key draws. Without them a frequent token adds up in rows of
    /// contexts that it does not follow; an ablation measures what that costs.
    pub bound: bool,
}

impl Slot {
    /// Returns the cells of the matrix.
    pub fn parameters(&self) -> u64 {
        self.rows * u64::from(self.width)
    }

    /// Returns the address that a row's signs are made from. Unbound values all have the same signs, which changes nothing
    /// but the names of the codes.
    pub(super) fn signs_of(&self, address: u64) -> u64 {
        if self.bound { address } else { 0 }
    }

    /// Returns whether this is the newest head of its layer: its block ends just before the position.
    pub fn newest(&self) -> bool {
        self.skip == 0
    }

    /// Returns the cells from the beginning of this slot to the beginning of the next: whole pages.
    pub fn stride(&self) -> usize {
        (self.parameters() as usize).next_multiple_of(PAGE)
    }
}

/// The (layer, head) pairs in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Heads (h): blocks of a layer's window.
    heads: u32,
    /// The blocks as (skip, len), in reading order.
    blocks: Vec<(u32, u32)>,
}

impl Default for Shape {
    /// Two heads, five layers, older heads in the top two layers, which recall from a damaged prompt.
    fn default() -> Self {
        Shape::new(2, 5, 2)
    }
}

impl Shape {
    /// Takes the newest heads of `layers` layers, the last of which sees hˡ⁻¹ tokens, and the older heads of the `older` top ones.
    pub fn new(heads: u32, layers: u32, older: u32) -> Self {
        let len = |layer: u32| heads.saturating_pow(layer);
        let newest = (0..layers).map(|layer| (0, len(layer)));
        let first = layers.saturating_sub(older);
        let older = (first..layers)
            .flat_map(|layer| (1..heads).map(move |j| (j.saturating_mul(len(layer)), len(layer))));
        Shape { heads, blocks: newest.chain(older).collect() }
    }

    /// Takes blocks as (skip, len), in any order. They are read newest heads first and the shorter before the longer, because
    /// longer contexts correct shorter ones.
    pub fn of_blocks(heads: u32, mut blocks: Vec<(u32, u32)>) -> Self {
        blocks.sort_by_key(|&(skip, len)| (skip > 0, len, skip));
        Shape { heads, blocks }
    }
}

/// Everything that a superposed memory depends on besides the text.
///
/// ```
/// use memo::superposed::{Settings, Shape};
/// let settings = Settings::new(50_257, 50_256, 7, &Shape::default(), 200_000_000)?;
/// let blocks: Vec<_> = settings.slots.iter().map(|slot| (slot.skip, slot.len)).collect();
/// assert_eq!(blocks, [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (8, 8), (16, 16)]);
/// # Ok::<(), memo::superposed::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Tokens in the vocabulary (n), the end token included.
    pub vocabulary: u32,
    /// The token that is written after the last token of every document.
    pub end: u32,
    /// The seed of all keys and codes.
    pub seed: u64,
    /// Heads (h): block hashes are built from h sub-blocks.
    pub heads: u32,
    /// The slots, in the order in which they are read.
    pub slots: Vec<Slot>,
}

impl Settings {
    /// Makes settings of the given shape and size. Parameters are divided as measured best (docs/engine.md):
    /// 18 to the single token, 14 to pairs, 8 to each longer newest head, 18 to each older head.
    pub fn new(
        vocabulary: u32,
        end: u32,
        seed: u64,
        shape: &Shape,
        parameters: u64,
    ) -> Result<Self, Error> {
        let portion = |&(skip, len): &(u32, u32)| match (skip, len) {
            (0, 1) => 18,
            (0, 2) => 14,
            (0, _) => 8,
            _ => 18,
        };
        let whole: u64 = shape.blocks.iter().map(portion).sum();
        let slots = shape.blocks.iter().map(|block| {
            let (skip, len) = *block;
            let bucketed = len <= 2;
            let width = if bucketed { LINE as u32 } else { 256 };
            let parameters =
                u128::from(parameters) * u128::from(portion(block)) / u128::from(whole.max(1));
            let rows = (parameters as u64 / u64::from(width)).max(1);
            Slot { skip, len, rows, width, copies: 2, bucketed, bound: true }
        });
        let settings =
            Settings { vocabulary, end, seed, heads: shape.heads, slots: slots.collect() };
        settings.check()?;
        Ok(settings)
    }

    /// Returns the number of cells.
    pub fn parameters(&self) -> u64 {
        self.slots.iter().map(Slot::parameters).sum()
    }

    /// Returns where the totals of a slot's blocks are counted.
    pub(crate) fn counted(&self, slot: usize) -> Counted {
        let Slot { skip, len, .. } = self.slots[slot];
        match (skip, len) {
            (0, 1) => Counted::WithTokens,
            (0, 2) => Counted::WithPairs,
            (0, _) => Counted::Alone,
            _ => {
                let newest = self.slots.iter().position(|s| (s.skip, s.len) == (0, len));
                newest.map_or(Counted::Alone, Counted::WithNewest)
            }
        }
    }

    /// Returns how many tokens before a position slots can see.
    pub fn reach(&self) -> usize {
        self.slots.iter().map(|slot| (slot.skip + slot.len) as usize).max().unwrap_or(0)
    }

    /// Refuses tokens outside the vocabulary.
    pub fn check_tokens(&self, tokens: &[u32]) -> Result<(), Error> {
        check_positions(self.vocabulary, tokens, &(0..tokens.len()), 0).map(|_| ())
    }

    /// Refuses settings that describe no memory.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Settings(what));
        if self.vocabulary == 0 || self.vocabulary > MAX_VOCABULARY {
            return wrong(format!("a vocabulary of {} (1 to {MAX_VOCABULARY})", self.vocabulary));
        }
        if self.end >= self.vocabulary {
            return wrong(format!("end token {} is outside the vocabulary", self.end));
        }
        if self.heads < 2 {
            return wrong(format!("{} heads (at least 2)", self.heads));
        }
        if self.slots.is_empty() || self.slots.len() > 256 {
            return wrong(format!("{} slots (1 to 256)", self.slots.len()));
        }
        let mut rows = 0u64;
        for (i, slot) in self.slots.iter().enumerate() {
            let name = format!("slot {}:{}", slot.skip, slot.len);
            if self.slots[..i].iter().any(|other| (other.skip, other.len) == (slot.skip, slot.len))
            {
                return wrong(format!("{name} is given twice"));
            }
            if slot.len == 0 || slot.len > 1 << 20 || slot.skip > 1 << 20 {
                return wrong(format!("{name} (blocks have 1 to 2^20 tokens)"));
            }
            if !slot.width.is_power_of_two() || !(64..=1024).contains(&slot.width) {
                return wrong(format!(
                    "{name} has width {} (64, 128, 256, 512 or 1024)",
                    slot.width
                ));
            }
            if slot.copies == 0 || slot.copies > 8 {
                return wrong(format!("{name} has {} copies (1 to 8)", slot.copies));
            }
            if slot.rows == 0 || slot.rows > 1 << 40 {
                return wrong(format!("{name} has {} rows (1 to 2^40)", slot.rows));
            }
            rows += slot.stride() as u64 / u64::from(slot.width);
        }
        if rows > u64::from(u32::MAX) {
            return wrong(format!("{rows} rows in all (at most 2^32 − 1)"));
        }
        Ok(())
    }
}

/// Where the totals of a slot's blocks are counted, but for the edges of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Under the slot's own keys.
    Alone,
    /// With the tokens: a block of one token.
    WithTokens,
    /// With the pairs: a block of two.
    WithPairs,
    /// With the newest head of the same length, this slot: it saw the same blocks some positions earlier.
    WithNewest(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_heads_and_layers_make_settings() {
        for heads in 2..6 {
            for layers in 1..5 {
                for older in 0..=layers {
                    let shape = Shape::new(heads, layers, older);
                    let size = 1 << 20;
                    let settings = Settings::new(1000, 999, 1, &shape, size).unwrap();
                    assert_eq!(settings.slots.len() as u32, layers + older * (heads - 1));
                    assert_eq!(settings.reach() as u32, {
                        let top = heads.pow(layers - 1);
                        if older > 0 { heads * top } else { top }
                    });
                    let whole = settings.parameters();
                    assert!(whole <= 1 << 20 && whole > (1 << 20) - (1 << 14), "{whole}");
                }
            }
        }
    }

    #[test]
    fn the_default_gives_each_slot_its_share() {
        let settings = Settings::new(50_000, 0, 1, &Shape::default(), 92_000_000).unwrap();
        let millions: Vec<u64> =
            settings.slots.iter().map(|slot| slot.parameters().div_ceil(1_000_000)).collect();
        assert_eq!(millions, [18, 14, 8, 8, 8, 18, 18]);
    }

    #[test]
    fn blocks_of_one_s_own_are_read_in_order_and_get_their_share() {
        let size = 50_000_000;
        let shape = Shape::of_blocks(2, vec![(16, 8), (0, 6), (0, 1), (8, 8), (0, 3)]);
        let settings = Settings::new(50_000, 0, 1, &shape, size).unwrap();
        let slots: Vec<_> = settings
            .slots
            .iter()
            .map(|s| (s.skip, s.len, s.width, s.parameters().div_ceil(1_000_000)))
            .collect();
        assert_eq!(
            slots,
            [(0, 1, 64, 13), (0, 3, 256, 6), (0, 6, 256, 6), (8, 8, 256, 13), (16, 8, 256, 13)]
        );
        let default = [(0, 16), (16, 16), (0, 1), (8, 8), (0, 4), (0, 2), (0, 8)];
        assert_eq!(Shape::of_blocks(2, default.to_vec()), Shape::default());
        for (wrong, what) in [
            (vec![(0, 4), (0, 4)], "slot 0:4 is given twice"),
            (vec![(0, 0)], "slot 0:0"),
            (vec![], "0 slots"),
        ] {
            let error = Settings::new(9, 0, 1, &Shape::of_blocks(2, wrong), size).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let good = Settings::new(100, 99, 1, &Shape::default(), 1 << 20).unwrap();
        let broken: [fn(&mut Settings); 8] = [
            |s| s.vocabulary = 0,
            |s| s.end = 100,
            |s| s.heads = 1,
            |s| s.slots.clear(),
            |s| s.slots[1].len = 1,
            |s| s.slots[0].width = 96,
            |s| s.slots[0].rows = 0,
            |s| s.slots[0].copies = 0,
        ];
        for spoil in broken {
            let mut settings = good.clone();
            spoil(&mut settings);
            assert!(matches!(settings.check(), Err(Error::Settings(_))));
        }
    }
}
