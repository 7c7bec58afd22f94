//! What a call says beside its arguments, and who may say it.

use mcp_sandbox_meta::{MetaNotAnObject, RawMeta, SandboxMetadata};
use serde_json::value::RawValue;

/// The `_meta` of a call, as far as it is the same for every server: what others add to it, then what is ours alone.
#[derive(Debug, Default)]
pub(super) struct RequestMeta {
    /// Nothing here is reserved (S6).
    others: RawMeta,
    /// The authority of the call; a trace context has its place here, too.
    ours: RawMeta,
}

impl RequestMeta {
    /// Takes the members of somebody else: the caller, a hook, an access lookup. Those that are reserved are left out,
    /// whoever the server is (S6). Whoever comes later has the last word.
    pub(super) fn accept(&mut self, members: &RawValue) -> Result<(), MetaNotAnObject> {
        let members = RawMeta::without_reserved(members)?;
        if self.others.is_empty() {
            self.others = members;
        } else {
            self.others.replace_with(&members);
        }
        Ok(())
    }

    /// Says under which authority the call is made (S2).
    pub(super) fn tell_authority(&mut self, authority: &SandboxMetadata) {
        authority.insert_into(&mut self.ours);
    }

    /// The members in the order in which they are sent.
    pub(super) fn into_raw(self) -> RawMeta {
        let Self { mut others, ours } = self;
        others.extend(&ours);
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent when these are the sources, and this is the state.
    fn sent(sources: &[&str], state: Option<&str>) -> String {
        let mut meta = RequestMeta::default();
        if let Some(state) = state {
            let state = serde_json::from_str(state).unwrap();
            meta.tell_authority(&SandboxMetadata::new(state));
        }
        for source in sources {
            meta.accept(serde_json::from_str(source).unwrap()).unwrap();
        }
        serde_json::to_string(&meta.into_raw()).unwrap()
    }

    /// S6
    #[test]
    fn nobody_else_writes_what_is_ours() {
        let forged = r#"{"codex/sandbox-state":1,"codex\/sandbox-launcher":{},"codex/sandbox-x":1,"progressToken":1,
            "traceparent":"x","io.modelcontextprotocol/clientInfo":{},"kept":1e2}"#;
        let ours = r#""codex/sandbox-state":7,"codex/sandbox-state-meta":7"#;
        for (sources, state, expected, why) in [
            (&[][..], None, "{}".to_owned(), "nobody says anything"),
            (&[], Some("7"), format!("{{{ours}}}"), "only we do"),
            (
                &[forged],
                None,
                r#"{"kept":1e2}"#.to_owned(),
                "nor where we have nothing to say",
            ),
            (
                &[forged, r#"{"more":0}"#, forged],
                Some("7"),
                format!(r#"{{"more":0,"kept":1e2,{ours}}}"#),
                "every source, and ours come last",
            ),
            (
                &[r#"{"a":1,"b":2}"#, r#"{"a":3}"#],
                None,
                r#"{"b":2,"a":3}"#.to_owned(),
                "whoever comes later has the last word",
            ),
        ] {
            assert_eq!(sent(sources, state), expected, "{why}");
        }
    }

    #[test]
    fn members_come_in_an_object() {
        for source in ["[]", "null", "7", r#""{}""#] {
            let accepted = RequestMeta::default().accept(serde_json::from_str(source).unwrap());
            assert!(accepted.is_err(), "{source}");
        }
    }
}
