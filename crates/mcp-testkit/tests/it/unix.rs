//! The server as a child process: what concerns signals, groups and closed pipes.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use mcp_testkit::{Action, Rule, Script, ServerLog, ServerProcess};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// A process that has begun, in its own group.
async fn start(script: &Script) -> (ServerProcess, Child) {
    let process = script.command_of(env!("CARGO_BIN_EXE_scripted-server"));
    let mut command = Command::new(process.program());
    command
        .args(process.args())
        .kill_on_drop(true)
        .process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let stdin = child.stdin.as_mut().expect("piped");
    stdin.write_all(PING).await.expect("the server reads");
    process.log().expect("ping", 1).await;
    (process, child)
}

/// Sends a signal by name to a process, or to its group when `target` begins with `-`.
async fn signal(name: &str, target: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, "--", target])
        .status()
        .await
        .expect("kill exists");
    assert!(sent.success(), "cannot send {name} to {target}");
}

async fn stays(child: &mut Child) -> bool {
    timeout(Duration::from_millis(150), child.wait())
        .await
        .is_err()
}

async fn kill_all(log: &ServerLog) {
    for pid in log.alive() {
        signal("KILL", &pid.to_string()).await;
    }
    log.expect_all_gone().await;
}

async fn ended(child: &mut Child) -> ExitStatus {
    child.wait().await.expect("it was started")
}

#[tokio::test]
async fn ends_on_sigterm_unless_told_to_ignore_it() {
    let (process, mut child) = start(&Script::new()).await;
    signal("TERM", &process.log().pids()[0].to_string()).await;
    assert_eq!(ended(&mut child).await.signal(), Some(SIGTERM));

    let (process, mut child) = start(&Script::new().ignores_sigterm().ignores_end()).await;
    child.stdin = None;
    signal("TERM", &process.log().pids()[0].to_string()).await;
    assert!(
        stays(&mut child).await,
        "neither the end of stdin nor SIGTERM ends it"
    );
    child.kill().await.expect("SIGKILL does");
}

#[tokio::test]
async fn kills_itself() {
    let (_process, mut child) = start(&Script::new().rule(Rule::on("ping", [Action::Kill]))).await;
    assert_eq!(ended(&mut child).await.signal(), Some(SIGKILL));
}

#[tokio::test]
async fn closes_stdout_and_lives_on() {
    let (process, mut child) =
        start(&Script::new().rule(Rule::on("ping", [Action::CloseOutput]))).await;
    let read = child
        .stdout
        .as_mut()
        .expect("piped")
        .read(&mut [0; 8])
        .await
        .expect("a pipe");
    assert_eq!(read, 0, "the client reads EOF");
    child
        .stdin
        .as_mut()
        .expect("piped")
        .write_all(PING)
        .await
        .expect("stdin is open");
    process.log().expect("ping", 2).await;
}

#[tokio::test]
async fn stops_reading_and_lives_on() {
    let (_process, mut child) =
        start(&Script::new().rule(Rule::on("ping", [Action::StopReading]))).await;
    let stdin = child.stdin.as_mut().expect("piped");
    let written = timeout(
        Duration::from_millis(300),
        stdin.write_all(&vec![b'x'; 1 << 20]),
    )
    .await;
    assert!(
        written.is_err(),
        "a pipe that nobody reads holds no mebibyte"
    );
    assert!(stays(&mut child).await);
}

#[tokio::test]
async fn closes_stdin_and_lives_on() {
    let (_process, mut child) =
        start(&Script::new().rule(Rule::on("ping", [Action::CloseInput, Action::Standard]))).await;
    let mut answer = [0; 8];
    child
        .stdout
        .as_mut()
        .expect("piped")
        .read_exact(&mut answer)
        .await
        .expect("the answer after the close");
    let refused = child.stdin.as_mut().expect("piped").write_all(PING).await;
    assert_eq!(
        refused.expect_err("nobody can read it").kind(),
        std::io::ErrorKind::BrokenPipe
    );
    assert!(stays(&mut child).await);
}

#[tokio::test]
async fn a_grandchild_outlives_what_its_script_says_it_outlives() {
    for own_group in [false, true] {
        let spawn = Action::SpawnGrandchild {
            own_group,
            holds_output: true,
        };
        let (process, mut child) = start(&Script::new().rule(Rule::at_start([spawn]))).await;
        let log = process.log();
        let [server, grandchild] = log.pids()[..] else {
            panic!("two processes, not {:?}", log.pids())
        };
        signal("TERM", &format!("-{server}")).await;
        ended(&mut child).await;
        assert_eq!(log.alive(), [grandchild], "it ignores SIGTERM");
        signal(
            "KILL",
            &format!("-{}", if own_group { grandchild } else { server }),
        )
        .await;
        log.expect_all_gone().await;
        kill_all(&log).await;
    }
}
