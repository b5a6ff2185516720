//! The tools: what each is called, what agents are told of it, and what it may do.

use super::schema;
use crate::config::Permission;
use rmcp::model::{Tool, ToolAnnotations};
use std::sync::{Arc, LazyLock};

/// What a tool does to the memory.
#[derive(Clone, Copy)]
enum Effect {
    /// Nothing.
    Reads,
    /// It adds, and adds nothing the second time.
    Adds,
    /// It changes what is remembered, to the same the second time.
    Changes,
    /// It takes away.
    Removes,
}

/// All tools.
pub(super) fn all() -> &'static [Tool] {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        vec![
            tool(
                "remember",
                "Remember a text",
                "Keeps a text for later conversations. A text that is known already, alone or as part of a document, changes nothing, and \
                 the answer says where it is known. One fact a call, in a whole sentence that is understood on its own.",
                Effect::Adds,
            ),
            tool(
                "recall",
                "Find remembered passages",
                "Finds the remembered passages that share the rarest words with a question, the closest first, each with its document, line, \
                 source and a score from 0 to 1. Use the words that the text itself would have.",
                Effect::Reads,
            ),
            tool(
                "complete",
                "Continue a remembered text",
                "Continues a text word for word as it is remembered. `matched` says how the beginning was found (`verbatim`, `near`, \
                 `general`, `none`), `sources` where the continuation stands; `finish_reason` is `unknown` where the memory does not \
                 know how it goes on, and `closest` then has similar passages.",
                Effect::Reads,
            ),
            tool(
                "explain",
                "Explain what follows",
                "Says why the memory continues a text as it does: the likeliest next words, how often each followed which context, and the \
                 documents in which it stands.",
                Effect::Reads,
            ),
            tool(
                "forget",
                "Forget for good",
                "Forgets documents, by id, source or label, or a text wherever it stands, for good: it is subtracted from the memory and \
                 scrubbed from its files, and cannot be undone. By default it is a dry run, which shows what would go and changes \
                 nothing; show that to your user, then call again with `dry_run` false. The receipt has the digest of the memory.",
                Effect::Removes,
            ),
            tool(
                "correct",
                "Correct what follows",
                "Makes a text what follows another one, in place of what is remembered there; `undo` takes it back.",
                Effect::Changes,
            ),
            tool(
                "history",
                "Show changes",
                "Lists the changes of the memory, or of one document, the newest first: what kind, when, why, and which documents.",
                Effect::Reads,
            ),
            tool(
                "undo",
                "Undo a change",
                "Undoes a change by its number, exactly, if no later one depends on it. Forgetting cannot be undone.",
                Effect::Removes,
            ),
            tool(
                "stats",
                "Show figures",
                "The memory in figures: documents, tokens, bytes and the last change.",
                Effect::Reads,
            ),
        ]
    });
    &TOOLS
}

fn tool(name: &'static str, title: &str, description: &'static str, effect: Effect) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(matches!(effect, Effect::Reads))
        .destructive(matches!(effect, Effect::Changes | Effect::Removes))
        .idempotent(!matches!(effect, Effect::Removes))
        .open_world(false);
    let (input, output) = schema::of(name);
    Tool::new(name, description, input)
        .with_title(title)
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
}

/// What a client must be allowed to do to use a tool.
pub(super) fn permission(tool: &Tool) -> Permission {
    let reads = tool.annotations.as_ref().and_then(|hints| hints.read_only_hint);
    if reads == Some(true) { Permission::Read } else { Permission::Write }
}

/// Whether calling a tool twice does no more than calling it once.
pub(super) fn is_repeatable(name: &str) -> bool {
    let tool = all().iter().find(|tool| tool.name == name);
    tool.and_then(|tool| tool.annotations.as_ref()).is_some_and(ToolAnnotations::is_idempotent)
}
