//! The laws of message files: one function a law, which panics where it does not hold.
//!
//! Called over the case data, over random texts, and by the fuzz targets. No law knows a test harness.

use msg_core::{Message, Part};
use msg_file::{
    AppendOptions, Cell, CellKind, CellMarker, CellRef, CellView, Eol, FileLimits, HistoryMode,
    HistoryOptions, MessageFile, Mode, NewCell, Nonce, PartKind, RunResult, Span, append, render,
    run_cells, write,
};
use std::collections::HashSet;

pub(crate) fn read(bytes: &[u8], mode: Mode) -> MessageFile {
    MessageFile::read(bytes, mode, &FileLimits::default())
        .expect("because the default limits are far away")
}

pub(crate) fn nonces() -> impl FnMut() -> Nonce {
    let mut n = 0u64;
    move || {
        n += 1;
        Nonce::from_random(n)
    }
}

/// Printing what was read gives the input; parts tile cells, cells tile the file (law 1).
pub(crate) fn identity(bytes: &[u8], mode: Mode) {
    let doc = read(bytes, mode);
    let mut printed = Vec::new();
    doc.print(&mut printed).expect("because a Vec takes everything");
    assert!(printed == bytes, "printing changed the file");
    let mut at = doc.preamble().end;
    for cell in doc.cells() {
        assert_eq!(cell.span().start, at, "a gap between cells");
        for (_, span) in cell.parts() {
            assert_eq!(span.start, at, "a gap between parts");
            assert!(!span.is_empty(), "an empty part");
            at = span.end;
        }
        assert_eq!(cell.span().end, at);
    }
    assert_eq!(at, bytes.len(), "the cells do not reach the end");
    assert!(doc.to_json("x.msg.md").ends_with('}'));
    assert!(doc.check().len() >= doc.diagnostics().len());
}

/// Span, strength, level, kind, id, body and parts of a cell.
type Form = (Span, bool, u8, CellMarker, Option<String>, Vec<u8>, Vec<(PartKind, Span)>);

/// What a reader sees of a cell's form, wherever the file begins.
fn form(cell: &Cell, base: usize) -> Form {
    let moved = |s: Span| Span::new(s.start - base, s.end - base);
    let it = cell.heading();
    let parts = cell.parts().iter().map(|(k, s)| (*k, moved(*s))).collect();
    let id = it.id.map(|i| i.into_owned());
    (moved(cell.span()), it.strong, it.level, it.kind, id, cell.body().into_owned(), parts)
}

/// Reading from a strong heading to the end gives the cells of the full read (law 3).
pub(crate) fn any_tail(bytes: &[u8]) {
    let doc = read(bytes, Mode::MessageFile);
    let strong: Vec<usize> =
        doc.cells().iter().filter(|c| c.heading().strong).map(|c| c.ordinal() - 1).collect();
    for &i in strong.iter().rev().take(3).chain(strong.first()) {
        let start = doc.cells()[i].span().start;
        let part = read(&bytes[start..], Mode::MessageFile);
        assert_eq!(part.cells().len(), doc.cells().len() - i);
        for (a, b) in doc.cells()[i..].iter().zip(part.cells()) {
            assert_eq!(form(a, start), form(b, 0));
        }
    }
}

/// Appending keeps every byte and every cell above, and the new cell reads back (law 2).
pub(crate) fn append_keeps_the_past(bytes: &[u8], mode: Mode, cell: &NewCell) {
    let old = read(bytes, mode);
    let Ok((new, placed)) =
        append(bytes, mode, [cell.clone()], &AppendOptions::default(), &mut nonces())
    else {
        return;
    };
    assert!(new.starts_with(bytes), "old bytes changed");
    let doc = read(&new, mode);
    assert_eq!(doc.cells().len(), old.cells().len() + 1);
    // A last line without an end has one from now on; it may be that of the frontmatter or the section.
    let joined = &new[..placed[0].span.start];
    let ended = read(&joined[..joined.len().min(bytes.len() + 1)], mode);
    assert_eq!(doc.frontmatter(), ended.frontmatter());
    assert_eq!(doc.section(), ended.section());
    assert_eq!(doc.preamble_text(), old.preamble_text());
    for (a, b) in old.cells().iter().zip(doc.cells()) {
        let (x, y) = (a.heading(), b.heading());
        assert_eq!(x, y);
        assert_eq!(a.type_name(), b.type_name());
        assert!(a.attrs().eq(b.attrs()));
        assert_eq!(a.body(), b.body());
        assert_eq!(
            (a.span().start, a.kind().category(), a.parent()),
            (b.span().start, b.kind().category(), b.parent())
        );
    }
    let last = doc.cells().last().expect("because a cell was appended");
    assert_eq!(last.span(), placed[0].span);
    assert!(last.heading().strong);
    reads_back(cell, last);
}

