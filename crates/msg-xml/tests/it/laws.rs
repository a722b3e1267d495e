//! The laws of msg-xml (section 12 of its rules): one function a law, taking the input and panicking where
//! the law does not hold. Called over the cases, over random input and by the fuzz targets.

use msg_core::FinishReason;
use msg_xml::{
    ArgPath, CallEnd, Code, Collector, Dialects, Event, Fenced, ParseOptions, Parsed, ParsedCall,
    ParsedResult, SegmentKind, StreamParser, ThinkingMode, ToolSet, parse, render,
};

/// Options from two bytes, so that random input reaches all of them.
pub(crate) fn options(choice: u32) -> ParseOptions {
    let pick = |shift: u32, n: u32| (choice >> shift) % n;
    let thinking =
        [ThinkingMode::Extract, ThinkingMode::Drop, ThinkingMode::Off][pick(0, 3) as usize];
    let fenced = [Fenced::Fallback, Fenced::Always, Fenced::Never][pick(2, 3) as usize];
    let names = Dialects::NAMES
        .iter()
        .enumerate()
        .filter(|(i, _)| choice & (0x100 << i) != 0)
        .map(|(_, name)| *name);
    let options = ParseOptions::new();
    let options = if pick(4, 8) == 7 { options.with_implicit_thinking() } else { options };
    options
        .with_thinking(thinking)
        .with_fenced_tools(fenced)
        .with_dialects(Dialects::by_names(names).expect("because the names are the built-in ones"))
        .with_tools(ToolSet::from_iter(["read_file", "t"]))
}

/// The finish reason that goes with the options.
pub(crate) fn finish(choice: u32) -> Option<FinishReason> {
    (choice & 0x80 != 0).then_some(FinishReason::Length)
}

/// Feeds the pieces and collects the events.
pub(crate) fn streamed<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    finish: Option<FinishReason>,
    opts: &ParseOptions,
) -> Parsed {
    collected(pieces, finish, opts, |parser, piece, all| {
        parser.feed(piece).for_each(|event| all.push(event));
    })
}

/// The same, with nothing after each piece, and with every other one as text if it is.
fn streamed_as_text<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    finish: Option<FinishReason>,
    opts: &ParseOptions,
) -> Parsed {
    let mut as_text = false;
    collected(pieces, finish, opts, |parser, piece, all| {
        as_text = !as_text;
        match std::str::from_utf8(piece) {
            Ok(text) if as_text => parser.feed_str(text).for_each(|event| all.push(event)),
            _ => parser.feed(piece).for_each(|event| all.push(event)),
        }
        assert_eq!(parser.feed_str("").next(), None);
        assert_eq!(parser.feed(b"").next(), None);
    })
}

fn collected<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    finish: Option<FinishReason>,
    opts: &ParseOptions,
    mut feed: impl FnMut(&mut StreamParser, &'a [u8], &mut Collector),
) -> Parsed {
    let mut parser = StreamParser::new(opts.clone());
    let mut all = Collector::default();
    pieces.for_each(|piece| feed(&mut parser, piece, &mut all));
    parser.finish(finish).for_each(|event| all.push(event));
    all.finish()
}

/// Law 1: spans ascend within the input, and a text without markup removed from it is its bytes.
pub(crate) fn spans_account_for_the_input(
    input: &[u8],
    finish: Option<FinishReason>,
    opts: &ParseOptions,
) {
    let parsed = parse(input, finish, opts);
    let mut at = 0;
    for segment in &parsed.segments {
        assert!(
            segment.span.start >= at && segment.span.end >= segment.span.start,
            "spans ascend: {segment:?}"
        );
        assert!(segment.span.end <= input.len(), "spans lie in the input: {segment:?}");
        at = segment.span.end;
        let source = String::from_utf8_lossy(&input[segment.span.clone()]);
        match &segment.kind {
            SegmentKind::Text(text) if text.len() >= source.len() => {
                assert_eq!(*text, source, "a text is its bytes");
            }
            SegmentKind::Text(text) => assert_removed_are_tags(text, &source),
            SegmentKind::Thinking { text, .. } => {
                assert_eq!(*text, source, "a thought is its bytes");
            }
            SegmentKind::Call(call) => {
                assert!(source.contains(call.source()), "a call's source lies in its span");
            }
            SegmentKind::Partial(_) => {}
        }
    }
    for it in &parsed.diagnostics {
        let (start, end) = (
            it.at.start.expect("because each has a place"),
            it.at.end.expect("because each has a place"),
        );
        assert!(start <= end && end <= input.len(), "{it:?}");
    }
}

