//! Catches the failure of an expectation, so that a test can assert what it says.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

/// The message with which `expectation` fails its test.
#[track_caller]
pub(crate) fn failure_of<T>(expectation: impl Future<Output = T>) -> impl Future<Output = String> {
    let failed = AssertUnwindSafe(expectation).catch_unwind();
    async move {
        let panic = failed.await.err().expect("the expectation fails");
        *panic.downcast::<String>().expect("the failure is a text")
    }
}
