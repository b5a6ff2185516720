//! `memo prove`: compares a memory that forgot documents with one that never saw them.

use super::snapshot;
use crate::args::model::ProveOptions;
use crate::output::{ERROR, FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use memo_store::Proof;
use std::fmt::{Display, Formatter};

/// A proof, and the model that it is about.
struct ProofOutput {
    model: String,
    proof: Proof,
}

impl Display for ProofOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Proof { without, documents, tokens, digest, digest_after, digest_never_saw, equal } =
            &self.proof;
        let names = without.join(", ");
        let them = if without.len() == 1 { "it" } else { "them" };
        // True if the documents are still live, so that they were forgotten in a copy only.
        let copied = digest != digest_after;
        let is = if *equal { "is" } else { "is not" };
        let what = match (without.is_empty(), copied) {
            (true, _) => format!("the memory {is} one made anew of its documents, bit for bit"),
            (_, false) => format!("the memory {is} one that never saw {names}, bit for bit"),
            (_, true) => {
                format!(
                    "with {names} forgotten, the memory {is} one that never saw {them}, bit for bit"
                )
            }
        };
        let (style, word) = if *equal { (GOOD, "proved") } else { (ERROR, "different") };
        writeln!(f, "{}  {what}", styled(style, word))?;
        let mut line = |name: &str, value: &dyn Display, more: &str| {
            writeln!(f, "  {}", styled(FAINT, format!("{name:<14} {value}{more}")))
        };
        let plural = if *documents == 1 { "" } else { "s" };
        let made = format!("  {documents} document{plural}, {} tokens", thousands(*tokens));
        line("the memory", digest, "")?;
        if copied {
            line("forgotten", digest_after, "")?;
        }
        line(if without.is_empty() { "made anew" } else { "never saw" }, digest_never_saw, &made)?;
        if !equal {
            writeln!(f, "  `memo rebuild {}` makes the memory anew from its documents", self.model)
        } else if copied {
            let quoted = |id: &String| {
                let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
                if id.chars().all(plain) {
                    format!(" --doc {id}")
                } else {
                    format!(" --doc {id:?}")
                }
            };
            let docs: String = without.iter().map(quoted).collect();
            let hint = format!(
                "nothing was changed; `memo forget {}{docs}` forgets {them} for good",
                self.model
            );
            writeln!(f, "  {hint}")
        } else {
            Ok(())
        }
    }
}

impl Report for ProofOutput {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&self.proof)
    }

    fn exit_code(&self) -> u8 {
        u8::from(!self.proof.equal)
    }
}

pub(crate) fn prove(
    options: &ProveOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    progress.step("proving");
    let without: Vec<&str> = options.without.iter().map(String::as_str).collect();
    let proof = model.prove(&without, &progress.observer())?;
    Ok(Box::new(ProofOutput { model: options.model.display().to_string(), proof }))
}
