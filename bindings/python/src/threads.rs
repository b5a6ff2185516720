//! The threads that a call works on, in a process that was forked too.
//!
//! A child of `fork` has none of its parent's threads, and work that is given to rayon's own pool there would wait forever.
//! So a child, which is known by its process id, gets a pool of its own; and so does a model that asks for a number of
//! threads.

use crate::error::Refusal;
use memo::ConfigError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The process that imported the module, whose threads rayon's own pool has.
static HOME: OnceLock<u32> = OnceLock::new();

/// Pools by process and number of threads.
static POOLS: Mutex<Option<HashMap<(u32, usize), Arc<ThreadPool>>>> = Mutex::new(None);

/// Notes which process this is, when the module is imported.
pub(crate) fn imported() {
    HOME.get_or_init(process::id);
}

/// Does work on so many threads; 0 is as many as there are processors.
pub(crate) fn on<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, Refusal> + Send,
) -> Result<T, Refusal> {
    let process = process::id();
    if threads == 0 && *HOME.get_or_init(process::id) == process {
        return work();
    }
    let pool = {
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let pools = pools.get_or_insert_default();
        if let Some(pool) = pools.get(&(process, threads)) {
            pool.clone()
        } else {
            let made = ThreadPoolBuilder::new().num_threads(threads).build();
            let reason = |error: rayon::ThreadPoolBuildError| error.to_string();
            let pool = Arc::new(
                made.map_err(|error| ConfigError::Threads { threads, reason: reason(error) })?,
            );
            pools.insert((process, threads), pool.clone());
            pool
        }
    };
    pool.install(work)
}
