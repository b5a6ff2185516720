//! Where a server listens: an address of this machine, or a Unix socket.

use anyhow::{Context, bail};
use memo_server::Listener;
use std::fmt::{Display, Formatter};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// Where to listen, as it is typed.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    /// `HOST:PORT`.
    Tcp(String),
    /// `unix:PATH`.
    Unix(PathBuf),
}

/// What is listened on.
pub(crate) struct Bound {
    pub(crate) listener: Listener,
    /// The address as clients use it.
    pub(crate) address: String,
    /// Whether nobody beyond this machine can reach it.
    pub(crate) local: bool,
    /// A socket to remove at the end.
    pub(crate) socket: Option<Socket>,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() {
                Err("give a path, as in unix:/run/memo.sock".to_owned())
            } else {
                Ok(Address::Unix(path.into()))
            };
        }
        let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        match port.and_then(|(_, port)| port.parse::<u16>().ok()) {
            Some(_) => Ok(Address::Tcp(text.to_owned())),
            None => {
                Err("must be HOST:PORT, as 127.0.0.1:7700 or localhost:7700, or unix:PATH"
                    .to_owned())
            }
        }
    }

    /// The addresses of this machine that are meant; none for a Unix socket.
    fn resolve(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let Address::Tcp(text) = self else { return Ok(Vec::new()) };
        let found = text.to_socket_addrs();
        let mut found: Vec<SocketAddr> =
            found.with_context(|| format!("--addr {text}: there is no such name"))?.collect();
        // The address that most clients try first.
        found.sort_by_key(SocketAddr::is_ipv6);
        Ok(found)
    }

    /// Whether nobody beyond this machine can reach it.
    pub(crate) fn is_local(&self) -> anyhow::Result<bool> {
        Ok(self.resolve()?.iter().all(|address| address.ip().is_loopback()))
    }

    /// Listens there.
    pub(crate) fn bind(&self) -> anyhow::Result<Bound> {
        let local = self.is_local()?;
        match self {
            Address::Tcp(text) => {
                let listener = TcpListener::bind(self.resolve()?.as_slice()).map_err(|why| {
                    anyhow::anyhow!(
                        "cannot listen on {text}: {why}; `--addr` takes another address"
                    )
                })?;
                let address = format!("http://{}", listener.local_addr()?);
                Ok(Bound { listener: listener.into(), address, local, socket: None })
            }
            Address::Unix(path) => bind_unix(path),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp(text) => f.write_str(text),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A socket's file, which is removed at the end.
pub(crate) struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Listens on a Unix socket. Who may connect is who may write to its file: the umask decides.
#[cfg(unix)]
fn bind_unix(path: &Path) -> anyhow::Result<Bound> {
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    let shown = path.display();
    match std::fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => {
            bail!("cannot listen on unix:{shown}: there is a file that is no socket")
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            bail!("cannot listen on unix:{shown}: another process does already")
        }
        // One that was killed left it.
        Ok(_) => std::fs::remove_file(path).with_context(|| format!("unix:{shown}"))?,
        Err(_) => {}
    }
    let listener = UnixListener::bind(path)
        .map_err(|why| anyhow::anyhow!("cannot listen on unix:{shown}: {why}"))?;
    let socket = Some(Socket(path.to_owned()));
    let address = format!("unix:{shown}");
    Ok(Bound { listener: listener.into(), address, local: true, socket })
}

#[cfg(not(unix))]
fn bind_unix(path: &Path) -> anyhow::Result<Bound> {
    bail!("unix:{}: this system has no Unix sockets that a server could use", path.display())
}
