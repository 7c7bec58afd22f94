//! The index over a binding's tools (K6). Collisions are tested beside the code, which can force them.

use mcp_keys::{NameProfile, ToolKey, ToolNameIndex};

use crate::server;

fn key(of: &str, tool: &str) -> ToolKey {
    ToolKey::new(server(of), tool.parse().unwrap())
}

fn keys() -> Vec<ToolKey> {
    vec![
        key("docs", "search"),
        key("docs", "Search"),
        key("docs", "get page"),
        key("ci/docs", "search"),
        key("devbox/docs", "search"),
        key("devbox/docs__search", "_"),
    ]
}

/// K6
#[test]
fn every_tool_is_found_by_its_name_and_the_other_way() {
    for profile in [NameProfile::LIMIT_64, NameProfile::LIMIT_128] {
        let index = ToolNameIndex::build(&profile, keys());
        assert_eq!(index.collisions(), []);
        assert_eq!(index.len(), keys().len());
        for key in keys() {
            let name = index.name_of(&key).unwrap();
            assert_eq!(name, &profile.name(&key));
            assert_eq!(index.by_flat(name.flat()), Some(&key));
            assert_eq!(index.by_parts(name.namespace(), name.name()), Some(&key));
        }
    }
}

/// K6
#[test]
fn what_is_not_there_is_not_found() {
    let index = ToolNameIndex::build(&NameProfile::default(), keys());
    let long = "x".repeat(1_000);
    for flat in [
        "",
        "mcp__docs",
        "mcp__docs__SEARCH",
        "docs__search",
        "é",
        &*long,
    ] {
        assert_eq!(index.by_flat(flat), None, "{flat}");
    }
    for (namespace, name, why) in [
        ("", "", "nothing"),
        (
            "mcp",
            "docs__search",
            "the flat name, cut at the wrong place",
        ),
        ("mcp__docs__", "search", "a namespace with its separator"),
        ("mcp__docs", "__search", "a name with its separator"),
        ("mcp__docs", &*long, "longer than any name"),
        (&*long, "search", "longer than any namespace"),
        ("mcp__docs", "\u{e9}", "not ASCII"),
    ] {
        assert_eq!(index.by_parts(namespace, name), None, "{why}");
    }
    assert_eq!(index.name_of(&key("laptop/docs", "search")), None);
}

/// K6
#[test]
fn the_order_is_that_of_the_keys_however_they_came() {
    let mut sorted = keys();
    sorted.sort();
    let mut reversed = sorted.clone();
    reversed.reverse();
    for given in [keys(), reversed] {
        let index = ToolNameIndex::build(&NameProfile::default(), given);
        let order: Vec<ToolKey> = index.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(order, sorted);
    }
}

/// K6
#[test]
fn a_key_given_twice_is_one_tool() {
    let twice = keys().into_iter().chain(keys());
    let index = ToolNameIndex::build(&NameProfile::default(), twice);
    assert_eq!((index.len(), index.collisions().len()), (keys().len(), 0));
}

/// K6
#[test]
fn an_index_of_nothing_is_empty() {
    let index = ToolNameIndex::build(&NameProfile::default(), []);
    assert!(index.is_empty() && index.iter().next().is_none());
    assert_eq!(index.by_flat(""), None);
}
