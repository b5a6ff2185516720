//! The stream of words: the same wherever tokens are cut, blind to what careless people leave out, and the same forever.

use memo::words::{MAX_WORDS, WordState, Words};
use proptest::prelude::*;

fn state(text: &str) -> WordState {
    let mut state = WordState::start();
    state.push_bytes(text.as_bytes());
    state
}

fn contexts(text: &str) -> [Option<u64>; MAX_WORDS] {
    state(text).contexts()
}

fn same(left: &str, right: &str) {
    assert_eq!(contexts(left), contexts(right), "{left:?} {right:?}");
    assert!(state(left).context(1).is_some(), "{left:?}");
}

fn differ(left: &str, right: &str) {
    assert_ne!(contexts(left)[0], contexts(right)[0], "{left:?} {right:?}");
}

#[test]
fn case_layout_and_apostrophes_make_no_difference() {
    same("The owl reads", "THE OWL READS");
    same("The owl reads", " the\r\n\t owl\u{a0}\u{2003}reads \n");
    same("I don’t know", "i dont KNOW");
    same("I don't know", "I don’t know");
    same("ΟΔΟΣ", "οδος");
    same("Ünïcode İstanbul", "üNÏCODE i\u{307}stanbul");
    same("co\u{ad}operate\u{200d}", "cooperate");
    same("\u{212a}elvin", "kelvin");
}

#[test]
fn symbols_count_only_after_the_last_word() {
    same("Well, the (old) owl", "well the old owl");
    same("well-known owl", "well known owl");
    differ("owl", "owl.");
    differ("owl.", "owl,");
    differ("owl.", "owl..");
    differ("owl.)", "owl).");
    same("owl…", "owl . . .");
    same("owl --", "owl —");
    same("owl ''", "owl“");
    same("he said: “", "he said : \"");
    same("he said: «", "he said: `");
}

#[test]
fn a_word_counts_as_far_as_it_has_come() {
    differ("the o", "the ow");
    differ("don", "don'");
    same("don'", "don ’");
    differ("don' t", "dont");
    differ("don''t", "dont");
    assert_eq!(contexts("a 'b")[0], contexts("b")[0]);
}

#[test]
fn scripts_without_spaces_have_a_word_for_each_character() {
    for (text, count) in
        [("夜梟", 2), ("ふくろ", 3), ("フクロ", 3), ("ไทย", 3), ("ខ្មែ", 4), ("夜owl梟", 3)]
    {
        let seen = contexts(text).iter().flatten().count();
        assert_eq!(seen, count, "{text}");
    }
    same("夜 梟", "夜梟");
    same("夜、梟", "夜梟");
}

#[test]
fn fewer_words_have_no_context() {
    assert_eq!(contexts(" … “"), [None; MAX_WORDS]);
    let two = contexts("two words.");
    assert_eq!(two.map(|context| context.is_some()), [true, true, false, false]);
    let state = state("one two three four five");
    assert!(state.context(MAX_WORDS).is_some());
    assert_eq!((state.context(0), state.context(MAX_WORDS + 1)), (None, None));
}

#[test]
fn tokens_that_a_vocabulary_lacks_change_nothing() {
    let words = Words::new(["owl", ""]);
    let mut state = WordState::start();
    state.push(&words, 0);
    let before = state.clone();
    for token in [1, 2, u32::MAX] {
        state.push(&words, token);
        assert_eq!(state.contexts(), before.contexts());
    }
}

/// What was memorized is keyed by these numbers: a model could not be read, nor a text forgotten, if they changed.
#[test]
fn contexts_are_the_same_forever() {
    let text = "Don’t call ΜΕ Ishmael — 夜 \u{1F989}!";
    let golden = contexts(text);
    assert_eq!(
        golden,
        [
            14_393_917_609_278_278_746,
            3_381_424_302_062_432_072,
            14_709_459_638_190_432_709,
            15_281_888_605_124_251_598
        ]
        .map(Some)
    );
    let mut invalid = WordState::start();
    invalid.push_bytes(b"caf\xe9 \xf0\x9f");
    assert_eq!(invalid.contexts()[0], Some(1_997_327_455_333_896_416));
}

