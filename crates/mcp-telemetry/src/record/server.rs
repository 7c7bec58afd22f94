//! What is recorded of one server.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use opentelemetry::KeyValue;
use tokio::time::Instant;

use super::allowance::Allowance;
use super::attribute::{self, OTHER, fixed, shared};
use super::instruments::Instruments;
use super::labels::ServerLabels;
use super::operation::OperationRecording;
use super::series::Series;
use super::session::SessionRecording;
use super::startup::StartupRecording;
use super::telemetry::Recorder;
use crate::ToolErrorCode;

/// Records what becomes of the requests, startups and sessions of one server. Cloning is cheap.
///
/// See [`Telemetry::server`](super::Telemetry::server).
#[derive(Clone)]
pub struct ServerRecorder(Option<Arc<Server>>);

pub(super) struct Server {
    recorder: Arc<Recorder>,
    labels: ServerLabels,
    codes: Allowance,
    tools: Allowance,
    /// By tool, as many as are admitted; without one, of names that lead to no tool.
    calls: RwLock<HashMap<Box<str>, Arc<Series>>>,
    /// By method, of which there are few.
    methods: RwLock<HashMap<&'static str, Arc<Series>>>,
}

/// How a startup came by its listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListingJoin {
    /// It fetched first, for all.
    Led,
    /// It took what another startup fetched.
    Shared,
    /// It waited for another startup and fetched in the end.
    Retried,
    /// It fetched for itself alone.
    OptedOut,
}

impl ListingJoin {
    fn as_str(self) -> &'static str {
        match self {
            Self::Led => "led",
            Self::Shared => "shared",
            Self::Retried => "retried",
            Self::OptedOut => "opted_out",
        }
    }
}

impl ServerRecorder {
    /// Records nothing.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    pub(super) fn new(recorder: Arc<Recorder>, labels: ServerLabels) -> Self {
        Self(Some(Arc::new(Server {
            recorder,
            labels,
            codes: Allowance::codes_of_server(),
            tools: Allowance::tools_of_server(),
            calls: RwLock::default(),
            methods: RwLock::default(),
        })))
    }

    /// A call of a tool that the server lists. Its time began at `begun`.
    pub fn call(&self, tool: &str, begun: Instant) -> OperationRecording {
        self.begin(begun, |server| server.call(tool))
    }

    /// A call of a tool that the server does not have; what it was called is the caller's own word, and not recorded.
    pub fn call_of_unknown_tool(&self) -> OperationRecording {
        self.begin(Instant::now(), |server| {
            let profile = server.recorder.profile;
            Arc::new(Series::of_tool(None, None, &server.labels, profile))
        })
    }

    /// Any other request that has a result, by its method.
    pub fn request(&self, method: &'static str) -> OperationRecording {
        self.begin(Instant::now(), |server| server.method(method))
    }

    /// A startup, from here until it is ready or has failed.
    pub fn startup(&self) -> StartupRecording {
        StartupRecording::begin(self.0.as_ref())
    }

    /// A connection, from here until it ends. The version is one that this side speaks, too.
    pub fn session(&self, protocol_version: &str) -> SessionRecording {
        SessionRecording::begin(self.0.as_ref(), protocol_version)
    }

    /// A startup has its listing.
    pub fn joined(&self, join: ListingJoin) {
        if let Some(server) = &self.0 {
            let mut attributes = vec![fixed(attribute::LISTING_JOIN, join.as_str())];
            attributes.extend(server.labels.identity());
            server
                .recorder
                .instruments
                .listing_joins
                .add(1, &attributes);
        }
    }

    fn begin(
        &self,
        begun: Instant,
        series: impl FnOnce(&Server) -> Arc<Series>,
    ) -> OperationRecording {
        match &self.0 {
            Some(server) => OperationRecording::begin(server, series(server), begun),
            None => OperationRecording::OFF,
        }
    }
}

impl Server {
    pub(super) fn instruments(&self) -> &Instruments {
        &self.recorder.instruments
    }

    pub(super) fn labels(&self) -> &ServerLabels {
        &self.labels
    }

    /// A tool's own code, as far as metrics have room for it (T3).
    pub(super) fn bounded(&self, key: &'static str, code: &ToolErrorCode) -> KeyValue {
        if let Some(known) = code.as_static() {
            return fixed(key, known);
        }
        match self.codes.admit(&self.recorder.codes, code.as_str()) {
            Some(code) => shared(key, &code),
            None => fixed(key, OTHER),
        }
    }

    fn call(&self, tool: &str) -> Arc<Series> {
        let known = self.calls.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.get(tool) {
            return series.clone();
        }
        drop(known);
        let admitted = self.tools.admit(&self.recorder.tools, tool);
        let is_admitted = admitted.is_some();
        let profile = self.recorder.profile;
        let series = Arc::new(Series::of_tool(Some(tool), admitted, &self.labels, profile));
        // One that is one too many is not kept either.
        if is_admitted {
            let mut known = self.calls.write().unwrap_or_else(PoisonError::into_inner);
            known.insert(tool.into(), series.clone());
        }
        series
    }

    fn method(&self, method: &'static str) -> Arc<Series> {
        let known = self.methods.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.get(method) {
            return series.clone();
        }
        drop(known);
        let series = Arc::new(Series::of_method(method, &self.labels));
        let mut known = self.methods.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(method, series.clone());
        series
    }
}

impl fmt::Debug for ServerRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.0.as_deref().map(|server| &server.labels);
        f.debug_tuple("ServerRecorder").field(&labels).finish()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.labels).finish()
    }
}
