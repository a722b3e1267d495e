//! Where a command reads from: a path, `-`, or piped input.
//!
//! Opens and reads; `msg-document` interprets the bytes.
//!
//! The inputs of a command: one, or several by paths and patterns, in the order given.
//!
//! ```text
//! msg check a.json 'logs/**/*.json'   a.json, then the files that match, by name
//! msg check -                         standard input; so does nothing where something is piped in
//! ```
//!
//! A pattern is expanded only if no file has that exact name.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use msg_core::{Code, Diagnostic};
use msg_document::{Accept, CallForms, Document, Format, ObjectWriter, ReadOptions, Refusal, Row};
use serde::Serialize;

use crate::context::{Context, explained};
use crate::documents::{Kind, RowArgs};
use crate::exit::{Failure, Status, refuse_if};
use crate::jsonl::LineArgs;
use crate::render::{Quotes, safe};
use crate::sessions::{Named, Stamp};
use crate::{render, sessions, words};

/// The default of `--max-bytes`: 256 MiB per document.
pub(crate) const MAX_DOCUMENT: u64 = 256 << 20;
const MAX_DOCUMENT_TEXT: &str = "268435456";
/// How much of an input is inspected to distinguish lines from a document, unless its first line is longer.
const HEAD: usize = 64 << 10;

// No doc comment on the flattened structs: clap would use it as the help of the command.
#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// The files to read, or patterns such as 'logs/*.json'; `-` is standard input, the default when input
    /// is piped.
    #[arg(value_name = "FILE")]
    #[serde(skip)]
    inputs: Vec<PathBuf>,
    /// The format of the input [default: recognised from its content, then its name].
    #[arg(long, value_name = "FORMAT", value_parser = parser())]
    pub(crate) from: Option<Format>,
    /// Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results
    /// [default: native; xml for plain].
    #[arg(long, value_name = "WHERE", value_parser = calls_parser())]
    pub(crate) calls: Option<CallForms>,
    #[command(flatten)]
    #[serde(flatten)]
    limit: LimitArgs,
}

#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Input")]
pub(crate) struct LimitArgs {
    /// Refuse documents (files, or lines with --jsonl) larger than this many bytes (k, M) [default: 256 MiB].
    #[arg(long, value_name = "N", default_value = MAX_DOCUMENT_TEXT, hide_default_value = true, value_parser = words::size)]
    pub(crate) max_bytes: u64,
}

impl InputArgs {
    /// The read options for a line of a `--jsonl` run: it has no name, and cannot be Markdown.
    pub(crate) fn of_a_line(&self) -> ReadOptions {
        self.of_a_document("").with_accept(Accept::Json)
    }

    /// The read options for the document `name`.
    pub(crate) fn of_a_document(&self, name: &str) -> ReadOptions {
        let calls = self.calls.unwrap_or_default();
        let read = ReadOptions::default().with_from(self.from).with_calls(calls);
        read.with_name(name.to_owned()).with_max_bytes(self.limit.max_bytes)
    }

    /// The maximum size of a document or of a file beside it, in bytes.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.limit.max_bytes
    }

    /// Finds the named inputs.
    pub(crate) fn sources(&self) -> Result<Sources, Failure> {
        Sources::find(&self.inputs, self.limit.max_bytes)
    }

    /// Whether the input is clearly JSON lines and not a session. The inspected bytes can still be read.
    pub(crate) fn looks_like_lines(&self, input: &mut Input) -> Result<bool, Failure> {
        let read = self.of_a_document(&input.name);
        Ok(input.first_lines(|it| read.is_json_lines(it))?.unwrap_or(false))
    }

    /// The kind of the input: JSON lines if requested, or if clearly that and not a session; a row if its conversation
    /// is in a member, by option or by its known kind. `rows` is `None` for a command that reads no rows.
    pub(crate) fn kind(
        &self,
        cx: &Context,
        input: &mut Input,
        lines: &LineArgs,
        rows: Option<&RowArgs>,
    ) -> Result<Kind, Failure> {
        if lines.jsonl {
            input.expect_no_bracket()?;
            // Lines of a named format are not taken for records of another one.
            let is_named = self.from.is_some() && input.len.is_some();
            if !is_named || !self.looks_like_lines(input)? {
                input.expect_no_session()?;
            }
            return Ok(Kind::Lines);
        }
        let read = self.of_a_document(&input.name);
        let read = rows.map_or(read.clone(), |it| it.over(read));
        let is_lines = input.first_lines(|it| read.is_json_lines(it))?.unwrap_or(false);
        if is_lines {
            cx.detail(|| format!("{}: recognised as JSON lines", input.name));
            return Ok(Kind::Lines);
        }
        if lines.jobs.is_some() {
            let text = format!("--jobs needs JSON lines, and {} is one document", input.name);
            return Err(Failure::Usage(text));
        }
        let Some(rows) = rows else { return Ok(Kind::Document) };
        let is_row = rows.are_given() || self.from.is_none() && input.is_known_row(&read)?;
        Ok(if is_row { Kind::Row } else { Kind::Document })
    }
}

