//! What a server can be told.

use std::time::Duration;

/// What a server is to do.
#[derive(Clone, Debug)]
pub struct Config {
    /// The model's name, as clients see it.
    pub name: String,
    /// Who may do what. With none, everyone may do everything, so the server must listen on loopback only.
    pub keys: Vec<Key>,
    /// Names that a request may call this host by; empty allows any. Without keys they must be the machine's own:
    /// otherwise a page from elsewhere could have its own name lead here.
    pub hosts: Vec<String>,
    /// Pages from elsewhere that may use the server, as `https://example.org`.
    pub origins: Vec<String>,
    /// How much is too much.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        let (keys, origins, limits) = (Vec::new(), Vec::new(), Limits::default());
        Config { name: "memo".to_owned(), keys, hosts, origins, limits }
    }
}

/// How much is too much.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request.
    pub body: usize,
    /// Tokens of a prompt.
    pub prompt: usize,
    /// Tokens of a completion.
    pub tokens: usize,
    /// Requests a second for each key; bursts of twice as many.
    pub rate: Option<u32>,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Connections at a time.
    pub connections: usize,
    /// For a request to arrive, and for an answer to begin.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 64 << 20,
            prompt: 1 << 16,
            tokens: 1 << 14,
            rate: None,
            waiting: 512,
            connections: 1024,
            time: Duration::from_secs(60),
        }
    }
}

/// A key, of which only its hash is kept.
#[derive(Clone, Debug)]
pub struct Key {
    hash: blake3::Hash,
    right: Right,
}

/// What a key allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// To read: complete, score, explain, list.
    Read,
    /// To change the model too.
    Write,
}

impl Key {
    /// A key that allows something.
    pub fn new(secret: &str, right: Right) -> Self {
        Key { hash: blake3::hash(secret.as_bytes()), right }
    }

    /// Reads `secret`, `read:secret` or `write:secret`.
    ///
    /// ```
    /// use memo_server::{Key, Right};
    /// assert_eq!(Key::parse("read:0123456789abcdef").unwrap().right(), Right::Read);
    /// assert!(Key::parse("short").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let (right, secret) = match text.split_once(':') {
            Some(("read", secret)) => (Right::Read, secret),
            Some(("write", secret)) => (Right::Write, secret),
            _ => (Right::Write, text),
        };
        if secret.len() < 16 || secret.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err("a key must have at least 16 characters and no spaces".to_owned());
        }
        Ok(Self::new(secret, right))
    }

    /// What it allows.
    pub fn right(&self) -> Right {
        self.right
    }

    /// Whether this is the key. Hashes are compared in constant time.
    pub(crate) fn is(&self, secret: &str) -> bool {
        self.hash == blake3::hash(secret.as_bytes())
    }
}
