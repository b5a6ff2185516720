//! The paper's section 3.2, transcribed: f64, loops, no batching, no tricks. What the engine is measured against.

use memo::dense::{Composer, Composition, DenseConfig, DenseMemo, Distiller, Edges, Stride};
use std::collections::HashMap;

type Vector = Vec<f64>;
type Matrix = Vec<Vector>;

/// Tokens before the text.
type Window = Vec<Option<u32>>;

pub(crate) struct Paper {
    config: DenseConfig,
    e: Matrix,
    /// W_V of each layer, d/h × d.
    wv: Vec<Matrix>,
    /// Prj of each inner layer: h·d × d for `Jlt`.
    prj: Vec<Matrix>,
    /// For `Bind`, each inner layer's signed permutations, one per head.
    tables: Vec<Vec<Vec<u32>>>,
    inner: Vec<Matrix>,
    last: Matrix,
    counts: Vec<HashMap<Window, i64>>,
    /// The smallest distance to a half of any number that the distiller rounded: below float noise the engine may
    /// rightly round the other way.
    pub(crate) margin: f64,
}

fn zeros(rows: usize, cols: usize) -> Matrix {
    vec![vec![0.0; cols]; rows]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// vᵀ·M.
fn row_times(v: &[f64], m: &Matrix) -> Vector {
    let mut out = vec![0.0; m.first().map_or(0, Vec::len)];
    for (x, row) in v.iter().zip(m) {
        for (o, y) in out.iter_mut().zip(row) {
            *o += x * y;
        }
    }
    out
}

fn add_outer(m: &mut Matrix, key: &[f64], value: &[f64], weight: f64) {
    for (row, k) in m.iter_mut().zip(key) {
        for (cell, v) in row.iter_mut().zip(value) {
            *cell += weight * k * v;
        }
    }
}

fn widen(values: &[f32]) -> Vector {
    values.iter().map(|v| f64::from(*v)).collect()
}

impl Paper {
    /// Takes the random matrices from a model, and nothing else.
    pub(crate) fn new(memo: &DenseMemo) -> Self {
        let config = memo.config().clone();
        let (n, d, h, l) = (config.vocab, config.dim, config.heads, config.layers);
        let basis = |k: usize| {
            let mut x = vec![0.0f32; d];
            x[k] = 1.0;
            x
        };
        let wv = (1..=l)
            .map(|i| {
                let columns: Vec<Vector> =
                    (0..d).map(|k| widen(&memo.reduction(i).unwrap().apply(&basis(k)))).collect();
                (0..d / h).map(|r| (0..d).map(|k| columns[k][r]).collect()).collect()
            })
            .collect();
        let (mut prj, mut tables) = (Vec::new(), Vec::new());
        for i in 1..l {
            match memo.composer(i).unwrap() {
                Composer::Gaussian(t) => {
                    let rows = t.matrix().chunks_exact(h * d).map(widen).collect::<Vec<_>>();
                    prj.push((0..h * d).map(|r| (0..d).map(|k| rows[k][r]).collect()).collect());
                }
                Composer::Fast(signs) => {
                    let mut matrix = zeros(h * d, d);
                    let size = 1.0 / ((h * d) as f64).sqrt();
                    for (r, row) in matrix.iter_mut().enumerate() {
                        for (k, value) in row.iter_mut().enumerate() {
                            let odd = ((r % d) & k).count_ones() % 2 == 1;
                            *value =
                                f64::from(signs[r / d][r % d]) * if odd { -size } else { size };
                        }
                    }
                    prj.push(matrix);
                }
                Composer::Bind(t) => tables.push(t.clone()),
                Composer::Product(_) => {}
            }
        }
        Paper {
            e: (0..n as u32).map(|t| widen(&memo.codes().code(t))).collect(),
            wv,
            prj,
            tables,
            inner: vec![zeros(d, d); l - 1],
            last: zeros(d, d),
            counts: vec![HashMap::new(); l - 1],
            margin: f64::INFINITY,
            config,
        }
    }

    /// Sequences are codes of blocks; one that is `None` everywhere is zero.
    fn code(&self, layer: usize, block: &[Option<u32>]) -> Vector {
        if layer == 1 {
            return block[0].map_or(vec![0.0; self.config.dim], |t| self.e[t as usize].clone());
        }
        let parts: Vec<Vector> =
            self.blocks(block).iter().map(|b| self.code(layer - 1, b)).collect();
        self.compose(layer - 1, &parts)
    }

    /// The h blocks of a window.
    fn blocks<'a>(&self, window: &'a [Option<u32>]) -> Vec<&'a [Option<u32>]> {
        window.chunks(window.len() / self.config.heads).collect()
    }

    /// Flat_h(X)·Prj for one window, the product of signs, or that of codes at length 1.
    fn compose(&self, layer: usize, parts: &[Vector]) -> Vector {
        let d = self.config.dim;
        match self.config.composition {
            Composition::Jlt => row_times(&parts.concat(), &self.prj[layer - 1]),
            Composition::Bind => (0..d)
                .map(|k| {
                    let factor = |(part, table): (&Vector, &Vec<u32>)| {
                        let entry = table[k];
                        let value = part[(entry & !(1 << 31)) as usize];
                        let sign = if value == 0.0 { 0.0 } else { value.signum() };
                        if entry >> 31 == 1 { -sign } else { sign }
                    };
                    parts.iter().zip(&self.tables[layer - 1]).map(factor).product::<f64>()
                        / (d as f64).sqrt()
                })
                .collect(),
            Composition::Product => {
                let product: Vector =
                    (0..d).map(|k| parts.iter().map(|part| part[k]).product()).collect();
                let length = dot(&product, &product).sqrt();
                product.iter().map(|x| if length == 0.0 { 0.0 } else { x / length }).collect()
            }
        }
    }

    /// I: the reduced parts side by side.
    fn key(&self, layer: usize, parts: &[Vector]) -> Vector {
        parts
            .iter()
            .flat_map(|x| self.wv[layer - 1].iter().map(|row| dot(row, x)).collect::<Vec<_>>())
            .collect()
    }

    /// The window of layer i that ends at token p, if it is stored.
    fn window(&self, text: &[u32], layer: usize, p: usize) -> Option<Window> {
        let span = self.config.heads.pow(layer as u32);
        if self.config.edges == Edges::Inside && p + 1 < span {
            return None;
        }
        if self.config.stride == Stride::Block && !(p + 1).is_multiple_of(span) {
            return None;
        }
        Some((0..span).map(|k| (p + 1 + k).checked_sub(span).map(|q| text[q])).collect())
    }

    fn rounded(&mut self, x: f64) -> f64 {
        self.margin = self.margin.min((x - x.floor() - 0.5).abs());
        x.round()
    }

    pub(crate) fn memorize(&mut self, text: &[u32]) {
        self.write(text, 1.0, false);
    }

    pub(crate) fn forget(&mut self, text: &[u32]) {
        self.write(text, -1.0, false);
    }

    pub(crate) fn forget_completely(&mut self, text: &[u32]) {
        self.write(text, -1.0, true);
    }

    fn write(&mut self, text: &[u32], weight: f64, completely: bool) {
        for start in (0..text.len()).step_by(self.config.update_rows) {
            let end = text.len().min(start + self.config.update_rows);
            for layer in 1..=self.config.layers {
                let windows: Vec<(usize, Window)> =
                    (start..end).filter_map(|p| Some((p, self.window(text, layer, p)?))).collect();
                let parts: Vec<Vec<Vector>> = windows
                    .iter()
                    .map(|(_, w)| self.blocks(w).iter().map(|b| self.code(layer, b)).collect())
                    .collect();
                let keys: Vec<Vector> = parts.iter().map(|p| self.key(layer, p)).collect();
                for ((p, _), key) in windows.iter().zip(&keys) {
                    if let Some(next) = text.get(p + 1) {
                        let value = self.e[*next as usize].clone();
                        add_outer(&mut self.last, key, &value, weight);
                    }
                }
                let inner = layer < self.config.layers && self.config.recall.alpha() > 0.0;
                if inner && (weight > 0.0 || completely) {
                    let codes: Vec<Vector> =
                        parts.iter().map(|parts| self.compose(layer, parts)).collect();
                    let phi = self.phi(layer, &windows, &keys, &codes, weight);
                    for ((key, code), phi) in keys.iter().zip(&codes).zip(phi) {
                        add_outer(&mut self.inner[layer - 1], key, code, phi);
                    }
                }
            }
        }
    }

    fn phi(
        &mut self,
        layer: usize,
        windows: &[(usize, Window)],
        keys: &[Vector],
        codes: &[Vector],
        weight: f64,
    ) -> Vec<f64> {
        match self.config.distiller {
            Distiller::Off => vec![weight; keys.len()],
            Distiller::Exact => windows
                .iter()
                .map(|(_, window)| {
                    let count = self.counts[layer - 1].entry(window.clone()).or_insert(0);
                    let before = *count;
                    *count += weight as i64;
                    f64::from(u8::from(before == 0 || *count == 0)) * weight
                })
                .collect(),
            Distiller::Memory | Distiller::Unclamped => {
                let mut sum = vec![0.0; self.config.dim];
                for code in codes {
                    sum.iter_mut().zip(code).for_each(|(s, c)| *s += c);
                }
                (0..keys.len())
                    .map(|r| {
                        let read = dot(&row_times(&keys[r], &self.inner[layer - 1]), &sum);
                        let already = self.rounded(read);
                        let frequency = self.rounded(dot(&codes[r], &sum));
                        if self.config.distiller == Distiller::Memory {
                            (1.0 - already).clamp(0.0, 1.0) / frequency.max(1.0)
                        } else if frequency == 0.0 {
                            0.0
                        } else {
                            (1.0 - already) / frequency
                        }
                    })
                    .collect()
            }
        }
    }

    /// MM_r on the last hˡ tokens, then E·O.
    pub(crate) fn weights(&self, context: &[u32]) -> Vector {
        let (h, l, d) = (self.config.heads, self.config.layers, self.config.dim);
        let span = h.pow(l as u32);
        let window: Window =
            (0..span).map(|k| (context.len() + k).checked_sub(span).map(|q| context[q])).collect();
        let alpha = f64::from(self.config.recall.alpha());
        let mut recalled: Vec<Vector> = window.iter().map(|t| self.code(1, &[*t])).collect();
        let mut output = vec![0.0; d];
        for layer in 1..=l {
            let keys: Vec<Vector> =
                recalled.chunks(h).map(|parts| self.key(layer, parts)).collect();
            let read = row_times(keys.last().unwrap(), &self.last);
            output.iter_mut().zip(read).for_each(|(o, r)| *o += r);
            if layer == l {
                break;
            }
            let tokens = h.pow(layer as u32);
            recalled = keys
                .iter()
                .zip(window.chunks(tokens))
                .map(|(key, block)| {
                    let stored = row_times(key, &self.inner[layer - 1]);
                    let computed = self.code(layer + 1, block);
                    stored
                        .iter()
                        .zip(computed)
                        .map(|(s, c)| if alpha == 0.0 { c } else { alpha * s + (1.0 - alpha) * c })
                        .collect()
                })
                .collect();
        }
        self.e.iter().map(|code| dot(code, &output)).collect()
    }
}
