//! The runtime between an agent host and its MCP servers.
//!
//! A host wants to call tools. What it gets from a protocol library is one connection at a time: it then writes, by
//! hand, the parallel startup in which one dead server must not hold up the others, the listing that never ends, the
//! names that a model accepts and that do not change when a server is added, the deadline of every call, and the hunt
//! for child processes at the end. This crate is that layer, once.
//!
//! ```
//! use mcp_runtime::{
//!     ApprovalDecision, ApprovalPolicy, CallOptions, Environment, HookOutput, Invocation, McpRuntime, McpServers,
//!     MultiEnvironment,
//! };
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let docs = r#"{"mcpServers": {"docs": {"command": "docs-server"}}}"#;
//! let local = Environment::new("local".parse()?).servers(McpServers::from_json(docs)?.into_servers());
//! let devbox = Environment::new("devbox".parse()?).servers(McpServers::from_json(docs)?.into_servers());
//!
//! // Who approves calls is the host's choice, and there is no default.
//! let approval = ApprovalPolicy::ask(|call: Invocation| async move {
//!     println!("may {} run with {}?", call.key(), call.arguments());
//!     ApprovalDecision::Session
//! });
//! let (runtime, _events) = McpRuntime::builder(approval)
//!     .multi_environment(MultiEnvironment::On)
//!     .environment(local)
//!     .environment(devbox)
//!     .hook(|call: Invocation| async move {
//!         match call.arguments().get().contains("password") {
//!             true => HookOutput::deny("no passwords in searches"),
//!             false => HookOutput::proceed(),
//!         }
//!     })
//!     .start()?;
//! runtime.settled().await;
//!
//! // What a model is shown in one step is what is called.
//! let binding = runtime.capture();
//! for tool in binding.tools() {
//!     println!("{} {}", tool.name().flat(), tool.tool().definition());
//! }
//! let call = binding.prepare_tool("docs", Some("devbox"), "search")?;
//! let arguments = serde_json::value::to_raw_value(&serde_json::json!({"query": "tower"}))?;
//! let output = call.execute(CallOptions::new().arguments(arguments)).await?;
//! println!("{}", output.text());
//!
//! runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT).await;
//! # Ok(())
//! # }
//! ```
//!
//! # The crates beside it
//!
//! Each is useful alone, and knows nothing of this one: [`mcp_keys`] says *who* a server or tool is, `mcp_catalog` *what is offered*,
//! `mcp_sandbox_meta` *under which authority* a call is made, [`mcp_telemetry`] *what went wrong*.
//!
//! # What this crate does not do
//!
//! It does not print, does not decide what a model may call, and does not rewrite what a server answers: content,
//! structured content, metadata and numbers reach the host as they were written. It records calls, startups and sessions
//! through OpenTelemetry's API and `tracing`, and exports nothing: which SDK there is, if any, is the host's choice.

mod address;
mod authority;
mod binding;
mod builder;
mod call;
mod chain;
mod clock;
mod config;
mod connection;
mod deadline;
mod elicitation;
mod environment;
mod event;
mod executor;
mod launcher;
mod listing;
mod object;
mod outage;
mod paging;
mod permissions;
mod process_table;
mod prompt;
mod query;
mod resource;
mod roster;
mod runtime;
mod scope;
mod slot;
mod startup;
mod status;
mod tool;
mod view;

pub use address::ServerAddress;
pub use authority::UnknownEnvironment;
pub use binding::{Binding, BoundTool};
pub use builder::{BuildError, ListingShare, McpRuntimeBuilder};
pub use call::{
    Access, AccessLookup, ApprovalDecision, ApprovalFile, ApprovalFileError, ApprovalFileErrorKind,
    ApprovalMode, ApprovalPolicy, ApprovalRecord, ApprovalStore, ApprovalStoreError, Approver,
    Blocked, CallError, CallErrorKind, CallHandler, CallId, CallOptions, CallOutcome,
    DefinitionDigest, HookOutput, Invocation, LaunchFingerprint, PrepareError, PrepareErrorKind,
    PreparedCall, ToolHook, ToolOutput,
};
pub use chain::ErrorChain;
pub use config::{
    ConfigError, ConfigErrorKind, Era, HttpTransport, McpServers, Place, PluginError,
    PluginErrorKind, ServerConfig, StdioTransport, ToolFilter, Transport,
};
pub use connection::{
    Disconnect, Excerpt, Exit, HttpError, HttpSetupError, Malformed, Refused, RequestError,
    RequestErrorKind, RpcError, SpawnError, SpokenEra, UnfitInput, UnsupportedVersion,
};
pub use deadline::Elapsed;
pub use elicitation::{
    ContentNotAnObject, Elicitation, ElicitationAnswer, ElicitationHandler, ElicitationMode,
    HandlerFuture,
};
pub use environment::Environment;
pub use event::{EventStream, RuntimeEvent};
pub use executor::{CommandExecutor, EmptyCommand, Executor, ExecutorError, Quoting};
pub use outage::Outage;
pub use paging::Listed;
pub use permissions::{ElicitationPolicy, Permissions};
pub use prompt::{Prompt, PromptResult};
pub use query::{QueryError, QueryErrorKind, QueryOptions};
pub use resource::{Resource, ResourceContents, ResourceTemplate};
pub use runtime::{McpRuntime, ShutdownReport};
pub use startup::{Phase, ReconnectPolicy, StartupError, StartupErrorKind};
pub use status::{ServerState, ServerStatus};
pub use tool::Tool;
pub use view::SelectionError;

/// Identity and names, as they appear in this crate's interface.
pub use mcp_keys::{
    EnvironmentId, HiddenReason, InvalidName, InvalidSelection, McpServerKey, ModelName,
    MultiEnvironment, NameProfile, ServerName, ServerScope, ToolKey, ToolName,
};
/// What servers are told of the sandbox, as it appears in this crate's interface.
pub use mcp_sandbox_meta::SandboxState;
/// Codes of failures and where they are recorded, as they appear in this crate's interface.
pub use mcp_telemetry::{
    ErrorCode, FailureOutcome, Telemetry, TelemetryBuilder, TelemetryProfile, ToolErrorCode,
};

/// The examples of the documents compile.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct OfTheWorkspace;
    #[doc = include_str!("../README.md")]
    struct OfThisCrate;
}
