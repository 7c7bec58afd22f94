//! Somebody who sees everything that comes out of a process: its log down to TRACE, and whatever a host can show.

use std::error::Error;
use std::fmt::{Debug, Write as _};
use std::io;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::host::{Host, SERVER};

/// What all crates have logged, by `tracing` and by `log`. One for the process, whose threads have one log.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// A place in which a secret is kept, and the secret.
pub(crate) type Secret = (&'static str, String);

/// The log from now on, and what was looked at.
#[derive(Debug)]
pub(crate) struct Witness {
    from: usize,
    seen: String,
}

impl Witness {
    pub(crate) fn new() -> Self {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| {
            let subscriber = tracing_subscriber::fmt()
                .with_max_level(LevelFilter::TRACE)
                .with_span_events(FmtSpan::FULL)
                .with_ansi(false)
                .with_writer(|| Writer);
            subscriber.init();
            log::set_logger(&Records).expect("no other test logs");
            log::set_max_level(log::LevelFilter::Trace);
        });
        Self {
            from: written().len(),
            seen: String::new(),
        }
    }

    /// Looks at something.
    pub(crate) fn sees(&mut self, thing: &dyn Debug) {
        let _ = writeln!(self.seen, "{thing:?}\n{thing:#?}");
    }

    /// Looks at an error and at its sources.
    pub(crate) fn reads(&mut self, error: &(dyn Error + 'static)) {
        let mut next = Some(error);
        while let Some(error) = next {
            let _ = writeln!(self.seen, "{error}");
            self.sees(&error);
            next = error.source();
        }
    }

    /// Looks at all that a host can show.
    pub(crate) fn visits(&mut self, host: &mut Host) {
        let binding = host.runtime.capture();
        self.sees(&host.runtime);
        self.sees(&binding);
        for tool in binding.tools() {
            self.sees(&tool);
            let (key, name) = (tool.key(), tool.tool().name().as_str());
            self.sees(&key);
            self.sees(&binding.prepare_tool(SERVER, None, name));
        }
        for status in host.runtime.status() {
            self.sees(&status);
            if let mcp_runtime::ServerState::Failed { error, .. } = status.state() {
                self.reads(&**error);
            }
        }
        for event in host.told() {
            self.sees(&event);
        }
    }

    /// What was logged, and what was looked at.
    #[track_caller]
    pub(crate) fn has_seen_none_of(self, secrets: &[Secret]) {
        let log = String::from_utf8_lossy(&written()[self.from..]).into_owned();
        assert!(log.contains(" mcp_runtime::"), "nothing was logged");
        for (place, secret) in secrets {
            for (shown, text) in [("logged", &log), ("shown", &self.seen)] {
                let leak = text.lines().find(|line| line.contains(secret));
                assert_eq!(leak, None, "what is in {place} is {shown}");
            }
        }
    }
}

fn written() -> MutexGuard<'static, Vec<u8>> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        written().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Some crates use `log`.
struct Records;

impl log::Log for Records {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let (level, target) = (record.level(), record.target());
        let line = format!("{level} {target}: {} (log)\n", record.args());
        written().extend_from_slice(line.as_bytes());
    }

    fn flush(&self) {}
}
