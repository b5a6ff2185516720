//! `memo serve`: a model as a service.

use crate::args::ServeOptions;
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use etcetera::BaseStrategy;
use memo_server::{Config, Key, Limits};
use memo_store::{NewModel, Store};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Serving {
    address: String,
    model: String,
    documents: u64,
    tokens: u64,
    made: bool,
    keys: usize,
}

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
        writeln!(f, "  page    {}/", self.address)?;
        writeln!(f, "  OpenAI  {}/v1", self.address)?;
        writeln!(f, "  API     {}/docs", self.address)?;
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
    let here = options.addr.ip().is_loopback();
    if keys.is_empty() && !here {
        bail!(
            "--addr {}: others can reach that address, so it needs a key; make one and give it with --api-key-file FILE, \
             --api-key KEY or MEMO_API_KEY",
            options.addr
        );
    }
    let path = options.model.clone().map_or_else(own_model, Ok)?;
    crate::model::refuse_file(&path)?;
    // Bind first, so that no model is made if the address is in use.
    let listener = TcpListener::bind(options.addr).map_err(|why| {
        anyhow::anyhow!("cannot listen on {}: {why}; `--addr` takes another address", options.addr)
    })?;
    let address = listener.local_addr()?;
    progress.step("opening");
    let made = !path.exists();
    let store = open(&path)?;
    let stats = store.stats()?;
    let config = config(options, keys, &path);
    let keys = config.keys.len();
    progress.end();
    let serving = Serving {
        address: format!("http://{address}"),
        model: short(&path),
        documents: stats.documents.unwrap_or(0),
        tokens: stats.tokens,
        made,
        keys,
    };
    // The reader of standard output may have closed it; that must not stop the server.
    match crate::output::print(&serving, json) {
        Err(error) if !crate::output::is_closed_pipe(&error) => return Err(error),
        _ => {}
    }
    memo_server::run(store, config, listener)?;
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
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    Ok(Store::create(path, &NewModel::default())?)
}

/// The model in the user's data folder.
fn own_model() -> anyhow::Result<PathBuf> {
    let folders = etcetera::choose_base_strategy();
    let folders =
        folders.context("there is no data folder; give a model, as in `memo serve notes.memo`")?;
    Ok(folders.data_dir().join("memo").join("default.memo"))
}

fn config(options: &ServeOptions, keys: Vec<Key>, path: &Path) -> Config {
    let name =
        path.file_stem().map_or_else(|| "memo".into(), |name| name.to_string_lossy().into_owned());
    let mut hosts = Config::default().hosts;
    if options.addr.ip().is_loopback() || !options.host.is_empty() {
        hosts.extend(options.host.iter().cloned());
    } else {
        // With a key, any host name is allowed.
        hosts.clear();
    }
    let limits = Limits {
        body: options.max_body << 20,
        prompt: options.max_prompt,
        tokens: options.max_tokens,
        rate: options.rate,
        ..Limits::default()
    };
    Config { name, keys, hosts, origins: options.allow_origin.clone(), limits }
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
