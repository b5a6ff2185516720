//! The byte-pair vocabularies that come with the program: `gpt2`, `cl100k` and `o200k`.
//!
//! The vocabularies are those that `tiktoken-rs` embeds, so nothing is fetched and every machine
//! has the same ids. Only the data is taken from there. Cutting ([`super::split`]) and merging
//! ([`super::merge`]) are our own, because a memory is given unknown text, and the
//! usual encoder fails on a megabyte of spaces. The ids are the same; the tests compare them.
//!
//! Ordinary text never gives a special token: the characters `<|endoftext|>` inside a document are
//! encoded like any others, so that no text can pretend that a document ends in its middle.

use super::merge::{Scratch, merge};
use super::split::Splitter;
use super::{Token, TokenizerError};
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use tiktoken_rs::CoreBPE;

/// The name of the end of a document in all three vocabularies.
pub(super) const END_OF_TEXT: &str = "<|endoftext|>";

/// One vocabulary with its way of cutting text.
pub(super) struct Bpe {
    name: &'static str,
    /// Token bytes by id; `None` for special tokens and for ids that were never given out.
    tokens: Vec<Option<Arc<[u8]>>>,
    /// Ids by token bytes. An id is also the token's merge rank.
    ids: FxHashMap<Arc<[u8]>, u32>,
    longest: usize,
    eos: u32,
    splitter: Splitter,
}

impl Bpe {
    pub(super) fn gpt2() -> &'static Self {
        static BPE: LazyLock<Bpe> = LazyLock::new(|| {
            let data = tiktoken_rs::r50k_base().expect("the embedded vocabulary is well formed");
            Bpe::new("gpt2", &data, 50_257, 50_256, Splitter::gpt2())
        });
        &BPE
    }

    pub(super) fn cl100k() -> &'static Self {
        static BPE: LazyLock<Bpe> = LazyLock::new(|| {
            let data = tiktoken_rs::cl100k_base().expect("the embedded vocabulary is well formed");
            Bpe::new("cl100k", &data, 100_277, 100_257, Splitter::cl100k())
        });
        &BPE
    }

    pub(super) fn o200k() -> &'static Self {
        static BPE: LazyLock<Bpe> = LazyLock::new(|| {
            let data = tiktoken_rs::o200k_base().expect("the embedded vocabulary is well formed");
            Bpe::new("o200k", &data, 200_019, 199_999, Splitter::o200k())
        });
        &BPE
    }

    /// Takes the ordinary tokens, which come first, out of `data`; `eos` is the first special one.
    fn new(name: &'static str, data: &CoreBPE, size: u32, eos: u32, splitter: Splitter) -> Self {
        let mut tokens: Vec<Option<Arc<[u8]>>> =
            (0..eos).map(|id| data.decode_bytes(&[id]).ok().map(Arc::from)).collect();
        tokens.resize(size as usize, None);
        let mut ids = FxHashMap::with_capacity_and_hasher(size as usize, FxBuildHasher);
        ids.extend(tokens.iter().zip(0..).filter_map(|(t, id)| Some((t.clone()?, id))));
        let longest = tokens.iter().flatten().map(|t| t.len()).max().unwrap_or(0);
        Self { name, tokens, ids, longest, eos, splitter }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn vocab_size(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn eos(&self) -> u32 {
        self.eos
    }

    pub(super) fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.tokens.get(id as usize)?.as_deref()
    }

    fn id(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest { None } else { self.ids.get(bytes).copied() }
    }

    /// Calls `emit` with the id and the length in bytes of each token of `text`, in order.
    fn each_token(&self, text: &str, mut emit: impl FnMut(u32, usize)) {
        let mut scratch = Scratch::default();
        for piece in self.splitter.pieces(text) {
            let piece = piece.as_bytes();
            if let Some(id) = self.id(piece) {
                emit(id, piece.len());
                continue;
            }
            merge(
                piece,
                &mut scratch,
                |bytes| self.id(bytes),
                // Every single byte is a token, and longer parts were made by finding one.
                |token| emit(self.ids[token], token.len()),
            );
        }
    }

    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        // English takes about four bytes a token.
        let mut ids = Vec::with_capacity(text.len() / 4);
        self.each_token(text, |id, _| ids.push(id));
        ids
    }

    /// The ids of a long text, encoded by all threads. Reports from time to time how many bytes are done, and stops if the
    /// callback says so.
    pub(super) fn encode_long(
        &self,
        text: &str,
        told: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Vec<u32>, TokenizerError> {
        let mut ids = Vec::with_capacity(text.len() / 4);
        let mut done = 0;
        for some in parts(text, PART).chunks(64) {
            let encoded: Vec<Vec<u32>> = some.par_iter().map(|part| self.encode(part)).collect();
            encoded.iter().for_each(|part| ids.extend_from_slice(part));
            done += some.iter().map(|part| part.len()).sum::<usize>();
            if told(done).is_break() {
                return Err(TokenizerError::Stopped);
            }
        }
        Ok(ids)
    }

    pub(super) fn encode_with_offsets(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(text.len() / 4);
        let mut start = 0;
        self.each_token(text, |id, len| {
            tokens.push(Token { id, start, end: start + len });
            start += len;
        });
        tokens
    }
}

