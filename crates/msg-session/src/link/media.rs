//! Images and documents by their first bytes (SE-139, SE-140): what the base64 of a block is.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::json::Value;

/// An image or a document of a block, or of a result in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Media<'a> {
    /// What a text stands for where it cannot be sent.
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
