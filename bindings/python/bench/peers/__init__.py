"""MeMo beside its peers, on the same texts and machine: `cargo xtask peers` runs it, docs/benchmarks.md is its page."""
