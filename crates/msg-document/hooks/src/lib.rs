//! Shared code of the recipes in `examples/`: the repair of a request's body, and an endpoint on loopback that refuses
//! a call without its result, as the provider does. Each recipe is run by `cargo xtask interop hooks`: refused without
//! the hook, answered with it (RE-22).

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use msg_document::{RepairOptions, options_from_json, repair};
use serde_json::Value;

/// The body of a Chat Completions request with its history mended; one that cannot be read stays as it is (RE-3).
pub fn mended(body: &[u8]) -> Vec<u8> {
    let options: RepairOptions = match options_from_json(br#"{"from": "openai", "profile": "openai"}"#) {
        Ok(options) => options,
        Err(_) => return body.to_vec(),
    };
    repair(body, &options).map_or_else(|_| body.to_vec(), |it| it.document.into())
}

/// Starts the endpoint; gives the base URL of its API.
///
/// # Panics
///
/// Panics if no port is free.
pub fn endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("because a port is free");
    let address = listener.local_addr().expect("because it is bound");
    thread::spawn(move || listener.incoming().flatten().for_each(|it| drop(answer(it))));
    format!("http://{address}/v1")
}

const FINE: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;
const REFUSED: &str =
    r#"{"error":{"message":"no response to tool call c1","type":"invalid_request_error","param":null,"code":null}}"#;

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut part = [0; 4096];
    while !is_whole(&request) {
        match stream.read(&mut part)? {
            0 => return Ok(()),
            n => request.extend_from_slice(&part[..n]),
        }
    }
    let begin = request.windows(4).position(|it| it == b"\r\n\r\n").map_or(0, |it| it + 4);
    let body: Value = serde_json::from_slice(&request[begin..]).unwrap_or_default();
    let (status, body) = if is_paired(&body) { ("200 OK", FINE) } else { ("400 Bad Request", REFUSED) };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Whether each call has its result right after it, and each result its call.
fn is_paired(body: &Value) -> bool {
    let mut open: Vec<&Value> = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "tool" {
            let Some(at) = open.iter().position(|it| **it == message["tool_call_id"]) else { return false };
            open.remove(at);
            continue;
        }
        if !open.is_empty() {
            return false;
        }
        open.extend(message["tool_calls"].as_array().into_iter().flatten().map(|it| &it["id"]));
    }
    open.is_empty()
}

/// Whether the request has the body that its head announces.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    let lengths = head.lines().filter_map(|it| it.split_once(':'));
    let mut lengths = lengths.filter(|it| it.0.eq_ignore_ascii_case("content-length"));
    let length: usize = lengths.next().and_then(|it| it.1.trim().parse().ok()).unwrap_or(0);
    request.len() >= head.len() + 4 + length
}
