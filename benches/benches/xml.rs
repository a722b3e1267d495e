//! Model text: one call with one long argument and plain text, in the pieces in which they arrive, beside
//! the peers; and the growth of hostile input.
//!
//! The peers read the call in the form that each of them knows (`<function=…>`); the argument is the same.
//! What is counted as well: allocations a chunk, which have to be none while a value is streamed.

use std::hint::black_box;

use benches::{allocs, growth};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dynamo_parsers_v2::{Qwen3CoderToolStreamParser, Tool, ToolParser as _};
use msg_xml::{Event, Options, StreamParser};
use reasoning_parser::{Qwen3Parser, ReasoningParser as _};
use tool_parser::ToolParser as _;
use tool_parser::parsers::QwenXmlParser;

const LINE: &str = "fn main() { println!(\"hello {}\", x + 1); } // a line of code that goes on\n";

fn code(size: usize) -> String {
    LINE.repeat(size / LINE.len() + 1)[..size].to_owned()
}

fn native(size: usize) -> String {
    format!(
        "<tool>\n<tool_name>write_file</tool_name>\n<arguments><path>a</path><content><![CDATA[{}]]></content></arguments>\n</tool>",
        code(size)
    )
}

fn qwen(size: usize) -> String {
    format!(
        "<tool_call>\n<function=write_file>\n<parameter=content>\n{}\n</parameter>\n</function>\n</tool_call>",
        code(size)
    )
}

/// Calls of one kind with a line of prose between them.
fn calls(tool: &str, arguments: &str, times: usize) -> String {
    let block = format!(
        "<tool>\n<server_name>local</server_name>\n<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}</arguments>\n</tool>\n"
    );
    [block.as_str()].repeat(times).join("Then I go on with the next file.\n")
}

/// Small arguments, nested ones with entities, and a section of 2 KiB.
fn many_calls() -> [(&'static str, String); 3] {
    let edit = "  <edits>\n    <search>a &lt; b &amp;&amp; c</search>\n    <replace>a &gt;= b</replace>\n  </edits>\n";
    let content = format!("  <path>a</path>\n  <content><![CDATA[{}]]></content>\n", code(2 << 10));
    [
        ("small", calls("read_file", "  <path>src/a.rs</path>\n  <line>12</line>\n", 400)),
        ("nested", calls("edit", &format!("  <path>src/a.rs</path>\n{edit}{edit}"), 200)),
        ("section", calls("write_file", &content, 100)),
    ]
}

fn prose(size: usize) -> String {
    "The quick brown fox jumps over the lazy dog, and then it rests; nothing more was said of it.\n"
        .repeat(size / 93)
}

/// Feeds the pieces; the sum keeps the work alive.
fn feed(text: &str, chunk: usize) -> usize {
    let mut parser = StreamParser::new(Options::default());
    let mut bytes = 0;
    for piece in text.as_bytes().chunks(chunk) {
        for event in parser.feed(piece) {
            if let Event::Text { text, .. } | Event::Arg { text, .. } = event {
                bytes += text.len();
            }
        }
    }
    parser.finish(None).for_each(|event| drop(black_box(event)));
    bytes
}

/// The same as text, which is what most callers have.
fn feed_str(text: &str, chunk: usize) -> usize {
    let mut parser = StreamParser::new(Options::default());
    let mut bytes = 0;
    for piece in pieces(text, chunk) {
        for event in parser.feed_str(piece) {
            if let Event::Text { text, .. } | Event::Arg { text, .. } = event {
                bytes += text.len();
            }
        }
    }
    parser.finish(None).for_each(|event| drop(black_box(event)));
    bytes
}

/// Cuts ASCII text.
fn pieces(text: &str, chunk: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(chunk.min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn dynamo(text: &str, chunk: usize) -> usize {
    let tool = Tool {
        name: "write_file".to_owned(),
        description: None,
        parameters: serde_json::json!({"type": "object", "properties": {"content": {"type": "string"}}}),
        strict: None,
    };
    let mut parser = Qwen3CoderToolStreamParser::new(&[tool]);
    pieces(text, chunk).map(|it| parser.push(it).map_or(0, |res| res.calls.len())).sum()
}

fn smg(text: &str, chunk: usize) -> usize {
    let runtime =
        tokio::runtime::Builder::new_current_thread().build().expect("because a thread is enough");
    let tool: openai_protocol::common::Tool = serde_json::from_value(serde_json::json!({
        "type": "function", "function": {"name": "write_file", "parameters": {"type": "object", "properties": {"content": {"type": "string"}}}}
    }))
    .expect("because this is a tool");
    let mut parser = QwenXmlParser::new();
    runtime.block_on(async {
        let mut calls = 0;
        for it in pieces(text, chunk) {
            calls += parser
                .parse_incremental(it, std::slice::from_ref(&tool))
                .await
                .map_or(0, |res| res.calls.len());
        }
        calls
    })
}

fn quick_xml_pull(text: &str) -> usize {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut bytes = 0;
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) | Err(_) => return bytes,
            Ok(event) => bytes += event.len(),
        }
    }
}

