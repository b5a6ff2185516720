//! The description of the API: as OpenAPI for programs, and as a page for people.
//!
//! `openapi.json` beside `Cargo.toml` is the same document, from which the page's types are generated.

use crate::harness;
use crate::native::{
    changes, documents, facts, forgetting, graphs, inside, lexicon, models, queries, rules, status,
    tasks,
};
use crate::openai::{self, chat, completions, responses};
use crate::server::Server;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use serde_json::Value;
use std::fmt::Write;
use utoipa::OpenApi as _;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, ResponseBuilder};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "MeMo", description = "A language model that is a memory."),
    paths(
        openai::models, openai::model, completions::completions, chat::chat, responses::responses,
        documents::list, documents::memorize, documents::upload, documents::show, documents::history,
        documents::retire, documents::restore,
        forgetting::forget, forgetting::forget_document, forgetting::prove,
        queries::complete, queries::read_text, queries::explain, queries::find,
        queries::closest, inside::breakdown, inside::fill,
        facts::ask, facts::state, graphs::list, graphs::export, graphs::add,
        rules::list, rules::add, rules::preview, rules::why,
        lexicon::show, lexicon::text, lexicon::word, lexicon::class,
        changes::edit, changes::replace, changes::log, changes::rollback,
        tasks::list, tasks::show, tasks::events, tasks::cancel,
        models::list, models::create, status::stats, status::digest, status::rebuild,
        harness::tokenize, harness::detokenize, harness::tokenizer_info,
        status::health, status::healthz, status::readyz, status::metrics,
    ),
    // What events have as their data.
    components(schemas(queries::CompletionEnd)),
    tags(
        (name = "OpenAI", description = "As OpenAI's clients ask."),
        (name = "documents", description = "Texts that are memorized."),
        (name = "forgetting", description = "Texts leave the memory exactly, and every file."),
        (name = "reading", description = "What the memory says, and why."),
        (name = "knowledge", description = "Facts of graphs, rules, and what follows from them."),
        (name = "lexicon", description = "Which words count as alike, where the model has a lexicon."),
        (name = "changes", description = "Edits, replacements, and undoing them."),
        (name = "tasks", description = "Changes that take long."),
        (name = "models", description = "The models of the server."),
        (name = "model", description = "The memory in figures."),
        (name = "harness", description = "For evaluation harnesses that have no tokenizer."),
        (name = "operation", description = "For those who run it."),
    )
)]
struct Reference;

/// Errors of any operation, and those of operations that take a body.
const ERRORS: [(&str, &str); 6] = [
    ("400", "The request is not valid"),
    ("401", "It needs a key"),
    ("403", "The key does not allow it, or it comes from elsewhere"),
    ("408", "It took too long to arrive"),
    ("429", "There were too many with this key; `Retry-After` says when to try again"),
    ("503", "There is too much to do; `Retry-After` says when to try again"),
];
const BODY_ERRORS: [(&str, &str); 2] =
    [("413", "It is too large"), ("415", "It is of another content type")];
const NO_MODEL: (&str, &str) = ("404", "There is no such model, or nothing of that name in it");

/// The API as OpenAPI, with all errors.
fn description() -> OpenApi {
    let mut api = Reference::openapi();
    env!("CARGO_PKG_VERSION").clone_into(&mut api.info.version);
    let components = api.components.get_or_insert_default();
    let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("key", SecurityScheme::Http(key));
    for (status, description) in ERRORS.into_iter().chain(BODY_ERRORS).chain([NO_MODEL]) {
        let body = Content::new(Some(Ref::from_schema_name("ErrorBody")));
        let error = ResponseBuilder::new().description(description);
        let error = error.content("application/json", body).build();
        components.responses.insert(format!("Error{status}"), error.into());
    }
    let each = api.paths.paths.iter_mut().flat_map(|(path, item)| {
        [&mut item.get, &mut item.post, &mut item.delete]
            .map(|operation| (path.as_str(), operation))
    });
    for (path, operation) in each {
        let Some(operation) = operation else { continue };
        if names_model(path) {
            operation.parameters.get_or_insert_default().push(model_parameter());
            let none = Ref::from_response_name("Error404");
            operation.responses.responses.entry("404".to_owned()).or_insert(none.into());
        }
        let of_body = operation.request_body.iter().flat_map(|_| BODY_ERRORS);
        for (status, _) in ERRORS.into_iter().chain(of_body) {
            let error = Ref::from_response_name(format!("Error{status}"));
            operation.responses.responses.entry(status.to_owned()).or_insert(error.into());
        }
    }
    api
}

/// Whether requests for a path name a model in their query; those of `/v1` do so in their body.
fn names_model(path: &str) -> bool {
    let harness = ["/tokenize", "/detokenize", "/tokenizer_info"].contains(&path);
    harness || (path.starts_with("/api/") && path != "/api/models")
}

fn model_parameter() -> Parameter {
    let what = "The model, where the server has several";
    let text = ObjectBuilder::new().schema_type(Type::String).build();
    let parameter = ParameterBuilder::new().name("model").parameter_in(ParameterIn::Query);
    parameter.description(Some(what)).schema(Some(text)).build()
}

/// The API as OpenAPI.
pub(crate) async fn openapi(State(server): State<Server>) -> Json<OpenApi> {
    let mut api = description();
    if !server.config.keys.is_empty() {
        api.security = Some(vec![SecurityRequirement::new("key", [""; 0])]);
    }
    Json(api)
}

/// The API as a page.
pub(crate) async fn docs() -> Response {
    let style =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    let page = serde_json::to_value(description()).map(|api| page(&api)).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_description_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        let current = super::description().to_pretty_json().unwrap() + "\n";
        if std::env::var_os("MEMO_UPDATE").is_some() {
            std::fs::write(path, &current).unwrap();
        }
        let help = "openapi.json is stale: run `MEMO_UPDATE=1 cargo nextest run -p memo-server description`";
        assert!(std::fs::read_to_string(path).unwrap_or_default() == current, "{help}");
    }
}
