//! Generation by a memory and its partner together.

use super::{Partner, PartnerError, Session};
use crate::app::AppState;
use crate::error::ApiError;
use crate::generate::generate;
use crate::workers::Seat;
use memo::readout::{ModelTop, Weight};
use memo_store::{Beside as Mixed, CompletionOptions, CompletionStream, CompletionToken};
use std::sync::Arc;

/// How a completion is made with a partner.
#[derive(Clone)]
pub(crate) struct Beside {
    pub(crate) partner: Arc<Partner>,
    /// How much the memory counts.
    pub(crate) weight: Weight,
    /// The prompt as the partner reads it, if that is not just its tokens: a conversation by its template.
    pub(crate) prompt: Option<Vec<u32>>,
}

/// Generates what follows a prompt, and hands each token to `receive`. The stream that is returned has ended.
pub(crate) fn generate_beside(
    app: &AppState,
    prompt: &[u32],
    options: &CompletionOptions,
    beside: &Beside,
    seat: &mut Seat,
    mut receive: impl FnMut(CompletionToken),
) -> Result<CompletionStream, ApiError> {
    let Beside { partner, weight, prompt: own } = beside;
    // Prompts are taken as they are, by both.
    let mut mixed = CompletionOptions { heal: false, find: false, guess: true, ..options.clone() };
    mixed.sampling.stop.clone_from(&partner.ends);
    let mut stream = CompletionStream::new(app.model.tokenizer(), prompt, &mixed)?;
    let own = own.clone().unwrap_or_else(|| partner.prompt(prompt));
    let mut session = Some(Session::new(partner, own));
    while stream.finish_reason().is_none() {
        seat.pause();
        if seat.is_cancelled() {
            stream.cancel();
            break;
        }
        let model: Option<ModelTop> = match &mut session {
            None => None,
            Some(asked) => match seat.wait_for(|| asked.next()) {
                Ok(top) => Some(top),
                // As long as it may be.
                Err(PartnerError::TooLong(_)) if stream.generated() > 0 => {
                    stream.limit();
                    break;
                }
                Err(error) => {
                    if !partner.note_failure(app, &error) {
                        return Err(error.into());
                    }
                    if stream.generated() == 0 {
                        return generate(app, prompt, options, seat, receive);
                    }
                    session = None;
                    None
                }
            },
        };
        let snapshot = app.model.read()?;
        let mixed =
            Mixed { model: model.as_ref(), weight: *weight, vocabularies: partner.vocabularies };
        if let Some(choice) = stream.choose_beside(snapshot.memory()?, &mixed)? {
            if let (Some(session), Some(token)) = (&mut session, choice.token()) {
                session.push(token);
            }
            stream.accept(choice);
        }
        drop(snapshot);
        while let Some(token) = stream.take_ready() {
            receive(token);
        }
    }
    while let Some(token) = stream.take_ready() {
        receive(token);
    }
    app.metrics.generated.inc_by(stream.generated() as u64);
    Ok(stream)
}
