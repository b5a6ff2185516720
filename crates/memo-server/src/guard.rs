//! Checks of every request before it is handled: its origin, its key, its size and its rate.

use crate::app::App;
use crate::config::{Config, Permission};
use crate::error::{ApiError, ErrorCode};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Allows nothing but our own files, and no frames around them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Checks the origin of a request, limits its time, counts it, and adds the headers that all responses have.
pub(crate) async fn handle_request(
    State(app): State<App>,
    route: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let response = async {
        if let Err(error) =
            check_origin(&app.config, request.headers(), request.method(), request.uri())
        {
            return error.into_response();
        }
        next.run(request).await
    };
    let late = || ApiError::new(StatusCode::REQUEST_TIMEOUT, "the request took too long");
    let limit = app.config.limits.time;
    let response = tokio::time::timeout(limit, response).await;
    let mut response = response.unwrap_or_else(|_| late().into_response());
    let route = route.map_or_else(|| "other".to_owned(), |route| route.as_str().to_owned());
    app.metrics.record_request(&method, route, response.status().as_u16(), start.elapsed());
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses requests by another host name than ours (a page elsewhere may have its own name resolve to this machine), and
/// changes that come from a page elsewhere.
fn check_origin(
    config: &Config,
    headers: &HeaderMap,
    method: &Method,
    uri: &Uri,
) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(StatusCode::FORBIDDEN, message));
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| uri.authority().map(axum::http::uri::Authority::as_str));
    let Some(host) = host else {
        return Err(ApiError::bad_request("the request has no Host header"));
    };
    let name = without_port(host);
    if !config.hosts.is_empty() && !config.hosts.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return refuse(format!("this server is not called {name:?}; `--host` adds a name"));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let own = origin.split_once("://").is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(host));
    let harmless = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if own || harmless || config.origins.iter().any(|allowed| allowed == origin) {
        return Ok(());
    }
    refuse(format!("pages from {origin:?} may not use this server; `--allow-origin` lets them"))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // The colons of a bare IPv6 address are inside brackets.
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Lets pages of the allowed origins read responses; none if there are no such origins.
pub(crate) fn cors(config: &Config) -> Option<CorsLayer> {
    let origins: Vec<HeaderValue> =
        config.origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(origins))
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE])
    })
}

/// The check of keys, sizes and rates for routes that need the same permission.
pub(crate) struct AccessControl {
    app: App,
    permission: Permission,
    /// One for each key, or one for all.
    limiters: Arc<Vec<DefaultDirectRateLimiter>>,
}

impl AccessControl {
    /// The checks of routes that read and of routes that write.
    pub(crate) fn new(app: &App) -> [Arc<Self>; 2] {
        let limiters =
            app.config.limits.rate.and_then(NonZeroU32::new).map_or_else(Vec::new, |rate| {
                let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(TWICE));
                (0..app.config.keys.len().max(1)).map(|_| RateLimiter::direct(quota)).collect()
            });
        let limiters = Arc::new(limiters);
        [Permission::Read, Permission::Write].map(|permission| {
            let (app, limiters) = (Arc::clone(app), Arc::clone(&limiters));
            Arc::new(AccessControl { app, permission, limiters })
        })
    }

    fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let keys = &self.app.config.keys;
        let mut client = 0;
        if !keys.is_empty() {
            let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
            let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
            // All keys are compared, so that the time it takes does not depend on the key.
            let mut found = None;
            for (number, key) in keys.iter().enumerate() {
                found = if key.matches(given) { Some((number, key)) } else { found };
            }
            let Some((number, key)) = found else {
                let message = "this server needs a key: `Authorization: Bearer KEY`";
                let error = ApiError::new(StatusCode::UNAUTHORIZED, message);
                return Err(error.with_code(ErrorCode::InvalidApiKey));
            };
            if key.permission() < self.permission {
                let message = "this key may read, but not change";
                let error = ApiError::new(StatusCode::FORBIDDEN, message);
                return Err(error.with_code(ErrorCode::ReadOnlyKey));
            }
            client = number;
        }
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let most = self.app.config.limits.body;
        if length.and_then(|length| length.parse().ok()).is_some_and(|length: usize| length > most)
        {
            let message = format!("a request may have at most {most} bytes");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        match self.limiters.get(client).map(RateLimiter::check) {
            Some(Err(_)) => {
                let message = "too many requests with this key; try again soon";
                Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, message).retry_soon())
            }
            _ => Ok(()),
        }
    }
}

const TWICE: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// Handles a request that passes the check of its route.
pub(crate) async fn authorize(
    State(access): State<Arc<AccessControl>>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    access.check(request.headers())?;
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &Method, host: &str, origin: Option<&str>) -> Result<(), u16> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let config = Config { origins: vec!["https://a.example".into()], ..Config::default() };
        check_origin(&config, &headers, method, &Uri::from_static("/"))
            .map_err(|error| error.status.as_u16())
    }

    #[test]
    fn only_our_own_names_and_pages() {
        for host in
            ["localhost", "localhost:7700", "LOCALHOST:1", "127.0.0.1:7700", "[::1]:7700", "[::1]"]
        {
            assert_eq!(check(&Method::POST, host, None), Ok(()), "{host}");
        }
        for host in
            ["evil.example", "evil.example:7700", "127.0.0.1.evil.example", "localhost.evil:80"]
        {
            assert_eq!(check(&Method::GET, host, None), Err(403), "{host}");
        }
        let here = "localhost:7700";
        assert_eq!(check(&Method::POST, here, Some("http://localhost:7700")), Ok(()));
        assert_eq!(check(&Method::POST, here, Some("https://a.example")), Ok(()));
        assert_eq!(check(&Method::GET, here, Some("https://evil.example")), Ok(()));
        for origin in ["https://evil.example", "http://localhost:8000", "null"] {
            assert_eq!(check(&Method::POST, here, Some(origin)), Err(403), "{origin}");
            assert_eq!(check(&Method::DELETE, here, Some(origin)), Err(403), "{origin}");
        }
    }
}
