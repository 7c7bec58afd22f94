//! Servers behind a command (R4, R6).

#[cfg(unix)]
mod namespace;

use std::path::Path;

use mcp_runtime::{
    CommandExecutor, Environment, Era, ErrorCode, Executor, Phase, Quoting, ReconnectPolicy,
    ServerConfig, ServerState, StartupErrorKind, StdioTransport,
};
use mcp_testkit::{Script, ServerProcess};
use serde_json::Value;

use crate::host::{Host, SERVER, at_once, builder, stdio, text, transport};

/// A command that runs what follows it as it is, with a variable that tells its side from this one.
fn container() -> CommandExecutor {
    let argv = ["env", "FAR_SIDE=container"];
    CommandExecutor::new(argv, Quoting::None).expect("a command")
}

/// A command that joins what follows it and has a shell read that, as `ssh` does.
fn ssh() -> CommandExecutor {
    let joins = r#"shift 2; export FAR_SIDE=box; exec sh -c "$*""#;
    let argv = ["sh", "-c", joins, "ssh", "box", "--"];
    CommandExecutor::new(argv, Quoting::PosixSh).expect("a command")
}

fn environment(executor: impl Into<Executor>) -> Environment {
    Environment::new("far".parse().expect("an id")).executor(executor)
}

fn server() -> ServerProcess {
    Script::new().tool_named("t").command()
}

/// Starts one server in an environment, calls it, and ends it; what its process found when it began.
async fn started(
    environment: Environment,
    server: StdioTransport,
    process: &ServerProcess,
) -> Value {
    let server = ServerConfig::stdio(SERVER.parse().expect("a name"), server).era(Era::Legacy);
    let builder = builder().environment(environment.server(server));
    let host = Host::begin(builder).settled().await;
    host.call("t").await.expect("it is called like any other");
    host.end().await;
    process.log().expect_all_gone().await;
    process.log().events("start").remove(0)
}

/// The arguments of a scripted server, and others that mean nothing to it.
fn with_more(process: &ServerProcess, more: &[&str]) -> Vec<String> {
    let own = process.args().into_iter();
    let own = own.map(|arg| arg.into_string().expect("test paths are text"));
    own.chain(more.iter().map(ToString::to_string)).collect()
}

/// R4
#[tokio::test]
async fn a_server_behind_a_command_gets_what_its_configuration_says() {
    let odd = ["a b", "", "it's", "$HOME", "--", "*", "a\nb"];
    for (executor, side) in [(container(), "container"), (ssh(), "box")] {
        let (process, directory) = (server(), tempfile::tempdir().expect("a directory"));
        let cwd = directory.path().canonicalize().expect("its real path");
        let server = transport(&process)
            .args(with_more(&process, &odd))
            .env("LEVEL", "it's full")
            .env_in_argv(true);
        let found = started(environment(executor).cwd(&cwd), server, &process).await;
        assert_eq!(found["env"]["FAR_SIDE"], side);
        assert_eq!(found["env"]["LEVEL"], "it's full", "{side}");
        assert_eq!(found["cwd"].as_str().map(Path::new), Some(&*cwd), "{side}");
        let args = found["args"].as_array().expect("arguments");
        assert!(args.ends_with(&odd.map(Value::from)), "{side}: {args:?}");
    }
}

