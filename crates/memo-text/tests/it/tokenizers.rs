//! What every tokenizer promises, whichever it is.

use memo_text::{StreamDecoder, Tokenizer, TokenizerError, TokenizerSpec};
use proptest::prelude::*;
use std::borrow::Cow;
use std::sync::LazyLock;

fn byte_level() -> [Tokenizer; 4] {
    [Tokenizer::gpt2(), Tokenizer::cl100k(), Tokenizer::o200k(), Tokenizer::bytes()]
}

/// The pieces of each tokenizer's vocabulary.
static PIECES: LazyLock<Vec<(Tokenizer, Vec<Vec<u8>>)>> = LazyLock::new(|| {
    let pieces = |tokenizer: &Tokenizer| tokenizer.pieces().map(Cow::into_owned).collect();
    byte_level().into_iter().map(|tokenizer| (tokenizer.clone(), pieces(&tokenizer))).collect()
});

fn streamed(tokenizer: &Tokenizer, ids: &[u32]) -> String {
    let mut stream = StreamDecoder::new(tokenizer);
    let mut text: String = ids.iter().map(|&id| stream.push(id)).collect();
    text += &stream.finish();
    text
}

#[test]
fn published_ids() {
    assert_eq!(Tokenizer::gpt2().encode("hello world").unwrap(), [31373, 995]);
    assert_eq!(Tokenizer::cl100k().encode("hello world").unwrap(), [15339, 1917]);
    assert_eq!(Tokenizer::o200k().encode("hello world").unwrap(), [24912, 2375]);
    let sizes: Vec<_> = byte_level().iter().map(|t| (t.vocab_size(), t.eos())).collect();
    assert_eq!(sizes, [(50_257, 50_256), (100_277, 100_257), (200_019, 199_999), (257, 256)]);
}

#[test]
fn text_cannot_end_a_document() {
    let text = "one<|endoftext|>two <|endofprompt|> <eos> </s>";
    let words = Tokenizer::words([text]).unwrap();
    for tokenizer in byte_level().iter().chain([&words]) {
        let ids = tokenizer.encode(text).unwrap();
        assert!(!ids.contains(&tokenizer.eos()), "{}", tokenizer.name());
        assert_eq!(tokenizer.decode_lossy(&ids), text);
        let named = tokenizer.encode(tokenizer.eos_text()).unwrap();
        assert!(!named.contains(&tokenizer.eos()), "{}", tokenizer.name());
    }
}

#[test]
fn the_end_and_foreign_ids_are_no_text() {
    let words = Tokenizer::words(["owl night"]).unwrap();
    for tokenizer in byte_level().iter().chain([&words]) {
        let mut ids = tokenizer.encode("owl").unwrap();
        ids.extend([tokenizer.eos(), tokenizer.vocab_size() as u32, u32::MAX]);
        assert_eq!(tokenizer.decode(&ids), b"owl");
        assert_eq!(streamed(tokenizer, &ids), "owl");
        assert_eq!(tokenizer.token_bytes(tokenizer.eos()).unwrap().as_ref(), b"");
        assert_eq!(tokenizer.token_bytes(u32::MAX), None);
    }
    let [owl, night] = words.encode("owl night").unwrap()[..] else { panic!() };
    assert_eq!(words.decode(&[owl, u32::MAX, night]), b"owl night");
    assert_eq!(words.decode(&[owl, words.eos(), night]), b"owlnight");
}

#[test]
fn names_are_parsed_back() {
    for name in ["gpt2", "cl100k", "o200k", "bytes"] {
        let spec: TokenizerSpec = name.parse().unwrap();
        assert_eq!(Tokenizer::from_spec(&spec).unwrap().name(), name);
        assert_eq!(spec.to_string(), name);
    }
    assert_eq!(TokenizerSpec::default().to_string(), "gpt2");
    let error = "GPT-2".parse::<TokenizerSpec>().unwrap_err().to_string();
    assert!(error.contains("\"GPT-2\"") && error.contains("cl100k"), "{error}");
    let error = Tokenizer::from_spec(&TokenizerSpec::Words).unwrap_err();
    assert!(matches!(error, TokenizerError::WordsNeedText));
}

#[test]
fn a_words_vocabulary_is_kept_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let words = Tokenizer::words(["the owl\nthe \"night\" é"]).unwrap();
    std::fs::write(&path, words.to_json().unwrap().unwrap()).unwrap();
    let spec: TokenizerSpec = path.to_str().unwrap().parse().unwrap();
    let again = Tokenizer::from_spec(&spec).unwrap();
    assert_eq!(again.name(), "words");
    let text = "é night\n\"night\" owl the owl";
    assert_eq!(again.encode(text).unwrap(), words.encode(text).unwrap());

    std::fs::write(&path, "{\"format\":\"memo-words\"}").unwrap();
    let error = Tokenizer::from_spec(&spec).unwrap_err().to_string();
    assert!(error.contains("tokenizer.json") && error.contains("version"), "{error}");
    std::fs::remove_file(&path).unwrap();
    let error = Tokenizer::from_spec(&spec).unwrap_err().to_string();
    assert!(error.contains("tokenizer.json"), "{error}");
}

#[test]
fn threads_share_a_tokenizer_and_agree() {
    let tokenizer = Tokenizer::gpt2();
    let text = "The owl reads at night, 1234 times.\n".repeat(200);
    let alone = tokenizer.encode(&text).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| tokenizer.encode(&text))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), alone);
        }
    });
}

