//! Texts to time with: tokens as frequent as words are, and phrases that come back.

use memo::random::{Purpose, Stream};

/// `tokens` tokens below `vocabulary`: frequencies by Zipf's law, and one in 32 begins a phrase of up to 32 tokens that was
/// there before.
pub(super) fn natural(tokens: usize, vocabulary: u32, seed: u64) -> Vec<u32> {
    let mut reader = Stream::new(seed, Purpose::Sampling, 7).draws();
    let mut text: Vec<u32> = Vec::with_capacity(tokens + 32);
    while text.len() < tokens {
        if reader.below(32) == 0 && text.len() > 64 {
            let from = reader.below(text.len() as u64 - 32) as usize;
            let length = 1 + reader.below(32) as usize;
            text.extend_from_within(from..from + length);
        } else {
            let uniform = reader.below(1 << 32) as f64 / 4_294_967_296.0;
            text.push(f64::from(vocabulary).powf(uniform) as u32 - 1);
        }
    }
    text.truncate(tokens);
    text
}

/// `tokens` tokens below `vocabulary`, all alike: nothing comes back.
pub(super) fn random(tokens: usize, vocabulary: u32, seed: u64) -> Vec<u32> {
    Stream::new(seed, Purpose::Sampling, 8).draws().tokens(tokens, vocabulary as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_text_repeats_itself_and_random_text_does_not() {
        let pairs = |text: &[u32]| {
            let mut pairs: Vec<&[u32]> = text.windows(4).collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs.len()
        };
        let (natural, random) = (natural(20_000, 50_000, 1), random(20_000, 50_000, 1));
        assert_eq!((natural.len(), random.len()), (20_000, 20_000));
        assert!(natural.iter().all(|token| *token < 50_000));
        assert!(pairs(&random) > 19_990 && pairs(&natural) < 16_000, "{}", pairs(&natural));
    }
}
