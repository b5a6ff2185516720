//! Work that tells of itself as it goes on: what comes fast is sent together, as waking whoever listens takes as long as
//! a good part of a token.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::Stream;

/// What comes within this time of the last sending waits for what comes next.
const TOGETHER: Duration = Duration::from_millis(1);

/// The side that works.
pub(crate) struct Teller<T> {
    to: mpsc::UnboundedSender<Vec<T>>,
    held: Vec<T>,
    sent: Option<Instant>,
}

/// The side that listens.
pub(crate) struct Told<T> {
    from: mpsc::UnboundedReceiver<Vec<T>>,
    now: std::vec::IntoIter<T>,
}

/// Both sides.
pub(crate) fn telling<T>() -> (Teller<T>, Told<T>) {
    let (to, from) = mpsc::unbounded_channel();
    let told = Told { from, now: Vec::new().into_iter() };
    (Teller { to, held: Vec::new(), sent: None }, told)
}

impl<T> Teller<T> {
    pub(crate) fn tell(&mut self, what: T) {
        self.held.push(what);
        if self.sent.is_none_or(|sent| sent.elapsed() >= TOGETHER) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.held.is_empty() {
            // Who has left misses nothing.
            let _ = self.to.send(std::mem::take(&mut self.held));
            self.sent = Some(Instant::now());
        }
    }

    /// Says whether nobody listens any more.
    pub(crate) fn gone(&self) -> impl Fn() -> bool + use<T> {
        let to = self.to.clone();
        move || to.is_closed()
    }
}

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl<T: Unpin> Stream for Told<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            if let Some(what) = self.now.next() {
                return Poll::Ready(Some(what));
            }
            match ready!(self.from.poll_recv(context)) {
                Some(more) => self.now = more.into_iter(),
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
        let (mut teller, mut told) = telling();
        let gone = teller.gone();
        teller.tell(0);
        assert_eq!(told.next().await, Some(0));
        (1..10).for_each(|i| teller.tell(i));
        std::thread::sleep(TOGETHER);
        teller.tell(10);
        for i in 1..=10 {
            assert_eq!(told.next().await, Some(i));
        }
        teller.tell(11);
        drop(teller);
        assert_eq!(told.next().await, Some(11));
        assert!(!gone());
        drop(told);
        assert!(gone());
    }
}
