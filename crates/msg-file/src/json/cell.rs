//! One cell: the members that every cell has and those of its category (MF-58).

use super::document::config;
use super::{number, optional, span};
use crate::document::Document;
use crate::model::View;
use crate::model::cell::Cell;
use crate::model::content::{BASE64, Encoding};
use crate::model::kinds::{Ask, CellKind};
use crate::syntax::grammar::Kind;
use base64::Engine as _;
use msg_json::Writer;

pub(super) fn cell(doc: &Document, cell: &Cell, out: &mut Writer<'_>) {
    let heading = cell.heading();
    out.key("ordinal").u64(cell.ordinal() as u64);
    out.key("kind").str(match heading.kind {
        Kind::Message => "message",
        Kind::Output => "output",
    });
    out.key("level").u64(heading.level.into());
    out.key("heading").str(if heading.strong { "strong" } else { "weak" });
    out.key("title").opt_str(heading.title.as_deref());
    out.key("id").opt_str(heading.id.as_deref());
    out.key("type").opt_str(cell.type_name().as_deref());
    out.key("line").u64(cell.line() as u64);
    span(out.key("bytes"), cell.span());
    out.key("parts").array(cell.parts(), |out, (kind, span)| {
        out.list(|out| {
            out.str(kind.as_str());
            number(out, span.start);
            number(out, span.end);
        });
    });
    out.key("attributes").array(cell.attrs(), |out, attr| {
        out.object(|out| {
            out.key("key").str(&attr.key);
            out.key("value").opt_str(attr.value.as_deref());
        });
    });
    out.key("body").str(&cell.body_text());
    let body = cell.body();
    if std::str::from_utf8(&body).is_err() {
        out.key("body_base64").str(&BASE64.encode(&body));
    }
    out.key("category").str(cell.kind().category());
    optional(out.key("parent"), cell.parent(), number);
    optional(out.key("outline_parent"), cell.outline_parent(), number);
    out.key("history").str(cell.history().as_str());
    out.key("view").str(cell.view().as_str());
    optional(out.key("covered_by"), cell.covered_by(), number);
    by_attribute(doc, cell, out);
    by_category(cell, out);
}

fn by_attribute(doc: &Document, cell: &Cell, out: &mut Writer<'_>) {
    if let Some(status) = cell.status() {
        out.key("status").str(status.as_str());
    }
    if cell.has_attr("duration") {
        optional(out.key("duration_ms"), cell.duration(), |out, d| {
            match d.subsec_nanos() % 1_000_000 {
                0 => out.raw(&d.as_millis().to_string()),
                _ => out.raw(&(d.as_secs_f64() * 1e3).to_string()),
            }
        });
    }
    if cell.view() == View::Summary
        && let (Some(source), Some(text)) = (cell.summarised(), doc.summary_text(cell))
    {
        out.key("summary").str(&text);
        out.key("summary_source").str(source.as_str());
    }
}

fn by_category(cell: &Cell, out: &mut Writer<'_>) {
    let ordinals = |out: &mut Writer<'_>, key: &str, list: &[usize]| {
        out.key(key).array(list, |out, &n| number(out, n));
    };
    match cell.kind() {
        CellKind::User(it) | CellKind::Raw(it) => ask(it, out),
        CellKind::Code(it) => {
            ask(&it.ask, out);
            let block = cell.code_block();
            out.key("lang").opt_str(block.lang.as_deref());
            out.key("code").str(&block.code);
            out.key("reasoning").str(&block.reasoning);
            ordinals(out, "executions", &it.executions);
        }
        CellKind::Agent(it) => {
            out.key("agent").opt_str(it.agent.as_deref());
            out.key("is_reasoning").bool(it.is_reasoning);
            optional(out.key("reply_to"), it.reply_to, number);
            ordinals(out, "calls", &it.calls);
        }
        CellKind::ToolCall(it) => {
            out.key("name").opt_str(cell.attr("name").as_deref());
            out.key("nonce").opt_str(it.nonce.as_deref());
            out.key("payload").str(&cell.payload());
            ordinals(out, "results", &it.results);
        }
        CellKind::ToolResult(it) => {
            optional(out.key("n"), it.n.map(|n| n as usize), number);
            data(cell, false, out);
        }
        CellKind::ExecOutput(it) => {
            out.key("lang").opt_str(cell.type_name().as_deref());
            optional(out.key("n"), it.n.map(|n| n as usize), number);
            ordinals(out, "displays", &it.displays);
            data(cell, true, out);
        }
        CellKind::ExecDisplay(it) => {
            out.key("lang").opt_str(cell.type_name().as_deref());
            optional(out.key("n"), it.n.map(|n| n as usize), number);
            data(cell, false, out);
        }
        CellKind::Summary(it) => {
            optional(out.key("covers"), it.covers.as_ref(), |out, ranges| {
                out.array(ranges.iter().cloned().flatten(), number);
            });
            optional(out.key("summary_of"), it.of, number);
        }
        CellKind::AgentDef(it) => {
            out.key("agent").opt_str(it.agent.as_deref());
            out.key("config").object(|out| config(&it.config, out));
        }
        CellKind::Directive(it) => out.key("set_default").opt_str(it.set_default.as_deref()),
    }
}

fn ask(it: &Ask, out: &mut Writer<'_>) {
    out.key("agent").opt_str(it.agent.as_deref());
    out.key("addressed").bool(it.addressed);
    out.key("calls").array(&it.calls, |out, &n| number(out, n));
}

fn data(cell: &Cell, streams: bool, out: &mut Writer<'_>) {
    let mime = cell.mime_type();
    let encoding = cell.encoding();
    out.key("mime_type").str(&mime);
    out.key("encoding").str(encoding.as_str());
    if let Some(path) = cell.attr("output_file") {
        out.key("output_file").str(&path);
    }
    if encoding == Encoding::Base64 {
        out.key("data_base64").opt_str(cell.data().map(|d| BASE64.encode(d)).as_deref());
    } else if streams && mime == "text/plain" {
        let streams = cell.streams();
        out.key("stdout").str(&streams.stdout);
        out.key("stderr").str(&streams.stderr);
        out.key("text").str(&streams.text);
    } else {
        out.key("text").str(&cell.body_text());
    }
}
