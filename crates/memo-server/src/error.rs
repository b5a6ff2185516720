//! Errors as responses, in the shape that clients of OpenAI's API expect.

use axum::Json;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A request that was refused or failed. Serialized, it is its detail.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ApiError {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    pub(crate) detail: ErrorDetail,
    /// Seconds after which to try again.
    #[serde(skip)]
    pub(crate) retry_after: Option<u64>,
}

/// The body of an error.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ErrorDetail {
    /// What happened, and what to do about it.
    #[serde(serialize_with = "crate::advice::serialize")]
    message: String,
    /// The kind of the error.
    r#type: ErrorType,
    /// The field that is to blame.
    param: Option<String>,
    /// The reason, for programs.
    code: Option<ErrorCode>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
enum ErrorType {
    #[serde(rename = "invalid_request_error")]
    InvalidRequest,
    #[serde(rename = "authentication_error")]
    Authentication,
    #[serde(rename = "permission_error")]
    Permission,
    #[serde(rename = "rate_limit_error")]
    RateLimit,
    #[serde(rename = "server_error")]
    Server,
}

/// The reason of an error, for programs.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorCode {
    NotFound,
    ModelNotFound,
    ContextLengthExceeded,
    MissingApiKey,
    InvalidApiKey,
    ReadOnlyKey,
    /// Too much waits already; it can be tried again soon.
    Busy,
    Cancelled,
    /// The model beside the memory did not answer.
    Partner,
    /// The server must be started again.
    Broken,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let r#type = match status {
            StatusCode::UNAUTHORIZED => ErrorType::Authentication,
            StatusCode::FORBIDDEN => ErrorType::Permission,
            StatusCode::TOO_MANY_REQUESTS => ErrorType::RateLimit,
            status if status.is_server_error() => ErrorType::Server,
            _ => ErrorType::InvalidRequest,
        };
        let detail = ErrorDetail { message: message.into(), r#type, param: None, code: None };
        ApiError { status, detail, retry_after: None }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// An invalid value of a field.
    pub(crate) fn invalid_field(name: &str, message: impl Into<String>) -> Self {
        Self::bad_request(message).with_field(name)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message).with_code(ErrorCode::NotFound)
    }

    /// Too much is asked at once.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).with_code(ErrorCode::Busy).retry_soon()
    }

    /// A bug of the server.
    pub(crate) fn internal() -> Self {
        let message = "the request failed because of an error in the server itself";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    pub(crate) fn with_code(mut self, code: ErrorCode) -> Self {
        self.detail.code = Some(code);
        self
    }

    /// With the field that is to blame.
    pub(crate) fn with_field(mut self, name: &str) -> Self {
        self.detail.param = Some(name.to_owned());
        self
    }

    pub(crate) fn retry_soon(self) -> Self {
        ApiError { retry_after: Some(1), ..self }
    }
}

impl ErrorDetail {
    /// What happened, and what to do about it on the command line.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: self.detail })).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<memo_store::Error> for ApiError {
    fn from(error: memo_store::Error) -> Self {
        use memo::sparse;
        use memo_store::Error;
        let status = match &error {
            Error::NoDocument(_)
            | Error::NoTransaction(_)
            | Error::NoLexicon
            | Error::NoClass(_)
            | Error::NotFound
            | Error::NoneFits => {
                return Self::not_found(error.to_string());
            }
            // Their own messages name paths.
            Error::NoRoom { needed, free, .. } => {
                let message = format!(
                    "forgetting needs about {needed} bytes free on the server's disk, and {free} are free; nothing has \
                     changed"
                );
                return Self::new(StatusCode::INSUFFICIENT_STORAGE, message);
            }
            Error::Pending { transaction, documents, needed, .. } => {
                crate::log::error(&error);
                let message = format!(
                    "transaction {transaction} forgets {}, but the server's disk had no room to scrub all of it: that \
                     needs about {needed} bytes; the next forget, or a start of the server, finishes it first",
                    documents.join(", ")
                );
                return Self::new(StatusCode::INSUFFICIENT_STORAGE, message);
            }
            Error::Option { name, .. } => return Self::invalid_field(name, error.to_string()),
            Error::Stopped => {
                let error = Self::new(StatusCode::CONFLICT, error.to_string());
                return error.with_code(ErrorCode::Cancelled);
            }
            Error::State { .. } | Error::Rollback { .. } | Error::EditFails(_) => {
                StatusCode::CONFLICT
            }
            Error::Invalid(_)
            | Error::Graph(_)
            | Error::Rules(_)
            | Error::Tokenizer(_)
            | Error::Memory(
                sparse::Error::Settings(_)
                | sparse::Error::Token { .. }
                | sparse::Error::Range { .. },
            ) => StatusCode::BAD_REQUEST,
            // Other messages may name paths, which clients must not see.
            _ => {
                crate::log::error(&error);
                let message = "the model failed; the server's own output says how";
                return Self::new(StatusCode::INTERNAL_SERVER_ERROR, message);
            }
        };
        Self::new(status, error.to_string())
    }
}

impl From<memo::sparse::Error> for ApiError {
    fn from(error: memo::sparse::Error) -> Self {
        memo_store::Error::from(error).into()
    }
}

impl From<memo_text::TokenizerError> for ApiError {
    fn from(error: memo_text::TokenizerError) -> Self {
        memo_store::Error::from(error).into()
    }
}

impl From<memo_text::CorpusError> for ApiError {
    fn from(error: memo_text::CorpusError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<BytesRejection> for ApiError {
    fn from(refused: BytesRejection) -> Self {
        let message = match refused.status() {
            StatusCode::PAYLOAD_TOO_LARGE => "the request is larger than this server takes",
            _ => "the request's body did not arrive",
        };
        Self::new(refused.status(), message)
    }
}
