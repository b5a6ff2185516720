//! Work on a given number of threads.

use crate::Error;

/// Works on so many threads; 0 takes all cores.
pub fn on_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Threads { threads, reason: e.to_string() })?;
    pool.install(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_sees_the_threads_that_were_asked_for() {
        let seen = on_threads(3, || Ok(rayon::current_num_threads()));
        assert_eq!(seen.unwrap(), 3);
    }
}
