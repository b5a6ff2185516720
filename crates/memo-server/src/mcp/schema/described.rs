//! JSON Schemas of arguments and results, from the types that OpenAPI describes.

use crate::mcp::arguments;
use crate::mcp::calls::{Forgotten, Recalled};
use crate::native::TransactionList;
use crate::native::status::ModelStats;
use memo_store::{ChangeReport, Completion, EditReport, Explanation, RememberReport};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

#[test]
fn the_committed_schemas_are_current() {
    let tools = [
        ("remember", input::<arguments::Remember>(), output::<RememberReport>()),
        ("recall", input::<arguments::Recall>(), output::<Recalled>()),
        ("complete", input::<arguments::Complete>(), output::<Completion>()),
        ("explain", input::<arguments::Explain>(), output::<Explanation>()),
        ("forget", input::<arguments::Forget>(), output::<Forgotten>()),
        ("correct", input::<arguments::Correct>(), output::<EditReport>()),
        ("history", input::<arguments::History>(), output::<TransactionList>()),
        ("undo", input::<arguments::Undo>(), output::<ChangeReport>()),
        ("stats", input::<arguments::Nothing>(), output::<ModelStats>()),
    ];
    let tools: Map<String, Value> = tools
        .into_iter()
        .map(|(name, input, output)| (name.to_owned(), json!({ "input": input, "output": output })))
        .collect();
    let current = serde_json::to_string_pretty(&tools).unwrap() + "\n";
    crate::committed::compare("tools.json", &current);
}

/// The schema of a result. Types within it are among its `$defs`.
fn output<T: ToSchema>() -> JsonObject {
    let mut schema = json(&T::schema());
    let mut within = Vec::new();
    T::schemas(&mut within);
    let types: Map<String, Value> =
        within.iter().map(|(name, schema)| (name.clone(), Value::Object(json(schema)))).collect();
    if !types.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(types));
    }
    // Clients of older revisions want that said of every result.
    schema.entry("type").or_insert_with(|| "object".into());
    schema
}

/// The schema of arguments. One that may be left out is not also null, which some clients do not understand.
fn input<T: ToSchema>() -> JsonObject {
    let mut schema = output::<T>();
    schema.insert("additionalProperties".to_owned(), false.into());
    let properties = schema.entry("properties").or_insert_with(|| Map::new().into());
    if let Value::Object(properties) = properties {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            if let Some(Value::Array(types)) = property.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [kind] = types.as_slice() {
                    let kind = kind.clone();
                    property.insert("type".to_owned(), kind);
                }
            }
        }
    }
    schema
}

fn json(schema: &impl serde::Serialize) -> JsonObject {
    match serde_json::to_value(schema).map(standalone) {
        Ok(Value::Object(schema)) => schema,
        _ => Map::new(),
    }
}

/// A schema by itself: it refers to its own `$defs` in place of the components of an OpenAPI document.
fn standalone(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            // OpenAPI has names for the sizes of numbers, which others warn of.
            fields.retain(|name, value| {
                name != "format" || value == "date-time" || !value.is_string()
            });
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::String(text) if name == "$ref" => {
                        *text = text.replace("#/components/schemas/", "#/$defs/");
                    }
                    value => *value = standalone(value.take()),
                }
            }
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| *value = standalone(value.take()));
        }
        _ => {}
    }
    schema
}
