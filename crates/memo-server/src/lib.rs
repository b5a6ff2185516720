//! A model as a service: completions as OpenAI's clients ask for them, an API of its own for documents, explanations,
//! edits and forgetting, and a page on which to see the memory think.
//!
//! Data flow: a connection ([`serve`]) → the guard (`guard`: origins, keys, rates) → a handler (`openai`, `harness`,
//! `native`) → a worker (`workers`), which reads the model, or a task (`tasks`), which changes it → the model (`model`), read
//! by many and changed by one task at a time.

mod app;
mod config;
mod error;
mod events;
mod extract;
mod generate;
mod guard;
mod harness;
mod linger;
mod listen;
mod metrics;
mod model;
mod native;
mod openai;
mod page;
mod reference;
mod router;
mod tasks;
mod workers;

pub use self::config::{Config, Key, Limits, Permission};
pub use self::listen::{Error, run, serve};
