//! Why a request cannot be read, in words that its author understands. What the parsers say is about types of this program.

use crate::error::ApiError;
use crate::extract::Object;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The largest body whose field to blame is looked for.
const MAX_SEARCHED: usize = 1 << 20;

/// Reads a JSON object.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let read = |body: &[u8]| serde_json::from_slice::<Object<T>>(body).map(|Object(value)| value);
    read(body).map_err(|error| refused(body, &error, &|body| read(body).err()))
}

/// Says what is wrong with a body; `read` returns what is wrong with another one. Once for all that can be read.
fn refused(
    body: &[u8],
    error: &serde_json::Error,
    read: &dyn Fn(&[u8]) -> Option<serde_json::Error>,
) -> ApiError {
    let fields = match serde_json::from_slice::<Value>(body) {
        Err(error) => return ApiError::bad_request(syntax(&error)),
        Ok(Value::Object(fields)) => fields,
        Ok(other) => {
            let message = format!("the body must be a JSON object, not {}", kind(&other));
            return ApiError::bad_request(message);
        }
    };
    // Where it is wrong depends on what else is there.
    let said = |error: &serde_json::Error| without_place(&error.to_string()).to_owned();
    let read = |fields: &Map<String, Value>| {
        serde_json::to_vec(fields).ok().and_then(|body| read(&body)).as_ref().map(said)
    };
    let said = read(&fields).unwrap_or_else(|| said(error));
    // A field is to blame if without it there is another error, or none.
    let blamed = fields.keys().find(|&name| {
        let mut others = fields.clone();
        others.remove(name);
        body.len() <= MAX_SEARCHED && read(&others).is_none_or(|other| other != said)
    });
    match (blamed, between(&said, "missing field `")) {
        _ if said.contains("duplicate field") => {
            ApiError::bad_request(format!("the body {}", in_words(&said)))
        }
        (Some(name), Some(missing)) => {
            ApiError::invalid_field(name, format!("`{name}`: the field `{missing}` is missing"))
        }
        (Some(name), None) => {
            ApiError::invalid_field(name, format!("`{name}` {}", in_words(&said)))
        }
        (None, Some(missing)) => {
            ApiError::invalid_field(missing, format!("the field `{missing}` is missing"))
        }
        (None, None) => ApiError::bad_request(format!("the body {}", in_words(&said))),
    }
}

/// What a parser says, without the place.
fn without_place(said: &str) -> &str {
    said.split(" at line ").next().unwrap_or(said)
}

/// What is wrong with parameters of a query, as their parser says it.
pub(crate) fn query(said: &str) -> ApiError {
    let said = said.strip_prefix("Failed to deserialize query string: ").unwrap_or(said);
    if let Some(name) = between(said, "missing field `") {
        return ApiError::invalid_field(name, format!("the parameter `{name}` is missing"));
    }
    if let Some(name) = between(said, "unknown field `") {
        let own = said.split_once(", expected ").map(|(_, own)| own.trim_start_matches("one of "));
        let own = own.map(|own| own.replace(" or ", ", ") + ", ").unwrap_or_default();
        let message = format!("the parameter `{name}` is not known here; there is {own}`model`");
        return ApiError::invalid_field(name, message);
    }
    match said.split_once(": ") {
        Some((name, what)) if !name.contains(' ') => {
            ApiError::invalid_field(name, format!("the parameter `{name}` {}", in_words(what)))
        }
        _ => ApiError::bad_request(format!("the query {}", in_words(said))),
    }
}

/// What is wrong with a path, as its parser says it.
pub(crate) fn path(said: &str) -> ApiError {
    match between(said, "Cannot parse `") {
        Some(given) => ApiError::bad_request(format!(
            "in the path, {given:?} must be {}",
            expected(said.rsplit_once("to a `").map_or("", |(_, kind)| kind.trim_end_matches('`')))
        )),
        None => ApiError::bad_request(
            "the path cannot be read: it must be UTF-8, with %XX for other bytes",
        ),
    }
}

