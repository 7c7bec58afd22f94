//! The execution of one call, from its first hook to its last.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use mcp_sandbox_meta::RawMeta;
use mcp_telemetry::OperationRecording;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tracing::Instrument;

use super::access::Found;
use super::blocked::{Blocked, CallHandler};
use super::hook::Hook;
use super::request_meta::RequestMeta;
use super::wait::Wait;
use super::{
    Access, CallError, CallErrorKind, CallOptions, HookOutput, Invocation, METHOD, PreparedCall,
    ToolOutput,
};
use crate::connection::{Input, RequestError, ToolCall};
use crate::deadline::Deadline;

/// A call under way.
pub(super) struct Execution<'a> {
    call: &'a PreparedCall,
    deadline: Deadline,
    arguments: Arc<RawValue>,
    meta: Option<Box<RawValue>>,
    /// What hooks have said to the host.
    context: Vec<Box<RawValue>>,
    sent: bool,
}

#[derive(Serialize)]
struct CallParams<'a> {
    name: &'a str,
    arguments: &'a RawValue,
    #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
    responses: Option<Box<RawValue>>,
    #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
    state: Option<Box<RawValue>>,
    #[serde(rename = "_meta", skip_serializing_if = "RawMeta::is_empty")]
    meta: RawMeta,
}

impl<'a> Execution<'a> {
    /// The budget begins to run.
    pub(super) fn begin(call: &'a PreparedCall, options: CallOptions) -> Self {
        let CallOptions {
            arguments,
            meta,
            timeout,
        } = options;
        let none = || RawValue::from_string("{}".to_owned()).expect("an empty object is JSON");
        Self {
            call,
            deadline: call.slot.config.call_budget().begin(timeout),
            arguments: arguments.unwrap_or_else(none).into(),
            meta,
            context: Vec::new(),
            sent: false,
        }
    }

    /// Makes the call. What becomes of it is recorded once, also when the future is dropped (T4).
    pub(super) async fn outcome(self) -> Result<ToolOutput, CallError> {
        let recorder = &self.call.slot.recorder;
        let recording = recorder.call(self.call.key().tool().as_str(), Instant::now());
        recording.call_id(self.call.id().number());
        let span = recording.span();
        self.recorded(recording).instrument(span).await
    }

    async fn recorded(mut self, recording: OperationRecording) -> Result<ToolOutput, CallError> {
        let outcome = self.run(&recording).await;
        let context = std::mem::take(&mut self.context);
        let outcome = match outcome {
            Ok(output) => Ok(output.with_context(context)),
            Err(kind) => Err(CallError::new(self.call.key().clone(), kind).with_context(context)),
        };
        match &outcome {
            Ok(output) => recording.answered(output.report()),
            Err(error) => recording.failed(error),
        }
        if self.sent {
            self.tell_hooks(outcome.as_ref()).await;
        }
        outcome
    }

    async fn run(&mut self, recording: &OperationRecording) -> Result<ToolOutput, CallErrorKind> {
        self.check_arguments()?;
        // Nobody is asked about a call that cannot be made.
        self.call.check()?;
        self.pass_hooks().await?;
        self.pass_approval().await?;
        let access = self.pass_access().await?;
        let meta = self.request_meta(access.as_deref()).await?;
        self.call.check()?;
        self.sent = true;
        self.send(meta, recording).await
    }

    fn check_arguments(&self) -> Result<(), CallErrorKind> {
        let is_object = self.arguments.get().starts_with('{');
        is_object.then_some(()).ok_or(CallErrorKind::Arguments)
    }

    /// Runs the hooks before the call, one after the other (H1).
    async fn pass_hooks(&mut self) -> Result<(), CallErrorKind> {
        let call = self.call;
        for Hook(hook) in &call.gates.hooks {
            let seen = self.invocation();
            let hooked = self
                .wait()
                .of(CallHandler::Hook, async { hook.before(seen).await });
            let output = hooked.await?;
            self.follow(output)?;
        }
        Ok(())
    }