/// Bytes of a long text that one thread encodes at a time.
pub(super) const PART: usize = 1 << 18;

/// Cuts a text into parts of at least `size` bytes that have the same tokens alone as together. No vocabulary has a
/// piece that goes on from a letter to a space, so a space between two letters begins a piece whatever is around it.
fn parts(text: &str, size: usize) -> Vec<&str> {
    let bytes = text.as_bytes();
    let between = |at: usize| {
        bytes[at] == b' '
            && bytes[at - 1].is_ascii_alphabetic()
            && bytes[at + 1].is_ascii_alphabetic()
    };
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(cut) =
        (start + size.max(1)..bytes.len().saturating_sub(1)).find(|&at| between(at))
    {
        parts.push(&text[start..cut]);
        start = cut;
    }
    parts.push(&text[start..]);
    parts
}

impl std::fmt::Debug for Bpe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bpe").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs() -> [(&'static Bpe, &'static CoreBPE); 3] {
        [
            (Bpe::gpt2(), tiktoken_rs::r50k_base_singleton()),
            (Bpe::cl100k(), tiktoken_rs::cl100k_base_singleton()),
            (Bpe::o200k(), tiktoken_rs::o200k_base_singleton()),
        ]
    }

    #[test]
    fn every_single_byte_is_a_token() {
        for (bpe, _) in pairs() {
            for byte in 0..=255u8 {
                assert!(bpe.id(&[byte]).is_some(), "{} byte {byte}", bpe.name);
            }
        }
    }

    /// A random mixture of everything that the published encoder treats specially.
    fn tricky() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            4 => prop::sample::select(vec![
                " ", "  ", "\n", "\r\n", "\t", "\u{a0}", "\u{3000}", "\u{85}", "'s", "'LL", "'\u{17f}", "'",
                "/", "!", "...", "<|endoftext|>", "12", "3", "\u{661}", "\u{2167}", "Éa", "ﬁ", "ǅ", "ʰ",
                "漢字", "e\u{301}", "\u{301}", "👩‍👩‍👧", "ÀB", "the", "Hello", "x",
            ]).prop_map(str::to_owned),
            1 => "[a-zA-Z]{1,40}",
            1 => "\\PC{1,8}",
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn same_ids_as_the_published_encoder(text in tricky()) {
            for (bpe, published) in pairs() {
                prop_assert_eq!(bpe.encode(&text), published.encode_ordinary(&text), "{}", bpe.name);
            }
        }

        #[test]
        fn parts_have_the_tokens_of_the_whole(text in tricky(), size in 1usize..20) {
            for (bpe, _) in pairs() {
                let cut: Vec<u32> = parts(&text, size).iter().flat_map(|part| bpe.encode(part)).collect();
                prop_assert_eq!(bpe.encode(&text), cut, "{}", bpe.name);
            }
        }

        #[test]
        fn same_ids_in_long_runs(unit in "[ \\na-zA-Z0-9!é]{1,3}", times in 1usize..2000, tail in "[ x\\n]{0,2}") {
            let text = unit.repeat(times) + &tail;
            for (bpe, published) in pairs() {
                prop_assert_eq!(bpe.encode(&text), published.encode_ordinary(&text), "{}", bpe.name);
            }
        }
    }

    /// The spaces stop a backtracking splitter, the letters take a rescanning merger 10¹⁰ steps.
    #[test]
    fn long_runs_without_a_word_end_are_encoded() {
        for (unit, length) in [(" ", 1 << 20), ("\n \r", 1 << 18), ("a", 1 << 17)] {
            let text = unit.repeat(length / unit.len()) + "x";
            for (bpe, _) in pairs() {
                let tokens = bpe.encode_with_offsets(&text);
                assert_eq!(tokens.last().map(|t| t.end), Some(text.len()));
                let bytes: Vec<u8> =
                    tokens.iter().flat_map(|t| bpe.token_bytes(t.id).unwrap()).copied().collect();
                assert!(bytes == text.as_bytes(), "{} {unit:?}", bpe.name);
            }
        }
    }
}
