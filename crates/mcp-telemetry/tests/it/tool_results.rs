//! Results as servers sent them, with what a real host reported of each.

use mcp_telemetry::{ToolErrorCode, ToolReport};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Case<'a> {
    case: String,
    #[serde(borrow)]
    result: &'a RawValue,
    expect: Expect,
}

#[derive(Deserialize)]
struct Expect {
    error_type: Option<String>,
    error_code: Option<String>,
    target_id: Option<String>,
    user_flow: Option<bool>,
}

/// T3
#[test]
fn recorded_results_are_reported_as_the_real_host_does() {
    let cases: Vec<Case<'_>> =
        serde_json::from_str(include_str!("fixtures/tool_results.json")).unwrap();
    assert_eq!(cases.len(), 45);
    for Case {
        case,
        result,
        expect,
    } in cases
    {
        let report = ToolReport::read(result);
        let code = report.error_code().map(ToolErrorCode::as_str);
        assert_eq!(code, expect.error_code.as_deref(), "{case}: {result}");
        assert_eq!(
            code.is_some(),
            expect.error_type.as_deref() == Some("tool_result"),
            "{case}"
        );
        assert_eq!(report.target_id(), expect.target_id.as_deref(), "{case}");
        assert_eq!(
            report.did_trigger_server_user_flow(),
            expect.user_flow,
            "{case}"
        );
    }
}
