//! Connections that close without losing their last response.

use crate::connections::Connection;
use crate::half_closed::HalfClosed;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// The time without a byte after which nothing more is expected.
const QUIET: Duration = Duration::from_millis(500);

/// The longest time that bytes are still taken.
const LONGEST: Duration = Duration::from_secs(5);

/// A stream of bytes of any kind.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for S {}

/// A connection that, when it is shut down, still takes what the client is sending.
///
/// A connection that is closed with bytes unread is reset, and the client may then lose the very response that says why:
/// "too large".
pub(crate) struct Linger {
    stream: HalfClosed,
    /// Told whether the client reads.
    connection: Arc<Connection>,
    closing: Option<Closing>,
}

struct Closing {
    quiet: Pin<Box<Sleep>>,
    end: Instant,
}

impl Linger {
    pub(crate) fn new(stream: HalfClosed, connection: Arc<Connection>) -> Self {
        Linger { stream, connection, closing: None }
    }

    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        self.connection.note_written(written.is_ready());
        written
    }
}

impl AsyncRead for Linger {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, to)
    }
}

impl AsyncWrite for Linger {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Linger { stream, closing, .. } = &mut *self;
        if closing.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        let closing = closing.get_or_insert_with(|| Closing {
            quiet: Box::pin(sleep(QUIET)),
            end: Instant::now() + LONGEST,
        });
        let mut waste = [0; 16 << 10];
        loop {
            let mut waste = ReadBuf::new(&mut waste);
            match Pin::new(&mut *stream).poll_read(context, &mut waste) {
                Poll::Pending => return closing.quiet.as_mut().poll(context).map(Ok),
                Poll::Ready(Ok(()))
                    if !waste.filled().is_empty() && Instant::now() < closing.end =>
                {
                    closing.quiet.as_mut().reset(Instant::now() + QUIET);
                }
                // The client has closed as well, or has had its time.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}
