//! How the wire forms of keys are read: strictly, so that one key has one spelling (K2, K3).

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::EnvironmentId;

/// Reads `W` from members with names only. What serde derives would take a sequence of the values too.
pub(crate) fn from_members<'de, W, D>(deserializer: D) -> Result<W, D::Error>
where
    W: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Members<W>(PhantomData<W>);

    impl<'de, W: Deserialize<'de>> Visitor<'de> for Members<W> {
        type Value = W;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with `server` and perhaps `environment_id`")
        }

        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<W, A::Error> {
            W::deserialize(MapAccessDeserializer::new(members))
        }
    }

    deserializer.deserialize_map(Members(PhantomData))
}

/// Reads a member that is there: an `environment_id` of `null` is a lost value, and must not turn an
/// environment's server into the host's.
pub(crate) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<EnvironmentId>, D::Error> {
    EnvironmentId::deserialize(deserializer).map(Some)
}
