//! What a provider refuses of media and nobody can mend without decoding them: types, addresses, sizes
//! (PM-33 to PM-36, PM-110, PM-111). Judged on the messages as they came.

use msg_core::{Code, Diagnostic, Part};

use crate::{
    analyze::Chain,
    profile::{Acceptance, Profile},
};

/// All of it, in the order of the input. Linear; payloads are measured, and of images the header is read.
pub(crate) fn unmendable(chain: Chain<'_>, profile: Option<&Profile>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Some(profile) = profile.filter(|it| judges(it)) else { return found };
    let side_max = side_max(chain, profile);
    for at in 0..chain.len() {
        for (part, it) in chain.message(at as u32).parts.iter().enumerate() {
            let inner = it.as_tool_result().map_or(&[][..], |it| it.content.parts());
            for it in std::iter::once(it).chain(inner) {
                let refused = refused(it, profile).or_else(|| too_large(it, side_max));
                found.extend(refused.map(|it| it.at_part(at, part)));
            }
        }
    }
    found
}

fn judges(profile: &Profile) -> bool {
    !profile.image_types.is_empty()
        || !profile.file_types.is_empty()
        || profile.image_bytes_max > 0
        || profile.image_side_max > 0
        || profile.many_images > 0
        || profile.media_urls == Acceptance::Reject
}

/// How many pixels a side of an image may have, which depends on how many there are; 0 for any number.
fn side_max(chain: Chain<'_>, profile: &Profile) -> usize {
    let images = |it: &Part| match it {
        Part::Image(_) => 1,
        Part::ToolResult(it) => {
            it.content.parts().iter().filter(|it| matches!(it, Part::Image(_))).count()
        }
        _ => 0,
    };
    let n: usize = chain.iter().flat_map(|it| &it.parts).map(images).sum();
    match profile.many_images > 0 && n > profile.many_images {
        true => profile.many_images_side_max,
        false => profile.image_side_max,
    }
}

fn too_large(part: &Part, side_max: usize) -> Option<Diagnostic> {
    let Part::Image(it) = part else { return None };
    let (width, height) = it.pixels().filter(|_| side_max > 0)?;
    let is_larger = width.max(height) as usize > side_max;
    let sentence = format!("an image of {width} x {height} pixels, {side_max} a side are accepted");
    is_larger.then(|| Diagnostic::error(Code::new("profile::image-size"), sentence))
}

fn refused(part: &Part, profile: &Profile) -> Option<Diagnostic> {
    let error = |code, sentence: String| Some(Diagnostic::error(Code::new(code), sentence));
    let (url, kind) = match part {
        Part::Image(it) => (it.url.as_deref(), it.media_type.as_deref()),
        Part::File(it) => (it.data.as_deref().or(it.url.as_deref()), it.media_type.as_deref()),
        _ => return None,
    };
    let is_image = matches!(part, Part::Image(_));
    let data = url.and_then(|it| it.strip_prefix("data:"));
    let is_address = url.is_some_and(|it| it.starts_with("http://") || it.starts_with("https://"));
    if is_address && profile.media_urls == Acceptance::Reject {
        let code = if is_image { "profile::image-type" } else { "profile::file-type" };
        return error(code, "an address, where only the bytes are accepted".to_owned());
    }
    let kind = data.and_then(|it| it.split([';', ',']).next()).filter(|it| !it.is_empty()).or(kind);
    let (types, code) = match is_image {
        true => (&profile.image_types, "profile::image-type"),
        false => (&profile.file_types, "profile::file-type"),
    };
    if let Some(kind) = kind
        && !types.is_empty()
        && !types.iter().any(|it| it == kind)
    {
        return error(code, format!("the type `{kind}` is not accepted"));
    }
    let size = data.and_then(|it| it.split_once(',')).map_or(0, |it| it.1.len());
    (is_image && profile.image_bytes_max > 0 && size > profile.image_bytes_max).then(|| {
        let max = profile.image_bytes_max;
        let sentence = format!("an image of {size} bytes in base64, {max} are accepted");
        Diagnostic::error(Code::new("profile::image-size"), sentence)
    })
}