/// The body that a cell without `exact` keeps: without empty lines at its edges.
fn without_edges(body: &[u8]) -> &[u8] {
    let empty = |l: &[u8]| l.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'));
    let mut body = body;
    while let Some(n) = body.iter().position(|&b| b == b'\n').filter(|&n| empty(&body[..n])) {
        body = &body[n + 1..];
    }
    if empty(body) {
        return b"";
    }
    while let Some(n) = body.iter().rposition(|&b| b == b'\n').filter(|&n| empty(&body[n + 1..])) {
        body = &body[..n];
    }
    body
}

fn reads_back(cell: &NewCell, read: &Cell) {
    if cell.exact {
        assert_eq!(read.content(), String::from_utf8_lossy(&cell.body));
    } else {
        assert_eq!(*read.body(), *without_edges(&cell.body));
    }
    let added = |key: &str| key == "headings" && !cell.attrs.iter().any(|it| it.0 == key);
    let own = |key: &str| (cell.exact && (key == "lead" || key == "trail")) || added(key);
    let given = cell.attrs.iter().filter(|(k, _)| !own(k)).map(|(k, v)| (k.as_str(), v.as_deref()));
    let found: Vec<_> = read.attrs().filter(|a| !own(&a.key)).collect();
    assert!(given.eq(found.iter().map(|a| (&*a.key, a.value.as_deref()))), "{found:?}");
    assert_eq!(read.heading().kind, cell.kind);
}

/// A rendered cell reads back, with either line end (law 4).
pub(crate) fn write_then_read(cell: &NewCell) {
    for eol in [Eol::Lf, Eol::CrLf] {
        let Ok(text) = render(cell, "7.x", 2, eol) else { continue };
        let doc = read(&text, Mode::MessageFile);
        assert_eq!(doc.cells().len(), 1, "{:?}", String::from_utf8_lossy(&text));
        let read = &doc.cells()[0];
        assert!(read.heading().strong);
        assert_eq!(read.id().as_deref(), Some("7.x"));
        assert_eq!(
            read.type_name().as_deref(),
            Some(cell.ty.as_deref().filter(|t| !t.is_empty()).unwrap_or("markdown"))
        );
        reads_back(cell, read);
    }
}

/// Formatting keeps what the file means and does nothing the second time (law 7).
pub(crate) fn format_keeps_meaning(bytes: &[u8], mode: Mode) {
    let doc = read(bytes, mode);
    let once = doc.format();
    let formatted = read(&once.bytes, mode);
    let again = formatted.format();
    assert!(again.bytes == once.bytes && again.changed.is_empty(), "formatting twice differs");
    assert_eq!(doc.cells().len(), formatted.cells().len());
    for (a, b) in doc.cells().iter().zip(formatted.cells()) {
        assert_eq!(a.type_name(), b.type_name());
        assert_eq!(a.body(), b.body());
        assert_eq!((a.view(), a.parent(), a.kind()), (b.view(), b.parent(), b.kind()));
    }
    let messages = |d: &MessageFile| d.history(&HistoryOptions::default()).map(|h| h.messages).ok();
    assert_eq!(messages(&doc), messages(&formatted));
}

/// Nothing private is sent, call ids are unique, calls are answered directly after them (law 10).
pub(crate) fn history_is_sound(bytes: &[u8], mode: Mode) {
    let doc = read(bytes, mode);
    let history = doc.history(&HistoryOptions::default()).expect("because no agent is asked for");
    assert_eq!(history.messages.len(), history.sources.len());
    for &cell in history.sources.iter().flatten() {
        let mut at = Some(cell);
        while let Some(n) = at {
            let cell = &doc.cells()[n - 1];
            let stub = cell.view() == CellView::Stub;
            assert!(cell.history() != HistoryMode::Exclude || stub, "an excluded cell is sent");
            assert!(cell.view() != CellView::None, "a hidden cell is sent");
            // Summaries and answers speak for themselves, wherever their id puts them (MF-27).
            let alone = matches!(cell.kind(), CellKind::Summary(_) | CellKind::Agent(_));
            at = cell.parent().filter(|_| !alone);
        }
    }
    let mut seen = HashSet::new();
    let mut open: HashSet<&str> = HashSet::new();
    for message in &history.messages {
        let results: Vec<_> = message.tool_results().collect();
        assert!(
            results.is_empty() || results.iter().all(|r| open.remove(&*r.call_id)),
            "a result without call"
        );
        if results.is_empty() {
            assert!(open.is_empty(), "a call without result");
        }
        for call in message.tool_calls() {
            assert!(seen.insert(&*call.id), "a call id twice: {}", call.id);
            open.insert(&call.id);
        }
    }
    assert!(open.is_empty(), "a call without result at the end");
}

