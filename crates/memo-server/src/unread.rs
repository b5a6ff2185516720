//! Bodies of requests that were answered before they were read.
//!
//! Whoever is refused at the head of a request has perhaps not sent its body yet. What then comes could only be taken for the
//! next request, so hyper closes the connection; a client that is not told sends its next request there and loses it.

use axum::body::Bytes;
use hyper::Request;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::EXPECT;
use parking_lot::Mutex;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::timeout;

/// The longest body that is read for nothing.
const LONGEST: u64 = 64 << 10;

/// How long it is waited for.
const WAIT: Duration = Duration::from_millis(50);

/// The body of a request, whose rest can be had when its handler is done with it.
pub(crate) struct SharedBody(Arc<Mutex<Incoming>>);

/// What a handler left of a request's body.
pub(crate) struct Rest {
    body: Arc<Mutex<Incoming>>,
    /// The client waits to be told to send the body.
    expected: bool,
}

/// Lets the rest of a request's body be read after it was handled.
pub(crate) fn share(request: Request<Incoming>) -> (Request<SharedBody>, Rest) {
    let (head, body) = request.into_parts();
    let body = Arc::new(Mutex::new(body));
    let rest = Rest { body: Arc::clone(&body), expected: head.headers.contains_key(EXPECT) };
    (Request::from_parts(head, SharedBody(body)), rest)
}

impl Rest {
    /// Reads the rest if it is short and there; whether the connection can take another request.
    pub(crate) async fn read(self) -> bool {
        let hint = self.body.lock().size_hint();
        if hint.exact() == Some(0) {
            return true;
        }
        if self.expected || hint.lower() > LONGEST {
            return false;
        }
        let mut left = LONGEST;
        let end = poll_fn(|context| {
            let mut body = self.body.lock();
            loop {
                let Some(frame) = ready!(Pin::new(&mut *body).poll_frame(context)) else {
                    return Poll::Ready(true);
                };
                let length = frame.ok().map(|frame| frame.data_ref().map_or(0, Bytes::len) as u64);
                match length.and_then(|length| left.checked_sub(length)) {
                    Some(less) => left = less,
                    None => return Poll::Ready(false),
                }
            }
        });
        timeout(WAIT, end).await.unwrap_or(false)
    }
}

impl Body for SharedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut *self.0.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().size_hint()
    }
}