/// What a text lacks of its span is thinking that yields no segment: the text's characters are the span's, in order.
fn assert_removed_are_tags(text: &str, source: &str) {
    let mut rest = source.chars();
    assert!(text.chars().all(|c| rest.any(|s| s == c)), "{text:?} is not in {source:?}");
}

/// Law 2: these pieces give what the whole gives, as bytes and as text.
pub(crate) fn chunks_do_not_matter<'a>(
    input: &[u8],
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
    finish: Option<FinishReason>,
    opts: &ParseOptions,
) {
    let whole = parse(input, finish.clone(), opts);
    let bytes = streamed(pieces.clone(), finish.clone(), opts);
    assert_eq!(bytes, whole, "{:?}", String::from_utf8_lossy(input));
    let text = streamed_as_text(pieces, finish, opts);
    assert_eq!(text, whole, "as text: {:?}", String::from_utf8_lossy(input));
}

/// Law of XT-41: the pieces of a value, since its last reset, are the value.
pub(crate) fn pieces_are_the_values(
    input: &[u8],
    chunk: usize,
    finish: Option<FinishReason>,
    opts: &ParseOptions,
) {
    let mut parser = StreamParser::new(opts.clone());
    let mut pieces: Vec<(u32, ArgPath, String)> = Vec::new();
    let mut check = |event: Event<'_>| match event {
        Event::Arg { call, path, text } => {
            match pieces.iter_mut().find(|(c, p, _)| *c == call && *p == *path) {
                Some((.., all)) => all.push_str(&text),
                None => pieces.push((call, path.into_owned(), text.into_owned())),
            }
        }
        Event::ArgReset { call, path } => {
            pieces.retain(|(c, p, _)| *c != call || !p.starts_with(&path));
        }
        Event::ToolEnd { call, outcome } => {
            let CallEnd::Complete(it) = *outcome else { return };
            let value = it.arguments().value().expect("because arguments are JSON").clone();
            for (_, path, text) in pieces.iter().filter(|(c, ..)| *c == call) {
                assert_eq!(lookup(&value, path), Some(text.as_str()), "{path} of {value}");
            }
            let sent: usize = pieces.iter().filter(|it| it.0 == call).map(|it| it.2.len()).sum();
            assert_eq!(sent, text_len(&value), "{value}: {pieces:?}");
        }
        _ => {}
    };
    for piece in input.chunks(chunk.max(1)) {
        parser.feed(piece).for_each(&mut check);
    }
    parser.finish(finish).for_each(&mut check);
}

/// The bytes of all texts in a value.
fn text_len(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::String(it) => it.len(),
        serde_json::Value::Array(list) => list.iter().map(text_len).sum(),
        serde_json::Value::Object(members) => members.values().map(text_len).sum(),
        _ => 0,
    }
}

fn lookup<'v>(value: &'v serde_json::Value, path: &ArgPath) -> Option<&'v str> {
    let mut at = value;
    for item in path.items() {
        at = match item {
            msg_xml::PathItem::Key(key) => at.as_array().map_or(at, |list| &list[0]).get(&**key)?,
            msg_xml::PathItem::Index(n) => at.get(n)?,
        };
    }
    at.as_array().map_or(at, |list| &list[0]).as_str()
}

