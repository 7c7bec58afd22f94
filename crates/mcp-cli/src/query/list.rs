//! Listings: of one server, or of all of them.

use mcp_runtime::{
    ErrorChain, Listed, McpRuntime, QueryError, QueryOptions, ServerState, ServerStatus,
};
use serde::Serialize;

use super::{Address, ask, failure, table};
use crate::cli::{ListArgs, PromptsArgs, ResourcesArgs};
use crate::config_file::ConfigFile;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::report::{Owned, OwnedError};
use crate::screen;
use crate::tools::{self, tell_failure};

/// What is listed.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Resources,
    Templates,
    Prompts,
}

/// The entries that were listed, as programs read them.
#[derive(Serialize)]
struct Listing {
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Vec<Owned>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_templates: Option<Vec<Owned>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Vec<Owned>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<OwnedError>,
}

/// Lists resources, or their templates.
///
/// # Errors
///
/// When there is nothing to start, or the one server that was asked for does not answer.
pub(crate) async fn resources(args: ResourcesArgs) -> Result<ExitStatus, Failure> {
    let kind = match args.templates {
        true => Kind::Templates,
        false => Kind::Resources,
    };
    list(args.list, kind).await
}

/// Lists prompts.
///
/// # Errors
///
/// As [`resources`].
pub(crate) async fn prompts(args: PromptsArgs) -> Result<ExitStatus, Failure> {
    list(args.list, Kind::Prompts).await
}

async fn list(args: ListArgs, kind: Kind) -> Result<ExitStatus, Failure> {
    let config = ConfigFile::read(&args.config)?;
    config.tell_unused();
    let server = args.server.as_deref();
    let address = server.map(|server| (server, args.environment.as_deref()));
    ask(&config, address, args.timeout, async |runtime, options| {
        let (entries, errors) = match address {
            Some(address) => {
                let listed = kind.of_one(runtime, address, options).await;
                let listed = listed.map_err(|error| failure(runtime, &config, error))?;
                (listed, Vec::new())
            }
            None => kind.of_all(runtime, options).await,
        };
        let printed = match args.json {
            true => screen::raw_line(&kind.json(entries, &errors)?),
            false => table::print(&entries),
        };
        printed.map_err(Failure::Output)?;
        for error in &errors {
            screen::warning(ErrorChain(error));
        }
        Ok(match address {
            Some(_) => ExitStatus::Ok,
            None => status(&runtime.status(), errors.len()),
        })
    })
    .await
}

/// One server that fails must not fail a script; all of them, or one that is required, must.
fn status(servers: &[ServerStatus], failed_listings: usize) -> ExitStatus {
    servers.iter().for_each(tell_failure);
    let is_ready = |server: &&ServerStatus| matches!(server.state(), ServerState::Ready { .. });
    let ready = servers.iter().filter(is_ready).count();
    match tools::status(servers) {
        ExitStatus::Ok if failed_listings > 0 && failed_listings == ready => ExitStatus::Server,
        status => status,
    }
}

impl Kind {
    async fn of_one(
        self,
        runtime: &McpRuntime,
        server: Address<'_>,
        options: QueryOptions,
    ) -> Result<Vec<Owned>, QueryError> {
        fn owned<T: Into<Owned>>(listed: Listed<T>) -> Vec<Owned> {
            listed.into_items().into_iter().map(Into::into).collect()
        }
        match self {
            Self::Resources => {
                let listing = runtime.list_resources(server, None, options);
                listing.await.map(owned)
            }
            Self::Templates => {
                let listing = runtime.list_resource_templates(server, None, options);
                listing.await.map(owned)
            }
            Self::Prompts => runtime.list_prompts(server, None, options).await.map(owned),
        }
    }

    async fn of_all(
        self,
        runtime: &McpRuntime,
        options: QueryOptions,
    ) -> (Vec<Owned>, Vec<QueryError>) {
        fn owned<T: Into<Owned>>(
            (items, errors): (Vec<T>, Vec<QueryError>),
        ) -> (Vec<Owned>, Vec<QueryError>) {
            (items.into_iter().map(Into::into).collect(), errors)
        }
        match self {
            Self::Resources => owned(runtime.list_all_resources(options).await),
            Self::Templates => owned(runtime.list_all_resource_templates(options).await),
            Self::Prompts => owned(runtime.list_all_prompts(options).await),
        }
    }

    fn json(self, entries: Vec<Owned>, errors: &[QueryError]) -> Result<String, Failure> {
        let mut listing = Listing {
            resources: None,
            resource_templates: None,
            prompts: None,
            errors: errors.iter().map(OwnedError::new).collect(),
        };
        let member = match self {
            Self::Resources => &mut listing.resources,
            Self::Templates => &mut listing.resource_templates,
            Self::Prompts => &mut listing.prompts,
        };
        *member = Some(entries);
        serde_json::to_string(&listing).map_err(|error| Failure::Output(error.into()))
    }
}
