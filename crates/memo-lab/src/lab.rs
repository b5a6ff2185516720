//! The frame of all experiments: options, the settings that a run measures one by one, and the observer of its progress.

use crate::journal::Journal;
use crate::{Error, Provenance};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The options of every experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A smaller grid that takes about a minute.
    pub quick: bool,
    /// The seed of everything random.
    pub seed: u64,
    /// Threads to use; 0 takes all cores.
    pub threads: usize,
    /// The folder for the page, its table and its figures, and for the journal from which an interrupted run continues.
    pub out: Option<PathBuf>,
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<'a> {
    /// The setting that is being measured.
    pub setting: &'a str,
    /// Settings that are done.
    pub done: usize,
    /// Settings in all.
    pub total: usize,
    /// The estimated time left, once the first settings are done.
    pub left: Option<Duration>,
}

/// Receives the progress of a run; the command line shows it.
pub trait Observer: Sync {
    /// A setting begins.
    fn step(&self, step: &Step<'_>);
}

/// An observer that ignores progress.
impl Observer for () {
    fn step(&self, _: &Step<'_>) {}
}

/// One point of an experiment's grid.
pub trait Setting: Sync {
    /// Its name, in the journal and for the user.
    fn key(&self) -> String;

    /// Its relative amount of work, for the estimate of the time left.
    fn cost(&self) -> f64 {
        1.0
    }
}

/// A result, and the time that it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured<R> {
    /// The result.
    pub result: R,
    /// How long it took.
    pub seconds: f64,
}

/// A run of an experiment.
pub struct Lab<'a> {
    options: Options,
    command: String,
    observer: &'a dyn Observer,
}

impl<'a> Lab<'a> {
    /// A run with these options, started by this command.
    pub fn new(options: Options, command: &[String], observer: &'a dyn Observer) -> Self {
        Lab { options, command: Provenance::shown(command), observer }
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The provenance of this run's results.
    pub fn provenance(&self, seconds: f64) -> Provenance {
        Provenance::new(self.command.clone(), &self.options, seconds)
    }

    /// Measures every setting and returns the results in order. Each result is written to the journal at once, and results
    /// of an earlier run with the same options are not measured again. `inputs` names everything else that the results
    /// depend on, such as a digest of a text.
    pub fn measure<S: Setting, R: Serialize + DeserializeOwned + Send>(
        &self,
        experiment: &str,
        inputs: &str,
        settings: &[S],
        measure: impl Fn(&S) -> Result<R, Error> + Send + Sync,
    ) -> Result<Vec<Measured<R>>, Error> {
        let mut journal = Journal::open(&self.options, experiment, inputs)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.options.threads);
        let threads = self.options.threads;
        let pool = pool.build().map_err(|e| Error::Threads { threads, reason: e.to_string() })?;
        let (mut spent, mut worked) = (0.0, 0.0);
        let mut to_do: f64 = settings.iter().map(Setting::cost).sum();
        let mut results = Vec::with_capacity(settings.len());
        for setting in settings {
            let key = setting.key();
            let measured = if let Some(measured) = journal.get(&key)? {
                measured
            } else {
                let left = (worked > 0.0)
                    .then(|| Duration::from_secs_f64((spent / worked * to_do).max(0.0)));
                let (done, total) = (results.len(), settings.len());
                self.observer.step(&Step { setting: &key, done, total, left });
                let start = Instant::now();
                let result = pool.install(|| measure(setting))?;
                let measured = Measured { result, seconds: start.elapsed().as_secs_f64() };
                journal.add(&key, &measured)?;
                measured
            };
            spent += measured.seconds;
            worked += setting.cost();
            to_do -= setting.cost();
            results.push(measured);
        }
        Ok(results)
    }
}

/// The total time of all settings.
pub fn seconds<R>(measured: &[Measured<R>]) -> f64 {
    measured.iter().map(|m| m.seconds).sum()
}
