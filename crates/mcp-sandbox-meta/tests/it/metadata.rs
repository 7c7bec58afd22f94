//! What a server accepts as its authority, and what it refuses.

use mcp_sandbox_meta::{InvalidSandboxMetadata, RawMeta, SandboxLauncher, SandboxMetadata};

use super::read;

/// What is read: the state and the launcher as text, or the variant of the error.
#[track_caller]
fn check(meta: &str, expected: Result<Option<(&str, Option<&str>)>, &str>, why: &str) {
    let metadata = read(meta);
    let seen = match &metadata {
        Ok(Some(metadata)) => {
            let launcher = metadata.launcher();
            let path =
                launcher.map(|launcher| launcher.codex_executable().to_str().expect("UTF-8"));
            Ok(Some((metadata.state().as_raw().get(), path)))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(kind(error)),
    };
    assert_eq!(seen, expected, "{why}: {meta}");
}

fn kind(error: &InvalidSandboxMetadata) -> &'static str {
    match error {
        InvalidSandboxMetadata::NotAnObject => "not an object",
        InvalidSandboxMetadata::Repeated { .. } => "repeated",
        InvalidSandboxMetadata::AmbiguousState => "ambiguous",
        InvalidSandboxMetadata::AliasesDiffer => "differ",
        InvalidSandboxMetadata::MalformedLauncher { .. } => "launcher",
        _ => "unknown to this test",
    }
}

