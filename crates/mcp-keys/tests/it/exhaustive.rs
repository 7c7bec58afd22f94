//! Every key over a small hostile alphabet: no two share a name (K4).
//!
//! Keys with parts of up to four symbols are too many to write out (1554 servers in 1555 scopes, 1554 tools
//! each), but a flat name is two independent parts. So: all server parts are distinct, all tool parts are
//! distinct within each budget a server part can leave, and flat names come apart in one way. Together
//! these are injectivity over the whole product. A direct check of the product of shorter parts confirms
//! that the argument is about this code.
//!
//! Hashing 2.4 million servers is why the workspace optimises this crate and its hash in debug builds too.

use std::collections::HashSet;

use mcp_keys::{
    EnvironmentId, McpServerKey, NameProfile, ServerName, ToolKey, ToolName, ToolNameIndex,
};

const ALPHABET: [&str; 6] = ["a", "_", "-", "x", "xabcdefghij", "é"];

/// All texts of one to `longest` symbols.
fn texts(longest: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..longest {
        last = last
            .iter()
            .flat_map(|text| ALPHABET.map(|symbol| format!("{text}{symbol}")))
            .collect();
        all.extend_from_slice(&last);
    }
    all
}

/// The names up to `longest` symbols, and their scopes: the host and as many environments.
fn names_and_scopes(longest: usize) -> (Vec<ServerName>, Vec<Option<EnvironmentId>>) {
    let texts = texts(longest);
    let names = texts.iter().map(|text| text.parse().unwrap()).collect();
    let environments = texts.iter().map(|text| Some(text.parse().unwrap()));
    (names, std::iter::once(None).chain(environments).collect())
}

fn server(scope: Option<&EnvironmentId>, name: &ServerName) -> McpServerKey {
    match scope {
        None => McpServerKey::host(name.clone()),
        Some(id) => McpServerKey::in_environment(id.clone(), name.clone()),
    }
}

/// A part that leaves no doubt where it ends: next to `__`, only its own characters.
#[track_caller]
fn check_part(part: &str) {
    assert!(!part.is_empty());
    assert!(!part.starts_with('_') && !part.ends_with('_'), "{part}");
    assert!(!part.contains("__"), "{part}");
}

/// Every server whose parts have up to `longest` symbols has a part of its own.
#[track_caller]
fn check_servers(profile: &NameProfile, longest: usize, count: usize) {
    let (names, scopes) = names_and_scopes(longest);
    let mut seen = HashSet::with_capacity(count);
    for scope in &scopes {
        for name in &names {
            let namespace = profile.namespace(&server(scope.as_ref(), name));
            check_part(namespace.strip_prefix("mcp__").unwrap());
            assert!(
                seen.insert(namespace),
                "{name:?} in {scope:?} shares its part"
            );
        }
    }
    assert_eq!(seen.len(), count);
}

/// K4
#[test]
fn no_two_servers_share_a_part() {
    check_servers(&NameProfile::LIMIT_64, 4, 1554 * 1555);
}

/// K5
#[test]
fn no_two_servers_share_a_part_at_the_larger_limit() {
    check_servers(&NameProfile::LIMIT_128, 3, 258 * 259);
}

/// K4
#[test]
fn no_two_tools_of_a_server_share_a_part_whatever_its_budget() {
    let tools: Vec<ToolName> = texts(4).iter().map(|text| text.parse().unwrap()).collect();
    for length in 1..=34 {
        let server = McpServerKey::host(ServerName::new("s".repeat(length)).unwrap());
        let mut seen = HashSet::new();
        for tool in &tools {
            let name = NameProfile::LIMIT_64.name(&ToolKey::new(server.clone(), tool.clone()));
            check_part(name.name());
            assert!(
                seen.insert(name.name().to_owned()),
                "{tool:?} shares its part"
            );
        }
    }
}

/// K4, K6
#[test]
fn no_two_keys_of_short_parts_share_a_name() {
    let tools: Vec<ToolName> = texts(2).iter().map(|text| text.parse().unwrap()).collect();
    let (names, scopes) = names_and_scopes(2);
    let mut keys = Vec::new();
    for scope in &scopes {
        for name in &names {
            let server = server(scope.as_ref(), name);
            keys.extend(
                tools
                    .iter()
                    .map(|tool| ToolKey::new(server.clone(), tool.clone())),
            );
        }
    }
    let index = ToolNameIndex::build(&NameProfile::LIMIT_64, keys);
    assert_eq!(index.collisions(), []);
    assert_eq!(index.len(), 42 * 43 * 42);
    let flats: HashSet<&str> = index.iter().map(|(_, name)| name.flat()).collect();
    assert_eq!(flats.len(), index.len());
}
