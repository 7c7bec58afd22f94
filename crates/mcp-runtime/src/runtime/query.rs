//! What a host asks of servers by their names, beside calling their tools.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_keys::{EnvironmentId, McpServerKey, ServerName};
use serde_json::value::RawValue;

use super::McpRuntime;
use crate::address::ServerAddress;
use crate::connection::Connection;
use crate::paging::{self, Entries, Listed};
use crate::prompt::{self, Prompt, PromptResult, Prompts};
use crate::query::{QueryError, QueryOptions};
use crate::resource::{
    self, Resource, ResourceContents, ResourceTemplate, ResourceTemplates, Resources,
};
use crate::slot::Slot;

impl McpRuntime {
    /// Lists a server's tools again, on its own connection (C2); how many it offers then, after filters.
    ///
    /// # Errors
    ///
    /// When the address means no connected server (K7), or it cannot list. The last good listing stays.
    pub async fn refresh(&self, server: impl Into<ServerAddress<'_>>) -> Result<usize, QueryError> {
        let (slot, connection) = self.connected(server.into())?;
        let refreshed = self.starter.refresh(&slot, &connection).await;
        refreshed.map_err(|error| QueryError::request(&slot.key, error))
    }

    /// Lists the tools of every connected server again; how many all of them offer then. One that fails keeps its
    /// listing, and is among the errors.
    pub async fn refresh_all(&self) -> (usize, Vec<QueryError>) {
        let refreshing = self.all_connected().map(|(slot, connection)| async move {
            let refreshed = self.starter.refresh(&slot, &connection).await;
            let error = refreshed
                .err()
                .map(|error| QueryError::request(&slot.key, error));
            (slot.offered(&connection), error)
        });
        let (offered, errors): (Vec<_>, Vec<_>) = join_all(refreshing).await.into_iter().unzip();
        (
            offered.into_iter().sum(),
            errors.into_iter().flatten().collect(),
        )
    }

    /// Lists a server's resources (P1): all of them, or with a cursor of that server the one page it stands for.
    ///
    /// Nothing is kept: every listing asks the server. What is wrong with it is told by an event (R8). A server that does
    /// not declare resources is asked all the same.
    ///
    /// # Errors
    ///
    /// When the address means no connected server (K7), or it cannot list: one that has no resources says so with a
    /// JSON-RPC error.
    pub async fn list_resources(
        &self,
        server: impl Into<ServerAddress<'_>>,
        cursor: Option<&RawValue>,
        options: QueryOptions,
    ) -> Result<Listed<Resource>, QueryError> {
        self.list(Resources, server.into(), cursor, options).await
    }

    /// Lists the resources of every connected server, in the order of their keys (P1). One that fails costs its own, and
    /// is among the errors; one that has no resources has just none. Each has its own budget.
    pub async fn list_all_resources(
        &self,
        options: QueryOptions,
    ) -> (Vec<Resource>, Vec<QueryError>) {
        self.list_all(Resources, options).await
    }

    /// Lists a server's resource templates, as [`list_resources`](Self::list_resources) does its resources.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
    pub async fn list_resource_templates(
        &self,
        server: impl Into<ServerAddress<'_>>,
        cursor: Option<&RawValue>,
        options: QueryOptions,
    ) -> Result<Listed<ResourceTemplate>, QueryError> {
        let server = server.into();
        self.list(ResourceTemplates, server, cursor, options).await
    }

    /// Lists the resource templates of every connected server, as
    /// [`list_all_resources`](Self::list_all_resources) does their resources.
    pub async fn list_all_resource_templates(
        &self,
        options: QueryOptions,
    ) -> (Vec<ResourceTemplate>, Vec<QueryError>) {
        self.list_all(ResourceTemplates, options).await
    }

    /// Reads a resource of a server (P1), listed or not. The URI is passed on as it is.
    ///
    /// # Errors
    ///
    /// When the address means no connected server (K7), or it does not answer with contents by the deadline.
    pub async fn read_resource(
        &self,
        server: impl Into<ServerAddress<'_>>,
        uri: &str,
        options: QueryOptions,
    ) -> Result<ResourceContents, QueryError> {
        let (slot, connection) = self.connected(server.into())?;
        let deadline = options.deadline(slot.config.tool_budget());
        let read = resource::read(&connection, uri, &deadline).await;
        read.map_err(|error| QueryError::request(&slot.key, error))
    }

