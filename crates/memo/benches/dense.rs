//! The dense engine against what bounds it: the matrix product rate of this machine, measured in the same run.
//!
//! `cargo bench -p memo --bench dense -- [--dim D] [--tokens T]`, or `cargo xtask bench dense`. Ratios count;
//! absolute times depend on what else the machine does.

use memo::codes::CodeKind;
use memo::dense::{DenseConfig, DenseMemo, Recall};
use memo::random::{Purpose, Stream};
use std::hint::black_box;
use std::time::{Duration, Instant};

const VOCAB: usize = 50_254;
const HEADS: usize = 4;
const LAYERS: usize = 3;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str, default: usize| {
        let at = args.iter().position(|a| a == name);
        at.and_then(|k| args.get(k + 1)?.parse().ok()).unwrap_or(default)
    };
    let dim = option("--dim", 4096);
    // Whole chunks of 1,024, and at least one.
    let tokens = option("--tokens", 30_720).max(1024) / 1024 * 1024;
    println!(
        "h = {HEADS}, l = {LAYERS}, n = {VOCAB}, d = {dim}, {} threads",
        rayon::current_num_threads()
    );
    println!(
        "ratios are to the matrix product 1024 × {dim} × {dim}, measured before and after each model\n"
    );

    let gaussian = measure(CodeKind::Gaussian, Recall::Computed, dim, tokens.min(4096));
    let hadamard = measure(CodeKind::Hadamard, Recall::Computed, dim, tokens);
    compare("computed recall", &gaussian, &hadamard);
    let gaussian = measure(CodeKind::Gaussian, Recall::Stored, dim, 1024);
    let hadamard = measure(CodeKind::Hadamard, Recall::Stored, dim, 1024);
    compare("stored recall", &gaussian, &hadamard);
}

/// Floating-point operations a second of `gemm` on the shape that memorizing uses, the best of three.
fn gemm_rate(dim: usize) -> f64 {
    let rows = 1024;
    let (a, b) = (vec![1.0f32; rows * dim], vec![1.0f32; dim * dim]);
    let mut out = vec![0.0f32; rows * dim];
    let best = (0..3).map(|_| timed(|| product(&mut out, &a, &b, rows, dim))).min().unwrap();
    2.0 * (rows * dim * dim) as f64 / best.as_secs_f64()
}

fn product(out: &mut [f32], a: &[f32], b: &[f32], rows: usize, dim: usize) {
    let threads = gemm_common::Parallelism::Rayon(rayon::current_num_threads());
    let d = dim as isize;
    // SAFETY: `a` and `out` hold rows × dim values and `b` dim × dim, all row-major.
    #[allow(unsafe_code)]
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            dim,
            rows,
            dim,
            out.as_mut_ptr(),
            d,
            1,
            false,
            b.as_ptr(),
            d,
            1,
            a.as_ptr(),
            d,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            threads,
        );
    }
}

struct Measured {
    memorized: f64,
    single: f64,
}

