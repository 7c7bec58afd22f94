//! What endpoints repeat of the requests they refuse, and nobody else is to read (T6).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use url::Url;
use url::form_urlencoded::parse as pairs;

/// What is as short as a word would blot out words.
const SHORTEST: usize = 6;
/// A segment of a path is a word, unless it is as long as a key.
const LONG_SEGMENT: usize = 16;

/// The configured texts that must not be shown, the longest first.
#[derive(Clone, Default)]
pub(super) struct Redaction(Vec<String>);

impl Redaction {
    /// For an endpoint that is asked at this URL with these headers.
    pub(super) fn new(url: &Url, headers: &HeaderMap) -> Self {
        let mut secrets: Vec<String> = Vec::new();
        let mut keep = |secret: &str| {
            if secret.len() >= SHORTEST {
                secrets.push(secret.to_owned());
            }
        };
        for value in headers.values().filter_map(|value| value.to_str().ok()) {
            keep(value);
            // A token is a secret without its scheme too.
            if let Some((_, token)) = value.split_once(' ') {
                keep(token);
            }
        }
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        if !user.is_empty() || !password.is_empty() {
            let (user, password) = (decoded(user), decoded(password));
            keep(&BASE64_STANDARD.encode(format!("{user}:{password}")));
            keep(&user);
            keep(&password);
        }
        keep(user);
        keep(password);
        let query = url.query().unwrap_or_default();
        keep(query);
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .for_each(|(_, value)| keep(value));
        pairs(query.as_bytes()).for_each(|(_, value)| keep(&value));
        let segments = url.path().split('/');
        for segment in segments.filter(|segment| segment.len() >= LONG_SEGMENT) {
            keep(segment);
            keep(&decoded(segment));
        }
        // A secret that is part of another one must not break it up.
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// The text without them.
    pub(super) fn of(&self, mut text: String) -> String {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "[redacted]");
            }
        }
        text
    }
}

/// A part of a URL without its percent signs.
fn decoded(part: &str) -> String {
    // The parser of forms decodes; a plus sign and what separates pairs are no more than themselves here.
    let escaped = part
        .replace('+', "%2B")
        .replace('&', "%26")
        .replace('=', "%3D");
    let mut pairs = pairs(escaped.as_bytes());
    pairs
        .next()
        .map_or_else(String::new, |(text, _)| text.into_owned())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::AUTHORIZATION;

    use super::*;

    #[test]
    fn what_was_configured_is_not_read_back() {
        let url = "https://ada:pa%24%24word+1@example.com/v1/servers/0123456789abcdef/mcp?key=se%20cret&x=1";
        let token = HeaderValue::from_static("Bearer hunter2");
        let headers = HeaderMap::from_iter([(AUTHORIZATION, token)]);
        let redaction = Redaction::new(&url.parse().unwrap(), &headers);
        let rows = [
            ("token hunter2 is bad", "token [redacted] is bad", "a token"),
            ("got Bearer hunter2", "got [redacted]", "a header"),
            ("who is pa$$word+1?", "who is [redacted]?", "a password"),
            ("pa%24%24word+1", "[redacted]", "as it is written"),
            ("Basic YWRhOnBhJCR3b3JkKzE=", "Basic [redacted]", "both"),
            ("no key se cret", "no key [redacted]", "a value of a query"),
            ("no ?key=se%20cret&x=1", "no ?[redacted]", "a query"),
            (
                "cannot POST /v1/servers/0123456789abcdef/mcp",
                "cannot POST /v1/servers/[redacted]/mcp",
                "what is as long as a key, and not what is a word",
            ),
            ("ada has no session", "ada has no session", "a short name"),
        ];
        for (text, shown, why) in rows {
            assert_eq!(redaction.of(text.to_owned()), shown, "{why}");
        }
    }
}
