//! A channel for the events of a stream. Events that come fast are sent together, because waking the receiver takes as
//! long as a good part of a token.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::Stream;

/// Events within this time of the last sending wait for the next one.
const BATCH: Duration = Duration::from_millis(1);

/// The sending half.
pub(crate) struct EventSender<T> {
    sender: mpsc::UnboundedSender<Vec<T>>,
    batch: Vec<T>,
    sent: Option<Instant>,
}

/// The receiving half.
pub(crate) struct EventReceiver<T> {
    receiver: mpsc::UnboundedReceiver<Vec<T>>,
    batch: std::vec::IntoIter<T>,
}

/// Both halves of a channel.
pub(crate) fn channel<T>() -> (EventSender<T>, EventReceiver<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let receiver = EventReceiver { receiver, batch: Vec::new().into_iter() };
    (EventSender { sender, batch: Vec::new(), sent: None }, receiver)
}

impl<T> EventSender<T> {
    pub(crate) fn send(&mut self, event: T) {
        self.batch.push(event);
        if self.sent.is_none_or(|sent| sent.elapsed() >= BATCH) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() {
            // A client that has disconnected misses nothing.
            let _ = self.sender.send(std::mem::take(&mut self.batch));
            self.sent = Some(Instant::now());
        }
    }

    /// A function that returns whether the receiver is gone.
    pub(crate) fn cancelled(&self) -> impl Fn() -> bool + use<T> {
        let sender = self.sender.clone();
        move || sender.is_closed()
    }
}

impl<T> Drop for EventSender<T> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl<T: Unpin> Stream for EventReceiver<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            if let Some(event) = self.batch.next() {
                return Poll::Ready(Some(event));
            }
            match ready!(self.receiver.poll_recv(context)) {
                Some(batch) => self.batch = batch.into_iter(),
                None => return Poll::Ready(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_stream::StreamExt;

    #[tokio::test]
    async fn the_first_is_sent_at_once_and_all_in_order() {
        let (mut sender, mut receiver) = channel();
        let cancelled = sender.cancelled();
        sender.send(0);
        assert_eq!(receiver.next().await, Some(0));
        (1..10).for_each(|i| sender.send(i));
        std::thread::sleep(BATCH);
        sender.send(10);
        for i in 1..=10 {
            assert_eq!(receiver.next().await, Some(i));
        }
        sender.send(11);
        drop(sender);
        assert_eq!(receiver.next().await, Some(11));
        assert!(!cancelled());
        drop(receiver);
        assert!(cancelled());
    }
}
