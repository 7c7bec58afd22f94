//! The life of one process tree, from its start until nothing of it is left (R6).

use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::launch::Streams;
use super::parent::{Birth, Born};
use super::platform::Tree;
use super::stderr::StderrReader;
use super::{Exit, Life, SpawnError};

/// How long a child gets to end by itself once its standard input is closed.
const CLOSED_INPUT_GRACE: Duration = Duration::from_millis(1_500);
/// How long a tree gets to end after it was asked to terminate.
const TERMINATE_GRACE: Duration = Duration::from_millis(1_000);
/// How long to look for the end of a tree that was killed.
const KILL_GRACE: Duration = Duration::from_millis(1_000);

/// What is asked of a supervisor, each once and for good.
#[derive(Debug, Clone, Default)]
pub(super) struct Orders {
    /// End the tree, in stages.
    pub(super) stop: CancellationToken,
    /// No more grace.
    pub(super) kill: CancellationToken,
    /// The supervisor's own: the child's input is to be closed by whoever holds it.
    pub(super) close: CancellationToken,
}

/// Where a child's streams go.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) program: String,
    pub(super) deliver: oneshot::Sender<Result<Streams, SpawnError>>,
    pub(super) reader: StderrReader,
}

/// Owns the tree until it is gone.
pub(super) async fn supervise(
    birth: Result<Birth, SpawnError>,
    delivery: Delivery,
    orders: Orders,
    report: watch::Sender<Life>,
) {
    let born = match birth {
        // Its thread answers, or takes the other end with it when it panics.
        Ok(birth) => birth.await.ok(),
        Err(error) => Some(Err(error)),
    };
    let over = Life {
        over: true,
        ..Life::default()
    };
    match born {
        Some(Ok(born)) => watch_over(born, delivery, &orders, &report).await,
        Some(Err(error)) => {
            report.send_replace(over);
            // A startup that was given up does not want to know.
            let _ = delivery.deliver.send(Err(error));
        }
        None => {
            report.send_replace(over);
        }
    }
}

async fn watch_over(born: Born, delivery: Delivery, orders: &Orders, report: &watch::Sender<Life>) {
    let Born {
        pid,
        mut tree,
        stdin,
        stdout,
        stderr,
        mut ended,
        collected,
    } = born;
    let told = |exit, over| {
        let pid = Some(pid);
        report.send_replace(Life { pid, exit, over });
    };
    told(None, false);
    if !delivery.hand_over(stdin, stdout, stderr) {
        // Nobody can talk to it.
        orders.stop.cancel();
    }
    let (status, killed) = tokio::select! {
        status = &mut ended => (status.ok().flatten(), false),
        () = orders.stop.cancelled() => end_leader(&mut ended, &mut tree, orders).await,
    };
    told(Some(Exit { status, killed }), false);
    tree.close_input();
    orders.close.cancel();
    let killed = end_rest(&mut tree, &orders.kill).await || killed;
    tree.let_go();
    // A child that the operating system cannot end is out of anyone's hands. Its parent waits for it.
    let _ = timeout(KILL_GRACE, collected).await;
    told(Some(Exit { status, killed }), true);
}

impl Delivery {
    /// Whether somebody has taken the streams.
    fn hand_over(
        self,
        stdin: std::process::ChildStdin,
        stdout: std::process::ChildStdout,
        stderr: std::process::ChildStderr,
    ) -> bool {
        let converted = || {
            let stderr = ChildStderr::from_std(stderr)?;
            let stdin = ChildStdin::from_std(stdin)?;
            let stdout = ChildStdout::from_std(stdout)?;
            Ok((Streams { stdin, stdout }, stderr))
        };
        let streams = match converted() {
            Ok((streams, stderr)) => {
                self.reader.follow(stderr);
                Ok(streams)
            }
            Err(source) => Err(SpawnError::Refused {
                program: self.program,
                source,
            }),
        };
        let usable = streams.is_ok();
        self.deliver.send(streams).is_ok() && usable
    }
}

/// Closed input, then terminate, then kill, with a grace period each. The input is closed by whoever holds it.
async fn end_leader(
    ended: &mut oneshot::Receiver<Option<ExitStatus>>,
    tree: &mut Tree,
    orders: &Orders,
) -> (Option<ExitStatus>, bool) {
    tree.survey().await;
    tree.close_input();
    orders.close.cancel();
    if let Some(status) = grace(CLOSED_INPUT_GRACE, &orders.kill, &mut *ended).await {
        return (status.ok().flatten(), false);
    }
    tree.survey().await;
    tree.terminate();
    if let Some(status) = grace(TERMINATE_GRACE, &orders.kill, &mut *ended).await {
        return (status.ok().flatten(), false);
    }
    tree.kill().await;
    let status = timeout(KILL_GRACE, ended).await;
    (status.ok().and_then(Result::ok).flatten(), true)
}

/// Ends what the leader left behind; `true` when something had to be killed.
async fn end_rest(tree: &mut Tree, kill: &CancellationToken) -> bool {
    if !tree.remains().await {
        return false;
    }
    tree.terminate();
    let emptied = async {
        tree.dwindled().await;
        while tree.remains().await {
            tree.dwindled().await;
        }
    };
    if grace(TERMINATE_GRACE, kill, emptied).await.is_some() {
        return false;
    }
    let until = Instant::now() + KILL_GRACE;
    loop {
        // Not to be left in the middle, where everybody is stopped.
        tree.kill().await;
        // A process that the operating system cannot end is out of anyone's hands.
        let dwindled = timeout_at(until, tree.dwindled()).await;
        if dwindled.is_err() || !tree.remains().await {
            return true;
        }
    }
}

/// What `future` comes to within the grace period, unless there is no more grace.
async fn grace<F: Future>(
    period: Duration,
    kill: &CancellationToken,
    future: F,
) -> Option<F::Output> {
    tokio::select! {
        output = future => Some(output),
        () = sleep(period) => None,
        () = kill.cancelled() => None,
    }
}
