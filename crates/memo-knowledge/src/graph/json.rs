//! A look at JSON before it is parsed, so that a hostile file cannot exhaust the stack.
//!
//! The JSON-LD parser follows definitions of a context that refer to each other by recursion, and frees nested values by
//! recursion. Both are bounded here: how deep a file is nested, and how many entries its contexts have.

use super::error::GraphErrorKind;

/// The deepest nesting of objects and lists that is read.
const MAX_DEPTH: usize = 256;
/// The most entries of one context, with those of its nested objects.
const MAX_CONTEXT: usize = 4096;

/// What a file's JSON must not exceed, with the line where it does.
pub(super) fn check(bytes: &[u8]) -> Result<(), (u64, GraphErrorKind)> {
    let (mut line, mut depth) = (1, 0_usize);
    // The depth at which the context in progress began, and its entries so far.
    let mut context: Option<(usize, usize)> = None;
    let mut key_is_context = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\n' => line += 1,
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    let what = "objects and lists within each other";
                    return Err((line, GraphErrorKind::Nesting { what, limit: MAX_DEPTH }));
                }
                if key_is_context && context.is_none() {
                    context = Some((depth, 0));
                }
                key_is_context = false;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                context = context.filter(|&(begin, _)| depth >= begin);
            }
            b'"' => {
                let begin = at;
                while let Some(&byte) = bytes.get(at) {
                    at += 1;
                    match byte {
                        b'"' => break,
                        b'\\' => at += 1,
                        b'\n' => line += 1,
                        _ => {}
                    }
                }
                // A key can also be written with escapes; a string that has some is taken for the key of a context.
                let text = bytes.get(begin..at - 1).unwrap_or_default();
                key_is_context = text == b"@context" || text.contains(&b'\\');
            }
            b':' => {
                if let Some((_, entries)) = &mut context {
                    *entries += 1;
                    if *entries > MAX_CONTEXT {
                        let what = "definitions in a context";
                        return Err((line, GraphErrorKind::Nesting { what, limit: MAX_CONTEXT }));
                    }
                }
            }
            b',' => key_is_context = false,
            _ => {}
        }
    }
    Ok(())
}
