//! This machine: a child process, with the directory and the variables that its configuration gives it.

use std::path::Path;

use mcp_sandbox_meta::EnvironmentLocality;

use crate::config::StdioTransport;
use crate::connection::Launch;

pub(super) fn launch(stdio: &StdioTransport, cwd: Option<&Path>) -> Launch {
    Launch {
        program: stdio.command.clone(),
        args: stdio.args.clone(),
        env: stdio.env.clone(),
        env_passed: stdio.env_vars.clone(),
        cwd: cwd.map(Path::to_owned),
        locality: EnvironmentLocality::Local,
    }
}
