//! How full the matrices of slots are: as many rows and cells as different contexts occurred.

use crate::sparse_common::{Contexts, empty, text};
use memo::sparse::{Context, TableKind};
use std::collections::HashSet;

#[test]
fn rows_and_cells_are_those_of_the_text() {
    let mut memory = empty(300, Contexts::Words);
    let known = text(3_000, 300, 8);
    memory.memorize(&known).unwrap();
    // A document is seen from its boundary on, and its end is a token.
    let (boundary, end) = (1_000, 299);
    let symbols: Vec<u32> =
        [boundary].into_iter().chain(known.iter().copied()).chain([end]).collect();
    let fill = memory.fill().unwrap();
    assert_eq!(fill.len(), memory.settings().slots());
    let mut shorter = 0;
    for slot in &fill {
        let Context::Tokens(len) = slot.context else { continue };
        let len = len as usize;
        let (mut contexts, mut cells) = (HashSet::new(), HashSet::new());
        // Only the first context that is longer than the text before a position sees the boundary.
        for next in 1 + std::mem::replace(&mut shorter, len)..symbols.len() {
            let context = &symbols[next.saturating_sub(len)..next];
            contexts.insert(context);
            cells.insert((context, symbols[next]));
        }
        let used = slot.used.unwrap();
        assert_eq!(used.cells, cells.len() as u64, "{len}");
        let rows = if slot.table == TableKind::Events { cells.len() } else { contexts.len() };
        assert_eq!(used.rows, rows as u64, "{len}");
        let expected = if len == 1 { 0.0 } else { rows as f64 / 2f64.powi(34) };
        assert!((slot.false_match - expected).abs() < 1e-15, "{len}: {}", slot.false_match);
    }
    let cells: u64 = fill.iter().map(|slot| slot.used.unwrap().cells).sum();
    assert_eq!(cells, memory.cells());
    memory.forget(&known).unwrap();
    assert!(memory.fill().unwrap().iter().all(|slot| slot.used.unwrap().cells == 0));
}
