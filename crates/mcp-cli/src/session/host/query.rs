//! Resources and prompts: those of a server, or of all.

use mcp_runtime::{Listed, QueryError, QueryOptions, ServerAddress};
use serde_json::value::RawValue;

use super::{Host, milliseconds};
use crate::report::{ErrorReport, Owned, OwnedError};
use crate::session::answer::{Rest, Success};
use crate::session::operation::{GetPrompt, List, Read};

/// The entries of a listing, and what is said beside them.
type Entries = (Vec<Owned>, Rest);

impl Host {
    pub(super) async fn resources(&self, list: List) -> Result<Success, ErrorReport> {
        let options = options(list.timeout_ms)?;
        let (resources, rest) = match one(&list)? {
            Some((server, cursor)) => {
                of_one(self.runtime.list_resources(server, cursor, options).await)?
            }
            None => of_all(self.runtime.list_all_resources(options).await),
        };
        Ok(Success::Resources { resources, rest })
    }

    pub(super) async fn resource_templates(&self, list: List) -> Result<Success, ErrorReport> {
        let options = options(list.timeout_ms)?;
        let runtime = &self.runtime;
        let (resource_templates, rest) = match one(&list)? {
            Some((server, cursor)) => of_one(
                runtime
                    .list_resource_templates(server, cursor, options)
                    .await,
            )?,
            None => of_all(runtime.list_all_resource_templates(options).await),
        };
        Ok(Success::ResourceTemplates {
            resource_templates,
            rest,
        })
    }

    pub(super) async fn read_resource(&self, read: Read) -> Result<Success, ErrorReport> {
        let options = options(read.timeout_ms)?;
        let server = (read.server.as_str(), read.environment_id.as_deref());
        let reading = self.runtime.read_resource(server, &read.uri, options).await;
        let contents = reading.map_err(|error| ErrorReport::of_query(&error))?;
        let contents = contents.contents().into_iter().map(ToOwned::to_owned);
        Ok(Success::Read {
            contents: contents.collect(),
        })
    }

    pub(super) async fn prompts(&self, list: List) -> Result<Success, ErrorReport> {
        let options = options(list.timeout_ms)?;
        let (prompts, rest) = match one(&list)? {
            Some((server, cursor)) => {
                of_one(self.runtime.list_prompts(server, cursor, options).await)?
            }
            None => of_all(self.runtime.list_all_prompts(options).await),
        };
        Ok(Success::Prompts { prompts, rest })
    }

    pub(super) async fn get_prompt(&self, get: GetPrompt) -> Result<Success, ErrorReport> {
        let options = options(get.timeout_ms)?;
        let server = (get.server.as_str(), get.environment_id.as_deref());
        let arguments = get.arguments.as_deref();
        let getting = self
            .runtime
            .get_prompt(server, &get.name, arguments, options);
        let result = getting
            .await
            .map_err(|error| ErrorReport::of_query(&error))?;
        Ok(Success::Prompt {
            result: result.into_raw(),
        })
    }
}

fn options(timeout_ms: Option<f64>) -> Result<QueryOptions, ErrorReport> {
    let options = QueryOptions::new();
    Ok(match timeout_ms {
        Some(timeout) => options.timeout(milliseconds(timeout)?),
        None => options,
    })
}

/// The server whose listing is asked for, and the cursor that belongs to it; `None` for all servers.
fn one(list: &List) -> Result<Option<(ServerAddress<'_>, Option<&RawValue>)>, ErrorReport> {
    let (environment_id, cursor) = (list.environment_id.as_deref(), list.cursor.as_deref());
    if let Some(server) = &list.server {
        return Ok(Some(((server.as_str(), environment_id).into(), cursor)));
    }
    if cursor.is_some() {
        return Err(ErrorReport::invalid(
            "a `cursor` belongs to one server; name that `server`",
        ));
    }
    if environment_id.is_some() {
        return Err(ErrorReport::invalid(
            "`environment_id` says which `server` is meant; name that too",
        ));
    }
    Ok(None)
}

fn of_one<T: Into<Owned>>(listed: Result<Listed<T>, QueryError>) -> Result<Entries, ErrorReport> {
    let listed = listed.map_err(|error| ErrorReport::of_query(&error))?;
    let rest = Rest {
        next_cursor: listed.next_cursor().map(ToOwned::to_owned),
        ..Rest::default()
    };
    Ok((owned(listed.into_items()), rest))
}

fn of_all<T: Into<Owned>>((entries, errors): (Vec<T>, Vec<QueryError>)) -> Entries {
    let rest = Rest {
        errors: errors.iter().map(OwnedError::new).collect(),
        ..Rest::default()
    };
    (owned(entries), rest)
}

fn owned<T: Into<Owned>>(entries: Vec<T>) -> Vec<Owned> {
    entries.into_iter().map(Into::into).collect()
}
