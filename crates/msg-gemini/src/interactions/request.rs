//! Requests: the steps of `input`, `system_instruction` first among the messages, and every other member raw and in
//! its place (GI-1, GI-2).

use msg_codec::codec::{self, Body, Context, RequestForm, RequestParts, text_of};
use msg_core::{Error, Extra, Message, Origin, Part, Report, Role, request::RequestHead};
use msg_json::{Kind, Reader};

use super::read::read_steps;
use super::shape::INTERACTIONS;
use super::write::written;
use super::{Interacting, Interaction, head};
use crate::WriteOptions;

const SYSTEM: &str = "system_instruction";

/// A request for an interaction.
///
/// ```
/// use msg_gemini::{ReadOptions, WriteOptions, interactions};
///
/// let json = br#"{"model":"gemini-x","input":"Hi","system_instruction":"Be brief.","store":false}"#;
/// let (document, _) = interactions::read(json, &ReadOptions::new())?;
/// let interactions::Document::Request(request) = &document else {
///     unreachable!("an object with input is a request")
/// };
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// assert!(request.body.get("store").is_some());
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
///
/// `from_head` makes one of messages that asks what a head asks (GI-24), and reports what has no place.
///
/// ```
/// use msg_core::{Message, request::RequestHead};
/// use msg_gemini::{WriteOptions, interactions::{Document, InteractionRequest}};
///
/// let head = RequestHead { max_tokens: Some(9), stream: Some(true), ..RequestHead::default() };
/// let (request, report) = InteractionRequest::from_head(&head, vec![Message::user("Hi")]);
/// assert!(report.is_empty());
/// let mut out = Vec::new();
/// Document::Request(request).write(&WriteOptions::new(), &mut out);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"input":[{"type":"user_input","content":[{"type":"text","text":"Hi"}]}],"#,
///         r#""generation_config":{"max_output_tokens":9},"stream":true}"#,
///     ),
/// );
/// ```
pub type InteractionRequest = codec::Request<Interacting>;

/// Whether a request goes on with an interaction that the provider keeps (GI-27).
#[must_use]
pub fn is_continued(request: &InteractionRequest) -> bool {
    let previous = request.body.parse::<String>("previous_interaction_id");
    previous.is_some_and(|it| !it.is_empty())
}

impl RequestForm for Interacting {
    type Options = WriteOptions;
    type Response = Interaction;

    const ORIGIN: Origin = INTERACTIONS;
    const HELD: &'static [&'static str] = &["input", SYSTEM];
    const KINDS: &'static [Kind] = &[Kind::Array, Kind::Object, Kind::String];
    const RESPONSE: &'static str = "steps";
    const RESPONSE_WINS: bool = true;
    const EXPECTED: &'static str =
        "a list of steps, an object with input, or one with steps or outputs";
    const TELL_RESPONSE: &'static [(&'static str, Kind)] = &[("outputs", Kind::Array)];
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: read_system,
        list: read_steps,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, _: &[Message], body: &mut Body) -> Report {
        body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
        body.hold("input");
        head::write(head, body)
    }
}

/// What says nothing stays where it is.
fn read_system<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, Error> {
    let source = reader.raw()?;
    let text = text_of(source);
    if text.is_none() && source != "null" {
        cx.wrong_type(SYSTEM);
    }
    let Some(text) = text.filter(|it| !it.0.is_empty()) else { return Ok(None) };
    let parts = vec![Part::text(cx.text(text, SYSTEM))];
    cx.next_message();
    Ok(Some(Message { role: Role::System, parts, name: None, extra: Extra::default() }))
}