/// The text of a file named by an option, up to a limit of bytes.
pub(crate) fn side_file(path: &Path, limit: u64) -> Result<String, Failure> {
    let bytes = Input::open(Some(path), limit)?.read_all()?;
    String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("{} is not UTF-8", path.display())))
}

/// The offset of the second non-blank line.
fn second_line(text: &[u8]) -> Option<usize> {
    let first = text.iter().position(|it| !it.is_ascii_whitespace())?;
    let end = first + memchr::memchr(b'\n', &text[first..])?;
    text[end..].iter().position(|it| !it.is_ascii_whitespace()).map(|it| end + it)
}

/// How many bytes are inspected for a bracket alone on its line.
const LONGEST_BRACKET: usize = 16;

fn over_lines() -> Diagnostic {
    let text = "this looks like one document over several lines, not JSON Lines";
    let code = Code::new("message::foreign-format");
    Diagnostic::error(code, text).with_fix("remove --jsonl to read it as one")
}

/// An opened input.
pub(crate) struct Input {
    /// The name of the input in messages.
    pub(crate) name: String,
    /// The file, if it is one; outputs must not overwrite it.
    pub(crate) path: Option<PathBuf>,
    /// The state of that file before it was read.
    pub(crate) stamp: Option<Stamp>,
    /// The size in bytes, if the system knows it.
    pub(crate) len: Option<u64>,
    /// The maximum size of a document in bytes.
    pub(crate) limit: u64,
    /// The bytes.
    pub(crate) reader: Box<dyn Read + Send>,
}

impl Input {
    /// Opens `path` with this size limit per document; `-` and `None` are standard input, the latter only if it is not
    /// a terminal.
    pub(crate) fn open(path: Option<&Path>, limit: u64) -> Result<Self, Failure> {
        match path {
            Some(path) if path.as_os_str() != "-" => Input::file(path, limit),
            None if io::stdin().is_terminal() => {
                Err(Failure::Usage("no input: name a file, or pipe a conversation in".to_owned()))
            }
            _ => Ok(Input {
                name: "<stdin>".to_owned(),
                path: None,
                stamp: None,
                len: None,
                limit,
                reader: Box::new(io::stdin()),
            }),
        }
    }

