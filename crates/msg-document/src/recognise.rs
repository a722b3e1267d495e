//! Says what format a document is in: by its shape, then by its file's name where the shape fits
//! several formats.

use crate::codec::Likelihood;
use crate::format::Format;
use crate::outline::Outline;

/// The format of a document that is called `name` (`""` if it has no name).
///
/// Never fails: what is no format is `openai`, and the reader says what is wrong. Linear in the bytes;
/// allocates only for what differs from message to message.
///
/// ```
/// use msg_document::recognise;
///
/// assert_eq!(recognise(br#"[{"role":"user","content":"hi"}]"#, "").name(), "openai");
/// assert_eq!(recognise(br#"[{"role":"user","content":"hi"}]"#, "a/log.plain.json").name(), "plain");
/// ```
pub fn recognise(bytes: &[u8], name: &str) -> Format {
    let outline = Outline::of(bytes);
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let likely = Format::all().map(|it| (it, it.codec().likelihood(&outline)));
    let mut best = (Format::default(), Likelihood::No);
    for (format, likelihood) in likely {
        let named = likelihood == Likelihood::Possible && format.codec().claims(&file);
        // A name decides between formats that the shape leaves, and against none that it proves.
        let likelihood = if named { Likelihood::Likely } else { likelihood };
        if likelihood > best.1 || named && likelihood == best.1 {
            best = (format, likelihood);
        }
    }
    best.0
}
