//! `memo serve`: a model as a service.

use crate::address::Bound;
use crate::args::{LogFormat, ServeOptions};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use etcetera::BaseStrategy;
use memo_server::{Config, Key, Limits, Log};
use memo_store::{NewModel, Store};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Serving {
    address: String,
    model: String,
    documents: u64,
    tokens: u64,
    made: bool,
    keys: usize,
    /// What whoever starts it should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// Of addresses that others can reach.
const PLAIN_HTTP: &str =
    "plain HTTP: who can listen on the way reads texts and keys; put a proxy with TLS in front";

impl Display for Serving {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "listening on {}", styled(GOOD, &self.address))?;
        let model = &self.model;
        let what = if self.made {
            format!("{model}, new and empty")
        } else {
            let (documents, tokens) = (thousands(self.documents), thousands(self.tokens));
            let plural = if self.documents == 1 { "document" } else { "documents" };
            format!("{model}: {documents} {plural}, {tokens} tokens")
        };
        writeln!(f, "  model   {what}")?;
        if let Some(path) = self.address.strip_prefix("unix:") {
            writeln!(f, "  try     curl --unix-socket {path} http://localhost/health")?;
        } else {
            writeln!(f, "  page    {}/", self.address)?;
            writeln!(f, "  OpenAI  {}/v1", self.address)?;
            writeln!(f, "  API     {}/docs", self.address)?;
        }
        if let Some(note) = self.note {
            writeln!(f, "  note    {note}")?;
        }
        writeln!(f, "{}", styled(FAINT, "Ctrl-C stops it."))
    }
}

#[derive(Serialize)]
struct Stopped {
    stopped: bool,
}

impl Display for Stopped {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "stopped; everything is saved")
    }
}

pub(crate) fn run(
    options: &ServeOptions,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    let keys = keys(options)?;
    if keys.is_empty() && !options.addr.is_local()? {
        bail!(
            "--addr {}: others can reach that address, so it needs a key; make one and give it with --api-key-file FILE, \
             --api-key KEY or MEMO_API_KEY",
            options.addr
        );
    }
    let path = model_or_own(options.model.as_deref())?;
    // Bind first, so that no model is made if the address is in use.
    let bound = options.addr.bind()?;
    progress.step("opening");
    let made = !path.exists();
    let store = open(&path)?;
    let stats = store.stats()?;
    let config = config(options, keys, &path, bound.local);
    let keys = config.keys.len();
    progress.end();
    let serving = Serving {
        address: bound.address.clone(),
        model: short(&path),
        documents: stats.documents.unwrap_or(0),
        tokens: stats.tokens,
        made,
        keys,
        note: (!bound.local).then_some(PLAIN_HTTP),
    };
    // The reader of standard output may have closed it; that must not stop the server.
    match crate::output::print(&serving, json) {
        Err(error) if !crate::output::is_closed_pipe(&error) => return Err(error),
        _ => {}
    }
    // The socket's file is removed when this ends.
    let Bound { listener, socket, .. } = bound;
    let served = memo_server::run(store, config, listener);
    drop(socket);
    served?;
    Ok(Box::new(Stopped { stopped: true }))
}

/// A path with the home folder written as `~`.
fn short(path: &Path) -> String {
    let home = etcetera::home_dir().unwrap_or_default();
    match path.strip_prefix(&home) {
        Ok(rest) if home.is_absolute() => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    }
}

fn open(path: &Path) -> anyhow::Result<Store> {
    if path.exists() {
        return Ok(Store::open(path)?);
    }
    make_parent(path)?;
    Ok(Store::create(path, &NewModel::default())?)
}

/// Makes the folder that a model is to be made in.
pub(crate) fn make_parent(path: &Path) -> anyhow::Result<()> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => {
            std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())
        }
        None => Ok(()),
    }
}

/// The model that is named, or one in the user's data folder.
pub(crate) fn model_or_own(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = named.map_or_else(own_model, |path| Ok(path.to_owned()))?;
    crate::model::refuse_file(&path)?;
    Ok(path)
}

/// The name of a model, as clients see it.
pub(crate) fn name(path: &Path) -> String {
    path.file_stem().map_or_else(|| "memo".into(), |name| name.to_string_lossy().into_owned())
}

/// The model in the user's data folder.
fn own_model() -> anyhow::Result<PathBuf> {
    let folders = etcetera::choose_base_strategy();
    let folders =
        folders.context("there is no data folder; give a model, as in `memo serve notes.memo`")?;
    Ok(folders.data_dir().join("memo").join("default.memo"))
}

fn config(options: &ServeOptions, keys: Vec<Key>, path: &Path, local: bool) -> Config {
    let name = name(path);
    let mut hosts = Config::default().hosts;
    if local || !options.host.is_empty() {
        hosts.extend(options.host.iter().cloned());
    } else {
        // With a key, any host name is allowed.
        hosts.clear();
    }
    let limits = Limits {
        body: options.max_body << 20,
        prompt: options.max_prompt,
        tokens: options.max_tokens,
        total: options.max_total,
        rate: options.rate,
        ..Limits::default()
    };
    let log = match options.log {
        LogFormat::Plain => Log::Plain,
        LogFormat::Json => Log::Json,
    };
    Config { name, keys, hosts, origins: options.allow_origin.clone(), limits, log }
}

/// All API keys: from the options, from a file, and from the environment.
fn keys(options: &ServeOptions) -> anyhow::Result<Vec<Key>> {
    let mut keys = options.api_key.clone();
    let mut add = |text: &str, from: &str| -> anyhow::Result<()> {
        for line in
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            keys.push(Key::parse(line).map_err(|why| anyhow::anyhow!("{from}: {why}"))?);
        }
        Ok(())
    };
    if let Some(path) = &options.api_key_file {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        if text.trim().is_empty() {
            bail!("{name}: there is no key in it");
        }
        add(&text, &name)?;
    }
    if let Ok(text) = std::env::var("MEMO_API_KEY") {
        add(&text, "MEMO_API_KEY")?;
    }
    Ok(keys)
}
