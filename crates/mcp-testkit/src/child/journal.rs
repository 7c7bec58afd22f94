//! The log, from the side of the process that writes it.

use std::collections::BTreeMap;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use serde_json::{Value, json};

use crate::server_log::ServerLog;

/// Appends entries; several processes may share one file, so each entry is one write.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    process: usize,
}

impl Journal {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let process = ServerLog::new(path.to_owned()).events("start").len() + 1;
        let journal = Self {
            file,
            path: path.to_owned(),
            process,
        };
        let env: BTreeMap<String, String> = env::vars_os()
            .map(|(name, value)| (lossy(&name), lossy(&value)))
            .collect();
        let args: Vec<String> = env::args_os().map(|arg| lossy(&arg)).collect();
        journal.write(json!({"dir": "event", "event": "start", "cwd": lossy(env::current_dir()?.as_os_str()), "args": args, "env": env}))?;
        Ok(journal)
    }

    /// Which process started from this log's script this is, counted from 1.
    pub(super) fn process(&self) -> usize {
        self.process
    }

    /// A file name beside the log that no other process uses.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.path
            .with_extension(format!("{}.{name}", process::id()))
    }

    pub(super) fn received(&self, line: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        match serde_json::from_slice::<Value>(line) {
            // As it was written: a value would spell numbers anew.
            Ok(_) => self.append(&format!(
                "{{\"dir\":\"in\",\"message\":{},\"pid\":{}}}\n",
                text.trim(),
                process::id()
            )),
            Err(_) => self.write(json!({"dir": "in", "text": text})),
        }
    }

    pub(super) fn event(&self, event: &str, mut details: Value) -> io::Result<()> {
        details["dir"] = json!("event");
        details["event"] = json!(event);
        self.write(details)
    }

    fn write(&self, mut entry: Value) -> io::Result<()> {
        entry["pid"] = json!(process::id());
        self.append(&format!("{entry}\n"))
    }

    fn append(&self, line: &str) -> io::Result<()> {
        (&self.file).write_all(line.as_bytes())
    }
}

fn lossy(text: &std::ffi::OsStr) -> String {
    text.to_string_lossy().into_owned()
}
