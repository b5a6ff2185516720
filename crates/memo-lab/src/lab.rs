//! What all experiments share: options, the settings that a run goes through one by one, and who hears about it.

use crate::journal::Journal;
use crate::{Error, Provenance};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What every experiment can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A smaller grid that takes minutes.
    pub quick: bool,
    /// Everything random comes from this.
    pub seed: u64,
    /// Threads to use; 0 takes all cores.
    pub threads: usize,
    /// Where the page, its table and its figures go, and the journal that an interrupted run continues from.
    pub out: Option<PathBuf>,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<'a> {
    /// The setting that is being measured.
    pub setting: &'a str,
    /// Settings that are done.
    pub done: usize,
    /// Settings in all.
    pub total: usize,
    /// How long the rest should take, once something is known of it.
    pub left: Option<Duration>,
}

/// Hears how far a run is; the command line shows it.
pub trait Observer: Sync {
    /// A setting begins.
    fn step(&self, step: &Step<'_>);
}

/// Hears and says nothing.
impl Observer for () {
    fn step(&self, _: &Step<'_>) {}
}

/// One point of an experiment's grid.
pub trait Setting: Sync {
    /// What names it, in the journal and to the user.
    fn key(&self) -> String;

    /// How much work it is compared with the others, for the time left.
    fn cost(&self) -> f64 {
        1.0
    }
}

/// What was measured at one setting.
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

    /// Where results of this run come from.
    pub fn provenance(&self, seconds: f64) -> Provenance {
        Provenance::new(self.command.clone(), &self.options, seconds)
    }

    /// Measures every setting and returns the results in order. What is finished is written down at once; what an
    /// earlier run with the same options wrote down is not measured again. `inputs` says what else the results depend
    /// on, such as a digest of a text.
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

/// The time that all of them took.
pub fn seconds<R>(measured: &[Measured<R>]) -> f64 {
    measured.iter().map(|m| m.seconds).sum()
}