/// R4, R6: nor does the server's directory, which is on the far side.
#[tokio::test]
async fn nothing_that_is_meant_for_the_far_side_reaches_the_command_itself() {
    // The command reports what it was started with in a place that only it writes to.
    let report = r#"dir=$1; shift; env > "$dir/env"; pwd > "$dir/cwd"; exec "$@""#;
    let (process, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let path = directory.path().to_str().expect("test paths are text");
    let argv = ["sh", "-c", report, "far", path];
    let executor = CommandExecutor::new(argv, Quoting::None).expect("a command");
    let server = transport(&process)
        .env("SET", "1")
        .env_var("CARGO_PKG_NAME")
        .env_in_argv(true);
    let executor = executor.env_var("CARGO_MANIFEST_DIR");
    let found = started(environment(executor).cwd("/"), server, &process).await;
    let read = |name| std::fs::read_to_string(directory.path().join(name)).expect("its report");
    let here = std::env::current_dir().expect("a directory");
    assert_eq!(Path::new(read("cwd").trim_end()), here);
    let environment = read("env");
    let has = |name: &str| environment.lines().any(|line| line.starts_with(name));
    assert!(has("PATH=") && has("CARGO_MANIFEST_DIR="), "{environment}");
    assert!(!has("SET=") && !has("CARGO_PKG_NAME="), "{environment}");
    assert_eq!(found["cwd"], "/");
    assert_eq!(found["env"]["CARGO_PKG_NAME"], env!("CARGO_PKG_NAME"));
}

/// R4, R2: whose directory or variables cannot be had does not start, and costs nobody else anything.
#[tokio::test]
async fn a_variable_is_passed_on_only_for_a_server_that_accepts_where_it_shows() {
    let (process, other) = (server(), server());
    let secret = transport(&process).env("TOKEN", "hunter2");
    let secret = ServerConfig::stdio(SERVER.parse().expect("a name"), secret);
    let environment = environment(container()).servers([secret, stdio("other", &other)]);
    let host = Host::begin(builder().environment(environment));
    at_once(host.runtime.settled()).await;
    let ServerState::Failed { error, .. } = host.state(SERVER) else {
        panic!("it has started: {:?}", host.state(SERVER));
    };
    assert_eq!(error.phase(), Phase::Connect);
    assert_eq!(error.code(), ErrorCode::StartupFailed);
    assert!(matches!(error.kind(), StartupErrorKind::Executor(_)));
    let message = text(&*error);
    assert!(
        message.contains(r#"write `"env_in_argv": true`"#),
        "{message}"
    );
    assert!(!message.contains("hunter2"), "{message}");
    assert!(matches!(host.state("other"), ServerState::Ready { .. }));
    host.end().await;
    assert_eq!(process.log().pids(), [0; 0]);
}

/// R4: the words say which of the two is not there.
#[tokio::test]
async fn an_executor_that_is_not_there_is_told_from_a_server_that_is_not() {
    let missing = CommandExecutor::new(["no-such-executor"], Quoting::None).expect("a command");
    for (executor, says) in [
        (
            missing,
            "the executor's command `no-such-executor` was not found",
        ),
        (container(), "`no-such-server`"),
    ] {
        let server = StdioTransport::new("no-such-server");
        let server = ServerConfig::stdio(SERVER.parse().expect("a name"), server).era(Era::Legacy);
        let host = Host::begin(builder().environment(environment(executor).server(server)));
        at_once(host.runtime.settled()).await;
        let ServerState::Failed { error, .. } = host.state(SERVER) else {
            panic!("it has started: {:?}", host.state(SERVER));
        };
        let message = text(&*error);
        assert!(message.contains(says), "{message}");
        assert!(message.contains("`no-such-server` behind `"), "{message}");
        host.end().await;
    }
}

/// R6: the command, what it started, and what that started.
#[tokio::test]
async fn the_whole_tree_behind_a_command_ends_with_the_runtime() {
    // Waits for the server instead of becoming it, as clients do.
    let argv = ["sh", "-c", r#""$@"; exit "$?""#, "far"];
    for ends in [true, false] {
        let executor = CommandExecutor::new(argv, Quoting::None).expect("a command");
        let process = server();
        let environment = environment(executor).server(stdio(SERVER, &process));
        let builder = builder().reconnect(ReconnectPolicy::never());
        let host = Host::begin(builder.environment(environment))
            .settled()
            .await;
        assert_eq!(process.log().alive().len(), 1);
        if ends {
            host.end().await;
        } else {
            drop(host);
        }
        process.log().expect_all_gone().await;
    }
}

/// R4: the host's own servers run on this machine, whatever the primary environment is.
#[tokio::test]
async fn the_hosts_servers_are_not_behind_the_executor_of_an_environment() {
    let process = server();
    let builder = builder().environment(environment(container()).cwd("/"));
    let host = Host::begin(builder.server(stdio(SERVER, &process)))
        .settled()
        .await;
    host.end().await;
    let found = process.log().events("start").remove(0);
    assert_eq!(found["env"]["FAR_SIDE"], Value::Null);
    let here = std::env::current_dir().expect("a directory");
    assert_eq!(found["cwd"].as_str().map(Path::new), Some(&*here));
}
