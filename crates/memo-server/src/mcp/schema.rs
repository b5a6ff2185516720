//! JSON Schemas of arguments and results, from the types that OpenAPI describes.

use rmcp::model::JsonObject;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The schema of a result. Types within it are among its `$defs`.
pub(super) fn output<T: ToSchema>() -> JsonObject {
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
pub(super) fn input<T: ToSchema>() -> JsonObject {
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
