//! Bindings and prepared calls that a session holds, by the ids it gave them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_runtime::{Binding, PreparedCall};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::ErrorReport;

/// What one runtime holds. An id is not given twice.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    bindings: HashMap<String, Binding>,
    calls: HashMap<String, HeldCall>,
    last: u64,
}

/// A call that is prepared, with the arguments that were given for it.
#[derive(Debug)]
pub(super) struct HeldCall {
    pub(super) prepared: PreparedCall,
    pub(super) arguments: Option<Box<RawValue>>,
}

/// `release`.
#[derive(Debug, Deserialize)]
pub(super) struct Release {
    binding: Option<String>,
    call: Option<String>,
}

impl Held {
    /// Keeps a binding; its id.
    pub(super) fn hold(&self, binding: Binding) -> String {
        let mut table = self.table();
        let id = table.next("binding");
        table.bindings.insert(id.clone(), binding);
        id
    }

    pub(super) fn binding(&self, id: &str) -> Result<Binding, ErrorReport> {
        let binding = self.table().bindings.get(id).cloned();
        binding.ok_or_else(|| unknown("binding", id))
    }

    /// Keeps a call; its id.
    pub(super) fn hold_call(&self, call: HeldCall) -> String {
        let mut table = self.table();
        let id = table.next("call");
        table.calls.insert(id.clone(), call);
        id
    }

    /// Takes a call out: it runs once.
    pub(super) fn take_call(&self, id: &str) -> Result<HeldCall, ErrorReport> {
        let call = self.table().calls.remove(id);
        call.ok_or_else(|| unknown("call", id))
    }

    /// Lets go of a binding or a call. Calls that were prepared from a binding stay.
    pub(super) fn release(&self, release: &Release) -> Result<(), ErrorReport> {
        match (&release.binding, &release.call) {
            (Some(id), None) => {
                let binding = self.table().bindings.remove(id);
                binding.map(drop).ok_or_else(|| unknown("binding", id))
            }
            (None, Some(id)) => self.take_call(id).map(drop),
            _ => Err(ErrorReport::invalid(
                "`release` takes either `binding` or `call`",
            )),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Every map operation is complete or has not begun.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn next(&mut self, kind: &str) -> String {
        self.last += 1;
        format!("{kind}-{}", self.last)
    }
}

fn unknown(kind: &str, id: &str) -> ErrorReport {
    ErrorReport::invalid(format!(
        "there is no {kind} `{id}`, or it was used or released"
    ))
}
