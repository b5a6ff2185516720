//! OpenAI's API: shapes, log-probabilities to the bit, streams, stops and errors.

use crate::common::{self, Server};
use memo::readout::{BACKOFF, best_at, score};
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use serde_json::{Value, json};
use std::sync::Arc;

const OWL: &str = "The owl reads at night. Über allen Gipfeln ist Ruh.";

async fn served() -> (Server, common::Client) {
    let server = Server::small().await;
    let mut client = server.client().await;
    client.ok("/api/documents", &json!({"text": OWL, "id": "owl"})).await;
    (server, client)
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

#[tokio::test]
async fn echo_gives_the_library_s_own_scores() {
    let (_server, mut client) = served().await;
    for text in [OWL, "The cat reads at", "zzz"] {
        let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
        let asked = json!({"prompt": [tokens.clone()], "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": true, "seed": 1});
        let answer = client.ok("/v1/completions", &asked).await;
        let logprobs = &answer["choices"][0]["logprobs"];
        let given = floats(&logprobs["token_logprobs"]);
        assert_eq!(
            given.len(),
            tokens.len() + 1,
            "one for each token of the prompt, and one generated"
        );
        assert!(logprobs["token_logprobs"][0].is_null());
        let mut memory = fresh();
        memory.memorize(&OWL.bytes().map(u32::from).collect::<Vec<_>>()).unwrap();
        let expected = score(&memory, &BACKOFF, &tokens).unwrap();
        assert_eq!(given[1..tokens.len()], expected[1..tokens.len()], "bit for bit");
        let best = best_at(&memory, &BACKOFF, &tokens, 0..tokens.len() + 1).unwrap();
        for (p, top) in logprobs["top_logprobs"].as_array().unwrap().iter().enumerate().skip(1) {
            let top = top.as_object().unwrap();
            let most = top.values().map(|v| v.as_f64().unwrap()).fold(f64::NEG_INFINITY, f64::max);
            let token = tokens.get(p).copied().unwrap_or(best[p]);
            assert_eq!(given[p] == most, token == best[p], "position {p} of {text:?}");
        }
        assert_eq!(answer["usage"]["prompt_tokens"], tokens.len());
    }
}

/// An empty memory as the served model has it.
fn fresh() -> Memory {
    let new = common::small();
    let settings = Settings::new(257, 256, new.seed).unwrap().with_words();
    let words = Words::new(new.tokenizer.pieces());
    Memory::with_words(settings, Some(Arc::new(words))).unwrap()
}

#[tokio::test]
async fn prompts_in_all_forms() {
    let (_server, mut client) = served().await;
    let owl: Vec<u32> = "The owl".bytes().map(u32::from).collect();
    let forms = [json!("The owl"), json!(["The owl", "The owl"]), json!(owl), json!([owl, owl])];
    for prompt in forms {
        let answer = client
            .ok(
                "/v1/completions",
                &json!({"model": "memo", "prompt": prompt, "max_tokens": 6, "user": "me"}),
            )
            .await;
        for (index, choice) in answer["choices"].as_array().unwrap().iter().enumerate() {
            assert_eq!((&choice["text"], &choice["index"]), (&json!(" reads"), &json!(index)));
            assert_eq!(choice["finish_reason"], "length");
        }
    }
    let answer = client.ok("/v1/completions", &json!({"prompt": "ist Ruh", "max_tokens": 9})).await;
    assert_eq!(
        (&answer["choices"][0]["text"], &answer["choices"][0]["finish_reason"]),
        (&json!("."), &json!("stop"))
    );
    let answer = client
        .ok(
            "/v1/completions",
            &json!({"prompt": "The owl", "stop": ["at n", "zz"], "max_tokens": 40}),
        )
        .await;
    assert_eq!(
        (&answer["choices"][0]["text"], &answer["choices"][0]["finish_reason"]),
        (&json!(" reads "), &json!("stop"))
    );
    // A text that is not known ends there; tokens are meant as they are, and something follows them.
    let unknown = json!({"prompt": "@#", "max_tokens": 3});
    let answer = client.ok("/v1/completions", &unknown).await;
    assert_eq!(answer["choices"][0]["text"], "", "{answer}");
    let mut scored = unknown.clone();
    scored["logprobs"] = json!(1);
    assert_eq!(client.ok("/v1/completions", &scored).await["choices"][0]["text"], "");
    let answer = client.ok("/v1/completions", &json!({"prompt": [64, 35], "max_tokens": 3})).await;
    assert_ne!(answer["choices"][0]["text"], "", "{answer}");
    let warm = json!({"prompt": "The", "temperature": 9, "n": 3, "seed": 5, "max_tokens": 20});
    let (a, b) =
        (client.ok("/v1/completions", &warm).await, client.ok("/v1/completions", &warm).await);
    assert_eq!(a["choices"], b["choices"]);
    assert_ne!(a["choices"][0]["text"], a["choices"][1]["text"]);
}

#[tokio::test]
async fn streams_say_the_same() {
    let (_server, mut client) = served().await;
    let asked = json!({"prompt": "night. ", "max_tokens": 30, "logprobs": 2, "echo": true});
    let whole = client.ok("/v1/completions", &asked).await;
    let mut streamed = asked.clone();
    streamed["stream"] = json!(true);
    streamed["stream_options"] = json!({"include_usage": true});
    let answer = client.post("/v1/completions", &streamed).await;
    assert!(answer.text().ends_with("data: [DONE]\n\n"));
    let events = answer.events();
    let choices: Vec<&Value> = events.iter().filter_map(|event| event["choices"].get(0)).collect();
    let text: String = choices.iter().map(|choice| choice["text"].as_str().unwrap()).collect();
    assert_eq!(json!(text), whole["choices"][0]["text"]);
    assert!(text.contains("Über"));
    let tokens: Vec<&Value> =
        choices.iter().flat_map(|c| c["logprobs"]["text_offset"].as_array().unwrap()).collect();
    assert_eq!(json!(tokens), whole["choices"][0]["logprobs"]["text_offset"]);
    assert_eq!(choices.last().unwrap()["finish_reason"], whole["choices"][0]["finish_reason"]);
    assert_eq!(events.last().unwrap()["usage"], whole["usage"]);

    let chat = json!({"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "The owl"}]}], "max_completion_tokens": 6, "logprobs": true, "top_logprobs": 2});
    let whole = client.ok("/v1/chat/completions", &chat).await;
    assert_eq!(whole["choices"][0]["message"]["content"], " reads");
    assert_eq!(whole["choices"][0]["logprobs"]["content"][1]["token"], "r");
    assert_eq!(
        whole["choices"][0]["logprobs"]["content"][1]["top_logprobs"].as_array().unwrap().len(),
        2
    );
    let mut streamed = chat.clone();
    streamed["stream"] = json!(true);
    let answer = client.post("/v1/chat/completions", &streamed).await;
    let text: String = answer
        .events()
        .iter()
        .filter_map(|e| e["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(text, " reads");
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_by_name() {
    let (_server, mut client) = served().await;
    let cases = [
        (json!({"prompt": "a", "suffix": "b"}), 400, "suffix"),
        (json!({"prompt": "a", "best_of": 2}), 400, "best_of"),
        (json!({"prompt": "a", "logit_bias": {"5": 1}}), 400, "logit_bias"),
        (json!({"prompt": "a", "presence_penalty": 2.5}), 400, "presence_penalty"),
        (json!({"prompt": "a", "frequency_penalty": -3}), 400, "frequency_penalty"),
        (json!({"prompt": "a", "temperature": -1}), 400, "temperature"),
        (json!({"prompt": "a", "top_p": 1.5}), 400, "top_p"),
        (json!({"prompt": "a", "n": 0}), 400, "n"),
        (json!({"prompt": "a", "logprobs": 21}), 400, "logprobs"),
        (json!({"prompt": vec![vec![1]; 3000]}), 400, "prompt"),
        (json!({"prompt": "a", "stop": vec!["a"; 17]}), 400, "stop"),
    ];
    for (body, status, param) in cases {
        let answer = client.post("/v1/completions", &body).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["param"]),
            (status, &json!(param)),
            "{body}"
        );
    }
    let harmless = json!({"prompt": "a", "best_of": 1, "presence_penalty": 0, "logit_bias": null, "suffix": null, "anything": {"else": 1}});
    client.ok("/v1/completions", &harmless).await;
    // There is one model, so any name is its.
    let answer = client.ok("/v1/completions", &json!({"model": "other", "prompt": "a"})).await;
    assert_eq!(answer["model"], "memo");
    let many = json!({"prompt": ["a", "b"], "n": 5, "max_tokens": 16_384});
    let answer = client.post("/v1/completions", &many).await;
    assert_eq!((answer.status, &answer.json()["error"]["param"]), (400, &json!("max_tokens")));
    assert!(answer.text().contains("10 completions of 16384 tokens"), "{}", answer.text());
    for bad in ["{", "[]", "{\"prompt\": 5}", "{\"prompt\": [1, \"a\"]}", ""] {
        let head = [("content-type", "application/json")];
        let answer = client.send(hyper::Method::POST, "/v1/completions", &head, bad.into()).await;
        assert_eq!(answer.status, 400, "{bad}: {}", answer.text());
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
    }
    let tools =
        json!({"messages": [{"role": "user", "content": "a"}], "tools": [{"type": "function"}]});
    assert_eq!(client.post("/v1/chat/completions", &tools).await.json()["error"]["param"], "tools");
    assert_eq!(client.post("/v1/chat/completions", &json!({"messages": []})).await.status, 400);
    assert_eq!(client.found("/v1/models").await["data"][0]["id"], "memo");
    assert_eq!(client.found("/v1/models/other").await["id"], "memo");
    let tokens = client.ok("/tokenize", &json!({"prompt": "owl"})).await;
    assert_eq!(tokens["tokens"], json!([111, 119, 108]));
    assert_eq!(
        client.ok("/detokenize", &json!({"tokens": [111, 119, 108]})).await["prompt"],
        "owl"
    );
    let info = client.found("/tokenizer_info").await;
    assert_eq!(
        client.ok("/tokenize", &json!({"prompt": info["eos_token"]})).await["tokens"],
        json!([256])
    );
}

#[tokio::test]
async fn penalties_change_what_is_said_and_zero_nothing() {
    let (_server, mut client) = served().await;
    let text = "ping pong ping pong ping pong ping done. ".repeat(8);
    client.ok("/api/documents", &json!({"text": text, "id": "ping"})).await;
    for temperature in [0, 1] {
        let plain = json!({"prompt": "ping", "max_tokens": 60, "temperature": temperature, "seed": 3, "logprobs": 2});
        let with = |name: &str, value: f64| {
            let mut asked = plain.clone();
            asked[name] = json!(value);
            asked
        };
        let answer = client.ok("/v1/completions", &plain).await["choices"].clone();
        for name in ["frequency_penalty", "presence_penalty"] {
            assert_eq!(client.ok("/v1/completions", &with(name, 0.0)).await["choices"], answer);
            let other = client.ok("/v1/completions", &with(name, 2.0)).await["choices"].clone();
            assert_ne!(other[0]["text"], answer[0]["text"], "{name}");
        }
    }
    let native = json!({"prompt": "ping", "max_tokens": 60, "guess": true});
    let mut penalized = native.clone();
    penalized["frequency_penalty"] = json!(2);
    let plain = client.ok("/api/complete", &native).await;
    assert_ne!(client.ok("/api/complete", &penalized).await["completion"], plain["completion"]);
    penalized["frequency_penalty"] = json!(5);
    let refused = client.post("/api/complete", &penalized).await;
    assert_eq!(refused.json()["error"]["message"], "frequency_penalty must be between -2 and 2");
}

#[tokio::test]
async fn responses_in_their_plain_form() {
    let (_server, mut client) = served().await;
    let asked = json!({"model": "memo", "input": "The owl", "max_output_tokens": 6, "metadata": {"a": "b"}});
    let answer = client.ok("/v1/responses", &asked).await;
    assert_eq!(answer["object"], "response");
    assert_eq!(answer["output"][0]["content"][0]["text"], " reads");
    assert_eq!((&answer["status"], &answer["metadata"]["a"]), (&json!("incomplete"), &json!("b")));
    assert_eq!(answer["incomplete_details"]["reason"], "max_output_tokens");
    assert_eq!(answer["usage"]["input_tokens"], 7);
    assert_eq!(answer["usage"]["output_tokens"], 6);

    // Messages in both of their forms, and instructions before them.
    let parts = json!([{"type": "input_text", "text": "The owl"}]);
    for input in [
        json!([{"role": "user", "content": "The owl"}]),
        json!([{"type": "message", "role": "user", "content": parts}]),
        json!([{"role": "developer", "content": "x"}, {"role": "user", "content": parts}]),
    ] {
        let asked = json!({"input": input, "instructions": "y", "max_output_tokens": 6});
        let answer = client.ok("/v1/responses", &asked).await;
        assert_eq!(answer["output"][0]["content"][0]["text"], " reads", "{input}");
        assert_eq!(answer["instructions"], "y");
    }

    let mut streamed = asked.clone();
    streamed["stream"] = json!(true);
    let events = client.post("/v1/responses", &streamed).await;
    assert!(!events.text().contains("[DONE]"));
    let events = events.events();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ];
    assert_eq!(kinds[..4], expected);
    let expected = [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.incomplete",
    ];
    assert_eq!(kinds[kinds.len() - 4..], expected);
    let deltas = events.iter().filter(|event| event["type"] == "response.output_text.delta");
    let text: String = deltas.map(|event| event["delta"].as_str().unwrap()).collect();
    assert_eq!(text, " reads");
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let last = &events.last().unwrap()["response"];
    assert_eq!(
        (&last["output"][0]["content"], &last["usage"]),
        (&answer["output"][0]["content"], &answer["usage"])
    );

    for (name, value) in [
        ("tools", json!([{"type": "function", "name": "look"}])),
        ("previous_response_id", json!("resp-1")),
        ("conversation", json!("conv-1")),
        ("background", json!(true)),
        ("store", json!(true)),
        ("include", json!(["message.output_text.logprobs"])),
        ("text", json!({"format": {"type": "json_object"}})),
        ("n", json!(2)),
        ("temperature", json!(-1)),
        ("input", json!([])),
        ("input", json!([{"type": "function_call_output", "output": "x"}])),
        (
            "input",
            json!([{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]),
        ),
        ("input", json!(5)),
    ] {
        let mut asked = asked.clone();
        asked[name] = value;
        let answer = client.post("/v1/responses", &asked).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["param"]),
            (400, &json!(name)),
            "{}",
            answer.text()
        );
    }
    let harmless = json!({"input": "The owl", "tools": [], "store": false, "previous_response_id": null,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "truncation": "disabled", "max_output_tokens": 6});
    client.ok("/v1/responses", &harmless).await;
}
