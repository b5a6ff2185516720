//! Tasks: long changes, watched and cancelled.

use crate::app::App;
use crate::error::{ErrorBody, Failure};
use crate::extract::At;
use crate::tasks::Task;
use axum::Json;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::Serialize;
use std::convert::Infallible;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;

/// Tasks.
#[derive(Serialize, ToSchema)]
pub(crate) struct All {
    tasks: Vec<Task>,
}

/// Tasks that wait, run, or have ended lately; the newest first.
#[utoipa::path(get, path = "/api/tasks", operation_id = "list_tasks", tag = "tasks", responses((status = 200, body = All)))]
pub(crate) async fn list(State(app): State<App>) -> Json<All> {
    Json(All { tasks: app.tasks.all() })
}

/// How far a task is.
#[utoipa::path(get, path = "/api/tasks/{id}", operation_id = "show_task", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = Task), (status = 404, body = ErrorBody)))]
pub(crate) async fn show(
    State(app): State<App>,
    At(id): At<String>,
) -> Result<Json<Task>, Failure> {
    Ok(Json(app.tasks.find(&id)?.now()))
}

/// How far a task is, as events `progress`, until it has ended.
#[utoipa::path(get, path = "/api/tasks/{id}/events", tag = "tasks", params(("id" = String, Path)), responses((status = 200, content_type = "text/event-stream", body = Object, description = "The data of an event is a task"), (status = 404, body = ErrorBody)))]
pub(crate) async fn events(
    State(app): State<App>,
    At(id): At<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let mut watch = app.tasks.find(&id)?.watch();
    let (tell, heard) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let task = watch.borrow_and_update().clone();
            let event = Event::default().event("progress").json_data(&task).unwrap_or_default();
            let last = tell.send(Ok(event)).await.is_err() || task.state.is_final();
            if last || watch.changed().await.is_err() {
                return;
            }
        }
    });
    Ok(Sse::new(ReceiverStream::new(heard)).keep_alive(KeepAlive::default()))
}

/// Cancels a task. What it has written already is taken out again exactly.
#[utoipa::path(delete, path = "/api/tasks/{id}", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = Task), (status = 404, body = ErrorBody)))]
pub(crate) async fn cancel(
    State(app): State<App>,
    At(id): At<String>,
) -> Result<Json<Task>, Failure> {
    let running = app.tasks.find(&id)?;
    running.cancel();
    // It ends within a moment, mostly.
    let _ = running.outcome(std::time::Duration::from_secs(2)).await;
    Ok(Json(running.now()))
}
