//! A look at XML besides its parser: so that entities of a hostile file cannot exhaust memory, and half a file is seen to be one.
//!
//! The parser replaces an entity by its text wherever the file names it. Entities made of entities double with each step, and a
//! long one that is named often multiplies the file; both are bounded here.

use super::MAX_BYTES;
use super::error::GraphErrorKind;
use super::read::line_of;

const DECLARATION: &[u8] = b"<!ENTITY";
const BUILT_IN: [&[u8]; 6] = [b"#", b"amp;", b"lt;", b"gt;", b"quot;", b"apos;"];

/// What a file's entities must not exceed, with the line where they do.
pub(super) fn check(bytes: &[u8]) -> Result<(), (u64, GraphErrorKind)> {
    let mut longest = 0;
    let mut last = 0;
    let mut rest = bytes;
    while let Some(at) = rest.windows(DECLARATION.len()).position(|part| part == DECLARATION) {
        rest = &rest[at + DECLARATION.len()..];
        last = bytes.len() - rest.len();
        let value = rest.split(|&byte| byte == b'"').nth(1).unwrap_or_default();
        let mut references = value.split(|&byte| byte == b'&').skip(1);
        if references.any(|name| !BUILT_IN.iter().any(|known| name.starts_with(known))) {
            let what = "entities made of entities";
            return Err((line_of(&bytes[..last]), GraphErrorKind::Entities { what }));
        }
        longest = longest.max(value.len());
    }
    let named = if longest == 0 { 0 } else { bytes.split(|&byte| byte == b'&').count() };
    if named.saturating_mul(longest) > MAX_BYTES {
        let what = "entities that make it much longer than it is";
        return Err((line_of(&bytes[..last]), GraphErrorKind::Entities { what }));
    }
    Ok(())
}

/// Whether a file ends with the end of its first element. The parser takes what is there of a file that was cut off.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let Some(root) = root_of(bytes) else { return true };
    let length = root.iter().take_while(|byte| !b" \t\r\n/>".contains(byte)).count();
    let name = &root[..length];
    let last = root.windows(2).rposition(|part| part == b"</").map(|at| &root[at + 2..]);
    match last.map(|end| end.strip_prefix(name)) {
        Some(Some(end)) => end.trim_ascii_start().starts_with(b">"),
        Some(None) => false,
        None => root.trim_ascii_end().ends_with(b">") && root.windows(2).any(|part| part == b"/>"),
    }
}

/// What follows the `<` of the first element, after declarations and comments.
fn root_of(mut bytes: &[u8]) -> Option<&[u8]> {
    let after = |bytes: &'_ [u8], mark: &[u8]| {
        bytes.windows(mark.len()).position(|part| part == mark).map(|at| at + mark.len())
    };
    loop {
        bytes = &bytes[after(bytes, b"<")?..];
        let skipped = if bytes.starts_with(b"!--") {
            after(bytes, b"-->")?
        } else if bytes.starts_with(b"?") {
            after(bytes, b"?>")?
        } else if bytes.starts_with(b"!") {
            // A document type may have declarations of its own, in brackets.
            let (end, bracket) = (after(bytes, b">")?, after(bytes, b"["));
            if bracket.is_some_and(|bracket| bracket < end) {
                after(bytes, b"]>").or(after(bytes, b"]"))?
            } else {
                end
            }
        } else {
            return Some(bytes);
        };
        bytes = &bytes[skipped..];
    }
}
