//! The texts: random tokens as in Fig. 4, without decoys and with 40, and files.

use crate::layers::texts::{Batch, VOCABULARY};
use crate::{Error, Options};
use memo::random::{Purpose, Stream};
use memo_text::{Tokenizer, TokenizerSpec};

/// Tokens that are memorized of each text, in chunks of 1,024.
const CHUNKS: usize = 100;
const QUICK_CHUNKS: usize = 20;

/// Positions that recall is tried at, and held-out tokens that are scored.
const TRIED: usize = 1000;
const QUICK_TRIED: usize = 500;
const HELD_OUT: usize = 5000;

/// Tokens before a position that is tried in a file.
const PROMPT: usize = 64;

/// A text to memorize, and where recall is tried.
pub(super) struct Text {
    pub(super) name: String,
    pub(super) documents: Vec<Vec<u32>>,
    /// The document and position of each.
    pub(super) tried: Vec<(usize, usize)>,
    pub(super) held_out: Vec<u32>,
    pub(super) vocabulary: u32,
    pub(super) end: u32,
}

/// How much is memorized and tried.
fn size(options: &Options) -> (usize, usize) {
    if options.quick { (QUICK_CHUNKS, QUICK_TRIED) } else { (CHUNKS, TRIED) }
}

impl Text {
    /// Random texts, without decoys and with 40 in each chunk.
    pub(super) fn random(options: &Options) -> Vec<Self> {
        let (chunks, tried) = size(options);
        let text = |decoys: usize| {
            let Batch { chunks, tried } = Batch::new(options.seed, 0, chunks, decoys, tried);
            let name =
                if decoys == 0 { "random".to_owned() } else { format!("random, {decoys} decoys") };
            let end = VOCABULARY as u32;
            let held_out = Vec::new();
            Text { name, documents: chunks, tried, held_out, vocabulary: end + 1, end }
        };
        vec![text(0), text(40)]
    }

    /// As many tokens of a file as a random text has, and those after them as held out.
    pub(super) fn of_file(
        name: String,
        content: &str,
        spec: &TokenizerSpec,
        options: &Options,
    ) -> Result<Self, Error> {
        let (chunks, tried) = size(options);
        let tokenizer = Tokenizer::for_texts(spec, [content])?;
        let mut tokens = tokenizer.encode(content)?;
        // A short file is memorized but for its last tenth.
        let most = (chunks * crate::layers::texts::CHUNK).min(tokens.len() * 9 / 10);
        let mut held_out = tokens.split_off(most);
        held_out.truncate(HELD_OUT);
        let mut drawn = Stream::new(options.seed, Purpose::Sampling, 0).draws();
        let first = PROMPT.min(tokens.len().saturating_sub(1));
        let room = (tokens.len() - first) as u64;
        let tried = (0..tried).map(|_| (0, first + drawn.below(room.max(1)) as usize)).collect();
        let (vocabulary, end) = (tokenizer.vocab_size() as u32, tokenizer.eos());
        Ok(Text { name, documents: vec![tokens], tried, held_out, vocabulary, end })
    }

    /// What comes before each position that is tried.
    pub(super) fn contexts(&self) -> Vec<&[u32]> {
        let context = |&(document, p): &(usize, usize)| -> &[u32] {
            &self.documents[document][p.saturating_sub(PROMPT)..p]
        };
        self.tried.iter().map(context).collect()
    }

    /// The token at each of them.
    pub(super) fn wanted(&self) -> impl Iterator<Item = u32> + '_ {
        self.tried.iter().map(|&(document, p)| self.documents[document][p])
    }

    pub(super) fn tokens(&self) -> usize {
        self.documents.iter().map(Vec::len).sum()
    }
}
