//! Trees of real processes, and who is taken for a part of them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::test_kill_process;
use tokio_util::sync::CancellationToken;

use super::super::process_stat::ProcessStat;
use super::*;
use crate::connection::SpawnError;
use crate::connection::process::parent::{Born, bear};

/// Anything here is over within this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A shell in a group of its own.
fn shell(script: &str) -> (Command, Mark) {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    for stream in [Command::stdin, Command::stdout, Command::stderr] {
        stream(&mut command, Stdio::piped());
    }
    let mark = super::super::prepare(&mut command);
    (command, mark)
}

fn start((mut command, mark): (Command, Mark)) -> Result<(Child, Mark), SpawnError> {
    Ok((command.spawn().expect("a shell"), mark))
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").spawn().expect("a sleeper")
}

fn end(mut child: Child) {
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
}

async fn born(script: &str) -> Born {
    let command = shell(script);
    let birth = bear(|| start(command), CancellationToken::new()).expect("a thread");
    birth.await.expect("an answer").expect("a shell")
}

/// The first line that a child writes, as a number: that of a process.
fn told(stdout: impl Read) -> Pid {
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let pid = line.trim().parse().ok().and_then(Pid::from_raw);
    pid.expect("the number of a process")
}

async fn becomes(what: &str, mut holds: impl FnMut() -> bool) {
    let holding = async {
        while !holds() {
            sleep(LOOK_EVERY).await;
        }
    };
    let in_time = timeout(PATIENCE, holding).await;
    assert!(in_time.is_ok(), "{what}");
}

async fn soon<F: Future>(future: F) -> F::Output {
    let output = timeout(PATIENCE, future).await;
    output.expect("it is over soon")
}

fn is_alive(pid: Pid) -> bool {
    let stat = ProcessStat::read(pid);
    stat.is_some_and(|stat| Descendant::hold(&stat).expect("a handle").is_some())
}

/// Its number is free again.
fn is_collected(pid: Pid) -> bool {
    test_kill_process(pid) == Err(Errno::SRCH)
}

fn pid_of(born: &Born) -> Pid {
    let pid = i32::try_from(born.pid).ok().and_then(Pid::from_raw);
    pid.expect("a number")
}

/// A shell that starts `inner` outside of its group, in one way or another, and stays.
async fn check_outside(script: &str, why: &str) {
    let born = born(script).await;
    let (leader, outside) = (pid_of(&born), told(born.stdout));
    assert_ne!(getpgid(Some(outside)), Ok(leader), "{why}: it has left");
    let bystander = sleeper();
    let mut tree = born.tree;
    tree.survey().await;
    let seen: Vec<Pid> = tree.descendants.iter().map(Descendant::pid).collect();
    assert!(
        seen.contains(&outside),
        "{why}: {outside:?} is not in {seen:?}"
    );
    for foreign in [rustix::process::getpid(), Pid::from_child(&bystander)] {
        assert!(
            !seen.contains(&foreign),
            "{why}: {foreign:?} is in {seen:?}"
        );
    }
    tree.kill().await;
    becomes(why, || !is_alive(leader) && !is_alive(outside)).await;
    assert!(!tree.remains().await, "{why}");
    assert!(!is_collected(leader), "{why}: as long as it is held");
    tree.let_go();
    becomes(why, || is_collected(leader)).await;
    assert!(
        is_alive(Pid::from_child(&bystander)),
        "{why}: it is nobody's business"
    );
    end(bystander);
}

/// R6
#[tokio::test]
async fn who_has_left_the_group_is_found() {
    let stays = "sh -c 'echo $$; exec sleep 600'";
    check_outside(&format!("setsid {stays} & wait"), "a session of its own").await;
    check_outside(&format!("timeout 600 {stays} & wait"), "a group of its own").await;
    check_outside(
        &format!(
            "setsid sh -c \"({}) & wait\" & wait",
            stays.replace('$', "\\$")
        ),
        "a child in somebody else's session",
    )
    .await;
    check_outside(
        "setsid sh -c '(sh -c \"echo \\$\\$; exec sleep 600\" &); exec sleep 600' & wait",
        "its own parent is gone, but not whose session it is",
    )
    .await;
    check_outside(
        &format!("setsid setsid -f {stays}; exec sleep 600"),
        "a daemon: who started it is gone, and its session is its own",
    )
    .await;
}

/// R6
#[tokio::test]
async fn who_was_seen_is_remembered_when_the_leader_is_gone() {
    let born = born("setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 600' & read end").await;
    let outside = told(born.stdout);
    let mut tree = born.tree;
    tree.survey().await;
    tree.close_input();
    drop(born.stdin);
    soon(born.ended).await.unwrap();
    assert!(tree.remains().await);
    tree.terminate();
    assert!(is_alive(outside), "it ignores that");
    drop(tree);
    becomes("a tree that is dropped is killed", || !is_alive(outside)).await;
}

