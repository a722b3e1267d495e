//! What images, sound and files cost (CP-55).

use msg_core::{Image, Part};

/// Prices of media in tokens. The defaults are OpenAI's published rule for images, and estimates
/// for sound and files (CP-55). A counter of your own may have others ([`TokenCounter::media`](crate::TokenCounter::media)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaRates {
    /// An image in low detail, and the base of one in high detail.
    pub image_base: u64,
    /// Each tile of 512 pixels of an image in high detail.
    pub image_tile: u64,
    /// An image whose size is not known.
    pub image_unknown: u64,
    /// Sound: each started KiB of decoded data.
    pub audio_per_kib: u64,
    /// Files: each started KiB of decoded data.
    pub file_per_kib: u64,
    /// Sound and files that are only referred to.
    pub by_reference: u64,
}

impl Default for MediaRates {
    fn default() -> Self {
        Self {
            image_base: 85,
            image_tile: 170,
            image_unknown: 765,
            audio_per_kib: 1,
            file_per_kib: 32,
            by_reference: 1500,
        }
    }
}

/// Tokens of a media part; 0 for any other.
pub(super) fn tokens(rates: &MediaRates, part: &Part) -> u64 {
    match part {
        Part::Image(it) => image(rates, it),
        Part::Audio(it) if it.data.is_some() => kibibytes(part) * rates.audio_per_kib,
        Part::File(it) if it.data.is_some() => kibibytes(part) * rates.file_per_kib,
        Part::Audio(_) | Part::File(_) => rates.by_reference,
        _ => 0,
    }
}

/// At the default rates: 85 in low detail; else (`auto` and no detail too) 85 + 170 for each 512-pixel tile
/// after scaling down to fit 2048 × 2048 and then the short side to 768; 765 if the size is not known.
fn image(rates: &MediaRates, it: &Image) -> u64 {
    match it.pixels() {
        _ if it.detail.as_deref() == Some("low") => rates.image_base,
        None | Some((0, _) | (_, 0)) => rates.image_unknown,
        Some(size) => rates.image_base + rates.image_tile * tiles(size),
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

/// Started KiB of decoded data (CA-20).
fn kibibytes(part: &Part) -> u64 {
    (part.size() as u64).div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::tiles;

    #[test]
    fn images_cost_by_tiles() {
        assert_eq!(tiles((1024, 1024)), 4);
        assert_eq!(tiles((2048, 4096)), 6);
        assert_eq!(tiles((1, 1)), 1);
    }
}
