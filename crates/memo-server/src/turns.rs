//! Turns: who may use a processor next.
//!
//! There are as many seats as processors. Work holds one for a slice of some milliseconds, and then lets others have their
//! turn. Whose turn it is, is decided by fair queueing: the key that has used the least time is next; of its work that which has only
//! just begun, and of that the connection that has used the least. So a short request waits for a slice and not for a long
//! request, and a key with many requests takes nothing from one with few. Of the turns of a key every fourth goes to the one that
//! has waited longest, so that however many short requests come, long ones go on.
//!
//! A change of the model uses a processor too, and readers leave it one.
//!
//! Some work cannot be sliced: a search of all texts, say. A slice that takes too long while others wait gives its seat away, and goes
//! on beside the others as the system lets it.
//!
//! Time is counted as in start-time fair queueing (Goyal, Vin, Cheng 1996): whoever was away comes back at the time of those who
//! are being served, without credit for the time away, and with the debt of what was used just before.

use crate::caller::Caller;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// The time after which work lets others have their turn.
const SLICE: Duration = Duration::from_millis(5);

/// The time after which a slice gives its seat away.
const OVERDUE: Duration = Duration::from_millis(20);

/// How often overdue slices are looked for while someone waits.
const WATCH: Duration = Duration::from_millis(10);

/// Work that has used less time goes before other work of its key.
const YOUNG: Duration = Duration::from_millis(50);

/// Of so many turns of a key, one is for the work that has waited longest.
const OLDEST_EVERY: u64 = 4;

/// The time that an account has used, in nanoseconds of its queue's time.
#[derive(Debug, Default)]
pub(crate) struct Account(AtomicU64);

impl Account {
    fn used(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn charge(&self, time: u64) {
        self.0.fetch_add(time, Ordering::Relaxed);
    }

    /// Comes back to a queue, whose time is `now`.
    fn join(&self, now: u64) {
        self.0.fetch_max(now, Ordering::Relaxed);
    }
}

/// The queue.
pub(crate) struct Turns {
    seats: usize,
    state: Mutex<State>,
    /// Told when somebody begins to wait.
    waits: Notify,
}

#[derive(Default)]
struct State {
    keys: Vec<Key>,
    waiting: Vec<Waiting>,
    taken: Vec<Taken>,
    /// The time of the queue of keys.
    now: u64,
    last_ticket: u64,
    /// Processors that changes of the model use.
    changing: usize,
}

#[derive(Default)]
struct Key {
    account: Account,
    /// The time of the queue of its connections.
    now: u64,
    turns: u64,
    /// Its work that waits or has a seat.
    active: usize,
}

struct Waiting {
    ticket: u64,
    caller: Caller,
    /// The time that this work has used.
    used: Duration,
    turn: oneshot::Sender<Turn>,
}

/// A seat that is taken.
struct Taken {
    ticket: u64,
    key: usize,
    since: Instant,
    /// Whether it was given away, because the slice takes too long.
    overdue: bool,
}

/// A seat, until it is dropped.
pub(crate) struct Turn {
    turns: Arc<Turns>,
    ticket: u64,
    caller: Caller,
    began: Instant,
}

impl Turns {
    /// As many seats as there are.
    pub(crate) fn new(seats: usize, keys: usize) -> Self {
        let keys = (0..keys.max(1)).map(|_| Key::default()).collect();
        let state = Mutex::new(State { keys, ..State::default() });
        Turns { seats, state, waits: Notify::new() }
    }

    /// Queues up. The receiver gets the seat; dropped, it leaves the queue.
    pub(crate) fn queue(
        self: &Arc<Self>,
        caller: &Caller,
        used: Duration,
    ) -> oneshot::Receiver<Turn> {
        let (turn, receiver) = oneshot::channel();
        {
            let mut state = self.state.lock();
            state.last_ticket += 1;
            let (ticket, now) = (state.last_ticket, state.now);
            let key = &mut state.keys[caller.key];
            if key.active == 0 {
                key.account.join(now);
            }
            key.active += 1;
            caller.connection.account.join(key.now);
            state.waiting.push(Waiting { ticket, caller: caller.clone(), used, turn });
        }
        self.serve();
        self.waits.notify_one();
        receiver
    }

