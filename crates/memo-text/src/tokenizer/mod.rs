//! Text to token ids and back.
//!
//! All tokenizers are one type, [`Tokenizer`], because a model has exactly one and its users need only a few
//! operations. Common properties:
//!
//! - ids are fixed when the tokenizer is made and never depend on what is memorized;
//! - [`vocab_size`](Tokenizer::vocab_size) is above every id, the end of a document included;
//! - the end of a document, [`eos`](Tokenizer::eos), is never the encoding of any text.

mod bpe;
mod error;
mod gguf;
mod huggingface;
mod merge;
mod spec;
mod split;
mod stream;
mod words;

pub use error::TokenizerError;
pub use spec::TokenizerSpec;
pub use stream::StreamDecoder;

use crate::corpus::Encoding;
use bpe::Bpe;
use huggingface::HuggingFace;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;
use words::Words;

/// The most ids that a vocabulary may have. Real ones have a few hundred thousand; a file that
/// claims billions would make every table of a model that long.
pub const MAX_VOCABULARY: usize = 1 << 24;

/// The largest tokenizer file that is read.
const MAX_FILE: u64 = 1 << 29;

/// The end of a document for `bytes`: one past the byte values.
const BYTES_EOS: u32 = 256;

/// Every byte value at its own index, so that a byte's token can be lent like any other.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = i as u8;
        i += 1;
    }
    bytes
};

/// A token and the bytes of the text that it stands for: `text[start..end]`.
///
/// A token may start or end in the middle of a character, so cut bytes and not `str`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    /// The token's id.
    pub id: u32,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// A tokenizer. Cloning one is cheap: copies share the vocabulary.
///
/// ```
/// use memo_text::Tokenizer;
///
/// let tokenizer = Tokenizer::gpt2();
/// let ids = tokenizer.encode("The owl reads at night.")?;
/// assert_eq!(tokenizer.decode_lossy(&ids), "The owl reads at night.");
/// assert_eq!((tokenizer.vocab_size(), tokenizer.eos()), (50_257, 50_256));
///
/// // Text cannot end a document.
/// assert!(!tokenizer.encode("<|endoftext|>")?.contains(&tokenizer.eos()));
/// # Ok::<(), memo_text::TokenizerError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tokenizer {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Bpe(&'static Bpe),
    Bytes,
    Words(Arc<Words>),
    HuggingFace(Arc<HuggingFace>),
}

impl Tokenizer {
    /// GPT-2's byte pairs: 50,257 ids, exact for any text.
    pub fn gpt2() -> Self {
        Self { kind: Kind::Bpe(Bpe::gpt2()) }
    }

    /// GPT-4's byte pairs: 100,277 ids, exact for any text.
    pub fn cl100k() -> Self {
        Self { kind: Kind::Bpe(Bpe::cl100k()) }
    }

    /// GPT-4o's byte pairs: 200,019 ids, exact for any text.
    pub fn o200k() -> Self {
        Self { kind: Kind::Bpe(Bpe::o200k()) }
    }

    /// One token a byte: 257 ids, exact for any bytes at all.
    pub fn bytes() -> Self {
        Self { kind: Kind::Bytes }
    }

