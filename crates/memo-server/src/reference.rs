//! The reference: OpenAPI for programs, and the same as a page for people.

use crate::app::App;
use crate::harness;
use crate::native::{changes, documents, facts, forgetting, reading, tasks};
use crate::openai::{self, chat, completions};
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use serde_json::Value;
use std::fmt::Write;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, Ref, ResponseBuilder};

#[derive(OpenApi)]
#[openapi(
    info(title = "MeMo", description = "A language model that is a memory."),
    paths(
        openai::models, openai::model, completions::completions, chat::chat,
        documents::list, documents::memorize, documents::upload, documents::show, documents::history,
        documents::retire, documents::restore,
        forgetting::forget, forgetting::forget_document, forgetting::prove,
        reading::complete, reading::read_text, reading::explain, reading::find,
        changes::edit, changes::replace, changes::log, changes::rollback,
        tasks::list, tasks::show, tasks::events, tasks::cancel,
        facts::stats, facts::digest, facts::rebuild,
        harness::tokenize, harness::detokenize, harness::tokenizer_info,
        facts::healthz, facts::readyz, facts::metrics,
    ),
    tags(
        (name = "OpenAI", description = "As OpenAI's clients ask."),
        (name = "documents", description = "Texts that are memorized."),
        (name = "forgetting", description = "Texts leave the memory exactly, and every file."),
        (name = "reading", description = "What the memory says, and why."),
        (name = "changes", description = "Edits, replacements, and undoing them."),
        (name = "tasks", description = "Changes that take long."),
        (name = "model", description = "The memory in figures."),
        (name = "harness", description = "For evaluation harnesses that have no tokenizer."),
        (name = "operation", description = "For those who run it."),
    )
)]
struct Reference;

fn described() -> utoipa::openapi::OpenApi {
    let mut api = Reference::openapi();
    env!("CARGO_PKG_VERSION").clone_into(&mut api.info.version);
    let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = api.components.get_or_insert_default();
    components.add_security_scheme("key", SecurityScheme::Http(key));
    api
}

/// Refusals that any operation may answer with, and those of operations that take a body.
const REFUSALS: [(&str, &str); 6] = [
    ("400", "The request says something that it should not"),
    ("401", "It needs a key"),
    ("403", "The key does not allow it, or it comes from elsewhere"),
    ("408", "It took too long to arrive"),
    ("429", "There were too many with this key; `Retry-After` says when to try again"),
    ("503", "There is too much to do; `Retry-After` says when to try again"),
];
const BODY_REFUSALS: [(&str, &str); 2] =
    [("413", "It is too large"), ("415", "It is of another content type")];

/// The API in OpenAPI's words, with all that may be refused.
pub(crate) async fn openapi(State(app): State<App>) -> Json<utoipa::openapi::OpenApi> {
    let mut api = described();
    if !app.config.keys.is_empty() {
        api.security = Some(vec![SecurityRequirement::new("key", [""; 0])]);
    }
    let paths = api.paths.paths.values_mut();
    for operation in paths.flat_map(|path| [&mut path.get, &mut path.post, &mut path.delete]) {
        let Some(operation) = operation else { continue };
        let body = operation.request_body.iter().flat_map(|_| BODY_REFUSALS);
        for (status, what) in REFUSALS.into_iter().chain(body) {
            let error = Content::new(Some(Ref::from_schema_name("ErrorBody")));
            let refusal =
                ResponseBuilder::new().description(what).content("application/json", error);
            let responses = &mut operation.responses.responses;
            responses.entry(status.to_owned()).or_insert_with(|| refusal.build().into());
        }
    }
    Json(api)
}

/// The API as a page.
pub(crate) async fn docs() -> Response {
    let style =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    let page = serde_json::to_value(described()).map(|api| page(&api)).unwrap_or_default();
    ([(header::CONTENT_SECURITY_POLICY, style)], Html(page)).into_response()
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
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
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