    fn follow(&mut self, output: HookOutput) -> Result<(), CallErrorKind> {
        let HookOutput {
            denial,
            arguments,
            context,
            owner,
        } = output;
        // What was meant for another server says nothing about this call.
        if let Some(named) = owner.filter(|named| named != self.call.key().server()) {
            return Err(Blocked::Moved { named }.into());
        }
        self.context.extend(context);
        if let Some(message) = denial {
            return Err(Blocked::Hook { message }.into());
        }
        if let Some(arguments) = arguments {
            self.arguments = arguments.into();
            self.check_arguments()?;
        }
        Ok(())
    }

    async fn pass_approval(&self) -> Result<(), CallErrorKind> {
        let PreparedCall { gates, slot, .. } = self.call;
        let call = || self.invocation();
        let approvals = &gates.approvals;
        let passed = approvals.pass(call, self.call.key(), slot, self.wait());
        passed.await
    }

    /// Asks the access lookup (L1); what it has to tell the server.
    async fn pass_access(&self) -> Result<Option<Box<RawValue>>, CallErrorKind> {
        let Some(access) = &self.call.gates.access else {
            return Ok(None);
        };
        let looking = async { access.0.look_up(self.invocation()).await };
        let Access(found) = self.wait().of(CallHandler::AccessLookup, looking).await?;
        match found {
            Found::Granted { meta } => Ok(meta),
            Found::Refused { message } => Err(Blocked::Access { message }.into()),
        }
    }

    /// Puts the request's `_meta` together. That the launcher has to be asked first takes time of the call (B3).
    async fn request_meta(&self, access: Option<&RawValue>) -> Result<RawMeta, CallErrorKind> {
        let mut meta = RequestMeta::default();
        for members in self.meta.as_deref().into_iter().chain(access) {
            meta.accept(members)?;
        }
        let PreparedCall {
            connection,
            authority,
            ..
        } = self.call;
        if connection.facts().wants_sandbox_state {
            let authority = authority.metadata(connection.reaches_launcher());
            let authority = self.wait().within(authority).await?;
            authority.inspect(|authority| meta.tell_authority(authority));
        }
        Ok(meta.into_raw())
    }

    async fn send(
        &self,
        meta: RawMeta,
        recording: &OperationRecording,
    ) -> Result<ToolOutput, CallErrorKind> {
        let PreparedCall { connection, .. } = self.call;
        recording.protocol_version(&connection.facts().protocol_version);
        let params = |meta, Input { responses, state }| CallParams {
            name: self.call.key().tool().as_str(),
            arguments: &self.arguments,
            responses,
            state,
            meta,
        };
        let call = ToolCall {
            id: self.call.id(),
            definition: self.call.tool().definition(),
            recording,
        };
        let permissions = self.call.authority.permissions();
        let under_way = connection.begin(call.id, permissions, &self.deadline);
        let request = connection.converse(METHOD, meta, params, Some(call), &self.deadline);
        let answer = request.await;
        // What failed on the way was given up, as by its deadline: nobody waits for what a person would say.
        let given_up = |error: &RequestError| error.elapsed().is_some() || error.http().is_some();
        if !answer.as_ref().is_err_and(given_up) {
            under_way.answered();
        }
        ToolOutput::new(answer?).ok_or(CallErrorKind::Result)
    }

    /// Runs the hooks after the call. They have what is left of its time, and change nothing.
    async fn tell_hooks(&self, outcome: Result<&ToolOutput, &CallError>) {
        for Hook(hook) in &self.call.gates.hooks {
            let seen = self.invocation();
            let telling = AssertUnwindSafe(async { hook.after(seen, outcome).await });
            let tool = self.call.key();
            match self.deadline.bound_once_begun(telling.catch_unwind()).await {
                Ok(Ok(())) => {}
                Ok(Err(_panic)) => tracing::error!(%tool, "a hook panicked after a call"),
                Err(elapsed) => {
                    tracing::warn!(%tool, %elapsed, "a hook after a call was not done in the call's time");
                }
            }
        }
    }

    fn invocation(&self) -> Invocation {
        Invocation::new(&self.call.target, &self.arguments)
    }

    fn wait(&self) -> Wait<'_> {
        Wait {
            connection: &self.call.connection,
            deadline: &self.deadline,
        }
    }
}
