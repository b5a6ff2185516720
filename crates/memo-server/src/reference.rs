//! The description of the API: as OpenAPI for programs, and as a page for people.
//!
//! `openapi.json` beside `Cargo.toml` is that description, and the page's types are generated from it. It is committed rather than made
//! when the program runs: the types and handlers that it follows from (`described.rs`) are compiled with their schemas in tests alone, one of which
//! compares the two, so that building the program does not wait for them.

use crate::server::Server;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Value, json};
use std::fmt::Write;

#[cfg(test)]
mod described;

/// The API as OpenAPI.
fn description() -> Value {
    serde_json::from_str(include_str!("../openapi.json")).unwrap_or_default()
}

/// Answers with the API as OpenAPI, and with what it asks for if there are keys.
pub(crate) async fn openapi(State(server): State<Server>) -> Json<Value> {
    let mut api = description();
    if !server.config.keys.is_empty() {
        api["security"] = json!([{ "key": [] }]);
    }
    Json(api)
}

/// The API as a page.
pub(crate) async fn docs() -> Response {
    let style =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    ([(header::CONTENT_SECURITY_POLICY, style)], Html(page(&description()))).into_response()
}

const HEAD: &str = r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>MeMo: the API</title>
<meta name="viewport" content="width=device-width"><style>
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:54rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.45 ui-monospace,monospace}h2{margin-top:2.5rem}summary{cursor:pointer;padding:.3rem 0}
summary b{display:inline-block;min-width:4.5rem}summary span{opacity:.75}table{border-collapse:collapse;margin:.3rem 0 .8rem}
td{padding:.15rem .9rem .15rem 0;vertical-align:top}details>div{padding-left:1.1rem;border-left:2px solid #8886}
</style><h1>MeMo: the API</h1><p>For programs the same is at <a href="/openapi.json">/openapi.json</a>. Errors have OpenAI's
shape. With keys, send <code>Authorization: Bearer KEY</code>.</p>"#;

fn page(api: &Value) -> String {
    let mut page = HEAD.to_owned();
    let empty = Vec::new();
    for tag in api["tags"].as_array().unwrap_or(&empty) {
        let name = text(&tag["name"]);
        let _ = write!(page, "<h2>{name}</h2><p>{}</p>", text(&tag["description"]));
        for (path, methods) in api["paths"].as_object().into_iter().flatten() {
            for (method, operation) in methods.as_object().into_iter().flatten() {
                if operation["tags"][0] == tag["name"] {
                    operation_on_page(&mut page, api, path, method, operation);
                }
            }
        }
    }
    page
}

fn operation_on_page(page: &mut String, api: &Value, path: &str, method: &str, operation: &Value) {
    let (method, summary) = (method.to_uppercase(), text(&operation["summary"]));
    let _ = write!(
        page,
        "<details><summary><b>{method}</b> <code>{}</code> <span>{summary}</span></summary><div>",
        escaped(path)
    );
    let empty = Vec::new();
    let parameters = operation["parameters"].as_array().unwrap_or(&empty);
    if !parameters.is_empty() {
        page.push_str("<p>Parameters</p><table>");
        for parameter in parameters {
            let (name, what) = (text(&parameter["name"]), text(&parameter["description"]));
            let _ = write!(page, "<tr><td><code>{name}</code><td>{what}");
        }
        page.push_str("</table>");
    }
    for body in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        let _ = write!(page, "<p>Request, <code>{}</code></p>", escaped(body.0));
        fields(page, api, &body.1["schema"]);
    }
    let responses = operation["responses"].as_object().into_iter().flatten();
    // Errors that all operations have are references.
    for (status, answer) in responses.filter(|(_, answer)| answer["$ref"].is_null()) {
        let _ = write!(page, "<p>Answer {status} {}</p>", text(&answer["description"]));
        if status.starts_with('2') {
            for body in answer["content"].as_object().into_iter().flatten() {
                fields(page, api, &body.1["schema"]);
            }
        }
    }
    page.push_str("</div></details>");
}

/// A table of the fields of a schema.
fn fields(page: &mut String, api: &Value, schema: &Value) {
    let schema = resolved(api, schema);
    let parts: Vec<&Value> = match schema["allOf"].as_array() {
        Some(parts) => parts.iter().map(|part| resolved(api, part)).collect(),
        None => vec![schema],
    };
    page.push_str("<table>");
    for (name, field) in parts.iter().filter_map(|part| part["properties"].as_object()).flatten() {
        let what = text(&field["description"]);
        let _ = write!(page, "<tr><td><code>{}</code><td>{}<td>{what}", escaped(name), kind(field));
    }
    page.push_str("</table>");
}

fn resolved<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')) {
        Some(path) => api.pointer(path).unwrap_or(schema),
        None => schema,
    }
}

/// The type of a field in a word.
fn kind(field: &Value) -> String {
    let named =
        |schema: &Value| schema["$ref"].as_str().and_then(|r| r.rsplit('/').next().map(escaped));
    if let Some(name) = named(field) {
        return name;
    }
    if field["type"] == "array" {
        return format!("list of {}", kind(&field["items"]));
    }
    match (&field["type"], &field["oneOf"]) {
        (Value::String(kind), _) => escaped(kind),
        (Value::Array(kinds), _) => {
            let kinds: Vec<String> = kinds.iter().map(text).collect();
            kinds.join(" or ")
        }
        (_, Value::Array(kinds)) => {
            let kinds: Vec<String> = kinds.iter().map(kind).collect();
            kinds.join(" or ")
        }
        _ => String::new(),
    }
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
