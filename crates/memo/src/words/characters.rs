//! From tokens to characters in normal form, wherever the tokens are cut.

use super::normal::{Code, each_code};
use super::{Piece, Words, codes};

/// The bytes of a character that is not complete yet, then zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Characters {
    partial: [u8; 3],
    len: u8,
}

impl Characters {
    /// Calls `take` with each character that a token completes. One that the vocabulary lacks, or without bytes, changes nothing.
    #[inline]
    pub(super) fn push(&mut self, words: &Words, token: u32, mut take: impl FnMut(Code)) {
        match words.piece(token) {
            Piece::Codes([]) => {}
            Piece::Codes(bytes) => {
                self.break_off(&mut take);
                codes(bytes).for_each(take);
            }
            Piece::Raw(bytes) => bytes.iter().for_each(|&byte| self.push_byte(byte, &mut take)),
        }
    }

    /// The same for a byte.
    pub(super) fn push_byte(&mut self, byte: u8, take: &mut impl FnMut(Code)) {
        let len = usize::from(self.len);
        let mut bytes = [0; 4];
        bytes[..len].copy_from_slice(&self.partial[..len]);
        bytes[len] = byte;
        match std::str::from_utf8(&bytes[..=len]) {
            Ok(character) => {
                *self = Characters::default();
                character.chars().for_each(|c| each_code(c, &mut *take));
            }
            // The longest character has four bytes, so there is room for what is no character yet.
            Err(error) if error.error_len().is_none() => {
                self.partial[len] = byte;
                self.len += 1;
            }
            Err(_) if len == 0 => take(Code::invalid(byte)),
            Err(_) => {
                self.break_off(take);
                self.push_byte(byte, take);
            }
        }
    }

    /// Takes the bytes of a character that never became whole as what they are.
    #[inline]
    fn break_off(&mut self, take: &mut impl FnMut(Code)) {
        if self.len > 0 {
            let Characters { partial, len } = std::mem::take(self);
            partial[..usize::from(len)].iter().for_each(|&byte| take(Code::invalid(byte)));
        }
    }
}

/// Calls `take` with the characters of a whole text, each with its place in bytes.
pub(super) fn each_character(text: &[u8], mut take: impl FnMut(Code, std::ops::Range<usize>)) {
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let end = at + c.len_utf8();
            each_code(c, |code| take(code, at..end));
            at = end;
        }
        for &byte in chunk.invalid() {
            take(Code::invalid(byte), at..at + 1);
            at += 1;
        }
    }
}
