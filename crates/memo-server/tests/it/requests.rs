//! Requests as others write them: what cannot be read is said in words, and what belongs together is marked.

use crate::common::Server;
use hyper::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn what_cannot_be_read_is_said_in_words() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let head = [("content-type", "application/json")];
    let cases = [
        (
            "/v1/completions",
            r#"{"max_tokens": "ten"}"#,
            "max_tokens",
            "`max_tokens` must be a whole number, 0 or more, not the text \"ten\"",
        ),
        (
            "/v1/completions",
            r#"{"max_tokens": -5}"#,
            "max_tokens",
            "`max_tokens` must be a whole number, 0 or more, not -5",
        ),
        (
            "/v1/completions",
            r#"{"temperature": "hot"}"#,
            "temperature",
            "`temperature` must be a number, not the text \"hot\"",
        ),
        (
            "/v1/completions",
            r#"{"prompt": 5}"#,
            "prompt",
            "`prompt` must be a text, a list of texts, a list of tokens, or a list of lists of tokens",
        ),
        ("/v1/completions", r#"{"stop": 5}"#, "stop", "`stop` must be a text or a list of texts"),
        (
            "/v1/completions",
            r#"{"stream": "yes"}"#,
            "stream",
            "`stream` must be true or false, not the text \"yes\"",
        ),
        (
            "/v1/chat/completions",
            r#"{"messages": "hello"}"#,
            "messages",
            "`messages` must be a list, not the text \"hello\"",
        ),
        (
            "/v1/chat/completions",
            r#"{"messages": [{"content": "hello"}]}"#,
            "messages",
            "`messages`: the field `role` is missing",
        ),
        ("/v1/chat/completions", "{}", "messages", "the field `messages` is missing"),
        ("/api/complete", r#"{"prompt": ["a"]}"#, "prompt", "`prompt` must be a text, not a list"),
        (
            "/api/documents",
            r#"{"text": "a", "labels": [1]}"#,
            "labels",
            "`labels` must be an object, not a list",
        ),
        ("/tokenize", r#"{"prompt": null}"#, "prompt", "`prompt` must be a text, not null"),
        (
            "/tokenize",
            r#"{"prompt": "a", "prompt": "b"}"#,
            "",
            "the body has the field `prompt` twice",
        ),
        ("/tokenize", "[1]", "", "the body must be a JSON object, not a list"),
        ("/tokenize", "", "", "the body is empty"),
        (
            "/tokenize",
            "{\"prompt\": ",
            "",
            "the body is not JSON: it ends too early, at line 1, column 11",
        ),
        ("/tokenize", "{\"prompt\": x}", "", "the body is not JSON, at line 1, column 12"),
    ];
    for (path, body, param, message) in cases {
        let answer = client.send(Method::POST, path, &head, body.into()).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["message"]), (400, &json!(message)), "{body}");
        assert_eq!(error["param"].as_str().unwrap_or_default(), param, "{body}");
    }
    let paths = [
        ("/api/documents?limit=ten", "the parameter `limit` must be a whole number, 0 or more"),
        (
            "/api/documents?state=asleep",
            "the parameter `state` must be one of `live`, `retired`, `forgotten`, `rolled back`",
        ),
        ("/api/closest", "the parameter `text` is missing"),
    ];
    for (path, message) in paths {
        let answer = client.get(path).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["message"]),
            (400, &json!(message)),
            "{path}"
        );
    }
    let answer = client.post("/api/transactions/last/rollback", &json!({})).await;
    let message = "in the path, \"last\" must be a whole number, 0 or more";
    assert_eq!((answer.status, &answer.json()["error"]["message"]), (400, &json!(message)));
}

/// A misspelt parameter is not left out without a word, wherever it is.
#[tokio::test]
async fn unknown_parameters_are_refused() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let cases = [
        ("/api/documents?model=m&name=owl", "`search`, `state`, `limit`, `offset`, `model`"),
        ("/api/closest?text=owl&name=owl", "`text`, `limit`, `model`"),
        ("/api/documents/owl?name=owl", "`version`, `model`"),
        ("/api/stats?name=owl", "`model`"),
    ];
    for (path, known) in cases {
        let answer = client.get(path).await;
        let message = format!("the parameter `name` is not known here; there is {known}");
        assert_eq!((answer.status, &answer.json()["error"]["message"]), (400, &json!(message)));
    }
    let head = [("content-type", "application/json")];
    let described = client.found("/openapi.json").await;
    for (path, operations) in described["paths"].as_object().unwrap() {
        // OpenAI's API ignores what it does not know, and what watches a server asks as it likes.
        let own = path.starts_with("/api/") || path.contains("token");
        for method in operations.as_object().unwrap().keys().filter(|_| own) {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let asked = format!("{}?mdel=m", path.replace(['{', '}'], ""));
            let answer = client.send(method, &asked, &head, b"{}".to_vec()).await;
            assert_eq!(answer.status, 400, "{asked}: {}", answer.text());
            let message = answer.json()["error"]["message"].to_string();
            assert!(message.contains("the parameter `mdel` is not known"), "{asked}: {message}");
        }
    }
}

/// Nor is a misspelt field, of what is asked as of what is changed.
#[tokio::test]
async fn unknown_fields_of_the_native_api_are_refused() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let head = [("content-type", "application/json")];
    let described = client.found("/openapi.json").await;
    for (path, operations) in described["paths"].as_object().unwrap() {
        let known = &operations["post"]["requestBody"]["content"]["application/json"]["schema"];
        let Some(known) = known["$ref"].as_str().filter(|_| path.starts_with("/api/")) else {
            continue;
        };
        let name = known.rsplit('/').next().unwrap();
        let fields = &described["components"]["schemas"][name]["properties"];
        let fields = fields.as_object().unwrap().keys().map(|field| format!("`{field}`"));
        let body = json!({"colour": "red"}).to_string().into_bytes();
        let asked = path.replace("{id}", "1");
        let answer = client.send(Method::POST, &asked, &head, body).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["param"]), (400, &json!("colour")), "{path}: {error}");
        for field in fields {
            assert!(error["message"].as_str().unwrap().contains(&field), "{path}: {error}");
        }
    }
}

