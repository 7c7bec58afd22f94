//! What a host with OpenTelemetry's SDK would export.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider as _};
use opentelemetry::trace::{Status, TracerProvider as _};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, Metric, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

/// The real SDK of OpenTelemetry behind `tracing` and a meter, with exporters that keep what they get.
///
/// Spans are those of the thread that made it, for as long as it lives: tests run on one thread.
pub struct ExportedTelemetry {
    spans: InMemorySpanExporter,
    tracer: SdkTracerProvider,
    metrics: InMemoryMetricExporter,
    meter: SdkMeterProvider,
    _subscriber: DefaultGuard,
}

impl ExportedTelemetry {
    /// Begins to export.
    #[must_use]
    pub fn begin() -> Self {
        Self::with_activation(true)
    }

    /// As [`begin`](Self::begin). `activates`: whether the context of OpenTelemetry follows the span that is entered, as
    /// it does unless a host switches that off.
    #[must_use]
    pub fn with_activation(activates: bool) -> Self {
        let spans = InMemorySpanExporter::default();
        let tracer = SdkTracerProvider::builder();
        let tracer = tracer.with_simple_exporter(spans.clone()).build();
        let metrics = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(metrics.clone()).build();
        let meter = SdkMeterProvider::builder().with_reader(reader).build();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(tracer.tracer("test"))
            .with_context_activation(activates)
            .with_tracked_inactivity(false)
            .with_location(false)
            .with_threads(false)
            .with_target(false);
        let subscriber = tracing_subscriber::registry().with(layer);
        Self {
            spans,
            tracer,
            metrics,
            meter,
            _subscriber: tracing::subscriber::set_default(subscriber),
        }
    }

    /// Where metrics go that are to be exported.
    #[must_use]
    pub fn meter(&self) -> Meter {
        self.meter.meter("test")
    }

    /// The spans that have ended.
    ///
    /// # Panics
    ///
    /// When the SDK does not flush.
    #[must_use]
    pub fn spans(&self) -> Vec<SpanData> {
        self.tracer.force_flush().expect("it is not shut down");
        let finished = self.spans.get_finished_spans();
        finished.expect("it is not shut down")
    }

    /// The spans that have ended, a line each: name, kind, status, attributes in the order of their names. An attribute
    /// that is there twice shows twice.
    #[must_use]
    pub fn span_lines(&self) -> Vec<String> {
        self.spans().iter().map(span_line).collect()
    }

    /// The points of a metric, a line each, sorted: how many measurements, and attributes.
    #[must_use]
    pub fn points(&self, name: &str) -> Vec<String> {
        let sorted = |metric: &Metric| {
            let mut points = points(metric);
            points.sort();
            points
        };
        self.read(name, sorted).unwrap_or_default()
    }

    /// Looks at a metric as it is exported now; `None` when there is none of that name.
    ///
    /// # Panics
    ///
    /// When the SDK does not flush.
    pub fn read<R>(&self, name: &str, look: impl FnOnce(&Metric) -> R) -> Option<R> {
        self.metrics.reset();
        self.meter.force_flush().expect("it is not shut down");
        let exported = self.metrics.get_finished_metrics();
        let exported = exported.expect("it is not shut down");
        let scopes = exported
            .iter()
            .flat_map(|resource| resource.scope_metrics());
        let mut metrics = scopes.flat_map(|scope| scope.metrics());
        metrics.find(|metric| metric.name() == name).map(look)
    }
}

impl fmt::Debug for ExportedTelemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExportedTelemetry")
    }
}

fn span_line(span: &SpanData) -> String {
    let status = match &span.status {
        Status::Unset => "unset",
        Status::Ok => "ok",
        Status::Error { .. } => "error",
    };
    let name = &span.name;
    let attributes = text(span.attributes.iter());
    format!("{name} {:?} {status}{attributes}", span.span_kind)
}

fn points(metric: &Metric) -> Vec<String> {
    match metric.data() {
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| format!("{}{}", point.count(), text(point.attributes())))
            .collect(),
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| format!("{}{}", point.value(), text(point.attributes())))
            .collect(),
        other => vec![format!("{other:?}")],
    }
}

fn text<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> String {
    let mut sorted = BTreeMap::<_, Vec<_>>::new();
    for KeyValue { key, value, .. } in attributes {
        let values = sorted.entry(key.as_str()).or_default();
        values.push(value.as_str().into_owned());
    }
    let mut text = String::new();
    for (key, values) in sorted {
        let _ = write!(text, " {key}={}", values.join("|"));
    }
    text
}
