//! `memo mcp`: a model as the memory of an agent.

use crate::args::McpOptions;
use crate::output::Report;
use crate::serve::{make_parent, model_or_own, name};
use memo_server::Config;
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// The end. Standard output is the client's, so there is nothing to print.
#[derive(Serialize)]
struct Ended {}

impl Display for Ended {
    fn fmt(&self, _: &mut Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

pub(crate) fn run(options: &McpOptions) -> anyhow::Result<Box<dyn Report>> {
    let path = model_or_own(options.model.as_deref())?;
    make_parent(&path)?;
    memo_server::run_mcp(&path, Config { name: name(&path), ..Config::default() })?;
    Ok(Box::new(Ended {}))
}
