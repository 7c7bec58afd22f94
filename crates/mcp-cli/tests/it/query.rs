//! `resources`, `read`, `prompts` and `prompt` (P1, P2, U2).

use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use crate::program::{Config, missing, run_with_stdin, scripted};

const RESOURCES: &str = r#"{"resources":[{"uri":"mem://guide","name":"Guide","description":"How names are made.\nAnd more.","n":1e2},{"uri":"mem://logo"}]}"#;
const TEMPLATES: &str = r#"{"resourceTemplates":[{"uriTemplate":"mem://{page}","title":"Pages"}]}"#;
const PROMPTS: &str = r#"{"prompts":[{"name":"review","description":"Looks at a page."}]}"#;
const TEXT: &str = r#"{"contents":[{"uri":"mem://guide","text":"Names\nstay."},{"uri":"mem://logo","mimeType":"image/png","blob":"aGVsbG8="}],"n":1e2}"#;
const MESSAGES: &str = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Look at this:"}},{"role":"assistant","content":{"type":"image","data":"YQ==","mimeType":"image/png"}}],"n":1e2}"#;

/// A server that offers all of that.
fn offering() -> (ServerProcess, Value) {
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}});
    let script = Script::new().handshake(Handshake::new().capabilities(capabilities));
    let answers = [
        ("resources/list", RESOURCES),
        ("resources/templates/list", TEMPLATES),
        ("resources/read", TEXT),
        ("prompts/list", PROMPTS),
        ("prompts/get", MESSAGES),
    ];
    let answering = |script: Script, (method, result): (&str, &str)| {
        script.rule(Rule::on(method, [Action::ResultRaw(result.to_owned())]))
    };
    scripted(&answers.into_iter().fold(script, answering))
}

/// P1, P2: what a person sees, and what a program reads.
#[test]
fn listings_are_tables_or_the_servers_own_objects() {
    let (_process, docs) = offering();
    let config = Config::of_servers(&json!({"docs": docs}));
    let rows: [(&str, &[&str], &str, &str); 3] = [
        (
            "resources",
            &[],
            "docs\n  mem://guide  Guide: How names are made.\n  mem://logo\n",
            r#"{"resources":[{"server":"docs","uri":"mem://guide","name":"Guide","description":"How names are made.\nAnd more.","n":1e2},{"server":"docs","uri":"mem://logo"}]}"#,
        ),
        (
            "resources",
            &["--templates", "--server", "docs"],
            "docs\n  mem://{page}  Pages\n",
            r#"{"resource_templates":[{"server":"docs","uriTemplate":"mem://{page}","title":"Pages"}]}"#,
        ),
        (
            "prompts",
            &[],
            "docs\n  review  Looks at a page.\n",
            r#"{"prompts":[{"server":"docs","name":"review","description":"Looks at a page."}]}"#,
        ),
    ];
    for (command, args, table, object) in rows {
        assert_eq!(
            config.run(command, args).quietly(0).stdout,
            table,
            "{command}"
        );
        let json = config
            .run(command, &[args, &["--json"]].concat())
            .quietly(0);
        assert_eq!(json.stdout, format!("{object}\n"), "{command}");
    }
}

/// P1, P2, B5
#[test]
fn what_is_fetched_is_shown_or_passed_on_whole() {
    let (process, docs) = offering();
    let config = Config::of_servers(&json!({"docs": docs, "gone": missing()}));
    let rows: [(&str, &[&str], &str, &str); 2] = [
        (
            "read",
            &["docs", "mem://guide"],
            "Names\nstay.\n[resource mem://logo image/png, 5 bytes]\n",
            TEXT,
        ),
        (
            "prompt",
            &["docs", "review"],
            "user:\nLook at this:\nassistant:\n[image image/png, 1 byte]\n",
            MESSAGES,
        ),
    ];
    for (command, args, text, result) in rows {
        // The server that cannot be started is not needed, and not started.
        assert_eq!(
            config.run(command, args).quietly(0).stdout,
            text,
            "{command}"
        );
        let json = config
            .run(command, &[args, &["--json"]].concat())
            .quietly(0);
        assert_eq!(json.stdout, format!("{result}\n"), "{command}");
    }
    let args = ["docs", "review", "--arguments", "-"];
    run_with_stdin(config.command_line("prompt", &args), r#"{"n":1e2}"#).quietly(0);
    let sent = process.log().lines();
    let last = sent.iter().rfind(|line| line.contains("prompts/get"));
    assert!(
        last.is_some_and(|line| line.contains(r#""arguments":{"n":1e2}"#)),
        "{last:?}"
    );
}

#[test]
fn what_cannot_be_had_is_told_with_what_to_do() {
    let (_process, docs) = offering();
    let mute = Script::new()
        .handshake(Handshake::new().capabilities(json!({"resources": {}})))
        .rule(Rule::on("resources/list", []));
    let (_mute, mute) = scripted(&mute);
    let off = json!({"command": "x", "enabled": false});
    let servers =
        json!({"docs": docs, "gone": missing(), "mute": mute, "off": off, "odd": {"command": 7}});
    let config = Config::of_servers(&servers);
    let rows: [(&str, &[&str], i32, &str); 9] = [
        (
            "read",
            &["nope", "x"],
            2,
            "there is `docs`, `gone`, `mute` and `off`",
        ),
        ("read", &["odd", "x"], 2, "`command` must be a string"),
        ("read", &["off", "x"], 2, "remove `enabled` there"),
        (
            "read",
            &["gone", "x"],
            3,
            "install it, or give its full path",
        ),
        (
            "read",
            &["docs", "x", "--environment", "moon"],
            2,
            "leave `environment_id` out",
        ),
        (
            "prompt",
            &["docs", "x", "--arguments", "[1]"],
            2,
            "must be a JSON object",
        ),
        (
            "resources",
            &["--server", "mute", "--timeout", "0.2"],
            4,
            "0.2 s",
        ),
        ("prompts", &["--server", "mute"], 3, "prompts/list"),
        ("resources", &["--environment", "a"], 2, "--server"),
    ];
    for (command, args, status, text) in rows {
        let ran = config.run(command, args).with(status).saying(text);
        assert_eq!(ran.stdout, "", "{command} {args:?}");
    }
    // Of all, what can be had is had.
    let ran = config.run("resources", &["--timeout", "0.2"]).with(0);
    assert!(ran.stdout.starts_with("docs\n"), "{ran:?}");
    ran.saying("asking server `mute` failed")
        .saying("server `gone`");
    let alone = Config::of_servers(&json!({"gone": missing()}));
    alone.run("resources", &[]).with(3).saying("server `gone`");
}
