//! Documents that are not JSON: archives, tables, pages, streams, other notations, transcripts. Examines only the first
//! lines.
//!
//! ```text
//! # saved by hand
//! [{"role":"user","content":"hi"}]
//!   ─▶ message::foreign-format: "this looks like JSON with comments …", "remove the comments"
//! ```

use super::looks_like;
use crate::outline::Outline;
use crate::refusal::Refusal;

/// How many bytes of a text are inspected.
const HEAD: usize = 4 << 10;

/// The description of a text, and what to pass instead; `""` if unknown.
type Named = (&'static str, &'static str);

/// The refusal of a recognised text that is not JSON; `None` for other texts.
pub(crate) fn text(outline: &Outline<'_>, bytes: &[u8]) -> Option<Refusal> {
    match outline.source() {
        Some(text) => binary(text).or_else(|| named(text)).map(refused),
        // JSON in UTF-16 begins like JSON.
        None if outline.is_broken() => binary_refusal(bytes),
        None => None,
    }
}

/// The refusal of a text that no format claims, based on its look: another notation, JSON with something before it, or
/// Markdown without a message, which may be anything (RG-2).
pub(crate) fn other_text(outline: &Outline<'_>, bytes: &[u8]) -> Option<Refusal> {
    let head = &*head(bytes);
    // Text inside YAML or TOML may look like JSON, such as a cassette of requests or a list of names.
    let is_other = || is_yaml(head) || head.starts_with('[') && is_toml(head);
    let line = line_of_json(bytes).filter(|_| !is_other());
    if let Some(line) = line {
        let has_comments = ["//", "/*", "#"].into_iter().any(|it| head.starts_with(it));
        return Some(if has_comments { refused(COMMENTS) } else { refused_at(line) });
    }
    Some(refused(if is_of_python(head) {
        PYTHON
    } else if is_toml(head) {
        TOML
    } else if is_yaml(head) {
        YAML
    } else if matches!(outline, Outline::Markdown(_)) {
        MARKDOWN
    } else {
        return None;
    }))
}

fn refused((what, way): Named) -> Refusal {
    let it = looks_like(what);
    if way.is_empty() { it.into() } else { it.with_fix(way).into() }
}

fn refused_at(line: usize) -> Refusal {
    let way = format!("the JSON begins on line {line}: save only the JSON");
    looks_like("a text with JSON in it").with_fix(way).into()
}

/// The refusal of data that is not text, by its first bytes: an archive, a database, UTF-16.
///
/// ```
/// assert!(msg_formats::binary_refusal(b"\x1f\x8b\x08").is_some());
/// assert!(msg_formats::binary_refusal(b"data: {}").is_none());
/// ```
pub fn binary_refusal(bytes: &[u8]) -> Option<Refusal> {
    binary(bytes).map(refused)
}

fn binary(bytes: &[u8]) -> Option<Named> {
    const UNPACK: &str = "unpack it first; `-` reads a pipe, as in `gzip -dc log.gz | msg check -`";
    const RECODE: &str = "convert it to UTF-8, for instance with `iconv -f UTF-16 -t UTF-8`";
    const ROWS: &str = "write its rows as JSON lines, for instance with `polars` or `duckdb`";
    const PICKLED: &str = "write what it holds as JSON: from Python, use `json.dumps`";
    const BINARY: [(&[u8], &str, &str); 19] = [
        (b"SQLite format 3\0", "a SQLite database", ""),
        (b"PK\x03\x04", "a zip archive", "unpack it first"),
        (b"\x1f\x8b", "a gzip archive", UNPACK),
        (b"\x28\xb5\x2f\xfd", "a zstd archive", UNPACK),
        (b"\xfd7zXZ\0", "an xz archive", UNPACK),
        (b"BZh", "a bzip2 archive", UNPACK),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
        (b"PAR1", "a Parquet file", ROWS),
        (b"ARROW1", "an Arrow file", ROWS),
        (b"\xff\xff\xff\xff", "an Arrow stream", ROWS),
        (b"Obj\x01", "an Avro file", ROWS),
        (b"%PDF-", "a PDF", ""),
        (b"\x89PNG", "a picture", ""),
        (b"\xff\xd8\xff", "a picture", ""),
        (b"GIF8", "a picture", ""),
        (b"RIFF", "a picture or sound", ""),
        (b"\x7fELF", "a program", ""),
        (b"\xff\xfe", "a text in UTF-16", RECODE),
        (b"\xfe\xff", "a text in UTF-16", RECODE),
    ];
    let found = BINARY.iter().find(|it| bytes.starts_with(it.0)).map(|it| (it.1, it.2));
    let is_pickle = || matches!(bytes, [0x80, 2..=5, b'c' | b']' | b'}' | b'(' | 0x95, ..]);
    // ASCII text in UTF-16 without a byte order mark.
    let is_wide = || matches!(bytes, [0, 1..=127, 0, 1..=127, ..] | [1..=127, 0, 1..=127, 0, ..]);
    found
        .or_else(|| is_pickle().then_some(("pickled objects of Python", PICKLED)))
        .or_else(|| is_wide().then_some(("a text in UTF-16", RECODE)))
}

