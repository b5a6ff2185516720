//! Tasks: long changes, watched and cancelled.

use crate::error::ApiError;
use crate::extract::Path;
use crate::server::Chosen;
use crate::tasks::Task;
use axum::Json;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::Serialize;
use std::convert::Infallible;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

/// Tasks.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct TaskList {
    tasks: Vec<Task>,
}

/// Tasks that wait, run, or have ended lately; the newest first.
#[cfg_attr(test, utoipa::path(get, path = "/api/tasks", operation_id = "list_tasks", tag = "tasks", responses((status = 200, body = TaskList))))]
pub(crate) async fn list(Chosen(app): Chosen) -> Json<TaskList> {
    Json(TaskList { tasks: app.tasks.list() })
}

/// A task, and how far it is.
#[cfg_attr(test, utoipa::path(get, path = "/api/tasks/{id}", operation_id = "show_task", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = Task), (status = 404, body = crate::error::ErrorBody))))]
pub(crate) async fn show(
    Chosen(app): Chosen,
    Path(id): Path<String>,
) -> Result<Json<Task>, ApiError> {
    Ok(Json(app.tasks.find(&id)?.task()))
}

/// The progress of a task, as events `progress`, until it has ended.
#[cfg_attr(test, utoipa::path(get, path = "/api/tasks/{id}/events", tag = "tasks", params(("id" = String, Path)), responses((status = 200, content_type = "text/event-stream", body = Object, description = "The data of an event is a task"), (status = 404, body = crate::error::ErrorBody))))]
pub(crate) async fn events(
    Chosen(app): Chosen,
    Path(id): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let mut watch = app.tasks.find(&id)?.watch();
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let task = watch.borrow_and_update().clone();
            let event = Event::default().event("progress").json_data(&task).unwrap_or_default();
            let last = sender.send(Ok(event)).await.is_err() || task.state.is_final();
            if last || watch.changed().await.is_err() {
                return;
            }
        }
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()))
}

/// Cancels a task. What it has written already is taken out again exactly.
#[cfg_attr(test, utoipa::path(delete, path = "/api/tasks/{id}", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = Task), (status = 404, body = crate::error::ErrorBody))))]
pub(crate) async fn cancel(
    Chosen(app): Chosen,
    Path(id): Path<String>,
) -> Result<Json<Task>, ApiError> {
    let task = app.tasks.find(&id)?;
    task.cancel();
    // It ends within a moment, mostly.
    let _ = task.wait(std::time::Duration::from_secs(2)).await;
    Ok(Json(task.task()))
}
