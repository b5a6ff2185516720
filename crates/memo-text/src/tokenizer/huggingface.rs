//! Any Hugging Face `tokenizer.json`.
//!
//! Such a file describes a whole pipeline (normalizer, cutting, model, decoder), so what comes back
//! after encoding and decoding depends on the file: byte-level files without a normalizer are
//! exact, a BERT file lowercases. Four things in these files would harm a memory, and are taken out
//! when one is read:
//!
//! - *truncation* and *padding*, which would drop or invent tokens;
//! - *dropout*, which encodes the same text differently each time, so that it could not be
//!   forgotten;
//! - *special tokens in text*: `</s>` written in a document is text. Files differ in how they could
//!   let it through (an added token that is not marked special, a piece of the model itself), so
//!   whether the end token can be forged is tried out, and if so, an id past the vocabulary is the
//!   end instead. Should a text still get through, encoding it is an error.
//!
//! The library that runs these files trusts them: random changes to good files made it panic while
//! reading, encoding or decoding. Files come from strangers, so panics are caught here and become errors.
//!
//! It is also far slower than the tokenizers that come with the program, and needs about 120 bytes
//! of memory for each byte of one document. Give it documents, not a whole corpus as one text.

use super::error::TokenizerError;
use super::{MAX_VOCABULARY, Token};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokenizers::decoders::DecoderWrapper;
use tokenizers::models::ModelWrapper;

/// Names of end tokens in such files, the most specific first.
const END_NAMES: [&str; 5] = ["</s>", "<|endoftext|>", "<eos>", "<|end_of_text|>", "[SEP]"];
/// The name of the end where a file has no end token that is safe from forgery.
const APPENDED_END: &str = "<eos>";
/// The reason in the error about a file that made the library panic.
const CONTRADICTION: &str = "the parts of its file contradict each other";

/// A tokenizer read from a file, made safe as described above.
pub(super) struct HuggingFace {
    inner: tokenizers::Tokenizer,
    vocab_size: usize,
    eos: u32,
    eos_text: String,
    /// The file spells bytes as characters, as GPT-2 does; then tokens decode to exact bytes.
    byte_level: bool,
    /// The file has tokens `<0x00>` to `<0xFF>` that are decoded as bytes.
    byte_fallback: bool,
}

impl HuggingFace {
    pub(super) fn from_json(json: &[u8]) -> Result<Self, TokenizerError> {
        guard(|| Self::read(json)).unwrap_or_else(|| {
            Err(TokenizerError::HuggingFace { reason: CONTRADICTION.to_owned() })
        })
    }

    fn read(json: &[u8]) -> Result<Self, TokenizerError> {
        let bad = |reason: String| TokenizerError::HuggingFace { reason };
        let mut inner = tokenizers::Tokenizer::from_bytes(json).map_err(|e| bad(e.to_string()))?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|e| bad(e.to_string()))?;
        inner.set_encode_special_tokens(true);
        if let ModelWrapper::BPE(bpe) = inner.get_model()
            && bpe.dropout.is_some()
        {
            let mut bpe = bpe.clone();
            bpe.dropout = None;
            inner.with_model(bpe);
        }

        // Ids may have gaps, so the largest one counts, not their number.
        let largest = inner.get_vocab(true).into_values().max();
        let size = largest.map_or(0, |id| u64::from(id) + 1);
        if size == 0 {
            return Err(bad("its vocabulary is empty".to_owned()));
        }
        // One more may be needed for the end.
        if size >= MAX_VOCABULARY as u64 {
            return Err(TokenizerError::TooManyTokens { size });
        }