/// The definition: the words of a text in normal form, and the symbols after the last.
fn naive(text: &str) -> (Vec<String>, String) {
    let chars: Vec<char> = text.chars().collect();
    let letter = |c: char| c.is_alphanumeric() || c == '\u{301}';
    let (mut words, mut symbols) = (Vec::<String>::new(), String::new());
    let mut open = false;
    for (at, &c) in chars.iter().enumerate() {
        let next = chars.get(at + 1).copied().is_some_and(|c| letter(c) && c != '夜');
        if c == '夜' {
            words.push(c.into());
            (symbols, open) = (String::new(), false);
        } else if letter(c) {
            if !open {
                words.push(String::new());
            }
            words.last_mut().unwrap().extend(c.to_lowercase());
            (symbols, open) = (String::new(), true);
        } else if matches!(c, '\'' | '’') && open && next {
            // Left out.
        } else {
            open = false;
            let form = if "'’“\"".contains(c) { '"' } else { c };
            let form = if "-—".contains(c) { '-' } else { form };
            let again = "\"-".contains(form) && symbols.ends_with(form);
            if !form.is_whitespace() && !again {
                symbols.push(form);
            }
        }
    }
    (words, symbols)
}

/// Texts of few characters, so that two of them are often the same.
pub(crate) fn careless() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a", "A", "b", " ", "\n", ",", ".", "'", "’", "“", "-", "—", "夜", "e\u{301}", "É",
    ]);
    prop::collection::vec(part, 0..9).prop_map(|parts| parts.concat())
}

/// Bytes of whole characters, parts of characters and no characters.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => careless().prop_map(String::into_bytes),
        1 => "\\PC{0,4}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..3),
        1 => prop::sample::select("é€😀\u{fe0f}İ…’夜".as_bytes().to_vec()).prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

pub(crate) fn cut_at<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let mut start = 0;
    let mut pieces: Vec<&[u8]> = Vec::new();
    for cut in cuts.into_iter().chain([bytes.len()]) {
        pieces.push(&bytes[start..cut]);
        start = cut;
    }
    pieces
}

proptest! {
    #[test]
    fn contexts_do_not_depend_on_where_tokens_are_cut(
        bytes in any_bytes(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
        from_start in any::<bool>(),
    ) {
        let pieces = cut_at(&bytes, &cuts);
        let words = Words::new(&pieces);
        let first = if from_start { WordState::start() } else { WordState::cut() };
        let (mut by_token, mut by_byte) = (first.clone(), first);
        for (token, piece) in (0..).zip(&pieces) {
            by_token.push(&words, token);
            by_byte.push_bytes(piece);
            prop_assert_eq!(by_token.contexts(), by_byte.contexts());
        }
    }

    #[test]
    fn contexts_are_equal_exactly_if_words_and_symbols_are(left in careless(), right in careless()) {
        for k in 1..=MAX_WORDS {
            let last = |text: &str| {
                let (words, symbols) = naive(text);
                (words.len() >= k).then(|| (words[words.len() - k..].to_vec(), symbols))
            };
            let contexts = (state(&left).context(k), state(&right).context(k));
            prop_assert_eq!(contexts.0.is_some(), last(&left).is_some());
            prop_assert_eq!(contexts.0 == contexts.1, last(&left) == last(&right));
        }
    }

    #[test]
    fn a_cut_state_knows_only_what_the_whole_knows(bytes in any_bytes(), at in any::<usize>()) {
        let at = at % (bytes.len() + 1);
        let (mut whole, mut cut) = (WordState::start(), WordState::cut());
        whole.push_bytes(&bytes[..at]);
        for &byte in &bytes[at..] {
            whole.push_bytes(&[byte]);
            cut.push_bytes(&[byte]);
            for (cut, whole) in cut.contexts().iter().zip(whole.contexts()) {
                prop_assert!(cut.is_none() || *cut == whole);
            }
        }
    }
}
