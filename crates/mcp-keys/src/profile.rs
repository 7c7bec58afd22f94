//! [`NameProfile`]: within which limit, and under which prefix, names are made (K5).

use std::borrow::Cow;

use crate::model_name::SEPARATOR;
use crate::part::{self, SUFFIX};
use crate::{McpServerKey, ModelName, ServerScope, ToolKey, ToolName};

/// Within which limit, and under which prefix, model-visible names are made (K5).
///
/// A name is a pure function of key and profile (K4): it depends on no other server or tool, and is the
/// same on every run, machine and version.
///
/// ```
/// use mcp_keys::{McpServerKey, NameProfile, ServerName, ToolKey, ToolName};
///
/// let server = McpServerKey::host(ServerName::new("docs")?);
/// let key = ToolKey::new(server, ToolName::new("Get File")?);
///
/// let name = NameProfile::default().name(&key);
/// assert_eq!(name.namespace(), "mcp__docs");
/// assert_eq!(name.name(), "Get_File_xeujnay4w4e");
/// assert_eq!(name.flat(), "mcp__docs__Get_File_xeujnay4w4e");
/// # Ok::<(), mcp_keys::InvalidName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NameProfile {
    limit: Limit,
    prefix: Cow<'static, str>,
}

/// The longest flat name in bytes, and how a server part divides its share of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Limit {
    flat: usize,
    server: usize,
    name_stem: usize,
    environment_stem: usize,
}

/// The prefix of the presets.
const PREFIX: &str = "mcp";

impl NameProfile {
    /// Names of at most 64 bytes, which every known model interface takes. The default.
    pub const LIMIT_64: Self = Self {
        limit: Limit {
            flat: 64,
            server: 34,
            name_stem: 11,
            environment_stem: 7,
        },
        prefix: Cow::Borrowed(PREFIX),
    };

    /// Names of at most 128 bytes, for hosts whose models take them: fewer are shortened.
    pub const LIMIT_128: Self = Self {
        limit: Limit {
            flat: 128,
            server: 66,
            name_stem: 27,
            environment_stem: 23,
        },
        prefix: Cow::Borrowed(PREFIX),
    };

    /// The longest prefix: with it, a suffix and a character of a stem still fit in every tool part.
    pub const MAX_PREFIX_BYTES: usize = 13;

    /// The same limit under another prefix than `mcp`. This renames every tool.
    ///
    /// # Errors
    ///
    /// If `prefix` is not an ASCII letter followed by at most twelve ASCII letters, digits or `-`.
    ///
    /// ```
    /// use mcp_keys::NameProfile;
    ///
    /// assert_eq!(NameProfile::LIMIT_64.with_prefix("ext")?.prefix(), "ext");
    /// assert!(NameProfile::LIMIT_64.with_prefix("a__b").is_err());
    /// # Ok::<(), mcp_keys::InvalidPrefix>(())
    /// ```
    pub fn with_prefix(self, prefix: impl Into<String>) -> Result<Self, InvalidPrefix> {
        let prefix = prefix.into();
        let letter_first = prefix.starts_with(|first: char| first.is_ascii_alphabetic());
        let words_only = prefix
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !letter_first || !words_only || prefix.len() > Self::MAX_PREFIX_BYTES {
            return Err(InvalidPrefix { prefix });
        }
        Ok(Self {
            prefix: Cow::Owned(prefix),
            ..self
        })
    }

    /// The longest flat name, in bytes. Names are ASCII, so it is characters as well.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.flat
    }

    /// What every name starts with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The name of a tool, by the grammar of K4.
    #[must_use]
    pub fn name(&self, key: &ToolKey) -> ModelName {
        self.name_in(&mut self.namespace(key.server()), key.tool())
    }

    /// The namespace of a server's tools: `mcp__docs`.
    #[must_use]
    pub fn namespace(&self, server: &McpServerKey) -> String {
        let mut out = String::with_capacity(self.limit.flat);
        out.push_str(&self.prefix);
        out.push_str(SEPARATOR);
        let name = server.name().as_str();
        match server.scope() {
            ServerScope::Host => push_part(&mut out, "server", name, self.limit.server),
            ServerScope::Environment(id) => {
                let mut stem = part::push_stem(&mut out, name, self.limit.name_stem);
                let before = out.len();
                if stem {
                    out.push_str("_at_");
                }
                if part::push_stem(&mut out, id.as_str(), self.limit.environment_stem) {
                    stem = true;
                } else {
                    out.truncate(before);
                }
                part::push_suffix(&mut out, stem, &["environment\0", id.as_str(), "\0", name]);
            }
        }
        out
    }

    /// The name of `tool` in a [namespace](Self::namespace) that was made by this profile. The name is
    /// written behind the namespace and taken off again, so that a server's tools share one buffer.
    pub(crate) fn name_in(&self, namespace: &mut String, tool: &ToolName) -> ModelName {
        let namespace_len = namespace.len();
        namespace.push_str(SEPARATOR);
        let budget = self.limit.flat - namespace.len();
        push_part(namespace, "tool", tool.as_str(), budget);
        let name = ModelName::new(namespace_len, namespace);
        namespace.truncate(namespace_len);
        name
    }
}

impl Default for NameProfile {
    fn default() -> Self {
        Self::LIMIT_64
    }
}

/// Appends the part of `text`: itself if plain and within `budget`, else stem and suffix.
fn push_part(out: &mut String, domain: &str, text: &str, budget: usize) {
    if text.len() <= budget && part::is_plain(text) {
        out.push_str(text);
    } else {
        let stem = part::push_stem(out, text, budget.saturating_sub(SUFFIX));
        part::push_suffix(out, stem, &[domain, "\0", text]);
    }
}

/// A prefix that cannot stand before model-visible names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "name prefix {prefix:?} is not an ASCII letter followed by at most twelve letters, digits or hyphens: \
     choose one like `mcp`"
)]
pub struct InvalidPrefix {
    prefix: String,
}
