//! A small server of documentation, which says in every answer which environment it is in.

use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServiceExt as _};
use serde_json::{Value, json};

use super::vigil;
use crate::cli::DemoServerArgs;
use crate::exit::ExitStatus;
use crate::failure::Failure;

pub(super) const SEARCH: &str = "search";
pub(super) const READ: &str = "read";
pub(super) const REINDEX: &str = "reindex";

/// How long a rebuild of the index is said to take.
const REINDEXING: Duration = Duration::from_secs(60);

/// The pages there are: a name and a text.
const PAGES: [(&str, &str); 3] = [
    (
        "names",
        "A tool's name depends on its own server, environment and tool, and on nothing else.",
    ),
    (
        "deadlines",
        "Every call has a deadline, and comes back by then whatever its server does.",
    ),
    (
        "shutdown",
        "When the runtime ends, its servers end: first politely, then by force, all within a deadline.",
    ),
];

#[derive(Debug)]
struct Docs {
    environment: String,
}

/// Serves on stdin and stdout until stdin ends.
///
/// # Errors
///
/// When the vigil cannot be joined. A client that goes away is none.
pub(crate) async fn serve(args: DemoServerArgs) -> Result<ExitStatus, Failure> {
    let watched = args.alive.as_deref().map(vigil::take_part).transpose();
    let _watched = watched.map_err(Failure::Demo)?;
    let docs = Docs {
        environment: args.environment,
    };
    if let Ok(serving) = docs.serve(rmcp::transport::io::stdio_pipes()).await {
        // It ends when its client goes; how is of no interest.
        let _ = serving.waiting().await;
    }
    Ok(ExitStatus::Ok)
}

impl ServerHandler for Docs {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let info = Implementation::new("mcp-runtime-demo", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(info)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![
            tool(
                SEARCH,
                "Finds pages of the documentation by a word.",
                &["query"],
            ),
            tool(READ, "Reads one page of the documentation.", &["page"]),
            tool(
                REINDEX,
                "Rebuilds the index of the documentation; takes a minute.",
                &[],
            ),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let result = match request.name.as_ref() {
            SEARCH => self.search(text("query")),
            READ => self.read(text("page")),
            REINDEX => {
                tokio::select! {
                    () = tokio::time::sleep(REINDEXING) => self.answer("The index is new.", json!({})),
                    () = context.ct.cancelled() => self.refusal("The rebuild was given up.", "cancelled"),
                }
            }
            other => {
                let message = format!("unknown tool `{other}`");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(result.into())
    }
}

impl Docs {
    fn search(&self, query: &str) -> CallToolResult {
        let query = query.to_lowercase();
        let found = PAGES.iter().filter(|(name, text)| {
            !query.is_empty() && (name.contains(&query) || text.to_lowercase().contains(&query))
        });
        let found: Vec<&str> = found.map(|(name, _)| *name).collect();
        let text = match found.as_slice() {
            [] => "Nothing found".to_owned(),
            found => format!("Found: {}", found.join(", ")),
        };
        self.answer(&text, json!({"pages": found}))
    }

    fn read(&self, page: &str) -> CallToolResult {
        match PAGES.iter().find(|(name, _)| *name == page) {
            Some((_, text)) => self.answer(text, json!({"page": page})),
            None => {
                let names = PAGES.map(|(name, _)| name).join(", ");
                self.refusal(
                    &format!("There is no page `{page}`; there are {names}"),
                    "no_such_page",
                )
            }
        }
    }

    /// An answer that says where it comes from: to people in the text, to programs in the structured content.
    fn answer(&self, text: &str, mut structured: Value) -> CallToolResult {
        structured["environment"] = json!(self.environment);
        let text = format!("{text} ({})", self.environment);
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(structured);
        result
    }

    fn refusal(&self, text: &str, code: &str) -> CallToolResult {
        let mut result = self.answer(text, json!({"error_code": code}));
        result.is_error = Some(true);
        result
    }
}

/// A tool whose parameters are texts, all of them required.
fn tool(name: &'static str, description: &'static str, parameters: &[&str]) -> Tool {
    let properties: JsonObject = parameters
        .iter()
        .map(|parameter| ((*parameter).to_owned(), json!({"type": "string"})))
        .collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !parameters.is_empty() {
        schema.insert("required".to_owned(), json!(parameters));
    }
    Tool::new(name, description, schema)
}