    /// Leaves a processor to a change, until the guard is dropped: otherwise readers, who are many, would leave it little.
    pub(crate) fn leave_one(self: &Arc<Self>) -> Changing {
        self.state.lock().changing += 1;
        Changing(Arc::clone(self))
    }

    /// Whether anybody waits.
    pub(crate) fn is_crowded(&self) -> bool {
        !self.state.lock().waiting.is_empty()
    }

    /// Whether more than one seat is taken, or somebody waits.
    pub(crate) fn is_shared(&self) -> bool {
        let state = self.state.lock();
        state.taken.len() > 1 || !state.waiting.is_empty()
    }

    /// Gives free seats to those who wait.
    fn serve(self: &Arc<Self>) {
        let mut turns = Vec::new();
        {
            let mut state = self.state.lock();
            let seats = self.seats.saturating_sub(state.changing).max(1);
            while state.taken.iter().filter(|taken| !taken.overdue).count() < seats {
                let Some(Waiting { ticket, caller, turn, .. }) = state.next() else { break };
                let began = Instant::now();
                state.taken.push(Taken { ticket, key: caller.key, since: began, overdue: false });
                turns.push((turn, Turn { turns: Arc::clone(self), ticket, caller, began }));
            }
        }
        for (turn, seat) in turns {
            // Whoever has left gives it back, by dropping it.
            drop(turn.send(seat));
        }
    }

    /// Gives away the seats of slices that take too long, while anybody waits.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            self.waits.notified().await;
            while self.is_crowded() {
                tokio::time::sleep(WATCH).await;
                self.state.lock().give_away(self.seats);
                self.serve();
            }
        }
    }
}

/// A change that uses a processor.
pub(crate) struct Changing(Arc<Turns>);

impl Drop for Changing {
    fn drop(&mut self) {
        self.0.state.lock().changing -= 1;
        self.0.serve();
    }
}

impl State {
    /// Takes out of the queue whose turn it is.
    fn next(&mut self) -> Option<Waiting> {
        let Self { keys, waiting, .. } = self;
        // Those who have left.
        waiting.retain(|w| {
            let there = !w.turn.is_closed();
            keys[w.caller.key].active -= usize::from(!there);
            there
        });
        let used = |waiting: &Waiting| self.keys[waiting.caller.key].account.used();
        let key = self.waiting.iter().min_by_key(|w| (used(w), w.ticket))?.caller.key;
        let own = self.waiting.iter().enumerate().filter(|(_, w)| w.caller.key == key);
        let oldest = self.keys[key].turns % OLDEST_EVERY == OLDEST_EVERY - 1;
        let (at, _) = own.min_by_key(|(_, w)| {
            let account = w.caller.connection.account.used();
            if oldest { (false, 0, w.ticket) } else { (w.used >= YOUNG, account, w.ticket) }
        })?;
        let next = self.waiting.swap_remove(at);
        let key = &mut self.keys[key];
        key.turns += 1;
        key.now = key.now.max(next.caller.connection.account.used());
        self.now = self.now.max(key.account.used());
        Some(next)
    }

    /// Marks slices that take too long: for each key at most so many that others are still served by the system.
    fn give_away(&mut self, seats: usize) {
        for at in 0..self.taken.len() {
            let Taken { key, since, overdue, .. } = self.taken[at];
            let given = self.taken.iter().filter(|taken| taken.overdue && taken.key == key).count();
            if !overdue && since.elapsed() >= OVERDUE && given < 4 * seats {
                self.taken[at].overdue = true;
            }
        }
    }
}

impl Turn {
    /// Whether the slice is over.
    pub(crate) fn is_over(&self) -> bool {
        self.began.elapsed() >= SLICE
    }

