//! `mcp-runtime session`: the runtime over JSON lines, for programs that are not written in Rust.
//!
//! Each line on stdin is a request, each line on stdout a response or an event. Requests run concurrently; what
//! changes which runtimes and requests there are, and what a request finds, happens in the order of the lines.

mod access;
mod answer;
mod approval;
mod bindings;
mod caller;
mod calls;
mod elicitation;
mod events;
mod handlers;
mod hook;
mod host;
mod lines;
mod operation;
mod pending;
mod question;
mod start;

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::{Binding, ListingShare};
use serde_json::value::RawValue;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::exit::ExitStatus;
use crate::interrupt::Interrupts;
use crate::report::ErrorReport;
use answer::Success;
use bindings::HeldCall;
use host::Hosts;
use lines::{Line, Output};
use operation::{Execute, Hold, Operation};
use pending::Pending;

/// The runtime that is meant when none is named; its end is the end of the session.
const MAIN: &str = "main";

/// How long the end of a session waits for somebody to read its last answers.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What all requests of a session share.
#[derive(Debug, Clone)]
struct Session {
    hosts: Arc<Hosts>,
    pending: Arc<Pending>,
    output: Output,
}

/// Runs a session until its input ends, it is interrupted, or its main runtime is shut down.
pub(crate) async fn run() -> ExitStatus {
    let mut interrupts = match Interrupts::listen() {
        Ok(interrupts) => interrupts,
        Err(error) => {
            eprintln!("mcp-runtime: signals cannot be received: {error}");
            return ExitStatus::Server;
        }
    };
    let (output, written) = lines::output();
    let session = Session {
        hosts: Arc::new(Hosts::new(ListingShare::default())),
        pending: Arc::default(),
        output,
    };
    session.serve(&mut interrupts).await;
    // The writer ends when the last sender is gone, after everything was written.
    drop(session);
    match timeout(LAST_WORDS, written.finished()).await {
        Ok(Err(error)) => {
            eprintln!("mcp-runtime: the answers cannot be written: {error}");
            ExitStatus::System
        }
        Ok(Ok(())) | Err(_) => ExitStatus::Ok,
    }
}

impl Session {
    async fn serve(&self, interrupts: &mut Interrupts) {
        let mut input = lines::input();
        let mut tasks = JoinSet::new();
        loop {
            let line = tokio::select! {
                line = input.recv() => line,
                () = self.hosts.main_is_over() => None,
                // Nobody reads any more: what a call would do, it would do for nobody.
                () = self.output.closed() => None,
                _ = interrupts.next() => None,
                Some(_) = tasks.join_next(), if !tasks.is_empty() => continue,
            };
            let Some(line) = line else { break };
            self.accept(&line, &mut tasks);
        }
        let hosts = self.hosts.take();
        self.pending.cancel_all();
        // Whoever was cancelled still answers, unless nobody reads.
        let answers = async { while tasks.join_next().await.is_some() {} };
        let _ = timeout(LAST_WORDS, answers).await;
        Hosts::shut_down_all(hosts).await;
    }

    /// Takes one request in; what takes time goes on in a task of its own.
    fn accept(&self, line: &Line, tasks: &mut JoinSet<()>) {
        if line.text.trim().is_empty() {
            return;
        }
        let (id, operation) = operation::read(&line.text);
        // What was replaced would be sent to a server as if it had been asked for.
        let operation = if line.is_whole {
            operation
        } else {
            Err(ErrorReport::invalid("the request is not UTF-8"))
        };
        let key = id.as_deref().map(RawValue::get);
        let begun = operation.and_then(|operation| {
            let place = self.pending.begin(key)?;
            Ok((place, self.begin(operation)?))
        });
        let session = self.clone();
        tasks.spawn(async move {
            let result = match begun {
                Ok((place, work)) => {
                    let id = id.as_deref().map_or("null", RawValue::get);
                    place.run(work.finish(&session, id)).await
                }
                Err(failure) => Err(failure),
            };
            session.output.answer(id.as_deref(), &result).await;
        });
    }

    /// The part of an operation that must happen in the order of the lines.
    fn begin(&self, operation: Operation) -> Result<Work, ErrorReport> {
        match operation {
            Operation::Start(start) => self.hosts.start(*start, &self.output).map(Work::Start),
            Operation::Reply(reply) => self.hosts.reply(reply).map(|()| Work::Done),
            Operation::SetEnvironment { runtime, change } => self
                .hosts
                .get(&runtime)?
                .change(change)
                .map(|()| Work::Done),
            Operation::Hold { runtime, hold } => {
                let host = self.hosts.get(&runtime)?;
                match hold {
                    Hold::Capture(capture) => host.hold_binding(capture).map(Work::Answered),
                    Hold::Prepare(prepare) => host.hold_call(*prepare).map(Work::Answered),
                    Hold::Release(release) => host.release(&release).map(|()| Work::Done),
                    Hold::Execute(execute) => {
                        let call = Box::new(host.take_call(&execute)?);
                        Ok(Work::Execute {
                            host,
                            call,
                            execute,
                        })
                    }
                }
            }
            Operation::Cancel { target } => Ok(Work::Cancelled(self.pending.cancel(target.get()))),
            Operation::On { runtime, request } => {
                let host = self.hosts.get(&runtime)?;
                let binding = host.capture();
                Ok(Work::On {
                    host,
                    binding,
                    request,
                })
            }
            Operation::Shutdown { runtime } => {
                let host = self.hosts.get(&runtime)?;
                Ok(Work::Shutdown { host, runtime })
            }
        }
    }
}

/// The part of an operation that takes time.
enum Work {
    Start(host::Starting),
    Cancelled(bool),
    Done,
    Answered(Success),
    Execute {
        host: Arc<host::Host>,
        call: Box<HeldCall>,
        execute: Execute,
    },
    On {
        host: Arc<host::Host>,
        /// What there was when the line was read, whatever later lines change.
        binding: Binding,
        request: operation::Request,
    },
    Shutdown {
        host: Arc<host::Host>,
        runtime: String,
    },
}

impl Work {
    async fn finish(self, session: &Session, id: &str) -> Result<Success, ErrorReport> {
        match self {
            Self::Start(starting) => Ok(starting.settle().await),
            Self::Done => Ok(Success::Done {}),
            Self::Answered(success) => Ok(success),
            Self::Execute {
                host,
                call,
                execute,
            } => Box::pin(host.execute(*call, execute, id)).await,
            Self::Cancelled(cancelled) => Ok(Success::Cancel { cancelled }),
            Self::On {
                host,
                binding,
                request,
            } => Box::pin(host.answer(request, &binding, id)).await,
            Self::Shutdown { host, runtime } => Ok(session.hosts.shut_down(&runtime, &host).await),
        }
    }
}

/// An id as it came; any JSON value.
type Id = Box<RawValue>;
