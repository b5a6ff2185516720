//! What goes wrong, as clients of OpenAI's API expect to hear it.

use axum::Json;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// A request that was refused or failed; what is told of it is its detail.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Failure {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    pub(crate) detail: Detail,
    /// Seconds after which to try again.
    #[serde(skip)]
    pub(crate) retry: Option<u64>,
}

/// The body of an error.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    error: Detail,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Detail {
    /// What, and what to do about it.
    message: String,
    /// Whose fault it was: `invalid_request_error`, `authentication_error`, `permission_error`, `rate_limit_error` or
    /// `server_error`.
    r#type: &'static str,
    /// The field that is to blame.
    param: Option<String>,
    /// A word for programs.
    code: Option<&'static str>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let kind = match status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        let detail = Detail { message: message.into(), r#type: kind, param: None, code: None };
        Failure { status, detail, retry: None }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Bad input in a field.
    pub(crate) fn field(name: &str, message: impl Into<String>) -> Self {
        let mut failure = Self::bad(message);
        failure.detail.param = Some(name.to_owned());
        failure
    }

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message).coded("not_found")
    }

    /// Too much is being asked at once.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, message).coded("busy");
        Failure { retry: Some(1), ..failure }
    }

    pub(crate) fn coded(mut self, code: &'static str) -> Self {
        self.detail.code = Some(code);
        self
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: self.detail })).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<memo_store::Error> for Failure {
    fn from(error: memo_store::Error) -> Self {
        use memo_store::Error;
        let status = match &error {
            Error::NoDocument(_) | Error::NoTransaction(_) | Error::NotFound => {
                return Self::missing(error.to_string());
            }
            Error::State { .. } | Error::Rollback { .. } | Error::EditFails(_) => {
                StatusCode::CONFLICT
            }
            Error::Stopped => {
                return Self::new(StatusCode::CONFLICT, error.to_string()).coded("cancelled");
            }
            Error::Invalid(_) | Error::Engine(_) | Error::Tokenizer(_) | Error::DenseConfig(_) => {
                StatusCode::BAD_REQUEST
            }
            Error::Memory(memo::sparse::Error::Room { .. }) => StatusCode::INSUFFICIENT_STORAGE,
            Error::Memory(
                memo::sparse::Error::Settings(_)
                | memo::sparse::Error::Token { .. }
                | memo::sparse::Error::Range { .. },
            ) => StatusCode::BAD_REQUEST,
            // Its words may name paths, which are nobody's business.
            _ => {
                eprintln!("memo serve: {error}");
                let message = "the model failed; the server's own output says how";
                return Self::new(StatusCode::INTERNAL_SERVER_ERROR, message);
            }
        };
        Self::new(status, error.to_string())
    }
}

impl From<memo::sparse::Error> for Failure {
    fn from(error: memo::sparse::Error) -> Self {
        memo_store::Error::from(error).into()
    }
}

impl From<memo_text::TokenizerError> for Failure {
    fn from(error: memo_text::TokenizerError) -> Self {
        Self::bad(error.to_string())
    }
}

impl From<memo_text::CorpusError> for Failure {
    fn from(error: memo_text::CorpusError) -> Self {
        Self::bad(error.to_string())
    }
}

macro_rules! rejected {
    ($($rejection:ty),*) => {
        $(impl From<$rejection> for Failure {
            fn from(rejection: $rejection) -> Self {
                Self::new(
                    // What cannot be understood is bad, whichever layer did not understand it.
                    match rejection.status() {
                        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
                        status => status,
                    },
                    rejection.body_text(),
                )
            }
        })*
    };
}

rejected!(BytesRejection, JsonRejection, PathRejection, QueryRejection);
