//! Where a command reads from: a path, `-`, or whatever is piped in.
//!
//! Opens and reads; does not look at what the bytes say: `msg-document` does.
//!
//! What a command reads: one input, or several by paths and patterns, in the order in which they were named.
//!
//! ```text
//! msg check a.json 'logs/**/*.json'   a.json, then the files that match, by name
//! msg check -                         standard input; so does nothing where something is piped in
//! ```
//!
//! A pattern is read only where no file has that very name.

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

/// The largest document that is read, in bytes (256 MiB), unless `--max-bytes` says otherwise.
pub(crate) const MAX_DOCUMENT: u64 = 256 << 20;
const MAX_DOCUMENT_TEXT: &str = "268435456";
/// As much of an input is looked at to tell lines from a document, unless its first line is longer.
const HEAD: usize = 64 << 10;

// No doc comment on the flattened structs: clap would show it as the text of the command.
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
    /// How a line of a `--jsonl` run is read: it has no name, and no Markdown fits on it.
    pub(crate) fn of_a_line(&self) -> ReadOptions {
        self.of_a_document("").with_accept(Accept::Json)
    }

    /// How the document that is called `name` is read.
    pub(crate) fn of_a_document(&self, name: &str) -> ReadOptions {
        let calls = self.calls.unwrap_or_default();
        let read = ReadOptions::default().with_from(self.from).with_calls(calls);
        read.with_name(name.to_owned()).with_max_bytes(self.limit.max_bytes)
    }

    /// The most bytes that a document, or a file beside it, may have.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.limit.max_bytes
    }

    /// Finds what was named.
    pub(crate) fn sources(&self) -> Result<Sources, Failure> {
        Sources::find(&self.inputs, self.limit.max_bytes)
    }

    /// Whether what is read is plainly JSON lines, and no session. What was looked at stays to be read.
    pub(crate) fn looks_like_lines(&self, input: &mut Input) -> Result<bool, Failure> {
        let read = self.of_a_document(&input.name);
        Ok(input.first_lines(|it| read.is_json_lines(it))?.unwrap_or(false))
    }

    /// What is read: JSON lines if that was said, or is plain to see and no session; a row if its conversation is in
    /// a member, as was said or as is known of its kind. `rows` is nothing for a command that reads no rows.
    pub(crate) fn kind(
        &self,
        cx: &Context,
        input: &mut Input,
        lines: &LineArgs,
        rows: Option<&RowArgs>,
    ) -> Result<Kind, Failure> {
        if lines.jsonl {
            input.expect_no_bracket()?;
            // Lines of a format that was named are not taken for records of another one.
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

/// The text of a file that an option names, within a limit of bytes.
pub(crate) fn side_file(path: &Path, limit: u64) -> Result<String, Failure> {
    let bytes = Input::open(Some(path), limit)?.read_all()?;
    String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("{} is not UTF-8", path.display())))
}

/// Where the second line begins that is not blank.
fn second_line(text: &[u8]) -> Option<usize> {
    let first = text.iter().position(|it| !it.is_ascii_whitespace())?;
    let end = first + memchr::memchr(b'\n', &text[first..])?;
    text[end..].iter().position(|it| !it.is_ascii_whitespace()).map(|it| end + it)
}

/// As many bytes are looked at for a bracket alone on its line.
const LONGEST_BRACKET: usize = 16;

fn over_lines() -> Diagnostic {
    let text = "this looks like one document over several lines, not JSON Lines";
    let code = Code::new("message::foreign-format");
    Diagnostic::error(code, text).with_fix("remove --jsonl to read it as one")
}

/// An opened input.
pub(crate) struct Input {
    /// How the input is called in messages.
    pub(crate) name: String,
    /// The file, if it is one: what no output may overwrite.
    pub(crate) path: Option<PathBuf>,
    /// What that file was like before it was read.
    pub(crate) stamp: Option<Stamp>,
    /// The size in bytes, where the system knows it.
    pub(crate) len: Option<u64>,
    /// The most bytes that one document may have.
    pub(crate) limit: u64,
    /// The bytes.
    pub(crate) reader: Box<dyn Read + Send>,
}

