//! From characters to the codes of the normal form: each a class and a character, in one byte if it is ASCII, else in three.

use super::tables::{ALONE, LOWER, WORD};

/// The first byte that is not ASCII.
pub(super) const ASCII: u8 = 0x80;
/// The one form of all quotes.
pub(super) const QUOTE: u32 = b'"' as u32;
/// The one form of all dashes.
pub(super) const DASH: u32 = b'-' as u32;
/// Added to a byte that is not part of a character, so that it is a character of its own.
const INVALID: u32 = 0x11_0000;

/// What a character does to the stream of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Begins or continues a word.
    Letter = 0,
    /// Is a word.
    Alone = 1,
    /// Stands beside words.
    Symbol = 2,
    /// Ends a word.
    Space,
    /// Is left out between letters, and else is a quote.
    Apostrophe,
}

use Class::{Alone, Apostrophe, Letter, Space, Symbol};

/// A character in normal form: its code point in 21 bits; if that is not ASCII, its class in the two bits above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(u32);

impl Code {
    pub(super) fn ascii(byte: u8) -> Self {
        Code(u32::from(byte))
    }

    fn new(class: Class, character: u32) -> Self {
        Code((class as u32) << 21 | character)
    }

    /// A byte that is not part of a character.
    pub(super) fn invalid(byte: u8) -> Self {
        Code::new(Letter, INVALID + u32::from(byte))
    }

    /// Whether this is a byte that goes on with a character, but with none that was seen to begin.
    #[inline]
    pub(super) fn is_continuation(self) -> bool {
        matches!(self.character().checked_sub(INVALID), Some(0x80..=0xbf))
    }

    /// The byte that an ASCII code is written as.
    pub(super) fn byte(self) -> Option<u8> {
        u8::try_from(self.0).ok().filter(|&byte| byte < ASCII)
    }

    /// The bytes that any other code is written as.
    pub(super) fn bytes(self) -> [u8; 3] {
        [(self.0 >> 16) as u8 | ASCII, (self.0 >> 8) as u8, self.0 as u8]
    }

    pub(super) fn from_bytes([high, middle, low]: [u8; 3]) -> Self {
        Code(u32::from(high & !ASCII) << 16 | u32::from(middle) << 8 | u32::from(low))
    }

    #[inline]
    pub(super) fn class(self) -> Class {
        match self.0 {
            code if code < u32::from(ASCII) => ASCII_CLASS[code as usize],
            code => match code >> 21 {
                0 => Letter,
                1 => Alone,
                _ => Symbol,
            },
        }
    }

    pub(super) fn is_space(self) -> bool {
        self.class() == Space
    }

    #[inline]
    pub(super) fn character(self) -> u32 {
        self.0 & 0x1f_ffff
    }
}

/// The classes of ASCII characters.
static ASCII_CLASS: [Class; 128] = {
    let mut classes = [Symbol; 128];
    let mut i = 0;
    while i < 128 {
        classes[i] = match i as u8 {
            b' ' => Space,
            b'\'' => Apostrophe,
            byte if byte.is_ascii_alphanumeric() => Letter,
            _ => Symbol,
        };
        i += 1;
    }
    classes
};

/// Calls `emit` with the normal form of a character: one code, except for the few that have several or none.
#[inline]
pub(super) fn each_code(c: char, mut emit: impl FnMut(Code)) {
    if c.is_ascii() {
        let byte = match c as u8 {
            b'\t'..=b'\r' => b' ',
            b'`' => b'"',
            byte => byte.to_ascii_lowercase(),
        };
        return emit(Code::ascii(byte));
    }
    match c {
        '\u{130}' => [Code::ascii(b'i'), Code::new(Letter, 0x307)].into_iter().for_each(emit),
        '…' => (0..3).for_each(|_| emit(Code::ascii(b'.'))),
        c => {
            if let Some(code) = code(c) {
                emit(code);
            }
        }
    }
}

