//! How a runtime comes to be.

use std::sync::Arc;

use mcp_catalog::SharedListings;
use mcp_keys::{
    EnvironmentId, InvalidSelection, McpServerKey, MultiEnvironment, NameProfile,
    SelectedEnvironments,
};
use mcp_telemetry::Telemetry;
use rmcp::model::Implementation;

use crate::authority::{Authorities, Primary};
use crate::call::{AccessLookup, ApprovalPolicy, Approvals, Gates, Hook, Lookup, ToolHook};
use crate::chain::ErrorChain;
use crate::config::ServerConfig;
use crate::connection::{Connector, Tls};
use crate::elicitation::{ElicitationHandler, Elicitor};
use crate::environment::Environment;
use crate::event::{EventSink, EventStream, RuntimeEvent};
use crate::roster::Roster;
use crate::runtime::McpRuntime;
use crate::startup::{KnownEras, ReconnectPolicy, Starter};
use crate::tool::Tool;
use crate::view::Views;

/// Collects what a runtime needs to start.
///
/// See [`McpRuntime::builder`].
#[derive(Debug)]
pub struct McpRuntimeBuilder {
    servers: Vec<ServerConfig>,
    environments: Vec<Environment>,
    multi_environment: MultiEnvironment,
    profile: NameProfile,
    share: ListingShare,
    reconnect: ReconnectPolicy,
    client: Implementation,
    elicitor: Option<Elicitor>,
    approval: ApprovalPolicy,
    hooks: Vec<Hook>,
    access: Option<Lookup>,
    telemetry: Option<Telemetry>,
}

/// Listings that several runtimes of one process share (C0), and what they found out about the eras that servers speak
/// (R5). Cloning is cheap, and every clone is the same.
#[derive(Debug, Clone, Default)]
pub struct ListingShare {
    listings: SharedListings<Tool>,
    eras: KnownEras,
}

/// Why a runtime cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The selected environments are none, or one is there twice.
    #[error("the environments cannot be used")]
    Selection(#[source] InvalidSelection),
    /// Two environments have the same id.
    #[error("environment `{0}` is given twice")]
    EnvironmentTwice(EnvironmentId),
    /// Two servers of one owner have the same name.
    #[error("server `{0}` is given twice; rename one of them")]
    ServerTwice(McpServerKey),
}

impl McpRuntimeBuilder {
    pub(crate) fn new(approval: ApprovalPolicy) -> Self {
        Self {
            servers: Vec::new(),
            environments: Vec::new(),
            multi_environment: MultiEnvironment::default(),
            profile: NameProfile::default(),
            share: ListingShare::default(),
            reconnect: ReconnectPolicy::default(),
            client: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            elicitor: None,
            approval,
            hooks: Vec::new(),
            access: None,
            telemetry: None,
        }
    }

    /// Adds a server of the host's own.
    #[must_use]
    pub fn server(mut self, server: ServerConfig) -> Self {
        self.servers.push(server);
        self
    }

    /// Adds servers of the host's own.
    #[must_use]
    pub fn servers(mut self, servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        self.servers.extend(servers);
        self
    }

