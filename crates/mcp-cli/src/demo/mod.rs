//! `mcp-runtime demo`: what this program is for, shown with servers of its own and checked on the way.

mod cast;
mod server;
mod steps;
mod story;
mod vigil;

use std::io;

use mcp_runtime::McpRuntime;
use tokio::time::Instant;

use crate::cli::DemoArgs;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::serving;
use cast::{Cast, DEVBOX, LOCAL};
use story::Story;
use vigil::Vigil;

pub(crate) use server::serve;

/// Plays every step, and tells each as it is done.
///
/// # Errors
///
/// When the demo cannot be set up, or somebody interrupts it. A step that goes wrong is told and gives
/// [`ExitStatus::ToolError`].
pub(crate) async fn run(args: DemoArgs) -> Result<ExitStatus, Failure> {
    let vigil = Vigil::keep().map_err(Failure::Demo)?;
    let cast = Cast::new(vigil.path()).map_err(Failure::Demo)?;
    let mut story = Story::begin(args.json).map_err(Failure::Output)?;

    let (first, report) = serving::with_servers(cast.everybody(), async |runtime| {
        first_run(runtime, &vigil, &mut story)
            .await
            .map_err(Failure::Output)
    })
    .await?;
    let step = steps::farewell(first.at, &report, &vigil);
    story.tell(step).map_err(Failure::Output)?;

    let (second, report) = serving::with_servers(cast.devbox_alone(), async |runtime| {
        let step = steps::start_again(runtime, &first.names).await;
        story.tell(step).map_err(Failure::Output)?;
        Ok(Instant::now())
    })
    .await?;
    let step = steps::farewell(second, &report, &vigil);
    story.tell(step).map_err(Failure::Output)?;
    story.end().map_err(Failure::Output)
}

/// What the first run leaves for later.
struct FirstRun {
    names: Vec<(String, String)>,
    at: Instant,
}

async fn first_run(runtime: &McpRuntime, vigil: &Vigil, story: &mut Story) -> io::Result<FirstRun> {
    story.tell(steps::start(runtime, vigil).await)?;
    let binding = runtime.capture();
    story.tell(steps::names(&binding))?;
    story.tell(steps::search(&binding, LOCAL).await)?;
    story.tell(steps::search(&binding, DEVBOX).await)?;
    story.tell(steps::deadline(&binding).await)?;
    Ok(FirstRun {
        names: steps::names_in(&binding, DEVBOX),
        at: Instant::now(),
    })
}
