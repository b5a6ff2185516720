//! Single rows in 32 bits: taken out of the cells without their signs, and codes added to them or taken off.

use super::{LINE, masks};
use crate::kernels::dispatch;

dispatch! {
    /// `out[k] = ±cells[k]`.
    pub(crate) fn unbind / unbind_at(cells: &[i8], signs: &[u64], out: &mut [i32]) = unbind_body
}

dispatch! {
    /// `row[k] += ±weight`.
    pub(crate) fn add_signed / add_signed_at(row: &mut [i32], signs: &[u64], weight: i32) = add_signed_body
}

#[inline(always)]
fn unbind_body(cells: &[i8], signs: &[u64], out: &mut [i32]) {
    let lines = cells.as_chunks::<LINE>().0.iter().zip(out.as_chunks_mut::<LINE>().0);
    for ((line, out), &word) in lines.zip(signs) {
        let masks = masks(word);
        for k in 0..LINE {
            out[k] = i32::from((line[k] ^ masks[k]).wrapping_sub(masks[k]));
        }
    }
}

#[inline(always)]
fn add_signed_body(row: &mut [i32], signs: &[u64], weight: i32) {
    for (line, &word) in row.as_chunks_mut::<LINE>().0.iter_mut().zip(signs) {
        let masks = masks(word);
        for k in 0..LINE {
            let mask = i32::from(masks[k]);
            line[k] = line[k].wrapping_add((weight ^ mask).wrapping_sub(mask));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::signs;
    use super::super::tests::{random_cells, sign};
    use super::*;
    use crate::kernels::Path;

    #[test]
    fn unbinding_and_signed_addition_follow_the_signs() {
        let cells = random_cells(256, 127, 1);
        let words: Vec<u64> = (0..4).map(|line| signs(99, line)).collect();
        let of = |k: usize| sign(words[k / LINE], k % LINE);
        for path in Path::available() {
            let mut out = vec![0; 256];
            unbind_at(path, &cells, &words, &mut out);
            assert!((0..256).all(|k| out[k] == i32::from(cells[k]) * of(k)), "{path:?}");
            add_signed_at(path, &mut out, &words, -70_000);
            assert!((0..256).all(|k| out[k] == (i32::from(cells[k]) - 70_000) * of(k)), "{path:?}");
        }
    }
}
