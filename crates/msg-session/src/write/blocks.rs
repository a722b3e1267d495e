//! What several writers share: Anthropic blocks, arguments as JSON, results as text, the hash of a folder.

use std::borrow::Cow;

use msg_core::{Image, Message, Origin, Part, Role, ToolCall, ToolResult};
use msg_json::{TextState, Writer, classify, write_compact};

use crate::dialects::frameworks::autogen::Media;

/// Arguments as the JSON object that a format wants; text that is none goes into one.
pub(crate) fn write_arguments(out: &mut Writer<'_>, call: &ToolCall) {
    let text = call.arguments.text();
    match classify(text) {
        TextState::Object => out.raw(&in_a_line(text.trim())),
        _ if text.trim().is_empty() => out.object(|_| {}),
        _ => out.object(|it| it.key("input").str(text)),
    }
}

/// The id of the record with this number: that of the session with the number in the place of its last group.
pub(crate) fn record_id(session: &str, number: u64) -> String {
    let head = session.get(..24).filter(|it| session.len() == 36 && it.ends_with('-'));
    format!("{}{number:012x}", head.unwrap_or(NEW_ID))
}

/// What the ids of records begin with that are not of a session with a UUID.
pub(crate) const NEW_ID: &str = "00000000-0000-4000-8000-";

/// A JSON text without line ends, which would end the record that it is in.
pub(crate) fn in_a_line(json: &str) -> Cow<'_, str> {
    if !json.contains(['\n', '\r']) {
        return Cow::Borrowed(json);
    }
    let mut line = Vec::new();
    write_compact(&mut line, json);
    Cow::Owned(String::from_utf8(line).expect("because tokens of a text are text"))
}

/// Texts that become one, a line each; where one ends or the next begins with a blank nothing is put between them.
pub(crate) fn one_text<'p>(texts: impl Iterator<Item = &'p str>) -> Cow<'p, str> {
    let mut res = Cow::Borrowed("");
    for text in texts.filter(|it| !it.is_empty()) {
        if res.is_empty() {
            res = Cow::Borrowed(text);
            continue;
        }
        let is_apart = res.ends_with(char::is_whitespace) || text.starts_with(char::is_whitespace);
        let res = res.to_mut();
        res.push_str(if is_apart { "" } else { "\n" });
        res.push_str(text);
    }
    res
}

/// The texts of a message as one.
pub(crate) fn text_of(message: &Message) -> Cow<'_, str> {
    one_text(message.parts.iter().filter_map(Part::as_text))
}

/// The texts of a result as one.
pub(crate) fn text_of_result(result: &ToolResult) -> Cow<'_, str> {
    one_text(result.content.parts().iter().filter_map(Part::as_text))
}

/// The object that a tool gave, in one line: none of a failure, and of one that a reader would take for a text of Gemini.
pub(crate) fn object_of(result: &ToolResult) -> Option<Cow<'_, str>> {
    let [Part::Other(it)] = result.content.parts() else { return None };
    let is_text = |name: &str| matches!(name, "output" | "result" | "error");
    let members = it.value.members().filter(|_| it.format == Origin::Json && !result.is_error)?;
    (!members.iter().any(|it| is_text(&it.0))).then(|| in_a_line(it.value.text()))
}

/// What a tool gave, where any value may be: an object, or text.
pub(crate) fn write_given(it: &mut Writer<'_>, result: &ToolResult) {
    match object_of(result) {
        Some(object) => it.raw(&object),
        None => it.str(&text_of_result(result)),
    }
}

/// The results that answer the calls of an answer: those of the messages right after it that hold some.
pub(crate) fn results_after(messages: &[Message], at: usize) -> impl Iterator<Item = &ToolResult> {
    let holds = |it: &&Message| it.role == Role::Tool || it.tool_results().next().is_some();
    let after = messages[at + 1..].iter().take_while(holds);
    after.flat_map(Message::tool_results)
}

/// The parts of a message whose results are with their calls.
pub(crate) fn parts_but_results(message: &Message) -> impl Iterator<Item = &Part> {
    message.parts.iter().filter(|it| it.as_tool_result().is_none())
}

/// The numbers of the messages that say something besides results.
pub(crate) fn spoken(messages: &[Message]) -> impl Iterator<Item = usize> {
    let says = |it: &Message| it.role != Role::Tool && parts_but_results(it).next().is_some();
    (0..messages.len()).filter(move |at| says(&messages[*at]))
}

