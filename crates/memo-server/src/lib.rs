//! A model as a service: completions as OpenAI's clients ask for them, an API of its own for documents, explanations,
//! edits and forgetting, tools for agents, and a page on which to see the memory think.
//!
//! Data flow: a connection ([`serve`]) → the guard (`guard`: origins, keys, rates) → a handler (`openai`, `harness`,
//! `native`, `mcp`) → a worker (`workers`), which reads the model in turns with others (`turns`), or a task (`tasks`), which changes it →
//! the model (`model`), read by many and changed by one task at a time. A server has one model or several (`models`).

mod advice;
mod app;
mod caller;
#[cfg(test)]
mod committed;
mod config;
mod connections;
mod error;
mod events;
mod extract;
mod generate;
mod guard;
mod half_closed;
mod harness;
mod linger;
mod listen;
mod log;
mod mcp;
mod metrics;
mod model;
mod models;
mod native;
mod openai;
mod page;
mod partner;
mod problem;
mod reference;
mod request_id;
mod router;
mod server;
mod share;
mod tasks;
mod turns;
mod unread;
mod workers;

pub use self::config::{Config, Key, Limits, Log, Permission};
pub use self::listen::{Error, Listener, run, serve};
pub use self::models::{Models, is_model, models_in, name_of};
pub use self::partner::{Partner, PartnerError, PartnerFailure, PartnerInfo, PartnerOptions};
pub use self::share::run_mcp;
