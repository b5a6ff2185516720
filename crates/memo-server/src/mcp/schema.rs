//! JSON Schemas of what the tools take and answer.
//!
//! Like the API's, they are committed (`tools.json` beside `Cargo.toml`), and compared in a test with the types that they describe (`described.rs`).

use rmcp::model::JsonObject;
use serde_json::Value;
use std::sync::LazyLock;

#[cfg(test)]
mod described;

/// The schemas of a tool's arguments and of its result.
pub(super) fn of(tool: &str) -> (JsonObject, JsonObject) {
    static TOOLS: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../../tools.json")).unwrap_or_default()
    });
    let schema = |which: &str| TOOLS[tool][which].as_object().cloned().unwrap_or_default();
    (schema("input"), schema("output"))
}
