//! The process that has the model, and answers for it.

use super::socket::{OnHandover, Socket};
use crate::app::{App, AppState};
use crate::config::Config;
use crate::config::Permission;
use crate::listen::Error;
use crate::mcp::{Access, Reply, Request, answer};
use memo_store::Store;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// How long answers that are being made may take when the model is closed.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process's own model, shared with others of this machine.
pub(crate) struct Owner {
    pub(super) app: App,
    watch: JoinHandle<()>,
    socket: Mutex<Option<Socket>>,
}

impl Owner {
    pub(super) fn new(store: Store, config: Config) -> Arc<Self> {
        let socket = Socket::bind(&store);
        let app = AppState::alone(store, config);
        let watch = tokio::spawn(app.workers.watch());
        let owner = Arc::new(Owner { app, watch, socket: Mutex::new(None) });
        let on_handover = OnHandover::Give(Arc::downgrade(&owner));
        *owner.socket.lock() =
            socket.map(|bound| bound.listen(App::clone(&owner.app), on_handover));
        owner
    }

    /// Answers what a client of this process asks.
    pub(super) async fn ask(&self, request: Request) -> Reply {
        answer(&self.app, Access::LOCAL, request).await
    }

    /// Whether it has the model no more.
    pub(super) fn is_over(&self) -> bool {
        self.app.closing.load(Ordering::Acquire)
    }

    /// Gives the model up. Nothing that was acknowledged is lost; what was not is answered [`Reply::Moved`].
    pub(super) async fn close(&self) -> Result<(), Error> {
        // While the lock is still held: the next owner may have a socket at the same place.
        drop(self.socket.lock().take());
        let closed = close(&self.app).await;
        self.watch.abort();
        closed
    }
}

impl Access {
    /// Of clients on this machine that may use the socket, or that started this process.
    pub(super) const LOCAL: Self =
        Access { permission: Permission::Write, patience: Duration::from_secs(86_400) };
}

/// Closes the model: cancels changes that wait, finishes the one that is made, lets readers end, and writes a checkpoint if that would
/// be missed.
async fn close(app: &App) -> Result<(), Error> {
    app.closing.store(true, Ordering::Release);
    app.tasks.stop().await;
    let start = Instant::now();
    while app.workers.open() > 0 && start.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let model = Arc::clone(&app.model);
    let closed = tokio::task::spawn_blocking(move || model.close()).await;
    Ok(closed.unwrap_or(Ok(()))?)
}
