//! Folders to be confined to, and the states that a real host sent for such folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Where the recorded host worked.
const RECORDED_PROJECT: &str = "/home/user/project";

/// A project, a folder beside it, and a home.
pub(super) struct Workplace {
    folder: TempDir,
}

/// What a state allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    ReadOnly,
    /// Writing in the project.
    WorkspaceWrite,
    /// As `ReadOnly`, and any connection.
    ReadOnlyWithNetwork,
    Everything,
}

impl Workplace {
    pub(super) fn new() -> Self {
        // Not below `/tmp`, where the recorded state that allows writing in the project allows it as well.
        let folder = TempDir::with_prefix_in("mcp-interop-", "/var/tmp").expect("a folder");
        let workplace = Self { folder };
        for folder in [workplace.project(), workplace.outside(), workplace.home()] {
            fs::create_dir(folder).expect("a folder");
        }
        // The host that issues a state puts itself there under the name by which it is a sandbox.
        std::os::unix::fs::symlink(super::launcher(), workplace.link()).expect("a link");
        workplace
    }

    /// Its name needs an escape in a URI.
    pub(super) fn project(&self) -> PathBuf {
        self.folder.path().join("the project")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Where the launcher keeps its files.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn link(&self) -> PathBuf {
        self.folder.path().join("codex-linux-sandbox")
    }

    /// A file of this workplace with these permission bits.
    pub(super) fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;

        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
        path
    }

    /// The state that a real host sent, for this project.
    pub(super) fn state(&self, permission: Permission) -> Value {
        let scenario = match permission {
            Permission::ReadOnly | Permission::ReadOnlyWithNetwork => "caps_both__read-only",
            Permission::WorkspaceWrite => "caps_both__workspace-write",
            Permission::Everything => "caps_both__danger-full-access",
        };
        let mut state = recorded(scenario);
        let project = self.project();
        let project = project.to_str().expect("UTF-8");
        move_to(&mut state, project);
        state["sandboxCwd"] = json!(format!("file://{}", project.replace(' ', "%20")));
        state["codexLinuxSandboxExe"] = json!(self.link());
        if permission == Permission::ReadOnlyWithNetwork {
            state["permissionProfile"]["network"] = json!("enabled");
        }
        state
    }
}

fn recorded(scenario: &str) -> Value {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-sandbox-meta/tests/fixtures");
    let text = fs::read_to_string(fixtures.join("tools_call_params.json")).expect("the recording");
    let mut scenarios: BTreeMap<String, Value> = serde_json::from_str(&text).expect("JSON");
    let calls = scenarios.remove(scenario).expect("it was recorded");
    let state = &calls[0]["params"]["_meta"]["codex/sandbox-state"];
    assert!(state.is_object(), "{scenario}: {calls}");
    state.clone()
}

/// Puts `project` in the place of the recorded one, wherever it is spelled as a path.
fn move_to(value: &mut Value, project: &str) {
    match value {
        Value::String(text) => {
            if let Some(below) = text.strip_prefix(RECORDED_PROJECT) {
                *text = format!("{project}{below}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| move_to(item, project)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| move_to(member, project)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
