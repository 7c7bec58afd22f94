//! One server process: reads lines, finds the rule for each, lets its actions run beside the reading.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};
use tokio::sync::{mpsc, oneshot};

use super::journal::Journal;
use super::turn::Turn;
use crate::action::Action;
use crate::rule::Event;
use crate::script::Script;

/// What all turns of one process share.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) script: Script,
    pub(super) journal: Journal,
    /// No further line is read.
    pub(super) deaf: AtomicBool,
    /// Ends the process with a status.
    pub(super) exit: mpsc::Sender<u8>,
    fired: Mutex<Vec<u64>>,
    asked: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl Stage {
    /// Plays the script until it or stdin ends; the exit status.
    pub(super) async fn play(script: Script, journal: Journal) -> io::Result<u8> {
        let (exit, mut exits) = mpsc::channel(1);
        let fired = Mutex::new(vec![0; script.rules().len()]);
        let stage = Arc::new(Self {
            script,
            journal,
            deaf: AtomicBool::new(false),
            exit,
            fired,
            asked: Mutex::default(),
        });
        tokio::select! {
            biased;
            Some(status) = exits.recv() => Ok(status),
            played = stage.read_all() => match played {
                Ok(()) => exits.recv().await.ok_or_else(|| io::ErrorKind::BrokenPipe.into()),
                Err(error) => Err(error),
            },
        }
    }

    async fn read_all(self: &Arc<Self>) -> io::Result<()> {
        let start = self.actions_for(Event::Start).unwrap_or_default();
        Turn::new(self.clone(), Value::Null).run(&start).await;
        let mut stdin = BufReader::new(tokio::io::stdin());
        while !self.deaf.load(Ordering::Relaxed) {
            match read_line(&mut stdin).await? {
                Some(line) => self.receive(&line)?,
                None => return self.end(),
            }
            // Lets the new turn run up to its first wait, so that `stop_reading` comes before the next read.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn end(self: &Arc<Self>) -> io::Result<()> {
        self.journal.event("end", json!({}))?;
        self.spawn(
            Value::Null,
            self.actions_for(Event::End)
                .unwrap_or_else(|| vec![Action::Exit(0)]),
        );
        Ok(())
    }

    fn receive(self: &Arc<Self>, line: &[u8]) -> io::Result<()> {
        self.journal.received(line)?;
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        let Some(method) = message["method"].as_str() else {
            self.answered(&message["id"]);
            return Ok(());
        };
        let actions = self.actions_for(Event::Message {
            method,
            params: &message["params"],
        });
        let standard = if message.get("id").is_some() {
            vec![Action::Standard]
        } else {
            Vec::new()
        };
        self.spawn(message, actions.unwrap_or(standard));
        Ok(())
    }

    fn spawn(self: &Arc<Self>, message: Value, actions: Vec<Action>) {
        let turn = Turn::new(self.clone(), message);
        tokio::spawn(async move { turn.run(&actions).await });
    }

    fn actions_for(&self, event: Event<'_>) -> Option<Vec<Action>> {
        let mut fired = self.fired.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rules = self.script.rules().iter().zip(fired.iter_mut());
        let (rule, fired) =
            rules.find(|(rule, fired)| rule.fits(event, **fired, self.journal.process()))?;
        *fired += 1;
        Some(rule.actions().to_vec())
    }

    /// Resolves when the client has answered the request with this id.
    pub(super) fn ask(&self, id: String) -> oneshot::Receiver<()> {
        let (answered, answer) = oneshot::channel();
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, answered);
        answer
    }

    fn answered(&self, id: &Value) {
        let asked = id.as_str().and_then(|id| {
            self.asked
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(id)
        });
        if let Some(asked) = asked {
            // The turn that asked is never cancelled.
            let _ = asked.send(());
        }
    }
}

/// The next line without its end; `None` at the end of stdin.
async fn read_line(stdin: &mut BufReader<Stdin>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if stdin.read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    }
    Ok(Some(line))
}