    /// Puts what was used until now on the account, and goes on with a slice of its own if nobody waits.
    pub(crate) fn renew(&mut self) -> bool {
        let mut state = self.turns.state.lock();
        if !state.waiting.is_empty() {
            return false;
        }
        let used = self.began.elapsed().as_nanos() as u64;
        self.began = Instant::now();
        let (ticket, began) = (self.ticket, self.began);
        for taken in state.taken.iter_mut().filter(|taken| taken.ticket == ticket) {
            (taken.since, taken.overdue) = (began, false);
        }
        let key = &mut state.keys[self.caller.key];
        key.account.charge(used);
        self.caller.connection.account.charge(used);
        key.now = key.now.max(self.caller.connection.account.used());
        let now = key.account.used();
        state.now = state.now.max(now);
        true
    }

    /// The time since it began or was renewed.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let used = self.began.elapsed().as_nanos() as u64;
        {
            let mut state = self.turns.state.lock();
            state.taken.retain(|taken| taken.ticket != self.ticket);
            let key = &mut state.keys[self.caller.key];
            key.account.charge(used);
            key.active -= 1;
            self.caller.connection.account.charge(used);
        }
        self.turns.serve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Duration = Duration::from_secs(1);

    fn caller(key: usize) -> Caller {
        Caller { key, ..Caller::new(Arc::default()) }
    }

    /// Lets everybody have their turn, one after the other, and gives their names in that order.
    fn order(waiting: Vec<(&'static str, oneshot::Receiver<Turn>)>) -> Vec<&'static str> {
        let (mut waiting, mut order) = (waiting, Vec::new());
        while !waiting.is_empty() {
            let mut next = None;
            waiting.retain_mut(|(name, turn)| match turn.try_recv() {
                Ok(turn) => {
                    assert!(next.replace((*name, turn)).is_none(), "there is one seat");
                    false
                }
                Err(_) => true,
            });
            let (name, turn) = next.expect("somebody's turn");
            order.push(name);
            drop(turn);
        }
        order
    }

    #[test]
    fn young_work_goes_first_and_every_fourth_turn_is_for_the_oldest() {
        let turns = Arc::new(Turns::new(1, 1));
        let seat = turns.queue(&caller(0), OLD).try_recv().unwrap();
        let queue = |name, used| (name, turns.queue(&caller(0), used));
        let mut waiting = vec![queue("long", OLD), queue("longer", OLD)];
        waiting.extend(["a", "b", "c", "d"].map(|name| queue(name, Duration::ZERO)));
        drop(seat);
        assert_eq!(order(waiting), ["a", "b", "long", "c", "d", "longer"]);
    }

    #[test]
    fn a_key_with_much_work_takes_nothing_from_one_with_little() {
        let turns = Arc::new(Turns::new(1, 2));
        let seat = turns.queue(&caller(0), OLD).try_recv().unwrap();
        let mut waiting: Vec<_> =
            ["a", "b", "c"].map(|name| (name, turns.queue(&caller(0), Duration::ZERO))).into();
        waiting.push(("other", turns.queue(&caller(1), OLD)));
        std::thread::sleep(Duration::from_millis(1));
        drop(seat);
        assert_eq!(order(waiting)[0], "other");
    }

    #[test]
    fn whoever_leaves_the_queue_holds_up_nobody() {
        let turns = Arc::new(Turns::new(1, 1));
        let seat = turns.queue(&caller(0), Duration::ZERO).try_recv().unwrap();
        let left = turns.queue(&caller(0), Duration::ZERO);
        let mut waits = turns.queue(&caller(0), Duration::ZERO);
        drop(left);
        drop(seat);
        let seat = waits.try_recv().unwrap();
        // A seat that was given and not taken is free again.
        let given = turns.queue(&caller(0), Duration::ZERO);
        drop(seat);
        drop(given);
        assert!(turns.queue(&caller(0), Duration::ZERO).try_recv().is_ok());
    }

    #[tokio::test]
    async fn work_that_cannot_be_sliced_gives_its_seat_away() {
        let turns = Arc::new(Turns::new(1, 1));
        let watch = tokio::spawn(Arc::clone(&turns).watch());
        let mut long = turns.queue(&caller(0), Duration::ZERO).await.unwrap();
        let short = turns.queue(&caller(0), Duration::ZERO).await.unwrap();
        assert!(long.is_over() && long.renew() && !long.is_over());
        drop((short, long));
        assert!(turns.queue(&caller(0), Duration::ZERO).try_recv().is_ok());
        watch.abort();
    }
}
