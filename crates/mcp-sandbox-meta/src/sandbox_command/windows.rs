//! How much fits into one argument.

/// The whole command line is limited to 32,767 UTF-16 units; quoting may double the state's, and the rest needs room.
pub(super) const LONGEST_ARGUMENT: usize = 15_000;
