//! Extractors of handlers: like axum's own, but what they refuse is said in words (`problem`), in the shape of our errors.

use crate::error::ApiError;
use crate::problem;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use std::fmt::Formatter;
use std::marker::PhantomData;

/// A JSON body. Its content type must be JSON, which a form of a page elsewhere cannot send.
pub(crate) struct Json<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            let message = "a request with a body needs `Content-Type: application/json`";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        let body = Bytes::from_request(request, state).await?;
        Ok(Json(problem::parse(&body)?))
    }
}

/// Whether a body is said to be JSON: `application/json`, or `application/…+json`.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    let Some((kind, name)) = kind.split_once('/') else { return false };
    let name = name.to_ascii_lowercase();
    kind.eq_ignore_ascii_case("application") && (name == "json" || name.ends_with("+json"))
}

/// A value that must be a JSON object. Structs by themselves would also take a list of their fields.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(Fields(PhantomData)).map(Object)
    }
}

/// Parameters in the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(path)) => Ok(Path(path)),
            Err(refused) => Err(problem::path(&refused.body_text())),
        }
    }
}

/// Parameters in the query, other than `model`, which every route takes.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let given = parts.uri.query().unwrap_or_default().split('&');
        let own: Vec<&str> = given.filter(|pair| pair.split('=').next() != Some("model")).collect();
        let own = Uri::try_from(format!("/?{}", own.join("&")));
        query(&own.unwrap_or_default()).map(Query)
    }
}

/// The parameters of a route that takes none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParameters {}

/// Reads the parameters of a query.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    let read = axum::extract::Query::try_from_uri(uri);
    read.map(|query| query.0).map_err(|refused| problem::query(&refused.body_text()))
}