const COMMENTS: Named = ("JSON with comments", "remove the comments");
const PYTHON: Named =
    ("objects printed by Python", "write them as JSON: from Python, use `json.dumps`");
const YAML: Named = ("a YAML document", "write it as JSON, for instance with `yq -o json`");
const TOML: Named = ("a TOML document", "");
const MARKDOWN: Named = (
    "a Markdown file without a message",
    "headings of a message file begin with `%%`, as in `# %% [^1]`, and `msg convert --to msgmd` writes them",
);

fn head(bytes: &[u8]) -> String {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    head.trim_start_matches('\u{feff}').trim_start().to_owned()
}

fn named(bytes: &[u8]) -> Option<Named> {
    const RENDERED: [&str; 5] = [
        "<|im_start|>",
        "<|start_header_id|>",
        "<|begin_of_text|>",
        "<start_of_turn>",
        "<s>[INST]",
    ];
    let head = &*head(bytes);
    let begins = |it: &str| head.get(..it.len()).is_some_and(|head| head.eq_ignore_ascii_case(it));
    Some(if begins("<!doctype html") || begins("<html") {
        ("an HTML page", "")
    } else if begins("<?xml") {
        ("an XML document", "")
    } else if begins("//") || begins("/*") {
        COMMENTS
    } else if ["data:", "event:", "id:", "retry:"].into_iter().any(is_field_of_a_stream(head)) {
        ("the events of a captured stream", "`msg stream` reads it")
    } else if RENDERED.into_iter().any(begins) {
        ("a text rendered by a chat template (ChatML, Llama)", "")
    } else if is_file_name(head) {
        ("the name of a file", "pass what is in the file")
    } else if is_transcript(head) {
        ("a transcript in plain text (`Human: … Assistant: …`)", "")
    } else {
        return None;
    })
}

/// The number, from 1, of the line in which an object or a list of objects begins; `None` if it is the first line.
/// Markdown fences, commands, assignments or log text may come before it.
fn line_of_json(bytes: &[u8]) -> Option<usize> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    head.lines().position(holds_json).map(|it| it + 1)
}

/// Whether an object with a member, or a list of objects, begins in this line and may continue in the next.
fn holds_json(line: &str) -> bool {
    let begins = |(at, bracket): (usize, &str)| {
        let rest = line[at + 1..].trim();
        let before = line[..at].trim_end();
        let goes_on = rest.is_empty() && (before.is_empty() || before.ends_with(['=', '(', '\'']));
        goes_on
            || match bracket {
                "{" => rest.starts_with('"'),
                _ => rest.strip_prefix('{').is_some_and(|it| it.trim_start().starts_with('"')),
            }
    };
    line.match_indices(['{', '[']).take(16).any(begins)
}

