//! The page: the files that `cargo xtask web` builds, embedded in the program.

use crate::error::ApiError;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/page");

/// The page itself.
pub(crate) async fn index() -> Response {
    // Its name stays the same when its content changes.
    file("index.html", "no-cache")
}

/// Scripts, styles and pictures. Their names contain a hash of their content.
pub(crate) async fn asset(Path(path): Path<String>) -> Response {
    file(&format!("assets/{path}"), "public, max-age=31536000, immutable")
}

fn file(path: &str, cache: &'static str) -> Response {
    let Some(file) = FILES.get_file(path) else {
        return ApiError::not_found("there is no such file").into_response();
    };
    let kind = match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)], file.contents())
        .into_response()
}
