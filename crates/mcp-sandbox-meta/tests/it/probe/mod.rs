//! Executables are asked once, within their time, and leave nothing behind (S5).

mod real;
mod stub;

use std::ffi::OsStr;
use std::future::Future;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};

use mcp_sandbox_meta::{LauncherProbe, LauncherProbeError, ProbeFailure, SandboxLauncher};
use tokio::task::JoinHandle;
use tokio::time::{advance, pause, resume};

use stub::{Stub, ended, gone, members, threads, until};

type Answer = Result<SandboxLauncher, LauncherProbeError>;

/// The word for an answer.
fn word(answer: &Answer) -> &'static str {
    match answer.as_ref().map_err(LauncherProbeError::failure) {
        Ok(_) => "launcher",
        Err(ProbeFailure::Path(_)) => "path",
        Err(ProbeFailure::File(_)) => "file",
        Err(ProbeFailure::Start(_)) => "start",
        Err(ProbeFailure::TimedOut) => "timed out",
        Err(ProbeFailure::Refused { .. }) => "refused",
        Err(ProbeFailure::Replaced) => "replaced",
        Err(_) => "unknown to this test",
    }
}

#[track_caller]
fn check(answer: &Answer, expected: &str, why: &str) {
    assert_eq!(word(answer), expected, "{why}: {answer:?}");
}

/// Asks in a task.
fn ask(probe: &LauncherProbe, stub: &Stub) -> JoinHandle<Answer> {
    let (probe, executable) = (probe.clone(), stub.executable());
    tokio::spawn(async move { probe.probe(&executable).await })
}

/// S4, S5
#[tokio::test]
async fn the_exit_status_decides_and_what_cannot_run_is_no_launcher() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let probe = LauncherProbe::new();
    for (path, expected) in [
        (Path::new("/bin/true"), "launcher"),
        (Path::new("/bin/false"), "refused"),
        (Path::new("/nonexistent"), "file"),
        (Path::new("/"), "start"),
        (file.path(), "start"),
        (Path::new("bin/true"), "path"),
        (Path::new("true"), "path"),
        (Path::new(""), "path"),
        (Path::new(OsStr::from_bytes(b"/bin/\xff")), "path"),
    ] {
        let answer = probe.probe(path).await;
        check(&answer, expected, "first");
        check(&probe.probe(path).await, expected, "again");
        if let Ok(launcher) = answer {
            assert_eq!(launcher.codex_executable(), path);
        }
    }
}

/// S5: the invocation that a real host was seen to make.
#[tokio::test]
async fn the_question_is_exact_silent_and_asked_without_a_shell() {
    let stub = Stub::new(
        r#"[ $# = 4 ] && [ "$1 $2 $3 $4" = "sandbox --sandbox-state-json {} --help" ] || exit 1
        for stream in 0 1 2; do [ "$(readlink /proc/$$/fd/$stream)" = /dev/null ] || exit 2; done
        group=$(sed 's/.*) . [0-9]* \([0-9]*\) .*/\1/' /proc/$$/stat)
        [ "$group" = $$ ] || exit 3"#,
    );
    let answer = LauncherProbe::new().probe(&stub.executable()).await;
    check(&answer, "launcher", "all as it should be");
}

/// S5
#[tokio::test]
async fn many_first_calls_are_one_process_and_later_ones_none() {
    let stub = Stub::waiting("exit 0");
    let probe = LauncherProbe::new();
    let calls: Vec<_> = (0..50).map(|_| ask(&probe, &stub)).collect();
    let leader = stub.started(1).await;
    stub.release();
    for call in calls {
        check(&call.await.unwrap(), "launcher", "shared");
    }
    check(&ask(&probe, &stub).await.unwrap(), "launcher", "remembered");
    assert_eq!(stub.starts(), [leader]);
    gone(leader).await;
}

/// S5
#[tokio::test]
async fn a_process_that_hangs_is_ended_with_its_children_and_asked_again_a_minute_later() {
    for script in [
        "exec sleep 1000",
        "sleep 1000 & sleep 1000",
        "trap '' TERM HUP INT; sleep 1000 & while :; do wait; done",
    ] {
        let stub = Stub::new(script);
        let probe = LauncherProbe::new();
        let call = ask(&probe, &stub);
        let leader = stub.started(1).await;
        pause();
        advance(LauncherProbe::TIME_LIMIT).await;
        check(&call.await.unwrap(), "timed out", script);
        check(
            &ask(&probe, &stub).await.unwrap(),
            "timed out",
            "remembered",
        );
        resume();
        gone(leader).await;
        assert_eq!(stub.starts(), [leader]);

        pause();
        advance(LauncherProbe::RETRY_AFTER).await;
        resume();
        let call = ask(&probe, &stub);
        let leader = stub.started(2).await;
        call.abort();
        gone(leader).await;
    }
}

