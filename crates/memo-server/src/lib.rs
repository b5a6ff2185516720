//! A model as a service: completions as OpenAI's clients ask for them, an API of its own for documents, explanations,
//! edits and forgetting, and a page on which to see the memory think.
//!
//! Data flow: a connection ([`serve`]) → the guard (`guard`: names, keys, rates) → a handler (`openai`, `harness`,
//! `native`) → the desk (`desk`), where work waits for a processor → the model (`model`), read by many and changed by
//! one task at a time (`tasks`).

mod app;
mod config;
mod desk;
mod error;
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
mod tell;

pub use self::config::{Config, Key, Limits, Right};
pub use self::listen::{Error, run, serve};