/// The normal form of a character that is not ASCII.
fn code(c: char) -> Option<Code> {
    Some(match c {
        '\u{85}'
        | '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200b}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => Code::ascii(b' '),
        '\u{2019}' | '\u{2bc}' | '\u{ff07}' => Code::ascii(b'\''),
        '\u{ab}' | '\u{b4}' | '\u{bb}' // « ´ »
        | '\u{2018}'..='\u{201f}' // ‘ to ‟
        | '\u{2032}'..='\u{2037}' // primes
        | '\u{2039}' | '\u{203a}' | '\u{2e42}' // ‹ ›
        | '\u{275b}'..='\u{2760}'
        | '\u{300c}'..='\u{300f}' // 「 to 』
        | '\u{301d}'..='\u{301f}'
        | '\u{fe41}'..='\u{fe44}'
        | '\u{ff02}' | '\u{ff40}' | '\u{ff62}' | '\u{ff63}' => Code::ascii(b'"'),
        '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}'
        | '\u{2010}'..='\u{2015}' // hyphens and dashes
        | '\u{2043}' | '\u{2212}' // bullet, minus
        | '\u{2e17}' | '\u{2e1a}' | '\u{2e3a}' | '\u{2e3b}' | '\u{2e40}' | '\u{2e5d}' | '\u{10d6e}' | '\u{10ead}'
        | '\u{301c}' | '\u{3030}' | '\u{30a0}'
        | '\u{fe31}' | '\u{fe32}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => Code::ascii(b'-'),
        '\u{ad}' // soft hyphen
        | '\u{34f}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200c}'..='\u{200f}' // joiners, marks of direction
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' // variation selectors
        | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}' => return None,
        c => {
            let point = u32::from(c);
            if within(ALONE, point) {
                Code::new(Alone, point)
            } else if within(WORD, point) {
                match lower(point) {
                    // The Kelvin sign is a k.
                    ascii if ascii < u32::from(ASCII) => Code(ascii),
                    point => Code::new(Letter, point),
                }
            } else {
                Code::new(Symbol, point)
            }
        }
    })
}

/// Whether one of the ranges contains a code point.
fn within(ranges: &[(u32, u32)], point: u32) -> bool {
    let after = ranges.partition_point(|&(first, _)| first <= point);
    after > 0 && point <= ranges[after - 1].1
}

/// The lower case of a code point.
fn lower(point: u32) -> u32 {
    let after = LOWER.partition_point(|&(first, ..)| first <= point);
    match after.checked_sub(1).map(|run| LOWER[run]) {
        Some((first, last, step, distance))
            if point <= last && (point - first).is_multiple_of(step) =>
        {
            point.wrapping_add_signed(distance)
        }
        _ => point,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    /// The code points of [`ALONE`]'s scripts.
    const SCRIPTS: &str = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]";

    fn codes(c: char) -> Vec<Code> {
        let mut codes = Vec::new();
        each_code(c, |code| codes.push(code));
        codes
    }

    fn assigned() -> Vec<char> {
        let assigned =
            Regex::new(r"^[\p{age=16.0}--[\p{Co}\p{Noncharacter_Code_Point}]]$").unwrap();
        (0..=u32::from(char::MAX))
            .filter_map(char::from_u32)
            .filter(|c| assigned.is_match(c.encode_utf8(&mut [0; 4])))
            .collect()
    }

    #[test]
    fn classes_are_those_of_unicode() {
        let class = |class: &str| Regex::new(&format!("^{class}$")).unwrap();
        let (word, alone) = (class(r"[\p{L}\p{M}\p{N}]"), class(SCRIPTS));
        let (space, dash) = (class(r"\s"), class(r"\p{Pd}"));
        let (quote, seen) = (class(r"\p{Quotation_Mark}"), class(r"[\p{L}\p{N}\p{P}\p{S}\p{Z}]"));
        let right = |c: char| {
            let mut buffer = [0; 4];
            let text = &*c.encode_utf8(&mut buffer);
            let codes = codes(c);
            let Some(&first) = codes.first() else { return !seen.is_match(text) };
            if space.is_match(text) || c == '\u{200b}' {
                first.class() == Space
            } else if dash.is_match(text) {
                first.character() == DASH
            } else if quote.is_match(text) {
                first.character() == QUOTE || first.class() == Apostrophe
            } else if !word.is_match(text) {
                matches!(first.class(), Symbol | Apostrophe)
            } else if alone.is_match(text) {
                first.class() == Alone
            } else {
                // Unicode has some marks of Han and kana in no script.
                first.class() == if within(ALONE, u32::from(c)) { Alone } else { Letter }
            }
        };
        let wrong: Vec<char> = assigned().into_iter().filter(|&c| !right(c)).collect();
        assert_eq!(wrong, ['\u{2bc}'], "the modifier letter that is used as an apostrophe");
    }

    #[test]
    fn letters_are_in_lower_case() {
        for c in assigned()
            .into_iter()
            .filter(|&c| codes(c).first().is_some_and(|code| code.class() == Letter))
        {
            let lower: Vec<Code> = c.to_lowercase().flat_map(codes).collect();
            assert_eq!(codes(c), lower, "{c:?}");
        }
        assert_eq!(codes('ς'), codes('Σ'));
    }

    #[test]
    fn a_code_comes_back_from_its_bytes() {
        for c in assigned() {
            for code in codes(c).into_iter().filter(|code| code.byte().is_none()) {
                assert_eq!(Code::from_bytes(code.bytes()), code, "{c:?}");
            }
        }
        for byte in ASCII..=255 {
            assert_eq!(Code::from_bytes(Code::invalid(byte).bytes()), Code::invalid(byte));
        }
    }
}
