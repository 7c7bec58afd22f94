//! Any state comes through unchanged: host, wire, server, argument (S3).

use std::collections::BTreeSet;

use mcp_sandbox_meta::{RawMeta, SandboxCommand, SandboxLauncher, SandboxMetadata};
use proptest::prelude::{
    Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// JSON text with any spelling of numbers and strings, any order of members, and white space.
fn json() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?";
    let leaf = prop_oneof![
        number,
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("text")),
        Just(r#""\u00e9\ud83d\ude00\/\ud800""#.to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    let space = || prop::sample::select(vec!["", " ", "\n", "\t "]);
    leaf.prop_recursive(5, 40, 6, move |inner| {
        let items = prop::collection::vec((inner.clone(), space()), 0..6);
        let members = prop::collection::vec((any::<String>(), inner, space()), 0..6);
        prop_oneof![
            (items, space()).prop_map(|(items, space)| {
                let items: Vec<_> = items
                    .iter()
                    .map(|(item, space)| format!("{space}{item}"))
                    .collect();
                format!("[{}{space}]", items.join(","))
            }),
            (members, space()).prop_map(|(members, space)| {
                let mut names = BTreeSet::new();
                let members: Vec<_> = members
                    .iter()
                    .filter(|(name, ..)| names.insert(name))
                    .map(|(name, value, space)| {
                        let name = serde_json::to_string(name).expect("text");
                        format!("{space}{name}{space}:{value}{space}")
                    })
                    .collect();
                format!("{{{}{space}}}", members.join(","))
            }),
        ]
    })
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: &'a RawValue,
}

proptest! {
    /// S3, S7
    #[test]
    fn any_state_reaches_the_launcher_as_it_was_given(state in json()) {
        // The host: the state may come out of a larger document of its own.
        let document = format!(r#"{{"state":{state}}}"#);
        let document: std::collections::BTreeMap<String, mcp_sandbox_meta::SandboxState> =
            serde_json::from_str(&document).unwrap();
        let launcher = SandboxLauncher::new("/opt/codex".as_ref()).unwrap();
        let mut meta = RawMeta::new();
        SandboxMetadata::new(document["state"].clone())
            .with_launcher(launcher)
            .insert_into(&mut meta);

        // The wire.
        let line = serde_json::to_string(&serde_json::json!({"name": "run", "arguments": {}})).unwrap();
        let line = line.replacen('{', &format!(r#"{{"_meta":{},"#, serde_json::to_string(&meta).unwrap()), 1);

        // The server.
        let params: Params<'_> = serde_json::from_str(&line).unwrap();
        let authority = SandboxMetadata::from_meta(params.meta).unwrap();
        prop_assert!(authority.is_some());
        let command = SandboxCommand::new(authority.as_ref(), "true").unwrap();
        prop_assert_eq!(command.argv().nth(3).unwrap(), state.as_str());
    }
}
