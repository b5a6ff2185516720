//! Connections: accepted up to a limit, closed when they are slow, and finished when the server stops.

use crate::app::AppState;
use crate::config::Config;
use crate::linger::Linger;
use crate::router::router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use memo_store::Store;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

/// The time for the head of a request to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The time for responses to end after the server is told to stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused something.
    #[error("the server cannot run: {0}")]
    System(#[from] std::io::Error),
    /// The model failed.
    #[error(transparent)]
    Store(#[from] memo_store::Error),
}

/// Serves a model until the process is told to stop.
pub fn run(store: Store, config: Config, listener: std::net::TcpListener) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    listener.set_nonblocking(true)?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let stop = stop_signal()?;
        Ok(serve(store, config, listener, stop).await?)
    })
}

/// A future that ends when the process is told to stop. Told again, the process ends at once: nothing acknowledged is
/// lost.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new()?;
    Ok(async move {
        signals.next().await;
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(130);
        });
    })
}

/// The signals that tell a process to stop: Ctrl-C, and what service managers send.
#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 2]);

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals([signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Serves a model until `stop` is ready; then finishes what was begun, and closes the model with its checkpoint.
pub async fn serve(
    store: Store,
    config: Config,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), memo_store::Error> {
    let connections = Arc::new(Semaphore::new(config.limits.connections));
    let app = AppState::new(store, config);
    let service = TowerToHyperService::new(router(&app));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // Beyond the limit, connections wait in the system's own queue.
        let permit = Arc::clone(&connections).acquire_owned();
        let accepted = async { (permit.await, listener.accept().await) };
        let (permit, stream) = tokio::select! {
            () = &mut stop => break,
            (permit, accepted) = accepted => match accepted {
                Ok((stream, _)) => (permit, stream),
                Err(error) => {
                    // Too many open files, say: it passes.
                    eprintln!("memo serve: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let _ = stream.set_nodelay(true);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(Linger::new(stream)), service.clone());
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // That a client went away is not an error.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    app.stopping.store(true, Ordering::Release);
    app.tasks.stop().await;
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    let model = Arc::clone(&app.model);
    let closed = tokio::task::spawn_blocking(move || model.close()).await;
    closed.unwrap_or(Ok(()))
}
