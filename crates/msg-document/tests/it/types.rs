//! Small documents of each wire format, every member of which is replaced by values of all types.

use serde_json::json;

use crate::wrong_types::{Sample, a_value_of_a_wrong_type_is_kept};

fn samples() -> Vec<Sample> {
    let chat = json!({"messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "name": "ann", "content": [
            {"type": "text", "text": "what is this?"},
            {"type": "image_url", "image_url": {"url": "https://e.x/a.png", "detail": "low"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}}]},
        {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"n\":1}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "thanks"}]});
    let responses = json!({"input": [
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "what is this?"},
            {"type": "input_image", "image_url": "https://e.x/a.png", "detail": "low"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{\"n\":1}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a cat"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A cat."}]},
        {"role": "user", "content": "thanks"}]});
    let anthropic = json!({"system": "be brief", "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "what is this?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
            {"type": "document", "title": "a.pdf", "source": {"type": "url", "url": "https://e.x/a.pdf"}}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "let me look"},
            {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "is_error": false, "content": [{"type": "text", "text": "a cat"}]},
            {"type": "text", "text": "and?"}]},
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "thanks"}]});
    let gemini = json!({"systemInstruction": {"parts": [{"text": "be brief"}]}, "contents": [
        {"role": "user", "parts": [
            {"text": "what is this?"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://e.x/a.pdf"}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"n": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "a cat"}}}]},
        {"role": "model", "parts": [{"text": "A cat."}]},
        {"role": "user", "parts": [{"text": "thanks"}]}]});
    let bedrock = json!({"messages": [
        {"role": "user", "content": [{"text": "what is this?"}]},
        {"role": "assistant", "content": [{"text": "let me look"},
            {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"n": 1}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "a cat"}]}}]},
        {"role": "assistant", "content": [{"text": "A cat."}]},
        {"role": "user", "content": [{"text": "thanks"}]}]});
    let interactions = json!({"input": [
        {"type": "user_input", "content": [{"type": "text", "text": "what is this?"}]},
        {"type": "function_call", "id": "c1", "name": "look", "arguments": {"n": 1}},
        {"type": "function_result", "call_id": "c1", "name": "look", "result": "a cat"},
        {"type": "model_output", "content": [{"type": "text", "text": "A cat."}]},
        {"type": "user_input", "content": [{"type": "text", "text": "thanks"}]}]});
    let sample = |format, profile, json| Sample { format, profile, json };
    vec![
        sample("openai", "openai", chat),
        sample("responses", "openai-responses", responses),
        sample("anthropic", "anthropic", anthropic),
        sample("gemini", "gemini", gemini),
        sample("bedrock", "bedrock", bedrock),
        sample("interactions", "gemini-interactions", interactions),
    ]
}

#[test]
fn values_of_wrong_types_are_kept_mended_and_said() {
    let (mut tried, mut broken) = (0, Vec::new());
    for sample in samples() {
        let (n, found) = a_value_of_a_wrong_type_is_kept(&sample);
        tried += n;
        broken.extend(found);
    }
    assert!(tried > 1000, "only {tried} documents were tried");
    assert!(broken.is_empty(), "{} of {tried} are broken:\n{}", broken.len(), broken.join("\n"));
}