/// Law 3: a rendered call is read back as that call, alone, after text and before text.
pub(crate) fn rendered_calls_come_back(call: &ParsedCall) {
    let Ok(text) = render(call) else { return };
    for (before, after) in [("", ""), ("Hello.\n", ""), ("", "\nbye"), ("a ", " b")] {
        let parsed =
            parse(format!("{before}{text}{after}").as_bytes(), None, &ParseOptions::default());
        let calls: Vec<&ParsedCall> = parsed.calls().collect();
        assert_eq!(calls.len(), 1, "{text}");
        assert_eq!(calls[0].tool_name(), call.tool_name());
        assert_eq!(calls[0].server_name(), call.server_name());
        assert_eq!(calls[0].arguments().value(), call.arguments().value(), "{text}");
        assert_eq!(parsed.text(), format!("{before}{after}"), "{text}");
        // Arguments that are not an object stay what they are, and reading says so.
        let expected =
            |it: &msg_core::Diagnostic| it.code.as_str() == Code::ArgumentsNotObject.kebab();
        assert!(parsed.diagnostics.iter().all(expected), "{:?}", parsed.diagnostics);
    }
}

/// Law 4: what is run of a prefix that was cut is run of the whole.
pub(crate) fn cut_calls_are_not_guessed(input: &[u8], at: usize, opts: &ParseOptions) {
    let prefix = parse(&input[..at.min(input.len())], Some(FinishReason::Length), opts);
    let whole = parse(input, None, opts);
    if opts.limits.max_tool_bytes < input.len() {
        return;
    }
    for call in prefix.calls().filter(|c| !c.origin().fenced && !c.origin().recovered) {
        let (from, to) = prefix
            .segments
            .iter()
            .find_map(|s| {
                matches!(&s.kind, SegmentKind::Call(c) if c == call)
                    .then_some((s.span.start, s.span.end))
            })
            .unwrap_or_default();
        let reported =
            prefix.diagnostics.iter().any(|d| d.at.start.is_some_and(|p| from <= p && p <= to));
        if !reported {
            assert!(
                whole.calls().any(|c| c == call),
                "{call:?} of a prefix of {:?}",
                String::from_utf8_lossy(input)
            );
        }
    }
}

/// Law 5: a result that is read is written as it was, CRLF after the name aside.
pub(crate) fn results_come_back(text: &str) {
    let Some(result) = ParsedResult::parse(text) else { return };
    let written = result.render().expect("because a name that was read can be written");
    let (head, rest) = text.split_once('\n').expect("because a result has two lines");
    assert_eq!(written, format!("{}\n{rest}", head.strip_suffix('\r').unwrap_or(head)));
}

/// Law 6: leaving thinking out changes no call.
pub(crate) fn drop_changes_no_call(
    input: &[u8],
    finish: Option<FinishReason>,
    opts: &ParseOptions,
) {
    let extract = parse(input, finish.clone(), &opts.clone().with_thinking(ThinkingMode::Extract));
    let drop = parse(input, finish, &opts.clone().with_thinking(ThinkingMode::Drop));
    let calls = |parsed: &Parsed| parsed.calls().cloned().collect::<Vec<_>>();
    assert_eq!(calls(&extract), calls(&drop), "{:?}", String::from_utf8_lossy(input));
    assert_eq!(drop.thinking().count(), 0);
}

/// XT-42: while text is read, no more is held back than the rules allow.
pub(crate) fn holds_little(input: &[u8], opts: &ParseOptions) {
    let mut parser = StreamParser::new(opts.clone());
    let mut open = 0;
    for piece in input.chunks(1) {
        for event in parser.feed(piece) {
            match event {
                Event::ToolBegin { .. } => open += 1,
                Event::ToolEnd { .. } | Event::ToolVoid { .. } => open -= 1,
                _ => {}
            }
        }
        if open == 0 {
            assert!(
                parser.held_bytes() <= 16384 + 4096 + 512,
                "{} held at {}",
                parser.held_bytes(),
                parser.position()
            );
        }
    }
}

/// Each code has a name of its own in both spellings, and a sentence.
pub(crate) fn codes_have_names() {
    let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
    for code in Code::ALL {
        assert_eq!(code.kebab(), format!("xml::{}", code.as_str().replace('_', "-")));
        assert!(code.hint().ends_with('.'), "{code:?}");
    }
}
