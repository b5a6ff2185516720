//! A tokenizer's name, as users write it and models keep it.

use super::TokenizerError;
use crate::corpus::Encoding;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Which tokenizer: one that comes with the program, or a file.
///
/// It is written and parsed as users write it:
///
/// ```
/// use memo_text::TokenizerSpec;
///
/// let spec: TokenizerSpec = "cl100k".parse()?;
/// assert_eq!(spec, TokenizerSpec::Cl100k);
/// assert_eq!(spec.to_string(), "cl100k");
/// assert_eq!("my/tokenizer.json".parse::<TokenizerSpec>()?.to_string(), "my/tokenizer.json");
/// assert!("gpt5".parse::<TokenizerSpec>().is_err());
/// # Ok::<(), memo_text::TokenizerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TokenizerSpec {
    /// GPT-2's byte pairs, 50,257 ids.
    #[default]
    Gpt2,
    /// GPT-4's byte pairs, 100,277 ids.
    Cl100k,
    /// GPT-4o's byte pairs, 200,019 ids.
    O200k,
    /// The 256 byte values: any data at all.
    Bytes,
    /// Words between white space, from a vocabulary fixed once.
    Words,
    /// A file: a Hugging Face `tokenizer.json`, a `words` vocabulary, or the `.gguf` of a model, whose tokenizer is taken.
    File(PathBuf),
}

impl TokenizerSpec {
    /// How the bytes of a file must be read for the tokenizer, also before there is one: `words` is made of what was read.
    pub fn encoding(&self) -> Encoding {
        match self {
            Self::Bytes => Encoding::Raw,
            Self::Gpt2 | Self::Cl100k | Self::O200k | Self::Words | Self::File(_) => Encoding::Utf8,
        }
    }
}

impl FromStr for TokenizerSpec {
    type Err = TokenizerError;

    fn from_str(name: &str) -> Result<Self, TokenizerError> {
        Ok(match name {
            "gpt2" => Self::Gpt2,
            "cl100k" => Self::Cl100k,
            "o200k" => Self::O200k,
            "bytes" => Self::Bytes,
            "words" => Self::Words,
            path if [".json", ".gguf"]
                .iter()
                .any(|end| path.to_ascii_lowercase().ends_with(end)) =>
            {
                Self::File(path.into())
            }
            _ => return Err(TokenizerError::UnknownName { name: name.to_owned() }),
        })
    }
}

impl fmt::Display for TokenizerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpt2 => f.write_str("gpt2"),
            Self::Cl100k => f.write_str("cl100k"),
            Self::O200k => f.write_str("o200k"),
            Self::Bytes => f.write_str("bytes"),
            Self::Words => f.write_str("words"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}
