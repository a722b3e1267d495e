//! `rig`: a middleware of the HTTP client mends the body of every request, whole or streamed.
//!
//! rig 0.44 sends a call without its result as a text, so that the provider answers without the hook too; the middleware is
//! for what rig does not look at.

use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use rig_core::completion::message::{AssistantContent, AssistantMessage, ToolName};
use rig_core::completion::{CompletionRequest, Message};
use rig_core::http_client::middleware::HttpMiddleware;
use rig_core::http_client::{DynHttpClient, Result};
use rig_core::providers::openai::OpenAIConfig;
use rig_core::wasm_compat::WasmBoxedFuture;

struct Mend;

impl HttpMiddleware for Mend {
    fn before_request_body<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Uri,
        _: &'a HeaderMap,
        body: Bytes,
    ) -> WasmBoxedFuture<'a, Result<Bytes>> {
        Box::pin(async move { Ok(msg_hooks::mended(&body).into()) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut config = OpenAIConfig::new("x");
    config.base_url = msg_hooks::endpoint();
    let plain = config.clone().connect(rig_reqwest::shared());
    let hooked = config.connect(DynHttpClient::new(rig_reqwest::shared()).with_middleware(Mend));
    let name = ToolName::new("look").expect("because it is not empty");
    let call = AssistantContent::tool_call("c1", name, serde_json::json!({}));
    let history = [Message::user("hi"), Message::Assistant(AssistantMessage::new(vec![call]))];
    let request = CompletionRequest::new("well?").messages(history);
    let answer = plain.chat("m").call(request.clone()).await.expect("because rig sends the call as a text");
    println!("rig, without: {}", answer.text());
    let answer = hooked.chat("m").call(request).await.expect("because the hook keeps what is sound");
    assert_eq!(answer.text(), "fine");
    println!("rig, with: fine");
}
