//! Images that the provider refuses (SE-39), by their size and the length of their base64.

use msg_core::Image;

use super::limits;
use super::model::Content;
use super::plan::Plan;
use crate::excerpt::Mark;
use crate::finding::Finding;
use crate::json::{Value, quoted};

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
    (text.len(), Image::pixels_of_base64(&text))
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
