//! Who plays in the demo.

use std::io;
use std::path::Path;

use mcp_runtime::{Environment, McpRuntimeBuilder, MultiEnvironment, ServerConfig, StdioTransport};

use crate::serving;

pub(super) const LOCAL: &str = "local";
pub(super) const DEVBOX: &str = "devbox";
/// The name of the server in both environments.
pub(super) const DOCS: &str = "docs";
/// The name of the server that cannot be started.
pub(super) const MISSING: &str = "missing";
/// Its command.
const MISSING_COMMAND: &str = "mcp-runtime-demo-no-such-program";

/// How to start the servers.
#[derive(Debug)]
pub(super) struct Cast {
    program: String,
    alive: String,
}

impl Cast {
    /// Servers that are this program itself, and hold a lock on the file `alive` as long as they live.
    pub(super) fn new(alive: &Path) -> io::Result<Self> {
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                let message = format!("the path {} is not UTF-8", path.display());
                io::Error::new(io::ErrorKind::InvalidInput, message)
            })
        };
        Ok(Self {
            program: text(&std::env::current_exe()?)?,
            alive: text(alive)?,
        })
    }

    /// Both environments with all their servers.
    pub(super) fn everybody(&self) -> McpRuntimeBuilder {
        let missing = ServerConfig::stdio(
            MISSING.parse().expect("a valid name"),
            StdioTransport::new(MISSING_COMMAND),
        );
        serving::builder()
            .multi_environment(MultiEnvironment::On)
            .environment(self.environment(LOCAL).server(missing))
            .environment(self.environment(DEVBOX))
    }

    /// What is left when one environment is gone.
    pub(super) fn devbox_alone(&self) -> McpRuntimeBuilder {
        serving::builder()
            .multi_environment(MultiEnvironment::On)
            .environment(self.environment(DEVBOX))
    }

    fn environment(&self, id: &str) -> Environment {
        let transport = StdioTransport::new(self.program.as_str()).args([
            "demo-server",
            "--environment",
            id,
            "--alive",
            &self.alive,
        ]);
        let docs = ServerConfig::stdio(DOCS.parse().expect("a valid name"), transport);
        Environment::new(id.parse().expect("a valid id")).server(docs)
    }
}
