//! What a request says about the partner: who answers, and how much the memory counts.

use super::Partner;
use crate::app::AppState;
use crate::error::ApiError;
use memo::readout::{Auto, Weight};
use serde::Deserialize;
use std::sync::Arc;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// The memory alone.
    Memory,
    /// The memory and its partner together.
    Both,
    /// The partner alone.
    Model,
}

/// How much the memory counts: `auto`, or a number from 0 to 1.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "must be \"auto\" or a number from 0 to 1")]
pub(crate) enum WeightField {
    Number(f64),
    Name(String),
}

/// The partner that a request wants, and the memory's weight beside it; none if the memory answers alone.
pub(crate) fn beside(
    app: &AppState,
    mode: Option<Mode>,
    weight: Option<WeightField>,
) -> Result<Option<(Arc<Partner>, Weight)>, ApiError> {
    let weight = match weight {
        None => None,
        Some(WeightField::Number(weight)) if (0.0..=1.0).contains(&weight) => {
            Some(Weight::Fixed(weight))
        }
        Some(WeightField::Name(name)) if name == "auto" => Some(Weight::Auto(Auto::default())),
        Some(_) => {
            let message = "weight must be \"auto\" or a number from 0, the model alone, to 1, the memory alone";
            return Err(ApiError::invalid_field("weight", message));
        }
    };
    let Some(partner) = &app.config.partner else {
        let asked = match (mode, weight) {
            (Some(Mode::Both | Mode::Model), _) => "mode",
            (_, Some(_)) => "weight",
            _ => return Ok(None),
        };
        let message = "there is no model beside this memory; start the server with --partner";
        return Err(ApiError::invalid_field(asked, message));
    };
    let weight = match mode.unwrap_or(Mode::Both) {
        Mode::Memory => return Ok(None),
        Mode::Both => weight.unwrap_or(Weight::Auto(Auto::default())),
        Mode::Model => Weight::Fixed(0.0),
    };
    Ok(Some((Arc::clone(partner), weight)))
}
