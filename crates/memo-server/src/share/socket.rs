//! The socket at which the owner of a model answers other processes of this machine.
//!
//! It lies in a folder that only its user can look into: `memo` in `$XDG_RUNTIME_DIR` or, without that, `memo-…` among temporary files;
//! so the path is short, as paths of sockets must be, wherever the model is. Its name is that of the model's directory for the system
//! (device and inode), so one that a killed process left is replaced by the next. Where it is stands in the model's lock.

use super::owner::Owner;
use crate::app::App;
use crate::mcp::{Access, Reply, Request, answer};
use memo_store::{Store, handover};
use std::path::{Path, PathBuf};
use std::sync::Weak;

/// What came of asking another process.
pub(super) enum AskOutcome {
    Replied(Reply),
    /// It did not hear the question: nothing has changed.
    Unheard,
    /// It may have heard it, and has ended since.
    Unanswered,
}

/// What an owner does that is asked to hand the model over.
pub(crate) enum OnHandover {
    /// It does, unless it has ended.
    Give(Weak<Owner>),
    /// It does not: it serves others who rely on it.
    Keep,
}

#[cfg(unix)]
pub(crate) use self::unix::Socket;
#[cfg(unix)]
pub(super) use self::unix::{ask, is_heard};

#[cfg(unix)]
mod unix {
    use super::{
        Access, App, AskOutcome, OnHandover, Path, PathBuf, Request, Store, answer, handover,
    };
    use std::fs::{DirBuilder, Metadata};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    use std::sync::Arc;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{UnixListener, UnixStream};
    use tokio::task::JoinHandle;

    /// The longest path that every system takes for a socket.
    const LONGEST: usize = 100;

    /// A socket that nobody is answered at yet.
    pub(crate) struct Bound {
        listener: UnixListener,
        path: PathBuf,
    }

    /// A socket at which others are answered until it is dropped.
    pub(crate) struct Socket {
        path: PathBuf,
        accepting: JoinHandle<()>,
    }

    impl Drop for Socket {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.path);
            self.accepting.abort();
        }
    }

    impl Socket {
        /// Listens for other processes, and tells them where; none where the system has no place for a socket.
        pub(crate) fn bind(store: &Store) -> Option<Bound> {
            let bound = places().find_map(|place| Bound::at(&place, store).ok())?;
            store.announce(&bound.path);
            Some(bound)
        }
    }

    /// Folders in which sockets may lie.
    fn places() -> impl Iterator<Item = PathBuf> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|home| Path::new(&home).join("memo"));
        let user = std::env::var("USER").ok().filter(|user| !user.contains('/'));
        let name = format!("memo-{}", user.as_deref().unwrap_or("user"));
        let temporary = [std::env::temp_dir(), PathBuf::from("/tmp")];
        // Somebody else may have a folder of that name.
        let other = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        runtime.into_iter().chain(temporary.map(|home| home.join(&name))).chain([other])
    }

    impl Bound {
        fn at(folder: &Path, store: &Store) -> io::Result<Self> {
            let model = std::fs::metadata(store.directory())?;
            let path = folder.join(format!("{:x}-{:x}.sock", model.dev(), model.ino()));
            if path.as_os_str().len() > LONGEST {
                return Err(io::ErrorKind::InvalidFilename.into());
            }
            DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
            let is_private = |folder: &Metadata| folder.is_dir() && folder.mode() & 0o777 == 0o700;
            let folder = std::fs::symlink_metadata(folder)?;
            if !is_private(&folder) {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            // Nobody answers there: this process has the model.
            let _ = std::fs::remove_file(&path);
            let listener = UnixListener::bind(&path)?;
            if std::fs::symlink_metadata(&path)?.uid() != folder.uid() {
                let _ = std::fs::remove_file(&path);
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            Ok(Bound { listener, path })
        }

        /// Answers others from now on.
        pub(crate) fn listen(self, app: App, on_handover: OnHandover) -> Socket {
            let Bound { listener, path } = self;
            let on_handover = Arc::new(on_handover);
            let accepting = tokio::spawn(async move {
                loop {
                    let Ok((stream, _)) = listener.accept().await else {
                        // Too many open files, say: it passes.
                        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                        continue;
                    };
                    let (app, on_handover) = (App::clone(&app), Arc::clone(&on_handover));
                    tokio::spawn(async move {
                        // That a client went away is not an error.
                        let _ = reply(stream, &app, &on_handover).await;
                    });
                }
            });
            Socket { path, accepting }
        }
    }

    /// Answers one request.
    async fn reply(mut stream: UnixStream, app: &App, on_handover: &OnHandover) -> io::Result<()> {
        let (reading, mut writing) = stream.split();
        let mut reading = BufReader::new(reading.take(app.config.limits.body as u64));
        let mut line = String::new();
        if reading.read_line(&mut line).await? == 0 || !line.ends_with('\n') {
            return Ok(());
        }
        let mut answered = if line.trim_end() == handover::REQUEST {
            match on_handover {
                OnHandover::Give(owner) => {
                    if let Some(owner) = owner.upgrade() {
                        let _ = owner.close().await;
                    }
                    handover::DONE.to_owned()
                }
                OnHandover::Keep => "no".to_owned(),
            }
        } else {
            let request: Request = serde_json::from_str(&line)?;
            let mut rest = [0];
            tokio::select! {
                reply = answer(app, Access::LOCAL, request) => serde_json::to_string(&reply)?,
                // Nobody waits for it any more.
                _ = reading.read(&mut rest) => return Ok(()),
            }
        };
        answered.push('\n');
        writing.write_all(answered.as_bytes()).await
    }

    /// Asks the owner that listens at `socket`.
    pub(in crate::share) async fn ask(socket: &Path, request: &Request) -> AskOutcome {
        let (Ok(mut stream), Ok(mut line)) =
            (UnixStream::connect(socket).await, serde_json::to_string(request))
        else {
            return AskOutcome::Unheard;
        };
        line.push('\n');
        let mut replied = String::new();
        let asked = async {
            stream.write_all(line.as_bytes()).await?;
            BufReader::new(&mut stream).read_line(&mut replied).await
        };
        match asked.await.ok().and_then(|_| serde_json::from_str(&replied).ok()) {
            Some(reply) => AskOutcome::Replied(reply),
            None => AskOutcome::Unanswered,
        }
    }

    /// Whether somebody listens at `socket`.
    pub(in crate::share) async fn is_heard(socket: &Path) -> bool {
        UnixStream::connect(socket).await.is_ok()
    }
}

/// Without Unix sockets one process at a time has a model.
#[cfg(not(unix))]
pub(crate) struct Socket;

#[cfg(not(unix))]
pub(crate) struct Bound;

#[cfg(not(unix))]
impl Socket {
    pub(crate) fn bind(_: &Store) -> Option<Bound> {
        None
    }
}

#[cfg(not(unix))]
impl Bound {
    pub(crate) fn listen(self, _: App, _: OnHandover) -> Socket {
        Socket
    }
}

#[cfg(not(unix))]
pub(super) async fn ask(_: &Path, _: &Request) -> AskOutcome {
    AskOutcome::Unheard
}

#[cfg(not(unix))]
pub(super) async fn is_heard(_: &Path) -> bool {
    false
}
