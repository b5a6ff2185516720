//! A server in this process, and clients that speak to it over a real socket.
#![allow(unreachable_pub)]

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use memo_server::{Config, Error, Limits, Models, serve};
use memo_store::{NewModel, Store};
use memo_text::Tokenizer;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A key that may write.
pub const WRITE_KEY: &str = "write-0123456789abcdef";

/// A model of bytes, quick to make.
pub fn small() -> NewModel {
    NewModel { tokenizer: Tokenizer::bytes(), words: true, seed: 7, ..NewModel::default() }
}

/// A server, until it is stopped.
pub struct Server {
    pub address: SocketAddr,
    pub path: PathBuf,
    stop: oneshot::Sender<()>,
    done: JoinHandle<Result<(), Error>>,
    home: tempfile::TempDir,
}

impl Server {
    pub async fn start(new: &NewModel, config: Config) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        let store = Store::create(&path, new).unwrap();
        Self::serving(store.into(), home, path, config).await
    }

    /// A server of any models. What it leaves at `path` can be opened at its end.
    #[allow(clippy::unused_async, reason = "it needs a runtime around it")]
    pub async fn serving(
        models: Models,
        home: tempfile::TempDir,
        path: PathBuf,
        config: Config,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let done = tokio::spawn(serve(models, config, listener, async {
            let _ = stopped.await;
        }));
        Server { address, path, stop, done, home }
    }

    pub async fn small() -> Self {
        Self::start(&small(), Config::default()).await
    }

    /// A server whose memory goes round in circles, so that completions are as long as one likes. Its keys, if there are any, have
    /// [`WRITE_KEY`].
    pub async fn round(config: Config) -> Self {
        let limits = Limits { tokens: 1 << 24, total: usize::MAX, ..config.limits };
        let server = Self::start(&small(), Config { limits, ..config }).await;
        let mut client = server.client().await;
        client.key = Some(WRITE_KEY.to_owned());
        let text = "round and ".repeat(500);
        client.ok("/api/documents", &json!({"text": text, "id": "round"})).await;
        server
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Stops it, and opens what it left.
    pub async fn stop(self) -> (Store, tempfile::TempDir) {
        self.stop.send(()).unwrap();
        self.done.await.unwrap().unwrap();
        (Store::open(&self.path).unwrap(), self.home)
    }
}

/// A connection that stays open.
pub struct Client {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
    pub key: Option<String>,
}

/// An answer: its status, its head and its body.
pub struct Answer {
    pub status: u16,
    pub head: hyper::http::response::Parts,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    /// The data of all events.
    pub fn events(&self) -> Vec<Value> {
        let lines = self.text().lines().filter_map(|line| line.strip_prefix("data: "));
        lines.filter(|data| *data != "[DONE]").map(|d| serde_json::from_str(d).unwrap()).collect()
    }
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        Self::try_connect(address).await.unwrap()
    }

    pub async fn try_connect(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let connected = handshake(TokioIo::new(stream)).await;
        let (sender, connection) = connected.map_err(std::io::Error::other)?;
        tokio::spawn(connection);
        Ok(Client { address, sender, key: None })
    }

    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        head: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Answer {
        let response = self.begin(method, path, head, body).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: head.status.as_u16(), head, body }
    }

    /// Sends a request, and gives the answer as soon as it begins.
    pub async fn begin(
        &mut self,
        method: Method,
        path: &str,
        head: &[(&str, &str)],
        body: Vec<u8>,
    ) -> hyper::Result<Response<hyper::body::Incoming>> {
        let mut request = Request::builder().method(method).uri(path);
        if !head.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.address.to_string());
        }
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in head {
            request = request.header(*name, *value);
        }
        self.sender.ready().await?;
        self.sender.send_request(request.body(Full::from(body)).unwrap()).await
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], Vec::new()).await
    }

    pub async fn delete(&mut self, path: &str) -> Answer {
        self.send(Method::DELETE, path, &[], Vec::new()).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> Answer {
        let head = [("content-type", "application/json")];
        self.send(Method::POST, path, &head, body.to_string().into_bytes()).await
    }

    /// The value of a metric.
    pub async fn metric(&mut self, name: &str) -> u64 {
        let all = self.get("/metrics").await;
        let line = all.text().lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name}")).parse().unwrap()
    }

    /// Posts something that must succeed.
    pub async fn ok(&mut self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// Gets something that must be there.
    pub async fn found(&mut self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }
}
