//! Who takes a command line apart again, if anybody does.

/// What becomes of arguments on their way through a command executor (R4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quoting {
    /// They arrive as they are given: `docker exec`, `kubectl exec`.
    None,
    /// They are joined and read by a POSIX shell, as `ssh` has it done on the far side: each is quoted as one word, and all
    /// of them are passed on as one argument.
    PosixSh,
}

impl Quoting {
    /// What it is called in configuration: `none` or `posix_sh`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::PosixSh => "posix_sh",
        }
    }

    /// The arguments that carry these words.
    pub(super) fn carry(self, words: Vec<String>) -> Vec<String> {
        match self {
            Self::None => words,
            Self::PosixSh => {
                let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
                vec![quoted.join(" ")]
            }
        }
    }
}

/// The word between single quotes, in which nothing but the quote itself means anything. Plain words are quoted too: a
/// shell might know one as its own.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    mod unix;

    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        let words = ["docs server", "", "it's", "$HOME", "if", "a\nb"].map(str::to_owned);
        let carried = Quoting::PosixSh.carry(words.to_vec());
        assert_eq!(
            carried,
            [r"'docs server' '' 'it'\''s' '$HOME' 'if' 'a
b'"]
        );
        assert_eq!(Quoting::None.carry(words.to_vec()), words);
    }
}