        let byte_level = is_byte_level(inner.get_decoder());
        let byte_fallback = is_byte_fallback(inner.get_decoder());
        let mut this = Self {
            inner,
            vocab_size: size as usize,
            eos: 0,
            eos_text: APPENDED_END.to_owned(),
            byte_level,
            byte_fallback,
        };
        let end = END_NAMES
            .iter()
            .filter_map(|&name| Some((name, this.inner.token_to_id(name)?)))
            .find(|&(name, id)| !this.forges(name, id));
        if let Some((name, id)) = end {
            this.eos = id;
            name.clone_into(&mut this.eos_text);
        } else {
            this.eos = size as u32;
            this.vocab_size += 1;
        }
        Ok(this)
    }

    /// Whether text that spells the token `name` is encoded as it.
    fn forges(&self, name: &str, id: u32) -> bool {
        let probes = [
            name.to_owned(),
            format!("a {name} b"),
            format!("a{name}b"),
            format!("\n{name}{name}"),
        ];
        probes.iter().any(|text| match self.inner.encode_fast(text.as_str(), false) {
            Ok(encoding) => encoding.get_ids().contains(&id),
            // If it cannot be tried, it is not trusted.
            Err(_) => true,
        })
    }

    pub(super) fn to_json(&self) -> Result<String, TokenizerError> {
        self.inner
            .to_string(false)
            .map_err(|e| TokenizerError::HuggingFace { reason: e.to_string() })
    }

    pub(super) fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    pub(super) fn eos(&self) -> u32 {
        self.eos
    }

    pub(super) fn eos_text(&self) -> &str {
        &self.eos_text
    }

    pub(super) fn is_byte_level(&self) -> bool {
        self.byte_level
    }

    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        let encoding = run(|| self.inner.encode_fast(text, false))?;
        let ids = encoding.get_ids();
        if ids.contains(&self.eos) {
            // This is rare, so the text is encoded again to find the place.
            return self
                .encode_with_offsets(text)
                .map(|tokens| tokens.iter().map(|t| t.id).collect());
        }
        Ok(ids.to_vec())
    }

    pub(super) fn encode_with_offsets(&self, text: &str) -> Result<Vec<Token>, TokenizerError> {
        let encoding = run(|| self.inner.encode(text, false))?;
        let places = encoding.get_ids().iter().zip(encoding.get_offsets());
        places
            .map(|(&id, &(start, end))| {
                if id == self.eos {
                    return Err(TokenizerError::ForgedEnd { offset: start });
                }
                Ok(Token { id, start, end })
            })
            .collect()
    }

    /// The text of `ids` by the file's own decoder; the end of a document is no text.
    pub(super) fn decode(&self, ids: &[u32]) -> Vec<u8> {
        if self.byte_level {
            return ids.iter().filter_map(|&id| self.token_bytes(id)).flatten().collect();
        }
        self.decode_string(ids).into_bytes()
    }

    /// The same as a string. Where the file's decoder fails, the tokens as the file spells them.
    pub(super) fn decode_string(&self, ids: &[u32]) -> String {
        let text: Vec<u32> = ids.iter().copied().filter(|&id| id != self.eos).collect();
        run(|| self.inner.decode(&text, false))
            .unwrap_or_else(|_| text.iter().filter_map(|&id| self.inner.id_to_token(id)).collect())
    }

    /// The bytes of one token as they would stand in the middle of a text.
    pub(super) fn token_bytes(&self, id: u32) -> Option<Vec<u8>> {
        if id == self.eos {
            return Some(Vec::new());
        }
        let token = self.inner.id_to_token(id)?;
        if self.byte_level {
            let bytes: Option<Vec<u8>> = token.chars().map(byte_of).collect();
            return Some(bytes.unwrap_or_else(|| token.into_bytes()));
        }
        if self.byte_fallback
            && let Some(byte) = fallback_byte(&token)
        {
            return Some(vec![byte]);
        }
        // A decoder may treat the first token of a text differently (most drop its space), so
        // what the second of two adds is what the token says.
        let once = self.decode_string(&[id]);
        let twice = self.decode_string(&[id, id]);
        let added = twice.strip_prefix(&once).unwrap_or(&once);
        Some(added.as_bytes().to_vec())
    }
}

/// The result, or `None` if `run` panics.
fn guard<T>(run: impl FnOnce() -> T) -> Option<T> {
    // What the panic leaves behind is a cache at most: a tokenizer is only read after it is made.
    catch_unwind(AssertUnwindSafe(run)).ok()
}

fn run<T>(run: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, TokenizerError> {
    let reason = match guard(run) {
        Some(Ok(result)) => return Ok(result),
        Some(Err(error)) => error.to_string(),
        None => CONTRADICTION.to_owned(),
    };
    Err(TokenizerError::Encode { reason })
}

fn is_byte_level(decoder: Option<&DecoderWrapper>) -> bool {
    match decoder {
        Some(DecoderWrapper::ByteLevel(_)) => true,
        Some(DecoderWrapper::Sequence(sequence)) => {
            matches!(sequence.get_decoders(), [DecoderWrapper::ByteLevel(_)])
        }
        _ => false,
    }
}

fn is_byte_fallback(decoder: Option<&DecoderWrapper>) -> bool {
    match decoder {
        Some(DecoderWrapper::ByteFallback(_)) => true,
        Some(DecoderWrapper::Sequence(sequence)) => {
            sequence.get_decoders().iter().any(|decoder| is_byte_fallback(Some(decoder)))
        }
        _ => false,
    }
}

/// The byte that a token of the form `<0xC3>` stands for.
fn fallback_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// The byte that a character of a byte-level token stands for: visible Latin-1 characters are their
/// own code, and the 68 others are counted off from U+0100, in order.
fn byte_of(c: char) -> Option<u8> {
    let visible = |b: u8| matches!(b, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    match u32::from(c) {
        code @ 0..=0xff => Some(code as u8).filter(|&b| visible(b)),
        code => (0..=255u8).filter(|&b| !visible(b)).nth(code as usize - 0x100),
    }
}

impl std::fmt::Debug for HuggingFace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HuggingFace")
            .field("vocab_size", &self.vocab_size)
            .field("eos", &self.eos)
            .finish_non_exhaustive()
    }
}
