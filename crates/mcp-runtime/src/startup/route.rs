//! [`Route`]: the way to a server, worked out once per startup.

use mcp_catalog::{CredentialIdentity, DiscoveryTransport};

use crate::config::{HttpTransport, Transport};
use crate::connection::Launch;
use crate::executor::ExecutorError;
use crate::slot::Slot;

/// What is launched or connected to, and what of it can be told apart (R5, C5).
#[derive(Debug)]
pub(super) struct Route<'a> {
    pub(super) way: Way<'a>,
    /// Everything that reaches the server before the handshake.
    pub(super) transport: DiscoveryTransport,
    pub(super) credential: CredentialIdentity<'static>,
}

/// A process to start, or an endpoint to connect to.
#[derive(Debug)]
pub(super) enum Way<'a> {
    Stdio(Launch),
    Http(&'a HttpTransport),
}

impl<'a> Route<'a> {
    pub(super) fn to(slot: &'a Slot) -> Result<Self, ExecutorError> {
        Ok(match slot.config.transport() {
            Transport::Stdio(stdio) => {
                let launch = slot.placement.launch(stdio)?;
                let (cwd, environment) = (launch.cwd.as_deref(), launch.environment());
                // What reaches the child is part of the transport, so whatever account it holds is told apart by that.
                Self {
                    transport: DiscoveryTransport::stdio(
                        &launch.program,
                        &launch.args,
                        cwd,
                        environment,
                    ),
                    credential: CredentialIdentity::None,
                    way: Way::Stdio(launch),
                }
            }
            Transport::Http(http) => {
                let headers = http.headers.iter();
                let headers = headers.map(|(name, value)| (name.as_str(), value.as_bytes()));
                // A token from the environment is read again at each startup: whose it is cannot be told.
                let credential = match http.bearer_token_env_var {
                    Some(_) => CredentialIdentity::Unknown,
                    None => CredentialIdentity::None,
                };
                Self {
                    transport: DiscoveryTransport::http(http.url.as_str(), headers),
                    credential,
                    way: Way::Http(http),
                }
            }
        })
    }
}
