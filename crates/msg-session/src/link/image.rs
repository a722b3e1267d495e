//! Images and documents that the provider refuses: by the size of an image and the length of its base64 (SE-39), by
//! what their bytes are (SE-139, SE-140).

use msg_core::Image;

use super::media::{Look, Media};
use super::model::Content;
use super::plan::Plan;
use crate::excerpt::Mark;
use crate::finding::{Finding, Place};
use crate::json::{Value, quoted};

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
