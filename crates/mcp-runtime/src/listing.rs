//! The tools of a connection, as its server lists them (R8).

use std::collections::HashSet;
use std::sync::Arc;

use mcp_keys::ToolName;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::{Connection, Disconnect, RequestError, RequestErrorKind};
use crate::deadline::{Deadline, Elapsed};
use crate::event::EventSink;
use crate::paging::{self, Entries, Listed};
use crate::tool::Tool;

const METHOD: &str = "tools/list";

/// Lists all tools of a connection.
pub(crate) async fn tools(
    connection: &Connection,
    deadline: &Deadline,
    events: &EventSink,
) -> Result<Listed<Tool>, RequestError> {
    let refusal = |definition: &RawValue| Some(connection.refusal_of(definition)?.to_string());
    let listed = paging::list(Tools::new(refusal), connection, None, deadline, events).await;
    match listed {
        // A server without tools need not know how to list them.
        Err(error) if error.is_unknown_method() && !connection.facts().declares("tools") => {
            Ok(Listed::default())
        }
        listed => listed,
    }
}

/// A listing whose connection ended.
pub(crate) fn closed(why: Arc<Disconnect>) -> RequestError {
    RequestError::new(METHOD, RequestErrorKind::Closed(why))
}

/// A listing that did not end in time.
pub(crate) fn timed_out(elapsed: Elapsed) -> RequestError {
    RequestError::new(METHOD, elapsed)
}

/// Reads tools; of a repeated name the first stays.
pub(crate) struct Tools<R> {
    names: HashSet<ToolName>,
    /// Why a tool must not be called, if so.
    refusal: R,
}

impl<R: Fn(&RawValue) -> Option<String>> Tools<R> {
    pub(crate) fn new(refusal: R) -> Self {
        let names = HashSet::new();
        Self { names, refusal }
    }
}

impl<R: Fn(&RawValue) -> Option<String>> Entries for Tools<R> {
    type Item = Tool;
    const METHOD: &'static str = METHOD;
    const CAPABILITY: &'static str = "tools";
    const MEMBER: &'static str = "tools";
    const NOUN: &'static str = "tools";

    fn read(&mut self, definition: &RawValue) -> Result<Tool, String> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        let name = match serde_json::from_str::<Named>(definition.get()) {
            // serde would read an array as the struct, member by member.
            Ok(Named { name }) if definition.get().starts_with('{') => {
                ToolName::new(name).map_err(|error| error.to_string())
            }
            _ => Err("it is no object with a name".to_owned()),
        };
        let name = name.map_err(|why| format!("a tool is left out: {why}"))?;
        if !self.names.insert(name.clone()) {
            return Err(format!(
                "tool `{name}` is listed more than once; the first stays"
            ));
        }
        if let Some(why) = (self.refusal)(definition) {
            return Err(format!("tool `{name}` is left out: {why}"));
        }
        Ok(Tool::new(name, definition.to_owned()))
    }
}