/// S5
#[tokio::test]
async fn nobody_whom_the_process_started_is_left() {
    const HANG: &str = "exec sleep 1000";
    for (starts, ends, expected) in [
        ("orphan &", "exit 0", "launcher"),
        ("setsid ./orphan &", "exit 0", "launcher"),
        ("(setsid ./orphan &) &", "exit 3", "refused"),
        ("orphan &", HANG, "timed out"),
        ("setsid ./orphan &", HANG, "timed out"),
    ] {
        let stub = Stub::parent(starts, ends);
        let probe = LauncherProbe::new();
        let call = ask(&probe, &stub);
        let orphan = stub.orphan().await;
        if ends == HANG {
            pause();
            advance(LauncherProbe::TIME_LIMIT).await;
            resume();
        }
        check(&call.await.unwrap(), expected, starts);
        gone(stub.starts()[0]).await;
        ended(orphan).await;
    }
}

/// S5
#[tokio::test]
async fn somebody_else_with_the_same_variable_is_left_alone() {
    let mut other = std::process::Command::new("/bin/sleep")
        .arg("1000")
        .env("MCP_LAUNCHER_PROBE", "0000000000000000")
        .spawn()
        .unwrap();
    let answer = LauncherProbe::new().probe(Path::new("/bin/true")).await;
    check(&answer, "launcher", "beside another probe");
    assert!(other.try_wait().unwrap().is_none(), "it goes on");
    other.kill().unwrap();
    other.wait().unwrap();
}

/// S5
#[tokio::test]
async fn no_thread_outlives_its_probe() {
    for script in ["exit 0", "exit 1", "sleep 1000 & sleep 1000"] {
        let stub = Stub::new(script);
        let call = ask(&LauncherProbe::new(), &stub);
        stub.started(1).await;
        call.abort();
        // Others of the same process may be at theirs, and end in time.
        until("the thread has ended", || threads() == 0).await;
    }
}

/// S5
#[tokio::test]
async fn a_dropped_call_takes_the_process_along_only_when_nobody_else_waits() {
    let stub = Stub::waiting("exit 0");
    let probe = LauncherProbe::new();
    let (first, second) = (ask(&probe, &stub), ask(&probe, &stub));
    let leader = stub.started(1).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(members(leader) > 0, "the second waits");
    second.abort();
    gone(leader).await;

    let (third, fourth) = (ask(&probe, &stub), ask(&probe, &stub));
    let next = stub.started(2).await;
    third.abort();
    stub.release();
    check(&fourth.await.unwrap(), "launcher", "asked again");
    assert_eq!(stub.starts(), [leader, next]);
}

/// S5
#[test]
fn a_call_that_outlives_its_executor_leaves_nothing() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let stub = Stub::new("sleep 1000 & sleep 1000");
    let executable: PathBuf = stub.executable();
    let probe = LauncherProbe::new();
    let mut call = Box::pin(async move { probe.probe(&executable).await });
    let first = runtime();
    let leader = first.block_on(async {
        let begun = pin!(std::future::poll_fn(|_| {
            let waiting = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            std::task::Poll::Ready(waiting.is_pending())
        }));
        assert!(begun.await, "it hangs");
        stub.started(1).await
    });
    drop(first);
    assert!(members(leader) > 0, "the call is still there");
    drop(call);
    runtime().block_on(gone(leader));
}

/// S5
#[tokio::test]
async fn a_file_that_changed_is_asked_again() {
    let stub = Stub::new("exit 1");
    let probe = LauncherProbe::new();
    check(
        &probe.probe(&stub.executable()).await,
        "refused",
        "as it was",
    );
    stub.replace("exit 0");
    check(
        &probe.probe(&stub.executable()).await,
        "launcher",
        "as it is",
    );
    std::fs::remove_file(stub.executable()).unwrap();
    check(&probe.probe(&stub.executable()).await, "file", "gone");
    stub.replace("exit 3");
    check(&probe.probe(&stub.executable()).await, "refused", "back");
    assert_eq!(stub.starts().len(), 3);
}

/// S5
#[tokio::test]
async fn an_answer_of_a_file_that_is_gone_says_nothing_about_the_new_one() {
    let stub = Stub::waiting("exit 0");
    let probe = LauncherProbe::new();
    let call = ask(&probe, &stub);
    stub.started(1).await;
    stub.replace("exit 1");
    stub.release();
    check(&call.await.unwrap(), "replaced", "the old one answered");
    check(&ask(&probe, &stub).await.unwrap(), "refused", "the new one");
}

#[tokio::test]
async fn an_error_tells_where_and_why_once() {
    let error = LauncherProbe::new()
        .probe(Path::new("/"))
        .await
        .unwrap_err();
    assert_eq!(error.executable(), Path::new("/"));
    assert_eq!(error.to_string(), "`/` is not used as a sandbox launcher");
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "it cannot be started");
    let io = source.source().unwrap();
    assert!(
        io.downcast_ref::<std::sync::Arc<std::io::Error>>()
            .is_some()
            || io.is::<std::io::Error>()
    );
}
