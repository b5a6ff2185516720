//! Workers: requests that take a processor, one slice at a time.
//!
//! Work runs on a thread of its own, but only while it has a [`Seat`]. At the end of a slice it pauses: it sends what it has made, and
//! waits for its next turn (`turns`). A stream whose client does not read has no seat while it waits for that, and goes on where it was
//! once the client reads.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::events::{EventReceiver, EventSender, Outlet, channel};
use crate::turns::{Turn, Turns};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The workers of a server.
pub(crate) struct Workers {
    turns: Arc<Turns>,
    open: Arc<Open>,
}

/// Requests that wait for a turn or have one.
struct Open {
    /// By key.
    counts: Mutex<Vec<usize>>,
    most: usize,
}

/// A place among the open requests.
struct Admission {
    open: Arc<Open>,
    key: usize,
}

impl Open {
    /// Lets a request in. Beyond the limit, only a key with less than its share of it is: so one key cannot shut out another.
    fn admit(self: &Arc<Self>, key: usize) -> Result<Admission, ApiError> {
        let mut counts = self.counts.lock();
        let asking = counts.iter().filter(|&&count| count > 0).count();
        let share = self.most / (asking + usize::from(counts[key] == 0));
        if counts.iter().sum::<usize>() >= self.most && counts[key] >= share {
            return Err(ApiError::unavailable("too many requests are waiting; try again soon"));
        }
        counts[key] += 1;
        Ok(Admission { open: Arc::clone(self), key })
    }

    fn add(&self, key: usize) {
        self.counts.lock()[key] += 1;
    }

    fn remove(&self, key: usize) {
        self.counts.lock()[key] -= 1;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.open.remove(self.key);
    }
}

/// The seat of work that takes turns.
pub(crate) struct Seat {
    turns: Arc<Turns>,
    caller: Caller,
    admission: Admission,
    /// None only while it waits.
    turn: Option<Turn>,
    used: Duration,
    client: Client,
    outlet: Option<Box<dyn Outlet>>,
}

/// Whether somebody still waits for a response.
#[derive(Clone)]
pub(crate) struct Client(Weak<()>);

impl Client {
    /// Whether nobody waits any more: the client has disconnected, or its time is over.
    pub(crate) fn has_left(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Seat {
    /// Whether nobody waits for a response any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.client.has_left()
    }

    /// The client that waits for a response.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Whether it is time to pause: the slice is over, or nothing more can be sent.
    pub(crate) fn is_due(&self) -> bool {
        self.turn.as_ref().is_none_or(Turn::is_over)
            || self.outlet.as_ref().is_some_and(|outlet| outlet.is_full())
    }

    /// Whether others work or wait too.
    pub(crate) fn is_shared(&self) -> bool {
        self.turns.is_shared()
    }

    /// Lets others have their turn, if it is time for that. The caller holds no lock meanwhile.
    pub(crate) fn pause(&mut self) {
        if !self.is_due() {
            return;
        }
        if let Some(outlet) = &mut self.outlet
            && !outlet.try_flush()
        {
            // Its client does not read: the seat is for others, also in the queue.
            self.leave();
            self.admission.open.remove(self.admission.key);
            outlet_of(&mut self.outlet).flush();
            self.admission.open.add(self.admission.key);
            return self.take();
        }
        if self.is_cancelled() {
            return;
        }
        if let Some(turn) = &mut self.turn {
            let elapsed = turn.elapsed();
            if turn.renew() {
                self.used += elapsed;
                return;
            }
        }
        let start = Instant::now();
        self.leave();
        self.take();
        self.caller.waited.add(start.elapsed());
    }

    /// Waits for another server, whose answers have a time limit of their own. The seat is for others meanwhile.
    pub(crate) fn wait_for<T>(&mut self, ask: impl FnOnce() -> T) -> T {
        if let Some(outlet) = &mut self.outlet {
            outlet.try_flush();
        }
        let start = Instant::now();
        self.leave();
        let answer = ask();
        self.take();
        self.caller.waited.add(start.elapsed());
        answer
    }

    fn leave(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.used += turn.elapsed();
        }
    }

