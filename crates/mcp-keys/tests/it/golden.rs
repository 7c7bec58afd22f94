//! The golden table: every name that a release must keep (K4).

use mcp_keys::{EnvironmentId, McpServerKey, NameProfile, ServerName, ToolKey, ToolName};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    server: ServerName,
    environment_id: Option<EnvironmentId>,
    tool: ToolName,
    limit_64: Name,
    limit_128: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    namespace: String,
    tool: String,
    flat: String,
}

/// K4, K5
#[test]
fn every_golden_name_is_reproduced_exactly() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../fixtures/names.json")).unwrap();
    assert_eq!(rows.len(), 196, "the table has lost or gained rows");
    for row in rows {
        let server = match row.environment_id {
            Some(id) => McpServerKey::in_environment(id, row.server),
            None => McpServerKey::host(row.server),
        };
        let key = ToolKey::new(server, row.tool);
        let name = NameProfile::LIMIT_64.name(&key);
        assert_eq!(name.flat(), row.limit_64.flat, "{key}");
        assert_eq!(name.namespace(), row.limit_64.namespace, "{key}");
        assert_eq!(name.name(), row.limit_64.tool, "{key}");
        assert_eq!(
            NameProfile::LIMIT_128.name(&key).flat(),
            row.limit_128,
            "{key}"
        );
    }
}