/// What is wrong with the syntax of JSON.
fn syntax(error: &serde_json::Error) -> String {
    let at = format!("at line {}, column {}", error.line(), error.column());
    match error.classify() {
        serde_json::error::Category::Eof if error.column() == 0 => "the body is empty".to_owned(),
        serde_json::error::Category::Eof => {
            format!("the body is not JSON: it ends too early, {at}")
        }
        _ => {
            // What the parser refuses although it may be JSON.
            let said = error.to_string();
            let what = match without_place(&said) {
                "recursion limit exceeded" => "has lists and objects in more than 127 others",
                "number out of range" => "has a number that is too large",
                "invalid unicode code point" => "is not UTF-8",
                surrogate if surrogate.contains("surrogate") => "has half of a character",
                "unexpected end of hex escape" => "has half of a character",
                _ => "is not JSON",
            };
            format!("the body {what}, {at}")
        }
    }
}

/// The rest of a sentence that begins with a field's name.
fn in_words(said: &str) -> String {
    let said = without_place(said);
    if let Some((_, what)) =
        said.split_once("invalid type: ").or(said.split_once("invalid value: "))
        && let Some((given, wanted)) = what.rsplit_once(", expected ")
    {
        let (wanted, given) = (expected(wanted), found(given));
        // Its range is what it does not fit.
        let whole = given.parse::<i128>().is_ok_and(|n| n >= 0) && wanted.starts_with("a whole");
        return if whole {
            "is too large a number".to_owned()
        } else {
            format!("must be {wanted}, not {given}")
        };
    }
    if let Some((_, what)) = said.split_once("unknown variant ") {
        return match what.split_once(", expected ") {
            Some((_, one)) => format!("must be {one}"),
            None => "has a value that is not known".to_owned(),
        };
    }
    if let Some((_, known)) = said.split_once("unknown field ") {
        return match known.split_once(", expected ") {
            Some((_, fields)) => {
                format!("is not known here; there is {}", fields.trim_start_matches("one of "))
            }
            None => "is not known here".to_owned(),
        };
    }
    if let Some(name) = between(said, "duplicate field `") {
        return format!("has the field `{name}` twice");
    }
    if said.contains("invalid digit") || said.contains("cannot parse integer") {
        return format!("must be {}", expected("u64"));
    }
    if said.contains("too large to fit") || said.contains("out of range") {
        return "is too large a number".to_owned();
    }
    if said.contains("was not `true` or `false`") {
        return "must be true or false".to_owned();
    }
    if said.contains("invalid float") {
        return "must be a number".to_owned();
    }
    // Of this program's own types: a whole sentence.
    if said.starts_with("must be ") { said.to_owned() } else { format!("cannot be read: {said}") }
}

/// What a type of this program is to others.
fn expected(name: &str) -> &str {
    match name.split(' ').next().unwrap_or(name) {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number, 0 or more",
        "isize" | "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "struct" => "an object",
        _ => match name {
            "a boolean" => "true or false",
            "a string" | "a borrowed string" => "a text",
            "a sequence" => "a list",
            "a map" => "an object",
            "unit" => "null",
            other => other,
        },
    }
}

/// What was given, in short.
fn found(given: &str) -> String {
    match given.split_once(' ') {
        Some(("string", text)) => {
            let text = text.trim_matches('"');
            let short: String = text.chars().take(40).collect();
            if short.len() < text.len() {
                format!("the text {short:?}…")
            } else {
                format!("the text {short:?}")
            }
        }
        Some(("integer" | "boolean", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => {
            value.trim_start_matches("point ").trim_matches('`').to_owned()
        }
        _ => match given {
            "sequence" => "a list".to_owned(),
            "map" => "an object".to_owned(),
            "unit value" | "Option value" => "null".to_owned(),
            other => other.to_owned(),
        },
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What stands between an opening and the next backtick.
fn between<'a>(text: &'a str, open: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once('`')?.0)
}
