//! Tokenizer files of every family, and files that would harm a memory.

use crate::common;
use memo_text::{StreamDecoder, Tokenizer, TokenizerError};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

static GPT2: LazyLock<Tokenizer> = LazyLock::new(|| load(&common::gpt2_json()));

fn load(file: &Value) -> Tokenizer {
    Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
}

fn file(model: &Value, added: &[(&str, u32, bool)], pre: &Value, decoder: &Value) -> Value {
    let added: Vec<Value> = added
        .iter()
        .map(|(content, id, special)| {
            json!({
                "id": id, "content": content, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": special
            })
        })
        .collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
        "normalizer": null, "pre_tokenizer": pre, "post_processor": null, "decoder": decoder,
        "model": model
    })
}

fn word_level(eos: &str) -> Value {
    let model = json!({
        "type": "WordLevel", "unk_token": "[UNK]",
        "vocab": { "[UNK]": 0, "owl": 1, "night": 2, eos: 3 }
    });
    file(&model, &[], &json!({ "type": "WhitespaceSplit" }), &Value::Null)
}

fn sentence_piece() -> Value {
    let pieces =
        [("<unk>", 0.0), ("</s>", 0.0), ("▁", -3.0), ("▁the", -2.0), ("▁owl", -2.5), ("s", -4.0)];
    let mut vocab: Vec<Value> = pieces.iter().map(|p| json!([p.0, p.1])).collect();
    vocab.extend((0..=255u8).map(|b| json!([format!("<0x{b:02X}>"), -10.0])));
    let model = json!({ "type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": vocab });
    let space = json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true });
    let decoder = json!({ "type": "Sequence", "decoders": [
        { "type": "ByteFallback" }, { "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true }
    ]});
    file(&model, &[("</s>", 1, true)], &space, &decoder)
}

#[test]
fn a_gpt2_file_gives_the_built_in_ids() {
    let text = "The owl's 12 notes:\n\n  <|endoftext|>   naïve 漢字 😀!\t \n";
    assert_eq!(GPT2.encode(text).unwrap(), Tokenizer::gpt2().encode(text).unwrap());
    assert_eq!((GPT2.vocab_size(), GPT2.eos()), (50_257, 50_256));
    assert_eq!((GPT2.name(), GPT2.eos_text()), ("huggingface", "<|endoftext|>"));
    for id in 0..50_257 {
        assert_eq!(GPT2.token_bytes(id), Tokenizer::gpt2().token_bytes(id), "{id}");
    }
}

#[test]
fn a_file_is_kept_as_it_was_read() {
    let kept = GPT2.to_json().unwrap().unwrap();
    let again = Tokenizer::from_json(kept.as_bytes()).unwrap();
    assert_eq!(again.to_json().unwrap().unwrap(), kept);
    assert_eq!(again.encode("night owl").unwrap(), GPT2.encode("night owl").unwrap());
}

#[test]
fn nothing_is_cut_off_padded_or_left_to_chance() {
    let mut file = common::gpt2_json();
    file["truncation"] = json!({
        "direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0
    });
    file["padding"] = json!({
        "strategy": { "Fixed": 64 }, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "!"
    });
    file["model"]["dropout"] = json!(0.5);
    file["post_processor"] = json!({
        "type": "TemplateProcessing",
        "single": [
            { "Sequence": { "id": "A", "type_id": 0 } },
            { "SpecialToken": { "id": "<|endoftext|>", "type_id": 0 } }
        ],
        "pair": [],
        "special_tokens": { "<|endoftext|>": {
            "id": "<|endoftext|>", "ids": [50256], "tokens": ["<|endoftext|>"]
        } }
    });
    let tokenizer = load(&file);
    let text = "unforgettable nightingales remembering everything";
    let plain = Tokenizer::gpt2().encode(text).unwrap();
    for _ in 0..5 {
        assert_eq!(tokenizer.encode(text).unwrap(), plain);
    }
}

#[test]
fn an_end_that_text_can_spell_is_replaced_by_one_past_the_vocabulary() {
    // A word of the model's own vocabulary; an added token that is not special; a piece.
    let mut not_special = common::gpt2_json();
    not_special["added_tokens"][0]["special"] = json!(false);
    for (file, name, size) in [
        (word_level("</s>"), "</s>", 4),
        (word_level("<|endoftext|>"), "<|endoftext|>", 4),
        (not_special, "<|endoftext|>", 50_257),
        (sentence_piece(), "</s>", 262),
    ] {
        let tokenizer = load(&file);
        assert_eq!((tokenizer.eos(), tokenizer.vocab_size()), (size, size as usize + 1), "{name}");
        let ids = tokenizer.encode(&format!("owl {name} night")).unwrap();
        assert!(!ids.contains(&tokenizer.eos()), "{name}");
    }
}

