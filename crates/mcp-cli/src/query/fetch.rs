//! One resource, or one prompt.

use mcp_runtime::{McpRuntime, QueryError, QueryOptions};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Address, ask, failure};
use crate::arguments;
use crate::cli::{OfServerArgs, PromptArgs, ReadArgs};
use crate::config_file::ConfigFile;
use crate::content;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::screen::{self, BOLD};

/// Reads a resource and prints what is in it.
///
/// # Errors
///
/// When the server does not answer with contents.
pub(crate) async fn read(args: ReadArgs) -> Result<ExitStatus, Failure> {
    let json = args.of.json;
    let reading = async |runtime: &McpRuntime, server: Address<'_>, options| {
        let read = runtime.read_resource(server, &args.uri, options).await?;
        Ok(read)
    };
    let contents = fetch(&args.of, reading).await?;
    let printed = match json {
        true => screen::raw_line(contents.raw().get()),
        false => contents
            .contents()
            .into_iter()
            .try_for_each(|part| screen::foreign_text(&content::resource(part))),
    };
    printed.map_err(Failure::Output)?;
    Ok(ExitStatus::Ok)
}

/// Gets a prompt and prints its messages.
///
/// # Errors
///
/// When the arguments cannot be read, or the server does not answer with messages.
pub(crate) async fn prompt(args: PromptArgs) -> Result<ExitStatus, Failure> {
    let arguments = args.arguments.as_deref().map(arguments::read).transpose()?;
    let getting = async |runtime: &McpRuntime, server: Address<'_>, options| {
        let arguments = arguments.as_deref();
        runtime
            .get_prompt(server, &args.name, arguments, options)
            .await
    };
    let result = fetch(&args.of, getting).await?;
    let printed = match args.of.json {
        true => screen::raw_line(result.raw().get()),
        false => result.messages().into_iter().try_for_each(message),
    };
    printed.map_err(Failure::Output)?;
    Ok(ExitStatus::Ok)
}

async fn fetch<T>(
    args: &OfServerArgs,
    fetching: impl AsyncFnOnce(&McpRuntime, Address<'_>, QueryOptions) -> Result<T, QueryError>,
) -> Result<T, Failure> {
    let config = ConfigFile::read(&args.config)?;
    let address = (args.server.as_str(), args.environment.as_deref());
    ask(
        &config,
        Some(address),
        args.timeout,
        async |runtime, options| {
            let fetched = fetching(runtime, address, options).await;
            fetched.map_err(|error| failure(runtime, &config, error))
        },
    )
    .await
}

/// A message, under its role.
fn message(raw: &RawValue) -> std::io::Result<()> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Message<'a> {
        role: String,
        #[serde(borrow)]
        content: Option<&'a RawValue>,
    }
    let message: Message<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let role = screen::summary(&message.role, usize::MAX);
    screen::line(format_args!("{BOLD}{role}:{BOLD:#}"))?;
    screen::foreign_text(&content::shown(message.content.unwrap_or(raw)))
}
