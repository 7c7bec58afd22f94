//! Which server a name and an optional `environment_id` mean, and what the error says otherwise (K7).

use mcp_keys::{
    EnvironmentId, McpServerKey, ResolveError, ResolveErrorKind, SelectedEnvironments, resolve,
};
use proptest::prelude::*;

use crate::{name, server};

const KNOWN: [&str; 8] = [
    "git",
    "both",
    "ci/both",
    "devbox/docs",
    "ci/docs",
    "ci/lint",
    "laptop/notes",
    "laptop/git",
];

/// Resolves `wanted`, a server name or `<environment>/<name>`, among `KNOWN`.
#[track_caller]
fn find(selected: &[&str], wanted: &str) -> Result<McpServerKey, ResolveError> {
    let known = KNOWN.map(server);
    let selected = selected.iter().map(|id| id.parse().unwrap());
    let wanted = server(wanted);
    let selected = SelectedEnvironments::new(selected).unwrap();
    resolve(&known, &selected, wanted.name(), wanted.environment())
}

fn id(text: &str) -> EnvironmentId {
    text.parse().unwrap()
}

#[track_caller]
fn check_refused(
    selected: &[&str],
    wanted: &str,
    kind: &ResolveErrorKind,
    candidates: &[&str],
    message: &str,
) {
    let error = find(selected, wanted).unwrap_err();
    assert_eq!(error.kind(), kind);
    assert_eq!(error.server(), server(wanted).name());
    let expected: Vec<McpServerKey> = candidates.iter().map(|text| server(text)).collect();
    assert_eq!(error.candidates(), expected);
    assert_eq!(error.to_string(), message);
}

/// K7
#[test]
fn what_a_name_means() {
    for (selected, wanted, meant, why) in [
        (
            &["devbox", "ci"][..],
            "devbox/docs",
            "devbox/docs",
            "the environment named",
        ),
        (&["devbox", "ci"], "ci/docs", "ci/docs", "the other one"),
        (
            &["devbox", "ci"],
            "git",
            "git",
            "the host's needs no environment",
        ),
        (
            &["ci"],
            "both",
            "both",
            "the host's comes before the only environment's",
        ),
        (&["ci"], "ci/both", "ci/both", "but can be told from it"),
        (
            &["devbox"],
            "docs",
            "devbox/docs",
            "the only environment selected",
        ),
        (&["ci"], "docs", "ci/docs", "whichever that is"),
    ] {
        assert_eq!(find(selected, wanted), Ok(server(meant)), "{why}");
    }
}

/// K7
#[test]
fn with_several_selected_an_environments_server_requires_the_environment() {
    check_refused(
        &["devbox", "ci"],
        "docs",
        &ResolveErrorKind::EnvironmentRequired,
        &["devbox/docs", "ci/docs"],
        "server `docs`: several environments are selected; \
         write `environment_id` one of `devbox`, `ci`",
    );
    // Even when only one has it.
    check_refused(
        &["devbox", "ci"],
        "lint",
        &ResolveErrorKind::EnvironmentRequired,
        &["ci/lint"],
        "server `lint`: several environments are selected; write `environment_id` one of `ci`",
    );
}

/// K7
#[test]
fn the_hosts_server_is_never_addressed_with_an_environment() {
    for environment in ["devbox", "nowhere"] {
        check_refused(
            &["devbox"],
            &format!("{environment}/git"),
            &ResolveErrorKind::HostScoped,
            &["git"],
            "server `git`: it is the host's and in no environment; leave `environment_id` out",
        );
    }
}

/// K7
#[test]
fn a_server_that_nobody_has_is_unknown() {
    check_refused(
        &["devbox"],
        "dosc",
        &ResolveErrorKind::UnknownServer,
        &["both", "git", "devbox/docs"],
        "server `dosc`: no such server; name one of the servers `both`, `docs`, `git`",
    );
    check_refused(
        &["devbox", "ci"],
        "devbox/lint",
        &ResolveErrorKind::NotInEnvironment(id("devbox")),
        &["ci/lint"],
        "server `lint`: not in environment `devbox`; write `environment_id` one of `ci`",
    );
}

/// K7
#[test]
fn an_environment_that_nobody_knows_is_unknown() {
    check_refused(
        &["devbox", "ci"],
        "nowhere/docs",
        &ResolveErrorKind::UnknownEnvironment(id("nowhere")),
        &["devbox/docs", "ci/docs"],
        "server `docs`: no such environment as `nowhere`; \
         write `environment_id` one of `devbox`, `ci`",
    );
    check_refused(
        &["ci"],
        "nowhere/both",
        &ResolveErrorKind::UnknownEnvironment(id("nowhere")),
        &["both", "ci/both"],
        "server `both`: no such environment as `nowhere`; \
         write `environment_id` one of `ci`, or leave it out for the host's",
    );
}

/// K7
#[test]
fn an_environment_that_is_not_selected_is_not_used() {
    let not_selected = ResolveErrorKind::EnvironmentNotSelected(id("laptop"));
    for wanted in ["laptop/notes", "notes"] {
        check_refused(
            &["devbox"],
            wanted,
            &not_selected,
            &["both", "git", "devbox/docs"],
            "server `notes`: environment `laptop` is not selected; \
             no selected one has that server: select `laptop`",
        );
    }
    check_refused(
        &["devbox"],
        "laptop/git",
        &not_selected,
        &["git"],
        "server `git`: environment `laptop` is not selected; leave `environment_id` out",
    );
    check_refused(
        &["devbox"],
        "laptop/docs",
        &not_selected,
        &["devbox/docs"],
        "server `docs`: environment `laptop` is not selected; \
         write `environment_id` one of `devbox`",
    );
}

/// K7
#[test]
fn with_nothing_known_the_error_says_so() {
    let selected = SelectedEnvironments::from(id("devbox"));
    let error = resolve([], &selected, &name("docs"), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "server `docs`: no such server; no server can be named here"
    );
}

/// K7
#[test]
fn a_message_lists_a_bounded_number_of_candidates() {
    let known: Vec<McpServerKey> = (10..60).map(|n| server(&format!("s{n}"))).collect();
    let selected = SelectedEnvironments::from(id("devbox"));
    let error = resolve(&known, &selected, &name("docs"), None).unwrap_err();
    assert_eq!(error.candidates().len(), 50);
    assert!(
        error.to_string().ends_with("`s24`, `s25` and 34 more"),
        "{error}"
    );
}

proptest! {
    /// K7
    #[test]
    fn every_candidate_resolves_when_written_as_told(
        selected in proptest::sample::subsequence(vec!["devbox", "ci", "laptop"], 1..=3),
        environment in proptest::option::of(proptest::sample::select(&["devbox", "ci", "laptop", "x"][..])),
        wanted in proptest::sample::select(&["git", "both", "docs", "lint", "notes", "x"][..]),
    ) {
        let text = environment.map_or(wanted.to_owned(), |id| format!("{id}/{wanted}"));
        match find(&selected, &text) {
            // What is found is known, and is what was asked for.
            Ok(key) => {
                prop_assert!(KNOWN.map(server).contains(&key));
                prop_assert_eq!(key.name().as_str(), wanted);
                prop_assert!(environment.is_none() || key == server(&text));
            }
            Err(error) => for key in error.candidates() {
                let known = KNOWN.map(server);
                let selected = SelectedEnvironments::new(selected.iter().map(|text| id(text))).unwrap();
                let found = resolve(&known, &selected, key.name(), key.environment());
                prop_assert_eq!(found.as_ref(), Ok(key));
            }
        }
    }
}
