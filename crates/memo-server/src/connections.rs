//! The connections of a server: up to a limit, and beyond that the idlest one makes room for a new one.

use crate::half_closed::{COMMENT, Probes};
use crate::turns::Account;
use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The time after which a connection whose client does not read its response may be closed, if there is no other.
const STALLED: Duration = Duration::from_secs(10);

/// A connection.
#[derive(Default)]
pub(crate) struct Connection {
    /// The time that its requests have used.
    pub(crate) account: Account,
    activity: Mutex<Activity>,
    close: Notify,
}

struct Activity {
    /// Whether a request is being answered.
    busy: bool,
    /// Whether the response to it has not begun.
    awaited: bool,
    /// Whether the client has closed its side.
    half_closed: bool,
    /// Since when there has been none.
    idle_since: Instant,
    /// Since when the client has not read.
    stalled_since: Option<Instant>,
}

impl Default for Activity {
    fn default() -> Self {
        Activity {
            busy: false,
            awaited: false,
            half_closed: false,
            idle_since: Instant::now(),
            stalled_since: None,
        }
    }
}

impl Connection {
    /// Notes that a request is answered, until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Busy {
        let mut activity = self.activity.lock();
        (activity.busy, activity.awaited) = (true, true);
        drop(activity);
        Busy(Arc::clone(self))
    }

    /// Notes that the response begins.
    pub(crate) fn note_response(&self) {
        self.activity.lock().awaited = false;
    }

    /// Notes that the client has closed its side.
    pub(crate) fn note_half_closed(&self) {
        self.activity.lock().half_closed = true;
    }

    /// Whether a request is being answered.
    pub(crate) fn is_busy(&self) -> bool {
        self.activity.lock().busy
    }

    /// Whether nothing of a response has been written yet.
    pub(crate) fn awaits_response(&self) -> bool {
        self.activity.lock().awaited
    }

    /// Notes whether the client reads what is written to it.
    pub(crate) fn note_written(&self, written: bool) {
        let mut activity = self.activity.lock();
        if written {
            activity.stalled_since = None;
        } else {
            activity.stalled_since.get_or_insert_with(Instant::now);
        }
    }

    /// Ready when the connection is to be closed.
    pub(crate) async fn closed(&self) {
        self.close.notified().await;
    }

    /// How it compares to others that might be closed; none if it must not be. Idle ones go before those that are stalled.
    fn idleness(&self) -> Option<(bool, Instant)> {
        let activity = self.activity.lock();
        match (activity.busy, activity.stalled_since) {
            (false, _) => Some((false, activity.idle_since)),
            (true, Some(since)) if since.elapsed() >= STALLED => Some((true, since)),
            _ => None,
        }
    }
}

/// A request that is being answered.
pub(crate) struct Busy(Arc<Connection>);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut activity = self.0.activity.lock();
        (activity.busy, activity.idle_since) = (false, Instant::now());
    }
}

/// The body of a response, until whose end its connection is busy.
pub(crate) struct BusyBody {
    body: Body,
    busy: Busy,
    /// For a stream of events: when to send comments to a client that has closed its side.
    probes: Option<Probes>,
}

impl BusyBody {
    pub(crate) fn new(body: Body, busy: Busy, has_events: bool) -> Self {
        BusyBody { body, busy, probes: has_events.then(Probes::default) }
    }
}

impl hyper::body::Body for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() && self.busy.0.activity.lock().half_closed {
            let probes = self.probes.as_mut();
            if probes.is_some_and(|probes| probes.is_time(context)) {
                return Poll::Ready(Some(Ok(Frame::data(COMMENT))));
            }
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// All connections.
pub(crate) struct Connections {
    most: usize,
    table: Mutex<Table>,
    ended: Notify,
}

#[derive(Default)]
struct Table {
    last: u64,
    open: BTreeMap<u64, Arc<Connection>>,
}

/// A connection's place among all.
pub(crate) struct Place {
    all: Arc<Connections>,
    number: u64,
    pub(crate) connection: Arc<Connection>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Connections { most, table: Mutex::default(), ended: Notify::new() })
    }

    /// A place for a new connection. If there is none, the idlest one is closed; if none is idle, this waits.
    pub(crate) async fn place(self: &Arc<Self>) -> Place {
        loop {
            if let Some(place) = self.try_place() {
                return place;
            }
            // That one becomes idle is not told: that would be work for every request.
            let _ = tokio::time::timeout(Duration::from_millis(20), self.ended.notified()).await;
        }
    }

    /// Closes the idlest connections, up to `most`; whether there was one.
    pub(crate) fn close_idlest(&self, most: usize) -> bool {
        let mut table = self.table.lock();
        (0..most).take_while(|_| table.close_idlest()).count() > 0
    }

    fn try_place(self: &Arc<Self>) -> Option<Place> {
        let mut table = self.table.lock();
        if table.open.len() >= self.most && !table.close_idlest() {
            return None;
        }
        table.last += 1;
        let (number, connection) = (table.last, Arc::<Connection>::default());
        table.open.insert(number, Arc::clone(&connection));
        Some(Place { all: Arc::clone(self), number, connection })
    }
}

impl Table {
    /// Closes the idlest connection; whether there was one.
    fn close_idlest(&mut self) -> bool {
        let idle = self.open.iter().filter_map(|(&n, open)| Some((open.idleness()?, n)));
        let idlest = idle.min().and_then(|(_, idlest)| self.open.remove(&idlest));
        idlest.is_some_and(|idlest| {
            idlest.close.notify_one();
            true
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.table.lock().open.remove(&self.number);
        self.all.ended.notify_one();
    }
}
