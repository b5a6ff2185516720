//! A process that asks whoever has the model, and takes it if nobody does.

use super::owner::Owner;
use super::socket::{AskOutcome, ask};
use crate::config::Config;
use crate::listen::Error;
use crate::mcp::{Refusal, Reply, Request};
use crate::workers::on_thread;
use memo_store::{NewModel, Store};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long a member waits for a model that another process has, but does not share.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time between two attempts to reach the owner, or to become it.
const PAUSE: Duration = Duration::from_millis(20);

/// The head start of a process that was handed the model, before those who used it ask for it again.
const HEAD_START: Duration = Duration::from_millis(200);

/// A process that uses a model together with others.
pub(crate) struct Member {
    directory: PathBuf,
    config: Config,
    link: Mutex<Option<Link>>,
}

/// The way to the model.
#[derive(Clone)]
enum Link {
    /// This process has it.
    Own(Arc<Owner>),
    /// Another one does, and listens here.
    Through(PathBuf),
}

impl Member {
    pub(crate) fn new(directory: &Path, config: Config) -> Self {
        Member { directory: directory.to_owned(), config, link: Mutex::new(None) }
    }

    /// Makes the model if there is none, and finds the way to it.
    pub(crate) async fn join(&self) -> Result<(), Error> {
        let directory = self.directory.clone();
        if !directory.exists() {
            let made = move || Store::create(&directory, &NewModel::default()).map(drop);
            match run_blocking(made).await {
                // Another process was faster, and may have it already.
                Ok(()) | Err(memo_store::Error::Exists { .. } | memo_store::Error::Busy { .. }) => {
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.link().await.map(drop)
    }

    /// Asks for something, of whoever has the model.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Value, Refusal> {
        loop {
            let link = self.link().await.map_err(|error| Refusal::new(error.to_string()))?;
            let asked = match &link {
                Link::Own(owner) => AskOutcome::Replied(owner.ask(request.clone()).await),
                Link::Through(socket) => ask(socket, request).await,
            };
            match asked {
                AskOutcome::Replied(Reply::Result(value)) => return Ok(value),
                AskOutcome::Replied(Reply::Refused(refusal)) => return Err(refusal),
                AskOutcome::Replied(Reply::Moved) => tokio::time::sleep(HEAD_START).await,
                AskOutcome::Unheard => {}
                AskOutcome::Unanswered if request.is_repeatable() => {}
                AskOutcome::Unanswered => {
                    return Err(Refusal::new(
                        "the process that had the model ended before it answered: this may be done or not; `history` says whether \
                         it is",
                    ));
                }
            }
            self.unlink(&link).await;
        }
    }

    /// The way to the model, found anew if there is none.
    async fn link(&self) -> Result<Link, Error> {
        let mut link = self.link.lock().await;
        if let Some(link) = &*link
            && !link.is_over()
        {
            return Ok(link.clone());
        }
        let start = Instant::now();
        loop {
            let directory = self.directory.clone();
            match run_blocking(move || Store::open_if_free(&directory)).await {
                Ok(store) => {
                    let owner = Owner::new(store, self.config.clone());
                    return Ok(link.insert(Link::Own(owner)).clone());
                }
                Err(memo_store::Error::Busy { socket: Some(socket), .. })
                    if super::socket::is_heard(&socket).await =>
                {
                    return Ok(link.insert(Link::Through(socket)).clone());
                }
                Err(memo_store::Error::Busy { .. }) if start.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Drops a way that led nowhere.
    async fn unlink(&self, broken: &Link) {
        let mut link = self.link.lock().await;
        if link.as_ref().is_some_and(|link| link.is_same(broken)) {
            *link = None;
        }
    }

    /// Gives the model up, if this process has it.
    pub(crate) async fn leave(&self) -> Result<(), Error> {
        match self.link.lock().await.take() {
            Some(Link::Own(owner)) if !owner.is_over() => owner.close().await,
            _ => Ok(()),
        }
    }
}

impl Link {
    fn is_over(&self) -> bool {
        matches!(self, Link::Own(owner) if owner.is_over())
    }

    fn is_same(&self, other: &Link) -> bool {
        match (self, other) {
            (Link::Own(a), Link::Own(b)) => Arc::ptr_eq(a, b),
            (Link::Through(a), Link::Through(b)) => a == b,
            _ => false,
        }
    }
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, memo_store::Error> + Send + 'static,
) -> Result<T, memo_store::Error> {
    on_thread(work).await.unwrap_or(Err(memo_store::Error::Stopped))
}
