//! Says what format a document is in, or refuses it by name: by its shape, then by its file's name
//! where the shape fits several formats.

use msg_core::Diagnostic;
use msg_session::{Blob, Session};

use crate::codec::Likelihood;
use crate::foreign::{self, Foreign, foreign};
use crate::format::Format;
use crate::outline::Outline;
use crate::read_options::ReadOptions;
use crate::refusal::Refusal;

impl Format {
    /// The format of a document that is called `name` (`""` if it has no name).
    ///
    /// Fails for a document that is known to be of a format that is not read. What is no conversation at
    /// all is `openai`, whose reader says what is wrong with it. Linear in the bytes; allocates only for
    /// what differs from message to message.
    ///
    /// ```
    /// use msg_document::Format;
    ///
    /// let chat = br#"[{"role":"user","content":"hi"}]"#;
    /// assert_eq!(Format::recognise(chat, "")?.name(), "openai");
    /// assert_eq!(Format::recognise(chat, "a/log.plain.json")?.name(), "plain");
    ///
    /// let refusal = Format::recognise(br#"{"modelId":"m","messages":[]}"#, "").expect_err("because nobody reads it");
    /// assert_eq!(refusal.diagnostic().code.as_str(), "message::foreign-format");
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn recognise(bytes: &[u8], name: &str) -> Result<Self, Refusal> {
        match identify(bytes, name)? {
            Found::Document(format) => Ok(format),
            Found::Lines => Err(json_lines().into()),
        }
    }
}

impl ReadOptions {
    /// Whether a text is plainly JSON lines, a document a line: several values, each on its line, that are
    /// not the records of one session. A text that is cut off behind a line is judged by the lines it has.
    ///
    /// ```
    /// use msg_document::ReadOptions;
    ///
    /// let one = br#"{"messages":[{"role":"user","content":"hi"}]}"#;
    /// let lines = [&one[..], one].join(&b'\n');
    /// assert!(ReadOptions::default().is_json_lines(&lines));
    /// assert!(!ReadOptions::default().is_json_lines(one));
    /// ```
    pub fn is_json_lines(&self, bytes: &[u8]) -> bool {
        match self.from {
            Some(named) => {
                let spans_lines = !named.is_json() || named.codec().spans_lines();
                !spans_lines && Outline::of(bytes).has_lines()
            }
            None => matches!(identify(bytes, &self.name), Ok(Found::Lines)),
        }
    }
}

/// What a text is.
enum Found {
    Document(Format),
    /// Documents, each on its line.
    Lines,
}

fn identify(bytes: &[u8], name: &str) -> Result<Found, Refusal> {
    let outline = Outline::of(bytes);
    let (format, likelihood) = best(&outline, name);
    // Where both are certain the foreign mark is the stronger one: ours would be read as less.
    // What an agent's reader is sure of it judges itself.
    let is_own = format.codec().judges_itself() && likelihood == Likelihood::Certain;
    let is_foreign = |it: Likelihood| !is_own && (it > likelihood || it == Likelihood::Certain);
    if let Some((row, _)) = foreign::recognise(&outline).filter(|it| is_foreign(it.1)) {
        return Err(row.refusal());
    }
    if likelihood == Likelihood::No
        && let Some(session) = damaged_session(bytes, name)
    {
        return Ok(Found::Document(session));
    }
    let is_lines = outline.has_lines() && !format.codec().spans_lines();
    Ok(if is_lines { Found::Lines } else { Found::Document(format) })
}

/// Whether a document can be read in the format that was named for it.
///
/// Fails for a document that only another format looks like.
pub(crate) fn accept(bytes: &[u8], named: Format) -> Result<(), Refusal> {
    if named.codec().judges_itself() {
        return Ok(());
    }
    let outline = Outline::of(bytes);
    if let Some(row) = certain_foreign(&outline) {
        return Err(row.refusal());
    }
    if outline.has_lines() && named.is_json() && !named.codec().spans_lines() {
        return Err(json_lines().into());
    }
    let (found, likelihood) = best(&outline, "");
    // `openai` is possible for everything without messages, since its reader says what is no conversation.
    let is_nothing = named == Format::default() && found != named && outline.messages().is_none();
    let is_unlike = is_nothing || named.codec().likelihood(&outline) == Likelihood::No;
    let is_other = likelihood == Likelihood::Certain && is_unlike;
    if is_other { Err(other(found, named).into()) } else { Ok(()) }
}

/// The format of a session of lines that the outline gives up on, such as one with a torn line.
fn damaged_session(bytes: &[u8], name: &str) -> Option<Format> {
    let session = Session::recognise(vec![Blob::new(name, bytes)]).ok()?;
    let format: Format = session.dialect().name().parse().ok()?;
    format.codec().spans_lines().then_some(format)
}

fn certain_foreign(outline: &Outline<'_>) -> Option<&'static Foreign> {
    foreign::recognise(outline).filter(|it| it.1 == Likelihood::Certain).map(|it| it.0)
}

/// The format of ours that speaks most for itself.
fn best(outline: &Outline<'_>, name: &str) -> (Format, Likelihood) {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let mut best = (Format::default(), Likelihood::No);
    for format in Format::all() {
        let likelihood = format.codec().likelihood(outline);
        let named = likelihood == Likelihood::Possible && format.codec().claims(&file);
        // A name decides between formats that the shape leaves, and against none that it proves.
        let likelihood = if named { Likelihood::Likely } else { likelihood };
        // An agent's marks say more than the form that it shares with another format.
        let is_session = format.codec().judges_itself() && !best.0.codec().judges_itself();
        let wins_tie = named || is_session && likelihood == Likelihood::Certain;
        if likelihood > best.1 || wins_tie && likelihood == best.1 {
            best = (format, likelihood);
        }
    }
    best
}

fn json_lines() -> Diagnostic {
    foreign("this looks like JSON lines, a document a line").with_fix("--jsonl reads it so")
}

fn other(found: Format, named: Format) -> Diagnostic {
    foreign(format!("this looks like {found}, not like {named}"))
        .with_fix(format!("--from {found} reads it, and so does no --from at all"))
}
