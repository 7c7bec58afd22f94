//! The ends themselves. Trees of processes are made by a shell.

mod abandoned;
mod alone;
mod census;
mod cycle;
mod descendant;
mod host_end;

use std::path::Path;

use mcp_runtime::{Era, ServerConfig, StdioTransport};
use mcp_testkit::ServerProcess;

use crate::host::SERVER;

/// Answers what a startup asks, and starts in a moment.
const SMALL_SERVER: &str = r#"
while read -r line; do
    id=${line#*\"id\":}
    id=${id%%[,\}]*}
    case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

fn small_server(name: &str) -> ServerConfig {
    let transport = StdioTransport::new("sh").args(["-c", SMALL_SERVER]);
    ServerConfig::stdio(name.parse().expect("a server name"), transport).era(Era::Legacy)
}

/// A server that plays a script, in a process that has started `other` before: a command that writes its number to the file
/// `$0`.
fn beside(other: &str, pid_file: &Path, process: &ServerProcess) -> ServerConfig {
    let text = |path: &std::ffi::OsStr| path.to_str().expect("test paths are text").to_owned();
    let shell = format!(
        "{other} </dev/null >/dev/null 2>&1 & until [ -s \"$0\" ]; do sleep 0.01; done; exec \"$@\""
    );
    let mut args = vec!["-c".to_owned(), shell, text(pid_file.as_os_str())];
    args.push(text(process.program().as_os_str()));
    args.extend(process.args().iter().map(|arg| text(arg)));
    let transport = StdioTransport::new("sh").args(args);
    ServerConfig::stdio(SERVER.parse().expect("a server name"), transport).era(Era::Legacy)
}
