//! The real-text experiment runs on text made here and says what is known of it.

use memo::random::{Purpose, Stream};
use memo::readout::BACKOFF;
use memo::sparse::{Shape, Size};
use memo_lab::realtext::{Experiment, run};

#[test]
fn a_made_up_text_is_recalled_and_forgotten() {
    // Words in sentences: a random walk that often returns to the same words.
    let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
    let mut word = 0;
    let mut draw = |tokens: usize| -> Vec<u32> {
        (0..tokens)
            .map(|_| {
                word = if reader.below(3) == 0 {
                    reader.below(900)
                } else {
                    (word * 31 + reader.below(9)) % 900
                };
                word as u32
            })
            .collect()
    };
    let (document, held_out) = (draw(6_000), draw(500));
    let experiment = Experiment {
        memorized: &[document],
        held_out: &[held_out],
        vocabulary: 902,
        end: 901,
        unknown: Some(900),
        size: Size::Parameters(92 * 6_001),
        shape: Shape::default(),
        seed: 1,
        sample: 1_000,
    };
    let report = run(&experiment, &BACKOFF, &|_| ()).unwrap();
    assert_eq!(report.tokens, 6_001);
    assert!(report.forget_exact);
    assert!(report.recall > 0.999 && report.recall_damaged_prompt > 0.97, "{report:?}");
    assert!(report.recall_kept_half[1] > 0.999, "{report:?}");
    assert!(report.recall_forgotten_half[0] > 0.999, "{report:?}");
    // What is left of the forgotten half is what the other half and mere chance say.
    assert!(report.recall_forgotten_half[1] < 0.4, "{report:?}");
    assert!(report.held_out_perplexity.unwrap() < 902.0);
    // The keys that others rely on.
    let json = serde_json::to_value(&report).unwrap();
    for key in [
        "tokens",
        "parameters",
        "parameters_per_token",
        "bytes_per_token",
        "recall",
        "recall_damaged_prompt",
        "held_out_perplexity",
        "held_out_perplexity_known",
        "memorize_tokens_per_second",
        "retrieve_tokens_per_second",
        "forget_exact",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
}