    /// One token a word, from the words of `texts`; ids follow first appearance.
    ///
    /// A line feed is a token. Other white space only separates words and is decoded as one space;
    /// a word that `texts` do not contain is encoded as an id of its own, which no word has, and
    /// decoded as U+FFFD.
    ///
    /// ```
    /// use memo_text::Tokenizer;
    ///
    /// let tokenizer = Tokenizer::words(["the owl reads\nthe <unk> sleeps\n"])?;
    /// let ids = tokenizer.encode("the <unk>   owl\n")?;
    /// assert_eq!(tokenizer.decode_lossy(&ids), "the <unk> owl\n");
    /// let ids = tokenizer.encode("the cat reads")?;
    /// assert_eq!(tokenizer.decode_lossy(&ids), "the \u{fffd} reads");
    /// # Ok::<(), memo_text::TokenizerError>(())
    /// ```
    pub fn words<S: AsRef<str>>(
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Self, TokenizerError> {
        Ok(Self { kind: Kind::Words(Arc::new(Words::from_texts(texts)?)) })
    }

    /// The tokenizer that `spec` names. `words` needs a text and is made by [`Tokenizer::words`]
    /// or from its file.
    pub fn from_spec(spec: &TokenizerSpec) -> Result<Self, TokenizerError> {
        Ok(match spec {
            TokenizerSpec::Gpt2 => Self::gpt2(),
            TokenizerSpec::Cl100k => Self::cl100k(),
            TokenizerSpec::O200k => Self::o200k(),
            TokenizerSpec::Bytes => Self::bytes(),
            TokenizerSpec::Words => return Err(TokenizerError::WordsNeedText),
            TokenizerSpec::File(path) => Self::from_file(path).map_err(|reason| {
                TokenizerError::File { path: path.clone(), reason: Box::new(reason) }
            })?,
        })
    }

    /// The tokenizer that `spec` names; `words` takes its vocabulary from `texts`.
    pub fn for_texts<S: AsRef<str>>(
        spec: &TokenizerSpec,
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Self, TokenizerError> {
        match spec {
            TokenizerSpec::Words => Self::words(texts),
            spec => Self::from_spec(spec),
        }
    }

    fn from_file(path: &Path) -> Result<Self, TokenizerError> {
        let io = |reason| TokenizerError::Io { reason };
        let mut json = Vec::new();
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        if file.fill_buf().map_err(io)?.starts_with(gguf::MAGIC) {
            file.consume(gguf::MAGIC.len());
            return Self::from_json(&gguf::tokenizer_json(file)?);
        }
        file.take(MAX_FILE + 1).read_to_end(&mut json).map_err(io)?;
        if json.len() as u64 > MAX_FILE {
            return Err(TokenizerError::FileTooLarge { max: MAX_FILE });
        }
        Self::from_json(&json)
    }

    /// Reads what [`to_json`](Self::to_json) wrote, or any Hugging Face `tokenizer.json`.
    pub fn from_json(json: &[u8]) -> Result<Self, TokenizerError> {
        let kind = if claims_words(json) {
            Kind::Words(Arc::new(Words::from_json(json)?))
        } else {
            Kind::HuggingFace(Arc::new(HuggingFace::from_json(json)?))
        };
        Ok(Self { kind })
    }

    /// The file, as JSON, that a model must keep to load this tokenizer again. `None` for those
    /// that come with the program, where [`name`](Self::name) is enough.
    pub fn to_json(&self) -> Result<Option<String>, TokenizerError> {
        match &self.kind {
            Kind::Bpe(_) | Kind::Bytes => Ok(None),
            Kind::Words(words) => words
                .to_json()
                .map(Some)
                .map_err(|e| TokenizerError::NotAWordsFile { reason: e.to_string() }),
            Kind::HuggingFace(file) => file.to_json().map(Some),
        }
    }

    /// `gpt2`, `cl100k`, `o200k`, `bytes`, `words`, or `huggingface` for a `tokenizer.json`. The
    /// first four parse as a [`TokenizerSpec`] that gives this tokenizer again; the others come
    /// back from what [`to_json`](Self::to_json) gives.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            Kind::Bpe(bpe) => bpe.name(),
            Kind::Bytes => "bytes",
            Kind::Words(_) => "words",
            Kind::HuggingFace(_) => "huggingface",
        }
    }

    /// How the bytes of a file must be read to be encoded: as they are for `bytes`, as UTF-8 for all others.
    pub fn encoding(&self) -> Encoding {
        match self.kind {
            Kind::Bytes => Encoding::Raw,
            Kind::Bpe(_) | Kind::Words(_) | Kind::HuggingFace(_) => Encoding::Utf8,
        }
    }

