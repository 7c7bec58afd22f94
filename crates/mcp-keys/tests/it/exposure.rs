//! Which servers a step sees (K8).

use mcp_keys::{Exposure, HiddenReason, McpServerKey, MultiEnvironment, SelectedEnvironments};
use proptest::prelude::*;

use crate::server;

const KNOWN: [&str; 7] = [
    "docs",
    "git",
    "ci/docs",
    "ci/lint",
    "devbox/docs",
    "devbox/shell",
    "laptop/notes",
];

fn expose(feature: MultiEnvironment, known: &[&str], selected: &[&str]) -> Exposure {
    let selected = selected.iter().map(|id| id.parse().unwrap());
    let selected = SelectedEnvironments::new(selected).unwrap();
    Exposure::new(feature, known.iter().map(|text| server(text)), &selected)
}

#[track_caller]
fn check(exposure: &Exposure, exposed: &[(&str, &str)], hidden: &[(&str, HiddenReason)]) {
    let exposed: Vec<_> = exposed
        .iter()
        .map(|(shown, origin)| (server(shown), server(origin)))
        .collect();
    let seen: Vec<_> = exposure
        .exposed()
        .map(|(shown, origin)| (shown.clone(), origin.clone()))
        .collect();
    assert_eq!(seen, exposed);
    let hidden: Vec<_> = hidden
        .iter()
        .map(|(text, reason)| (server(text), *reason))
        .collect();
    let unseen: Vec<_> = exposure
        .hidden()
        .iter()
        .map(|gone| (gone.key().clone(), gone.reason()))
        .collect();
    assert_eq!(unseen, hidden);
}

/// K8
#[test]
fn off_shows_the_primary_environment_as_the_host_and_the_hosts_name_wins() {
    check(
        &expose(MultiEnvironment::Off, &KNOWN, &["devbox", "ci"]),
        &[("docs", "docs"), ("git", "git"), ("shell", "devbox/shell")],
        &[
            ("ci/docs", HiddenReason::NotPrimary),
            ("ci/lint", HiddenReason::NotPrimary),
            ("devbox/docs", HiddenReason::ShadowedByHost),
            ("laptop/notes", HiddenReason::NotSelected),
        ],
    );
}

/// K8
#[test]
fn off_follows_the_order_of_selection() {
    check(
        &expose(
            MultiEnvironment::Off,
            &["devbox/docs", "ci/docs"],
            &["ci", "devbox"],
        ),
        &[("docs", "ci/docs")],
        &[("devbox/docs", HiddenReason::NotPrimary)],
    );
}

/// K7, K8
#[test]
fn on_shows_every_selected_environment_under_its_own_keys() {
    check(
        &expose(MultiEnvironment::On, &KNOWN, &["devbox", "ci"]),
        &[
            ("docs", "docs"),
            ("git", "git"),
            ("ci/docs", "ci/docs"),
            ("ci/lint", "ci/lint"),
            ("devbox/docs", "devbox/docs"),
            ("devbox/shell", "devbox/shell"),
        ],
        &[("laptop/notes", HiddenReason::NotSelected)],
    );
}

/// K8
#[test]
fn the_feature_is_off_by_default_and_a_bool_in_configuration() {
    #[derive(serde::Deserialize)]
    struct Configuration {
        #[serde(default)]
        multi_environment_mcp: MultiEnvironment,
    }
    assert_eq!(MultiEnvironment::SETTING, "multi_environment_mcp");
    for (json, feature) in [
        ("{}", MultiEnvironment::Off),
        (r#"{"multi_environment_mcp":false}"#, MultiEnvironment::Off),
        (r#"{"multi_environment_mcp":true}"#, MultiEnvironment::On),
    ] {
        let configuration: Configuration = serde_json::from_str(json).unwrap();
        assert_eq!(configuration.multi_environment_mcp, feature);
    }
    assert_eq!(
        serde_json::to_string(&MultiEnvironment::On).unwrap(),
        "true"
    );
    assert!(serde_json::from_str::<Configuration>(r#"{"multi_environment_mcp":"on"}"#).is_err());
}

proptest! {
    /// K8
    #[test]
    fn every_known_server_is_exposed_once_or_hidden_once(
        on: bool,
        known in proptest::collection::vec(proptest::sample::select(&KNOWN[..]), 0..12),
    ) {
        let exposure = expose(on.into(), &known, &["devbox", "ci"]);
        let origins = exposure.exposed().map(|(_, origin)| origin);
        let mut told: Vec<&McpServerKey> =
            origins.chain(exposure.hidden().iter().map(|gone| gone.key())).collect();
        told.sort();
        let mut given: Vec<McpServerKey> = known.iter().map(|text| server(text)).collect();
        given.sort();
        given.dedup();
        prop_assert_eq!(told, given.iter().collect::<Vec<_>>());
        for (shown, origin) in exposure.exposed() {
            prop_assert_eq!(exposure.origin(shown), Some(origin));
            prop_assert!(on || shown.environment().is_none());
        }
    }
}
