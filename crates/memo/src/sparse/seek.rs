//! Looking up one token after the other, in order, in lists that are in order too.

/// Returns where a token stands in a list that is in order of its tokens, and leaves in `from` where the next is looked for, which
/// must not be a lower one. Steps double, so few tokens in a long list cost as little as all tokens of a list.
#[inline]
pub(crate) fn seek<T>(list: &[(u32, T)], from: &mut usize, token: u32) -> Option<usize> {
    let found = first_not_before(*from, list.len(), |i| list[i].0 < token);
    *from = found;
    (found < list.len() && list[found].0 == token).then_some(found)
}

/// Returns the first of some places that is not before another, which is near the first of them more often than not.
#[inline(always)]
pub(super) fn first_not_before(
    mut low: usize,
    end: usize,
    is_before: impl Fn(usize) -> bool,
) -> usize {
    let mut step = 1;
    while low + step <= end && is_before(low + step - 1) {
        low += step;
        step *= 2;
    }
    let mut high = end.min(low + step);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn tokens_are_found_as_by_going_through_the_list() {
        let mut draws = Stream::new(1, Purpose::Sampling, 0).draws();
        for len in [0, 1, 2, 3, 100, 1_000] {
            for range in [20, 3_000] {
                let mut some = |n: usize| {
                    let mut some = draws.tokens(n, range);
                    some.sort_unstable();
                    some
                };
                let mut list: Vec<(u32, ())> = some(len).into_iter().map(|t| (t, ())).collect();
                list.dedup();
                let mut from = 0;
                for token in some(50) {
                    let found = list.iter().position(|entry| entry.0 == token);
                    assert_eq!(seek(&list, &mut from, token), found, "{token} in {list:?}");
                }
            }
        }
    }
}
