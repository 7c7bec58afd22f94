//! What a server offers to be read (P1).

mod contents;
mod entry;

pub use contents::ResourceContents;
pub use entry::{Resource, ResourceTemplate};

pub(crate) use contents::read;
pub(crate) use entry::{ResourceTemplates, Resources};
