//! Sizes of images, read from the header of their file, and what they cost (CP-55). No pixel is
//! decoded.

use super::MediaRates;

/// How closely a model looks at an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Detail {
    /// One fixed price.
    Low,
    /// By tiles; `auto` and no detail count as this.
    High,
}

/// Tokens of an image. At the default rates: 85 in low detail; else 85 + 170 for each 512-pixel tile
/// after scaling down to fit 2048 × 2048 and then the short side to 768; 765 if the size is not
/// known (CP-55).
pub(super) fn tokens_by(rates: &MediaRates, detail: Detail, size: Option<(u32, u32)>) -> u64 {
    match (detail, size) {
        (Detail::Low, _) => rates.image_base,
        (Detail::High, None | Some((0, _) | (_, 0))) => rates.image_unknown,
        (Detail::High, Some(size)) => rates.image_base + rates.image_tile * tiles(size),
    }
}

fn tiles((width, height): (u32, u32)) -> u64 {
    let (mut width, mut height) = (u64::from(width), u64::from(height));
    let long = width.max(height);
    if long > 2048 {
        (width, height) = (width * 2048 / long, height * 2048 / long);
    }
    let short = width.min(height);
    if short > 768 {
        (width, height) = (width * 768 / short, height * 768 / short);
    }
    width.div_ceil(512).max(1) * height.div_ceil(512).max(1)
}

/// Width and height in pixels of a PNG, GIF, JPEG or WebP, from the first bytes of the file.
///
/// ```
/// use msg_compact::count::image_size;
///
/// assert_eq!(image_size(b"GIF89a\x10\x00\x20\x00"), Some((16, 32)));
/// assert_eq!(image_size(b"no image"), None);
/// ```
pub fn image_size(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return webp_size(bytes);
    }
    if bytes.starts_with(JPEG) {
        return jpeg_size(bytes);
    }
    None
}

/// As [`image_size`], of an image in a `data:` URL.
pub(super) fn size_of_url(url: &str) -> Option<(u32, u32)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    if !head.ends_with(";base64") {
        return None;
    }
    let start = decode_start(data, HEADER);
    match start.starts_with(JPEG) {
        true => image_size(&decode_start(data, JPEG_HEADER)),
        false => image_size(&start),
    }
}

/// The first bytes of an image in which its size stands, if it is no JPEG.
const HEADER: usize = 32;

/// How much of a JPEG is looked at: its size may stand behind a large thumbnail.
const JPEG_HEADER: usize = 256 * 1024;

/// How a JPEG begins.
const JPEG: &[u8] = b"\xFF\xD8";

fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3FFF, little(bytes, 28, 2)? & 0x3FFF)),
        _ => None,
    }
}

fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        while bytes.get(at)? != &0xFF {
            at += 1;
        }
        while bytes.get(at)? == &0xFF {
            at += 1;
        }
        match bytes[at] {
            // Start of frame: precision, height, width. C4, C8 and CC are other tables.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some((big(bytes, at + 6, 2)?, big(bytes, at + 4, 2)?));
            }
            // Markers without a length.
            0x00 | 0x01 | 0xD0..=0xD8 => at += 1,
            // End of image or start of the pixels: no size before it.
            0xD9 | 0xDA => return None,
            _ => at += 1 + usize::try_from(big(bytes, at + 1, 2)?.max(2)).ok()?,
        }
    }
}

fn big(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + len)?;
    Some(bytes.iter().fold(0, |sum, it| sum << 8 | u32::from(*it)))
}

fn little(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + len)?;
    Some(bytes.iter().rev().fold(0, |sum, it| sum << 8 | u32::from(*it)))
}

/// The first bytes of a base64 text, up to `most`; it ends at the first character that is no digit.
fn decode_start(text: &str, most: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(most.min(text.len() / 4 * 3 + 3));
    let (mut bits, mut n_bits) = (0u32, 0);
    for digit in text.bytes().map_while(base64_digit) {
        bits = bits << 6 | u32::from(digit);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits & 0xFF) as u8);
            if bytes.len() == most {
                break;
            }
        }
    }
    bytes
}

fn base64_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Detail, MediaRates, tokens_by};

    #[test]
    fn images_cost_by_tiles() {
        let cost = |detail, size| tokens_by(&MediaRates::default(), detail, size);
        assert_eq!(cost(Detail::High, Some((1024, 1024))), 765);
        assert_eq!(cost(Detail::High, Some((2048, 4096))), 1105);
        assert_eq!(cost(Detail::Low, None), 85);
    }
}
