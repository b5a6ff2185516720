//! Checks of every request before it is handled: its origin, its key, its size and its rate.

use crate::caller::{CALLER, Caller};
use crate::config::{Config, Key, Permission};
use crate::error::{ApiError, ErrorCode};
use crate::log::{self, RequestLine};
use crate::request_id;
use crate::server::Server;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
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

/// The most that a request's time is extended by turns of others, as a multiple of it.
const LONGEST_WAIT: u32 = 9;

/// Checks the origin of a request, limits its time, counts it, and adds the headers that all responses have.
pub(crate) async fn handle_request(
    State(server): State<Server>,
    route: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let id = request_id::of(&server, request.headers());
    let caller = request.extensions_mut().remove::<Caller>();
    let caller = caller.unwrap_or_else(Caller::current);
    let waited = Arc::clone(&caller.waited);
    let response = async {
        if let Err(error) =
            check_origin(&server.config, request.headers(), request.method(), request.uri())
        {
            return error.into_response();
        }
        next.run(request).await
    };
    let mut response = std::pin::pin!(CALLER.scope(caller, response));
    let limit = server.config.limits.time;
    let end = |waited: Duration| start + limit + waited.min(limit * LONGEST_WAIT);
    let mut response = loop {
        // In which others had their turn is not the request's own time.
        let until = end(waited.total());
        match tokio::time::timeout_at(until, &mut response).await {
            Ok(response) => break response,
            Err(_) if until < end(waited.total()) => {}
            Err(_) => {
                let message = "the request took too long";
                break ApiError::new(StatusCode::REQUEST_TIMEOUT, message).into_response();
            }
        }
    };
    let route = route.map_or_else(|| "other".to_owned(), |route| route.as_str().to_owned());
    let (status, time) = (response.status().as_u16(), start.elapsed());
    log::request(&RequestLine {
        id: id.to_str().unwrap_or_default(),
        method: method.as_str(),
        route: &route,
        status,
        milliseconds: log::milliseconds(time),
        key: response.extensions().get::<KeyNumber>().map(|KeyNumber(number)| number + 1),
    });
    server.metrics.record_request(&method, route, status, time);
    let headers = response.headers_mut();
    headers.insert(request_id::HEADER, id);
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The key that a request came with, noted in its response for the log.
#[derive(Clone, Copy)]
struct KeyNumber(usize);

/// Refuses requests by another host name than ours (a page elsewhere may have its own name resolve to this machine), and
/// changes that come from a page elsewhere.
fn check_origin(
    config: &Config,
    headers: &HeaderMap,
    method: &Method,
    uri: &Uri,
) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(StatusCode::FORBIDDEN, message));
    let mut hosts = headers.get_all(header::HOST).iter();
    let (host, other) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next());
    if other.is_some() {
        return Err(ApiError::bad_request("the request has more than one Host header"));
    }
    let target = uri.authority().map(axum::http::uri::Authority::as_str);
    if let (Some(host), Some(target)) = (host, target)
        && !host.eq_ignore_ascii_case(target)
    {
        let message = "the request's target names another host than its Host header";
        return Err(ApiError::bad_request(message));
    }
    let Some(host) = host.or(target) else {
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
    server: Server,
    permission: Permission,
    /// One for each key, or one for all.
    limiters: Arc<Vec<DefaultDirectRateLimiter>>,
}

