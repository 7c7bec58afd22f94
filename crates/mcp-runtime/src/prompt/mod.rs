//! What a server offers as templates of messages (P2).

mod entry;
mod result;

pub use entry::Prompt;
pub use result::PromptResult;

pub(crate) use entry::Prompts;
pub(crate) use result::get;
