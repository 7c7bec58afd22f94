//! Which inputs make a scope of their own.

use std::path::Path;

use mcp_keys::{EnvironmentId, McpServerKey, ServerName};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{
    CredentialIdentity, DiscoveryClient, DiscoveryHandshake, DiscoveryScope, DiscoveryScopeBuilder,
    DiscoveryTransport,
};

type Pairs = Vec<(String, String)>;

/// All inputs of a discovery, to be changed one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Inputs {
    server: String,
    environment: Option<String>,
    executor: String,
    transport: Transport,
    credential: Option<String>,
    client: [String; 3],
    handshake: [String; 4],
    also: Pairs,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Transport {
    Stdio(Stdio),
    Http(String, Pairs),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stdio {
    command: String,
    arguments: Vec<String>,
    directory: Option<String>,
    environment: Pairs,
}

impl Inputs {
    fn example() -> Self {
        Self {
            server: "docs".into(),
            environment: None,
            executor: "local".into(),
            transport: Transport::Stdio(Stdio {
                command: "docs-server".into(),
                arguments: vec!["--stdio".into()],
                directory: Some("/srv".into()),
                environment: pairs(&[("A", "1"), ("B", "2")]),
            }),
            credential: None,
            client: ["host", "1.0", "{}"].map(Into::into),
            handshake: ["legacy", "2025-11-25", "{}", r#"{"tools":{}}"#].map(Into::into),
            also: vec![],
        }
    }

    fn builder(&self) -> DiscoveryScopeBuilder {
        let name = ServerName::new(self.server.as_str()).unwrap();
        let server = match &self.environment {
            Some(id) => {
                McpServerKey::in_environment(EnvironmentId::new(id.as_str()).unwrap(), name)
            }
            None => McpServerKey::host(name),
        };
        let transport = match &self.transport {
            Transport::Stdio(stdio) => DiscoveryTransport::stdio(
                &stdio.command,
                &stdio.arguments,
                stdio.directory.as_deref().map(Path::new),
                stdio.environment.iter().map(|(name, value)| (name, value)),
            ),
            Transport::Http(url, headers) => {
                DiscoveryTransport::http(url, headers.iter().map(|(name, value)| (name, value)))
            }
        };
        let credential = match &self.credential {
            Some(account) => CredentialIdentity::Known(account.as_bytes()),
            None => CredentialIdentity::None,
        };
        let [name, version, capabilities] = &self.client;
        let client = DiscoveryClient::new(name, version, capabilities);
        let [era, protocol, info, offered] = &self.handshake;
        let handshake = DiscoveryHandshake::new(era, protocol, info, offered);
        let builder = DiscoveryScopeBuilder::new(
            &server,
            &self.executor,
            &transport,
            credential,
            &client,
            &handshake,
        );
        self.also
            .iter()
            .fold(builder, |builder, (what, value)| builder.also(what, value))
    }

    fn scope(&self) -> DiscoveryScope {
        self.builder().build()
    }

    /// The same inputs with what does not matter taken out.
    fn normal(mut self) -> Self {
        match &mut self.transport {
            Transport::Stdio(stdio) => stdio.environment.sort_by(|a, b| a.0.cmp(&b.0)),
            Transport::Http(_, pairs) => {
                for (name, _) in pairs.iter_mut() {
                    name.make_ascii_lowercase();
                }
                pairs.sort_by(|a, b| a.0.cmp(&b.0));
            }
        }
        self
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Pairs {
    let own = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
    pairs.iter().map(own).collect()
}

fn stdio(change: impl FnOnce(&mut Stdio)) -> Inputs {
    let mut inputs = Inputs::example();
    if let Transport::Stdio(stdio) = &mut inputs.transport {
        change(stdio);
    }
    inputs
}

fn http(url: &str, headers: &[(&str, &str)]) -> Inputs {
    Inputs {
        transport: Transport::Http(url.into(), pairs(headers)),
        ..Inputs::example()
    }
}

/// C5: every input by itself separates scopes.
#[test]
fn each_input_makes_a_scope_of_its_own() {
    let example = Inputs::example;
    let changed = |change: fn(&mut Inputs)| {
        let mut inputs = example();
        change(&mut inputs);
        inputs
    };
    let all = [
        ("example", example()),
        ("server", changed(|i| i.server = "mail".into())),
        (
            "environment",
            changed(|i| i.environment = Some("local".into())),
        ),
        ("executor", changed(|i| i.executor = "devbox".into())),
        ("command", stdio(|s| s.command.push('2'))),
        ("argument added", stdio(|s| s.arguments.push(String::new()))),
        ("argument gone", stdio(|s| s.arguments.clear())),
        ("directory", stdio(|s| s.directory = Some("/".into()))),
        ("no directory", stdio(|s| s.directory = None)),
        (
            "empty directory",
            stdio(|s| s.directory = Some(String::new())),
        ),
        ("value", stdio(|s| s.environment[0].1 = "2".into())),
        ("variable gone", stdio(|s| s.environment.truncate(1))),
        (
            "values swapped",
            stdio(|s| s.environment = pairs(&[("A", "2"), ("B", "1")])),
        ),
        ("url", http("https://a.example/mcp", &[])),
        ("other url", http("https://a.example/mcp2", &[])),
        ("header", http("https://a.example/mcp", &[("x-team", "1")])),
        (
            "header value",
            http("https://a.example/mcp", &[("x-team", "2")]),
        ),
        ("credential", changed(|i| i.credential = Some("ann".into()))),
        (
            "other credential",
            changed(|i| i.credential = Some("bob".into())),
        ),
        (
            "empty credential",
            changed(|i| i.credential = Some(String::new())),
        ),
        ("client", changed(|i| i.client[0].push('2'))),
        ("client version", changed(|i| i.client[1].push('2'))),
        ("client capabilities", changed(|i| i.client[2].push('2'))),
        ("era", changed(|i| i.handshake[0] = "modern".into())),
        ("protocol version", changed(|i| i.handshake[1].push('2'))),
        ("server info", changed(|i| i.handshake[2].push('2'))),
        ("server capabilities", changed(|i| i.handshake[3].push('2'))),
        ("own input", changed(|i| i.also = pairs(&[("plugin", "1")]))),
    ];
    for (a, (why_a, left)) in all.iter().enumerate() {
        for (b, (why_b, right)) in all.iter().enumerate() {
            assert_eq!(left.scope() == right.scope(), a == b, "{why_a} / {why_b}");
        }
    }
}

#[track_caller]
fn check_same(left: &Inputs, right: &Inputs, why: &str) {
    assert_eq!(left.scope(), right.scope(), "{why}");
}

#[track_caller]
fn check_apart(left: &Inputs, right: &Inputs, why: &str) {
    assert_ne!(left.scope(), right.scope(), "{why}");
}

/// C5
#[test]
fn order_counts_only_where_the_server_can_tell() {
    let environment = |given| stdio(|s| s.environment = pairs(given));
    check_same(
        &environment(&[("A", "1"), ("B", "2")]),
        &environment(&[("B", "2"), ("A", "1")]),
        "variables have no order",
    );
    check_apart(
        &environment(&[("A", "1"), ("A", "2")]),
        &environment(&[("A", "2"), ("A", "1")]),
        "of a repeated variable one wins",
    );
    let headers = |given| http("https://a.example", given);
    check_same(
        &headers(&[("A", "1"), ("b", "2")]),
        &headers(&[("B", "2"), ("a", "1")]),
        "header names have no order and no case",
    );
    check_apart(
        &headers(&[("a", "1"), ("A", "2")]),
        &headers(&[("a", "2"), ("A", "1")]),
        "values of one header are in order",
    );
}

/// C5
#[test]
fn nothing_is_shared_when_the_account_is_unknown() {
    let with = |credential| {
        let name = ServerName::new("docs").unwrap();
        DiscoveryScopeBuilder::new(
            &McpServerKey::host(name),
            "local",
            &DiscoveryTransport::http("https://a.example", [("a", "b")]),
            credential,
            &DiscoveryClient::new("host", "1", "{}"),
            &DiscoveryHandshake::new("legacy", "2025-11-25", "{}", "{}"),
        )
        .build()
    };
    assert!(with(CredentialIdentity::None).is_shareable());
    assert!(with(CredentialIdentity::Known(b"ann")).is_shareable());
    assert!(!with(CredentialIdentity::Unknown).is_shareable());
    assert_ne!(
        with(CredentialIdentity::Unknown),
        with(CredentialIdentity::None)
    );
}

/// C5: eight hex digits, and nothing of a secret anywhere on the way.
#[test]
fn debug_shows_eight_hex_digits_and_no_secret() {
    let mut inputs = http("https://s3cret.example", &[("authorization", "s3cret")]);
    inputs.credential = Some("s3cret".into());
    let shown = format!("{:?}", inputs.scope());
    let digits = shown.strip_prefix("DiscoveryScope(").unwrap();
    let digits = digits.strip_suffix(')').unwrap();
    assert_eq!(digits.len(), 8, "{shown}");
    assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()));

    for shown in [
        format!("{:?}", inputs.builder()),
        format!(
            "{:?}",
            DiscoveryTransport::http("https://s3cret.example", [("a", "s3cret")])
        ),
        format!("{:?}", CredentialIdentity::Known(b"s3cret")),
    ] {
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

fn text() -> impl Strategy<Value = String> {
    // Few letters, so that inputs which differ in one place only are common.
    "[ab]{0,2}"
}

fn some_pairs() -> impl Strategy<Value = Pairs> {
    vec(("[abA]{0,2}", text()), 0..3)
}

fn transport() -> impl Strategy<Value = Transport> {
    prop_oneof![
        (text(), vec(text(), 0..3), option::of(text()), some_pairs()).prop_map(
            |(command, arguments, directory, environment)| Transport::Stdio(Stdio {
                command,
                arguments,
                directory,
                environment,
            })
        ),
        (text(), some_pairs()).prop_map(|(url, headers)| Transport::Http(url, headers)),
    ]
}

fn inputs() -> impl Strategy<Value = Inputs> {
    let identity = ("[ab]", option::of("[ab]"), text(), option::of(text()));
    let said = ([text(), text(), text()], [text(), text(), text(), text()]);
    (identity, transport(), said, some_pairs()).prop_map(
        |((server, environment, executor, credential), transport, (client, handshake), also)| {
            Inputs {
                server,
                environment,
                executor,
                transport,
                credential,
                client,
                handshake,
                also,
            }
        },
    )
}

/// A change of one input by one step, so that near neighbours are compared too.
fn neighbour() -> impl Strategy<Value = (Inputs, Inputs)> {
    (inputs(), inputs(), 0..8_usize).prop_map(|(left, other, which)| {
        let mut right = left.clone();
        match which {
            0 => right.server = other.server,
            1 => right.environment = other.environment,
            2 => right.executor = other.executor,
            3 => right.transport = other.transport,
            4 => right.credential = other.credential,
            5 => right.client = other.client,
            6 => right.handshake = other.handshake,
            _ => right.also = other.also,
        }
        (left, right)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// C5: what is hashed is the same exactly when the inputs are.
    #[test]
    fn different_inputs_have_different_encodings((left, right) in neighbour()) {
        let same_bytes = left.builder().encoding == right.builder().encoding;
        prop_assert_eq!(same_bytes, left.normal() == right.normal());
    }
}