/// Who asks over HTTP has no terminal to type commands into.
#[tokio::test]
async fn errors_say_what_a_client_of_the_api_can_do() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let documents = "`GET /api/documents` lists them";
    let nobody = format!("there is no document \"nobody\"; {documents}");
    let lexicon = "the model has no lexicon; `POST /api/rebuild` with a `lexicon` gives it one";
    let cases = [
        (client.get("/api/documents/nobody").await, nobody.clone()),
        (client.delete("/api/documents/nobody").await, nobody),
        (
            client.post("/api/forget", &json!({"labels": {"from": "nobody"}})).await,
            format!("no document fits; {documents} with their labels"),
        ),
        (
            client.post("/api/transactions/77/rollback", &json!({})).await,
            "there is no transaction 77; `GET /api/transactions` lists them".to_owned(),
        ),
        (client.get("/api/lexicon").await, lexicon.to_owned()),
    ];
    for (answer, message) in cases {
        assert_eq!((answer.status, &answer.json()["error"]["message"]), (404, &json!(message)));
    }
    let conflict = "Volvo\tcar\nVolvo\tship\n";
    let answer = client.post("/api/rebuild", &json!({"lexicon": conflict})).await;
    let message = answer.json()["error"]["message"].to_string();
    assert!(message.ends_with("leave one out\""), "{message}");
}

/// A compressed text is not memorized as the bytes that it was sent as.
#[tokio::test]
async fn a_body_that_is_compressed_is_refused() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let upload = [("content-type", "application/octet-stream"), ("content-encoding", "gzip")];
    let answer = client.send(Method::POST, "/api/upload?id=owl", &upload, b"\x1f\x8b".into()).await;
    let message = "compressed requests are not read; send the body without `Content-Encoding`";
    assert_eq!((answer.status, &answer.json()["error"]["message"]), (415, &json!(message)));
    let plain = [("content-type", "application/octet-stream"), ("content-encoding", "identity")];
    let answer =
        client.send(Method::POST, "/api/upload?id=owl", &plain, b"The owl reads.".into()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// What a parser refuses although it may be JSON is not called something else.
#[tokio::test]
async fn json_that_cannot_be_taken_is_said_in_words() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let head = [("content-type", "application/json")];
    let deep = format!("{{\"prompt\": {}", "[".repeat(200)).into_bytes();
    let cases = [
        (&br#"{"temperature": 1e400}"#[..], "the body has a number that is too large, at"),
        (br#"{"seed": 9223372036854775808}"#, "`seed` is too large a number"),
        (br#"{"prompt": "\ud800."}"#, "the body has half of a character, at"),
        (b"{\"prompt\": \"caf\xe9\"}", "the body is not UTF-8, at"),
        (&deep, "the body has lists and objects in more than 127 others, at"),
    ];
    for (body, message) in cases {
        let answer = client.send(Method::POST, "/v1/completions", &head, body.to_vec()).await;
        let said = answer.json()["error"]["message"].to_string();
        assert_eq!(answer.status, 400, "{said}");
        assert!(said[1..].starts_with(message), "{said}");
    }
}

#[tokio::test]
async fn every_response_has_the_id_of_its_request() {
    let server = Server::small().await;
    let mut client = server.client().await;
    let mut id = async |given: &[(&str, &str)], path: &str| {
        let answer = client.send(Method::GET, path, given, vec![]).await;
        answer.head.headers["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(id(&[("x-request-id", "mine-1.2:3")], "/health").await, "mine-1.2:3");
    assert_eq!(id(&[("x-request-id", "mine")], "/nothing").await, "mine");
    let made = [id(&[], "/health").await, id(&[], "/health").await];
    assert!(made[0] != made[1] && made.iter().all(|id| id.starts_with("req-")), "{made:?}");
    let long = "x".repeat(129);
    for bad in ["", "two words", "{\"json\"}", &long] {
        assert!(id(&[("x-request-id", bad)], "/health").await.starts_with("req-"), "{bad}");
    }
    assert_eq!(client.found("/health").await, json!({"status": "ok"}));
}

/// Two servers in a row that disagree on what host a request is for are how requests are smuggled.
#[tokio::test]
async fn a_request_names_one_host() {
    let server = Server::small().await;
    let host = server.address;
    let ask = async |head: String| {
        let mut stream = TcpStream::connect(host).await.unwrap();
        let request = format!("{head}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer[9..12].to_owned()
    };
    assert_eq!(ask(format!("GET /health HTTP/1.1\r\nhost: {host}\r\n")).await, "200");
    assert_eq!(
        ask(format!("GET /health HTTP/1.1\r\nhost: {host}\r\nhost: {host}\r\n")).await,
        "400"
    );
    assert_eq!(
        ask(format!("GET /health HTTP/1.1\r\nhost: {host}\r\nhost: evil.example\r\n")).await,
        "400"
    );
    assert_eq!(ask(format!("GET http://{host}/health HTTP/1.1\r\nhost: {host}\r\n")).await, "200");
    assert_eq!(
        ask(format!("GET http://evil.example/health HTTP/1.1\r\nhost: {host}\r\n")).await,
        "400"
    );
}