fn long_argument(c: &mut Criterion) {
    let mut group = c.benchmark_group("stream_xml");
    group.sample_size(10);
    for size in [4 << 10, 64 << 10, 1 << 20] {
        let (ours, theirs) = (native(size), qwen(size));
        group.throughput(Throughput::Bytes(size as u64));
        for chunk in [4, 16, 64] {
            let id = |name: &str| BenchmarkId::new(format!("{name}/{size}"), chunk);
            group.bench_function(id("msg-xml"), |b| b.iter(|| feed(black_box(&ours), chunk)));
            group.bench_function(id("dynamo-parsers-v2"), |b| {
                b.iter(|| dynamo(black_box(&theirs), chunk))
            });
            // Quadratic: beyond this size a run takes seconds.
            if size <= 4 << 10 {
                group.bench_function(id("tool-parser"), |b| {
                    b.iter(|| smg(black_box(&theirs), chunk))
                });
            }
        }
        group.bench_function(BenchmarkId::new("msg-xml/whole", size), |b| {
            b.iter(|| feed(black_box(&ours), ours.len()))
        });
        group.bench_function(BenchmarkId::new("quick-xml/pull", size), |b| {
            b.iter(|| quick_xml_pull(black_box(&ours)))
        });
    }
    group.finish();
    let text = native(64 << 10);
    let chunks = text.len().div_ceil(4);
    allocs::report("stream_xml/64K in 4-byte chunks", chunks, || feed(&text, 4));
}

fn small_calls(c: &mut Criterion) {
    let mut group = c.benchmark_group("small_calls");
    group.sample_size(10);
    for (name, text) in many_calls() {
        group.throughput(Throughput::Bytes(text.len() as u64));
        for (how, chunk) in [("whole", text.len()), ("64", 64), ("1", 1)] {
            group.bench_function(BenchmarkId::new(format!("msg-xml/{name}"), how), |b| {
                b.iter(|| feed(black_box(&text), chunk))
            });
        }
        group.bench_function(BenchmarkId::new("quick-xml/pull", name), |b| {
            b.iter(|| quick_xml_pull(black_box(&text)))
        });
    }
    group.finish();
}

fn plain_text(c: &mut Criterion) {
    let text = prose(1 << 20);
    let mut group = c.benchmark_group("plain_text");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(text.len() as u64));
    for chunk in [4, 16, 4096, text.len()] {
        group.bench_function(BenchmarkId::new("msg-xml", chunk), |b| {
            b.iter(|| feed(black_box(&text), chunk))
        });
        group.bench_function(BenchmarkId::new("msg-xml/str", chunk), |b| {
            b.iter(|| feed_str(black_box(&text), chunk))
        });
        group.bench_function(BenchmarkId::new("reasoning-parser", chunk), |b| {
            b.iter(|| {
                let mut parser = Qwen3Parser::new();
                let read = |it| {
                    parser
                        .parse_reasoning_streaming_incremental(it)
                        .map_or(0, |res| res.normal_text.len())
                };
                pieces(black_box(&text), chunk).map(read).sum::<usize>()
            });
        });
    }
    group.bench_function("floor/memchr3 and copy", |b| {
        b.iter(|| {
            (memchr::memchr3(b'<', b'`', b'[', black_box(text.as_bytes())), text.clone()).1.len()
        });
    });
    group.finish();
}

