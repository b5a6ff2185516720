//! Metrics for Prometheus.

use crate::error::ApiError;
use crate::model::Model;
use crate::tasks::TaskKind;
use crate::workers::Workers;
use axum::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChangeLabels {
    kind: String,
    outcome: &'static str,
}

/// All metrics.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    latency: Family<RouteLabels, Histogram>,
    changes: Family<ChangeLabels, Histogram>,
    pub(crate) memorized: Counter,
    pub(crate) generated: Counter,
    pub(crate) scored: Counter,
    memory: Gauge,
    transaction: Gauge,
    open: Gauge,
}

/// A histogram from a tenth of a millisecond to a minute.
fn histogram() -> Histogram {
    Histogram::new([1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0])
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("memo");
        let mut metrics = Metrics {
            registry: Registry::default(),
            requests: Family::default(),
            latency: Family::new_with_constructor(histogram),
            changes: Family::new_with_constructor(histogram),
            memorized: Counter::default(),
            generated: Counter::default(),
            scored: Counter::default(),
            memory: Gauge::default(),
            transaction: Gauge::default(),
            open: Gauge::default(),
        };
        registry.register("requests", "Requests handled", metrics.requests.clone());
        let help = "Time until a response begins";
        registry.register_with_unit("request", help, Unit::Seconds, metrics.latency.clone());
        let help = "Time that changes of the model took";
        registry.register_with_unit("transaction", help, Unit::Seconds, metrics.changes.clone());
        registry.register("tokens_memorized", "Tokens memorized", metrics.memorized.clone());
        registry.register("tokens_generated", "Tokens generated", metrics.generated.clone());
        registry.register("tokens_scored", "Tokens of prompts scored", metrics.scored.clone());
        let help = "Size of the memory";
        registry.register_with_unit("memory", help, Unit::Bytes, metrics.memory.clone());
        let help = "Number of the last transaction";
        registry.register("last_transaction", help, metrics.transaction.clone());
        let help = "Requests that are worked on or wait for that";
        registry.register("requests_open", help, metrics.open.clone());
        metrics.registry = registry;
        metrics
    }

    pub(crate) fn record_request(
        &self,
        method: &Method,
        route: String,
        status: u16,
        time: Duration,
    ) {
        let method = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::DELETE => "DELETE",
            _ => "other",
        };
        self.latency
            .get_or_create(&RouteLabels { route: route.clone() })
            .observe(time.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
    }

    pub(crate) fn record_change(&self, kind: TaskKind, time: Duration, ok: bool) {
        let outcome = if ok { "done" } else { "refused" };
        let labels = ChangeLabels { kind: kind.to_string(), outcome };
        self.changes.get_or_create(&labels).observe(time.as_secs_f64());
    }

    /// All metrics in Prometheus' text format.
    pub(crate) fn text(&self, model: &Model, workers: &Workers) -> Result<String, ApiError> {
        self.open.set(workers.open() as i64);
        {
            let snapshot = model.read()?;
            self.memory.set(snapshot.memory()?.usage().total() as i64);
            self.transaction.set(snapshot.transaction() as i64);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).map_err(|_| ApiError::internal())?;
        Ok(text)
    }
}