    /// Waits for the next turn. Whoever has nobody to work for any more ends without one.
    fn take(&mut self) {
        if !self.is_cancelled() {
            self.turn = self.turns.queue(&self.caller, self.used).blocking_recv().ok();
        }
    }
}

fn outlet_of(outlet: &mut Option<Box<dyn Outlet>>) -> &mut dyn Outlet {
    outlet.as_mut().expect("an outlet that could not be flushed").as_mut()
}

impl Workers {
    /// As many seats as `count`, for which at most `most` requests may wait.
    pub(crate) fn new(count: usize, most: usize, keys: usize) -> Self {
        let counts = Mutex::new(vec![0; keys.max(1)]);
        Workers { turns: Arc::new(Turns::new(count, keys)), open: Arc::new(Open { counts, most }) }
    }

    /// The queue of those who want a processor.
    pub(crate) fn turns(&self) -> Arc<Turns> {
        Arc::clone(&self.turns)
    }

    /// Requests that are worked on or wait for that; not those whose client does not read.
    pub(crate) fn open(&self) -> usize {
        self.open.counts.lock().iter().sum()
    }

    /// Sees to it that work that cannot be sliced holds nobody up, as long as it is polled.
    pub(crate) fn watch(&self) -> impl Future<Output = ()> + use<> {
        Arc::clone(&self.turns).watch()
    }

    /// Waits for a seat.
    async fn acquire(&self, alive: &Arc<()>) -> Result<Seat, ApiError> {
        let caller = Caller::current();
        let admission = self.open.admit(caller.key)?;
        let turn = self.turns.queue(&caller, Duration::ZERO).await;
        Ok(Seat {
            turns: Arc::clone(&self.turns),
            caller,
            admission,
            turn: Some(turn.map_err(|_| ApiError::internal())?),
            used: Duration::ZERO,
            client: Client(Arc::downgrade(alive)),
            outlet: None,
        })
    }

    /// Runs work on a thread of its own, once it has a seat. Long work pauses now and then, and asks whether it is cancelled.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Seat) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let alive = Arc::new(());
        let mut seat = self.acquire(&alive).await?;
        let result = run_blocking(move || work(&mut seat)).await;
        drop(alive);
        result
    }

    /// Runs work that sends events as it goes on. An error of `check` is returned before the first of them.
    pub(crate) async fn stream<W, T: Send + 'static>(
        &self,
        check: impl FnOnce() -> Result<W, ApiError> + Send + 'static,
        work: impl FnOnce(W, &mut Seat, &EventSender<T>) + Send + 'static,
    ) -> Result<EventReceiver<T>, ApiError> {
        let alive = Arc::new(());
        let mut seat = self.acquire(&alive).await?;
        let (sender, receiver) = channel(alive);
        seat.outlet = Some(sender.outlet());
        let (begin, begun) = oneshot::channel();
        spawn(Box::new(move || {
            match check() {
                Err(error) => drop(begin.send(Err(error))),
                Ok(checked) if begin.send(Ok(())).is_ok() => work(checked, &mut seat, &sender),
                Ok(_) => {}
            }
            drop(seat);
            // What is left waits for its reader without a seat.
            sender.flush();
        }));
        begun.await.unwrap_or_else(|_| Err(ApiError::internal()))?;
        Ok(receiver)
    }
}

/// Runs work on a thread of its own, without waiting for a seat.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    on_thread(work).await.unwrap_or_else(|| Err(ApiError::internal()))
}

/// Runs work on a thread of its own; `None` if it panics.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = oneshot::channel();
    spawn(Box::new(move || drop(done.send(work()))));
    result.await.ok()
}

/// All work is of one type: the runtime's code for a task would be compiled anew for each.
fn spawn(work: Box<dyn FnOnce() + Send>) {
    tokio::task::spawn_blocking(work);
}
