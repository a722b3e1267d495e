//! What images cost (CP-55), by the sizes that their headers say.

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
