//! Which server a name and an optional `environment_id` mean (K7).

use crate::{
    EnvironmentId, McpServerKey, ResolveError, ResolveErrorKind, SelectedEnvironments, ServerName,
};

/// Says which of the `known` servers is meant by `server` and an optional `environment_id` (K7).
///
/// - With an `environment_id`: exactly that environment's server. A host-scoped server is never
///   addressed with one.
/// - Without: the host's server of that name; else, if one environment is selected, that environment's.
///   If several are, an environment's server requires `environment_id`, even when only one has it: what a
///   call means must not depend on what else was discovered.
///
/// `known` are all servers the step may name: with the feature `multi_environment_mcp` off those that
/// [`Exposure::exposed`](crate::Exposure::exposed) gives, with it on all there are, so that an environment
/// which is not selected can be told from one that does not exist.
///
/// # Errors
///
/// See [`ResolveErrorKind`]; the message says what to write instead.
///
/// ```
/// use mcp_keys::{EnvironmentId, McpServerKey, ResolveErrorKind, SelectedEnvironments, ServerName, resolve};
///
/// let docs = ServerName::new("docs")?;
/// let devbox = EnvironmentId::new("devbox")?;
/// let ci = EnvironmentId::new("ci")?;
/// let known = [McpServerKey::in_environment(devbox.clone(), docs.clone())];
/// let selected = SelectedEnvironments::new([devbox.clone(), ci])?;
///
/// assert_eq!(resolve(&known, &selected, &docs, Some(&devbox)).as_ref(), Ok(&known[0]));
///
/// let error = resolve(&known, &selected, &docs, None).unwrap_err();
/// assert_eq!(error.kind(), &ResolveErrorKind::EnvironmentRequired);
/// assert_eq!(error.candidates(), &known);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resolve<'k>(
    known: impl IntoIterator<Item = &'k McpServerKey>,
    selected: &SelectedEnvironments,
    server: &ServerName,
    environment_id: Option<&EnvironmentId>,
) -> Result<McpServerKey, ResolveError> {
    let known: Vec<&McpServerKey> = known.into_iter().collect();
    match environment_id {
        Some(id) => resolve_in(&known, selected, server, id),
        None => resolve_without(&known, selected, server),
    }
}

fn resolve_in(
    known: &[&McpServerKey],
    selected: &SelectedEnvironments,
    server: &ServerName,
    id: &EnvironmentId,
) -> Result<McpServerKey, ResolveError> {
    let owned = |key: &McpServerKey| key.environment() == Some(id);
    let exists = known.iter().any(|key| owned(key) && key.name() == server);
    let is_selected = selected.contains(id);
    if exists && is_selected {
        return Ok(McpServerKey::in_environment(id.clone(), server.clone()));
    }
    let candidates = alternatives(known, selected, server);
    let only_the_hosts =
        candidates.len() == 1 && candidates[0] == McpServerKey::host(server.clone());
    let kind = if only_the_hosts && !exists {
        ResolveErrorKind::HostScoped
    } else if is_selected {
        ResolveErrorKind::NotInEnvironment(id.clone())
    } else if known.iter().any(|key| owned(key)) {
        ResolveErrorKind::EnvironmentNotSelected(id.clone())
    } else {
        ResolveErrorKind::UnknownEnvironment(id.clone())
    };
    Err(ResolveError::new(server, kind, candidates))
}

fn resolve_without(
    known: &[&McpServerKey],
    selected: &SelectedEnvironments,
    server: &ServerName,
) -> Result<McpServerKey, ResolveError> {
    let candidates = alternatives(known, selected, server);
    let kind = match candidates.first() {
        Some(first) if first.name() == server => {
            if first.environment().is_none() || selected.is_single() {
                return Ok(first.clone());
            }
            ResolveErrorKind::EnvironmentRequired
        }
        // Nothing of that name can be reached, so whoever has it is an environment not selected.
        _ => {
            let owners = known.iter().filter(|key| key.name() == server);
            match owners.filter_map(|key| key.environment()).min() {
                Some(id) => ResolveErrorKind::EnvironmentNotSelected(id.clone()),
                None => ResolveErrorKind::UnknownServer,
            }
        }
    };
    Err(ResolveError::new(server, kind, candidates))
}

/// The servers that a call can name under this selection: those called `server` or, if there are none,
/// all. The host's come first, then by order of selection, then by name.
fn alternatives(
    known: &[&McpServerKey],
    selected: &SelectedEnvironments,
    server: &ServerName,
) -> Vec<McpServerKey> {
    let namesakes = reachable(known, selected, |key| key.name() == server);
    if namesakes.is_empty() {
        reachable(known, selected, |_| true)
    } else {
        namesakes
    }
}

fn reachable(
    known: &[&McpServerKey],
    selected: &SelectedEnvironments,
    fit: impl Fn(&McpServerKey) -> bool,
) -> Vec<McpServerKey> {
    let mut ranked: Vec<(usize, &McpServerKey)> = known
        .iter()
        .filter(|key| fit(key))
        .filter_map(|key| match key.environment() {
            None => Some((0, *key)),
            Some(id) => {
                let at = selected.iter().position(|environment| environment == id)?;
                Some((1 + at, *key))
            }
        })
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().map(|(_, key)| key.clone()).collect()
}