impl AccessControl {
    /// The checks of routes that read and of routes that write.
    pub(crate) fn new(server: &Server) -> [Arc<Self>; 2] {
        let limiters =
            server.config.limits.rate.and_then(NonZeroU32::new).map_or_else(Vec::new, |rate| {
                let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(TWICE));
                (0..server.config.keys.len().max(1)).map(|_| RateLimiter::direct(quota)).collect()
            });
        let limiters = Arc::new(limiters);
        [Permission::Read, Permission::Write].map(|permission| {
            let (server, limiters) = (Arc::clone(server), Arc::clone(&limiters));
            Arc::new(AccessControl { server, permission, limiters })
        })
    }

    /// Lets a request pass; gives the number of its key, or 0 if there are none.
    fn check(&self, headers: &HeaderMap) -> Result<usize, ApiError> {
        let keys = &self.server.config.keys;
        let mut client = 0;
        if !keys.is_empty() {
            let given = bearer(headers)?;
            // All keys are compared, so that the time it takes does not depend on the key.
            let mut found = None;
            for (number, key) in keys.iter().enumerate() {
                found = if key.matches(given) { Some((number, key)) } else { found };
            }
            let Some((number, key)) = found else {
                let message =
                    "this key is none of this server's: it may be misspelt, or no longer valid";
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
        let most = self.server.config.limits.body;
        if length.and_then(|length| length.parse().ok()).is_some_and(|length: usize| length > most)
        {
            let message = format!("a request may have at most {most} bytes");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        // Unpacked, it could be any size; taken as it is, it would be memorized so.
        let packed = headers.get(header::CONTENT_ENCODING);
        if packed.is_some_and(|packed| !packed.as_bytes().eq_ignore_ascii_case(b"identity")) {
            let message =
                "compressed requests are not read; send the body without `Content-Encoding`";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        match self.limiters.get(client).map(RateLimiter::check) {
            Some(Err(_)) => {
                let message = "too many requests with this key; try again soon";
                Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, message).retry_soon())
            }
            _ => Ok(client),
        }
    }
}

/// The key that a request names.
fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let missing = |message: &str| {
        let error = ApiError::new(StatusCode::UNAUTHORIZED, message);
        Err(error.with_code(ErrorCode::MissingApiKey))
    };
    let Some(given) = headers.get(header::AUTHORIZATION) else {
        return missing("this server needs a key: send `Authorization: Bearer KEY`");
    };
    // The name of the scheme is in any case (RFC 9110, 11.1).
    match given.to_str().ok().and_then(|given| given.trim().split_once(' ')) {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.trim()),
        _ => missing("this server takes `Authorization: Bearer KEY`, and no other kind"),
    }
}

const TWICE: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// What the check of a request found, for those who handle it elsewhere than in the request's own task.
#[derive(Clone)]
pub(crate) struct Granted {
    /// What its key allows.
    pub(crate) permission: Permission,
    pub(crate) caller: Caller,
}

/// Handles a request that passes the check of its route.
pub(crate) async fn authorize(
    State(access): State<Arc<AccessControl>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = access.check(request.headers())?;
    let caller = Caller { key, ..Caller::current() };
    let permission = access.server.config.keys.get(key).map_or(Permission::Write, Key::permission);
    request.extensions_mut().insert(Granted { permission, caller: caller.clone() });
    let mut response = CALLER.scope(caller, next.run(request)).await;
    if !access.server.config.keys.is_empty() {
        response.extensions_mut().insert(KeyNumber(key));
    }
    Ok(response)
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
    fn one_host_and_one_only() {
        let ask = |hosts: &[&'static str], target: &'static str| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, HeaderValue::from_static(host));
            }
            check_origin(&Config::default(), &headers, &Method::GET, &Uri::from_static(target))
                .map_err(|error| error.status.as_u16())
        };
        assert_eq!(ask(&["localhost"], "/"), Ok(()));
        assert_eq!(ask(&[], "/"), Err(400));
        assert_eq!(ask(&["localhost", "localhost"], "/"), Err(400));
        assert_eq!(ask(&["localhost", "evil.example"], "/"), Err(400));
        assert_eq!(ask(&["localhost"], "http://localhost/v1/models"), Ok(()));
        assert_eq!(ask(&["localhost"], "http://evil.example/v1/models"), Err(400));
        assert_eq!(ask(&["localhost:7700"], "http://localhost:7701/"), Err(400));
        assert_eq!(ask(&["evil.example"], "http://evil.example/"), Err(403));
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
