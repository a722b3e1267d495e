//! Images and documents by their first bytes (SE-139, SE-140): what the base64 of a block is.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::Image;

use crate::excerpt::Mark;
use crate::finding::{Finding, Place};
use crate::json::{Value, quoted};
use crate::link::model::Content;
use crate::link::plan::Plan;

/// An image or a document of a block, or of a result in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Media<'a> {
    /// What a text represents where it cannot be sent.
    pub(crate) value: Value<'a>,
    pub(crate) data: Value<'a>,
    /// The type that it says.
    pub(crate) media_type: Option<Value<'a>>,
    pub(crate) is_document: bool,
}

/// What base64 holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nothing.
    Empty,
    Png,
    Jpeg,
    Gif,
    WebP,
    Pdf,
    /// Something else, or no base64.
    Other,
}

/// How a mark of an excerpt spells each.
const LETTERS: [(Look, char); 7] = [
    (Look::Empty, 'e'),
    (Look::Png, 'p'),
    (Look::Jpeg, 'j'),
    (Look::Gif, 'g'),
    (Look::WebP, 'w'),
    (Look::Pdf, 'd'),
    (Look::Other, 'o'),
];

impl Look {
    /// Looks at base64. Linear.
    pub(crate) fn of(base64: &str) -> Self {
        let text = base64.trim_ascii();
        if text.is_empty() {
            return Look::Empty;
        }
        if !is_base64(text) {
            return Look::Other;
        }
        let start: String =
            text.chars().filter(|it| !it.is_ascii_whitespace()).take(START).collect();
        let start = BASE64_STANDARD.decode(start).unwrap_or_default();
        match &*start {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Look::Png,
            [0xff, 0xd8, 0xff, ..] => Look::Jpeg,
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Look::Gif,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Look::WebP,
            _ if memchr::memmem::find(&start[..start.len().min(1024)], b"%PDF-").is_some() => {
                Look::Pdf
            }
            _ => Look::Other,
        }
    }

    /// The media type of an image.
    pub(crate) fn image_type(self) -> Option<&'static str> {
        Some(match self {
            Look::Png => "image/png",
            Look::Jpeg => "image/jpeg",
            Look::Gif => "image/gif",
            Look::WebP => "image/webp",
            Look::Empty | Look::Pdf | Look::Other => return None,
        })
    }

    pub(crate) fn letter(self) -> char {
        LETTERS.iter().find(|it| it.0 == self).map_or('o', |it| it.1)
    }

    pub(crate) fn by_letter(letter: char) -> Option<Self> {
        LETTERS.iter().find(|it| it.1 == letter).map(|it| it.0)
    }
}

/// How much base64 is decoded: a header may be in the first 1,024 bytes.
const START: usize = 1368;

/// Whether a text is base64 with its padding.
fn is_base64(text: &str) -> bool {
    let mut len = 0_usize;
    let mut padding = 0_usize;
    for it in text.bytes().filter(|it| !it.is_ascii_whitespace()) {
        len += 1;
        match it {
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => {}
            _ => return false,
        }
    }
    padding <= 2 && len.is_multiple_of(4)
}

// Images and documents that the provider refuses: by the size of an image and the length of its base64 (SE-39), by
// what their bytes are (SE-139, SE-140).

pub(super) fn check(plan: &mut Plan<'_>) {
    let mut found = Vec::new();
    for (sent, it) in plan.sent.iter().enumerate() {
        let Content::Blocks(_, blocks) = &it.content else { continue };
        for (block, it) in blocks.iter().enumerate() {
            if plan.is_dropped((sent, block)) {
                continue;
            }
            found.extend((plan.rules.media)(it.value).into_iter().map(|it| (sent, block, it)));
        }
    }
    let limits = plan.rules.limits;
    let images = found.iter().filter(|it| !it.2.is_document).count();
    let is_many = limits.many.is_some_and(|it| images > it);
    let side = if is_many { limits.many_side } else { limits.side };
    for (sent, block, it) in found {
        let at = plan.sent[sent].place.with_block(block);
        let measured = measured(it.data, plan.rules.has_marks);
        if let Some(why) = why_bad(it.is_document, measured.look) {
            bad(plan, at, it, why);
        } else if let Some(text) =
            refusal(measured, side, limits.base64).filter(|_| !it.is_document)
        {
            let message = format!("an image is larger than the provider takes: {text}");
            let finding = Finding::error("session::image-too-large", at, message);
            replace(plan, finding, it, "image", &text);
        } else if let (Some(is), Some(said)) = (measured.look.image_type(), it.media_type)
            && said.text().is_some_and(|it| it != is)
            && !it.is_document
        {
            let message = format!("an image is {is} but states another type");
            let finding = Finding::error("session::media-type", at, message);
            plan.findings.push(finding.mended("correct the media type", plan.rules.all));
            plan.replace(said.span(), quoted(is));
        }
    }
}

/// Why the provider cannot make anything of an image or a document.
fn why_bad(is_document: bool, look: Look) -> Option<&'static str> {
    match look {
        Look::Empty => Some("no data"),
        Look::Pdf if is_document => None,
        _ if is_document => Some("not a PDF"),
        it if it.image_type().is_none() => Some("not an image"),
        _ => None,
    }
}

fn bad(plan: &mut Plan<'_>, at: Place, it: Media<'_>, why: &'static str) {
    let what = if it.is_document { "document" } else { "image" };
    let message = match why {
        "no data" => format!("the {what} has no data"),
        why => format!("the data of the {what} is {why}"),
    };
    replace(plan, Finding::error("session::bad-media", at, message), it, what, why);
}

fn replace(plan: &mut Plan<'_>, finding: Finding, it: Media<'_>, what: &str, why: &str) {
    let fix = "replace it with a text placeholder";
    plan.findings.push(finding.mended(fix, plan.rules.all));
    let text = quoted(&format!("[{what} removed: {why}]"));
    plan.replace(it.value.span(), format!(r#"{{"type":"text","text":{text}}}"#));
}

/// What is known of base64: how long it is, how large the image, and what it holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) len: usize,
    pub(crate) size: Option<(u32, u32)>,
    pub(crate) look: Look,
}

fn measured(data: Value<'_>, has_marks: bool) -> Measured {
    match Mark::read(data.source).filter(|_| has_marks) {
        Some(mark) => Measured {
            len: mark.len.unwrap_or(0),
            size: mark.size,
            look: mark.look.unwrap_or(Look::Other),
        },
        None => measure(data),
    }
}

/// What an excerpt keeps of base64. Linear.
pub(crate) fn measure(data: Value<'_>) -> Measured {
    let text = data.text().unwrap_or_default();
    Measured { len: text.len(), size: Image::pixels_of_base64(&text), look: Look::of(&text) }
}

/// Why an image is refused, if it is.
fn refusal(
    Measured { len, size, .. }: Measured,
    side: Option<u32>,
    base64: Option<usize>,
) -> Option<String> {
    if let (Some((width, height)), Some(side)) = (size, side)
        && width.max(height) > side
    {
        return Some(format!("{width}x{height}, at most {side}x{side} is accepted"));
    }
    let most = base64.filter(|it| len > *it)?;
    Some(format!("{len} bytes, at most {most} are accepted"))
}
