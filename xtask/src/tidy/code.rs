//! Rust source with everything blanked out that is not code.

/// Replaces comments and the contents of string and character literals by spaces. Lines and columns stay.
pub(super) fn blank(source: &str) -> String {
    let mut blanker = Blanker {
        input: source.chars().collect(),
        at: 0,
        output: String::with_capacity(source.len()),
    };
    blanker.run();
    blanker.output
}

struct Blanker {
    input: Vec<char>,
    at: usize,
    output: String,
}

impl Blanker {
    fn run(&mut self) {
        while let Some(next) = self.peek(0) {
            match next {
                '/' if self.peek(1) == Some('/') => self.line_comment(),
                '/' if self.peek(1) == Some('*') => self.block_comment(),
                '"' => self.string(),
                'r' if self.raw_hashes().is_some() => self.raw_string(),
                '\'' if self.is_char_literal() => self.char_literal(),
                _ => self.keep(),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.input.get(self.at + ahead).copied()
    }

    fn keep(&mut self) {
        if let Some(next) = self.peek(0) {
            self.output.push(next);
            self.at += 1;
        }
    }

    fn blank(&mut self) {
        if let Some(next) = self.peek(0) {
            self.output.push(if next == '\n' { '\n' } else { ' ' });
            self.at += 1;
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|next| next != '\n') {
            self.blank();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.input.len() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                _ => {
                    self.blank();
                    continue;
                }
            }
            self.blank();
            self.blank();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.keep();
        while let Some(next) = self.peek(0) {
            match next {
                '"' => return self.keep(),
                '\\' => {
                    self.blank();
                    self.blank();
                }
                _ => self.blank(),
            }
        }
    }

    /// How many `#` stand between the `r` at hand and a quote, if it opens a raw string.
    fn raw_hashes(&self) -> Option<usize> {
        let before = |back: usize| self.at.checked_sub(back).map(|at| self.input[at]);
        let opens = match before(1) {
            Some('b' | 'c') => !before(2).is_some_and(in_word),
            other => !other.is_some_and(in_word),
        };
        let hashes = (1..)
            .take_while(|&ahead| self.peek(ahead) == Some('#'))
            .count();
        (opens && self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_hashes().unwrap_or(0);
        for _ in 0..hashes + 2 {
            self.keep();
        }
        while let Some(next) = self.peek(0) {
            let closes = next == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if closes {
                for _ in 0..=hashes {
                    self.keep();
                }
                return;
            }
            self.blank();
        }
    }

    /// `'a'` and `'\n'`, and not the lifetime `'a`.
    fn is_char_literal(&self) -> bool {
        self.peek(1) == Some('\\') || self.peek(2) == Some('\'')
    }

    fn char_literal(&mut self) {
        self.keep();
        if self.peek(0) == Some('\\') {
            self.blank();
        }
        self.blank();
        while let Some(next) = self.peek(0) {
            if next == '\'' {
                return self.keep();
            }
            self.blank();
        }
    }
}

/// Whether a character can stand inside an identifier.
pub(super) fn in_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Where `word` stands in `line` as a word of its own.
pub(super) fn words<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            !line[..at].ends_with(in_word) && !line[at + word.len()..].starts_with(in_word)
        })
}

/// Whether `line` invokes the macro `name`.
pub(super) fn invokes(line: &str, name: &str) -> bool {
    words(line, name).any(|at| line[at + name.len()..].trim_start().starts_with('!'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(blank(source), expected, "{source}");
    }

    #[test]
    fn blanks_comments() {
        check("a // b\nc", "a     \nc");
        check("a /* b /* c */ d */ e", "a                   e");
        check("/// a\n//! b\nc", "     \n     \nc");
    }

    #[test]
    fn blanks_what_literals_hold() {
        check(r#"f("a // b", x)"#, r#"f("      ", x)"#);
        check(r#""a\"b" c"#, r#""    " c"#);
        check(r##"r#"a "b" c"# d"##, r##"r#"       "# d"##);
        check(r#"br"a\" d"#, r#"br"  " d"#);
        check("'\"' a '\\'' b", "' ' a '  ' b");
        check("'\\u{41}' a", "'      ' a");
    }

    #[test]
    fn keeps_lifetimes_raw_identifiers_and_lines() {
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("r#type + for\"x\"", "r#type + for\" \"");
        check("\"a\nb\" c", "\" \n \" c");
    }

    #[test]
    fn survives_source_that_ends_early() {
        for source in ["\"a", "/* a", "r#\"a", "'\\", "\"a\\", "r"] {
            assert_eq!(blank(source).len(), source.len(), "{source}");
        }
    }

    #[test]
    fn tells_a_macro_from_its_look_alikes() {
        for (line, expected) in [
            ("print!(x)", true),
            ("std::print !(x)", true),
            ("eprint!(x)", false),
            ("println!(x)", false),
            ("print(x)", false),
        ] {
            assert_eq!(invokes(line, "print"), expected, "{line}");
        }
    }
}
