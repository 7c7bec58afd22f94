//! What a single error of a chain says about the code of the whole.

use std::error::Error;
use std::sync::Arc;

use crate::error_code::ErrorCode;

/// What one recognised error says.
pub(crate) enum Reading<'a> {
    /// The code, whatever lies deeper.
    Certain(ErrorCode),
    /// The code unless something deeper knows better, and where deeper is.
    AtLeast(ErrorCode, Option<&'a (dyn Error + 'static)>),
    /// Nothing but a way to this error.
    Pointer(&'a (dyn Error + 'static)),
}

/// Downcasts to `E`, also inside one or two smart pointers.
///
/// `Box<E>` and `Arc<E>` are errors themselves whose `source` is that of `E`: following the chain skips `E`.
pub(crate) fn peel<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    error
        .downcast_ref::<E>()
        .or_else(|| error.downcast_ref::<Box<E>>().map(|e| &**e))
        .or_else(|| error.downcast_ref::<Arc<E>>().map(|e| &**e))
        .or_else(|| error.downcast_ref::<Box<Box<E>>>().map(|e| &***e))
        .or_else(|| error.downcast_ref::<Box<Arc<E>>>().map(|e| &***e))
        .or_else(|| error.downcast_ref::<Arc<Box<E>>>().map(|e| &***e))
        .or_else(|| error.downcast_ref::<Arc<Arc<E>>>().map(|e| &***e))
}
