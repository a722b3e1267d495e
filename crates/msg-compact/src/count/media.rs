//! What images, sound and files cost (CP-55).

use msg_core::{Audio, File, Image, Part};

use super::{Detail, image};

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
        Part::Image(it) => image_part(rates, it),
        Part::Audio(it) => audio(rates, it),
        Part::File(it) => file(rates, it),
        _ => 0,
    }
}

fn image_part(rates: &MediaRates, it: &Image) -> u64 {
    let detail = if it.detail.as_deref() == Some("low") { Detail::Low } else { Detail::High };
    image::tokens_by(rates, detail, it.pixels())
}

fn audio(rates: &MediaRates, it: &Audio) -> u64 {
    it.data.as_deref().map_or(rates.by_reference, |it| data_tokens(it, rates.audio_per_kib))
}

fn file(rates: &MediaRates, it: &File) -> u64 {
    it.data.as_deref().map_or(rates.by_reference, |it| data_tokens(it, rates.file_per_kib))
}

fn data_tokens(base64: &str, per_kib: u64) -> u64 {
    let text = base64.split_once(";base64,").map_or(base64, |it| it.1);
    let digits = text.bytes().filter(|it| *it != b'=' && !it.is_ascii_whitespace()).count();
    let bytes = digits as u64 * 3 / 4;
    bytes.div_ceil(1024) * per_kib
}
