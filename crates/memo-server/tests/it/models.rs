//! A server of several models: chosen by name, opened when asked for, and none in the way of another.

use crate::common::{Client, Server, small};
use memo_server::{Config, Limits, Models};
use memo_store::Store;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A folder with some models, served.
async fn folder(names: &[&str], limits: Limits) -> (Server, Client, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("models");
    std::fs::create_dir(&path).unwrap();
    for name in names {
        make(&path.join(format!("{name}.memo")), name);
    }
    let config = Config { limits, ..Config::default() };
    let first = path.join(format!("{}.memo", names.first().unwrap_or(&"none")));
    let server = Server::serving(Models::Folder(path.clone()), home, first, config).await;
    let client = server.client().await;
    (server, client, path)
}

/// A model that knows whose it is.
fn make(path: &Path, name: &str) {
    let mut store = Store::create(path, &small()).unwrap();
    let text = format!("This is the memory of {name}.");
    store.memorize([memo_store::NewDocument::text(text).with_id("own")], None).unwrap();
    store.close().unwrap();
}

const PROMPT: &str = "This is the memory of";

/// Whose memory answers, by each of the ways to ask.
async fn owner(client: &mut Client, path: &str, model: &str) -> String {
    let stop = json!(["."]);
    let asked = match path {
        "/v1/completions" => {
            json!({"model": model, "prompt": PROMPT, "max_tokens": 20, "stop": stop})
        }
        "/v1/chat/completions" => {
            json!({"model": model, "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 20, "stop": stop})
        }
        "/v1/responses" => json!({"model": model, "input": PROMPT, "stop": stop}),
        _ => json!({"prompt": PROMPT, "max_tokens": 20, "stop": stop}),
    };
    let answer = client.ok(path, &asked).await;
    let text = match path {
        "/v1/completions" => &answer["choices"][0]["text"],
        "/v1/chat/completions" => &answer["choices"][0]["message"]["content"],
        "/v1/responses" => &answer["output"][0]["content"][0]["text"],
        _ => &answer["completion"],
    };
    text.as_str().unwrap().trim().to_owned()
}

fn names(listed: &Value) -> Vec<&str> {
    listed.as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_model_answers_by_its_name_and_no_other() {
    let (server, mut client, _) = folder(&["anna", "ben"], Limits::default()).await;
    for name in ["anna", "ben"] {
        for path in ["/v1/completions", "/v1/chat/completions", "/v1/responses"] {
            assert_eq!(owner(&mut client, path, name).await, name, "{path}");
        }
        let native = format!("/api/complete?model={name}");
        assert_eq!(owner(&mut client, &native, "").await, name);
        let stats = client.found(&format!("/api/stats?model={name}")).await;
        assert_eq!(stats["model"], name);
    }
    let listed = client.found("/v1/models").await;
    let ids: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|m| &m["id"]).collect();
    assert_eq!(ids, ["anna", "ben"]);
    assert_eq!(client.found("/v1/models/ben").await["id"], "ben");

    // A change is of one of them.
    client
        .ok("/api/documents?model=ben", &json!({"text": "Ben likes herons.", "id": "likes"}))
        .await;
    assert_eq!(client.found("/api/documents?model=ben").await["total"], 2);
    assert_eq!(client.found("/api/documents?model=anna").await["total"], 1);
    assert_eq!(client.found("/api/tasks?model=anna").await["tasks"], json!([]));

    // Nobody is answered by a model that was not meant.
    let unknown = json!({"model": "carla", "prompt": PROMPT});
    for (path, body) in [
        ("/v1/completions", unknown),
        (
            "/v1/chat/completions",
            json!({"model": "carla", "messages": [{"role": "user", "content": "a"}]}),
        ),
        ("/v1/responses", json!({"model": "carla", "input": "a"})),
        ("/api/complete?model=carla", json!({"prompt": PROMPT})),
        ("/api/forget?model=carla", json!({"document": "own"})),
    ] {
        let answer = client.post(path, &body).await;
        assert_eq!(answer.status, 404, "{path}");
        let error = &answer.json()["error"];
        assert_eq!((&error["code"], &error["param"]), (&json!("model_not_found"), &json!("model")));
        let said = error["message"].as_str().unwrap();
        assert_eq!(said, r#"there is no model "carla"; this server has "anna", "ben""#);
    }
    assert_eq!(client.get("/v1/models/carla").await.status, 404);
    let answer = client.post("/api/forget", &json!({"document": "own"})).await;
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &error["param"]), (400, &json!("model")), "{error}");
    assert_eq!(error["message"], r#"say which `model`: this server has "anna", "ben""#);
    assert_eq!(client.get("/api/stats?model=anna&model=ben").await.status, 400);
    let (store, _home) = server.stop().await;
    assert_eq!(store.documents().unwrap().len(), 1);
}

/// Names are looked up, and never become paths.
#[tokio::test]
async fn hostile_names_reach_nothing() {
    let (server, mut client, path) = folder(&["anna"], Limits::default()).await;
    make(&path.parent().unwrap().join("outside.memo"), "outside");
    let absolute = path.join("anna.memo").display().to_string();
    let hostile = [
        "../outside",
        "../outside.memo",
        "..",
        ".",
        "anna.memo",
        "anna/",
        "anna\0",
        "./anna",
        "%2e%2e/outside",
        "ANNA ",
        "<script>",
        &absolute,
        &"x".repeat(10_000),
    ];
    for name in hostile {
        let answer = client.post("/v1/completions", &json!({"model": name, "prompt": "a"})).await;
        assert_eq!(answer.status, 404, "{name:?}");
        assert!(answer.body.len() < 1_000, "an error is short");
        let created = client.post("/api/models", &json!({"name": name})).await;
        assert_eq!(created.status, 400, "{name:?}: {}", created.text());
        assert_eq!(created.json()["error"]["param"], "name");
    }
    assert_eq!(client.get("/api/stats?model=..%2Foutside").await.status, 404);
    // Without a name, the only one is meant.
    assert_eq!(client.found("/api/stats").await["model"], "anna");
    let there = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(there, 2, "nothing was made beside the folder");
    drop(server);
}

#[cfg(unix)]
#[tokio::test]
async fn names_with_quotes_and_links_in_the_folder() {
    let (server, mut client, path) =
        folder(&["anna", "a \"b\" \\ <c> & ü"], Limits::default()).await;
    let outside = path.parent().unwrap().join("outside.memo");
    make(&outside, "outside");
    std::os::unix::fs::symlink(&outside, path.join("link.memo")).unwrap();
    let odd = "a \"b\" \\ <c> & ü";
    assert_eq!(owner(&mut client, "/v1/completions", odd).await, odd);
    let encoded = "a%20%22b%22%20%5C%20%3Cc%3E%20%26%20%C3%BC";
    assert_eq!(client.found(&format!("/api/stats?model={encoded}")).await["model"], odd);
    // A link leads out of the folder, and is not followed.
    let listed = client.found("/api/models").await;
    assert_eq!(names(&listed["models"]), [odd, "anna"]);
    assert_eq!(client.get("/api/stats?model=link").await.status, 404);
    // Metrics stay readable.
    let metrics = client.get("/metrics").await;
    let expected = r#"memo_last_transaction{model="a \"b\" \\ <c> & ü"} 1"#;
    assert!(metrics.text().lines().any(|line| line == expected), "{}", metrics.text());
    drop(server);
}

#[tokio::test]
async fn models_come_and_go_while_they_are_served() {
    let (server, mut client, path) = folder(&["anna", "ben"], Limits::default()).await;
    assert_eq!(owner(&mut client, "/v1/completions", "ben").await, "ben");
    make(&path.join("carla.memo"), "carla");
    assert_eq!(owner(&mut client, "/v1/completions", "carla").await, "carla");

    // One that is removed is gone, open or not.
    std::fs::remove_dir_all(path.join("ben.memo")).unwrap();
    assert_eq!(client.get("/api/stats?model=ben").await.status, 404);
    let answer = client.post("/api/documents?model=ben", &json!({"text": "lost?"})).await;
    assert_eq!(answer.status, 404, "nothing is acknowledged that has no place");
    assert!(!path.join("ben.memo").exists());

    // One under another name is that one, and one that takes its place is another.
    std::fs::rename(path.join("carla.memo"), path.join("ben.memo")).unwrap();
    assert_eq!(owner(&mut client, "/v1/completions", "ben").await, "carla");
    assert_eq!(client.get("/api/stats?model=carla").await.status, 404);
    std::fs::rename(path.join("ben.memo"), path.join("dora.memo")).unwrap();
    make(&path.join("ben.memo"), "the second ben");
    assert_eq!(owner(&mut client, "/v1/completions", "ben").await, "the second ben");
    assert_eq!(owner(&mut client, "/v1/completions", "dora").await, "carla");
    client.ok("/api/documents?model=dora", &json!({"text": "Kept.", "id": "kept"})).await;

    std::fs::remove_dir_all(path.join("anna.memo")).unwrap();
    let listed = client.found("/api/models").await;
    assert_eq!(names(&listed["models"]), ["ben", "dora"]);
    let (_, keep) = {
        std::fs::create_dir(path.join("empty")).unwrap();
        make(&path.join("anna.memo"), "anna");
        server.stop().await
    };
    assert!(Store::open(&path.join("dora.memo")).unwrap().document("kept").is_ok());
    drop(keep);
}

#[tokio::test]
async fn a_model_that_cannot_be_opened_is_in_nobody_s_way() {
    let (server, mut client, path) = folder(&["anna", "ben"], Limits::default()).await;
    let ben = path.join("ben.memo");
    let config = std::fs::read_to_string(ben.join("model.toml")).unwrap();
    std::fs::write(ben.join("model.toml"), config.replace("seed = 7", "seed = 8")).unwrap();
    let answer = client.get("/api/stats?model=ben").await;
    assert_eq!(answer.status, 500);
    let said = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(said.contains("\"ben\" cannot be opened") && !said.contains("model.toml"), "{said}");
    assert_eq!(owner(&mut client, "/v1/completions", "anna").await, "anna");
    assert_eq!(client.get("/readyz").await.status, 200);
    // Repaired, it is there again.
    std::fs::write(ben.join("model.toml"), config).unwrap();
    assert_eq!(owner(&mut client, "/v1/completions", "ben").await, "ben");

    // One that another program writes is there when that is done.
    make(&path.join("carla.memo"), "carla");
    let other = Store::open(&path.join("carla.memo")).unwrap();
    let answer = client.get("/api/stats?model=carla").await;
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("written by another program"), "{}", answer.text());
    other.close().unwrap();
    assert_eq!(owner(&mut client, "/v1/completions", "carla").await, "carla");
    drop(server);
}

#[tokio::test]
async fn only_so_many_are_open_and_the_idlest_is_closed() {
    let limits = Limits { models: 2, ..Limits::default() };
    let (server, mut client, _) = folder(&["a", "b", "c"], limits).await;
    let open = |listed: Value| -> Vec<String> {
        let models = listed["models"].as_array().unwrap();
        let open = models.iter().filter(|model| model["open"] == true);
        open.map(|model| model["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(
        open(client.found("/api/models").await).is_empty(),
        "none is opened before it is needed"
    );
    for (name, expected) in
        [("a", vec!["a"]), ("b", vec!["a", "b"]), ("a", vec!["a", "b"]), ("c", vec!["a", "c"])]
    {
        client
            .ok(
                &format!("/api/documents?model={name}"),
                &json!({"text": format!("More of {name}.")}),
            )
            .await;
        assert_eq!(open(client.found("/api/models").await), expected);
    }
    // What was closed has kept what it was told.
    assert_eq!(client.found("/api/documents?model=b").await["total"], 2);
    assert_eq!(open(client.found("/api/models").await), ["b", "c"]);
    drop(server);
}

#[tokio::test]
async fn a_model_in_use_is_not_closed() {
    let limits = Limits { models: 1, tokens: 1 << 24, total: usize::MAX, ..Limits::default() };
    let (server, mut client, _) = folder(&["a", "b"], limits).await;
    let text = "round and ".repeat(500);
    client.ok("/api/documents?model=a", &json!({"text": text, "id": "round"})).await;
    let address = server.address;
    let long = tokio::spawn(async move {
        let asked = json!({"prompt": "round", "max_tokens": 1 << 24, "guess": true});
        Client::connect(address).await.post("/api/complete?model=a", &asked).await.status
    });
    while client.metric("memo_requests_open").await < 1 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let answer = client.get("/api/stats?model=b").await;
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(answer.text().contains("all of the 1 models"), "{}", answer.text());
    // Its client leaves.
    long.abort();
    while client.get("/api/stats?model=b").await.status == 503 {}
    assert_eq!(owner(&mut client, "/v1/completions", "b").await, "b");
    drop(server);
}

#[tokio::test]
async fn many_ask_at_once_for_what_is_not_open() {
    let (server, _, _) = folder(&["a", "b", "c"], Limits { models: 2, ..Limits::default() }).await;
    let asks = (0..24).map(|i| {
        let name = ["a", "b", "c"][i % 3];
        let address = server.address;
        tokio::spawn(async move {
            let mut client = Client::connect(address).await;
            loop {
                let path = format!("/api/documents?model={name}");
                let answer = client
                    .post(&path, &json!({"text": format!("Letter {i}."), "id": format!("l{i}")}))
                    .await;
                match answer.status {
                    200 => return,
                    // All places are in use: a client tries again.
                    503 => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
                    other => panic!("{other}: {}", answer.text()),
                }
            }
        })
    });
    let asks: Vec<_> = asks.collect();
    for ask in asks {
        ask.await.unwrap();
    }
    let mut client = server.client().await;
    for name in ["a", "b", "c"] {
        assert_eq!(client.found(&format!("/api/documents?model={name}")).await["total"], 9);
    }
    drop(server);
}

#[tokio::test]
async fn models_are_made_in_a_folder_and_nowhere_else() {
    let (server, mut client, path) = folder(&[], Limits::default()).await;
    let none = json!({"models": [], "can_create": true, "permission": "write"});
    assert_eq!(client.found("/api/models").await, none);
    let answer = client.get("/api/stats").await;
    assert_eq!(answer.status, 404);
    let message = "this server has no model yet; POST /api/models makes one";
    assert_eq!(answer.json()["error"]["message"], message);
    let made = client.post("/api/models", &json!({"name": "notes"})).await;
    assert_eq!((made.status, made.json()), (201, json!({"name": "notes", "open": true})));
    client.ok("/api/documents", &json!({"text": "The owl reads at night.", "id": "owl"})).await;
    assert_eq!(client.post("/api/models", &json!({"name": "notes"})).await.status, 409);
    std::fs::create_dir(path.join("taken.memo")).unwrap();
    assert_eq!(client.post("/api/models", &json!({"name": "taken"})).await.status, 409);
    drop(server);

    let one = Server::small().await;
    let mut client = one.client().await;
    let refused = client.post("/api/models", &json!({"name": "notes"})).await;
    assert_eq!(refused.status, 409, "{}", refused.text());
    // A server of one model answers to any name.
    client
        .ok("/api/documents?model=whatever", &json!({"text": "This is the memory of one."}))
        .await;
    for path in
        ["/v1/completions", "/v1/chat/completions", "/v1/responses", "/api/complete?model=x"]
    {
        assert_eq!(owner(&mut client, path, "gpt-4").await, "one");
    }
    assert_eq!(client.found("/api/models").await["can_create"], false);
}

/// One that was named at the start and is not there, or no more, is said to be gone.
#[tokio::test]
async fn named_models() {
    let home = tempfile::tempdir().unwrap();
    let (a, b) = (home.path().join("a.memo"), home.path().join("elsewhere"));
    make(&a, "a");
    let models = [("a", a.clone()), ("b", b)].map(|(name, path)| (name.to_owned(), path));
    let server = Server::serving(Models::Named(models.into()), home, a, Config::default()).await;
    let mut client = server.client().await;
    assert_eq!(owner(&mut client, "/v1/completions", "a").await, "a");
    let answer = client.get("/api/stats?model=b").await;
    assert_eq!(
        (answer.status, answer.json()["error"]["code"].as_str()),
        (404, Some("model_not_found"))
    );
    assert_eq!(client.post("/api/models", &json!({"name": "c"})).await.status, 409);
    let (store, _home) = server.stop().await;
    assert_eq!(store.documents().unwrap().len(), 1);
}

/// Turns are taken across all models: much that is asked of one does not hold up another.
#[tokio::test]
async fn long_requests_of_one_model_do_not_hold_up_another() {
    let limits = Limits { tokens: 1 << 24, total: usize::MAX, ..Limits::default() };
    let (server, mut client, _) = folder(&["a", "b"], limits).await;
    let text = "round and ".repeat(500);
    client.ok("/api/documents?model=a", &json!({"text": text, "id": "round"})).await;
    let long: Vec<_> = (0..8)
        .map(|_| {
            let address = server.address;
            tokio::spawn(async move {
                let asked = json!({"prompt": "round", "max_tokens": 1 << 24, "guess": true});
                Client::connect(address).await.post("/api/complete?model=a", &asked).await.status
            })
        })
        .collect();
    while client.metric("memo_requests_open").await < 8 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(owner(&mut client, "/v1/completions", "b").await, "b");
    client.ok("/api/documents?model=b", &json!({"text": "Ben likes herons.", "id": "likes"})).await;
    assert_eq!(client.delete("/api/documents/likes?model=b").await.status, 200);
    assert!(long.iter().all(|long| !long.is_finished()));
}
