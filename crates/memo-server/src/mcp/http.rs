//! `/mcp`: the protocol over HTTP, behind the same checks as every other request.
//!
//! There are no sessions: each request is answered by itself, as the current revision of the protocol has it, and clients of older ones
//! do not notice. So a server can be started again, and any number of clients cost nothing while they ask nothing.

use super::Handler;
use crate::server::Server;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// The service at `/mcp`. Hosts and origins have been checked before (`guard`).
pub(crate) fn service(server: &Server) -> StreamableHttpService<Handler, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(server.config.limits.body)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let server = Arc::clone(server);
    let handler = move || Ok(Handler::of_server(Arc::clone(&server)));
    StreamableHttpService::new(handler, Arc::new(NeverSessionManager::default()), config)
}