/// A part as a block of Anthropic's; none has no place there.
pub(crate) fn write_block(out: &mut Writer<'_>, part: &Part) {
    out.object(|it| match part {
        Part::Text(text) | Part::Refusal(text) => write_text(it, &text.text),
        Part::Reasoning(thought) => match &thought.redacted {
            Some(data) => {
                it.key("type").str("redacted_thinking");
                it.key("data").str(data);
            }
            None => {
                it.key("type").str("thinking");
                it.key("thinking").str(&thought.display_text());
                if let Some(signature) = &thought.signature {
                    it.key("signature").str(signature);
                }
            }
        },
        Part::ToolCall(call) => {
            it.key("type").str("tool_use");
            it.key("id").str(&call.id);
            it.key("name").str(&call.name);
            write_arguments(it.key("input"), call);
        }
        Part::ToolResult(result) => write_result(it, result, None),
        Part::Image(image) => write_image(it, image),
        Part::File(file) => {
            it.key("type").str("document");
            it.key("source").object(|it| match (&file.data, &file.url) {
                (Some(data), _) => {
                    it.key("type").str("base64");
                    let kind = file.media_type.as_deref().unwrap_or("application/pdf");
                    it.key("media_type").str(kind);
                    it.key("data").str(data.rsplit(',').next().unwrap_or_default());
                }
                (None, url) => {
                    it.key("type").str("url");
                    it.key("url").str(url.as_deref().unwrap_or_default());
                }
            });
        }
        Part::Audio(_) | Part::Other(_) => write_text(it, "[a part that this format has not]"),
        _ => write_text(it, ""),
    });
}

fn write_text(it: &mut Writer<'_>, text: &str) {
    it.key("type").str("text");
    it.key("text").str(text);
}

/// The members of a result; its tool is named where that is wanted, which Anthropic itself refuses.
pub(crate) fn write_result(it: &mut Writer<'_>, result: &ToolResult, name: Option<&str>) {
    it.key("type").str("tool_result");
    it.key("tool_use_id").str(&result.call_id);
    if let Some(name) = name {
        it.key("name").str(name);
    }
    match result.content.as_text() {
        Some(text) => it.key("content").str(text),
        None => it.key("content").array(result.content.parts(), write_block),
    }
    if result.is_error {
        it.key("is_error").bool(true);
    }
}

fn write_image(it: &mut Writer<'_>, image: &Image) {
    it.key("type").str("image");
    it.key("source").object(|it| match data_url(image) {
        Some((media_type, data)) => {
            it.key("type").str("base64");
            it.key("media_type").str(media_type);
            it.key("data").str(data);
        }
        None => {
            it.key("type").str("url");
            it.key("url").str(image.url.as_deref().unwrap_or_default());
        }
    });
}

/// A part of a message whose tool parts are call and result in one (opencode, vercel-ui); `media_type` is the name of
/// that member there.
pub(crate) fn write_ui_part(it: &mut Writer<'_>, part: &Part, media_type: &str) {
    let mut file = |kind: &str, url: Option<&str>| {
        it.key("type").str("file");
        it.key(media_type).str(kind);
        it.key("url").str(url.unwrap_or_default());
    };
    match part {
        Part::Image(image) => {
            let kind = Media::of(part).map_or("image/*", |it| it.media_type);
            file(kind, image.url.as_deref());
        }
        Part::File(other) => {
            let kind = other.media_type.as_deref().unwrap_or("application/octet-stream");
            file(kind, other.url.as_deref().or(other.data.as_deref()));
        }
        Part::Reasoning(thought) => {
            it.key("type").str("reasoning");
            it.key("text").str(&thought.display_text());
        }
        part => write_text(it, part.as_text().unwrap_or_default()),
    }
}

/// Media type and base64 of an image that is inline.
pub(crate) fn data_url(image: &Image) -> Option<(&str, &str)> {
    let rest = image.url.as_deref()?.strip_prefix("data:")?;
    rest.split_once(";base64,")
}

// SHA-256 (FIPS 180-4), for the one place where an agent wants it: Gemini CLI names a project by that of its folder.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The hash of a text, in hexadecimal. Linear.
pub(crate) fn hex(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let bits = bytes.len() as u64 * 8;
    bytes.push(0x80);
    bytes.resize(bytes.len().next_multiple_of(64) + if bytes.len() % 64 > 56 { 64 } else { 0 }, 0);
    let end = bytes.len() - 8;
    bytes[end..].copy_from_slice(&bits.to_be_bytes());
    let mut state: [u32; 8] = [
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
        0x5be0cd19,
    ];
    bytes.chunks_exact(64).for_each(|it| block(&mut state, it));
    state.iter().map(|it| format!("{it:08x}")).collect()
}

fn block(state: &mut [u32; 8], bytes: &[u8]) {
    let mut words = [0_u32; 64];
    for (word, it) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = it.iter().fold(0, |sum, it| sum << 8 | u32::from(*it));
    }
    for at in 16..64 {
        let (a, b) = (words[at - 15], words[at - 2]);
        let a = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let b = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        words[at] = words[at - 16].wrapping_add(a).wrapping_add(words[at - 7]).wrapping_add(b);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in words.iter().zip(ROUNDS) {
        let one = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let first =
            h.wrapping_add(one).wrapping_add(choice).wrapping_add(round).wrapping_add(*word);
        let two = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = two.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b, a) =
            (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (to, it) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *to = to.wrapping_add(it);
    }
}
#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn the_hashes_of_the_standard() {
        assert_eq!(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
}
