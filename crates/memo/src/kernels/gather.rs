//! Signed permutations: entry k of a table holds the index j of a source in its low 31 bits and a sign in the highest.
//!
//! Compilers do not turn indexed loads into gather instructions on their own, so these are written out.

use super::{Isa, Path};

const SIGN: u32 = 1 << 31;

/// `y[k] += ±x[j]`.
pub(crate) fn gather_add(y: &mut [f32], x: &[f32], table: &[u32]) {
    gather_add_at(Path::best(), y, x, table);
}

/// `y[k] *= ±sgn(x[j])`, with sgn(0) = 0.
pub(crate) fn gather_bind(y: &mut [f32], x: &[f32], table: &[u32]) {
    gather_bind_at(Path::best(), y, x, table);
}

fn gather_add_at(path: Path, y: &mut [f32], x: &[f32], table: &[u32]) {
    gather_with(path, y, x, table, |y, v| y + v);
}

fn gather_bind_at(path: Path, y: &mut [f32], x: &[f32], table: &[u32]) {
    gather_with(path, y, x, table, |y, v| if v == 0.0 { 0.0 } else { y * 1f32.copysign(v) });
}

/// Entries gathered at a time.
const CHUNK: usize = 16;

#[inline(always)]
fn gather_with(
    path: Path,
    y: &mut [f32],
    x: &[f32],
    table: &[u32],
    combine: impl Fn(f32, f32) -> f32 + Copy,
) {
    let largest = table.iter().fold(0, |largest, entry| largest.max(entry & !SIGN));
    assert!(table.is_empty() || (largest as usize) < x.len(), "a table entry beyond the source");
    assert!(x.len() < SIGN as usize, "a source longer than an entry can name");
    let n = y.len().min(table.len());
    let (y, table) = (&mut y[..n], &table[..n]);
    match path.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the path's instructions (see `dispatch!`), and every index was checked above.
        Isa::Avx512 => unsafe { x86::avx512(y, x, table, combine) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { x86::avx2(y, x, table, combine) },
        _ => portable(y, x, table, combine),
    }
}

#[inline(always)]
fn portable(y: &mut [f32], x: &[f32], table: &[u32], combine: impl Fn(f32, f32) -> f32) {
    for (y, entry) in y.iter_mut().zip(table) {
        let value = x[(entry & !SIGN) as usize];
        *y = combine(*y, f32::from_bits(value.to_bits() ^ (entry & SIGN)));
    }
}

#[cfg(target_arch = "x86_64")]
// The intrinsics' pointer types say aligned, their contracts do not ask for it.
#[allow(clippy::cast_ptr_alignment)]
mod x86 {
    use super::{CHUNK, SIGN, portable};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_and_si256, _mm256_andnot_si256, _mm256_castps_si256,
        _mm256_i32gather_ps, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_storeu_si256,
        _mm256_xor_si256, _mm512_and_si512, _mm512_andnot_si512, _mm512_castps_si512,
        _mm512_i32gather_ps, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_storeu_si512,
        _mm512_xor_si512,
    };

    /// # Safety
    /// The CPU must have AVX-512 F, BW, DQ and VL; every index in `table` must be below `x.len()` < 2³¹; `y` and
    /// `table` must have the same length.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) unsafe fn avx512(
        y: &mut [f32],
        x: &[f32],
        table: &[u32],
        combine: impl Fn(f32, f32) -> f32,
    ) {
        let sign = _mm512_set1_epi32(SIGN.cast_signed());
        let (chunks, rest) = y.as_chunks_mut::<CHUNK>();
        let (entries, entries_rest) = table.as_chunks::<CHUNK>();
        for (y, entries) in chunks.iter_mut().zip(entries) {
            let mut values = [0.0f32; CHUNK];
            // SAFETY: loads and stores stay in arrays of 16; the caller vouches for the indices.
            unsafe {
                let entries = _mm512_loadu_si512(entries.as_ptr().cast::<__m512i>());
                let index = _mm512_andnot_si512(sign, entries);
                let value = _mm512_i32gather_ps::<4>(index, x.as_ptr());
                let value = _mm512_castps_si512(value);
                let value = _mm512_xor_si512(value, _mm512_and_si512(entries, sign));
                _mm512_storeu_si512(values.as_mut_ptr().cast::<__m512i>(), value);
            }
            for k in 0..CHUNK {
                y[k] = combine(y[k], values[k]);
            }
        }
        portable(rest, x, entries_rest, combine);
    }

    /// # Safety
    /// As for [`avx512`], with AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2(
        y: &mut [f32],
        x: &[f32],
        table: &[u32],
        combine: impl Fn(f32, f32) -> f32,
    ) {
        let sign = _mm256_set1_epi32(SIGN.cast_signed());
        let (chunks, rest) = y.as_chunks_mut::<8>();
        let (entries, entries_rest) = table.as_chunks::<8>();
        for (y, entries) in chunks.iter_mut().zip(entries) {
            let mut values = [0.0f32; 8];
            // SAFETY: loads and stores stay in arrays of 8; the caller vouches for the indices.
            unsafe {
                let entries = _mm256_loadu_si256(entries.as_ptr().cast::<__m256i>());
                let index = _mm256_andnot_si256(sign, entries);
                let value = _mm256_i32gather_ps::<4>(x.as_ptr(), index);
                let value = _mm256_castps_si256(value);
                let value = _mm256_xor_si256(value, _mm256_and_si256(entries, sign));
                _mm256_storeu_si256(values.as_mut_ptr().cast::<__m256i>(), value);
            }
            for k in 0..8 {
                y[k] = combine(y[k], values[k]);
            }
        }
        portable(rest, x, entries_rest, combine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_permutations_move_and_flip_on_every_path() {
        for n in [1, 5, 16, 61, 128] {
            let x: Vec<f32> = (0..n).map(|k| ((k * 31 + 3) % 17) as f32 - 8.0).collect();
            let start: Vec<f32> = (0..n).map(|k| (k % 7) as f32 - 3.0).collect();
            let source = |k: usize| (k * 3 + 1) % n;
            let flips = |k: usize| k.is_multiple_of(3);
            let table: Vec<u32> =
                (0..n).map(|k| source(k) as u32 | if flips(k) { SIGN } else { 0 }).collect();
            let moved = |k: usize| if flips(k) { -x[source(k)] } else { x[source(k)] };
            for path in Path::available() {
                let (mut sum, mut product) = (start.clone(), start.clone());
                gather_add_at(path, &mut sum, &x, &table);
                gather_bind_at(path, &mut product, &x, &table);
                for k in 0..n {
                    assert_eq!(sum[k], start[k] + moved(k), "{path:?}, entry {k} of {n}");
                    let sign = if moved(k) == 0.0 { 0.0 } else { moved(k).signum() };
                    assert_eq!(product[k], start[k] * sign, "{path:?}, entry {k} of {n}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "beyond the source")]
    fn an_index_out_of_range_is_refused() {
        gather_add(&mut [0.0; 16], &[1.0; 4], &[4; 16]);
    }
}