impl Input {
    /// Opens `path`, a document of which may have so many bytes; `-` and `None` are standard input, the latter
    /// only if it is not a terminal.
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
            // Only what is named by its path may be replaced.
            path: (path == named && meta.is_file()).then(|| path.to_owned()),
            stamp: Stamp::of(path).ok().filter(|_| meta.is_file()),
            len: meta.is_file().then_some(meta.len()),
            limit,
            reader: Box::new(file),
        })
    }

    /// Refuses what is plainly one document over several lines, or one session.
    pub(crate) fn expect_lines(&mut self) -> Result<(), Failure> {
        self.expect_no_bracket()?;
        self.expect_no_session()
    }

    /// Refuses what is plainly one document over several lines: its first line is a bracket alone. Reads
    /// no further than to the end of that line.
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

    /// Refuses a session, whose lines are records of one document. Only a file is looked at: what is piped
    /// in may go on without an end, and each line of it is to be answered at once.
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

    /// The answer of `look` about the first lines, which stay to be read; none for a single line.
    fn first_lines<T>(&mut self, look: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, Failure> {
        let mut head = Vec::new();
        let mut is_all = false;
        // Each time as much again, so that looking for the second line stays linear.
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

    /// Whether it is one row of a kind that is known, such as a line of a batch. What was looked at stays to be read.
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

    /// All bytes. Fails beyond the limit, without having read more than one byte beyond it.
    pub(crate) fn read_all(&mut self) -> Result<Vec<u8>, Failure> {
        if self.len.is_some_and(|len| len > self.limit) {
            return Err(Failure::too_large(&self.name, self.limit));
        }
        let room = self.len.and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
        // One more than the file has, so that the last read finds its end without growing.
        let mut bytes = Vec::with_capacity(room + 1);
        let read = (&mut self.reader).take(self.limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| Failure::read(&self.name, source))?;
        if bytes.len() as u64 > self.limit {
            return Err(Failure::too_large(&self.name, self.limit));
        }
        Ok(bytes)
    }
}

// The formats as values of `--from` and `--to`, and a document as a command opens it.
//
// What formats there are, and what each is, says `msg-document`.

/// The parser of a format's name.
pub(crate) fn parser() -> impl TypedValueParser<Value = Format> {
    let value = |it: Format| PossibleValue::new(it.name()).help(it.about());
    let names = PossibleValuesParser::new(Format::all().map(value));
    names.map(|name| name.parse().expect("because the names are those of formats"))
}

/// The parser of where calls are.
fn calls_parser() -> impl TypedValueParser<Value = CallForms> {
    let names = PossibleValuesParser::new(["native", "xml"]);
    names.map(|name| if name == "xml" { CallForms::Xml } else { CallForms::Native })
}

/// Reads all of `input`, says with `-v` what it is, and gives the place where it is wrong.
pub(crate) fn open(cx: &Context, input: &mut Input, args: &InputArgs) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    read(cx, bytes, &input.name, args)
}

/// As [`open`], of a document that is written again: it keeps its layout.
pub(crate) fn open_to_write(
    cx: &Context,
    input: &mut Input,
    args: &InputArgs,
) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    let document = Document::read(&bytes, &args.of_a_document(&input.name));
    written_again(cx, document, bytes, &input.name, args)
}

/// As [`open_to_write`], but turns stay turns; and the text of a document that does not keep its own, since it is not
/// JSON.
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

/// A document that has been read from `bytes`, or why it is none.
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

/// As [`open`], of bytes that have been read. They are dropped here: from now on only the messages
/// take memory.
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

/// Says what of a document was not read, if a command shows or shortens it without a check, and what the run is worth:
/// nothing is not sound.
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

/// Says with `-v` as what a document was recognised, unless its format was named.
pub(crate) fn say_format(cx: &Context, format: Format, name: &str, named: Option<Format>) {
    if named.is_none() {
        cx.detail(|| format!("{name}: recognised as {format}"));
    }
}

/// The inputs of a run.
pub(crate) struct Sources {
    /// None for what is piped in.
    paths: Vec<Option<PathBuf>>,
    max_bytes: u64,
}

impl Sources {
    /// Finds what was named. Fails for a pattern that nothing matches, and for standard input named
    /// twice.
    pub(crate) fn find(named: &[PathBuf], max_bytes: u64) -> Result<Self, Failure> {
        let is_dash = |it: &&PathBuf| it.as_os_str() == "-";
        let is_twice = named.iter().filter(is_dash).count() > 1;
        refuse_if(is_twice, "standard input (`-`) is named twice, and can be read once")?;
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

    /// Whether there is one input, so that its answer needs no name.
    pub(crate) fn is_one(&self) -> bool {
        self.paths.len() == 1
    }

    /// The files among them: what no output may overwrite.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().flatten().map(PathBuf::as_path).filter(|it| it.as_os_str() != "-")
    }

    /// Whether this file is one of them, by whatever name.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let real = fs::canonicalize(path);
        real.is_ok_and(|real| {
            self.files().any(|it| fs::canonicalize(it).is_ok_and(|it| it == real))
        })
    }

    /// Whether something other than a file is read.
    pub(crate) fn has_standard_input(&self) -> bool {
        self.files().count() < self.paths.len()
    }

    /// Refuses an option that is about one document.
    pub(crate) fn expect_one(&self, option: &str, is_given: bool) -> Result<(), Failure> {
        refuse_if(
            is_given && !self.is_one(),
            format!("{option} is for one input, and there are several"),
        )
    }

    /// The JSON answer about one of them: with `path` first, where there are several.
    pub(crate) fn headed_json(&self, name: &str, json: Vec<u8>) -> Vec<u8> {
        match self.is_one() {
            true => json,
            false => ObjectWriter::new().with("path", &name).all_of(&json).finish(),
        }
    }

    /// The line above an answer for people, where there are several.
    pub(crate) fn head(&self, name: &str) -> String {
        if self.is_one() { String::new() } else { format!("==> {} <==\n", safe(name)) }
    }

    /// Answers each input in turn. With several, one that cannot be answered is said and the run goes on;
    /// the status is the highest of all.
    pub(crate) fn each(
        &self,
        cx: &Context,
        mut one: impl FnMut(Input) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        self.each_path(cx, |path| self.open(path).and_then(&mut one))
    }

    /// As [`Sources::each`], for a command that opens them itself; what is piped in has no path.
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

/// The text of a path that is to be read as a pattern.
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
        // A pipe would be waited for.
        if path.is_file() {
            paths.push(path);
        }
    }
    match paths.is_empty() {
        true => Err(Failure::read(pattern, io::Error::other("no file has such a name"))),
        false => Ok(paths),
    }
}
