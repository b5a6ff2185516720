//! The inner loops, and the only `unsafe` code of this crate.
//!
//! Each kernel is written once, as safe code that the compiler can vectorise, and compiled once per instruction
//! set by [`dispatch!`]; the best set that this CPU has is chosen at run time, so that a portable build is fast.
//! No kernel uses a fused multiply-add and every reduction has a fixed shape, so all paths give the same bits.
//! Each kernel has a naive twin in its tests, compared on every path that the CPU offers.
#![allow(unsafe_code)]

mod fwht;
mod gather;
mod gaussian;
mod gemm;
#[cfg(feature = "superposed")]
pub(crate) mod integer;
mod prefetch;
mod vector;
#[cfg(feature = "superposed")]
pub(crate) mod walsh;

pub(crate) use self::fwht::{fwht, fwht_columns, walsh_row};
pub(crate) use self::gather::{gather_add, gather_bind};
pub(crate) use self::gaussian::gaussians;
pub(crate) use self::gemm::{Mat, multiply_add, product};
pub(crate) use self::prefetch::prefetch;
pub(crate) use self::vector::{add, add_product, add_scaled, dot, dots, max};
use std::sync::OnceLock;

/// An instruction set that this CPU has. One that it lacks cannot be named outside this module, so the kernels that
/// take a path are safe to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path(Isa);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Isa {
    /// Whatever the build targets: SSE2 on x86-64, NEON on aarch64.
    Portable,
    /// AVX2 on x86-64.
    Avx2,
    /// AVX-512 (F, BW, DQ, VL) on x86-64.
    Avx512,
}

impl Path {
    /// The path that every CPU can run.
    pub(crate) const PORTABLE: Path = Path(Isa::Portable);

    /// The paths that this CPU can run, the best one last.
    pub(crate) fn available() -> Vec<Path> {
        let mut paths = vec![Path::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                paths.push(Path(Isa::Avx2));
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                paths.push(Path(Isa::Avx512));
            }
        }
        paths
    }

    /// The path that kernels take on this CPU.
    pub(crate) fn best() -> Path {
        static BEST: OnceLock<Path> = OnceLock::new();
        #[cfg(test)]
        if let Some(path) = FORCED.lock().ok().and_then(|path| *path) {
            return path;
        }
        *BEST.get_or_init(|| Path::available().pop().unwrap_or(Path::PORTABLE))
    }
}

/// The path that all kernels of this process take, for tests of whole operations. Tests that run meanwhile may take
/// it too; whatever the path, results are the same.
#[cfg(test)]
pub(crate) static FORCED: std::sync::Mutex<Option<Path>> = std::sync::Mutex::new(None);

/// Declares `$name` and `$at` (the same with the path given, for tests) from one generic, always inlined body.
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident / $at:ident ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path) => {
        $(#[$meta])*
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            $at($crate::kernels::Path::best(), $($arg),*)
        }

        #[allow(clippy::too_many_arguments)]
        $vis fn $at(path: $crate::kernels::Path, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                match path.0 {
                    // SAFETY: a path other than the portable one only comes from `Path::available`, which asked the CPU.
                    $crate::kernels::Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    // SAFETY: as above.
                    $crate::kernels::Isa::Avx512 => return unsafe { avx512($($arg),*) },
                    $crate::kernels::Isa::Portable => {}
                }
            }
            let _ = path;
            $body($($arg),*)
        }
    };
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    fn sources(folder: &Path, out: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, out);
            } else {
                out.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }

    /// Data flows one way: kernels know nothing of the engines that call them.
    #[test]
    fn kernels_use_nothing_above_them() {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kernels"), &mut files);
        assert!(files.len() > 10);
        for (file, text) in files {
            // Written in two parts, or this line would be found.
            for (line, used) in
                text.lines().filter_map(|l| Some((l, l.split_once(concat!("crate", "::"))?.1)))
            {
                let below = ["kernels", "random"].iter().any(|module| used.starts_with(module));
                assert!(below, "{file}: {line}");
            }
        }
    }
}
