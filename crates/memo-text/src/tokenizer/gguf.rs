//! The tokenizer in a `.gguf`, the file of a neural model: as a `tokenizer.json`, so that a memory can be made with the model's
//! own tokens.
//!
//! Only the head of the file is read, not its weights. Byte pairs over bytes (`gpt2`, which most models of today have) are
//! understood, with the ways of cutting text that are listed here; others are refused by name.

use super::error::TokenizerError;
use super::{MAX_FILE, MAX_VOCABULARY};
use serde_json::{Map, Value, json};
use std::io::Read;

/// The first bytes of such a file.
pub(super) const MAGIC: &[u8] = b"GGUF";

/// What the head says besides the tokenizer is skipped, but not without an end.
const MAX_ENTRIES: u64 = 1 << 16;

/// Kinds of tokens: those that text cannot spell, and those that are added to the vocabulary.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

/// How text is cut by the models of Llama 3.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// How text is cut by the models of Qwen 2.
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The `tokenizer.json` of what such a file says. The magic bytes are read already.
pub(super) fn tokenizer_json(file: impl Read) -> Result<Vec<u8>, TokenizerError> {
    let head = Head::read(file)?;
    let text = |name: &str| head.0.get(name).and_then(Value::as_str).unwrap_or_default();
    let list =
        |name: &str| head.0.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let model = text("tokenizer.ggml.model");
    if model != "gpt2" {
        return Err(bad(format!(
            "its tokenizer is of the kind {model:?}, which is not read from here; {REMEDY}"
        )));
    }
    let (mut vocabulary, mut added) = (Map::new(), Vec::new());
    let kinds = list("tokenizer.ggml.token_type");
    for (id, token) in list("tokenizer.ggml.tokens").iter().enumerate() {
        let token = token.as_str().unwrap_or_default();
        let kind = kinds.get(id).and_then(Value::as_i64).unwrap_or(1);
        if kind == CONTROL || kind == USER_DEFINED {
            added.push(json!({
                "id": id, "content": token, "special": kind == CONTROL,
                "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            }));
        }
        vocabulary.insert(token.to_owned(), id.into());
    }
    let pre = text("tokenizer.ggml.pre");
    let byte_level = |regex: bool| json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex });
    let sequence = |first: Value, regex: bool| json!({ "type": "Sequence", "pretokenizers": [first, byte_level(regex)] });
    let split = |regex: &str| json!({ "type": "Split", "pattern": { "Regex": regex }, "behavior": "Isolated", "invert": false });
    let mut normalizer = Value::Null;
    let cut = match pre {
        "" | "default" | "gpt-2" | "phi-2" => byte_level(true),
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" => {
            sequence(json!({ "type": "Digits", "individual_digits": true }), true)
        }
        "llama-bpe" | "llama3" | "llama-v3" | "falcon3" => sequence(split(LLAMA3), false),
        "qwen2" | "deepseek-r1-qwen" => {
            normalizer = json!({ "type": "NFC" });
            sequence(split(QWEN2), false)
        }
        _ => return Err(bad(format!("how it cuts text, {pre:?}, is not known here; {REMEDY}"))),
    };
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "post_processor": null,
        "added_tokens": added,
        "normalizer": normalizer,
        "pre_tokenizer": cut,
        "decoder": byte_level(true),
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": pre.starts_with("llama") || pre == "falcon3",
            "vocab": vocabulary,
            "merges": list("tokenizer.ggml.merges"),
        },
    });
    Ok(tokenizer.to_string().into_bytes())
}

/// What to do about a tokenizer that cannot be read.
const REMEDY: &str = "give the model's tokenizer.json, which comes with it where it was published";

fn bad(reason: String) -> TokenizerError {
    TokenizerError::Gguf { reason }
}

/// What the head of a file says about the tokenizer.
struct Head(Map<String, Value>);

impl Head {
    fn read(file: impl Read) -> Result<Self, TokenizerError> {
        // Lengths in the file are its own claim: what is read in all is bounded.
        let mut file = Source(file.take(MAX_FILE));
        let version = u32::from_le_bytes(file.bytes()?);
        if !(2..=3).contains(&version) {
            return Err(bad(format!("its format version is {version}; versions 2 and 3 are read")));
        }
        let _tensors = file.long()?;
        let entries = file.long()?;
        if entries > MAX_ENTRIES {
            return Err(bad(format!("it claims {entries} entries")));
        }
        let mut head = Map::new();
        for _ in 0..entries {
            let key = file.string()?;
            let kind = u32::from_le_bytes(file.bytes()?);
            let value = file.value(kind)?;
            if key.starts_with("tokenizer.") {
                head.insert(key, value);
            }
        }
        Ok(Head(head))
    }
}

/// A file that is read value by value.
struct Source<R>(R);

