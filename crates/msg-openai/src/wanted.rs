//! The types of the members of chat messages and Responses items (MS-29), as tables: how a value of another type
//! is interpreted.
//!
//! Also the common parts of the contents of both formats: lists of `{"type": kind, "text": …}` for a text in pieces,
//! for which the model has a single place, and the member that both spell in the same way.

use msg_codec::codec::{Losses, Parts, RawMember, Want, Wants, text_of};
use msg_core::{Extra, Origin, RawJson};
use msg_json::{JsonError, Kind, Reader, Writer, to_text};

/// The required types of a chat message; a tool message may contain any value.
pub(crate) fn message(source: &str) -> &'static Want {
    match role_of(source).as_deref() {
        Some("tool" | "function") => &TOOL_MESSAGE,
        _ => &MESSAGE,
    }
}

/// The `role` of an object, if it is a text.
fn role_of(source: &str) -> Option<String> {
    let mut reader = Reader::from_text(source);
    let mut role = None;
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let value = reader.raw().ok()?;
        if key.text == "role" {
            role = text_of(value).map(|it| it.0.into_owned());
        }
    }
    role
}

static MESSAGE: Want = Want::Object(&CHAT_MESSAGE);
static TOOL_MESSAGE: Want = Want::Object(&Wants::new(
    &[("content", Want::Content(&VALUE_PARTS)), ("name", Want::Text), ("tool_call_id", Want::Id)],
    &[],
));

static CHAT_MESSAGE: Wants = Wants::new(
    &[
        ("content", Want::Content(&CHAT_PARTS)),
        ("refusal", Want::Text),
        ("name", Want::Text),
        ("tool_call_id", Want::Id),
        ("tool_calls", Want::Objects(&CALL)),
        ("function_call", Want::Object(&NAMED)),
        ("reasoning_content", Want::Text),
        ("thinking_blocks", Want::Objects(&BLOCK)),
        ("audio", Want::Object(&REPLY)),
    ],
    &[],
);

static CALL: Wants = Wants {
    members: &[
        ("id", Want::Id),
        ("type", Want::Word("function")),
        ("function", Want::Object(&NAMED)),
        ("custom", Want::Object(&NAMED)),
    ],
    needs: &[&["function", "custom"]],
    marks: &["function", "custom"],
    bare: None,
};

static NAMED: Wants =
    Wants { members: &[("name", Want::Text)], needs: &[], marks: &["name"], bare: Some("name") };

static BLOCK: Wants = Wants {
    members: &[
        ("type", Want::Word("thinking")),
        ("thinking", Want::Text),
        ("signature", Want::Opaque),
        ("data", Want::Opaque),
    ],
    needs: &[],
    marks: &["thinking", "data"],
    bare: None,
};

static REPLY: Wants =
    Wants::new(&[("id", Want::Id), ("data", Want::Opaque), ("transcript", Want::Text)], &[&["id"]]);

static CHAT_PARTS: Parts = Parts {
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    ..Parts::new(|source| Parts::by_type(source, chat_part), |text| text_part("text", text))
};

static VALUE_PARTS: Parts = Parts { may_be_value: true, ..CHAT_PARTS };

fn text_part(kind: &str, text: &str) -> String {
    to_text(|it| write_block(it, kind, text))
}

fn chat_part(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);
    static REFUSAL: Wants = Wants::new(&[("refusal", Want::Text)], &[&["refusal"]]);
    static URL: Wants = Wants::new(&[("url", Want::Opaque), ("detail", Want::Text)], &[&["url"]]);
    static IMAGE: Wants = Wants::new(
        &[("image_url", Want::Or(Kind::String, &Want::Object(&URL)))],
        &[&["image_url"]],
    );
    static FILE_BODY: Wants = Wants::new(
        &[("file_id", Want::Opaque), ("file_data", Want::Opaque), ("filename", Want::Text)],
        &[&["file_id", "file_data"]],
    );
    static FILE: Wants = Wants::new(&[("file", Want::Object(&FILE_BODY))], &[&["file"]]);
    static THINKING: Wants =
        Wants::new(&[("thinking", Want::Or(Kind::Array, &Want::Text))], &[&["thinking"]]);
    Some(match kind {
        "text" => &TEXT,
        "refusal" => &REFUSAL,
        "image_url" => &IMAGE,
        "input_audio" => &AUDIO,
        "file" => &FILE,
        "thinking" => &THINKING,
        _ => return None,
    })
}