#[test]
fn a_file_without_an_end_gets_one() {
    let tokenizer = load(&word_level("other"));
    assert_eq!((tokenizer.eos(), tokenizer.vocab_size()), (4, 5));
    assert_eq!(tokenizer.decode_lossy(&[1, 4, 2]), "owl night");
}

#[test]
fn pieces_of_sentences_decode_with_their_spaces_and_bytes() {
    let tokenizer = load(&sentence_piece());
    let text = "the owls the é";
    let ids = tokenizer.encode(text).unwrap();
    assert_eq!(tokenizer.decode_lossy(&ids), text);
    let owl = tokenizer.encode("owl").unwrap()[0];
    assert_eq!(tokenizer.token_bytes(owl).unwrap().as_ref(), b" owl");

    let mut stream = StreamDecoder::new(&tokenizer);
    let mut streamed: String = ids.iter().map(|&id| stream.push(id)).collect();
    streamed += &stream.finish();
    assert_eq!(streamed, text);
    let after = StreamDecoder::after(&tokenizer, &ids).push(owl);
    assert_eq!(after, " owl");

    let pieces: Vec<_> = tokenizer.pieces().collect();
    let whole: Vec<u8> = ids.iter().flat_map(|&id| pieces[id as usize].to_vec()).collect();
    assert_eq!(String::from_utf8_lossy(&whole), format!(" {text}"));
}

#[test]
fn a_long_stream_stays_whole() {
    let tokenizer = load(&sentence_piece());
    let text = "the owls é the owl ".repeat(40) + "the";
    let ids = tokenizer.encode(&text).unwrap();
    let mut stream = StreamDecoder::new(&tokenizer);
    let streamed: String = ids.iter().map(|&id| stream.push(id)).collect();
    assert_eq!(streamed, text);
}

#[test]
fn bad_files_are_refused_by_what_is_wrong() {
    let refuse = |file: Value| Tokenizer::from_json(file.to_string().as_bytes()).unwrap_err();
    let mut huge = word_level("</s>");
    huge["model"]["vocab"]["far"] = json!(u32::MAX);
    assert!(matches!(refuse(huge), TokenizerError::TooManyTokens { .. }));
    let mut empty = word_level("</s>");
    empty["model"]["vocab"] = json!({});
    assert!(matches!(refuse(empty), TokenizerError::HuggingFace { .. }));
    let mut merges = common::gpt2_json();
    merges["model"]["merges"] = json!([["no", "such"]]);
    assert!(matches!(refuse(merges), TokenizerError::HuggingFace { .. }));
    assert!(matches!(refuse(json!({})), TokenizerError::HuggingFace { .. }));
    assert!(matches!(refuse(json!([1, 2])), TokenizerError::HuggingFace { .. }));
}

#[test]
fn a_file_that_contradicts_itself_is_an_error_when_it_shows() {
    let mut reading = common::gpt2_json();
    reading["model"]["continuing_subword_prefix"] = json!("longer than the tokens");
    let error = Tokenizer::from_json(reading.to_string().as_bytes()).unwrap_err();
    assert!(matches!(error, TokenizerError::HuggingFace { .. }), "{error}");

    let mut encoding = word_level("other");
    encoding["pre_tokenizer"] = json!({ "type": "FixedLength", "length": 0 });
    let error = load(&encoding).encode("owl").unwrap_err();
    assert!(matches!(error, TokenizerError::Encode { .. }), "{error}");

    let mut decoding = word_level("other");
    decoding["decoder"] = json!({ "type": "Strip", "content": " ", "start": 0, "stop": 9 });
    let tokenizer = load(&decoding);
    assert_eq!(tokenizer.decode_lossy(&tokenizer.encode("owl").unwrap()), "owl");
}

proptest! {
    #[test]
    fn byte_level_files_are_exact(text in any::<String>()) {
        let ids = GPT2.encode(&text).unwrap();
        prop_assert_eq!(&ids, &Tokenizer::gpt2().encode(&text).unwrap());
        prop_assert_eq!(GPT2.decode(&ids), text.as_bytes());
        for token in GPT2.encode_with_offsets(&text).unwrap() {
            prop_assert!(token.start <= token.end && token.end <= text.len());
        }
        let mut stream = StreamDecoder::new(&GPT2);
        let mut streamed: String = ids.iter().map(|&id| stream.push(id)).collect();
        streamed += &stream.finish();
        prop_assert_eq!(streamed, text);
    }
}
