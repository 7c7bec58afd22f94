//! What servers do when a tool is called, and how the call may end.

use std::time::Duration;

use mcp_runtime::ErrorCode;
use mcp_testkit::{Action, Random, Rule, Script};
use serde_json::json;

use crate::ending::Ending;

/// Beyond the limit of a line, an event or a body.
pub(crate) const OVERSIZE: usize = 17 * 1024 * 1024;

const ANSWERED: Ending = Ending::Answered;
const DROPPED: Ending = Ending::Dropped;
const TIMEOUT: Ending = Ending::Failed(ErrorCode::RequestTimeout);
const CLOSED: Ending = Ending::Failed(ErrorCode::TransportClosed);
const TROUBLE: Ending = Ending::Failed(ErrorCode::TransportError);
const REFUSED: Ending = Ending::Failed(ErrorCode::ProtocolError);
const UNEXPECTED: Ending = Ending::Failed(ErrorCode::UnexpectedResponse);

/// A tool whose calls go wrong in one way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) tool: &'static str,
    /// How many calls of ten thousand.
    share: usize,
    pub(crate) patience: Patience,
    pub(crate) endings: &'static [Ending],
}

/// How long a caller waits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    /// For as long as the server's own budget.
    Long,
    /// With a budget of so many milliseconds.
    Short(u64),
    /// It goes away after so many milliseconds at most.
    Fickle(usize),
}

const fn fault(
    tool: &'static str,
    share: usize,
    patience: Patience,
    endings: &'static [Ending],
) -> Fault {
    Fault {
        tool,
        share,
        patience,
        endings,
    }
}

use Patience::{Fickle, Long, Short};

/// Of a process. When one dies, so do the other calls that are under way.
pub(crate) const OF_PROCESSES: &[Fault] = &[
    fault("echo", 7_000, Long, &[ANSWERED, CLOSED]),
    fault("twice", 400, Long, &[ANSWERED, CLOSED]),
    fault("noisy", 400, Long, &[ANSWERED, CLOSED]),
    fault("strange", 400, Long, &[ANSWERED, CLOSED]),
    fault("slow", 300, Long, &[ANSWERED, CLOSED]),
    fault("refuse", 250, Long, &[REFUSED, CLOSED]),
    fault("cut", 250, Long, &[UNEXPECTED, CLOSED]),
    fault("huge", 3, Long, &[UNEXPECTED, CLOSED]),
    fault("mute", 150, Short(150), &[TIMEOUT, CLOSED]),
    fault("nameless", 100, Short(150), &[TIMEOUT, CLOSED]),
    // An answer that is there when its caller gets its turn is an answer.
    fault("late", 150, Short(60), &[TIMEOUT, ANSWERED, CLOSED]),
    fault("mute", 200, Fickle(30), &[DROPPED, CLOSED]),
    fault("echo", 250, Fickle(3), &[DROPPED, ANSWERED, CLOSED]),
    fault("slow", 100, Fickle(40), &[DROPPED, ANSWERED, CLOSED]),
    fault("exit", 15, Long, &[CLOSED]),
    fault("kill", 15, Long, &[CLOSED]),
    fault("close-output", 6, Long, &[CLOSED]),
    fault("close-input", 6, Short(500), &[TIMEOUT, CLOSED]),
    fault("stall", 5, Long, &[CLOSED]),
];

/// Of an endpoint. Each call has an exchange of its own.
pub(crate) const OF_ENDPOINTS: &[Fault] = &[
    fault("echo", 6_000, Long, &[ANSWERED]),
    fault("event", 1_000, Long, &[ANSWERED]),
    fault("twice", 400, Long, &[ANSWERED]),
    fault("strange", 400, Long, &[ANSWERED]),
    fault("resumed", 200, Long, &[ANSWERED]),
    fault("forgotten", 100, Long, &[ANSWERED]),
    fault("refuse", 300, Long, &[REFUSED]),
    fault("cut", 300, Long, &[UNEXPECTED]),
    fault("misdirected", 200, Long, &[UNEXPECTED]),
    fault("huge", 3, Long, &[UNEXPECTED]),
    fault("unavailable", 300, Long, &[TROUBLE]),
    fault("close", 150, Long, &[CLOSED]),
    fault("broken", 150, Long, &[CLOSED]),
    fault("mute", 100, Short(150), &[TIMEOUT]),
    fault("accepted", 100, Short(150), &[TIMEOUT]),
    fault("mute", 100, Fickle(30), &[DROPPED]),
    fault("echo", 200, Fickle(3), &[DROPPED, ANSWERED]),
];

impl Fault {
    /// One of these, by their shares.
    pub(crate) fn any(among: &[Self], random: &mut Random) -> Self {
        let all = among.iter().map(|fault| fault.share).sum();
        let mut at = random.below(all);
        for fault in among {
            match at.checked_sub(fault.share) {
                Some(rest) => at = rest,
                None => return *fault,
            }
        }
        among[0]
    }
}

/// The names of the tools.
pub(crate) fn tools(of: &[Fault]) -> Vec<&'static str> {
    let mut names: Vec<_> = of.iter().map(|fault| fault.tool).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A process with these tools.
pub(crate) fn script() -> Script {
    let script = tools(OF_PROCESSES)
        .into_iter()
        .fold(Script::new(), Script::tool_named);
    tools(OF_PROCESSES)
        .into_iter()
        .fold(script, |script, tool| {
            script.rule(Rule::on_tool(tool, run(tool)))
        })
}

fn run(tool: &str) -> Vec<Action> {
    use Action::{Echo, Exit, Kill};
    let line = |text: &str| Action::stdout(format!("{text}\n"));
    let wait = |milliseconds| Action::delay(Duration::from_millis(milliseconds));
    // No request has an id like that.
    let strangers = [
        "{\"jsonrpc\":\"2.0\",\"id\":$id00000000,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x$id\",\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":-$id,\"error\":{\"code\":1,\"message\":\"no\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"no\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":$id.5,\"result\":{}}",
    ];
    let noise = [
        "loading...",
        "",
        "{\"level\":\"info\"}",
        "[1,2]",
        "\u{feff}\u{0}\u{7f}",
        "{\"id\":",
    ];
    match tool {
        "twice" => vec![Echo, Echo],
        "noisy" => noise.iter().map(|text| line(text)).chain([Echo]).collect(),
        "strange" => strangers
            .iter()
            .map(|text| line(text))
            .chain([Echo])
            .collect(),
        "slow" => vec![wait(20), Echo],
        "refuse" => vec![Action::Error {
            code: -32_000,
            message: "no".into(),
            data: json!(null),
        }],
        "cut" => vec![line(
            "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[",
        )],
        "huge" => vec![Action::ResultOfSize(OVERSIZE)],
        "nameless" => vec![Action::Send(
            json!({"jsonrpc": "2.0", "result": {"content": []}}),
        )],
        "late" => vec![wait(120), Echo],
        "mute" => Vec::new(),
        "exit" => vec![Exit(3)],
        "kill" => vec![Kill],
        "close-output" => vec![Action::CloseOutput],
        // What was read by then is lost, and shows when something is written, or not at all.
        "close-input" => vec![Action::CloseInput, wait(800), Exit(0)],
        "stall" => vec![Action::StopReading, wait(300), Exit(0)],
        _ => vec![Echo],
    }
}