/// Messages become cells and come back equal, for chains as MF-38 names them (law 5).
pub(crate) fn messages_come_back(old: &[u8], chain: &[Message]) {
    let options = HistoryOptions::default().with_open_end();
    let before = read(old, Mode::MessageFile).messages(&options);
    let before = before.expect("because no agent is asked for").len();
    let (new, _) =
        append(old, Mode::MessageFile, chain.to_vec(), &AppendOptions::default(), &mut nonces())
            .expect("because any message becomes cells");
    assert!(new.starts_with(old));
    let doc = read(&new, Mode::MessageFile);
    let read = doc.messages(&options).expect("because no agent is asked for");
    assert_eq!(&read[before..], chain, "{}", String::from_utf8_lossy(&new));
    assert_eq!(doc.history(&options).expect("because no agent is asked for").messages, read);
    if old.is_empty() {
        let written = write(chain.to_vec(), &AppendOptions::default(), &mut nonces());
        assert_eq!(written.expect("because any message becomes cells"), new);
    }
}

/// Streams read back equal, however they were cut into chunks (law 8).
pub(crate) fn streams_come_back(chunks: &[(bool, String)]) {
    let code = b"# %% [^1]\n\n[^1]: [code]\n\n```sh\nls\n```\n";
    let name = |err: bool| if err { "stderr" } else { "stdout" }.to_owned();
    let streams: Vec<(String, String)> =
        chunks.iter().map(|(err, text)| (name(*err), text.clone())).collect();
    let result = RunResult { streams, ..RunResult::default() };
    let doc = read(code, Mode::MessageFile);
    let cells = run_cells(&doc, &CellRef::from("1"), &result).expect("because 1 is a code cell");
    let (new, _) = append(code, Mode::MessageFile, cells, &AppendOptions::default(), &mut nonces())
        .expect("because any output fits");
    let doc = read(&new, Mode::MessageFile);
    let streams = doc.cells()[1].streams();
    let whole =
        |err: bool| chunks.iter().filter(|c| c.0 == err).map(|c| c.1.as_str()).collect::<String>();
    assert_eq!(
        (streams.stdout, streams.stderr, streams.text),
        (whole(false), whole(true), String::new())
    );
}

/// An edit of an attribute leaves every byte outside its cell (law 9).
pub(crate) fn edit_touches_its_cell(bytes: &[u8], mode: Mode, value: &str) {
    let doc = read(bytes, mode);
    for cell in doc.cells().iter().take(3) {
        let mut edit = doc.edit();
        if edit.set_attr(cell.ordinal(), "k", Some(value)).is_err() {
            continue;
        }
        let new = edit.finish();
        assert!(new.starts_with(&bytes[..cell.span().start]), "bytes before the cell changed");
        assert!(new.ends_with(&bytes[cell.span().end..]), "bytes after the cell changed");
        let after = read(&new, mode);
        assert_eq!(after.cells()[cell.ordinal() - 1].attr("k").as_deref(), Some(value));
        assert_eq!(after.cells()[cell.ordinal() - 1].body(), cell.body());
    }
    for cell in doc.cells().iter().take(3) {
        let mut edit = doc.edit();
        if edit.set_history(cell.ordinal(), HistoryMode::Exclude).is_ok() {
            let after = read(&edit.finish(), mode);
            assert_eq!(after.cells()[cell.ordinal() - 1].history(), HistoryMode::Exclude);
        }
    }
}

/// A message that has only what a cell can say, for fuzzing: hostile text in every place.
pub(crate) fn chain_of(texts: &[String]) -> Vec<Message> {
    let mut chain = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let text = text.clone();
        match i % 5 {
            0 => chain.push(Message::user(text)),
            1 => chain.push(Message::assistant(text)),
            2 => {
                let call = msg_core::ToolCall::new(format!("call_{i}"), "f", text);
                let mut message = Message::new(msg_core::Role::Assistant);
                message.parts.push(Part::ToolCall(call));
                chain.push(message);
                chain.push(Message::tool_result(format!("call_{i}"), "done"));
            }
            3 => {
                let call = msg_core::ToolCall::new(format!("call_{i}"), "g", "{\"a\":1}");
                let mut message = Message::assistant("I look.");
                message.parts.push(Part::ToolCall(call));
                chain.push(message);
                chain.push(Message::tool_result(format!("call_{i}"), text));
            }
            _ => {
                let mut message = Message::new(msg_core::Role::Assistant);
                message.parts.push(Part::Reasoning(msg_core::Reasoning::new(text)));
                message.parts.push(Part::text("so"));
                chain.push(message);
            }
        }
    }
    chain
}
