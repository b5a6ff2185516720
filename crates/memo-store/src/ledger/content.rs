//! The tokens of a version, part by part, as the ledger stores them: four bytes a token, and a mark between two parts.

use crate::record::Role;
use memo::sparse::Span;

/// The tokens of a version, part by part, and what is written of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) parts: Vec<Vec<u32>>,
    pub(crate) role: Role,
}

/// The mark between two parts; no token. What was cut apart must not lie side by side.
const CUT: u32 = u32::MAX;

impl Content {
    /// A text that is written as a whole.
    pub(crate) fn text(tokens: Vec<u32>) -> Self {
        Content { parts: vec![tokens], role: Role::Text }
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }

    /// What is written of it, `sign` times.
    pub(crate) fn spans(&self, sign: i32) -> impl Iterator<Item = Span<'_>> {
        self.parts.iter().filter_map(move |part| match self.role {
            Role::Text => Some(Span::whole(part, sign)),
            Role::Edit { prompt, weight } => {
                let positions = (prompt as usize).min(part.len())..part.len();
                Some(Span::part(part, positions, weight * sign))
            }
            Role::Graph | Role::Rules => None,
        })
    }

    /// The digest under a secret key: without the key it cannot be matched to a guessed text.
    pub(crate) fn digest(&self, key: &[u8; 32]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(key);
        for part in &self.parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(&encode(part));
        }
        match self.role {
            Role::Text => {}
            Role::Edit { prompt, weight } => {
                hasher.update(&prompt.to_le_bytes()).update(&weight.to_le_bytes());
            }
            Role::Graph => {
                hasher.update(b"graph");
            }
            Role::Rules => {
                hasher.update(b"rules");
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The stored form of all parts.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.parts.iter().map(|part| encode(part)).collect::<Vec<_>>().join(&CUT.to_le_bytes()[..])
    }

    /// What [`Content::to_bytes`] gave, for a version with parts of these lengths; `None` if it does not fit them.
    pub(super) fn from_bytes(bytes: &[u8], lens: &[u64], role: Role) -> Option<Self> {
        let (tokens, rest) = bytes.as_chunks::<4>();
        let tokens: Vec<u32> = tokens.iter().map(|&token| u32::from_le_bytes(token)).collect();
        let parts: Vec<Vec<u32>> = if lens.is_empty() {
            Vec::new()
        } else {
            tokens.split(|&token| token == CUT).map(<[u32]>::to_vec).collect()
        };
        let fits =
            rest.is_empty() && parts.iter().map(|part| part.len() as u64).eq(lens.iter().copied());
        fits.then_some(Content { parts, role })
    }
}

fn encode(tokens: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(tokens.len() * 4);
    tokens.iter().for_each(|token| bytes.extend_from_slice(&token.to_le_bytes()));
    bytes
}