/// R6: without a process table there is the group.
#[tokio::test]
async fn a_group_is_ended_unseen() {
    let born = born("sh -c 'echo $$; exec sleep 600' & read end").await;
    let (leader, left) = (pid_of(&born), told(born.stdout));
    let mut tree = born.tree;
    drop(born.stdin);
    assert!(
        is_alive(leader),
        "its input is open for as long as the tree says"
    );
    tree.close_input();
    soon(born.ended).await.unwrap();
    assert!(tree.remains_unseen());
    becomes("nobody holds it", || is_collected(leader)).await;
    assert!(tree.remains_unseen(), "the other one is there");
    assert!(tree.descendants.is_empty());
    tree.kill().await;
    becomes("the group is empty", || !tree.remains_unseen()).await;
    assert!(!is_alive(left));
}

/// R6: a host may collect every child there is.
#[tokio::test]
async fn a_number_that_may_be_somebody_elses_is_not_signalled() {
    let born = born("exec sleep 600").await;
    let leader = pid_of(&born);
    assert!(born.tree.holds_leader());
    born.tree.signal(Signal::KILL);
    waitid(WaitId::Pid(leader), WaitIdOptions::EXITED).unwrap();
    assert!(!born.tree.holds_leader());
    drop(born.tree);
    // Whether its parent saw it end before that depends.
    soon(born.ended).await.unwrap();
    assert!(
        timeout(PATIENCE, born.collected).await.is_ok(),
        "its parent does not wait for ever"
    );
}

/// R6
#[tokio::test]
async fn a_number_that_changed_hands_is_not_held() {
    let mut child = sleeper();
    let stat = ProcessStat::read(Pid::from_child(&child)).unwrap();
    let mut other = stat;
    other.began += 1;
    assert!(Descendant::hold(&other).unwrap().is_none());
    let held = Descendant::hold(&stat).unwrap().expect("itself");
    child.kill().unwrap();
    becomes("it has ended", || !held.is_alive()).await;
    assert!(
        Descendant::hold(&stat).unwrap().is_none(),
        "it has ended and is not collected"
    );
    child.wait().unwrap();
    held.signal(Signal::KILL);
}

/// R6: a startup that is given up while its process is being started. The shell has children just then, inside and outside of
/// its group.
#[tokio::test]
async fn a_child_that_nobody_takes_over_is_killed_with_all_of_its_own_and_collected() {
    let busy =
        "sleep 600 & setsid sleep 600 & setsid sh -c 'setsid sleep 600 & sleep 600' & ".repeat(3);
    for script in ["exec sleep 600", &format!("{busy} wait")].repeat(10) {
        let (go, gate) = mpsc::channel();
        let (tell, started) = mpsc::channel();
        let command = shell(script);
        // Whoever is started by the shell has the other end.
        let (mut nobody_left, end) = std::io::pipe().expect("a pipe");
        let end = rustix::io::dup(end).expect("one that is inherited");
        let slow = move || {
            gate.recv().expect("the gate opens");
            let started = start(command)?;
            drop(end);
            tell.send(Pid::from_child(&started.0))
                .expect("the test listens");
            Ok(started)
        };
        drop(bear(slow, CancellationToken::new()).expect("a thread"));
        go.send(()).unwrap();
        let pid = started.recv_timeout(PATIENCE).unwrap();
        becomes(script, || is_collected(pid)).await;
        let (tell, told) = mpsc::channel();
        thread::spawn(move || tell.send(nobody_left.read(&mut [0]).ok()));
        assert_eq!(told.recv_timeout(PATIENCE), Ok(Some(0)), "{script}");
    }
}

/// R1: one that hangs in the start of its program.
#[tokio::test]
async fn a_start_that_blocks_holds_up_no_other() {
    let (go, gate) = mpsc::channel::<()>();
    let command = shell("exit 3");
    let slow = move || {
        gate.recv().expect("the gate opens");
        start(command)
    };
    let mut slow = bear(slow, CancellationToken::new()).expect("a thread");
    let other = timeout(PATIENCE, born("exit 4")).await.expect("at once");
    let code = |status: Option<std::process::ExitStatus>| status.and_then(|status| status.code());
    assert_eq!(code(other.ended.await.unwrap()), Some(4));
    assert!(slow.try_recv().is_err(), "nothing was born");
    go.send(()).unwrap();
    let slow = slow.await.unwrap().unwrap();
    assert_eq!(code(slow.ended.await.unwrap()), Some(3));
}

/// Readings are shared, but none is older than its question.
#[test]
fn whoever_was_there_before_the_question_is_in_the_table() {
    let asking = || {
        for _ in 0..10 {
            let child = sleeper();
            let table = descendant::read_table().expect("a process table");
            let pid = Pid::from_child(&child);
            assert!(table.iter().any(|entry| entry.pid() == pid));
            end(child);
        }
    };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(asking);
        }
    });
}