    /// One more than the largest id, the end of a document included.
    pub fn vocab_size(&self) -> usize {
        match &self.kind {
            Kind::Bpe(bpe) => bpe.vocab_size(),
            Kind::Bytes => BYTES_EOS as usize + 1,
            Kind::Words(words) => words.vocab_size(),
            Kind::HuggingFace(file) => file.vocab_size(),
        }
    }

    /// The id that ends a document.
    pub fn eos(&self) -> u32 {
        match &self.kind {
            Kind::Bpe(bpe) => bpe.eos(),
            Kind::Bytes => BYTES_EOS,
            Kind::Words(_) => Words::eos(),
            Kind::HuggingFace(file) => file.eos(),
        }
    }

    /// The id that stands for every word outside the vocabulary, if the tokenizer has a vocabulary of
    /// words; the others can write anything.
    pub fn unknown(&self) -> Option<u32> {
        matches!(self.kind, Kind::Words(_)).then_some(words::UNKNOWN)
    }

    /// Whether tokens are parts of words, so that the last tokens of a text may change when it is continued.
    pub fn is_subword(&self) -> bool {
        matches!(self.kind, Kind::Bpe(_) | Kind::HuggingFace(_))
    }

    /// The name of the end of a document, for people and clients.
    /// Encoding this text does *not* give [`eos`](Self::eos).
    pub fn eos_text(&self) -> &str {
        match &self.kind {
            Kind::Bpe(_) => bpe::END_OF_TEXT,
            Kind::Bytes | Kind::Words(_) => words::EOS_TEXT,
            Kind::HuggingFace(file) => file.eos_text(),
        }
    }

