//! How much fits into one argument.

/// Linux takes 131,072 bytes with the final zero. Elsewhere only the sum of all arguments is limited, but a state that
/// works here and not there would help nobody.
pub(super) const LONGEST_ARGUMENT: usize = 131_071;