static AUDIO_BODY: Wants =
    Wants::new(&[("data", Want::Opaque), ("format", Want::Text)], &[&["data"]]);
static AUDIO: Wants =
    Wants::new(&[("input_audio", Want::Object(&AUDIO_BODY))], &[&["input_audio"]]);

/// The required types of a Responses item of this type; `None` if unknown.
pub(crate) fn item_of_type(kind: &str) -> Option<&'static Want> {
    Some(match kind {
        "message" => &MESSAGE_ITEM,
        "function_call" | "custom_tool_call" => &CALL_ITEM,
        "function_call_output" | "custom_tool_call_output" => &OUTPUT_ITEM,
        "reasoning" => &REASONING_ITEM,
        _ => return None,
    })
}

pub(crate) static MESSAGE_ITEM: Want = Want::Object(&Wants::new(
    &[("type", Want::Word("message")), ("content", Want::Content(&ITEM_PARTS))],
    &[],
));

pub(crate) static CALL_ITEM: Want = Want::Object(&Wants::new(
    &[("type", Want::Word("function_call")), ("call_id", Want::Id), ("name", Want::Text)],
    &[],
));

pub(crate) static OUTPUT_ITEM: Want = Want::Object(&Wants::new(
    &[
        ("type", Want::Word("function_call_output")),
        ("call_id", Want::Id),
        ("output", Want::Content(&OUTPUT_PARTS)),
    ],
    &[],
));

pub(crate) static REASONING_ITEM: Want = Want::Object(&Wants::new(
    &[
        ("type", Want::Word("reasoning")),
        ("summary", Want::Objects(&SUMMARY_TEXT)),
        ("content", Want::Objects(&REASONING_TEXT)),
        ("encrypted_content", Want::Opaque),
    ],
    &[],
));

static SUMMARY_TEXT: Wants = Wants {
    members: &[("type", Want::Word("summary_text")), ("text", Want::Text)],
    needs: &[],
    marks: &["text"],
    bare: Some("text"),
};

static REASONING_TEXT: Wants = Wants {
    members: &[("type", Want::Word("reasoning_text")), ("text", Want::Text)],
    needs: &[],
    marks: &["text"],
    bare: Some("text"),
};

static ITEM_PARTS: Parts = Parts {
    may_be_text: true,
    ..Parts::new(|source| Parts::by_type(source, item_part), |text| text_part("input_text", text))
};

static OUTPUT_PARTS: Parts = Parts { may_be_null: true, may_be_value: true, ..ITEM_PARTS };

fn item_part(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);
    static REFUSAL: Wants = Wants::new(&[("refusal", Want::Text)], &[&["refusal"]]);
    static IMAGE: Wants = Wants::new(
        &[("image_url", Want::Opaque), ("file_id", Want::Opaque), ("detail", Want::Text)],
        &[&["image_url", "file_id"]],
    );
    static FILE: Wants = Wants::new(
        &[
            ("file_id", Want::Opaque),
            ("file_url", Want::Opaque),
            ("file_data", Want::Opaque),
            ("filename", Want::Text),
        ],
        &[&["file_id", "file_url", "file_data"]],
    );
    Some(match kind {
        "input_text" | "output_text" | "text" => &TEXT,
        "refusal" => &REFUSAL,
        "input_image" => &IMAGE,
        "input_file" => &FILE,
        "input_audio" => &AUDIO,
        _ => return None,
    })
}

