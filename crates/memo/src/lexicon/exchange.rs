//! The exchange algorithm: words in classes, so that a word's class says as much as possible about the next word's.
//!
//! Martin, Liermann and Ney (1998), *Algorithms for bigram and trigram word clustering*: a text is most likely under a bigram model of classes when
//!
//! ```text
//! F = Σ φ(N(g, h)) − 2 Σ φ(N(g)),   φ(n) = n ln n
//! ```
//!
//! is largest, where N counts classes and pairs of classes that follow each other. Words begin in classes by turns, from the most frequent to the rarest.
//! Then each word in turn is taken out of its class and put where F becomes largest, until nobody moves or the rounds are over. What a move does to F
//! follows from the word's neighbours alone.
//!
//! φ is a whole number of 2⁻²⁰ nats, so sums are exact: F rises strictly with every move, and threads that add up in another order find the same.

use rayon::prelude::*;
use std::ops::ControlFlow;

/// The unit of φ is 2⁻²⁰ nats.
const ONE: f64 = (1 << 20) as f64;
/// φ is looked up for counts below this.
const TABULATED: usize = 1 << 20;
/// Cells of a word's evaluation that pay for a second thread.
const PARALLEL: usize = 1 << 14;
/// Words between two calls of the progress.
const STEP: usize = 256;

/// φ(n) = n ln n.
struct Phi(Box<[i64]>);

impl Phi {
    fn new(largest: u32) -> Self {
        Phi((0..TABULATED.min(largest as usize + 1)).map(|n| Self::compute(n as u32)).collect())
    }

    /// From `libm`, whose logarithm is the same on every machine.
    fn compute(n: u32) -> i64 {
        if n == 0 { 0 } else { (f64::from(n) * libm::log(f64::from(n)) * ONE).round() as i64 }
    }

    #[inline]
    fn of(&self, n: u32) -> i64 {
        self.0.get(n as usize).copied().unwrap_or_else(|| Self::compute(n))
    }

    /// What `more` of something add that was counted `n` times.
    #[inline]
    fn gain(&self, n: u32, more: u32) -> i64 {
        self.of(n + more) - self.of(n)
    }
}

/// How often symbols follow each other. The first `movable` are words, the most frequent first; those after them stay in classes of their own.
pub(super) struct Bigrams {
    movable: usize,
    counts: Vec<u32>,
    after: Neighbours,
    before: Neighbours,
    /// How often each follows itself.
    itself: Vec<u32>,
}

/// The neighbours of every symbol on one side, but for itself, each with how often.
struct Neighbours {
    starts: Vec<u32>,
    list: Vec<(u32, u32)>,
}

