//! Tests of the launcher's path, spelled as on Unix.

use super::*;

/// Through the constructor and through JSON, which must agree.
#[track_caller]
fn check(path: &str, expected: Result<&str, InvalidLauncherPath>) {
    let json = serde_json::json!({ "codexExecutable": path }).to_string();
    let read = serde_json::from_str::<SandboxLauncher>(&json);
    match (SandboxLauncher::new(Path::new(path)), expected) {
        (Ok(launcher), Ok(text)) => {
            assert_eq!(launcher.codex_executable(), Path::new(path));
            assert_eq!(serde_json::to_string(&launcher).unwrap(), text);
            assert_eq!(read.unwrap(), launcher);
        }
        (built, expected) => {
            assert_eq!(built.err(), expected.err());
            assert!(read.is_err(), "JSON is no side door");
        }
    }
}

/// S2, S4
#[test]
fn only_an_absolute_path_is_a_launcher() {
    check(
        "/usr/local/bin/codex",
        Ok(r#"{"codexExecutable":"/usr/local/bin/codex"}"#),
    );
    check("/a b/ü", Ok(r#"{"codexExecutable":"/a b/ü"}"#));
    for relative in ["codex", "./codex", "", "~/codex"] {
        check(relative, Err(InvalidLauncherPath::NotAbsolute));
    }
}

/// S4
#[test]
fn a_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;

    let path = Path::new(std::ffi::OsStr::from_bytes(b"/bin/\xff"));
    assert_eq!(
        SandboxLauncher::new(path),
        Err(InvalidLauncherPath::NotUtf8)
    );
}

#[test]
fn unknown_members_are_tolerated_and_repeated_ones_are_not() {
    let read = |json| serde_json::from_str::<SandboxLauncher>(json);
    let launcher = read(r#"{"later":[1],"codexExecutable":"/bin/codex"}"#).unwrap();
    assert_eq!(launcher.codex_executable(), Path::new("/bin/codex"));
    assert!(read(r#"{"codexExecutable":"/a","codexExecutable":"/b"}"#).is_err());
    assert!(read(r#"["/bin/codex"]"#).is_err(), "no object");
    assert!(read("{}").is_err());
    assert!(read(r#"{"codexExecutable":null}"#).is_err());
}
