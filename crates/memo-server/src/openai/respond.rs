//! Responses to completions: whole, or streamed as events.

use super::Usage;
use super::options::Options;
use crate::app::{App, AppState};
use crate::error::{ApiError, ErrorBody};
use crate::workers::Seat;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::convert::Infallible;
use tokio_stream::StreamExt;

/// A checked request for completions.
pub(super) trait CompletionJob: Send + 'static {
    /// A completion, or a piece of one.
    type Choice: Send + 'static;

    /// Makes all completions.
    fn complete(
        &self,
        app: &AppState,
        seat: &mut Seat,
    ) -> Result<(Vec<Self::Choice>, Usage), ApiError>;

    /// Makes all completions, and sends pieces as they come.
    fn stream(
        &self,
        app: &AppState,
        seat: &mut Seat,
        send: &mut dyn FnMut(Self::Choice),
    ) -> Result<Usage, ApiError>;
}

/// How to respond.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResponseMode {
    pub(super) stream: bool,
    include_usage: bool,
}

impl From<&Options> for ResponseMode {
    fn from(options: &Options) -> Self {
        let include_usage = options.stream_options.is_some_and(|options| options.include_usage);
        ResponseMode { stream: options.stream.unwrap_or(false), include_usage }
    }
}

pub(super) async fn respond<J: CompletionJob, R: Serialize>(
    app: &App,
    mode: ResponseMode,
    check: impl FnOnce(&AppState) -> Result<J, ApiError> + Send + 'static,
    response: impl Fn(Vec<J::Choice>, Option<Usage>) -> R + Send + 'static,
) -> Result<Response, ApiError> {
    let worker = App::clone(app);
    if !mode.stream {
        let done = app.workers.run(move |seat| check(&worker)?.complete(&worker, seat));
        let (choices, usage) = done.await?;
        return Ok(axum::Json(response(choices, Some(usage))).into_response());
    }
    let checking = App::clone(app);
    let events = app.workers.stream(
        move || check(&checking),
        move |job, seat, sender| {
            let mut send = |choice| sender.send(event(&response(vec![choice], None)));
            match job.stream(&worker, seat, &mut send) {
                Ok(usage) if mode.include_usage => {
                    sender.send(event(&response(Vec::new(), Some(usage))));
                }
                Ok(_) => {}
                Err(error) => sender.send(event(&ErrorBody { error: error.detail })),
            }
        },
    );
    let done = tokio_stream::once(Event::default().data("[DONE]"));
    let events = events.await?.chain(done).map(Ok::<Event, Infallible>);
    Ok(Sse::new(events).into_response())
}

fn event(data: &impl Serialize) -> Event {
    Event::default().json_data(data).unwrap_or_default()
}