/// What hostile input is made of; each grows by repetition.
const HOSTILE: &[(&str, &str, &str, &str)] = &[
    ("unclosed values", "<tool><tool_name>t</tool_name><arguments>", "<a>x", "</arguments></tool>"),
    ("bare <tool>", "", "<tool> ", ""),
    ("unterminated CDATA", "<tool><tool_name>t</tool_name><arguments>", "<a><![CDATA[x", ""),
    (
        "terminators",
        "<tool><tool_name>t</tool_name><arguments><a><![CDATA[",
        "x ]]> y ",
        "]]></a></arguments></tool>",
    ),
    (
        "markers",
        "<tool><tool_name>t</tool_name><arguments><a><![CDATA[",
        "x <![CDATA[ y ",
        "]]></a></arguments></tool>",
    ),
    ("brackets", "", "[I go on\n", ""),
    ("backticks", "", "` `` ``` ", ""),
    ("comments", "<tool><tool_name>t</tool_name><arguments><a>", "</a><!-- ", ""),
    ("fences", "", "```\n<tool><tool_name>a</tool_name><arguments><x>\n```\n", ""),
    ("nested", "<tool><tool_name>t</tool_name><arguments>", "<a>", ""),
    (
        "close tags",
        "<tool><tool_name>t</tool_name><arguments><a>",
        "</a>",
        " x</a></arguments></tool>",
    ),
    ("JSON strings", "", "<tool>{\"tool_name\":\"a\",\"x\":\"", ""),
    ("angles", "", "<", ""),
    ("ampersands", "<tool><tool_name>t</tool_name><arguments><a>", "&", "</a></arguments></tool>"),
    ("closing brackets", "<tool><tool_name>t</tool_name><arguments><a><![CDATA[", "]", ""),
    ("backtick runs", "", "` a `` b ``` c ```` d\n", ""),
    (
        "nested in one name",
        "<tool><tool_name>t</tool_name><arguments>",
        "<a>x<a>",
        "</arguments></tool>",
    ),
    (
        "unclosed values with sections",
        "<tool><tool_name>t</tool_name><arguments>",
        "<a>x<![CDATA[y]]>",
        "</arguments></tool>",
    ),
    (
        "unclosed values before a section",
        "<tool><tool_name>t</tool_name><arguments>",
        "<a>1<b>2</b>",
        "<z>.<![CDATA[]]></arguments></tool>",
    ),
    (
        "values named like the block",
        "<tool><tool_name>t</tool_name><arguments>",
        "</b><tool> 1",
        "</arguments></tool>",
    ),
    (
        "parts of objects",
        "<tool><tool_name>t</tool_name><arguments>",
        "<a><b>1</b><c>2</c>x",
        "</arguments></tool>",
    ),
    (
        "parts of objects with calls",
        "<tool><tool_name>t</tool_name><arguments>",
        "<a><b><tool>{}</a>",
        "",
    ),
    ("declarations around close tags", "<tool><tool_name>t<a>", "<!DOCTYPE</arg_key>", "</tool>"),
    (
        "close tags in comments between close tags",
        "<tool><tool_name>t</tool_name><arguments><a>",
        "</a><!-- </a> x -->",
        " y</arguments></tool>",
    ),
    ("blanks in brackets", "[I go on\n", " ", ""),
];

fn hostile(_: &mut Criterion) {
    for (name, head, unit, tail) in HOSTILE {
        let make = |n: usize| format!("{head}{}{tail}", unit.repeat(n));
        growth::check(name, 20_000, make, |text| feed(text, text.len()));
        growth::check(&format!("{name} in pieces"), 20_000, make, |text| feed(text, 64));
    }
    // What ends a value waits for the end of an instruction, while its stop comes again and again.
    let waiting = |n: usize| {
        let (values, stops) = ("gt;</a>".repeat(n), "<?</arguments></tool>".repeat(n));
        format!("<tool><tool_name>t</tool_name><arguments><think>{values}{stops}")
    };
    growth::check("open instructions in pieces", 20_000, waiting, |text| feed(text, 7));
}

criterion_group!(benches, long_argument, small_calls, plain_text, hostile);
criterion_main!(benches);
