//! `data:` URLs of base64, and the text inside of them: what the inline data of wire formats and the model's
//! one member for it are turned into each other with (AN-10, AN-11, GE-9).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Inline data: its type, and base64 of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataUrl<'a> {
    /// The media type, with its parameters.
    pub media_type: &'a str,
    /// Base64, as it came.
    pub data: &'a str,
}

impl<'a> DataUrl<'a> {
    /// The parts of a base64 data URL; none of any other text.
    #[must_use]
    pub fn parse(url: &'a str) -> Option<Self> {
        let (head, data) = strip_scheme(url)?.split_once(',')?;
        Some(Self { media_type: head.strip_suffix(";base64")?, data })
    }

    /// Inline data as models have it: a data URL, or bare base64 of the type that is said of it, or of PDF by its
    /// first bytes (AN-11).
    #[must_use]
    pub fn of(data: &'a str, media_type: Option<&'a str>) -> Option<Self> {
        if Self::is(data) {
            return Self::parse(data);
        }
        let guessed = || data.starts_with("JVBERi").then_some("application/pdf");
        Some(Self { media_type: media_type.or_else(guessed)?, data })
    }

    /// Whether a text is a data URL of any kind.
    #[must_use]
    pub fn is(url: &str) -> bool {
        strip_scheme(url).is_some()
    }

    /// A text as a base64 data URL of type `text/plain`.
    #[must_use]
    pub fn from_text(text: &str) -> String {
        format!("data:text/plain;base64,{}", BASE64_STANDARD.encode(text))
    }

    /// The URL; none if another one would come back, as of a media type with a comma in it.
    #[must_use]
    pub fn url(self) -> Option<String> {
        let url = format!("data:{};base64,{}", self.media_type, self.data);
        let is_same = DataUrl::parse(&url) == Some(self);
        is_same.then_some(url)
    }

    /// The media type without parameters, in lower case.
    #[must_use]
    pub fn essence(self) -> String {
        let essence = self.media_type.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }

    /// The data as text, if it is base64 of UTF-8 whose canonical base64 is this.
    #[must_use]
    pub fn text(self) -> Option<String> {
        let bytes = BASE64_STANDARD.decode(self.data).ok()?;
        String::from_utf8(bytes).ok()
    }
}

fn strip_scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
}