    /// The ids of a text; a long one is encoded by all threads. Only Hugging Face tokenizers can fail.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        match &self.kind {
            Kind::Bpe(bpe) if text.len() > 2 * bpe::PART => {
                bpe.encode_long(text, &mut |_| ControlFlow::Continue(()))
            }
            Kind::Bpe(bpe) => Ok(bpe.encode(text)),
            Kind::Bytes => Ok(text.bytes().map(u32::from).collect()),
            Kind::Words(words) => {
                Ok(words.encode_with_offsets(text).into_iter().map(|t| t.id).collect())
            }
            Kind::HuggingFace(file) => file.encode(text),
        }
    }

    /// The ids of some bytes: any for `bytes`, UTF-8 for all others.
    pub fn encode_bytes(&self, bytes: &[u8]) -> Result<Vec<u32>, TokenizerError> {
        self.encode_bytes_watched(bytes, &mut |_| ControlFlow::Continue(()))
    }

    /// Like [`encode_bytes`](Self::encode_bytes). Reports from time to time how many bytes are done, if that takes long, and stops
    /// if the callback says so.
    pub fn encode_bytes_watched(
        &self,
        bytes: &[u8],
        told: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Vec<u32>, TokenizerError> {
        if let Kind::Bytes = self.kind {
            return Ok(bytes.iter().copied().map(u32::from).collect());
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|e| TokenizerError::NotUtf8 { offset: e.valid_up_to() })?;
        match &self.kind {
            Kind::Bpe(bpe) => bpe.encode_long(text, told),
            _ => self.encode(text),
        }
    }

    /// The tokens of a text with their places in it.
    ///
    /// The places of `gpt2`, `cl100k`, `o200k` and `bytes` touch and cover the text; those of
    /// `words` leave out white space. Those of a Hugging Face file are as the file has them: tokens
    /// that share a character each claim all of it, and spaces may be left out.
    ///
    /// ```
    /// use memo_text::Tokenizer;
    ///
    /// let text = "reads at night";
    /// let last = *Tokenizer::gpt2().encode_with_offsets(text)?.last().unwrap();
    /// assert_eq!(&text.as_bytes()[last.start..last.end], b" night");
    /// # Ok::<(), memo_text::TokenizerError>(())
    /// ```
    pub fn encode_with_offsets(&self, text: &str) -> Result<Vec<Token>, TokenizerError> {
        match &self.kind {
            Kind::Bpe(bpe) => Ok(bpe.encode_with_offsets(text)),
            Kind::Bytes => Ok(text
                .bytes()
                .enumerate()
                .map(|(start, byte)| Token { id: u32::from(byte), start, end: start + 1 })
                .collect()),
            Kind::Words(words) => Ok(words.encode_with_offsets(text)),
            Kind::HuggingFace(file) => file.encode_with_offsets(text),
        }
    }

    /// The bytes that `ids` stand for. The end of a document, and ids that this tokenizer never
    /// gives, stand for none.
    pub fn decode(&self, ids: &[u32]) -> Vec<u8> {
        match &self.kind {
            Kind::HuggingFace(file) => file.decode(ids),
            Kind::Words(_) => {
                let mut stream = StreamDecoder::new(self);
                ids.iter().map(|&id| stream.push(id)).collect::<String>().into_bytes()
            }
            Kind::Bpe(_) | Kind::Bytes => {
                let mut bytes = Vec::with_capacity(ids.len() * 4);
                for token in ids.iter().filter_map(|&id| self.token_bytes(id)) {
                    bytes.extend_from_slice(&token);
                }
                bytes
            }
        }
    }

    /// The text that `ids` stand for, with U+FFFD for what is not UTF-8 (half a character, say).
    pub fn decode_lossy(&self, ids: &[u32]) -> String {
        match String::from_utf8(self.decode(ids)) {
            Ok(text) => text,
            Err(bad) => String::from_utf8_lossy(bad.as_bytes()).into_owned(),
        }
    }

    /// The bytes of one token as they stand in the middle of a text: none for the end of a
    /// document, `None` for an id that this tokenizer never gives. A word of `words` comes without
    /// the space before it.
    pub fn token_bytes(&self, id: u32) -> Option<Cow<'_, [u8]>> {
        if id == self.eos() {
            return Some(Cow::Borrowed(&[]));
        }
        match &self.kind {
            Kind::Bpe(bpe) => bpe.token_bytes(id).map(Cow::Borrowed),
            Kind::Bytes => BYTES.get(id as usize).map(|byte| Cow::Borrowed(from_ref(byte))),
            Kind::Words(words) => words.text(id).map(|word| Cow::Borrowed(word.as_bytes())),
            Kind::HuggingFace(file) => file.token_bytes(id).map(Cow::Owned),
        }
    }

    /// The bytes of every token, in the order of ids, such that those of a text's tokens one after the other are the text as it is
    /// decoded. Words of `words` have the space before them, which decoding leaves out where a line begins. The end of a document,
    /// and ids that this tokenizer never gives, have none.
    ///
    /// ```
    /// use memo_text::Tokenizer;
    ///
    /// let tokenizer = Tokenizer::words(["one two"])?;
    /// let pieces: Vec<_> = tokenizer.pieces().collect();
    /// let two = tokenizer.encode("two")?[0];
    /// assert_eq!(&*pieces[two as usize], b" two");
    /// # Ok::<(), memo_text::TokenizerError>(())
    /// ```
    pub fn pieces(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        (0..self.vocab_size() as u32).map(|id| match &self.kind {
            Kind::Words(words) if Words::is_word(id) => {
                let word = words.text(id).unwrap_or_default();
                Cow::Owned([b" ", word.as_bytes()].concat())
            }
            _ => self.token_bytes(id).unwrap_or_default(),
        })
    }
}

/// Whether this JSON declares itself a `words` vocabulary. JSON that does not parse is left to the
/// reader of the other format, which reports the error.
fn claims_words(json: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        format: Option<String>,
    }
    serde_json::from_slice::<Head>(json)
        .is_ok_and(|head| head.format.as_deref() == Some(words::FORMAT))
}
