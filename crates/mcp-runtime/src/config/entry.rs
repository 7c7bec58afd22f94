//! One entry of `mcpServers`, member by member.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use mcp_keys::ServerName;
use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use super::members::Members;
use super::{
    ConfigErrorKind, Era, HttpTransport, Secret, ServerConfig, StdioTransport, ToolFilter,
    Transport,
};
use crate::call::ApprovalMode;

/// The members of one entry that have not been looked at yet.
pub(super) struct Entry<'a> {
    members: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum EraName {
    Auto,
    Legacy,
    Modern,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    Auto,
    Prompt,
    Approve,
    Deny,
}

impl From<ModeName> for ApprovalMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Auto => Self::Auto,
            ModeName::Prompt => Self::Prompt,
            ModeName::Approve => Self::Approve,
            ModeName::Deny => Self::Deny,
        }
    }
}

/// Members that restrict what may run and are not supported; to ignore them would lift the restriction.
const UNSUPPORTED: &[&str] = &["includeTools", "excludeTools"];
/// Members that say what other members say already.
const REDUNDANT: &[&str] = &["type", "transport", "name", "description"];

const TEXT: &str = "a string";
const TEXTS: &str = "an array of strings";
const PAIRS: &str = "an object whose values are strings";
const SWITCH: &str = "`true` or `false`";
const MODE: &str = "`auto`, `prompt`, `approve` or `deny`";
const MODES: &str = "an object whose values are `auto`, `prompt`, `approve` or `deny`";
const SECONDS: &str = "a positive number of seconds";

impl<'a> Entry<'a> {
    /// Reads an entry; the members that nobody here knows come with it.
    pub(super) fn read(
        name: &str,
        entry: &'a RawValue,
    ) -> Result<(ServerConfig, Vec<String>), ConfigErrorKind> {
        let name = ServerName::new(name).map_err(ConfigErrorKind::Name)?;
        let Members(given) =
            serde_json::from_str(entry.get()).map_err(|_shown| ConfigErrorKind::NotAnObject)?;
        let mut members = BTreeMap::new();
        for (member, value) in given {
            if members.insert(member.clone(), value).is_some() {
                return Err(ConfigErrorKind::Repeated { member });
            }
        }
        let mut entry = Self { members };
        if let Some(member) = UNSUPPORTED
            .iter()
            .find(|member| entry.members.contains_key(**member))
        {
            return Err(ConfigErrorKind::Unsupported { member });
        }
        let server = entry.server(name)?;
        let unknown = entry
            .members
            .into_keys()
            .filter(|member| !REDUNDANT.contains(&member.as_str()));
        Ok((server, unknown.collect()))
    }

    /// Takes a member out; `null` counts as absent.
    fn take<T: Deserialize<'a>>(
        &mut self,
        member: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, ConfigErrorKind> {
        let Some(value) = self.members.remove(member) else {
            return Ok(None);
        };
        serde_json::from_str(value.get())
            .map_err(|_shown| ConfigErrorKind::Member { member, expected })
    }

    fn seconds(&mut self, member: &'static str) -> Result<Option<Duration>, ConfigErrorKind> {
        let Some(value) = self.take::<f64>(member, SECONDS)? else {
            return Ok(None);
        };
        let duration = Duration::try_from_secs_f64(value)
            .ok()
            .filter(|duration| !duration.is_zero());
        duration.map(Some).ok_or(ConfigErrorKind::Member {
            member,
            expected: SECONDS,
        })
    }

    fn server(&mut self, name: ServerName) -> Result<ServerConfig, ConfigErrorKind> {
        let disabled_tools: Vec<String> = self.take("disabled_tools", TEXTS)?.unwrap_or_default();
        let mut filter = ToolFilter::all().except(disabled_tools);
        if let Some(enabled) = self.take::<Vec<String>>("enabled_tools", TEXTS)? {
            filter = filter.only(enabled);
        }
        let era = match self.take("era", "`auto`, `legacy` or `modern`")? {
            None | Some(EraName::Auto) => Era::Auto,
            Some(EraName::Legacy) => Era::Legacy,
            Some(EraName::Modern) => Era::Modern,
        };
        // Other hosts write `disabled`; whichever says no is believed.
        let enabled = self.take("enabled", SWITCH)?.unwrap_or(true)
            && !self.take("disabled", SWITCH)?.unwrap_or(false);
        let (startup, tool) = (
            self.seconds("startup_timeout_sec")?,
            self.seconds("tool_timeout_sec")?,
        );
        let interaction = self.seconds("interaction_timeout_sec")?;
        let total = self.seconds("max_total_timeout_sec")?;
        let server = ServerConfig::new(name, self.transport()?)
            .startup_timeout(startup.unwrap_or(ServerConfig::DEFAULT_STARTUP_TIMEOUT))
            .tool_timeout(tool.unwrap_or(ServerConfig::DEFAULT_TOOL_TIMEOUT))
            .interaction_timeout(interaction.unwrap_or(ServerConfig::DEFAULT_INTERACTION_TIMEOUT))
            .reset_on_progress(self.take("reset_on_progress", SWITCH)?.unwrap_or(false))
            .max_total_timeout(total.unwrap_or(ServerConfig::DEFAULT_MAX_TOTAL_TIMEOUT))
            .enabled(enabled)
            .required(self.take("required", SWITCH)?.unwrap_or(false))
            .share_listing(self.take("share_listing", SWITCH)?.unwrap_or(true))
            .era(era)
            .tool_filter(filter);
        self.approvals(server)
    }

