//! Futures that need no waiting.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::failure::{Failure, FailureKind};

/// The output of a future that only the CPU works on.
///
/// # Errors
/// It waits for something else.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(Failure::of(FailureKind::Internal, "the CPU did not finish")),
    }
}