/// Whether a text begins with this field of a server-sent event.
fn is_field_of_a_stream(head: &str) -> impl Fn(&str) -> bool + '_ {
    move |field| {
        let rest = head.strip_prefix(field).map(str::trim_start);
        let is_first = matches!(field, "data:" | "event:");
        rest.is_some_and(|it| is_first && !it.is_empty() || it.contains("\ndata:"))
    }
}

/// Whether a text is a path or file name with a typical extension for conversations.
fn is_file_name(head: &str) -> bool {
    let (stem, ending) = head.trim_end().rsplit_once('.').unwrap_or_default();
    let is_ending = ["json", "jsonl", "ndjson", "md", "txt", "db", "parquet"].contains(&ending);
    is_ending && !stem.is_empty() && head.trim_end().len() < 1024 && !head.trim_end().contains('\n')
}

/// Whether lines begin with a speaker name, for both sides.
fn is_transcript(head: &str) -> bool {
    const ASKS: [&str; 3] = ["Human:", "User:", "USER:"];
    const ANSWERS: [&str; 5] = ["Assistant:", "AI:", "ASSISTANT:", "Bot:", "Claude:"];
    let has = |words: &[&str]| head.lines().any(|line| words.iter().any(|it| line.starts_with(it)));
    let first = head.lines().next().unwrap_or_default();
    let is_first = |words: &[&str]| words.iter().any(|it| first.starts_with(it));
    (is_first(&ASKS) && has(&ANSWERS))
        || (is_first(&ANSWERS) || is_first(&["System:"])) && has(&ASKS)
}

/// Whether a text begins like a printed Python object: `[HumanMessage(content='hi')]`.
fn is_of_python(head: &str) -> bool {
    let inner = head.trim_start_matches(['[', '(', ' ', '\n']);
    let Some((name, rest)) = inner.split_once('(') else { return false };
    let is_class = name.starts_with(|it: char| it.is_ascii_uppercase()) && is_name(name);
    rest.split_once('=').is_some_and(|it| is_class && is_name(it.0))
}

/// The lines with content, in a notation whose comments begin with `#`.
fn telling_lines(head: &str) -> impl Iterator<Item = &str> {
    head.lines().filter(|it| !it.trim().is_empty() && !it.trim_start().starts_with('#')).take(8)
}

fn is_name(text: &str) -> bool {
    let is_in_name = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
    !text.is_empty() && text.chars().all(is_in_name)
}

/// Whether the first lines are YAML members and items.
fn is_yaml(head: &str) -> bool {
    let is_member = |line: &str| {
        let (name, rest) = line.split_once(':').unwrap_or_default();
        is_name(name.trim().trim_matches(['"', '\''])) && (rest.is_empty() || rest.starts_with(' '))
    };
    let item = |line: &'_ str| line.trim_start().strip_prefix("- ").map(str::to_owned);
    let mut lines = telling_lines(head).filter(|it| it.trim_end() != "---");
    let Some(first) = lines.next() else { return false };
    let begins = is_member(first) || item(first).is_some_and(|it| is_member(&it));
    let goes_on = |it: &str| it.starts_with([' ', '\t', '-']) || is_member(it);
    let mut n_more = 0;
    begins
        && lines.all(|it| {
            n_more += 1;
            goes_on(it)
        })
        && n_more > 0
}

/// Whether the first line is a table header or an assignment, and the next ones are similar.
fn is_toml(head: &str) -> bool {
    let is_table = |it: &str| {
        let name = it.trim().trim_start_matches('[').trim_end_matches(']');
        it.starts_with('[') && it.trim_end().ends_with(']') && is_name(name)
    };
    let is_value = |it: &str| {
        let (name, value) = it.split_once('=').unwrap_or_default();
        let value = value.trim();
        let is_literal = value.starts_with(|it: char| "\"'[{".contains(it) || it.is_ascii_digit());
        is_name(name.trim()) && (is_literal || value == "true" || value == "false")
    };
    let mut lines = telling_lines(head);
    let n_first = lines.by_ref().take(2).filter(|it| is_table(it) || is_value(it)).count();
    n_first == 2
}
