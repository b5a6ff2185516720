//! Several processes that use one model: the first one owns it, others go through it.
//!
//! Who holds the writer's lock of a model is its [`Owner`]. It listens on a Unix socket of its own (`socket`), whose path is written in
//! the lock, and answers there what other processes ask, a line of JSON each. A [`Member`] is a process that wants answers: it owns the
//! model if nobody does, or asks who owns it; when the owner ends, or is killed, it tries both again. What was acknowledged is on the
//! owner's disk, so nothing that matters passes from one owner to the next but the lock. A process that needs the model alone, as
//! `memo serve` and every command that changes a model, asks the owner to hand it over ([`memo_store::handover`]).

mod member;
mod owner;
mod socket;

pub(crate) use self::member::Member;
pub(crate) use self::socket::{OnHandover, Socket};

use crate::config::Config;
use crate::listen::{Error, stop_signal};
use crate::mcp::Handler;
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use std::path::Path;
use std::sync::Arc;

/// Serves a model to one client of the Model Context Protocol, over standard input and output, until the client ends or the process is
/// told to stop. Other processes may do the same with the same model.
pub fn run_mcp(directory: &Path, config: Config) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let stop = stop_signal()?;
        let member = Arc::new(Member::new(directory, config));
        member.join().await?;
        let served = async {
            // A client that leaves before it has said anything is none to complain about.
            if let Ok(service) = Handler::of_member(Arc::clone(&member)).serve(stdio()).await {
                let _ = service.waiting().await;
            }
        };
        tokio::select! {
            () = served => {}
            () = stop => {}
        }
        member.leave().await
    });
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    ended
}
