//! Requests of the Messages API: the messages, `system` first among them, and every other member raw and
//! in its place (AN-1).

use msg_codec::codec::{self, Body, RequestForm, RequestParts};
use msg_core::{Code, Diagnostic, Message, Origin, Report, request::RequestHead};

use crate::{
    MessagesResponse, WriteOptions, head,
    read::{read_messages, read_system},
    shape::ANTHROPIC,
    write::written,
};

/// A request for a message.
///
/// ```
/// use msg_anthropic::{ReadOptions, WriteOptions, messages};
///
/// let json = br#"{"model":"claude-x","max_tokens":9.0,"system":"Be brief.","messages":[]}"#;
/// let (document, _) = messages::read(json, &ReadOptions::new())?;
/// let messages::Document::Request(request) = &document else {
///     unreachable!("an object with messages is a request")
/// };
/// assert_eq!(request.body.parse::<String>("model").as_deref(), Some("claude-x"));
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_anthropic::Error>(())
/// ```
///
/// `from_head` makes one of messages that asks what a head asks (AN-21), and reports what has no place.
///
/// ```
/// use msg_anthropic::{MessagesRequest, WriteOptions, messages::Document};
/// use msg_core::{Message, request::RequestHead};
///
/// let head = RequestHead { max_tokens: Some(9), stop: vec!["x".into()], ..RequestHead::default() };
/// let chat = vec![Message::system("Be brief."), Message::user("hi")];
/// let (request, report) = MessagesRequest::from_head(&head, chat);
/// assert!(report.is_empty());
/// let mut out = Vec::new();
/// Document::Request(request).write(&WriteOptions::new(), &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}],"#,
///         r#""stop_sequences":["x"]}"#,
///     ),
/// );
/// ```
///
/// The API demands `max_tokens`: a head without it gives a request that says so in its report
/// (`convert::missing-max-tokens`, an error).
pub type MessagesRequest = codec::Request<MessagesForm>;

/// What the requests of the Messages API are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesForm;

impl RequestForm for MessagesForm {
    type Options = WriteOptions;
    type Response = MessagesResponse;

    const ORIGIN: Origin = ANTHROPIC;
    const HELD: &'static [&'static str] = &["messages", "system"];
    const RESPONSE: &'static str = "content";
    const EXPECTED: &'static str =
        "a list of messages, an object with messages, or one with content and role";
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: |reader, cx| read_system(reader.raw()?, cx),
        list: read_messages,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, _: &[Message], body: &mut Body) -> Report {
        body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
        body.write_optional("max_tokens", head.max_tokens, |it, n| it.u64(n));
        body.hold("messages");
        let mut report = Report::new();
        if head.max_tokens.is_none() {
            let code = Code::new("convert::missing-max-tokens");
            report.push(Diagnostic::error(code, "`max_tokens` is missing, which the API demands"));
        }
        report.append(head::write(head, body));
        report
    }
}
