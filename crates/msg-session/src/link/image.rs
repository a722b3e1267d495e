//! Images that the provider refuses (SE-39): their size, read from the first bytes of PNG, JPEG, GIF and
//! WebP. Nothing is decoded but base64.

use super::limits;
use super::model::Content;
use super::plan::Plan;
use crate::base64::decode_start;
use crate::excerpt::Mark;
use crate::finding::Finding;
use crate::json::{Value, quoted};

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    width: u32,
    height: u32,
}

pub(super) fn check(plan: &mut Plan<'_>) {
    let mut found = Vec::new();
    for (sent, it) in plan.sent.iter().enumerate() {
        let Content::Blocks(_, blocks) = &it.content else { continue };
        for (block, it) in blocks.iter().enumerate() {
            if plan.is_dropped((sent, block)) {
                continue;
            }
            found.extend((plan.rules.images)(it.value).into_iter().map(|it| (sent, block, it)));
        }
    }
    let limits = plan.rules.limits;
    let is_many = limits.many.is_some_and(|it| found.len() > it);
    let side = if is_many { limits.many_side } else { limits.side };
    let has_marks = plan.rules.has_marks;
    for (sent, block, (value, data)) in found {
        let mark = Mark::read(data.source).filter(|_| has_marks);
        let measured = match mark {
            Some(mark) => (mark.len.unwrap_or(0), mark.size),
            None => text_and_size(data),
        };
        let Some(text) = refusal(measured, side, limits.base64) else { continue };
        let place = plan.sent[sent].place.with_block(block);
        let message = format!("an image is larger than the provider takes: {text}");
        let finding = Finding::error("session::image-too-large", place, message);
        plan.findings.push(finding.mended("a text stands for the image", plan.rules.all));
        let text = quoted(&format!("[image removed: {text}]"));
        plan.replace(value.span(), format!(r#"{{"type":"text","text":{text}}}"#));
    }
}

/// How long the base64 of an image is, and how large the image.
type Measured = (usize, Option<(u32, u32)>);

fn text_and_size(data: Value<'_>) -> Measured {
    let text = data.text().unwrap_or_default();
    (text.len(), image_size(&text).map(|it| (it.width, it.height)))
}

/// What an excerpt keeps of a string that could be an image.
pub(crate) fn measure(source: &str) -> Option<Measured> {
    let value = Value { source, at: 0 };
    let start = source.strip_prefix('"')?.trim_start_matches('\\');
    let is_large = || limits::of(None).base64.is_some_and(|it| source.len() > it);
    let is_image = STARTS.iter().any(|it| start.starts_with(it)) || is_large();
    is_image.then(|| text_and_size(value))
}

/// How PNG, GIF, WebP and JPEG begin in base64.
const STARTS: [&str; 4] = ["iVBOR", "R0lGO", "UklGR", "/9"];

/// Why an image is refused, if it is.
fn refusal((len, size): Measured, side: Option<u32>, base64: Option<usize>) -> Option<String> {
    if let (Some((width, height)), Some(side)) = (size, side)
        && width.max(height) > side
    {
        return Some(format!("{width}x{height}, at most {side}x{side} is accepted"));
    }
    let most = base64.filter(|it| len > *it)?;
    Some(format!("{len} bytes, at most {most} are accepted"))
}

/// How much base64 holds the headers of the formats whose size stands at a fixed place.
const HEADER: usize = 64;

/// How much base64 is looked into for the size of a JPEG, may carry a preview before it.
const LOOK: usize = 1 << 20;

/// The size that the header of an image in base64 names.
fn image_size(base64: &str) -> Option<Size> {
    let bytes = decode_start(base64.get(..HEADER).unwrap_or(base64));
    let size = png(&bytes).or_else(|| gif(&bytes)).or_else(|| webp(&bytes));
    size.or_else(|| {
        let is_jpeg = bytes.starts_with(b"\xff\xd8");
        is_jpeg.then(|| jpeg(&decode_start(base64.get(..LOOK).unwrap_or(base64))))?
    })
}

fn png(bytes: &[u8]) -> Option<Size> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    Some(Size { width: be32(header, 0)?, height: be32(header, 4)? })
}

fn gif(bytes: &[u8]) -> Option<Size> {
    bytes.starts_with(b"GIF8").then_some(())?;
    Some(Size { width: le16(bytes, 6)?, height: le16(bytes, 8)? })
}

fn webp(bytes: &[u8]) -> Option<Size> {
    (bytes.get(..4)? == b"RIFF" && bytes.get(8..12)? == b"WEBP").then_some(())?;
    match bytes.get(12..16)? {
        b"VP8 " => {
            Some(Size { width: le16(bytes, 26)? & 0x3fff, height: le16(bytes, 28)? & 0x3fff })
        }
        b"VP8L" => {
            let bits = le16(bytes, 21)? | le16(bytes, 23)? << 16;
            Some(Size { width: (bits & 0x3fff) + 1, height: (bits >> 14 & 0x3fff) + 1 })
        }
        b"VP8X" => Some(Size { width: le24(bytes, 24)? + 1, height: le24(bytes, 27)? + 1 }),
        _ => None,
    }
}

fn jpeg(bytes: &[u8]) -> Option<Size> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let skip = rest.iter().take_while(|it| **it == 0xff).count();
        let (marker, segment) = rest.get(skip.max(1)..)?.split_first()?;
        // All frame headers but the markers for tables among them.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return Some(Size { height: be16(segment, 3)?, width: be16(segment, 5)? });
        }
        rest = segment.get(be16(segment, 0)? as usize..)?;
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(*bytes.get(at)?) << 8 | u32::from(*bytes.get(at + 1)?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(be16(bytes, at)? << 16 | be16(bytes, at + 2)?)
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(*bytes.get(at)?) | u32::from(*bytes.get(at + 1)?) << 8)
}

fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    Some(le16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16)
}
