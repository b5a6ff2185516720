//! Answering: at once when all is done, or piece by piece.

use super::Usage;
use super::options::Options;
use crate::app::{App, Shared};
use crate::error::Failure;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::convert::Infallible;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;

/// What is to be done, checked.
pub(super) trait Work: Send + 'static {
    /// A completion, or a piece of one.
    type Choice: Send + 'static;

    /// All completions, whole.
    fn complete(&self, app: &Shared) -> Result<(Vec<Self::Choice>, Usage), Failure>;

    /// Tells pieces as they come, as long as someone listens.
    fn stream(
        &self,
        app: &Shared,
        tell: &mut dyn FnMut(Self::Choice) -> bool,
    ) -> Result<Usage, Failure>;
}

/// How to answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) streams: bool,
    usage: bool,
}

impl How {
    pub(super) fn of(options: &Options) -> Self {
        let usage = options.stream_options.is_some_and(|options| options.include_usage);
        How { streams: options.stream.unwrap_or(false), usage }
    }
}

pub(super) async fn respond<W: Work, A: Serialize>(
    app: &App,
    how: How,
    job: impl FnOnce(&Shared) -> Result<W, Failure> + Send + 'static,
    answer: impl Fn(Vec<W::Choice>, Option<Usage>) -> A + Send + 'static,
) -> Result<Response, Failure> {
    let worker = App::clone(app);
    if !how.streams {
        let done = app.desk.work(move || job(&worker)?.complete(&worker)).await?;
        return Ok(axum::Json(answer(done.0, Some(done.1))).into_response());
    }
    let seat = app.desk.seat().await?;
    // What is wrong with a request is said before the stream begins.
    let checking = App::clone(app);
    let job = tokio::task::spawn_blocking(move || job(&checking)).await;
    let job = job.map_err(|_| Failure::bad("the request could not be read"))??;
    let (tell, heard) = mpsc::unbounded_channel();
    tokio::task::spawn_blocking(move || {
        let mut piece = |choice| tell.send(event(&answer(vec![choice], None))).is_ok();
        let told = job.stream(&worker, &mut piece);
        let _ = match told {
            Ok(usage) if how.usage => tell.send(event(&answer(Vec::new(), Some(usage)))),
            Ok(_) => Ok(()),
            Err(failure) => tell.send(event(&serde_json::json!({ "error": failure.detail }))),
        };
        drop(seat);
    });
    let done = tokio_stream::once(Event::default().data("[DONE]"));
    let events = UnboundedReceiverStream::new(heard).chain(done).map(Ok::<Event, Infallible>);
    Ok(Sse::new(events).into_response())
}

/// An event with JSON in it.
fn event(data: &impl Serialize) -> Event {
    Event::default().json_data(data).unwrap_or_default()
}
