//! How large an image is, by the header of its file (CP-55, PM-33, SE-39): PNG, JPEG, GIF and WebP. Nothing is decoded:
//! the bytes are looked up in the base64 where they stand.
//!
//! ```text
//! PNG   89 'PNG' .. 'IHDR' width:4 height:4       GIF   'GIF89a' width:2 height:2, little endian
//! JPEG  FF D8, segments FF type length:2 .., of which a frame (C0 ..) has height:2 width:2
//! WebP  'RIFF' .. 'WEBP' and a chunk: 'VP8X' sizes less one, 'VP8L' 14 bits each, 'VP8 ' 14 bits each
//! ```

use super::Image;

impl Image {
    /// Width and height in pixels of an image whose `data:` URL holds it; none of one that is somewhere else, and as
    /// [`Image::pixels_of_base64`].
    ///
    /// ```
    /// use msg_core::Image;
    ///
    /// let image = Image::from_url("data:image/gif;base64,R0lGODlhEAAgAA==");
    /// assert_eq!(image.pixels(), Some((16, 32)));
    /// assert_eq!(Image::from_url("https://example.org/a.gif").pixels(), None);
    /// ```
    pub fn pixels(&self) -> Option<(u32, u32)> {
        let (_, base64) = self.url.as_deref()?.strip_prefix("data:")?.split_once(";base64,")?;
        Self::pixels_of_base64(base64)
    }

    /// Width and height in pixels of an image file in base64; none of a file of another type, and of one that ends
    /// before they are said. Linear at worst in the segments of a JPEG.
    pub fn pixels_of_base64(base64: &str) -> Option<(u32, u32)> {
        size(base64)
    }
}

fn size(base64: &str) -> Option<(u32, u32)> {
    let file = Base64(base64.trim_ascii().as_bytes());
    if file.has(0, b"\x89PNG\r\n\x1a\n") {
        return Some((file.big(16, 4)?, file.big(20, 4)?));
    }
    if file.has(0, b"GIF87a") || file.has(0, b"GIF89a") {
        return Some((file.little(6, 2)?, file.little(8, 2)?));
    }
    if file.has(0, b"RIFF") && file.has(8, b"WEBP") {
        return webp(file);
    }
    if file.has(0, b"\xff\xd8") { jpeg(file) } else { None }
}

/// Bytes that stand as base64, without line breaks in it.
#[derive(Clone, Copy)]
struct Base64<'a>(&'a [u8]);

impl Base64<'_> {
    fn byte(self, at: usize) -> Option<u32> {
        let letter = |it: usize| self.0.get(at / 3 * 4 + it).copied().and_then(sextet);
        Some(match at % 3 {
            0 => letter(0)? << 2 | letter(1)? >> 4,
            1 => (letter(1)? & 15) << 4 | letter(2)? >> 2,
            _ => (letter(2)? & 3) << 6 | letter(3)?,
        })
    }

    fn has(self, at: usize, bytes: &[u8]) -> bool {
        bytes.iter().enumerate().all(|(n, it)| self.byte(at + n) == Some(u32::from(*it)))
    }

    fn big(self, at: usize, n: usize) -> Option<u32> {
        (at..at + n).try_fold(0, |res, it| Some(res << 8 | self.byte(it)?))
    }

    fn little(self, at: usize, n: usize) -> Option<u32> {
        (at..at + n).rev().try_fold(0, |res, it| Some(res << 8 | self.byte(it)?))
    }
}

fn sextet(letter: u8) -> Option<u32> {
    Some(u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

fn webp(file: Base64<'_>) -> Option<(u32, u32)> {
    const LOW: u32 = 0x3fff;
    if file.has(12, b"VP8X") {
        return Some((file.little(24, 3)? + 1, file.little(27, 3)? + 1));
    }
    if file.has(12, b"VP8L") {
        let bits = file.little(21, 4)?;
        return Some(((bits & LOW) + 1, (bits >> 14 & LOW) + 1));
    }
    let is_frame = file.has(12, b"VP8 ") && file.has(23, b"\x9d\x01\x2a");
    is_frame.then(|| Some((file.little(26, 2)? & LOW, file.little(28, 2)? & LOW)))?
}

/// Goes from segment to segment up to the frame.
fn jpeg(file: Base64<'_>) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if file.byte(at)? != 0xff {
            return None;
        }
        let length = match file.byte(at + 1)? {
            // A byte that fills, and segments without a length.
            0xff => 1,
            0x01 | 0xd0..=0xd8 => 2,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((file.big(at + 7, 2)?, file.big(at + 5, 2)?));
            }
            // The image itself, or its end.
            0xd9 | 0xda => return None,
            _ => 2 + file.big(at + 2, 2)? as usize,
        };
        at += length;
    }
}
