//! Clients that close their side of a connection once they have asked.
//!
//! Some only say that they ask for nothing more, as `nc -N` does, and wait for the answer; others have left, and what is computed for
//! them is for nothing. Both look the same until something is sent: then the system of one that has left refuses it. So while a response
//! is awaited, the letters that every response begins with are sent ahead of it, one after the other; and where events come
//! seldom, comments between them.

use crate::connections::Connection;
use crate::linger::ByteStream;
use axum::body::Bytes;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// What every response begins with.
const BEGINNING: &[u8] = b"HTTP/1.";

/// What readers of events leave out.
pub(crate) const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// The time after the first probe; after each of the others it is twice as long.
const PAUSE: Duration = Duration::from_millis(50);

/// When to send something to see whether the client is there: at once, and some more times.
pub(crate) struct Probes {
    next: Pin<Box<Sleep>>,
    count: usize,
}

impl Default for Probes {
    fn default() -> Self {
        Probes { next: Box::pin(sleep(Duration::ZERO)), count: 0 }
    }
}

impl Probes {
    /// Whether it is time for the next one. To be asked until it is not.
    pub(crate) fn is_time(&mut self, context: &mut Context<'_>) -> bool {
        let is_time = self.count < BEGINNING.len() && self.next.as_mut().poll(context).is_ready();
        if is_time {
            self.next.as_mut().reset(Instant::now() + PAUSE * (1 << self.count));
            self.count += 1;
        }
        is_time
    }
}

/// A connection whose client may close its side and still be answered.
pub(crate) struct HalfClosed {
    stream: Box<dyn ByteStream>,
    connection: Arc<Connection>,
    /// Whether more of a request is waited for: then its end is seen there.
    reads: bool,
    /// A byte of the next request, read to see whether one comes.
    ahead: Option<u8>,
    /// Whether the client has closed its side.
    closed: bool,
    probes: Option<Probes>,
    /// Letters that were sent ahead of the response.
    sent: usize,
}

impl HalfClosed {
    pub(crate) fn new(stream: Box<dyn ByteStream>, connection: Arc<Connection>) -> Self {
        let (reads, ahead, closed, probes, sent) = (false, None, false, None, 0);
        HalfClosed { stream, connection, reads, ahead, closed, probes, sent }
    }

    /// Sees whether the client, which is being answered, has closed its side.
    fn look(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.closed || self.reads || self.ahead.is_some() {
            return Ok(());
        }
        let mut byte = [0];
        let mut byte = ReadBuf::new(&mut byte);
        if Pin::new(&mut self.stream).poll_read(context, &mut byte)?.is_ready() {
            self.ahead = byte.filled().first().copied();
            self.closed = self.ahead.is_none();
            if self.closed {
                self.connection.note_half_closed();
                // For the response, which may have begun.
                context.waker().wake_by_ref();
            }
        }
        Ok(())
    }

    /// Sends letters ahead of a response, which fails if the client has left.
    fn probe(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let probes = self.probes.get_or_insert_default();
        while probes.is_time(context) {
            let Some(letter) = BEGINNING.get(self.sent..=self.sent) else { break };
            if let Poll::Ready(written) = Pin::new(&mut self.stream).poll_write(context, letter)? {
                self.sent += written;
            }
        }
        Ok(())
    }

    /// Takes what was sent ahead out of what is to be written, which begins with it.
    fn leave_out(&mut self, length: usize) -> Option<usize> {
        let left_out = self.sent.min(length);
        self.sent -= left_out;
        (left_out > 0).then_some(left_out)
    }
}

impl AsyncRead for HalfClosed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let ahead = self.ahead.take_if(|_| to.remaining() > 0);
        to.put_slice(ahead.as_slice());
        let read = Pin::new(&mut self.stream).poll_read(context, to);
        self.reads = read.is_pending() && ahead.is_none();
        // What follows that byte, if only an error, can be read next time.
        if ahead.is_some() { Poll::Ready(Ok(())) } else { read }
    }
}

impl AsyncWrite for HalfClosed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.leave_out(bytes.len()) {
            Some(length) => Poll::Ready(Ok(length)),
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.leave_out(parts.iter().map(|part| part.len()).sum()) {
            Some(length) => Poll::Ready(Ok(length)),
            None => Pin::new(&mut self.stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called whenever nothing is left to write, also while a response is awaited.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.connection.is_busy() {
            self.look(context)?;
        }
        if !self.connection.awaits_response() {
            self.probes = None;
        } else if self.closed {
            self.probe(context)?;
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