    /// Adds an environment; the first selected one is the primary. Without any there is one, called `local`.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environments.push(environment);
        self
    }

    /// Exposes the servers of every selected environment under their own keys (K8). Off by default.
    #[must_use]
    pub fn multi_environment(mut self, feature: MultiEnvironment) -> Self {
        self.multi_environment = feature;
        self
    }

    /// How tools are named for the model (K5).
    #[must_use]
    pub fn name_profile(mut self, profile: NameProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Shares listings with the other runtimes that are given the same handle (C0).
    #[must_use]
    pub fn share_listings(mut self, share: &ListingShare) -> Self {
        self.share = share.clone();
        self
    }

    /// Whether and how servers are connected again when their connection ends (R10). By default they are.
    #[must_use]
    pub fn reconnect(mut self, policy: ReconnectPolicy) -> Self {
        self.reconnect = policy;
        self
    }

    /// What servers are told of the client. The default names this crate.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client = Implementation::new(name, version);
        self
    }

    /// Answers what servers want to know from a person (E1). Without a handler, servers are told that nobody is there to be
    /// asked, and one that asks all the same is declined.
    #[must_use]
    pub fn elicitation(mut self, handler: impl ElicitationHandler) -> Self {
        self.elicitor = Some(Elicitor(Arc::new(handler)));
        self
    }

    /// Adds a hook, to run after those that were added before it (H1).
    #[must_use]
    pub fn hook(mut self, hook: impl ToolHook) -> Self {
        self.hooks.push(Hook(Arc::new(hook)));
        self
    }

    /// Asks this about the access of each call (L1). Without it, every call has access.
    #[must_use]
    pub fn access(mut self, lookup: impl AccessLookup) -> Self {
        self.access = Some(Lookup(Arc::new(lookup)));
        self
    }

    /// Where calls, startups and sessions are recorded, and how (T5). By default with
    /// [`Telemetry::default`]: metrics go to the global meter provider that is installed when the runtime starts, and spans to
    /// `tracing`. With [`Telemetry::off`] nothing is recorded, and no server is told of a trace.
    #[must_use]
    pub fn telemetry(mut self, telemetry: &Telemetry) -> Self {
        self.telemetry = Some(telemetry.clone());
        self
    }

    /// Begins to start every server, and returns at once: the servers' fates are events, and
    /// [`McpRuntime::settled`] waits for them all. Where environments have plugins, their manifests are read first.
    ///
    /// Dropping the event stream is how a host says that it does not want to know.
    ///
    /// # Errors
    ///
    /// See [`BuildError`]. A server that does not start is no error here, nor is a plugin that is broken.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its clock and I/O enabled.
    pub fn start(mut self) -> Result<(McpRuntime, EventStream), BuildError> {
        if self.environments.is_empty() {
            let local = EnvironmentId::new("local").expect("a valid id");
            self.environments.push(Environment::new(local));
        }
        let selected = self.selected()?;
        let mut roster = Roster::of(self.servers, &mut self.environments, &selected)?;
        let plugin_errors = std::mem::take(&mut roster.plugin_errors);
        let events = EventSink::default();
        let stream = events.stream();
        for error in &plugin_errors {
            events.state(RuntimeEvent::PluginError {
                environment: error.environment().clone(),
                message: ErrorChain(error).to_string(),
            });
        }
        let telemetry = self.telemetry.unwrap_or_default();
        roster.telemetry = telemetry.clone();
        let environments = self.environments.iter();
        let authorities =
            Arc::new(Authorities::new(environments.map(|environment| {
                (environment.id().clone(), environment.authority().clone())
            })));
        let primary = Primary::default();
        let environments = self.environments.iter();
        let views = Views::new(
            roster,
            environments
                .map(|environment| environment.id().clone())
                .collect(),
            selected,
            self.multi_environment,
            events.clone(),
            primary.clone(),
        );
        let starter = Starter {
            connector: Connector {
                client: self.client,
                elicitor: self.elicitor,
                events,
                tls: Tls::default(),
                authorities: authorities.clone(),
                primary,
            },
            listings: self.share.listings,
            eras: self.share.eras,
            reconnect: self.reconnect,
            telemetry: telemetry.clone(),
            processes: Arc::default(),
            stop: tokio_util::sync::CancellationToken::new(),
        };
        let gates = Gates {
            hooks: self.hooks,
            approvals: Approvals::new(self.approval),
            access: self.access,
            telemetry,
        };
        let runtime = McpRuntime::run(
            views,
            starter,
            self.profile,
            authorities,
            gates,
            plugin_errors,
        );
        Ok((runtime, stream))
    }

    fn selected(&self) -> Result<SelectedEnvironments, BuildError> {
        let selected = self
            .environments
            .iter()
            .filter(|environment| environment.is_selected());
        let selected =
            SelectedEnvironments::new(selected.map(|environment| environment.id().clone()));
        selected.map_err(|error| match error {
            InvalidSelection::Repeated(environment) => BuildError::EnvironmentTwice(environment),
            error => BuildError::Selection(error),
        })
    }
}
