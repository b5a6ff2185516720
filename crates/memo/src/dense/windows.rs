//! Flat and Sel as index arithmetic (paper, section 3.2).
//!
//! Row p of layer i stands for the block of hⁱ⁻¹ tokens that ends at token p; a window is h such rows, and nothing
//! is copied to lay them side by side. [`Windows`] says which rows; [`Rows`] keeps the recent rows of a layer while a
//! text passes through.

/// A run of windows over a layer's rows: block j of window w is row `first[j] + step·w`. A negative row lies before
/// the text and counts as zero.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    pub(super) count: usize,
    step: usize,
    first: Vec<isize>,
}

impl Windows {
    /// Windows that end at each of `count` consecutive rows from `end` on, their blocks `span` rows apart.
    /// Rows are counted from `origin`, the first row that a buffer still holds.
    pub(super) fn sliding(
        heads: usize,
        span: usize,
        end: usize,
        count: usize,
        origin: usize,
    ) -> Self {
        let first = (0..heads)
            .map(|j| end as isize - ((heads - 1 - j) * span) as isize - origin as isize)
            .collect();
        Windows { count, step: 1, first }
    }

    /// Windows that tile runs of `run` rows: `run/heads` windows each, or, where a run is a single row, one window
    /// whose older blocks are all missing.
    pub(super) fn tiled(heads: usize, run: usize, runs: usize) -> Self {
        if run == 1 {
            let mut first = vec![isize::MIN / 2; heads];
            first[heads - 1] = 0;
            return Windows { count: runs, step: 1, first };
        }
        Windows { count: runs * run / heads, step: heads, first: (0..heads as isize).collect() }
    }

    /// Only the last window of every run of `run` rows that [`Windows::tiled`] would give.
    pub(super) fn newest(heads: usize, run: usize, runs: usize) -> Self {
        if run == 1 {
            return Self::tiled(heads, run, runs);
        }
        Windows { count: runs, step: run, first: (run - heads..run).map(|r| r as isize).collect() }
    }

    pub(super) fn heads(&self) -> usize {
        self.first.len()
    }

    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// The row of block j in window w, unless it lies before the text.
    pub(super) fn row(&self, w: usize, j: usize) -> Option<usize> {
        usize::try_from(self.first[j] + (self.step * w) as isize).ok()
    }

    /// The first window whose block j exists: all later ones have it too.
    pub(super) fn from(&self, j: usize) -> usize {
        let missing = self.first[j].min(0).unsigned_abs();
        missing.div_ceil(self.step).min(self.count)
    }
}

/// The recent rows of one layer.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    width: usize,
    /// Number of the first row held.
    pub(super) origin: usize,
    pub(super) data: Vec<f32>,
}

impl Rows {
    pub(super) fn new(width: usize) -> Self {
        Rows { width, origin: 0, data: Vec::new() }
    }

    /// Adds `count` rows of zeros and returns them.
    pub(super) fn grow(&mut self, count: usize) -> &mut [f32] {
        let start = self.data.len();
        self.data.resize(start + count * self.width, 0.0);
        &mut self.data[start..]
    }

    /// The last `count` rows.
    pub(super) fn last(&self, count: usize) -> &[f32] {
        &self.data[self.data.len() - count * self.width..]
    }

    /// Drops rows before the last `count`, once there are so many that moving those costs little.
    pub(super) fn keep_last(&mut self, count: usize) {
        let held = self.data.len() / self.width;
        if held > 2 * count {
            self.data.drain(..(held - count) * self.width);
            self.origin += held - count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sliding_windows_end_at_every_row() {
        // Windows of layer 2, h = 3: blocks of 3 tokens, ending at rows 7 and 8, in a buffer that begins at row 2.
        let windows = Windows::sliding(3, 3, 7, 2, 2);
        let rows = |w| (0..3).map(|j| windows.row(w, j)).collect::<Vec<_>>();
        assert_eq!(rows(0), [None, Some(2), Some(5)]); // rows 1 (dropped or before the text), 4, 7
        assert_eq!(rows(1), [Some(0), Some(3), Some(6)]);
        assert_eq!((windows.from(0), windows.from(1)), (1, 0));
    }

    #[test]
    fn tiles_cover_runs() {
        let tiled = Windows::tiled(2, 4, 2);
        let all: Vec<_> =
            (0..tiled.count).flat_map(|w| [tiled.row(w, 0), tiled.row(w, 1)]).collect();
        assert_eq!(all, (0..8).map(Some).collect::<Vec<_>>());
        let newest = Windows::newest(2, 4, 2);
        let last: Vec<_> = (0..2).flat_map(|w| [newest.row(w, 0), newest.row(w, 1)]).collect();
        assert_eq!(last, [Some(2), Some(3), Some(6), Some(7)]);
        let single = Windows::tiled(3, 1, 2);
        assert_eq!((single.row(1, 0), single.row(1, 1), single.row(1, 2)), (None, None, Some(1)));
        assert_eq!((single.from(0), single.from(2)), (2, 0));
    }
}
