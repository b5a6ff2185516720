//! Metrics for Prometheus.

use crate::app::App;
use crate::error::ApiError;
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
struct ModelLabels {
    model: String,
}

impl ModelLabels {
    /// Labels of a model. The encoder writes values as they are, so what would end one is escaped here.
    fn new(name: &str) -> Self {
        ModelLabels { model: name.replace('\\', "\\\\").replace('"', "\\\"") }
    }
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
    pub(crate) partner_failures: Counter,
    memory: Family<ModelLabels, Gauge>,
    transaction: Family<ModelLabels, Gauge>,
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
            partner_failures: Counter::default(),
            memory: Family::default(),
            transaction: Family::default(),
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
        let help = "Completions to which the partner gave no answer";
        registry.register("partner_failures", help, metrics.partner_failures.clone());
        let help = "Size of the memory of each open model";
        registry.register_with_unit("memory", help, Unit::Bytes, metrics.memory.clone());
        let help = "Number of the last transaction of each open model";
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
    pub(crate) fn text(&self, models: &[App], workers: &Workers) -> Result<String, ApiError> {
        self.open.set(workers.open() as i64);
        // Of models that are closed meanwhile there is nothing to say.
        self.memory.clear();
        self.transaction.clear();
        for app in models {
            let Ok(snapshot) = app.model.read() else { continue };
            let labels = ModelLabels::new(&app.name);
            let bytes = snapshot.memory()?.usage().total();
            self.memory.get_or_create(&labels).set(bytes as i64);
            self.transaction.get_or_create(&labels).set(snapshot.transaction() as i64);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).map_err(|_| ApiError::internal())?;
        Ok(text)
    }
}