/// S7
#[test]
fn either_alias_is_enough_and_two_have_to_agree() {
    check(
        r#"{"codex/sandbox-state":{"a":1}}"#,
        Ok(Some((r#"{"a":1}"#, None))),
        "preferred name",
    );
    check(
        r#"{"codex/sandbox-state-meta":{"a":1}}"#,
        Ok(Some((r#"{"a":1}"#, None))),
        "deprecated name",
    );
    check(
        r#"{"codex/sandbox-state-meta":{"b":2,"a":1},"codex\u002fsandbox-state":{"a":1, "b":2}}"#,
        Ok(Some((r#"{"a":1, "b":2}"#, None))),
        "the same as JSON; the preferred name's spelling is forwarded",
    );
    check(
        r#"{"codex/sandbox-state":{"a":1},"codex/sandbox-state-meta":{"a":2}}"#,
        Err("differ"),
        "two policies",
    );
    check(
        r#"{"codex/sandbox-state":{"a":18446744073709551616},"codex/sandbox-state-meta":{"a":18446744073709551617}}"#,
        Err("differ"),
        "the same as doubles only",
    );
    check(
        r#"{"codex/sandbox-state":{},"codex/sandbox-state-meta":null}"#,
        Err("differ"),
        "null is a value",
    );
}

/// S7
#[test]
fn a_host_that_does_not_speak_of_a_sandbox_gives_no_authority() {
    for (meta, why) in [
        ("{}", "nothing"),
        (r#"{"progressToken":1}"#, "something else"),
        (r#"{"Codex/sandbox-state":{}}"#, "case-sensitive"),
        (
            r#"{"x":{"codex/sandbox-state":{}}}"#,
            "only the top level counts",
        ),
        (
            r#"{"sandboxPolicy":{"type":"read-only"}}"#,
            "a policy under a name of its own",
        ),
        (
            r#"{"codex/sandbox-launcher":{"codexExecutable":"/bin/codex"}}"#,
            "a launcher without a state",
        ),
    ] {
        check(meta, Ok(None), why);
    }
}

/// S3: whoever took the state apart broke when its shape changed.
#[test]
fn any_shape_of_state_is_forwarded() {
    for state in [
        r#"{"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/plain/path"}"#,
        r#"{"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///a%20b","later":[1e2]}"#,
        "null",
        "[]",
        "\"x\"",
        "-0.0",
    ] {
        let meta = format!(r#"{{"codex/sandbox-state":{state}}}"#);
        check(&meta, Ok(Some((state, None))), "opaque");
    }
}

/// S7
#[test]
fn what_readers_may_understand_differently_is_refused() {
    for key in [
        "codex/sandbox-state",
        "codex/sandbox-state-meta",
        "codex/sandbox-launcher",
    ] {
        let escaped = key.replace('/', "\\u002f");
        let meta =
            format!(r#"{{"codex/sandbox-state-meta":1,"{key}":{{}},"x":0,"{escaped}":{{}}}}"#);
        check(&meta, Err("repeated"), "one of them would win silently");
    }
    check(
        r#"{"codex/sandbox-state":{"network":"restricted","network":"enabled"}}"#,
        Err("ambiguous"),
        "one of the members would win silently",
    );
    let same = r#"{"a":1,"a":1}"#;
    check(
        &format!(r#"{{"codex/sandbox-state":{same},"codex/sandbox-state-meta":{same}}}"#),
        Err("ambiguous"),
        "though the copies are identical",
    );
    check(
        r#"{"codex/sandbox-state":{},"x":1,"x":2}"#,
        Ok(Some(("{}", None))),
        "other members are others' business",
    );
    for meta in ["null", "[]", "\"codex/sandbox-state\"", "1"] {
        check(meta, Err("not an object"), "no members at all");
    }
}

/// S7
#[test]
fn a_launcher_is_an_absolute_path_or_an_error() {
    let with = |launcher: &str| {
        format!(r#"{{"codex/sandbox-state":{{}},"codex/sandbox-launcher":{launcher}}}"#)
    };
    check(
        &with(r#"{"later":{"a":[1,1]},"codexExecutable":"/opt/codex"}"#),
        Ok(Some(("{}", Some("/opt/codex")))),
        "unknown members are tolerated",
    );
    for launcher in [
        "null",
        "{}",
        "[]",
        r#"["/opt/codex"]"#,
        r#""/opt/codex""#,
        r#"{"codexExecutable":null}"#,
        r#"{"codexExecutable":["/opt/codex"]}"#,
        r#"{"codexExecutable":"codex"}"#,
        r#"{"codexExecutable":""}"#,
        r#"{"codexexecutable":"/opt/codex"}"#,
        r#"{"codexExecutable":"/opt/codex","codexExecutable":"/opt/codex"}"#,
    ] {
        check(&with(launcher), Err("launcher"), "malformed");
    }
}

/// S2, S3
#[test]
fn a_host_writes_state_copy_and_launcher_in_this_order_and_to_the_byte() {
    let launcher = SandboxLauncher::new("/opt/a b/codex".as_ref()).unwrap();
    for state in [
        r#"{"z":1e2,"a":18446744073709551616,"m":-0.0}"#,
        r#"{"a":1.50,"b":{"a":1,"a":2},"a":1.5}"#,
        r#"{ "\u0061" : [1,  2] , "b":"\/" }"#,
        "null",
    ] {
        let metadata = SandboxMetadata::new(serde_json::from_str(state).unwrap());
        let expected =
            format!(r#""codex/sandbox-state":{state},"codex/sandbox-state-meta":{state}"#);
        assert_eq!(written(&metadata), format!("{{{expected}}}"));
        let path = r#""codex/sandbox-launcher":{"codexExecutable":"/opt/a b/codex"}"#;
        let metadata = metadata.with_launcher(launcher.clone());
        assert_eq!(written(&metadata), format!("{{{expected},{path}}}"));
    }
}

fn written(metadata: &SandboxMetadata) -> String {
    let mut meta = RawMeta::new();
    metadata.insert_into(&mut meta);
    serde_json::to_string(&meta).expect("JSON")
}

#[test]
fn a_parsed_meta_reads_like_its_text() {
    let object = serde_json::json!({
        "codex/sandbox-state": {"a": [1, null]},
        "codex/sandbox-launcher": {"codexExecutable": "/opt/codex"},
    });
    let read = SandboxMetadata::from_meta_object(object.as_object().unwrap());
    let read = read.unwrap().unwrap();
    assert_eq!(read.state().as_raw().get(), r#"{"a":[1,null]}"#);
    assert!(read.launcher().is_some());
}

#[test]
fn neither_debug_nor_errors_show_the_state() {
    let shown = format!(
        "{:?}",
        super::metadata(r#"{"path":"secret"}"#, Some("/opt/codex"))
    );
    assert!(!shown.contains("secret"), "{shown}");
    for meta in [
        r#"{"codex/sandbox-state":"secret","codex/sandbox-state-meta":"secret2"}"#,
        r#"{"codex/sandbox-state":{"secret":1,"secret":1}}"#,
    ] {
        let error = read(meta).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
}
