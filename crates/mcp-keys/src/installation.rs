//! What the servers of a plugin's further installations are called (K9).

use crate::name::{NameKind, validate};
use crate::{InvalidName, ServerName};

/// What `server` is called when it comes from a further installation of its plugin in the same
/// environment: `<server>@<installation>` (K9).
///
/// The first installation of a plugin in an environment keeps the plain name, and the same plugin in
/// another environment needs no other name, since its key differs. The result is an ordinary name, so
/// another server may already have it: insert into a map and report what was taken.
///
/// # Errors
///
/// If `installation` by itself is not a valid name of at most 128 bytes, or if the whole is too long (K1).
///
/// ```
/// use mcp_keys::{ServerName, installation_name};
///
/// let docs = ServerName::new("docs")?;
/// assert_eq!(installation_name(&docs, "nightly")?.as_str(), "docs@nightly");
/// assert!(installation_name(&docs, "").is_err());
/// # Ok::<(), mcp_keys::InvalidName>(())
/// ```
pub fn installation_name(
    server: &ServerName,
    installation: &str,
) -> Result<ServerName, InvalidName> {
    validate(NameKind::Installation, installation)?;
    ServerName::new(format!("{server}@{installation}"))
}
