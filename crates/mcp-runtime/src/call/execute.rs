//! From a prepared call to its result.

use std::sync::Arc;
use std::time::Duration;

use mcp_sandbox_meta::RawMeta;
use serde::Serialize;
use serde_json::value::RawValue;

use super::gate::Passed;
use super::hook::CallEnd;
use super::request_meta::RequestMeta;
use super::{CallError, CallErrorKind, CallOptions, IntendedCall, PreparedCall, ToolOutput};
use crate::approval::Undecided;
use crate::chain::ErrorChain;
use crate::connection::{Input, RequestError, RequestErrorKind, ToolCall};
use crate::deadline::Deadline;

const METHOD: &str = "tools/call";

/// How long hooks may look at a call that has no time left. Nobody waits for them.
const AFTERWARDS: Duration = Duration::from_secs(5);

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

/// What is sent.
struct Cleared {
    arguments: Arguments,
    meta: RawMeta,
    /// What hooks want the host to know.
    context: Vec<String>,
}

/// Arguments as the caller gave them, or as those left them who had a say.
enum Arguments {
    Given(Box<RawValue>),
    Seen(IntendedCall),
}

impl Arguments {
    fn raw(&self) -> &RawValue {
        match self {
            Self::Given(given) => given,
            Self::Seen(call) => call.arguments(),
        }
    }
}

impl PreparedCall {
    /// Calls the tool: the hooks, whoever approves and the access lookup have their say, then the request is sent. All of
    /// it takes place within the call's budget, which stands still while a person is asked (B3). Dropping the future tells
    /// the server that nobody waits any more, and takes back what a person was asked on behalf of the call (B4).
    ///
    /// # Errors
    ///
    /// See [`CallErrorKind`]. A tool that says it failed is no error: see [`ToolOutput::is_error`].
    pub async fn execute(self, options: CallOptions) -> Result<ToolOutput, CallError> {
        match self.run(options).await {
            Ok(output) => Ok(output),
            Err(kind) => Err(CallError::new(self.key, kind)),
        }
    }

    async fn run(&self, options: CallOptions) -> Result<ToolOutput, CallErrorKind> {
        let CallOptions {
            arguments,
            meta,
            timeout,
        } = options;
        let deadline = self.slot.config.call_budget().begin(timeout);
        let arguments = arguments.unwrap_or_else(|| {
            RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
        });
        if !arguments.get().starts_with('{') {
            return Err(CallErrorKind::Arguments);
        }
        let Cleared {
            arguments,
            meta,
            context,
        } = self.cleared(arguments, meta.as_deref(), &deadline).await?;
        if !self.is_current() {
            return Err(CallErrorKind::CatalogChanged);
        }
        let outcome = self.request(arguments.raw(), meta, &deadline).await;
        match arguments {
            Arguments::Seen(call) => self.told(call, outcome, context, &deadline).await,
            Arguments::Given(_) => outcome,
        }
    }

    /// Waits until the call may be made, for as long as it has time and its server is there (R10).
    async fn cleared(
        &self,
        arguments: Box<RawValue>,
        of_caller: Option<&RawValue>,
        deadline: &Deadline,
    ) -> Result<Cleared, CallErrorKind> {
        let clearing = self.clear(arguments, of_caller, deadline);
        let failed = |kind| RequestError::new(METHOD, kind).into();
        tokio::select! {
            biased;
            cleared = deadline.bound(clearing) => {
                cleared.unwrap_or_else(|elapsed| Err(failed(RequestErrorKind::Timeout(elapsed))))
            }
            ended = self.connection.closed() => Err(failed(RequestErrorKind::Closed(ended))),
        }
    }

    async fn clear(
        &self,
        arguments: Box<RawValue>,
        of_caller: Option<&RawValue>,
        deadline: &Deadline,
    ) -> Result<Cleared, CallErrorKind> {
        let mut meta = RequestMeta::default();
        if let Some(members) = of_caller {
            meta.accept(members)?;
        }
        let mode = self
            .slot
            .config
            .approval_modes()
            .of(self.key.tool().as_str());
        let (arguments, context) = if self.gate.is_open(mode) {
            (Arguments::Given(arguments), Vec::new())
        } else {
            let Passed { call, context } = self.gate.before(self.intended(arguments)).await?;
            let undecided = Undecided {
                call: &call,
                mode,
                launch: self.slot.fingerprint(),
                deadline,
                patience: self.slot.config.interaction_patience(),
            };
            self.gate.approve(undecided).await?;
            if let Some(members) = self.gate.access(&call).await? {
                meta.accept(&members)?;
            }
            (Arguments::Seen(call), context)
        };
        // Asking the launcher takes time of the call too.
        if self.connection.facts().wants_sandbox_state {
            let reaches = self.connection.reaches_launcher();
            let authority = self.authority.metadata(reaches).await;
            authority.inspect(|authority| meta.tell_authority(authority));
        }
        Ok(Cleared {
            arguments,
            meta: meta.into_raw(),
            context,
        })
    }

    fn intended(&self, arguments: Box<RawValue>) -> IntendedCall {
        let (key, snapshot) = (self.key.clone(), self.snapshot.clone());
        IntendedCall::new(self.id, key, snapshot, self.item, arguments.into())
    }

    async fn request(
        &self,
        arguments: &RawValue,
        meta: RawMeta,
        deadline: &Deadline,
    ) -> Result<ToolOutput, CallErrorKind> {
        let name = self.key.tool().as_str();
        let params = |meta, Input { responses, state }| CallParams {
            name,
            arguments,
            responses,
            state,
            meta,
        };
        let call = ToolCall {
            id: self.id,
            definition: self.tool().definition(),
        };
        let under_way = self.connection.begin(self.id, deadline);
        let request = self
            .connection
            .converse(METHOD, meta, params, Some(call), deadline);
        let answer = request.await;
        // What failed on the way was given up, as by its deadline: nobody waits for what a person would say.
        let given_up = |error: &RequestError| error.elapsed().is_some() || error.http().is_some();
        if !answer.as_ref().is_err_and(given_up) {
            under_way.answered();
        }
        ToolOutput::new(answer?).ok_or(CallErrorKind::Result)
    }

    /// Tells the hooks what came of the call (H1). A call that has run out of time does not wait for them.
    async fn told(
        &self,
        call: IntendedCall,
        outcome: Result<ToolOutput, CallErrorKind>,
        mut context: Vec<String>,
        deadline: &Deadline,
    ) -> Result<ToolOutput, CallErrorKind> {
        match outcome {
            Ok(output) => {
                let telling = self
                    .gate
                    .after(&call, CallEnd::Answered(&output), &mut context);
                let _ = deadline.bound(telling).await;
                Ok(output.with_context(context))
            }
            Err(kind) => {
                let code = kind.code();
                let message = ErrorChain(&kind).to_string();
                let gate = Arc::clone(&self.gate);
                let telling = async move {
                    let message = &*message;
                    let end = CallEnd::Failed { code, message };
                    gate.after(&call, end, &mut Vec::new()).await;
                };
                if deadline.has_passed() {
                    tokio::spawn(tokio::time::timeout(AFTERWARDS, telling));
                } else {
                    let _ = deadline.bound(telling).await;
                }
                Err(kind)
            }
        }
    }

    /// Whether the server still offers the tool as it was captured (B2).
    fn is_current(&self) -> bool {
        let current = self.connection.catalog().snapshot();
        if current.revision() == self.snapshot.revision() {
            return true;
        }
        let tool = self.tool();
        current.items().iter().any(|offered| offered.is_same(tool))
    }
}
