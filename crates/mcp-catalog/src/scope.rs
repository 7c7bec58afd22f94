//! Which startups may share a listing.

use std::ffi::OsStr;
use std::fmt;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::OnceLock;

use mcp_keys::McpServerKey;
use sha2::{Digest, Sha256};

use crate::encoding::Encoding;

/// Everything that decides what a server lists, as one opaque value (rule C5). Startups share a
/// listing only when their scopes are equal.
///
/// It holds a hash under a random key of this process, so it says nothing about its inputs, secrets
/// among them, and means nothing to another process. `Debug` shows eight hex digits of it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct DiscoveryScope {
    digest: [u8; 32],
    shareable: bool,
}

/// Builds a [`DiscoveryScope`]. What every discovery has is asked for by [`new`](Self::new), so that
/// none of it can be forgotten; what only some hosts have is added by [`also`](Self::also).
///
/// Texts are compared byte by byte. Two spellings of the same thing, JSON with its members in another
/// order for one, only cost the sharing.
#[derive(Debug, Clone)]
pub struct DiscoveryScopeBuilder {
    encoding: Encoding,
    shareable: bool,
}

/// The account a credential belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CredentialIdentity<'a> {
    /// The server is used without a credential.
    None,
    /// The account behind the credential; where a credential has no account of its own, the credential
    /// itself.
    Known(&'a [u8]),
    /// A credential is used and nobody knows whose it is: nothing is shared.
    Unknown,
}

/// How the server is reached: the inputs that reach it before the handshake. Equal when all of them are.
///
/// It holds the inputs themselves, secrets among them, and shows none. To keep it for long, keep a keyed hash of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DiscoveryTransport(Encoding);

/// Who asks: what the client says of itself in the handshake.
#[derive(Debug, Clone)]
pub struct DiscoveryClient(Encoding);

/// Who answers: what the handshake gave.
#[derive(Debug, Clone)]
pub struct DiscoveryHandshake(Encoding);

/// Tags of the outer fields. A tag is never given a second meaning.
mod tag {
    pub(super) const SERVER: u8 = 1;
    pub(super) const EXECUTOR: u8 = 2;
    pub(super) const TRANSPORT: u8 = 3;
    pub(super) const CREDENTIAL: u8 = 4;
    pub(super) const CLIENT: u8 = 5;
    pub(super) const HANDSHAKE: u8 = 6;
    pub(super) const ALSO: u8 = 7;
}

impl DiscoveryScopeBuilder {
    /// Starts from what every discovery has. `executor` is the identity of the place where the server
    /// runs or is reached from.
    #[must_use]
    pub fn new(
        server: &McpServerKey,
        executor: &str,
        transport: &DiscoveryTransport,
        credential: CredentialIdentity<'_>,
        client: &DiscoveryClient,
        handshake: &DiscoveryHandshake,
    ) -> Self {
        let mut encoding = Encoding::new();
        encoding.nested(tag::SERVER, &encode_server(server));
        encoding.bytes(tag::EXECUTOR, executor.as_bytes());
        encoding.nested(tag::TRANSPORT, &transport.0);
        match credential {
            CredentialIdentity::Known(account) => encoding.bytes(tag::CREDENTIAL, account),
            CredentialIdentity::None | CredentialIdentity::Unknown => {
                encoding.absent(tag::CREDENTIAL);
            }
        }
        encoding.nested(tag::CLIENT, &client.0);
        encoding.nested(tag::HANDSHAKE, &handshake.0);
        Self {
            encoding,
            shareable: credential != CredentialIdentity::Unknown,
        }
    }

    /// Adds an input of the host's own that changes what a server lists. Calls are ordered.
    #[must_use]
    pub fn also(mut self, what: &str, value: impl AsRef<[u8]>) -> Self {
        let mut pair = Encoding::new();
        pair.bytes(1, what.as_bytes());
        pair.bytes(2, value.as_ref());
        self.encoding.nested(tag::ALSO, &pair);
        self
    }

    /// The scope of what was given.
    #[must_use]
    pub fn build(&self) -> DiscoveryScope {
        let digest = Sha256::new()
            .chain_update(process_key())
            .chain_update(self.encoding.as_bytes())
            .finalize();
        DiscoveryScope {
            digest: digest.into(),
            shareable: self.shareable,
        }
    }
}

impl DiscoveryScope {
    /// Whether a startup of this scope may share at all. False when the account behind its credential
    /// is unknown; it is then treated as one that opted out.
    #[must_use]
    pub fn is_shareable(&self) -> bool {
        self.shareable
    }

