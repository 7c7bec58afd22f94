//! The program `scripted-server`: reads its script, plays it until it ends.

mod journal;
mod stage;
mod turn;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::script::Script;
use journal::Journal;
use stage::Stage;

/// The status of a program that could not begin.
const CANNOT_BEGIN: u8 = 70;

/// Everything the program `scripted-server` does: plays the script named by its first argument as an MCP server on stdin and
/// stdout, and logs to the file named by the second. Further arguments are logged, and change nothing.
///
/// A crate whose tests start scripted servers makes it an *example*, `examples/scripted-server.rs`:
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     mcp_testkit::scripted_server_main()
/// }
/// ```
///
/// An example, because of all targets only these are built for a plain `cargo test -p <crate>` and `cargo nextest run -p <crate>`
/// from cold, may use development dependencies, and are found from the test at a fixed place. The program of this crate
/// is built for nobody else's tests, a `[[bin]]` of a library would ship, and a test executable that starts itself writes the
/// harness's own lines to stdout first. Two crates of a workspace with an example of the same name share one path: a
/// second one calls it differently and uses [`Script::command_of`].
#[must_use]
pub fn scripted_server_main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    // What comes after them is for the log.
    let [script, log, ..] = args.as_slice() else {
        return refuse("usage: scripted-server <script.json> <log.jsonl> [ANYTHING]...");
    };
    match play(Path::new(script), Path::new(log)) {
        Ok(status) => ExitCode::from(status),
        Err(error) => refuse(&format!(
            "scripted-server: cannot play {}: {error}",
            Path::new(script).display()
        )),
    }
}

fn play(script: &Path, log: &Path) -> io::Result<u8> {
    let script: Script = serde_json::from_slice(&fs::read(script)?)?;
    let journal = Journal::open(log)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let status = runtime.block_on(Stage::play(script, journal));
    // A read of stdin that is under way cannot be ended, and must not keep the process.
    runtime.shutdown_background();
    status
}

fn refuse(why: &str) -> ExitCode {
    // Nobody is left to tell when stderr is closed too.
    let _ = writeln!(io::stderr(), "{why}");
    ExitCode::from(CANNOT_BEGIN)
}