    fn file(named: &Path, limit: u64) -> Result<Self, Failure> {
        let path = match sessions::of(named, limit)? {
            Named::File => named.to_owned(),
            Named::Session(path) => path,
            Named::Read(name, bytes) => {
                let (len, reader) = (Some(bytes.len() as u64), Box::new(io::Cursor::new(bytes)));
                return Ok(Input { name, path: None, stamp: None, len, limit, reader });
            }
        };
        let path = path.as_path();
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| file.metadata().map(|it| (file, it)));
        let (file, meta) =
            opened.map_err(|source| Failure::read(&name, explained(path, source)))?;
        if meta.is_dir() {
            let text =
                format!("this is a directory; name its files, such as '{}/*.json'", path.display());
            return Err(Failure::read(&name, io::Error::other(text)));
        }
        Ok(Input {
            name,
            // Only a file named by its path may be replaced.
            path: (path == named && meta.is_file()).then(|| path.to_owned()),
            stamp: Stamp::of(path).ok().filter(|_| meta.is_file()),
            len: meta.is_file().then_some(meta.len()),
            limit,
            reader: Box::new(file),
        })
    }

    /// Refuses input that is clearly one document over several lines, or one session.
    pub(crate) fn expect_lines(&mut self) -> Result<(), Failure> {
        self.expect_no_bracket()?;
        self.expect_no_session()
    }

    /// Refuses input that is clearly one document over several lines: its first line is only a bracket. Reads only that
    /// line.
    fn expect_no_bracket(&mut self) -> Result<(), Failure> {
        let mut seen = Vec::new();
        let mut byte = [0];
        while seen.len() < LONGEST_BRACKET && !seen.trim_ascii_start().contains(&b'\n') {
            match self.reader.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => seen.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Failure::read(&self.name, source)),
            }
        }
        let is_bracket = matches!(seen.trim_ascii(), b"[" | b"{" | b"[{");
        if is_bracket && seen.trim_ascii_start().contains(&b'\n') {
            return Err(Failure::document(over_lines(), &self.name, Vec::new()));
        }
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(seen).chain(rest));
        Ok(())
    }

    /// Refuses a session, whose lines are records of one document. Only files are inspected: piped input may be
    /// endless, and each line must be answered at once.
    fn expect_no_session(&mut self) -> Result<(), Failure> {
        if self.len.is_none() {
            return Ok(());
        }
        let name = self.name.clone();
        let found = self.first_lines(|it| Format::recognise(it, &name).ok())?.flatten();
        match found.filter(|it| it.is_session()) {
            Some(format) => {
                let text = format!("this looks like one session of {format}, not JSON Lines");
                let code = Code::new("message::foreign-format");
                let it = Diagnostic::error(code, text).with_fix("remove --jsonl to read it as one");
                Err(Failure::document(it, &self.name, Vec::new()))
            }
            None => Ok(()),
        }
    }

    /// Applies `look` to the first lines, which can still be read; `None` for a single line.
    fn first_lines<T>(&mut self, look: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, Failure> {
        let mut head = Vec::new();
        let mut is_all = false;
        // Doubles the size each time, so the search for the second line stays linear.
        while !is_all && (head.len() < HEAD || second_line(&head).is_none()) {
            let wanted = head.len().max(HEAD);
            let read = (&mut self.reader).take(wanted as u64).read_to_end(&mut head);
            let n = read.map_err(|source| Failure::read(&self.name, source))?;
            is_all = n < wanted || head.len() as u64 > self.limit;
        }
        let last_end = memchr::memrchr(b'\n', &head).filter(|_| !is_all);
        let lines = &head[..last_end.map_or(head.len(), |it| it + 1)];
        let res = second_line(lines).map(|_| look(lines));
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(head).chain(rest));
        Ok(res)
    }

    /// Whether it is one row of a known kind, such as a line of a batch. The inspected bytes can still be read.
    fn is_known_row(&mut self, read: &ReadOptions) -> Result<bool, Failure> {
        let mut head = Vec::new();
        let wanted = (&mut self.reader).take(HEAD as u64).read_to_end(&mut head);
        wanted.map_err(|source| Failure::read(&self.name, source))?;
        let may_be = Row::may_be_known(&head);
        if may_be {
            let rest = (&mut self.reader).take(self.limit).read_to_end(&mut head);
            rest.map_err(|source| Failure::read(&self.name, source))?;
        }
        let is_empty = |it: Refusal| it.diagnostic().code == "document::no-conversation";
        let known = || Row::known(&head, read).map_or_else(is_empty, |it| it.is_some());
        let is_row = may_be && known();
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(head).chain(rest));
        Ok(is_row)
    }

    /// Reads all bytes. Fails above the limit, after reading at most one byte beyond it.
    pub(crate) fn read_all(&mut self) -> Result<Vec<u8>, Failure> {
        if self.len.is_some_and(|len| len > self.limit) {
            return Err(Failure::too_large(&self.name, self.limit));
        }
        let room = self.len.and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
        // One more than the file has, so the last read reaches the end without growing the buffer.
        let mut bytes = Vec::with_capacity(room + 1);
        let read = (&mut self.reader).take(self.limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| Failure::read(&self.name, source))?;
        if bytes.len() as u64 > self.limit {
            return Err(Failure::too_large(&self.name, self.limit));
        }
        Ok(bytes)
    }
}

// The formats as values of `--from` and `--to`, and opening a document for a command.
//
// `msg-document` defines the formats.