impl Neighbours {
    /// From pairs of a symbol and its neighbour.
    fn new(symbols: usize, mut pairs: Vec<(u32, u32, u32)>) -> Self {
        pairs.sort_unstable();
        let mut starts = vec![0; symbols + 1];
        pairs.iter().for_each(|&(of, _, _)| starts[of as usize + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        Neighbours { starts, list: pairs.into_iter().map(|(_, other, n)| (other, n)).collect() }
    }

    fn of(&self, symbol: usize) -> &[(u32, u32)] {
        &self.list[self.starts[symbol] as usize..self.starts[symbol + 1] as usize]
    }
}

impl Bigrams {
    /// From pairs of symbols, each given once, with how often the second follows the first. As often as a symbol has one before it, it has one after it.
    pub(super) fn new(movable: usize, symbols: usize, pairs: &[(u32, u32, u32)]) -> Self {
        let (mut counts, mut itself) = (vec![0; symbols], vec![0; symbols]);
        for &(first, second, n) in pairs {
            counts[first as usize] += n;
            if first == second {
                itself[first as usize] = n;
            }
        }
        let others = || pairs.iter().filter(|(first, second, _)| first != second);
        let after = Neighbours::new(symbols, others().copied().collect());
        let before = Neighbours::new(symbols, others().map(|&(a, b, n)| (b, a, n)).collect());
        Bigrams { movable, counts, after, before, itself }
    }
}

/// What the exchange has come to.
pub(super) struct Exchanged {
    /// The class of each word.
    pub(super) classes: Vec<u32>,
    /// Rounds through all words.
    pub(super) rounds: usize,
    /// F in nats, before the first round and after each.
    pub(super) likelihoods: Vec<f64>,
}

/// Puts words into so many classes. The progress is told how many words were looked at; `None` if it breaks.
pub(super) fn exchange(
    bigrams: &Bigrams,
    classes: usize,
    rounds: usize,
    progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Option<Exchanged> {
    let mut state = State::new(bigrams, classes);
    let mut likelihoods = vec![state.likelihood() as f64 / ONE];
    let mut done = 0;
    for round in 0..rounds {
        let mut moved = false;
        for word in 0..bigrams.movable {
            if word % STEP == 0 && progress(round * bigrams.movable + word).is_break() {
                return None;
            }
            moved |= state.settle(word);
        }
        done += 1;
        likelihoods.push(state.likelihood() as f64 / ONE);
        if !moved {
            break;
        }
    }
    state.classes.truncate(bigrams.movable);
    Some(Exchanged { classes: state.classes, rounds: done, likelihoods })
}

/// Classes, and the counts that follow from them.
struct State<'b> {
    bigrams: &'b Bigrams,
    phi: Phi,
    /// Classes that words move between; those after them have one symbol each.
    moving: usize,
    /// All classes: the length of a row.
    width: usize,
    classes: Vec<u32>,
    counts: Vec<u32>,
    /// How often class h follows class g: at g × width + h, and the other way round.
    after: Vec<u32>,
    before: Vec<u32>,
    left: Tally,
    right: Tally,
    gains: Vec<i64>,
}

impl<'b> State<'b> {
    fn new(bigrams: &'b Bigrams, moving: usize) -> Self {
        let (symbols, movable) = (bigrams.counts.len(), bigrams.movable);
        let width = moving + symbols - movable;
        let class = |symbol: usize| {
            if symbol < movable { symbol % moving } else { moving + symbol - movable }
        };
        let classes: Vec<u32> = (0..symbols).map(|symbol| class(symbol) as u32).collect();
        let mut counts = vec![0; width];
        let (mut after, mut before) = (vec![0; width * width], vec![0; width * width]);
        for symbol in 0..symbols {
            let g = classes[symbol] as usize;
            counts[g] += bigrams.counts[symbol];
            let itself = [(symbol as u32, bigrams.itself[symbol])];
            for &(other, n) in bigrams.after.of(symbol).iter().chain(&itself) {
                let h = classes[other as usize] as usize;
                after[g * width + h] += n;
                before[h * width + g] += n;
            }
        }
        let largest = counts.iter().copied().max().unwrap_or(0);
        State {
            bigrams,
            phi: Phi::new(largest),
            moving,
            width,
            classes,
            counts,
            after,
            before,
            left: Tally::new(width),
            right: Tally::new(width),
            gains: vec![0; moving],
        }
    }

    /// F.
    fn likelihood(&self) -> i64 {
        let sum = |counts: &[u32]| counts.iter().map(|&n| self.phi.of(n)).sum::<i64>();
        sum(&self.after) - 2 * sum(&self.counts)
    }

    /// Puts a word where F is largest, in the class with the lowest number of those, and tells whether that is another one than before.
    fn settle(&mut self, word: usize) -> bool {
        let bigrams = self.bigrams;
        self.left.count(bigrams.before.of(word), &self.classes);
        self.right.count(bigrams.after.of(word), &self.classes);
        let old = self.classes[word] as usize;
        self.shift(word, old, u32::wrapping_sub);
        self.evaluate(word);
        let best = self.gains.iter().copied().max().unwrap_or(0);
        let new = if self.gains[old] == best {
            old
        } else {
            self.gains.iter().position(|&gain| gain == best).unwrap_or(old)
        };
        self.shift(word, new, u32::wrapping_add);
        self.classes[word] = new as u32;
        new != old
    }

    /// Counts a word as one of a class, or no longer.
    fn shift(&mut self, word: usize, class: usize, change: impl Fn(u32, u32) -> u32) {
        let width = self.width;
        let mut add = |g: usize, h: usize, n: u32| {
            let (after, before) = (&mut self.after[g * width + h], &mut self.before[h * width + g]);
            (*after, *before) = (change(*after, n), change(*before, n));
        };
        self.left.each(|other, n| add(other, class, n));
        self.right.each(|other, n| add(class, other, n));
        add(class, class, self.bigrams.itself[word]);
        self.counts[class] = change(self.counts[class], self.bigrams.counts[word]);
    }

    /// What F gains from the word in each class.
    fn evaluate(&mut self, word: usize) {
        let mut gains = std::mem::take(&mut self.gains);
        let work = (self.left.touched.len() + self.right.touched.len()) * self.moving;
        let threads = rayon::current_num_threads();
        if work < PARALLEL || threads == 1 {
            self.evaluate_some(word, 0, &mut gains);
        } else {
            let part = self.moving.div_ceil(threads);
            let parts = gains.par_chunks_mut(part).enumerate();
            parts.for_each(|(at, gains)| self.evaluate_some(word, at * part, gains));
        }
        self.gains = gains;
    }

    /// The same for the classes from `first` on.
    fn evaluate_some(&self, word: usize, first: usize, gains: &mut [i64]) {
        let (phi, width, count) = (&self.phi, self.width, self.bigrams.counts[word]);
        gains.fill(0);
        for (tally, rows) in [(&self.left, &self.after), (&self.right, &self.before)] {
            tally.each(|other, n| {
                let row = &rows[other * width + first..][..gains.len()];
                for (gain, &pairs) in gains.iter_mut().zip(row) {
                    *gain += phi.gain(pairs, n);
                }
            });
        }
        for (class, gain) in (first..).zip(gains) {
            *gain -= 2 * phi.gain(self.counts[class], count);
            // Both neighbours, and the word itself, add to the same cell where they are of this class.
            let (left, right) = (self.left.counts[class], self.right.counts[class]);
            let pairs = self.after[class * width + class];
            let together = left + right + self.bigrams.itself[word];
            *gain += phi.gain(pairs, together) - phi.gain(pairs, left) - phi.gain(pairs, right);
        }
    }
}

/// How often a word's neighbours on one side are of each class.
struct Tally {
    counts: Vec<u32>,
    /// The classes that were counted.
    touched: Vec<u32>,
}

impl Tally {
    fn new(classes: usize) -> Self {
        Tally { counts: vec![0; classes], touched: Vec::new() }
    }

    fn count(&mut self, neighbours: &[(u32, u32)], classes: &[u32]) {
        for class in self.touched.drain(..) {
            self.counts[class as usize] = 0;
        }
        for &(neighbour, n) in neighbours {
            let class = classes[neighbour as usize];
            let count = &mut self.counts[class as usize];
            if *count == 0 {
                self.touched.push(class);
            }
            *count += n;
        }
    }

    #[inline]
    fn each(&self, mut take: impl FnMut(usize, u32)) {
        for &class in &self.touched {
            take(class as usize, self.counts[class as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// F from the definition, in the same unit.
    fn definition(stream: &[usize], class: &[usize], classes: usize) -> i64 {
        let mut pairs = vec![vec![0; classes]; classes];
        let mut counts = vec![0; classes];
        for pair in stream.windows(2) {
            pairs[class[pair[0]]][class[pair[1]]] += 1;
            counts[class[pair[0]]] += 1;
        }
        let sum = |counts: &[u32]| counts.iter().map(|&n| Phi::compute(n)).sum::<i64>();
        pairs.iter().map(|row| sum(row)).sum::<i64>() - 2 * sum(&counts)
    }

    /// The algorithm as it is told: every class is tried, and F computed anew.
    fn naive(
        stream: &[usize],
        movable: usize,
        symbols: usize,
        moving: usize,
    ) -> (Vec<u32>, Vec<i64>) {
        let classes = moving + symbols - movable;
        let start = |symbol: usize| {
            if symbol < movable { symbol % moving } else { moving + symbol - movable }
        };
        let mut class: Vec<usize> = (0..symbols).map(start).collect();
        let mut likelihoods = vec![definition(stream, &class, classes)];
        for _ in 0..5 {
            let before = class.clone();
            for word in 0..movable {
                let (old, mut best) = (class[word], definition(stream, &class, classes));
                let mut new = old;
                for to in 0..moving {
                    class[word] = to;
                    let value = definition(stream, &class, classes);
                    if value > best {
                        (best, new) = (value, to);
                    }
                }
                class[word] = new;
            }
            likelihoods.push(definition(stream, &class, classes));
            if class == before {
                break;
            }
        }
        (class[..movable].iter().map(|&class| class as u32).collect(), likelihoods)
    }

    fn bigrams(stream: &[usize], movable: usize, symbols: usize) -> Bigrams {
        let mut pairs = std::collections::BTreeMap::new();
        for pair in stream.windows(2) {
            *pairs.entry((pair[0] as u32, pair[1] as u32)).or_insert(0) += 1;
        }
        let pairs: Vec<_> = pairs.into_iter().map(|((a, b), n)| (a, b, n)).collect();
        Bigrams::new(movable, symbols, &pairs)
    }

    proptest! {
        #[test]
        fn it_does_what_the_definition_says(
            stream in prop::collection::vec(0_usize..14, 1..120),
            moving in 1_usize..5,
        ) {
            // Symbols 12 and 13 never move. The stream is closed, so that every symbol has as many before it as after it.
            let stream: Vec<usize> = [13].into_iter().chain(stream).chain([13]).collect();
            let (classes, likelihoods) = naive(&stream, 12, 14, moving);
            let mut go_on = |_| ControlFlow::Continue(());
            let found = exchange(&bigrams(&stream, 12, 14), moving, 5, &mut go_on).unwrap();
            prop_assert_eq!(found.classes, classes);
            prop_assert!(likelihoods.is_sorted());
            let likelihoods: Vec<f64> = likelihoods.iter().map(|&f| f as f64 / ONE).collect();
            prop_assert_eq!(found.likelihoods, likelihoods);
        }
    }

    #[test]
    fn counts_beyond_the_table_are_the_same_function() {
        let phi = Phi::new(100);
        for n in [0, 1, 2, 100, 101, 5_000_000, u32::MAX] {
            let exact = f64::from(n.max(1)).ln() * f64::from(n) * ONE;
            assert!((phi.of(n) as f64 - exact).abs() <= 1.0 + exact * 1e-15, "{n}");
        }
    }
}
