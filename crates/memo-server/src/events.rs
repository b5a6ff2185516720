//! A channel for the events of a stream. Events that come fast are sent together, because waking the receiver takes as
//! long as a good part of a token; and only so many wait for a receiver that does not read.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_stream::Stream;

/// Events within this time of the last sending wait for the next one.
const BATCH: Duration = Duration::from_millis(1);

/// Batches that wait for the receiver.
const WAITING: usize = 32;

/// The sending half.
pub(crate) struct EventSender<T>(Arc<Mutex<Sending<T>>>);

struct Sending<T> {
    sender: Sender<Vec<T>>,
    batch: Vec<T>,
    sent: Option<Instant>,
    /// Whether the last batch found no place.
    full: bool,
}

/// The receiving half.
pub(crate) struct EventReceiver<T> {
    receiver: Receiver<Vec<T>>,
    batch: std::vec::IntoIter<T>,
    /// Tells the work that somebody waits for it.
    _alive: Arc<()>,
}

/// What work has made and not yet sent, whatever it is.
pub(crate) trait Outlet: Send {
    /// Whether the receiver has not read for so long that nothing more can be sent.
    fn is_full(&self) -> bool;

    /// Sends what was made, if that is possible at once.
    fn try_flush(&mut self) -> bool;

    /// Sends what was made, and waits until that is possible.
    fn flush(&mut self);
}

/// Both halves of a channel. The receiver keeps `alive`.
pub(crate) fn channel<T>(alive: Arc<()>) -> (EventSender<T>, EventReceiver<T>) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let receiver = EventReceiver { receiver, batch: Vec::new().into_iter(), _alive: alive };
    let sending = Sending { sender, batch: Vec::new(), sent: None, full: false };
    (EventSender(Arc::new(Mutex::new(sending))), receiver)
}

impl<T: Send + 'static> EventSender<T> {
    /// Sends an event, or keeps it for a moment. It never waits: that is for the outlet.
    pub(crate) fn send(&self, event: T) {
        let mut sending = self.0.lock();
        sending.batch.push(event);
        if sending.sent.is_none_or(|sent| sent.elapsed() >= BATCH) {
            sending.try_flush();
        }
    }

    /// Sends what was kept, and waits until that is possible.
    pub(crate) fn flush(&self) {
        EventSender(Arc::clone(&self.0)).outlet().flush();
    }

    /// What was kept, for those who know when to wait.
    pub(crate) fn outlet(&self) -> Box<dyn Outlet> {
        Box::new(EventSender(Arc::clone(&self.0)))
    }
}

impl<T> Sending<T> {
    fn try_flush(&mut self) -> bool {
        if self.batch.is_empty() {
            return true;
        }
        match self.sender.try_send(std::mem::take(&mut self.batch)) {
            Err(TrySendError::Full(batch)) => (self.batch, self.full) = (batch, true),
            // A client that has disconnected misses nothing.
            Ok(()) | Err(TrySendError::Closed(_)) => {
                (self.full, self.sent) = (false, Some(Instant::now()));
            }
        }
        !self.full
    }
}

impl<T: Send + 'static> Outlet for EventSender<T> {
    fn is_full(&self) -> bool {
        self.0.lock().full
    }

    fn try_flush(&mut self) -> bool {
        self.0.lock().try_flush()
    }

    fn flush(&mut self) {
        let (sender, batch) = {
            let mut sending = self.0.lock();
            (sending.sender.clone(), std::mem::take(&mut sending.batch))
        };
        if !batch.is_empty() {
            let _ = sender.blocking_send(batch);
        }
        let mut sending = self.0.lock();
        (sending.full, sending.sent) = (false, Some(Instant::now()));
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
        let alive = Arc::new(());
        let watch = Arc::downgrade(&alive);
        let (sender, mut receiver) = channel(alive);
        sender.send(0);
        assert_eq!(receiver.next().await, Some(0));
        (1..10).for_each(|i| sender.send(i));
        std::thread::sleep(BATCH);
        sender.send(10);
        for i in 1..=10 {
            assert_eq!(receiver.next().await, Some(i));
        }
        sender.send(11);
        tokio::task::spawn_blocking(move || sender.flush()).await.unwrap();
        assert_eq!(receiver.next().await, Some(11));
        assert_eq!(watch.strong_count(), 1);
        drop(receiver);
        assert_eq!(watch.strong_count(), 0);
    }

    /// Whoever does not read finds everything later, and holds nothing up but its own work.
    #[tokio::test]
    async fn a_receiver_that_does_not_read_loses_nothing() {
        let (sender, mut receiver) = channel(Arc::new(()));
        let mut sent = 0;
        while !sender.outlet().is_full() {
            std::thread::sleep(BATCH);
            sender.send(sent);
            sent += 1;
        }
        assert!(sent > WAITING && sent < WAITING + 3, "{sent}");
        let waits = tokio::task::spawn_blocking(move || sender.flush());
        for i in 0..sent {
            assert_eq!(receiver.next().await, Some(i));
        }
        waits.await.unwrap();
        assert_eq!(receiver.next().await, None);
    }
}
