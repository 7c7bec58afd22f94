//! [`ToolNameIndex`]: which name is which tool, for one binding (K6).

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::model_name::SEPARATOR;
use crate::{McpServerKey, ModelName, NameProfile, ToolKey, ToolName};

/// Which model-visible name is which tool, both ways, for the tools of one binding (K6).
///
/// Lookups take constant time and allocate nothing. The order is that of the keys, whatever order they
/// came in, since an unstable order breaks the prompt caches of models.
///
/// ```
/// use mcp_keys::{McpServerKey, NameProfile, ServerName, ToolKey, ToolName, ToolNameIndex};
///
/// let docs = McpServerKey::host(ServerName::new("docs")?);
/// let search = ToolKey::new(docs, ToolName::new("search")?);
/// let index = ToolNameIndex::build(&NameProfile::default(), [search.clone()]);
///
/// assert_eq!(index.by_flat("mcp__docs__search"), Some(&search));
/// assert_eq!(index.by_parts("mcp__docs", "search"), Some(&search));
/// assert_eq!(index.name_of(&search).map(|name| name.flat()), Some("mcp__docs__search"));
/// # Ok::<(), mcp_keys::InvalidName>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ToolNameIndex {
    /// Sorted by key; the maps point into it.
    entries: Vec<(ToolKey, ModelName)>,
    by_name: HashMap<ModelName, usize>,
    by_key: HashMap<ToolKey, usize>,
    collisions: Vec<NameCollision>,
}

/// Different tools for which the hash gave one name. None of them is in the index (K6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameCollision {
    name: ModelName,
    keys: Vec<ToolKey>,
}

impl NameCollision {
    /// The name they would share.
    #[must_use]
    pub fn name(&self) -> &ModelName {
        &self.name
    }

    /// The tools left out, two at least, sorted.
    #[must_use]
    pub fn keys(&self) -> &[ToolKey] {
        &self.keys
    }
}

/// The longest text that can be a name under any profile.
const MAX_FLAT: usize = 128;

impl ToolNameIndex {
    /// Names every key under `profile`. A key given twice is the same tool, and kept once.
    #[must_use]
    pub fn build(profile: &NameProfile, keys: impl IntoIterator<Item = ToolKey>) -> Self {
        // Sorting the few servers, and then tool names alone, spares most of comparing whole keys.
        let mut tools_of: BTreeMap<McpServerKey, Vec<ToolName>> = BTreeMap::new();
        for key in keys {
            let (server, tool) = key.into_parts();
            tools_of.entry(server).or_default().push(tool);
        }
        let mut named = Vec::with_capacity(tools_of.values().map(Vec::len).sum());
        for (server, mut tools) in tools_of {
            tools.sort_unstable();
            tools.dedup();
            let mut namespace = profile.namespace(&server);
            for tool in tools {
                let name = profile.name_in(&mut namespace, &tool);
                named.push((ToolKey::new(server.clone(), tool), name));
            }
        }
        Self::from_sorted(named)
    }

    /// The index over `entries`, which are sorted by key and hold each key once. Apart from
    /// [`build`](Self::build), so that a collision can be tested without breaking SHA-256.
    fn from_sorted(entries: Vec<(ToolKey, ModelName)>) -> Self {
        let mut by_name = HashMap::with_capacity(entries.len());
        let mut collided: Vec<usize> = Vec::new();
        for (at, (_, name)) in entries.iter().enumerate() {
            match by_name.entry(name.clone()) {
                Entry::Vacant(free) => {
                    free.insert(at);
                }
                Entry::Occupied(taken) => collided.extend([*taken.get(), at]),
            }
        }
        if !collided.is_empty() {
            return Self::without(entries, collided);
        }
        let by_key = entries
            .iter()
            .enumerate()
            .map(|(at, (key, _))| (key.clone(), at))
            .collect();
        Self {
            entries,
            by_name,
            by_key,
            collisions: Vec::new(),
        }
    }

