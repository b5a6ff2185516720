//! Answering: at once when all is done, or piece by piece.

use super::Usage;
use super::options::Options;
use crate::app::{App, Shared};
use crate::desk::Gone;
use crate::error::Failure;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::convert::Infallible;
use tokio_stream::StreamExt;

/// What is to be done, checked.
pub(super) trait Work: Send + 'static {
    /// A completion, or a piece of one.
    type Choice: Send + 'static;

    /// All completions, whole.
    fn complete(
        &self,
        app: &Shared,
        gone: &Gone<'_>,
    ) -> Result<(Vec<Self::Choice>, Usage), Failure>;

    /// Tells pieces as they come.
    fn stream(
        &self,
        app: &Shared,
        gone: &Gone<'_>,
        tell: &mut dyn FnMut(Self::Choice),
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
        let done = app.desk.work(move |gone| job(&worker)?.complete(&worker, gone)).await?;
        return Ok(axum::Json(answer(done.0, Some(done.1))).into_response());
    }
    let checking = App::clone(app);
    let told = app.desk.tell(
        move || job(&checking),
        move |job, teller| {
            let gone = teller.gone();
            let mut piece = |choice| teller.tell(event(&answer(vec![choice], None)));
            match job.stream(&worker, &gone, &mut piece) {
                Ok(usage) if how.usage => teller.tell(event(&answer(Vec::new(), Some(usage)))),
                Ok(_) => {}
                Err(failure) => teller.tell(event(&serde_json::json!({ "error": failure.detail }))),
            }
        },
    );
    let done = tokio_stream::once(Event::default().data("[DONE]"));
    let events = told.await?.chain(done).map(Ok::<Event, Infallible>);
    Ok(Sse::new(events).into_response())
}

/// An event with JSON in it.
fn event(data: &impl Serialize) -> Event {
    Event::default().json_data(data).unwrap_or_default()
}
