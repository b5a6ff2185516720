//! Requests to a partner: plain HTTP over connections that are kept, each with an end of its time.

use super::PartnerError;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;

/// The largest answer that is read.
const MAX_ANSWER: usize = 16 << 20;

/// Connections that are kept.
const MAX_IDLE: usize = 64;

/// A server, by its address.
pub(super) struct Http {
    /// `host:port`.
    authority: String,
    /// What paths begin with.
    prefix: String,
    timeout: Duration,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
}

impl Http {
    /// The server at `http://host:port`, which is given `timeout` for each answer.
    pub(super) fn new(url: &str, timeout: Duration) -> Result<Self, PartnerError> {
        let refuse =
            |reason: &str| PartnerError::Address { url: url.into(), reason: reason.into() };
        let uri: Uri = url.parse().map_err(|_| refuse("it is no address"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(refuse("there is no TLS here; use http://")),
            _ => return Err(refuse("it must begin with http://")),
        }
        let host = uri.host().ok_or_else(|| refuse("it has no host"))?;
        let authority = format!("{host}:{}", uri.port_u16().unwrap_or(80));
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Http { authority, prefix, timeout, idle: Mutex::default() })
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, PartnerError> {
        self.ask(Method::GET, path, Bytes::new()).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, PartnerError> {
        self.ask(Method::POST, path, body.to_string().into()).await
    }

    /// Asks, and gives the JSON of an answer that is no error.
    async fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<Value, PartnerError> {
        let answer = tokio::time::timeout(self.timeout, self.send(method, path, body)).await;
        let (status, body) =
            answer.map_err(|_| PartnerError::Slow { seconds: self.timeout.as_secs_f64() })??;
        let json = serde_json::from_slice::<Value>(&body);
        if status.is_success() {
            return json.map_err(|_| PartnerError::Nonsense(format!("{path} gives no JSON")));
        }
        let message =
            json.ok().and_then(|json| Some(json["error"]["message"].as_str()?.to_owned()));
        Err(PartnerError::Refused { status: status.as_u16(), message: message.unwrap_or_default() })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), PartnerError> {
        loop {
            let kept = self.idle.lock().pop();
            let is_kept = kept.is_some();
            let mut sender = match kept {
                Some(sender) => sender,
                None => self.connect().await?,
            };
            let request = Request::builder()
                .method(method.clone())
                .uri(format!("{}{path}", self.prefix))
                .header("host", &self.authority)
                .header("content-type", "application/json")
                .body(Full::new(body.clone()))
                .map_err(gone)?;
            let response = match sender.send_request(request).await {
                // A kept connection may have been closed meanwhile; there is nothing that asking twice would change.
                Err(_) if is_kept => continue,
                response => response.map_err(gone)?,
            };
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(gone)?.to_bytes();
            let mut idle = self.idle.lock();
            if idle.len() < MAX_IDLE && !sender.is_closed() {
                idle.push(sender);
            }
            return Ok((head.status, body));
        }
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, PartnerError> {
        let stream = TcpStream::connect(&self.authority).await.map_err(gone)?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(gone)?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

fn gone(reason: impl std::fmt::Display) -> PartnerError {
    PartnerError::Gone(reason.to_string())
}
