//! Inside the memory: what each context adds to what is said, and how full its tables are.

use super::queries::reading;
use crate::error::ApiError;
use crate::extract::Json;
use crate::server::Chosen;
use memo_store::{Breakdown, MemoryFill};
use serde::Deserialize;

/// A prompt whose continuation is to be taken apart.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct BreakdownRequest {
    prompt: String,
    /// The number of candidates, 5 by default.
    candidates: Option<usize>,
    /// How much contexts that the lexicon generalises count: from 0, not at all, to 1, which is the default.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    generalize: Option<f64>,
    /// How much counts what the prompt itself says before: from 0, which is the default, to 1, as in completions that guess or draw.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    recent: Option<f64>,
}

/// Takes the most probable continuations apart: which blocks of the prompt occurred, what followed them, and the terms that each
/// probability is the sum of.
#[cfg_attr(test, utoipa::path(post, path = "/api/breakdown", tag = "reading", request_body = BreakdownRequest, responses((status = 200, body = Breakdown))))]
pub(crate) async fn breakdown(
    Chosen(app): Chosen,
    Json(BreakdownRequest { prompt, candidates, generalize, recent }): Json<BreakdownRequest>,
) -> Result<axum::Json<Breakdown>, ApiError> {
    let count = candidates.unwrap_or(5).clamp(1, 50);
    let read = reading(generalize, recent);
    let made = app.read(move |_, snapshot| Ok(snapshot.breakdown(&prompt, count, &read)?));
    Ok(axum::Json(made.await?))
}

/// How full the memory is, and how noisy, slot by slot.
#[cfg_attr(test, utoipa::path(get, path = "/api/fill", tag = "model", responses((status = 200, body = MemoryFill))))]
pub(crate) async fn fill(Chosen(app): Chosen) -> Result<axum::Json<MemoryFill>, ApiError> {
    Ok(axum::Json(app.read(|_, snapshot| Ok(snapshot.fill()?)).await?))
}
