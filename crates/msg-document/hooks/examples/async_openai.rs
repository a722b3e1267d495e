//! `async-openai`: a request is mended before it is sent, by the methods that take any JSON (feature `byot`).

use async_openai::{Client, config::OpenAIConfig, error::OpenAIError};
use serde_json::{Value, json};

/// The answer to a request with its history mended.
async fn create(client: &Client<OpenAIConfig>, request: Value) -> Result<Value, OpenAIError> {
    let mended = serde_json::from_slice(&msg_hooks::mended(request.to_string().as_bytes()));
    client.chat().create_byot(mended.unwrap_or(request)).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let config = OpenAIConfig::new().with_api_base(msg_hooks::endpoint()).with_api_key("x");
    let client = Client::with_config(config);
    let call = json!({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}});
    let request = json!({"model": "m", "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "user", "content": "well?"},
    ]});
    let plain: Result<Value, _> = client.chat().create_byot(request.clone()).await;
    println!("async-openai, without: {}", plain.expect_err("because the call has no result"));
    let answer = create(&client, request).await.expect("because it was mended");
    assert_eq!(answer["choices"][0]["message"]["content"], "fine");
    println!("async-openai, with: fine");
}
