//! `memo serve`: a model as a service, or several.

use crate::address::Bound;
use crate::args::{LogFormat, OnFailure, ServeOptions};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use etcetera::BaseStrategy;
use memo_server::{
    Config, Key, Limits, Log, Models, Partner, PartnerFailure, PartnerInfo, PartnerOptions,
    is_model, models_in, name_of,
};
use memo_store::{NewModel, Store};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[derive(Serialize)]
struct Serving {
    address: String,
    #[serde(flatten)]
    served: Served,
    keys: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    partner: Option<PartnerInfo>,
    /// What whoever starts it should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// What is served.
#[derive(Serialize)]
#[serde(untagged)]
enum Served {
    One { model: String, documents: u64, tokens: u64, made: bool },
    Several { folder: Option<String>, models: Vec<String> },
}

impl Display for Served {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Served::One { model, made: true, .. } => {
                writeln!(f, "  model   {model}, new and empty")
            }
            Served::One { model, documents, tokens, .. } => {
                let plural = if *documents == 1 { "document" } else { "documents" };
                let (documents, tokens) = (thousands(*documents), thousands(*tokens));
                writeln!(f, "  model   {model}: {documents} {plural}, {tokens} tokens")
            }
            Served::Several { folder, models } => {
                let names =
                    if models.is_empty() { "none yet".to_owned() } else { models.join(", ") };
                match folder {
                    Some(folder) => writeln!(f, "  models  {names}, in {folder}"),
                    None => writeln!(f, "  models  {names}"),
                }
            }
        }
    }
}

/// Of addresses that others can reach.
const PLAIN_HTTP: &str =
    "plain HTTP: who can listen on the way reads texts and keys; put a proxy with TLS in front";

impl Display for Serving {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "listening on {}", styled(GOOD, &self.address))?;
        write!(f, "{}", self.served)?;
        if let Some(PartnerInfo { model, vocabulary, .. }) = &self.partner {
            let vocabulary = thousands(*vocabulary as u64);
            writeln!(f, "  partner {model}, the same vocabulary of {vocabulary} tokens")?;
        }
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
    let what = what(&options.models)?;
    // Bind first, so that no model is made if the address is in use.
    let bound = options.addr.bind()?;
    progress.step("opening");
    let (models, served) = open(&what)?;
    let partner = partner(options, &models, progress)?;
    let config = config(options, keys, partner, &what, bound.local);
    let (address, keys) = (bound.address.clone(), config.keys.len());
    progress.end();
    let partner = config.partner.as_ref().map(|partner| partner.info().clone());
    let note = (!bound.local).then_some(PLAIN_HTTP);
    let serving = Serving { address, served, keys, partner, note };
    // The reader of standard output may have closed it; that must not stop the server.
    match crate::output::print(&serving, json) {
        Err(error) if !crate::output::is_closed_pipe(&error) => return Err(error),
        _ => {}
    }
    // The socket's file is removed when this ends.
    let Bound { listener, socket, .. } = bound;
    let served = memo_server::run(models, config, listener);
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

/// What is to be served.
enum What {
    One(PathBuf),
    Named(BTreeMap<String, PathBuf>),
    Folder(PathBuf),
}

/// Tells models and a folder of models apart.
fn what(paths: &[PathBuf]) -> anyhow::Result<What> {
    for path in paths {
        crate::model::refuse_file(path)?;
    }
    match paths {
        [] => Ok(What::One(own_model()?)),
        [path] if is_folder(path)? => Ok(What::Folder(path.clone())),
        [path] => Ok(What::One(path.clone())),
        several => {
            let mut named = BTreeMap::new();
            for path in several {
                let shown = path.display();
                if path.exists() && !is_model(path) {
                    bail!("{shown} is not a model; a folder of models is served alone");
                }
                let Some(name) = name_of(path) else {
                    bail!("{shown}: the name of a directory among several must be plain text");
                };
                if let Some(other) = named.insert(name.clone(), path.clone()) {
                    bail!("{} and {shown} would both be called {name:?}", other.display());
                }
            }
            Ok(What::Named(named))
        }
    }
}

/// Whether a directory is a folder of models: it has some, or nothing at all.
fn is_folder(path: &Path) -> anyhow::Result<bool> {
    let named_as_model = path.extension().is_some_and(|ending| ending == "memo");
    if !path.is_dir() || is_model(path) || named_as_model {
        return Ok(false);
    }
    let shown = || path.display().to_string();
    let is_empty = std::fs::read_dir(path).with_context(shown)?.next().is_none();
    Ok(is_empty || !models_in(path).with_context(shown)?.is_empty())
}

/// One model is opened, several when they are asked for.
fn open(what: &What) -> anyhow::Result<(Models, Served)> {
    Ok(match what {
        What::One(path) => {
            let made = !path.exists();
            let store = open_one(path)?;
            let stats = store.stats()?;
            let (documents, tokens) = (stats.documents.unwrap_or(0), stats.tokens);
            (store.into(), Served::One { model: short(path), documents, tokens, made })
        }
        What::Named(named) => {
            for path in named.values().filter(|path| !path.exists()) {
                open_one(path)?.close()?;
            }
            let models = named.keys().cloned().collect();
            (Models::Named(named.clone()), Served::Several { folder: None, models })
        }
        What::Folder(folder) => {
            let models = models_in(folder).with_context(|| folder.display().to_string())?;
            let models = models.into_keys().collect();
            let served = Served::Several { folder: Some(short(folder)), models };
            (Models::Folder(folder.clone()), served)
        }
    })
}

fn open_one(path: &Path) -> anyhow::Result<Store> {
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

/// The model beside the memory, once it answers.
fn partner(
    options: &ServeOptions,
    models: &Models,
    progress: &Progress,
) -> anyhow::Result<Option<Arc<Partner>>> {
    let Some(url) = &options.partner else { return Ok(None) };
    let Models::One(store) = models else {
        bail!("--partner goes with one model, whose vocabulary it has; serve that alone");
    };
    progress.step("asking the partner");
    let settings = PartnerOptions {
        url: url.clone(),
        timeout: Duration::from_secs(options.partner_timeout),
        failure: match options.partner_failure {
            OnFailure::Error => PartnerFailure::Error,
            OnFailure::Memory => PartnerFailure::Memory,
        },
        top: options.partner_top,
    };
    Ok(Some(Arc::new(Partner::connect(settings, store.tokenizer())?)))
}

fn config(
    options: &ServeOptions,
    keys: Vec<Key>,
    partner: Option<Arc<Partner>>,
    what: &What,
    local: bool,
) -> Config {
    let name = match what {
        What::One(path) => name(path),
        _ => "memo".to_owned(),
    };
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
        models: options.max_models,
        ..Limits::default()
    };
    let log = match options.log {
        LogFormat::Plain => Log::Plain,
        LogFormat::Json => Log::Json,
    };
    Config { name, keys, hosts, origins: options.allow_origin.clone(), limits, log, partner }
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