/// The parser of a format's name.
pub(crate) fn parser() -> impl TypedValueParser<Value = Format> {
    let value = |it: Format| PossibleValue::new(it.name()).help(it.about());
    let names = PossibleValuesParser::new(Format::all().map(value));
    names.map(|name| name.parse().expect("because the names are those of formats"))
}

/// The parser of the place of calls.
fn calls_parser() -> impl TypedValueParser<Value = CallForms> {
    let names = PossibleValuesParser::new(["native", "xml"]);
    names.map(|name| if name == "xml" { CallForms::Xml } else { CallForms::Native })
}

/// Reads `input` completely, reports its format with `-v`, and adds the place to errors.
pub(crate) fn open(cx: &Context, input: &mut Input, args: &InputArgs) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    read(cx, bytes, &input.name, args)
}

/// [`open`] for a document that is written again: it keeps its layout.
pub(crate) fn open_to_write(
    cx: &Context,
    input: &mut Input,
    args: &InputArgs,
) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    let document = Document::read(&bytes, &args.of_a_document(&input.name));
    written_again(cx, document, bytes, &input.name, args)
}

/// [`open_to_write`], but turns stay turns. Also returns the text of a document that does not keep its own because it
/// is not JSON.
pub(crate) fn open_unlowered(
    cx: &Context,
    input: &mut Input,
    args: &InputArgs,
) -> Result<(Document, Option<Vec<u8>>), Failure> {
    let bytes = input.read_all()?;
    let document = Document::read_unlowered(&bytes, &args.of_a_document(&input.name));
    let is_text = document.as_ref().is_ok_and(|it| !it.format().is_json());
    let text = is_text.then(|| bytes.clone());
    Ok((written_again(cx, document, bytes, &input.name, args)?, text))
}

/// The document read from `bytes`, or why it cannot be read.
pub(crate) fn written_again(
    cx: &Context,
    document: Result<Document, Refusal>,
    bytes: Vec<u8>,
    name: &str,
    args: &InputArgs,
) -> Result<Document, Failure> {
    match document {
        Ok(mut document) => {
            say(cx, &document, name, args.from);
            document.set_source(bytes);
            Ok(document)
        }
        Err(refusal) => Err(Failure::document(refusal, name, bytes)),
    }
}

/// [`open`] for bytes already read. They are freed here, so only the messages use memory.
pub(crate) fn read(
    cx: &Context,
    bytes: Vec<u8>,
    name: &str,
    args: &InputArgs,
) -> Result<Document, Failure> {
    let document = Document::read(&bytes, &args.of_a_document(name));
    document
        .map_err(|it| Failure::document(it, name, bytes))
        .inspect(|it| say(cx, it, name, args.from))
}

/// Reports what was not read, for commands that show or shorten a document without a check. Returns the status: a
/// document without messages is not valid.
pub(crate) fn say_unread(cx: &Context, document: &Document, name: &str) -> Status {
    if !cx.quiet {
        let found: Vec<_> = document.notes().iter().filter(|it| is_unread(it)).cloned().collect();
        cx.note(&cx.list(name, &Quotes::default()).findings(&found));
    }
    Status::of(!document.is_empty())
}

fn is_unread(it: &Diagnostic) -> bool {
    let is_of_body = it.at.message.is_none();
    match it.code.as_str() {
        "message::no-messages" => true,
        "message::duplicate-member" | "message::unread-messages" => is_of_body,
        _ => false,
    }
}

fn say(cx: &Context, document: &Document, name: &str, named: Option<Format>) {
    say_format(cx, document.format(), name, named);
}

/// Prints the recognised format with `-v`, unless it was named.
pub(crate) fn say_format(cx: &Context, format: Format, name: &str, named: Option<Format>) {
    if named.is_none() {
        cx.detail(|| format!("{name}: recognised as {format}"));
    }
}

/// The inputs of a run.
pub(crate) struct Sources {
    /// `None` for piped input.
    paths: Vec<Option<PathBuf>>,
    max_bytes: u64,
}

