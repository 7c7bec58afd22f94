//! What a server writes beside, between and instead of whole lines (R7).

use mcp_testkit::{Action, Rule, Script};

use crate::host::{Host, with_tool};

/// The answer that every row ends with.
const ANSWER: &str =
    r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"ok"}]}}"#;

/// A server that writes these pieces when it is called.
type Row = (Vec<Vec<u8>>, &'static str);

fn row(text: impl AsRef<[u8]>, reason: &'static str) -> Row {
    (vec![text.as_ref().to_vec()], reason)
}

/// Every call has its answer, and what was no message was not answered either.
async fn check(rows: Vec<Row>) {
    let mut script = Script::new();
    for (number, (pieces, _)) in rows.iter().enumerate() {
        let steps = pieces.iter().map(Action::stdout);
        script = with_tool(script, &format!("row-{number}"), steps);
    }
    let (host, process) = Host::play(&script).await;
    for (number, (_, reason)) in rows.iter().enumerate() {
        let output = host.call(&format!("row-{number}")).await;
        let output = output.unwrap_or_else(|error| panic!("{reason}: {error:?}"));
        assert_eq!(output.text(), "ok", "{reason}");
    }
    host.end().await;
    let said = process.log().messages();
    assert!(
        said.iter().all(|message| message["method"].is_string()),
        "{said:#?}"
    );
}

#[tokio::test]
async fn what_is_no_message_is_skipped() {
    let noisy = |noise: &[u8]| [noise, ANSWER.as_bytes(), b"\n"].concat();
    let after = |noise: &str| format!("{ANSWER}\n{noise}");
    check(vec![
        row(noisy(b"Starting server v1.2 ...\n"), "a banner"),
        row(noisy(b"\n  \n\t\r\n"), "blank lines"),
        row(noisy(b"\x1b[32mINFO\x1b[0m ready \x1b[2K\n"), "colours"),
        row(noisy(b"\0\0\0\n\0\n"), "zero bytes"),
        row(noisy(b"\xff\xfe\x80 caf\xe9\n"), "bytes that are no text"),
        row(
            noisy(b"progress 10%\rprogress 100%\r\n"),
            "a line written over",
        ),
        row(
            noisy(b"[]\n[1,2]\n\"text\"\nnull\ntrue\n1e999\n"),
            "JSON of all kinds",
        ),
        row(
            noisy(b"{}\n{\"level\":\"info\"}\n{\"id\":null}\n"),
            "objects that say nothing",
        ),
        row(noisy(b"{\"id\":{},\"result\":1}\n"), "an answer to nobody"),
        row(
            noisy(b"{\"jsonrpc\":\"2.0\",\"method\":7}\n"),
            "a method that is none",
        ),
        row(noisy(b"{'id': 1}\n{\"unfinished\": \n}\n"), "nearly JSON"),
        row(
            noisy(&[b"{".repeat(500), b"\n".to_vec()].concat()),
            "nesting without an end",
        ),
        row(after("done\n"), "noise behind the answer"),
    ])
    .await;
}

/// How bytes are cut into writes, and what stands around a message on its line, changes nothing.
#[tokio::test]
async fn a_message_is_a_line_however_it_is_written() {
    let (head, tail) = ANSWER.split_once("$id").expect("it has an id");
    let bytewise = |text: &str| text.bytes().map(|byte| vec![byte]).collect::<Vec<_>>();
    let pieces = [
        bytewise(head),
        vec![b"$id".to_vec()],
        bytewise(tail),
        bytewise("\n"),
    ];
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    check(vec![
        (pieces.concat(), "byte by byte"),
        row(
            format!("{notice}\n{notice}\n{ANSWER}\n{notice}\n"),
            "several in one write",
        ),
        row(
            format!("\u{feff}{ANSWER}\r\n"),
            "a byte order mark and a carriage return",
        ),
        row(
            format!("\u{feff}\n{ANSWER}\n"),
            "a byte order mark by itself",
        ),
        row(format!("  \t{ANSWER} \t\r\n"), "blanks around it"),
        row(
            format!("{}\n", ANSWER.replace(',', ",\r\t ")),
            "white space inside",
        ),
        row(format!("[{notice},{ANSWER}]\n"), "a batch"),
        row(
            format!("[{{\"id\":[]}},7,{ANSWER}]\n"),
            "a batch with noise in it",
        ),
        row(
            format!("{}\n", ANSWER.replace("\"ok\"", "\"\\u006Fk\"")),
            "escapes",
        ),
        row(
            format!("{}\n", ANSWER.replace("\"2.0\"", "\"1.0\"")),
            "another version of JSON-RPC",
        ),
        row(
            format!("{}\n", ANSWER.replace("\"2.0\"", "2")),
            "a version that is no text",
        ),
        row(
            format!("{}\n", ANSWER.replace("\"jsonrpc\":\"2.0\",", "")),
            "no version at all",
        ),
        row(
            format!(
                "{}\n",
                ANSWER.replace("\"result\"", "\"error\":null,\"x\":[],\"result\"")
            ),
            "members that say nothing",
        ),
    ])
    .await;
}

/// R7: a line may be too long without being an answer.
#[tokio::test]
async fn noise_without_a_line_end_costs_no_call() {
    const LINE: u64 = 17 << 20;
    let piece = Action::stdout("x".repeat(1 << 16));
    let flood = Action::Repeat(LINE >> 16, vec![piece]);
    let steps = [flood, Action::stdout("\n"), Action::Standard];
    let (host, _process) = Host::play(&with_tool(Script::new(), "long", steps)).await;
    assert_eq!(host.call("long").await.unwrap().text(), "long");
    host.end().await;
}

/// R10: what was written last is read, although the writer is gone.
#[tokio::test]
async fn the_last_answer_of_a_server_arrives() {
    for (end, reason) in [("\n", "a whole line"), ("", "a line without its end")] {
        let answer = Action::stdout(format!("{ANSWER}{end}"));
        let script = with_tool(Script::new(), "last", [answer, Action::Exit(0)]);
        let (host, process) = Host::play(&script).await;
        let output = host.call("last").await;
        assert_eq!(output.expect(reason).text(), "ok", "{reason}");
        host.end().await;
        process.log().expect_all_gone().await;
    }
}

/// R7: noise before the first message, where some clients look for a handshake only.
#[tokio::test]
async fn a_server_may_make_noise_before_it_is_asked() {
    let noise = b"npm notice\n[1]\n{\"not\":\"rpc\"}\n\xff\n\0\n\n";
    let script = Script::new()
        .tool_named("t")
        .rule(Rule::at_start([Action::stdout(noise)]));
    let (host, _process) = Host::play(&script).await;
    assert_eq!(host.tools(), ["t"]);
    host.end().await;
}
