//! Ids of requests: a client's own, or one that is made, so that a line of the log and a response can be told to belong together.

use crate::server::ServerState;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header of an id, in requests and responses.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken over.
const LONGEST: usize = 128;

/// The id of a request.
pub(crate) fn of(server: &ServerState, headers: &HeaderMap) -> HeaderValue {
    let mut given = headers.get_all(HEADER).iter();
    match (given.next(), given.next()) {
        (Some(id), None) if is_valid(id.as_bytes()) => id.clone(),
        _ => HeaderValue::from_str(&server.response_id("req"))
            .unwrap_or_else(|_| HeaderValue::from_static("req")),
    }
}

/// Whether an id is short, and plain enough for every log.
fn is_valid(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
    (1..=LONGEST).contains(&id.len()) && id.iter().all(plain)
}
