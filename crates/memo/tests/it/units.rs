//! The units of text: the same along tokens and in whole texts, in normal form, and the same forever.

use crate::words::{any_bytes, careless, cut_at};
use memo::words::{MAX_UNITS, UnitState, Words, each_unit, normal_form, unit_hash};
use proptest::prelude::*;

fn hashes(text: &[u8]) -> Vec<u64> {
    let mut hashes = Vec::new();
    each_unit(text, |hash, _| hashes.push(hash));
    hashes
}

fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    each_unit(text.as_bytes(), |_, place| pieces.push(&text[place]));
    pieces
}

/// The last units of a state, newest first.
fn last(state: &UnitState) -> Vec<u64> {
    (0..MAX_UNITS).map_while(|before| state.unit(before)).collect()
}

/// A text without the bytes of a character that it does not complete.
fn whole_characters(text: &[u8]) -> &[u8] {
    let incomplete = |at: &usize| {
        std::str::from_utf8(&text[*at..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    let end = (text.len().saturating_sub(3)..text.len()).find(incomplete);
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn words_and_runs_of_symbols_are_units() {
    assert_eq!(
        pieces("He said, \"No!\" @-@ twice."),
        ["He", "said", ",", "\"", "No", "!\"", "@-@", "twice", "."]
    );
    assert_eq!(
        pieces("don’t dogs' 'tis o''clock"),
        ["don’t", "dogs", "'", "'", "tis", "o", "''", "clock"]
    );
    assert_eq!(pieces("a)( b) ("), ["a", ")(", "b", ")", "("]);
    assert_eq!(pieces("夜a梟、x'夜"), ["夜", "a", "梟", "、", "x", "'", "夜"]);
    assert_eq!(pieces("co\u{ad}op \u{ad}"), ["co\u{ad}op"]);
    assert!(pieces(" \n\t").is_empty());
}

#[test]
fn units_are_displayed_in_normal_form() {
    for (text, form) in [
        ("DON’T", "dont"),
        ("–—-", "-"),
        ("“‘", "\""),
        ("…", "..."),
        ("İx", "i\u{307}x"),
        ("'", "\""),
        ("Owls can't read; dogs' eyes", "owls cant read ; dogs \" eyes"),
        ("", ""),
    ] {
        assert_eq!(normal_form(text), form);
    }
}

#[test]
fn a_unit_has_a_hash_and_two_have_none() {
    assert_eq!(unit_hash("DON'T"), unit_hash("dont"));
    assert_eq!(unit_hash("--"), unit_hash("—"));
    assert_ne!(unit_hash("."), unit_hash(".."));
    for text in ["", " ", "New York", "dogs'", "夜梟", "x."] {
        assert_eq!(unit_hash(text), None, "{text:?}");
    }
}

/// Models are keyed by these numbers.
#[test]
fn hashes_are_the_same_forever() {
    let golden = ["owl", ",", "夜"].map(|text| unit_hash(text).unwrap());
    assert_eq!(
        golden,
        [16_743_702_308_222_942_816, 1_695_562_221_955_999_133, 5_114_246_325_900_163_942]
    );
}

proptest! {
    #[test]
    fn tokens_have_the_units_of_their_text(
        bytes in any_bytes(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let pieces = cut_at(&bytes, &cuts);
        let words = Words::new(&pieces);
        let (mut by_token, mut by_byte) = (UnitState::start(), UnitState::start());
        let mut text = Vec::new();
        for (token, piece) in (0..).zip(&pieces) {
            by_token.push(&words, token);
            by_byte.push_bytes(piece);
            text.extend_from_slice(piece);
            prop_assert_eq!(last(&by_token), last(&by_byte));
            prop_assert_eq!(by_token.units(), by_byte.units());
            let units = hashes(whole_characters(&text));
            prop_assert_eq!(by_token.units() as usize, units.len());
            let newest_first: Vec<u64> = units.into_iter().rev().take(MAX_UNITS).collect();
            prop_assert_eq!(last(&by_token), newest_first);
        }
    }

    #[test]
    fn places_are_those_of_the_units(text in prop_oneof![careless(), "\\PC{0,8}"]) {
        let mut end = 0;
        let mut failed = None;
        each_unit(text.as_bytes(), |hash, place| {
            if place.start < end || unit_hash(&text[place.clone()]) != Some(hash) {
                failed = Some(place.clone());
            }
            end = place.end;
        });
        prop_assert_eq!(failed, None);
    }

    #[test]
    fn the_normal_form_has_the_same_units_and_is_its_own(text in prop_oneof![careless(), "\\PC{0,8}"]) {
        let form = normal_form(&text);
        prop_assert_eq!(hashes(text.as_bytes()), hashes(form.as_bytes()));
        prop_assert_eq!(normal_form(&form), form.clone());
        prop_assert_eq!(form.split_terminator(' ').count(), hashes(text.as_bytes()).len());
    }

    #[test]
    fn hashes_are_equal_exactly_if_normal_forms_are(left in careless(), right in careless()) {
        let (left_form, right_form) = (normal_form(&left), normal_form(&right));
        prop_assert_eq!(hashes(left.as_bytes()) == hashes(right.as_bytes()), left_form == right_form);
    }

    #[test]
    fn a_window_knows_what_the_whole_knows(
        parts in prop::collection::vec(any_bytes(), 0..4),
        cuts in prop::collection::vec(any::<usize>(), 0..40),
        place in any::<usize>(),
        reach in 0_usize..12,
    ) {
        let bytes = parts.concat();
        let pieces = cut_at(&bytes, &cuts);
        let words = Words::new(&pieces);
        let document: Vec<u32> = (0..pieces.len() as u32).collect();
        let place = place % (document.len() + 1);
        let mut whole = UnitState::start();
        document[..place].iter().for_each(|&token| whole.push(&words, token));
        let window = UnitState::before(&words, &document, place, reach);
        for before in 0..MAX_UNITS {
            prop_assert_eq!(window.within(before, reach), whole.within(before, reach));
        }
    }
}
