//! The objects of Gemini contents: their known members in canonical order (GE-12) and in both spellings
//! (GE-2), their variants in real sources, and the types of their members (MS-29).

use msg_codec::codec::{BEDROCK, Found, Losses, Mended, Parts, Shape, Want, Wants, text_of};
use msg_core::Origin;
use msg_json::{Kind, Reader, to_text};

use crate::shape::part::KINDS;

pub(crate) const GEMINI: Origin = Origin::Gemini;

/// A content.
pub(crate) mod content {
    use super::Shape;

    pub(crate) const ROLE: u8 = 1;
    pub(crate) const PARTS: u8 = 2;

    pub(crate) const SHAPE: Shape = Shape::new(&["role", "parts"]);

    /// `role` was `""`, which means user.
    pub(crate) const ROLE_EMPTY: u8 = 1;
    /// `role` was the model's word: `assistant`, `tool`, `system`.
    pub(crate) const ROLE_OWN: u8 = 2;
    /// `role` was null.
    pub(crate) const ROLE_NULL: u8 = 3;
    /// `role` was `user`, although the message has another.
    pub(crate) const ROLE_USER: u8 = 4;
    /// `role` was `model`, although the message has another.
    pub(crate) const ROLE_MODEL: u8 = 5;
    /// `role` was `function`.
    pub(crate) const ROLE_FUNCTION: u8 = 6;
    /// `human` or `ai`.
    pub(crate) const ROLE_SPELLED: u8 = 7;

    /// `parts` was null.
    pub(crate) const PARTS_NULL: u8 = 1;
    /// `parts` was the only part.
    pub(crate) const PARTS_ONE: u8 = 2;
    /// The only part, a bare string, came without a content around it.
    pub(crate) const PARTS_BARE: u8 = 3;
}

/// A part: the object or text that names its kind comes first in all.
pub(crate) mod part {
    use super::Shape;

    /// The member that names the kind.
    pub(crate) const DATA: u8 = 1;
    pub(crate) const THOUGHT: u8 = 2;
    pub(crate) const SIGNATURE: u8 = 3;

    const fn shape(names: &'static [&'static str], aliases: &'static [&'static str]) -> Shape {
        Shape::with_aliases(names, aliases)
    }

    macro_rules! part {
        ($name:literal, $alias:literal) => {
            shape(
                &[
                    $name,
                    "thought",
                    "thoughtSignature",
                    "videoMetadata",
                    "mediaResolution",
                    "partMetadata",
                ],
                &[
                    $alias,
                    "",
                    "thought_signature",
                    "video_metadata",
                    "media_resolution",
                    "part_metadata",
                ],
            )
        };
    }

    pub(crate) const TEXT: Shape = part!("text", "");
    pub(crate) const CALL: Shape = part!("functionCall", "function_call");
    pub(crate) const RESPONSE: Shape = part!("functionResponse", "function_response");
    pub(crate) const INLINE: Shape = part!("inlineData", "inline_data");
    pub(crate) const FILE: Shape = part!("fileData", "file_data");

    /// The members of which a part has exactly one (GE-4), in both spellings.
    pub(crate) const KINDS: [(&str, &str); 9] = [
        ("text", "text"),
        ("inlineData", "inline_data"),
        ("fileData", "file_data"),
        ("functionCall", "function_call"),
        ("functionResponse", "function_response"),
        ("executableCode", "executable_code"),
        ("codeExecutionResult", "code_execution_result"),
        ("toolCall", "tool_call"),
        ("toolResponse", "tool_response"),
    ];

    /// The text was a bare string instead of a part.
    pub(crate) const DATA_BARE: u8 = 1;
}

/// A `functionCall`.
pub(crate) mod call {
    use super::Shape;

    pub(crate) const ID: u8 = 1;
    pub(crate) const NAME: u8 = 2;
    pub(crate) const ARGS: u8 = 3;

    pub(crate) const SHAPE: Shape = Shape::new(&["id", "name", "args"]);
}

/// A `functionResponse`.
pub(crate) mod response {
    use super::Shape;

    pub(crate) const ID: u8 = 1;
    pub(crate) const NAME: u8 = 2;
    pub(crate) const RESPONSE: u8 = 3;
    pub(crate) const PARTS: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["id", "name", "response", "parts"]);

    /// `response` was null.
    pub(crate) const RESPONSE_NULL: u8 = 1;
    /// `response` was a value that is not an object.
    pub(crate) const RESPONSE_VALUE: u8 = 2;
}

/// An `inlineData`, or a `fileData`.
pub(crate) mod media {
    use super::Shape;

    pub(crate) const MIME: u8 = 1;
    /// The base64, or the URI.
    pub(crate) const DATA: u8 = 2;
    pub(crate) const NAME: u8 = 3;

    pub(crate) const INLINE: Shape = Shape::with_aliases(
        &["mimeType", "data", "displayName"],
        &["mime_type", "", "display_name"],
    );
    pub(crate) const FILE: Shape = Shape::with_aliases(
        &["mimeType", "fileUri", "displayName"],
        &["mime_type", "file_uri", "display_name"],
    );
}

// The required types of the members of contents and parts (MS-29), as tables: how a value of another kind is
// interpreted.

/// A content.
pub(crate) const CONTENT: Want = Want::Object(&CONTENT_MEMBERS);

