//! Passages that documents share: which live documents would still know some of what is to go.
//!
//! There is no index of the texts, so all of them are read. What is looked for is a handful of passages, mostly, and at
//! nearly every place of a text one bit says that none of them begins there.

use super::Snapshot;
use crate::error::Error;
use crate::record::DocumentRecord;
use memo_text::Encoding;
use std::collections::HashSet;

/// Two documents share a passage if they have this many tokens in a row in common: half a line or so. At least half of them
/// have a letter or a digit: indentation and rules of dashes are no text that could be known.
const PASSAGE: usize = 8;
const PASSAGE_OF_BYTES: usize = 32;

/// Passages of one length to look for.
struct Passages {
    len: usize,
    all: HashSet<Vec<u32>>,
    /// A bit for each hash that one of them has; their number is a power of two.
    hashes: Vec<u64>,
}

impl Passages {
    fn new(len: usize, all: HashSet<Vec<u32>>) -> Self {
        let words = (all.len() / 4).next_power_of_two();
        let mut passages = Passages { len, all, hashes: vec![0; words] };
        for passage in &passages.all {
            let (word, bit) = place(passage, words);
            passages.hashes[word] |= 1 << bit;
        }
        passages
    }

    /// Whether one of them stands in a text.
    fn stand_in(&self, text: &[u32]) -> bool {
        text.windows(self.len).any(|window| {
            let (word, bit) = place(window, self.hashes.len());
            self.hashes[word] >> bit & 1 == 1 && self.all.contains(window)
        })
    }
}

/// The place of a passage's bit: a hash of its two ends and its middle, which is cheap and spreads well enough.
fn place(passage: &[u32], words: usize) -> (usize, u32) {
    let token = |at: usize| u64::from(passage[at]);
    let hash = token(0).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ token(passage.len() / 2).wrapping_mul(0xC2B2_AE3D_27D4_EB4F).rotate_left(21)
        ^ token(passage.len() - 1).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(42);
    let hash = hash.wrapping_mul(0xA24B_AED4_963E_E407) >> 32;
    (hash as usize >> 6 & (words - 1), hash as u32 & 63)
}

impl Snapshot {
    /// Live documents that have a passage in common with versions that are to go.
    pub(crate) fn sharing(
        &self,
        going: &[(DocumentRecord, Vec<u32>)],
    ) -> Result<Vec<String>, Error> {
        let bytes = self.tokenizer.encoding() == Encoding::Raw;
        let len = if bytes { PASSAGE_OF_BYTES } else { PASSAGE };
        let ledger = self.ledger("documents")?;
        // Bytes above 127 are parts of letters, as far as one byte tells.
        let says = |id: u32| {
            self.tokenizer.token_bytes(id).is_some_and(|bytes| {
                bytes.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
            })
        };
        let mut passages: HashSet<Vec<u32>> = HashSet::new();
        for (document, versions) in going {
            for version in document.versions.iter().filter(|v| versions.contains(&v.number)) {
                // What is damaged shares nothing that could be known.
                let Some(content) = ledger.sound_content(document, version)? else { continue };
                for part in &content.parts {
                    let words: Vec<bool> = part.iter().map(|&id| says(id)).collect();
                    let windows = part.windows(len).zip(words.windows(len));
                    passages.extend(
                        windows
                            .filter(|(_, words)| {
                                2 * words.iter().filter(|&&says| says).count() >= len
                            })
                            .map(|(window, _)| window.to_vec()),
                    );
                }
            }
        }
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        let passages = Passages::new(len, passages);
        let goes: HashSet<u64> = going.iter().map(|(document, _)| document.number).collect();
        let mut shared = Vec::new();
        for other in ledger.documents()? {
            let Some(version) = other.live().filter(|_| !goes.contains(&other.number)) else {
                continue;
            };
            let Some(content) = ledger.sound_content(&other, version)? else { continue };
            if content.parts.iter().any(|part| passages.stand_in(part)) {
                shared.push(other.id);
            }
        }
        Ok(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the bits leave out must be nothing.
    #[test]
    fn a_passage_is_found_wherever_it_stands() {
        let text: Vec<u32> = (0..5_000u32).map(|i| i.wrapping_mul(i) % 50_257).collect();
        for number in [1, 3, 4, 100, 2_000] {
            let all: HashSet<Vec<u32>> =
                text.windows(8).step_by(2).take(number).map(<[u32]>::to_vec).collect();
            let passages = Passages::new(8, all.clone());
            for at in 0..text.len() - 8 {
                let window = &text[at..at + 8];
                assert_eq!(passages.stand_in(window), all.contains(window), "{number} at {at}");
            }
            assert!(passages.stand_in(&text) && !passages.stand_in(&text[..7]));
            assert!(
                !passages.stand_in(&text.iter().map(|token| token + 60_000).collect::<Vec<_>>())
            );
        }
    }
}