    /// The index over `entries` without those at `collided`, which it reports.
    fn without(entries: Vec<(ToolKey, ModelName)>, mut collided: Vec<usize>) -> Self {
        collided.sort_unstable();
        collided.dedup();
        let mut kept = Vec::with_capacity(entries.len());
        let mut collisions: Vec<NameCollision> = Vec::new();
        for (at, (key, name)) in entries.into_iter().enumerate() {
            if collided.binary_search(&at).is_err() {
                kept.push((key, name));
            } else if let Some(known) = collisions.iter_mut().find(|known| known.name == name) {
                known.keys.push(key);
            } else {
                collisions.push(NameCollision {
                    name,
                    keys: vec![key],
                });
            }
        }
        Self {
            collisions,
            ..Self::from_sorted(kept)
        }
    }

    /// The tool of a flat name.
    #[must_use]
    pub fn by_flat(&self, flat: &str) -> Option<&ToolKey> {
        self.entry(flat).map(|(key, _)| key)
    }

    /// The tool of a name within a namespace.
    #[must_use]
    pub fn by_parts(&self, namespace: &str, name: &str) -> Option<&ToolKey> {
        let mut buffer = [0; MAX_FLAT];
        let mut end = 0;
        for piece in [namespace, SEPARATOR, name] {
            let start = end;
            end += piece.len();
            buffer
                .get_mut(start..end)?
                .copy_from_slice(piece.as_bytes());
        }
        let flat = std::str::from_utf8(&buffer[..end]).ok()?;
        let (key, found) = self.entry(flat)?;
        // Cut elsewhere, `mcp` and `docs__search` would find the same flat name.
        (found.namespace() == namespace).then_some(key)
    }

    /// The name of a tool; `None` if it is not in the index, or left out because of a collision.
    #[must_use]
    pub fn name_of(&self, key: &ToolKey) -> Option<&ModelName> {
        self.by_key.get(key).map(|at| &self.entries[*at].1)
    }

    /// All tools and their names, sorted by key.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ToolKey, &ModelName)> {
        self.entries.iter().map(|(key, name)| (key, name))
    }

    /// How many tools it names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it names none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What was left out, sorted by the first key of each. Tell the user: these tools cannot be called.
    #[must_use]
    pub fn collisions(&self) -> &[NameCollision] {
        &self.collisions
    }

    fn entry(&self, flat: &str) -> Option<&(ToolKey, ModelName)> {
        self.by_name.get(flat).map(|at| &self.entries[*at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tool: &str) -> ToolKey {
        let server = McpServerKey::host("docs".parse().unwrap());
        ToolKey::new(server, tool.parse().unwrap())
    }

    /// An index in which each tool has the name given, as if the hash had made them so.
    fn index(tools: &[(&str, &str)]) -> ToolNameIndex {
        let name = |name: &str| ModelName::new("mcp__docs".len(), &format!("mcp__docs__{name}"));
        let entries = tools.iter().map(|(tool, named)| (key(tool), name(named)));
        ToolNameIndex::from_sorted(entries.collect())
    }

    /// K6
    #[test]
    fn tools_that_share_a_name_are_all_left_out_and_reported() {
        let index = index(&[
            ("a", "x"),
            ("b", "y"),
            ("c", "x"),
            ("d", "z"),
            ("e", "x"),
            ("f", "z"),
        ]);
        let reported: Vec<(&str, &[ToolKey])> = index
            .collisions()
            .iter()
            .map(|one| (one.name().name(), one.keys()))
            .collect();
        assert_eq!(
            reported,
            [
                ("x", &[key("a"), key("c"), key("e")][..]),
                ("z", &[key("d"), key("f")])
            ]
        );
        for (tool, name) in [("a", "x"), ("c", "x"), ("e", "x"), ("d", "z"), ("f", "z")] {
            assert_eq!(index.name_of(&key(tool)), None);
            assert_eq!(index.by_parts("mcp__docs", name), None);
            assert_eq!(index.by_flat(&format!("mcp__docs__{name}")), None);
        }
        // The rest is as if they had never been there.
        assert_eq!(index.len(), 1);
        assert_eq!(index.by_parts("mcp__docs", "y"), Some(&key("b")));
        assert_eq!(index.name_of(&key("b")).map(ModelName::name), Some("y"));
    }
}