    fn approvals(&mut self, mut server: ServerConfig) -> Result<ServerConfig, ConfigErrorKind> {
        if let Some(mode) = self.take::<ModeName>("approval", MODE)? {
            server = server.approval(mode.into());
        }
        let member = "tool_approval";
        let modes: Option<Members<'a>> = self.take(member, MODES)?;
        let mut seen = BTreeSet::new();
        for (tool, mode) in modes.map_or_else(Vec::new, |Members(modes)| modes) {
            let expected = MODES;
            let mode: ModeName = serde_json::from_str(mode.get())
                .map_err(|_shown| ConfigErrorKind::Member { member, expected })?;
            // Which of the two was meant nobody can tell, and one of them may be `deny`.
            if !seen.insert(tool.clone()) {
                return Err(ConfigErrorKind::Repeated { member: tool });
            }
            server = server.tool_approval(tool, mode.into());
        }
        Ok(server)
    }

    fn transport(&mut self) -> Result<Transport, ConfigErrorKind> {
        match (
            self.take::<String>("command", TEXT)?,
            self.take::<String>("url", TEXT)?,
        ) {
            (Some(command), None) if command.trim().is_empty() => {
                let (member, expected) = ("command", "the name or path of a program");
                Err(ConfigErrorKind::Member { member, expected })
            }
            (Some(command), None) => self.stdio(command).map(Transport::Stdio),
            (None, Some(url)) => self.http(&url).map(Transport::Http),
            _ => Err(ConfigErrorKind::Transport),
        }
    }

    fn stdio(&mut self, command: String) -> Result<StdioTransport, ConfigErrorKind> {
        self.misplaced("command", &["headers", "bearer_token_env_var"])?;
        let env: BTreeMap<String, String> = self.take("env", PAIRS)?.unwrap_or_default();
        Ok(StdioTransport {
            command,
            args: self.take("args", TEXTS)?.unwrap_or_default(),
            env: env
                .into_iter()
                .map(|(name, value)| (name, Secret::new(value)))
                .collect(),
            env_vars: self.take("env_vars", TEXTS)?.unwrap_or_default(),
            env_in_argv: self.take("env_in_argv", SWITCH)?.unwrap_or(false),
            cwd: self.take::<PathBuf>("cwd", TEXT)?,
        })
    }

    fn http(&mut self, url: &str) -> Result<HttpTransport, ConfigErrorKind> {
        self.misplaced("url", &["args", "env", "env_vars", "env_in_argv", "cwd"])?;
        let url = Url::parse(url).map_err(ConfigErrorKind::Url)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ConfigErrorKind::Scheme {
                scheme: url.scheme().to_owned(),
            });
        }
        let mut http = HttpTransport::new(url);
        let headers: BTreeMap<String, String> = self.take("headers", PAIRS)?.unwrap_or_default();
        for (name, value) in headers {
            let parsed = name
                .parse::<HeaderName>()
                .ok()
                .zip(HeaderValue::from_str(&value).ok());
            let Some((header, value)) = parsed else {
                return Err(ConfigErrorKind::Header { name });
            };
            http = http.header(header, value);
        }
        http.bearer_token_env_var = self.take("bearer_token_env_var", TEXT)?;
        Ok(http)
    }

    /// Members of the other transport: empty ones say nothing, and are common.
    fn misplaced(
        &mut self,
        transport: &'static str,
        members: &[&'static str],
    ) -> Result<(), ConfigErrorKind> {
        for member in members {
            match self.members.remove(*member).map(RawValue::get) {
                None | Some("null" | "[]" | "{}") => {}
                Some(_) => return Err(ConfigErrorKind::Misplaced { member, transport }),
            }
        }
        Ok(())
    }
}