    /// Lists a server's prompts (P2), as [`list_resources`](Self::list_resources) does its resources.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
    pub async fn list_prompts(
        &self,
        server: impl Into<ServerAddress<'_>>,
        cursor: Option<&RawValue>,
        options: QueryOptions,
    ) -> Result<Listed<Prompt>, QueryError> {
        self.list(Prompts, server.into(), cursor, options).await
    }

    /// Lists the prompts of every connected server, as [`list_all_resources`](Self::list_all_resources) does their resources.
    pub async fn list_all_prompts(&self, options: QueryOptions) -> (Vec<Prompt>, Vec<QueryError>) {
        self.list_all(Prompts, options).await
    }

    /// Gets a prompt of a server (P2), listed or not. The arguments reach the server as they are written.
    ///
    /// # Errors
    ///
    /// When the address means no connected server (K7), the arguments are no JSON object, or the server does not answer with
    /// messages by the deadline.
    pub async fn get_prompt(
        &self,
        server: impl Into<ServerAddress<'_>>,
        name: &str,
        arguments: Option<&RawValue>,
        options: QueryOptions,
    ) -> Result<PromptResult, QueryError> {
        let (slot, connection) = self.connected(server.into())?;
        if arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
            return Err(QueryError::arguments(&slot.key));
        }
        let deadline = options.deadline(slot.config.tool_budget());
        let got = prompt::get(&connection, name, arguments, &deadline).await;
        got.map_err(|error| QueryError::request(&slot.key, error))
    }

    async fn list<E: Entries>(
        &self,
        entries: impl FnOnce(McpServerKey) -> E,
        server: ServerAddress<'_>,
        cursor: Option<&RawValue>,
        options: QueryOptions,
    ) -> Result<Listed<E::Item>, QueryError> {
        let (slot, connection) = self.connected(server)?;
        let deadline = options.deadline(slot.config.tool_budget());
        let entries = entries(slot.key.clone());
        let events = &self.starter.connector.events;
        let listed = paging::list(entries, &connection, cursor, &deadline, events).await;
        listed.map_err(|error| QueryError::request(&slot.key, error))
    }

    async fn list_all<E: Entries>(
        &self,
        entries: impl Fn(McpServerKey) -> E,
        options: QueryOptions,
    ) -> (Vec<E::Item>, Vec<QueryError>) {
        let events = &self.starter.connector.events;
        let declaring = self
            .all_connected()
            // One that declares nothing may not even refuse: it is not asked when nobody means it.
            .filter(|(_, connection)| connection.facts().declares(E::CAPABILITY));
        let listing = declaring.map(|(slot, connection)| {
            let entries = entries(slot.key.clone());
            async move {
                let deadline = options.deadline(slot.config.tool_budget());
                let listed = paging::list(entries, &connection, None, &deadline, events).await;
                (slot, listed)
            }
        });
        let (mut items, mut errors) = (Vec::new(), Vec::new());
        for (slot, listed) in join_all(listing).await {
            match listed {
                Ok(listed) => items.extend(listed.into_items()),
                Err(error) if error.is_unknown_method() => {}
                Err(error) => errors.push(QueryError::request(&slot.key, error)),
            }
        }
        (items, errors)
    }

    fn all_connected(&self) -> impl Iterator<Item = (Arc<Slot>, Arc<Connection>)> + use<> {
        let view = self.views.current();
        let connected = |slot: &Arc<Slot>| Some((slot.clone(), slot.connection()?));
        let connected: Vec<_> = view.slots().iter().filter_map(connected).collect();
        connected.into_iter()
    }

    /// The connected server that an address means (K7).
    fn connected(
        &self,
        address: ServerAddress<'_>,
    ) -> Result<(Arc<Slot>, Arc<Connection>), QueryError> {
        let server = address.server();
        let named = |error| QueryError::name(server, error);
        let name: ServerName = server.parse().map_err(named)?;
        let environment = address.environment_id().map(str::parse::<EnvironmentId>);
        let environment = environment.transpose().map_err(named)?;
        let view = self.views.current();
        let key = view.scope().resolve(&name, environment.as_ref());
        let key = key.map_err(|error| QueryError::resolve(server, error))?;
        let slot = view.slots().iter().find(|slot| slot.key == key);
        let slot = slot.ok_or_else(|| QueryError::not_connected(&key))?;
        let connection = slot.connection();
        let connection = connection.ok_or_else(|| QueryError::without_connection(slot))?;
        Ok((slot.clone(), connection))
    }
}