static CONTENT_MEMBERS: Wants = Wants::new(&[("parts", Want::Content(&PARTS))], &[]);

static PARTS: Parts = Parts {
    may_be_bare: true,
    may_be_null: true,
    kinds: &KINDS,
    ..Parts::new(part, |text| to_text(|it| it.object(|it| it.key("text").str(text))))
};

/// The intended `systemInstruction` for an invalid one.
pub(crate) fn mend_instruction(source: &str) -> Option<Mended> {
    let kind = Reader::from_text(source).peek().ok()?;
    let says_nothing = source.starts_with('[') && source[1..].trim_ascii_start() == "]";
    if says_nothing || matches!(kind, Kind::Object | Kind::String | Kind::Null) {
        return CONTENT.mend("", source);
    }
    let name = "systemInstruction";
    let parts = Want::Content(&PARTS).mend(name, source).map(|it| it.json);
    let parts = parts.as_deref().unwrap_or(source);
    let json = to_text(|it| it.object(|it| it.key("parts").raw(parts)));
    Some(Mended { json, notes: vec![format!("{name} must be a content, found {}", kind.name())] })
}

/// The required types of a part, by the member that determines its kind; unknown if that is not modelled.
fn part(source: &str) -> Found {
    static TEXT: Wants = Wants::new(
        &[
            ("text", Want::Text),
            ("thought", Want::Flag),
            ("thoughtSignature", Want::Opaque),
            ("thought_signature", Want::Opaque),
        ],
        &[&["text"]],
    );
    static CALL: Wants = Wants::new(
        &[
            ("functionCall", Want::Object(&CALL_BODY)),
            ("function_call", Want::Object(&CALL_BODY)),
            ("thoughtSignature", Want::Opaque),
            ("thought_signature", Want::Opaque),
        ],
        &[&["functionCall", "function_call"]],
    );
    static RESPONSE: Wants = Wants::new(
        &[
            ("functionResponse", Want::Object(&RESPONSE_BODY)),
            ("function_response", Want::Object(&RESPONSE_BODY)),
        ],
        &[&["functionResponse", "function_response"]],
    );
    static INLINE: Wants = Wants::new(
        &[("inlineData", Want::Object(&INLINE_BODY)), ("inline_data", Want::Object(&INLINE_BODY))],
        &[&["inlineData", "inline_data"]],
    );
    static FILE: Wants = Wants::new(
        &[("fileData", Want::Object(&FILE_BODY)), ("file_data", Want::Object(&FILE_BODY))],
        &[&["fileData", "file_data"]],
    );
    let mut reader = Reader::from_text(source);
    let (mut found, mut only_thinks, mut is_foreign) = (None, true, false);
    let mut has_members = false;
    if reader.begin_object().is_err() {
        return Found::NoPart;
    }
    while let Ok(Some(key)) = reader.next_key() {
        let is_null = matches!(reader.peek(), Ok(Kind::Null));
        let Ok(value) = reader.raw() else { return Found::Unknown };
        // Parts of other providers are reported elsewhere.
        is_foreign |= match &*key.text {
            "type" => text_of(value).is_some_and(|it| Losses::owner_of_type(&it.0).is_some()),
            name => Losses::owner_of_member(name).is_some_and(|it| it.1 == BEDROCK),
        };
        only_thinks &= key.text.starts_with("thought");
        has_members = true;
        let kind = KINDS.iter().find(|it| it.0 == key.text || it.1 == key.text);
        if let Some((name, _)) = kind.filter(|it| !is_null || it.0 == "text")
            && found.replace(*name).is_some()
        {
            return Found::Unknown;
        }
    }
    match found {
        Some("text") => Found::Known(&TEXT),
        Some("functionCall") => Found::Known(&CALL),
        Some("functionResponse") => Found::Known(&RESPONSE),
        Some("inlineData") => Found::Known(&INLINE),
        Some("fileData") => Found::Known(&FILE),
        None if !(is_foreign || only_thinks && has_members) => Found::NoPart,
        _ => Found::Unknown,
    }
}

static CALL_BODY: Wants =
    Wants::new(&[("id", Want::Text), ("name", Want::Text), ("args", Want::Arguments)], &[]);

static RESPONSE_BODY: Wants =
    Wants::new(&[("id", Want::Text), ("name", Want::Name), ("parts", Want::Objects(&MEDIA))], &[]);

static MEDIA: Wants = Wants {
    members: &[],
    needs: &[],
    marks: &["inlineData", "inline_data", "fileData", "file_data"],
    bare: None,
};

static INLINE_BODY: Wants = Wants::new(
    &[
        ("mimeType", Want::Opaque),
        ("mime_type", Want::Opaque),
        ("data", Want::Opaque),
        ("displayName", Want::Text),
        ("display_name", Want::Text),
    ],
    &[&["mimeType", "mime_type"], &["data"]],
);

static FILE_BODY: Wants = Wants::new(
    &[
        ("mimeType", Want::Opaque),
        ("mime_type", Want::Opaque),
        ("fileUri", Want::Opaque),
        ("file_uri", Want::Opaque),
        ("displayName", Want::Text),
        ("display_name", Want::Text),
    ],
    &[&["fileUri", "file_uri"]],
);