#[test]
fn who_watches_may_stop_it() {
    let mut seen = Vec::new();
    let told = &mut |done| {
        seen.push(done);
        std::ops::ControlFlow::Break(())
    };
    let stopped = Tokenizer::gpt2().encode_bytes_watched(b"reads at night", told);
    assert!(matches!(stopped, Err(TokenizerError::Stopped)));
    assert_eq!(seen, [14]);
}

#[test]
fn only_bytes_takes_what_is_not_text() {
    let data = [b'a', 0xff, 0x00];
    assert_eq!(Tokenizer::bytes().encode_bytes(&data).unwrap(), [97, 255, 0]);
    let error = Tokenizer::gpt2().encode_bytes(&data).unwrap_err();
    assert!(matches!(error, TokenizerError::NotUtf8 { offset: 1 }));
}

proptest! {
    #[test]
    fn any_text_comes_back(text in any::<String>()) {
        for tokenizer in byte_level() {
            let ids = tokenizer.encode(&text).unwrap();
            prop_assert_eq!(tokenizer.decode(&ids), text.as_bytes());
            prop_assert!(ids.iter().all(|&id| (id as usize) < tokenizer.vocab_size()));
        }
    }

    #[test]
    fn any_bytes_come_back(data in prop::collection::vec(any::<u8>(), 0..100)) {
        let ids = Tokenizer::bytes().encode_bytes(&data).unwrap();
        prop_assert_eq!(Tokenizer::bytes().decode(&ids), data);
    }

    #[test]
    fn places_touch_and_hold_the_tokens_bytes(text in any::<String>()) {
        for tokenizer in byte_level() {
            let tokens = tokenizer.encode_with_offsets(&text).unwrap();
            let ids: Vec<u32> = tokens.iter().map(|t| t.id).collect();
            prop_assert_eq!(&ids, &tokenizer.encode(&text).unwrap());
            let mut end = 0;
            for token in tokens {
                prop_assert_eq!(token.start, end);
                end = token.end;
                let bytes = tokenizer.token_bytes(token.id).unwrap();
                prop_assert_eq!(bytes.as_ref(), &text.as_bytes()[token.start..end]);
            }
            prop_assert_eq!(end, text.len());
        }
    }

    /// Ids in any order: characters in pieces, half characters, spaces that depend on neighbours.
    #[test]
    fn a_stream_is_the_whole(ids in prop::collection::vec(0u32..60_000, 0..30)) {
        let words = Tokenizer::words(["a b\nc <unk>"]).unwrap();
        for tokenizer in byte_level().iter().chain([&words]) {
            let n = tokenizer.vocab_size() as u32 + 2;
            let ids: Vec<u32> = ids.iter().map(|id| id % n).collect();
            prop_assert_eq!(streamed(tokenizer, &ids), tokenizer.decode_lossy(&ids));
        }
    }

    #[test]
    fn a_stream_goes_on_after_a_prompt(ids in prop::collection::vec(0u32..8, 0..20), cut in 0usize..20) {
        let words = Tokenizer::words(["a b\nc <unk>"]).unwrap();
        let (prompt, rest) = ids.split_at(cut.min(ids.len()));
        let mut stream = StreamDecoder::after(&words, prompt);
        let text: String = rest.iter().map(|&id| stream.push(id)).collect();
        prop_assert_eq!(words.decode_lossy(prompt) + &text, words.decode_lossy(&ids));
    }

    #[test]
    fn words_in_plain_form_come_back(
        lines in prop::collection::vec(prop::collection::vec("[a-zé<>]{1,4}", 0..5), 0..5),
    ) {
        let text = lines.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join("\n");
        let tokenizer = Tokenizer::words([&text]).unwrap();
        let tokens = tokenizer.encode_with_offsets(&text).unwrap();
        let ids: Vec<u32> = tokens.iter().map(|t| t.id).collect();
        prop_assert_eq!(tokenizer.decode_lossy(&ids), &text[..]);
        for token in tokens {
            let bytes = tokenizer.token_bytes(token.id).unwrap();
            prop_assert_eq!(bytes.as_ref(), &text.as_bytes()[token.start..token.end]);
        }
    }

    /// A stream of words is made of pieces: what they lost would be lost to it.
    #[test]
    fn pieces_one_after_the_other_are_the_text(text in any::<String>()) {
        for (tokenizer, pieces) in &*PIECES {
            prop_assert_eq!(pieces.len(), tokenizer.vocab_size());
            prop_assert!(pieces[tokenizer.eos() as usize].is_empty());
            let ids = tokenizer.encode(&text).unwrap();
            let whole: Vec<u8> = ids.iter().flat_map(|&id| pieces[id as usize].clone()).collect();
            prop_assert_eq!(whole, text.as_bytes());
        }
    }

    #[test]
    fn untidy_words_become_tidy_once(text in "[ab \\t\\r\\n\u{a0}]{0,30}") {
        let tokenizer = Tokenizer::words([&text]).unwrap();
        let ids = tokenizer.encode(&text).unwrap();
        let tidy = tokenizer.decode_lossy(&ids);
        prop_assert_eq!(tokenizer.encode(&tidy).unwrap(), ids);
    }

    #[test]
    fn hostile_json_is_an_error_not_a_panic(json in ".{0,60}", cut in 0usize..80) {
        prop_assert!(Tokenizer::from_json(json.as_bytes()).is_err());
        let good = Tokenizer::words(["some words"]).unwrap().to_json().unwrap().unwrap();
        let cut = good.get(..cut.min(good.len() - 1)).unwrap();
        prop_assert!(Tokenizer::from_json(cut.as_bytes()).is_err());
    }
}
