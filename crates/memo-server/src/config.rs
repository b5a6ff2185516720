//! Configuration of a server.

use crate::partner::Partner;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of the model, if there is one; several have their own.
    pub name: String,
    /// Keys of clients. With none, everyone may do everything, so the server must listen on loopback only.
    pub keys: Vec<Key>,
    /// Host names that requests may use; empty allows any. Without keys they must be the machine's own: otherwise a page
    /// from elsewhere could have its own name resolve to this machine.
    pub hosts: Vec<String>,
    /// Origins of other pages that may use the server, as `https://example.org`.
    pub origins: Vec<String>,
    /// Limits of requests.
    pub limits: Limits,
    /// What is written to standard error.
    pub log: Log,
    /// The neural model beside the memory, if there is one.
    pub partner: Option<Arc<Partner>>,
}

/// What a server writes to standard error. Neither has a text of users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Errors of the model, a line each.
    #[default]
    Plain,
    /// Errors, requests and changes, a JSON object a line.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        let (keys, origins, limits) = (Vec::new(), Vec::new(), Limits::default());
        Config {
            name: "memo".to_owned(),
            keys,
            hosts,
            origins,
            limits,
            log: Log::Plain,
            partner: None,
        }
    }
}

/// Limits of requests.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of a request.
    pub body: usize,
    /// The most tokens of a prompt.
    pub prompt: usize,
    /// The most tokens of a completion.
    pub tokens: usize,
    /// The most tokens of all completions of a request: prompts, times `n`, times `max_tokens`.
    pub total: usize,
    /// The most requests a second for each key, with bursts of twice as many.
    pub rate: Option<u32>,
    /// The most requests that are worked on or wait for that.
    pub waiting: usize,
    /// The most connections at a time; for a new one beyond that, the idlest is closed.
    pub connections: usize,
    /// The most models that are open at a time; for one more, the idlest is closed.
    pub models: usize,
    /// The time for a request to arrive, and for its response to begin; without that in which others had their turn.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 64 << 20,
            prompt: 1 << 16,
            tokens: 1 << 14,
            total: 1 << 17,
            rate: None,
            waiting: 512,
            connections: 1024,
            models: 16,
            time: Duration::from_secs(60),
        }
    }
}

/// A key of a client, kept as a hash.
#[derive(Clone, Debug)]
pub struct Key {
    hash: blake3::Hash,
    permission: Permission,
}

/// What a key allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// To read: complete, score, explain, list.
    Read,
    /// To change the model too.
    Write,
}

impl Key {
    /// A key with a permission.
    pub fn new(secret: &str, permission: Permission) -> Self {
        Key { hash: blake3::hash(secret.as_bytes()), permission }
    }

    /// Reads `secret`, `read:secret` or `write:secret`.
    ///
    /// ```
    /// use memo_server::{Key, Permission};
    /// assert_eq!(Key::parse("read:0123456789abcdef").unwrap().permission(), Permission::Read);
    /// assert!(Key::parse("short").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let (permission, secret) = match text.split_once(':') {
            Some(("read", secret)) => (Permission::Read, secret),
            Some(("write", secret)) => (Permission::Write, secret),
            _ => (Permission::Write, text),
        };
        if secret.len() < 16 || secret.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err("a key must have at least 16 characters and no spaces".to_owned());
        }
        Ok(Self::new(secret, permission))
    }

    /// What it allows.
    pub fn permission(&self) -> Permission {
        self.permission
    }

    /// Whether a client's secret is this key. Hashes are compared in constant time.
    pub(crate) fn matches(&self, secret: &str) -> bool {
        self.hash == blake3::hash(secret.as_bytes())
    }
}
