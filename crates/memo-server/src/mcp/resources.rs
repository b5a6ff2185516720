//! Documents as resources: `memo://documents/ID`.

use crate::app::App;
use crate::error::ApiError;
use memo_store::{Document, DocumentState, SOURCE_LABEL};
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::Value;
use std::fmt::Write;

const PREFIX: &str = "memo://documents/";

/// Resources of one page.
const PAGE: usize = 100;

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{id}}"), "document")
        .with_title("A remembered document")
        .with_description("The text of a document, by the id that `remember` and `recall` give.")
        .with_mime_type("text/plain")
}

/// Live documents, the newest first, from `offset` on.
pub(super) async fn list(app: &App, offset: usize) -> Result<Value, ApiError> {
    let listed = app.read(move |_, snapshot| {
        let mut documents = snapshot.documents()?;
        documents.retain(|document| document.state == DocumentState::Live);
        documents.sort_by_key(|document| {
            std::cmp::Reverse(document.versions.last().map(|version| version.transaction))
        });
        let more = documents.len() > offset.saturating_add(PAGE);
        let page = documents.iter().skip(offset).take(PAGE).map(resource).collect();
        let mut listed = ListResourcesResult::with_all_items(page);
        listed.next_cursor = more.then(|| (offset + PAGE).to_string());
        Ok(listed)
    });
    serde_json::to_value(listed.await?).map_err(|_| ApiError::internal())
}

fn resource(document: &Document) -> Resource {
    let resource = Resource::new(format!("{PREFIX}{}", encoded(&document.id)), &document.id)
        .with_mime_type("text/plain");
    match document.labels.get(SOURCE_LABEL) {
        Some(source) => resource.with_description(format!("from {source}")),
        None => resource,
    }
}

/// The text of a document.
pub(super) async fn read(app: &App, uri: String) -> Result<Value, ApiError> {
    let Some(id) = uri.strip_prefix(PREFIX).and_then(decoded) else {
        let message = format!("there is no resource {uri:?}; documents are {PREFIX}ID");
        return Err(ApiError::not_found(message));
    };
    let gone = ApiError::not_found(format!("document {id:?} has no text any more"));
    let text = app.read(move |_, snapshot| Ok(snapshot.show(&id, None)?.text)).await?;
    let text = text.ok_or(gone)?;
    let contents = vec![ResourceContents::text(text, uri)];
    serde_json::to_value(ReadResourceResult::new(contents)).map_err(|_| ApiError::internal())
}

/// An id as part of a URI.
fn encoded(id: &str) -> String {
    id.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
        uri
    })
}

fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut pieces = part.split('%');
    bytes.extend(pieces.next()?.bytes());
    for piece in pieces {
        let (byte, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(byte, 16).ok()?);
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_is_part_of_a_uri_and_comes_back() {
        for id in ["owl", "notes/owl 2.txt", "Größe 100 %", "日本語", "a?b#c%25"] {
            assert_eq!(decoded(&encoded(id)).as_deref(), Some(id));
        }
        assert_eq!(encoded("a/b ü"), "a%2Fb%20%C3%BC");
        assert_eq!([decoded("%"), decoded("%zz"), decoded("%ff")], [None, None, None]);
    }
}
