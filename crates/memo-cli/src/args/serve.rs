//! What can be typed about serving.

use super::values::between;
use crate::address::Address;
use memo_server::Key;
use std::path::PathBuf;

/// What happens when the partner is slow, gone, or talks nonsense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnFailure {
    /// The request fails.
    Error,
    /// The memory goes on alone.
    Memory,
}

/// What is written to standard error while it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Errors, a line each.
    Plain,
    /// Errors, requests and changes, a JSON object a line, without any text of users.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServeOptions {
    /// The model, or several; made if there is none. A folder that holds models serves all of them, each by its name. Without a
    /// name it is a model in your data folder.
    #[arg(value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// Where to listen: HOST:PORT, or unix:PATH for a Unix socket. Another address than this machine's own needs a key.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700", value_parser = Address::parse)]
    pub(crate) addr: Address,

    /// A neural model beside the memory: the address of llama.cpp's server, as http://127.0.0.1:8080. Both must have the same
    /// vocabulary, which is checked.
    #[arg(long, value_name = "URL")]
    pub(crate) partner: Option<String>,

    /// Seconds that an answer of the partner may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "partner", value_parser = between(1..=3600u64))]
    pub(crate) partner_timeout: u64,

    /// How many of its most probable tokens the partner is asked for; the rest of its mass all others share equally.
    #[arg(long, value_name = "N", default_value_t = 128, requires = "partner", value_parser = between(1..=100_000usize))]
    pub(crate) partner_top: usize,

    /// What to do when the partner is slow, gone or talks nonsense.
    #[arg(long, value_name = "WHAT", default_value = "error", requires = "partner")]
    pub(crate) partner_failure: OnFailure,

    /// A key that clients must send, of 16 characters or more; `read:KEY` may not change the model. Can be repeated. Others
    /// can see it in the list of processes: a file or MEMO_API_KEY is better.
    #[arg(long, value_name = "KEY", value_parser = Key::parse)]
    pub(crate) api_key: Vec<Key>,

    /// A file with a key on each line.
    #[arg(long, value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,

    /// Another name by which this machine may be called. Can be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,

    /// A page from elsewhere that may use the server, as https://example.org. Can be repeated.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

    /// Requests a second that each key may make; without it, any number.
    #[arg(long, value_name = "N", value_parser = between(1..=1_000_000u32))]
    pub(crate) rate: Option<u32>,

    /// The largest request, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = between(1..=4096usize))]
    pub(crate) max_body: usize,

    /// The most tokens of a prompt.
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = between(1..=10_000_000usize))]
    pub(crate) max_prompt: usize,

    /// The most tokens of a completion.
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = between(1..=10_000_000usize))]
    pub(crate) max_tokens: usize,

    /// The most tokens of all completions of a request together.
    #[arg(long, value_name = "N", default_value_t = 131_072, value_parser = between(1..=100_000_000usize))]
    pub(crate) max_total: usize,

    /// The most of several models that are open at a time; for one more, the idlest is closed.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = between(1..=10_000usize))]
    pub(crate) max_models: usize,

    /// What to write to standard error: errors, or everything that happens as JSON. Neither has a text of users.
    #[arg(long, value_name = "FORMAT", default_value = "plain")]
    pub(crate) log: LogFormat,
}