    /// A scope of its own for each name, for tests of what happens inside of one.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self {
            digest: Sha256::digest(name).into(),
            shareable: true,
        }
    }
}

impl DiscoveryTransport {
    /// A child process.
    ///
    /// `environment` is what reaches the child: values inherited by name count as much as those that
    /// are set. The order of different names does not matter; of one name given twice it does.
    #[must_use]
    pub fn stdio<A, E, N, V>(
        command: impl AsRef<OsStr>,
        arguments: A,
        working_directory: Option<&Path>,
        environment: E,
    ) -> Self
    where
        A: IntoIterator<Item: AsRef<OsStr>>,
        E: IntoIterator<Item = (N, V)>,
        N: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        let mut encoding = Encoding::new();
        encoding.bytes(1, command.as_ref().as_encoded_bytes());
        let mut list = Encoding::new();
        for argument in arguments {
            list.bytes(1, argument.as_ref().as_encoded_bytes());
        }
        encoding.nested(2, &list);
        match working_directory {
            Some(path) => encoding.bytes(3, path.as_os_str().as_encoded_bytes()),
            None => encoding.absent(3),
        }
        let environment = environment.into_iter().map(|(name, value)| {
            let name = name.as_ref().as_encoded_bytes().to_vec();
            (name, value.as_ref().as_encoded_bytes().to_vec())
        });
        encoding.pairs(4, environment.collect());
        Self(encoding)
    }

    /// A URL.
    ///
    /// `headers` are all that are sent, credentials included. Their names are compared without regard
    /// to ASCII case, and the order of different names does not matter; of one name given twice it
    /// does.
    #[must_use]
    pub fn http<H, N, V>(url: &str, headers: H) -> Self
    where
        H: IntoIterator<Item = (N, V)>,
        N: AsRef<str>,
        V: AsRef<[u8]>,
    {
        let mut encoding = Encoding::new();
        encoding.bytes(5, url.as_bytes());
        let headers = headers.into_iter().map(|(name, value)| {
            let name = name.as_ref().to_ascii_lowercase().into_bytes();
            (name, value.as_ref().to_vec())
        });
        encoding.pairs(6, headers.collect());
        Self(encoding)
    }
}

impl DiscoveryClient {
    /// `capabilities` as the client sends them: JSON, in one spelling.
    #[must_use]
    pub fn new(name: &str, version: &str, capabilities: impl AsRef<[u8]>) -> Self {
        let mut encoding = Encoding::new();
        encoding.bytes(1, name.as_bytes());
        encoding.bytes(2, version.as_bytes());
        encoding.bytes(3, capabilities.as_ref());
        Self(encoding)
    }
}

impl DiscoveryHandshake {
    /// `server_info` and `server_capabilities` as the server sent them: JSON, in one spelling.
    #[must_use]
    pub fn new(
        era: &str,
        protocol_version: &str,
        server_info: impl AsRef<[u8]>,
        server_capabilities: impl AsRef<[u8]>,
    ) -> Self {
        let mut encoding = Encoding::new();
        encoding.bytes(1, era.as_bytes());
        encoding.bytes(2, protocol_version.as_bytes());
        encoding.bytes(3, server_info.as_ref());
        encoding.bytes(4, server_capabilities.as_ref());
        Self(encoding)
    }
}

fn encode_server(server: &McpServerKey) -> Encoding {
    let mut encoding = Encoding::new();
    encoding.bytes(1, server.name().as_str().as_bytes());
    match server.environment() {
        Some(id) => encoding.bytes(2, id.as_str().as_bytes()),
        None => encoding.absent(2),
    }
    encoding
}

/// Random for each process, so that a scope seen in a log cannot be matched against guessed inputs.
/// The standard library's hasher only carries the randomness its keys got from the system.
fn process_key() -> &'static [u8; 64] {
    static KEY: OnceLock<[u8; 64]> = OnceLock::new();
    KEY.get_or_init(|| {
        let mut key = [0; 64];
        for (place, word) in key.chunks_exact_mut(8).enumerate() {
            let random = std::hash::RandomState::new().hash_one(place);
            word.copy_from_slice(&random.to_ne_bytes());
        }
        key
    })
}

// === impl ===

impl fmt::Debug for DiscoveryScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.digest;
        write!(f, "DiscoveryScope({a:02x}{b:02x}{c:02x}{d:02x})")
    }
}

impl fmt::Debug for CredentialIdentity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Known(_) => "Known(..)",
            Self::Unknown => "Unknown",
        })
    }
}

#[cfg(test)]
mod tests;
