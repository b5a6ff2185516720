//! Listening: connections over TCP or a Unix socket, closed when they are slow, and finished when the server stops.

use crate::caller::Caller;
use crate::config::Config;
use crate::connections::{BusyBody, Connections};
use crate::half_closed::HalfClosed;
use crate::linger::{ByteStream, Linger};
use crate::log;
use crate::models::Models;
use crate::router::router;
use crate::server::ServerState;
use crate::share::{OnHandover, Socket};
use crate::unread;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

/// The time for the head of a request to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The time for responses to end after the server is told to stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Idle connections that are closed when the system refuses another one: the model needs files too.
const SPARE: usize = 16;

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

/// Where a server listens.
#[derive(Debug)]
pub enum Listener {
    /// At an address.
    Tcp(std::net::TcpListener),
    /// At a path, for those who may write to that.
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixListener),
}

impl From<std::net::TcpListener> for Listener {
    fn from(listener: std::net::TcpListener) -> Self {
        Listener::Tcp(listener)
    }
}

#[cfg(unix)]
impl From<std::os::unix::net::UnixListener> for Listener {
    fn from(listener: std::os::unix::net::UnixListener) -> Self {
        Listener::Unix(listener)
    }
}

/// A listener that connections can be waited for with.
enum Accepting {
    Tcp(tokio::net::TcpListener),
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
}

impl Accepting {
    fn new(listener: Listener) -> std::io::Result<Self> {
        match listener {
            Listener::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                Ok(Accepting::Tcp(tokio::net::TcpListener::from_std(listener)?))
            }
            #[cfg(unix)]
            Listener::Unix(listener) => {
                listener.set_nonblocking(true)?;
                Ok(Accepting::Unix(tokio::net::UnixListener::from_std(listener)?))
            }
        }
    }

    async fn accept(&self) -> std::io::Result<Box<dyn ByteStream>> {
        match self {
            Accepting::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            Accepting::Unix(listener) => Ok(Box::new(listener.accept().await?.0)),
        }
    }
}

/// Serves models until the process is told to stop.
pub fn run(
    models: impl Into<Models>,
    config: Config,
    listener: impl Into<Listener>,
) -> Result<(), Error> {
    // Every stream that waits for its reader may hold a thread; changes and figures need some too.
    let threads = config.limits.connections + 256;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(threads).build()?;
    runtime.block_on(async {
        let stop = stop_signal()?;
        serve(models, config, listener, stop).await
    })
}

/// A future that ends when the process is told to stop. Told again, the process ends at once: nothing acknowledged is
/// lost.
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
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

/// Serves models until `stop` is ready; then finishes what was begun, and closes the models with their checkpoints.
pub async fn serve(
    models: impl Into<Models>,
    config: Config,
    listener: impl Into<Listener>,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let listener = Accepting::new(listener.into())?;
    log::set(config.log);
    let connections = Connections::new(config.limits.connections);
    let models = models.into();
    let bound = match &models {
        Models::One(store) => Socket::bind(store),
        Models::Named(_) | Models::Folder(_) => None,
    };
    let server = ServerState::new(models, config);
    let only = server.models.apps().into_iter().next();
    let shared = bound.zip(only).map(|(bound, app)| bound.listen(app, OnHandover::Keep));
    let watch = tokio::spawn(server.workers.watch());
    let service = TowerToHyperService::new(router(&server));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // Beyond the limit, connections wait in the system's own queue.
        let accepted = async {
            let stream = listener.accept().await?;
            Ok::<_, std::io::Error>((stream, connections.place().await))
        };
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            accepted = accepted => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // The system lets the process open no more files, say: those of idle connections can be had.
                    if !connections.close_idlest(SPARE) {
                        log::error(&error);
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let connection = Arc::clone(&place.connection);
        let stream = HalfClosed::new(stream, Arc::clone(&connection));
        let stream = Linger::new(stream, Arc::clone(&connection));
        let (service, own) = (service.clone(), Arc::clone(&connection));
        let service = service_fn(move |request: Request<Incoming>| {
            let busy = own.begin();
            let (mut request, rest) = unread::share(request);
            request.extensions_mut().insert(Caller::new(Arc::clone(&own)));
            let response = service.call(request);
            let own = Arc::clone(&own);
            async move {
                let mut response: Response<axum::body::Body> = response.await?;
                if !rest.read().await {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                own.note_response();
                let kind = response.headers().get(CONTENT_TYPE);
                let has_events = kind.is_some_and(|kind| kind == "text/event-stream");
                Ok::<_, Infallible>(response.map(|body| BusyBody::new(body, busy, has_events)))
            }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .half_close(true)
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let served = graceful.watch(served);
        tokio::spawn(async move {
            tokio::select! {
                // That a client went away is not an error.
                _ = served => {}
                () = connection.closed() => {}
            }
            drop(place);
        });
    }
    drop(listener);
    server.stopping.store(true, Ordering::Release);
    for app in server.models.apps() {
        app.closing.store(true, Ordering::Release);
    }
    server.models.stop().await;
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    watch.abort();
    drop(shared);
    let models = Arc::clone(&server.models);
    let closed = tokio::task::spawn_blocking(move || models.close()).await;
    Ok(closed.unwrap_or(Ok(()))?)
}