impl<R: Read> Source<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], TokenizerError> {
        let mut bytes = [0; N];
        self.0
            .read_exact(&mut bytes)
            .map_err(|error| bad(format!("it ends too early ({error})")))?;
        Ok(bytes)
    }

    fn long(&mut self) -> Result<u64, TokenizerError> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn string(&mut self) -> Result<String, TokenizerError> {
        let length = self.long()?;
        let mut bytes = Vec::new();
        // Not allocated by what the file claims, but as it is there.
        let read = self.0.by_ref().take(length).read_to_end(&mut bytes);
        if read.map_err(|reason| TokenizerError::Io { reason })? as u64 != length {
            return Err(bad("it ends too early".to_owned()));
        }
        String::from_utf8(bytes).map_err(|_| bad("it has a text that is no UTF-8".to_owned()))
    }

    fn value(&mut self, kind: u32) -> Result<Value, TokenizerError> {
        Ok(match kind {
            0 => self.bytes::<1>()?[0].into(),
            1 => i8::from_le_bytes(self.bytes()?).into(),
            2 => u16::from_le_bytes(self.bytes()?).into(),
            3 => i16::from_le_bytes(self.bytes()?).into(),
            4 => u32::from_le_bytes(self.bytes()?).into(),
            5 => i32::from_le_bytes(self.bytes()?).into(),
            6 => f32::from_le_bytes(self.bytes()?).into(),
            7 => (self.bytes::<1>()?[0] != 0).into(),
            8 => self.string()?.into(),
            9 => {
                let kind = u32::from_le_bytes(self.bytes()?);
                let count = self.long()?;
                if kind == 9 || count > MAX_VOCABULARY as u64 {
                    return Err(bad(format!("it has a list of {count} values of kind {kind}")));
                }
                (0..count).map(|_| self.value(kind)).collect::<Result<Vec<Value>, _>>()?.into()
            }
            10 => self.long()?.into(),
            11 => i64::from_le_bytes(self.bytes()?).into(),
            12 => f64::from_le_bytes(self.bytes()?).into(),
            _ => return Err(bad(format!("it has a value of an unknown kind, {kind}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tokenizer;

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
    }

    fn texts(list: &[&str]) -> Vec<u8> {
        let count = list.len() as u64;
        let head = [&9u32.to_le_bytes()[..], &8u32.to_le_bytes(), &count.to_le_bytes()].concat();
        list.iter().fold(head, |all, each| [all, text(each)].concat())
    }

    /// The head of a file with four letters, one pair of them and an end.
    fn file(model: &str, pre: &str) -> Vec<u8> {
        let named =
            |key: &str, value: &str| [text(key), 8u32.to_le_bytes().to_vec(), text(value)].concat();
        let list = |key: &str, values: &[&str]| [text(key), texts(values)].concat();
        let kinds: Vec<u8> =
            [1, 1, 1, 1, 1, 3i32].iter().flat_map(|kind| kind.to_le_bytes()).collect();
        let kinds = [
            text("tokenizer.ggml.token_type"),
            [9u32, 5].iter().flat_map(|n| n.to_le_bytes()).collect(),
            6u64.to_le_bytes().to_vec(),
            kinds,
        ];
        [
            MAGIC.to_vec(),
            3u32.to_le_bytes().to_vec(),
            0u64.to_le_bytes().to_vec(),
            6u64.to_le_bytes().to_vec(),
            named("general.name", "tiny"),
            named("tokenizer.ggml.model", model),
            named("tokenizer.ggml.pre", pre),
            list("tokenizer.ggml.tokens", &["o", "w", "l", "Ġ", "ow", "<|endoftext|>"]),
            kinds.concat(),
            list("tokenizer.ggml.merges", &["o w"]),
        ]
        .concat()
    }

    #[test]
    fn a_model_file_gives_its_tokenizer() {
        for pre in ["gpt-2", "smollm", "llama-bpe", "qwen2"] {
            let json = tokenizer_json(&file("gpt2", pre)[4..]).unwrap();
            let tokenizer = Tokenizer::from_json(&json).unwrap();
            assert_eq!(tokenizer.encode("owl ow").unwrap(), [4, 2, 3, 4], "{pre}");
            assert_eq!((tokenizer.eos(), tokenizer.vocab_size()), (5, 6));
        }
    }

    /// What cannot be read is refused by name, and a file that ends anywhere is an error.
    #[test]
    fn others_are_refused() {
        let refused = |bytes: &[u8]| tokenizer_json(bytes).unwrap_err().to_string();
        assert!(refused(&file("llama", "gpt-2")[4..]).contains("\"llama\""));
        assert!(refused(&file("gpt2", "tekken")[4..]).contains("\"tekken\""));
        let whole = file("gpt2", "gpt-2");
        for end in 4..whole.len() {
            assert!(tokenizer_json(&whole[4..end]).is_err(), "{end}");
        }
    }
}
