//! OpenTelemetry's SDK with exporters that keep what they get.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcp_telemetry::Telemetry;
use mcp_telemetry::TelemetryBuilder;
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::{Status, TracerProvider as _};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, Metric, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

/// What a host sets up, for the thread that made it.
pub(super) struct Pipeline {
    spans: InMemorySpanExporter,
    tracer: SdkTracerProvider,
    metrics: InMemoryMetricExporter,
    meter: SdkMeterProvider,
    _subscriber: DefaultGuard,
}

impl Pipeline {
    pub(super) fn new() -> Self {
        Self::with_activation(true)
    }

    /// `activates`: whether the context of OpenTelemetry follows the span that is entered, as it does by default.
    pub(super) fn with_activation(activates: bool) -> Self {
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

    pub(super) fn builder(&self) -> TelemetryBuilder {
        Telemetry::builder().meter(self.meter.meter("test"))
    }

    pub(super) fn telemetry(&self) -> Telemetry {
        self.builder().build()
    }

    pub(super) fn spans(&self) -> Vec<SpanData> {
        self.tracer.force_flush().unwrap();
        self.spans.get_finished_spans().unwrap()
    }

    /// The spans that have ended: name, kind, status, attributes.
    pub(super) fn span_lines(&self) -> Vec<String> {
        self.spans().iter().map(span_line).collect()
    }

    /// The points of a metric: attributes and how many measurements, sorted.
    pub(super) fn points(&self, name: &str) -> Vec<String> {
        self.read(name, |metric| {
            let mut points = points(metric);
            points.sort();
            points
        })
        .unwrap_or_default()
    }

    /// Looks at a metric as it was exported last; `None` when there is none of that name.
    pub(super) fn read<R>(&self, name: &str, look: impl FnOnce(&Metric) -> R) -> Option<R> {
        self.metrics.reset();
        self.meter.force_flush().unwrap();
        let exported = self.metrics.get_finished_metrics().unwrap();
        let scopes = exported
            .iter()
            .flat_map(|resource| resource.scope_metrics());
        let mut metrics = scopes.flat_map(|scope| scope.metrics());
        metrics.find(|metric| metric.name() == name).map(look)
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
        other => panic!("{other:?}"),
    }
}

/// Attributes in the order of their names. One that is there twice shows.
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
