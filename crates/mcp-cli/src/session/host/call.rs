//! Calls: at once, or prepared first and executed later.

use std::time::Duration;

use mcp_runtime::{Binding, CallOptions, PreparedCall};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{Host, milliseconds};
use crate::report::{ErrorReport, ToolList};
use crate::session::answer::Success;
use crate::session::bindings::{HeldCall, Release};
use crate::session::operation::{Call, Capture, Execute, Prepare, Selection};

impl Host {
    /// Captures a binding and holds it.
    pub(in crate::session) fn hold_binding(
        &self,
        capture: Capture,
    ) -> Result<Success, ErrorReport> {
        let binding = match capture.environments {
            Some(environments) => self.capture_in(environments)?,
            None => self.capture(),
        };
        Ok(Success::Captured {
            binding: self.held.hold(binding.clone()),
            tools: ToolList(binding),
        })
    }

    /// Prepares a call from a binding that is held, and holds it too.
    pub(in crate::session) fn hold_call(&self, prepare: Prepare) -> Result<Success, ErrorReport> {
        let binding = self.held.binding(&prepare.binding)?;
        let prepared = prepared("prepare", &prepare.selection, &binding)?;
        let definition_digest = prepared.definition_digest().to_string();
        let call = HeldCall {
            prepared,
            arguments: prepare.arguments,
        };
        Ok(Success::Prepared {
            call: self.held.hold_call(call),
            definition_digest,
        })
    }

    /// Takes out the call that is to be executed.
    pub(in crate::session) fn take_call(&self, execute: &Execute) -> Result<HeldCall, ErrorReport> {
        self.held.take_call(&execute.call)
    }

    pub(in crate::session) fn release(&self, release: &Release) -> Result<(), ErrorReport> {
        self.held.release(release)
    }

    pub(in crate::session) async fn execute(
        &self,
        call: HeldCall,
        execute: Execute,
        id: &str,
    ) -> Result<Success, ErrorReport> {
        let options = options(call.arguments, execute.meta, execute.timeout_ms)?;
        self.run(call.prepared, options, id).await
    }

    pub(super) async fn call(
        &self,
        call: Call,
        binding: &Binding,
        id: &str,
    ) -> Result<Success, ErrorReport> {
        let prepared = prepared("call", &call.selection, binding)?;
        let options = options(call.arguments, call.meta, call.timeout_ms)?;
        self.run(prepared, options, id).await
    }

    async fn run(
        &self,
        prepared: PreparedCall,
        options: CallOptions,
        id: &str,
    ) -> Result<Success, ErrorReport> {
        let begun = Instant::now();
        let _attributed = self.calls.attribute(prepared.id(), id);
        let output = prepared.execute(options).await;
        let output = output.map_err(|error| ErrorReport::of_call(&error))?;
        Ok(Success::called(output, begun.elapsed()))
    }
}

fn options(
    arguments: Option<Box<RawValue>>,
    meta: Option<Box<RawValue>>,
    timeout_ms: Option<f64>,
) -> Result<CallOptions, ErrorReport> {
    let timeout: Option<Duration> = timeout_ms.map(milliseconds).transpose()?;
    let mut options = CallOptions::new();
    if let Some(arguments) = arguments {
        options = options.arguments(arguments);
    }
    if let Some(meta) = meta {
        options = options.meta(meta);
    }
    if let Some(timeout) = timeout {
        options = options.timeout(timeout);
    }
    Ok(options)
}

fn prepared(
    op: &str,
    selection: &Selection,
    binding: &Binding,
) -> Result<PreparedCall, ErrorReport> {
    let prepared = match (&selection.name, &selection.server, &selection.tool) {
        (Some(name), None, None) => binding.prepare(name),
        (None, Some(server), Some(tool)) => {
            binding.prepare_tool(server, selection.environment_id.as_deref(), tool)
        }
        _ => {
            return Err(ErrorReport::invalid(format!(
                "`{op}` takes either `name`, or `server` and `tool`"
            )));
        }
    };
    prepared.map_err(|error| ErrorReport::of_prepare(&error))
}
