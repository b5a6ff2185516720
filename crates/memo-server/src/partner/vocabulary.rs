//! Whether a memory and its partner have the same vocabulary: a number must mean the same token to both.

use super::PartnerError;
use super::http::Http;
use memo::readout::Vocabularies;
use memo_text::Tokenizer;
use serde_json::json;

/// Tokens that are compared at once.
const TOGETHER: usize = 512;

/// Compares every token of a memory that is text by itself with the partner's, and says how their ends go together. `end` ends
/// texts of the partner's.
pub(super) async fn compare(
    http: &Http,
    tokenizer: &Tokenizer,
    partner: usize,
    end: Option<u32>,
) -> Result<Vocabularies, PartnerError> {
    let (memory, eos) = (tokenizer.vocab_size(), tokenizer.eos());
    // An end that is the last of the memory's tokens may be one that its tokenizer made up.
    let made_up = eos as usize == memory - 1
        && (eos as usize >= partner || text(http, &[eos]).await? != tokenizer.eos_text());
    let tokens = memory - usize::from(made_up);
    if tokens > partner {
        return Err(PartnerError::Sizes { memory: tokens, partner });
    }
    let comparable: Vec<(u32, String)> = (0..tokens as u32)
        .filter(|&token| token != eos)
        .filter_map(|token| {
            let bytes = tokenizer.token_bytes(token)?.into_owned();
            String::from_utf8(bytes).ok().filter(|text| !text.is_empty()).map(|text| (token, text))
        })
        .collect();
    for some in comparable.chunks(TOGETHER) {
        if agree(http, some).await? {
            continue;
        }
        for one in some {
            if !agree(http, std::slice::from_ref(one)).await? {
                let (token, memory) = one.clone();
                let partner = text(http, &[token]).await?;
                return Err(PartnerError::Token { token, memory, partner });
            }
        }
    }
    let size = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    // Without an end of its own, a partner goes on where the memory would end; that end is then outside of its vocabulary.
    let end_in_model = made_up.then(|| end.unwrap_or(size(partner)));
    Ok(Vocabularies { memory: size(memory), model: size(partner), end: eos, end_in_model })
}

/// Whether the partner reads some tokens as the memory does. The first space of a text is left out by some vocabularies.
async fn agree(http: &Http, tokens: &[(u32, String)]) -> Result<bool, PartnerError> {
    let numbers: Vec<u32> = tokens.iter().map(|&(token, _)| token).collect();
    let expected: String = tokens.iter().map(|(_, text)| text.as_str()).collect();
    let read = text(http, &numbers).await?;
    Ok(read == expected || expected.strip_prefix(' ').is_some_and(|rest| read == rest))
}

/// The text of some tokens, as the partner reads them.
async fn text(http: &Http, tokens: &[u32]) -> Result<String, PartnerError> {
    let answer = http.post("/detokenize", &json!({ "tokens": tokens })).await?;
    let text = answer["content"].as_str();
    Ok(text.ok_or_else(|| PartnerError::Nonsense("/detokenize gives no text".into()))?.to_owned())
}
