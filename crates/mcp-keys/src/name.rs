//! The one validator behind every validated name (K1), and the error it gives.

use std::fmt;

/// Which name a text was meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Server,
    Environment,
    Tool,
    Installation,
}

impl NameKind {
    /// The longest text of this kind, in bytes of UTF-8.
    pub(crate) const fn max_bytes(self) -> usize {
        match self {
            Self::Server | Self::Environment | Self::Installation => 128,
            Self::Tool => 256,
        }
    }
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server name",
            Self::Environment => "environment id",
            Self::Tool => "tool name",
            Self::Installation => "installation",
        })
    }
}

/// A text that cannot be a [`ServerName`](crate::ServerName), an
/// [`EnvironmentId`](crate::EnvironmentId) or a [`ToolName`](crate::ToolName).
///
/// The message says which of them it was meant to be, quotes the text (escaped and shortened, so that
/// it is safe to print) and says what to change.
///
/// ```
/// let error = mcp_keys::ServerName::new("docs ").unwrap_err();
/// assert_eq!(error.to_string(), r#"server name "docs " starts or ends with white space: trim it"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {problem}")]
pub struct InvalidName {
    kind: NameKind,
    problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("is empty: give it at least one character")]
    Empty,
    #[error("{excerpt} has {bytes} bytes: shorten it to at most {max}")]
    TooLong {
        excerpt: Excerpt,
        bytes: usize,
        max: usize,
    },
    #[error("{0} starts or ends with white space: trim it")]
    OuterSpace(Excerpt),
    #[error("{excerpt} has a control character at byte {at}: remove it")]
    Control { excerpt: Excerpt, at: usize },
}

/// The beginning of a refused text. It may come from a hostile peer, so it is bounded, and printed
/// with everything invisible escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    text: String,
    cut: bool,
}

impl Excerpt {
    const MAX_CHARS: usize = 48;

    fn of(text: &str) -> Self {
        let mut chars = text.chars();
        let excerpt = chars.by_ref().take(Self::MAX_CHARS).collect();
        Self {
            text: excerpt,
            cut: chars.next().is_some(),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)?;
        if self.cut { f.write_str("...") } else { Ok(()) }
    }
}

/// Accepts `text` as a name of `kind`, or says why not (K1).
///
/// Control characters are Unicode's `Cc` (C0, delete and C1); white space is Unicode's `White_Space`.
/// Everything else is fine anywhere, invisible characters such as a byte order mark included: two names
/// that look alike stay two names, and their model-visible forms differ by hash.
pub(crate) fn validate(kind: NameKind, text: &str) -> Result<(), InvalidName> {
    let problem = if text.is_empty() {
        Problem::Empty
    } else if text.len() > kind.max_bytes() {
        Problem::TooLong {
            excerpt: Excerpt::of(text),
            bytes: text.len(),
            max: kind.max_bytes(),
        }
    } else if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        Problem::OuterSpace(Excerpt::of(text))
    } else if let Some(at) = text.find(char::is_control) {
        Problem::Control {
            excerpt: Excerpt::of(text),
            at,
        }
    } else {
        return Ok(());
    };
    Err(InvalidName { kind, problem })
}

/// Gives a `struct Name(Arc<str>)` its constructors, its views and its serde form, all of them through
/// [`validate`], so that the three names cannot drift apart.
macro_rules! validated_name {
    ($name:ident, $kind:expr) => {
        impl $name {
            /// The longest accepted text, in bytes of UTF-8 (K1).
            pub const MAX_BYTES: usize = $kind.max_bytes();

            /// Accepts `text` unchanged.
            ///
            /// # Errors
            ///
            /// If `text` is empty or longer than [`MAX_BYTES`](Self::MAX_BYTES), has white space at
            /// either end, or a control character anywhere (K1).
            pub fn new(text: impl Into<String>) -> Result<Self, $crate::InvalidName> {
                let text = text.into();
                $crate::name::validate($kind, &text)?;
                Ok(Self(text.into()))
            }

            /// The text, exactly as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::InvalidName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::name::validate($kind, text)?;
                Ok(Self(text.into()))
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $crate::InvalidName;

            fn try_from(text: &str) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::InvalidName;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::new(text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        // Sound because the derived `Eq`, `Ord` and `Hash` are those of the text.
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct TextVisitor;

                impl serde::de::Visitor<'_> for TextVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "a valid {}", $kind)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(TextVisitor)
            }
        }
    };
}
pub(crate) use validated_name;
