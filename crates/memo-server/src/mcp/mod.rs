//! The Model Context Protocol: a memory as tools and resources of agents.
//!
//! [`Handler`] is the protocol's side of it, by the official SDK (`rmcp`), whatever the transport: `/mcp` of a server (`http`), or standard
//! input and output (`share`). It turns what a client asks into a [`Request`], which `answer` answers from the model, and which also
//! travels between processes that share one. What the tools are is in `tools`, what they do in `calls`.

mod answer;
mod arguments;
mod calls;
pub(crate) mod http;
mod resources;
mod schema;
mod tools;

pub(crate) use self::answer::{Access, Refusal, Reply, Request, answer};

use crate::caller::CALLER;
use crate::config::Permission;
use crate::guard::Granted;
use crate::server::{Server, chosen};
use crate::share::Member;
use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// What agents are told before they use any tool.
const INSTRUCTIONS: &str = "A memory of texts that outlasts conversations. Before you answer from memory, `recall` what you need by its \
    rare words, and name the document or source that it gives. `remember` what is worth knowing later: one fact a call, in a whole \
    sentence that is understood on its own, with its `source`; what is known already is not stored twice. When something is wrong or \
    outdated, `correct` or `forget` it: forgetting is for good and leaves no trace, so look at its dry run first, and ask your user. \
    `history` shows every change, and `undo` takes one back.";

/// The memory as the protocol sees it.
#[derive(Clone)]
pub(crate) struct Handler(Backend);

/// Who answers.
#[derive(Clone)]
enum Backend {
    /// The model of this server that a request is about.
    Server(Server),
    /// Whichever process has the model.
    Member(Arc<Member>),
}

impl Handler {
    pub(crate) fn of_server(server: Server) -> Self {
        Handler(Backend::Server(server))
    }

    pub(crate) fn of_member(member: Arc<Member>) -> Self {
        Handler(Backend::Member(member))
    }

    async fn ask(
        &self,
        request: Request,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, Refusal> {
        let answered = async {
            match &self.0 {
                Backend::Member(member) => member.ask(&request).await,
                Backend::Server(server) => {
                    let Some(mut parts) = context.extensions.get::<Parts>().cloned() else {
                        return Err(Refusal::internal());
                    };
                    let app = chosen(&parts, server).await?;
                    let Some(granted) = parts.extensions.remove::<Granted>() else {
                        return Err(Refusal::internal());
                    };
                    let patience = app.config.limits.time.mul_f64(0.9);
                    let access = Access { permission: granted.permission, patience };
                    match CALLER.scope(granted.caller, answer(&app, access, request)).await {
                        Reply::Result(value) => Ok(value),
                        Reply::Refused(refusal) => Err(refusal),
                        Reply::Moved => Err(Refusal::new("the server is stopping; try again")),
                    }
                }
            }
        };
        tokio::select! {
            answered = answered => answered,
            () = context.ct.cancelled() => Err(Refusal::new("the request was cancelled")),
        }
    }

    /// What the client may do.
    fn permission(&self, context: &RequestContext<RoleServer>) -> Permission {
        match self.0 {
            Backend::Server(_) => {
                let parts = context.extensions.get::<Parts>();
                let granted = parts.and_then(|parts| parts.extensions.get::<Granted>());
                granted.map_or(Permission::Read, |granted| granted.permission)
            }
            // Whoever starts the program may change the model.
            Backend::Member(_) => Permission::Write,
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("memo", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let permission = self.permission(&context);
        let allowed = tools::all().iter().filter(|tool| tools::permission(tool) <= permission);
        Ok(ListToolsResult::with_all_items(allowed.cloned().collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        if self.get_tool(&name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool {name:?}"), None));
        }
        let tool = name.into_owned();
        let request = Request::Call { tool, arguments: arguments.unwrap_or_default() };
        let result = match self.ask(request, &context).await {
            Ok(value) => CallToolResult::structured(value),
            // What a tool refuses is for the agent to read.
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal.message)]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let offset = cursor.map_or(Ok(0), |cursor| {
            let message = "the cursor is none that this server gave";
            cursor.parse().map_err(|_| ErrorData::invalid_params(message, None))
        });
        read(self.ask(Request::List { offset: offset? }, &context).await)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let request = Request::Read { uri: request.uri };
        read::<ReadResourceResult>(self.ask(request, &context).await).map(Into::into)
    }
}

/// A result of the protocol, or an error of it.
fn read<T: DeserializeOwned>(answered: Result<Value, Refusal>) -> Result<T, ErrorData> {
    match answered {
        Ok(value) => serde_json::from_value(value)
            .map_err(|_| ErrorData::internal_error("the answer cannot be read", None)),
        Err(Refusal { message, not_found: true }) => {
            Err(ErrorData::resource_not_found(message, None))
        }
        Err(Refusal { message, .. }) => Err(ErrorData::internal_error(message, None)),
    }
}
