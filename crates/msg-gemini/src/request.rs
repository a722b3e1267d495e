//! Requests of `generateContent`: the contents, `systemInstruction` first among them, and every other
//! member raw and in its place (GE-1).

use msg_codec::codec::{self, Body, RequestForm, RequestParts};
use msg_core::{Message, Origin, Report, request::RequestHead};
use msg_json::Kind;

use crate::{
    GenerateResponse, WriteOptions, head,
    read::{read_contents, read_system},
    shape::GEMINI,
    write::written,
};

/// A request for content.
///
/// ```
/// use msg_gemini::{ReadOptions, WriteOptions, contents};
///
/// let json = br#"{"contents":"Hi","system_instruction":{"parts":[{"text":"Be brief."}]},"tools":[]}"#;
/// let (document, _) = contents::read(json, &ReadOptions::new())?;
/// let contents::Document::Request(request) = &document else {
///     unreachable!("an object with contents is a request")
/// };
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// assert!(request.body.get("tools").is_some());
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
///
/// `from_head` makes one of messages that asks what a head asks (AN-21), and reports what has no place.
///
/// ```
/// use msg_core::{Message, request::RequestHead};
/// use msg_gemini::{GenerateRequest, WriteOptions, contents::Document};
///
/// let head = RequestHead { max_tokens: Some(9), stream: Some(true), ..RequestHead::default() };
/// let (request, report) = GenerateRequest::from_head(&head, vec![Message::user("Hi")]);
/// assert_eq!(report.len(), 1, "streaming is another method");
/// let mut out = Vec::new();
/// Document::Request(request).write(&WriteOptions::new(), &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":9}}"#,
/// );
/// ```
pub type GenerateRequest = codec::Request<Generate>;

/// What the requests of `generateContent` are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Generate;

impl RequestForm for Generate {
    type Options = WriteOptions;
    type Response = GenerateResponse;

    const ORIGIN: Origin = GEMINI;
    const HELD: &'static [&'static str] = &["contents", "systemInstruction", "system_instruction"];
    const KINDS: &'static [Kind] = &[Kind::Array, Kind::Object, Kind::String];
    const RESPONSE: &'static str = "candidates";
    const EXPECTED: &'static str =
        "a list of contents, an object with contents, or one with candidates";
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: read_system,
        list: read_contents,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, _: &[Message], body: &mut Body) -> Report {
        body.hold("contents");
        head::write(head, body)
    }
}
