//! Tokenizer files made from our own data, so that no test needs a download.

use memo_text::Tokenizer;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// A byte as byte-level files spell it.
fn spell(byte: u8) -> char {
    let visible = |b: &u8| matches!(b, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if visible(&byte) {
        return char::from(byte);
    }
    let hidden_before = (0..byte).filter(|b| !visible(b)).count();
    char::from_u32(0x100 + hidden_before as u32).unwrap()
}

fn spelled(bytes: &[u8]) -> String {
    bytes.iter().copied().map(spell).collect()
}

/// The two parts that a token of rank `rank` is joined from, given the tokens of lower rank.
fn halves(token: &[u8], ranks: &HashMap<Vec<u8>, u32>, rank: u32) -> (Vec<u8>, Vec<u8>) {
    let mut parts: Vec<Vec<u8>> = token.iter().map(|&b| vec![b]).collect();
    while parts.len() > 2 {
        let (_, i) = parts
            .windows(2)
            .enumerate()
            .filter_map(|(i, w)| Some((*ranks.get(&w.concat()).filter(|&&r| r < rank)?, i)))
            .min()
            .unwrap();
        let right = parts.remove(i + 1);
        parts[i].extend(right);
    }
    (parts[0].clone(), parts[1].clone())
}

/// GPT-2's vocabulary as a Hugging Face `tokenizer.json`, its merges worked out from the ranks.
pub(crate) fn gpt2_json() -> Value {
    let gpt2 = Tokenizer::gpt2();
    let tokens: Vec<Vec<u8>> =
        (0..gpt2.eos()).map(|id| gpt2.token_bytes(id).unwrap().into_owned()).collect();
    let ranks: HashMap<Vec<u8>, u32> = tokens.iter().cloned().zip(0..).collect();
    let mut vocab: Map<String, Value> =
        tokens.iter().zip(0..).map(|(t, id)| (spelled(t), Value::from(id))).collect();
    vocab.insert("<|endoftext|>".to_owned(), Value::from(gpt2.eos()));
    let merges: Vec<Value> = tokens
        .iter()
        .zip(0..)
        .filter(|(token, _)| token.len() > 1)
        .map(|(token, rank)| {
            let (left, right) = halves(token, &ranks, rank);
            json!([spelled(&left), spelled(&right)])
        })
        .collect();
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [{
            "id": gpt2.eos(), "content": "<|endoftext|>", "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true
        }],
        "normalizer": null,
        "pre_tokenizer": byte_level(),
        "post_processor": byte_level(),
        "decoder": byte_level(),
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "",
            "end_of_word_suffix": "", "fuse_unk": false, "byte_fallback": false,
            "vocab": vocab, "merges": merges
        }
    })
}

fn byte_level() -> Value {
    json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": true })
}
