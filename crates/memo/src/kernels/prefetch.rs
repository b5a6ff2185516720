//! Asking for memory before it is needed: hints, which nothing but time depends on.

/// Asks for the cache line of an element that will be needed.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

/// Asks for a cache line that will be needed later.
#[cfg(feature = "superposed")]
#[inline(always)]
pub(super) fn prefetch_far(place: *const i8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
