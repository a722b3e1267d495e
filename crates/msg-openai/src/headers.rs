//! The headers that name a client to its provider (OA-13): plain pairs of text, for any HTTP client.
//! Nothing in a value can end a header line.

use std::borrow::Cow;

/// Who asks: pairs of header names and values, in a fixed order.
///
/// Blanks at the ends of a value are dropped; every byte outside 0x20–0x7E, and `%`, is written as
/// `%XX` of its UTF-8; a value that is empty then is the default.
///
/// ```
/// use msg_openai::ClientHeaders;
///
/// let headers = ClientHeaders::new().project("my-project").session("a\r\nX-Evil: 1");
/// let pairs: Vec<_> = headers.iter().collect();
/// assert_eq!(pairs[0], ("User-Agent", "opencode/1.0.0 (Linux x86_64)".to_owned()));
/// assert_eq!(pairs[1], ("x-opencode-project", "my-project".to_owned()));
/// assert_eq!(pairs[2], ("x-opencode-session", "a%0D%0AX-Evil: 1".to_owned()));
/// assert_eq!(pairs[4], ("x-opencode-client", "cli".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHeaders<'a> {
    app: Cow<'a, str>,
    version: Cow<'a, str>,
    os: Cow<'a, str>,
    arch: Cow<'a, str>,
    project: Cow<'a, str>,
    session: Cow<'a, str>,
    request: Cow<'a, str>,
    client: Cow<'a, str>,
}

/// A setter for each value.
macro_rules! values {
    ($($(#[$doc:meta])* $name:ident = $default:literal,)*) => {
        impl Default for ClientHeaders<'_> {
            fn default() -> Self {
                Self { $($name: Cow::Borrowed($default),)* }
            }
        }

        impl<'a> ClientHeaders<'a> {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: impl Into<Cow<'a, str>>) -> Self {
                    let value = value.into();
                    let blank = value.trim_matches(BLANKS).is_empty();
                    self.$name = if blank { Cow::Borrowed($default) } else { value };
                    self
                }
            )*
        }
    };
}

values! {
    /// The program; `opencode` if nothing is said.
    app = "opencode",
    /// The program's version; `1.0.0` if nothing is said.
    version = "1.0.0",
    /// The operating system; `Linux` if nothing is said.
    os = "Linux",
    /// The processor; `x86_64` if nothing is said.
    arch = "x86_64",
    /// The project that is worked on; `unknown` if nothing is said.
    project = "unknown",
    /// The session; `unknown` if nothing is said.
    session = "unknown",
    /// What caused the request; `user` if nothing is said.
    request = "user",
    /// The kind of client; `cli` if nothing is said.
    client = "cli",
}

/// What is dropped at the ends of a value.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

impl<'a> ClientHeaders<'a> {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The pairs, in the order in which they are sent.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, String)> {
        let [app, version, os, arch] =
            [&self.app, &self.version, &self.os, &self.arch].map(|it| escape(it));
        [
            ("User-Agent", format!("{app}/{version} ({os} {arch})")),
            ("x-opencode-project", escape(&self.project)),
            ("x-opencode-session", escape(&self.session)),
            ("x-opencode-request", escape(&self.request)),
            ("x-opencode-client", escape(&self.client)),
        ]
        .into_iter()
    }
}

fn escape(value: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let value = value.trim_matches(BLANKS);
    let mut res = String::with_capacity(value.len());
    for byte in value.bytes() {
        if matches!(byte, 0x20..=0x7e) && byte != b'%' {
            res.push(char::from(byte));
        } else {
            res.push('%');
            res.push(char::from(HEX[usize::from(byte >> 4)]));
            res.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    res
}