fn measure(codes: CodeKind, recall: Recall, dim: usize, tokens: usize) -> Measured {
    let config = DenseConfig { codes, recall, ..DenseConfig::authors(VOCAB, dim, HEADS, LAYERS) };
    let needed = config.bytes().unwrap() as f64;
    let before_rate = gemm_rate(dim);
    let before = reset_peak();
    let start = Instant::now();
    let mut memo = DenseMemo::new(config).unwrap();
    let created = start.elapsed();
    let mut reader = Stream::new(3, Purpose::Sampling, 0).draws();
    let chunks: Vec<Vec<u32>> = (0..tokens / 1024).map(|_| reader.tokens(1024, VOCAB)).collect();
    let texts: Vec<&[u32]> = chunks.iter().map(Vec::as_slice).collect();
    let warm = reader.tokens(1024, VOCAB);
    memo.memorize(&warm).unwrap();
    let took = timed(|| memo.memorize_all(&texts).unwrap());
    let held = peak() - before;
    let rate = f64::midpoint(before_rate, gemm_rate(dim));
    let memorized = tokens as f64 / took.as_secs_f64();
    let flops = flops_per_token(codes, recall, dim);
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    println!("{codes:?}, {recall:?} recall (created in {:.1} s)", created.as_secs_f64());
    println!("  matrix product{:>10.0} GFLOP/s", rate / 1e9);
    println!("  memorize      {memorized:>10.0} tokens/s");
    if let Some(flops) = flops {
        let share = memorized * flops / rate * 100.0;
        println!(
            "                {:>10.0} GFLOP/s for {:.1} MFLOP a token: {share:.0} % of the matrix product",
            memorized * flops / 1e9,
            flops / 1e6
        );
    }
    println!(
        "  memory        {:>10.0} MiB at most, for {:.0} MiB of codes, projections and memories: {:.2}×",
        mib(held),
        mib(needed),
        held / needed
    );

    let context = &chunks[0][..HEADS.pow(LAYERS as u32)];
    black_box(memo.predict(context).unwrap());
    let queries = 20;
    let took = timed(|| {
        for _ in 0..queries {
            black_box(memo.predict(context).unwrap());
        }
    });
    let single = f64::from(queries) / took.as_secs_f64();
    println!("  one query     {:>10.2} ms", 1e3 / single);
    let contexts: Vec<&[u32]> = (0..256).map(|k| &chunks[k % chunks.len()][..100 + k]).collect();
    let took = timed(|| drop(black_box(memo.predict_all(&contexts).unwrap())));
    report("256 contexts", 256.0 / took.as_secs_f64(), [1, 4, 16], memo.config(), rate);
    let took = timed(|| drop(black_box(memo.predict_along(&chunks[0]).unwrap())));
    report("along a text", 1024.0 / took.as_secs_f64(), [1, 1, 1], memo.config(), rate);
    println!();
    Measured { memorized, single }
}

/// Prints a rate of retrieval and the share of the matrix product that its matrix products reach. `windows` are those
/// encoded for a prediction: of the last layer, the one before it, and the first.
fn report(what: &str, rate: f64, windows: [usize; LAYERS], config: &DenseConfig, product: f64) {
    let square = 2.0 * (config.dim * config.dim) as f64;
    let stored = config.recall == Recall::Stored;
    // Windows below the last layer are read from inner memories, or composed; transforms of Hadamard codes are no products.
    let inner = (windows[1] + windows[2]) as f64;
    let mut flops = square * if stored { 1.0 + inner } else { 1.0 };
    if config.codes == CodeKind::Gaussian {
        let keys = if stored { 1.0 + inner } else { LAYERS as f64 };
        let decoded = 2.0 * (config.vocab * config.dim) as f64;
        let composed = if stored { 0.0 } else { inner * HEADS as f64 };
        // Along a text each row is reduced once, for all windows that it is in.
        let reduced = if windows[2] == 1 { keys / HEADS as f64 } else { keys };
        flops += square * (composed + reduced) + decoded;
    }
    println!(
        "  {what}  {rate:>10.0} predictions/s: {:.0} % of the matrix product for {:.0} MFLOP each",
        rate * flops / product * 100.0,
        flops / 1e6
    );
}

fn compare(what: &str, gaussian: &Measured, hadamard: &Measured) {
    println!(
        "Hadamard against Gaussian, {what}: memorizing {:.1}×, one query {:.1}×\n",
        hadamard.memorized / gaussian.memorized,
        hadamard.single / gaussian.single
    );
}

/// What the algebra needs for a token after the layers' keys are added: W_V in every layer, Prj in the inner ones, one
/// update of the last memory, and one of each inner memory where recall is stored. Only Gaussian codes need them all.
fn flops_per_token(codes: CodeKind, recall: Recall, dim: usize) -> Option<f64> {
    let square = 2.0 * (dim * dim) as f64;
    let inner = (LAYERS - 1) as f64;
    let reductions = square / HEADS as f64 * LAYERS as f64;
    let compositions = square * HEADS as f64 * inner;
    let memories = square * if recall == Recall::Computed { 1.0 } else { 1.0 + inner };
    (codes == CodeKind::Gaussian).then_some(reductions + compositions + memories)
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Bytes of memory that this process holds now, and makes this the peak to measure from (Linux; 0 elsewhere).
fn reset_peak() -> f64 {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    status("VmRSS:")
}

/// The most bytes that this process has held since the last reset.
fn peak() -> f64 {
    status("VmHWM:")
}

fn status(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
