//! What a real shell makes of it.

use std::process::Command;

use proptest::prelude::*;

use super::*;

/// The words that a shell finds in what is passed on to it.
fn read_by_shell(words: &[String]) -> Vec<String> {
    let carried = Quoting::PosixSh.carry(words.to_vec());
    let [line] = carried.as_slice() else {
        panic!("one argument carries them all: {carried:?}");
    };
    let script = format!("print() {{ printf '%s\\0' \"$@\"; }}; print {line}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// R4
    #[test]
    fn a_shell_reads_the_very_words(words in prop::collection::vec("[^\0]{0,12}|['\"\\\\$`! \n~*?#;&|<>(){}=-]{0,6}", 1..12)) {
        prop_assert_eq!(read_by_shell(&words), words);
    }
}