/// The texts of a list of blocks.
#[derive(Default)]
pub(crate) struct TextBlocks {
    pub(crate) texts: Vec<String>,
    pub(crate) lone_surrogate: bool,
    /// Whether a writer would write such blocks for these texts.
    is_plain: bool,
}

impl TextBlocks {
    /// Reads a list; `None` if any element is not a block of this kind.
    pub(crate) fn read(source: &str, kind: &str) -> Option<Self> {
        let mut res = Self { is_plain: true, ..Self::default() };
        let mut reader = Reader::from_text(source);
        reader.begin_array().ok()?;
        while reader.next_element().ok()? {
            res.block(&mut reader, kind).ok()??;
        }
        Some(res)
    }

    fn block(&mut self, reader: &mut Reader<'_>, kind: &str) -> Result<Option<()>, JsonError> {
        let (mut text, mut place) = (None, 0);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            let value = text_of(reader.raw()?);
            place += 1;
            match (&*key.text, value) {
                ("type", Some((word, _))) if word == kind => self.is_plain &= place == 1,
                ("text", Some(value)) if text.is_none() => {
                    self.is_plain &= place == 2;
                    text = Some(value);
                }
                ("type" | "text", _) => return Ok(None),
                _ => self.is_plain = false,
            }
        }
        let Some((text, lone_surrogate)) = text else { return Ok(None) };
        self.lone_surrogate |= lone_surrogate;
        self.texts.push(text.into_owned());
        Ok(Some(()))
    }

    /// The source, if it differs from what is written for these texts, or if there are more than `most` blocks.
    pub(crate) fn odd<'a>(&self, source: &'a str, most: usize) -> Option<&'a str> {
        let is_written = self.is_plain && !self.lone_surrogate && self.texts.len() <= most;
        (!is_written).then_some(source)
    }
}

/// A list of a block of this kind for each text, as it is written.
pub(crate) fn blocks<'t>(kind: &str, texts: impl IntoIterator<Item = &'t str>) -> String {
    to_text(|it| it.array(texts, |it, text| write_block(it, kind, text)))
}

/// Writes a block.
pub(crate) fn write_block(it: &mut Writer<'_>, kind: &str, text: &str) {
    it.object(|it| {
        it.key("type").str(kind);
        it.key("text").str(text);
    });
}

/// The member of a content part that both formats have: the end of a cached prefix.
const SHARED: &str = "prompt_cache_breakpoint";

/// The shared member of a part, if it is from the other format.
pub(crate) fn shared<'a>(extra: &'a Extra, own: &Origin) -> Option<&'a RawJson> {
    let other = if *own == Origin::OpenAi { Origin::Responses } else { Origin::OpenAi };
    extra.get(&other, SHARED).filter(|_| extra.get(own, SHARED).is_none())
}

/// The unknown members of a content part: those of its format, and the shared one.
pub(crate) fn part_members<'a>(
    extra: &'a Extra,
    own: &'a Origin,
    skip: &[&str],
) -> Vec<RawMember<'a>> {
    let mut res = RawMember::all_of(extra, own, skip);
    let shared = shared(extra, own);
    res.extend(shared.map(|it| RawMember { name: SHARED.into(), value: it.text() }));
    res
}

/// Reports the unknown members of a content part that are left out.
pub(crate) fn lose_foreign(losses: &mut Losses<'_>, at: usize, extra: &Extra, own: &Origin) {
    let is_shared = shared(extra, own).is_some();
    let is_openai = |it: &Origin| matches!(it, Origin::OpenAi | Origin::Responses);
    for (origin, name, _) in extra.all().filter(|it| it.0 != own) {
        if !(is_shared && name == SHARED && is_openai(origin)) {
            losses.raw(Some(at), format_args!("{origin}.{name}"));
        }
    }
}
