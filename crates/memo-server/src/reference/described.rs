//! The description of the API, made of the handlers and their types.

use crate::harness;
use crate::native::{
    changes, documents, facts, forgetting, graphs, inside, lexicon, models, queries, rules, status,
    tasks,
};
use crate::openai::{self, chat, completions, responses};
use utoipa::OpenApi as _;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
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

#[test]
fn the_committed_description_is_current() {
    let current = description().to_pretty_json().unwrap() + "\n";
    crate::committed::compare("openapi.json", &current);
}
