//! The case file of headers and of built requests.

use msg_core::{RawJson, native};
use msg_openai::{ChatRequest, ClientHeaders, Function, ToolChoice};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Case {
    unit: String,
    input: RawJson,
}

#[test]
fn units() {
    testkit::rows!("wire/unit.jsonl").check_expect(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        match &*case.unit {
            "client_headers" => headers(&case),
            "chat_request" => request(&case),
            other => panic!("no unit {other}"),
        }
    });
}

fn headers(case: &Case) -> String {
    let input: BTreeMap<String, String> = case.input.parse().unwrap();
    let with = |it: ClientHeaders<'static>, (name, value): (&String, &String)| {
        it.with(name, value.clone()).unwrap_or_else(|| panic!("no header value {name}"))
    };
    let headers = input.iter().fold(ClientHeaders::new(), with);
    let found: Vec<_> = headers.iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (_, value) in &found {
        assert!(value.bytes().all(|it| (0x20..=0x7e).contains(&it)), "{value:?}");
    }
    serde_json::json!(found).to_string()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    model: String,
    messages: RawJson,
    #[serde(default)]
    tools: Vec<ToolInput>,
    tool_choice: Option<RawJson>,
    parallel_tool_calls: Option<bool>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    stream: Option<bool>,
    include_usage: Option<bool>,
    seed: Option<i64>,
    extra: Option<RawJson>,
}

#[derive(Deserialize)]
struct ToolInput {
    name: String,
    description: Option<String>,
    parameters: RawJson,
    strict: Option<bool>,
}

fn set<T>(
    request: ChatRequest,
    value: Option<T>,
    set: impl FnOnce(ChatRequest, T) -> ChatRequest,
) -> ChatRequest {
    match value {
        Some(value) => set(request, value),
        None => request,
    }
}

fn request(case: &Case) -> String {
    let input: Input = case.input.parse().unwrap();
    let (messages, _) = native::read(input.messages.text().as_bytes()).unwrap();
    // Set in another order than the output.
    let mut it = ChatRequest::new(&input.model, messages);
    if let Some(extra) = &input.extra {
        let mut reader = msg_json::Reader::from_text(extra.text());
        reader.begin_object().unwrap();
        while let Some(key) = reader.next_key().unwrap() {
            it = it.extra(key.text, RawJson::new(reader.raw().unwrap()).unwrap());
        }
    }
    it = set(it, input.seed, ChatRequest::seed);
    it = set(it, input.include_usage, ChatRequest::include_usage);
    it = set(it, input.stream, ChatRequest::stream);
    it = set(it, input.max_completion_tokens, ChatRequest::max_completion_tokens);
    it = set(it, input.max_tokens, ChatRequest::max_tokens);
    it = set(it, input.top_p, ChatRequest::top_p);
    it = set(it, input.temperature, ChatRequest::temperature);
    it = set(it, input.parallel_tool_calls, ChatRequest::parallel_tool_calls);
    it = set(it, input.tool_choice.as_ref().map(choice), |it, choice| it.tool_choice(&choice));
    if !input.tools.is_empty() {
        let tools: Vec<_> = input.tools.iter().map(tool).collect();
        it = it.tools(&tools);
    }
    let mut out = Vec::new();
    let report = it.write(&mut out);
    let found = String::from_utf8(out).unwrap();
    format!(r#"{{"request":{found},"report":{}}}"#, serde_json::json!(report))
}

fn choice(raw: &RawJson) -> ToolChoice {
    match raw.parse::<String>().as_deref() {
        Ok("auto") => ToolChoice::Auto,
        Ok("none") => ToolChoice::None,
        Ok("required") => ToolChoice::Required,
        Ok(other) => panic!("no choice {other}"),
        Err(_) => ToolChoice::Tool(
            raw.parse::<BTreeMap<String, String>>().unwrap().remove("name").unwrap(),
        ),
    }
}

fn tool(it: &ToolInput) -> Function {
    Function {
        name: it.name.clone(),
        description: it.description.clone(),
        parameters: Some(it.parameters.clone()),
        strict: it.strict,
        ..Function::default()
    }
}

/// A request with members of another type around it, as of a line of a batch.
#[derive(serde::Serialize)]
struct Flat {
    custom_id: u32,
    #[serde(flatten)]
    request: ChatRequest,
}

#[test]
fn a_request_is_flattened_by_its_members() {
    let request = ChatRequest::new("m", vec![msg_core::Message::user("q")]);
    let alone = serde_json::to_string(&request).unwrap();
    let flat = serde_json::to_string(&Flat { custom_id: 7, request }).unwrap();
    assert_eq!(flat, format!(r#"{{"custom_id":7,{}"#, &alone[1..]));
}