impl Sources {
    /// Finds the named inputs. Fails if a pattern matches nothing, or standard input is named twice.
    pub(crate) fn find(named: &[PathBuf], max_bytes: u64) -> Result<Self, Failure> {
        let is_dash = |it: &&PathBuf| it.as_os_str() == "-";
        let is_twice = named.iter().filter(is_dash).count() > 1;
        refuse_if(is_twice, "standard input (`-`) can be named only once")?;
        let mut paths = Vec::new();
        for path in named {
            match pattern(path) {
                Some(pattern) => paths.extend(matching(pattern)?.into_iter().map(Some)),
                None => paths.push(Some(path.clone())),
            }
        }
        if paths.is_empty() {
            paths.push(None);
        }
        Ok(Sources { paths, max_bytes })
    }

    /// Whether there is one input, so answers need no name.
    pub(crate) fn is_one(&self) -> bool {
        self.paths.len() == 1
    }

    /// The files among them, which no output may overwrite.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().flatten().map(PathBuf::as_path).filter(|it| it.as_os_str() != "-")
    }

    /// Whether this file is one of them, under any name.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let real = fs::canonicalize(path);
        real.is_ok_and(|real| {
            self.files().any(|it| fs::canonicalize(it).is_ok_and(|it| it == real))
        })
    }

    /// Whether an input is not a file.
    pub(crate) fn has_standard_input(&self) -> bool {
        self.files().count() < self.paths.len()
    }

    /// Refuses an option about one document.
    pub(crate) fn expect_one(&self, option: &str, is_given: bool) -> Result<(), Failure> {
        refuse_if(is_given && !self.is_one(), format!("{option} accepts only one input"))
    }

    /// The JSON answer about one of them: begins with `path` if there are several.
    pub(crate) fn headed_json(&self, name: &str, json: Vec<u8>) -> Vec<u8> {
        match self.is_one() {
            true => json,
            false => ObjectWriter::new().with("path", &name).all_of(&json).finish(),
        }
    }

    /// The heading of an answer for people, if there are several.
    pub(crate) fn head(&self, name: &str) -> String {
        if self.is_one() { String::new() } else { format!("==> {} <==\n", safe(name)) }
    }

    /// Answers each input in turn. If one of several fails, the failure is printed and the run continues; the status is
    /// the highest of all.
    pub(crate) fn each(
        &self,
        cx: &Context,
        mut one: impl FnMut(Input) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        self.each_path(cx, |path| self.open(path).and_then(&mut one))
    }

    /// [`Sources::each`] for a command that opens the inputs itself; piped input has no path.
    pub(crate) fn each_path(
        &self,
        cx: &Context,
        mut one: impl FnMut(Option<&Path>) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        let mut worst = Status::Clean;
        for path in &self.paths {
            worst = worst.max(match one(path.as_deref()) {
                Ok(status) => status,
                Err(failure) if self.is_one() || matches!(failure, Failure::ClosedPipe) => {
                    return Err(failure);
                }
                Err(failure) => {
                    cx.note(&render::failure(&failure, cx.color_err));
                    Status::Failed
                }
            });
        }
        Ok(worst)
    }

    /// Opens the one input there is.
    pub(crate) fn open_one(&self) -> Result<Input, Failure> {
        match self.paths.as_slice() {
            [path] => self.open(path.as_deref()),
            _ => Err(Failure::Usage("this command takes one input at a time".to_owned())),
        }
    }

    /// Opens one of them.
    pub(crate) fn open(&self, path: Option<&Path>) -> Result<Input, Failure> {
        Input::open(path, self.max_bytes)
    }
}

/// The text of a path that should be read as a pattern.
fn pattern(path: &Path) -> Option<&str> {
    let text = path.to_str().filter(|it| it.contains(['*', '?', '[']))?;
    path.symlink_metadata().is_err().then_some(text)
}

/// The files that match a pattern, by name.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let bad =
        |it: &dyn std::fmt::Display| Failure::Usage(format!("{pattern} is not a pattern: {it}"));
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let found = glob::glob_with(pattern, options).map_err(|it| bad(&it))?;
    let mut paths = Vec::new();
    for path in found {
        let path = path.map_err(|it| Failure::read(it.path().display().to_string(), it.into()))?;
        // Reading from a pipe would block.
        if path.is_file() {
            paths.push(path);
        }
    }
    match paths.is_empty() {
        true => Err(Failure::read(pattern, io::Error::other("no file matches the pattern"))),
        false => Ok(paths),
    }
}
