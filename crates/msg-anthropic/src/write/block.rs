//! Writes a part as a content block, or as a string if it is the only one (AN-3, AN-6 to AN-8, AN-20).

use msg_codec::DataUrl;
use msg_codec::codec::{RawMember, Shape, Value, text_of_part};
use msg_core::{Extra, File, Image, Origin, Part, Reasoning, Text, ToolCall, ToolResult};

use super::Writer;
use crate::SealedReasoning;
use crate::messages::{ANTHROPIC, Thought, block, call, result, source};
use crate::write::SOURCE;

impl Writer<'_> {
    /// Whether a part can be written.
    pub(super) fn has_place(&self, it: &Part) -> bool {
        match it {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
            Part::Reasoning(it) => self.keeps_thinking(it),
            Part::Image(it) => self.image_source(it).is_some(),
            Part::File(it) => self.document_source(it).is_some(),
            Part::Other(it) => it.format == ANTHROPIC || it.format == Origin::Json,
            _ => false,
        }
    }

    /// [`Writer::has_place`]; reports each part that cannot be written once (AN-20).
    pub(super) fn fits(&mut self, at: usize, it: &Part) -> bool {
        let fits = self.has_place(it);
        match it {
            _ if fits => {}
            Part::Reasoning(_) if self.options.thinking == SealedReasoning::None => {
                self.objects.losses.as_asked(at, "thinking is");
            }
            Part::Reasoning(_) => {
                let text = "reasoning without a signature is refused and left out";
                self.objects.losses.warn("convert::lost-part", Some(at), text);
            }
            _ => self.objects.losses.part(at, &it.kind_of_source()),
        }
        fits
    }

    /// Whether thinking is written: signed or redacted, or unsigned back to its place (AN-7).
    fn keeps_thinking(&self, it: &Reasoning) -> bool {
        let is_ours = it.text.is_some() && self.objects.layout(&it.extra).is_some();
        self.options.thinking == SealedReasoning::Keep && (is_ours || Thought::of(it).is_signed())
    }

    /// Whether a single part is written as a string.
    pub(super) fn is_plain(&self, it: &Part) -> bool {
        let extra = it.extra();
        text_of_part(it).is_some()
            && self.objects.layout(extra).is_none()
            && extra.iter(&ANTHROPIC).next().is_none()
            && extra.get(&Origin::OpenAi, super::CACHE_CONTROL).is_none()
            && extra.all().all(|it| super::cache_control_of(it.0, it.1, it.2).is_none())
    }

    /// Writes the only part of a content as a string.
    pub(super) fn string(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.losses.foreign(it.extra(), Some(&ANTHROPIC), Some(at));
        self.objects.text_losses(at, it);
        msg_json::write_str(out, text_of_part(it).unwrap_or_default());
    }

    /// Writes a part that has a place as a block.
    pub(super) fn block(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        match it {
            Part::Text(text) => self.text(at, text, out),
            Part::Reasoning(it) => self.thinking(at, it, out),
            Part::Image(it) => self.image(at, it, out),
            Part::File(it) => self.document(at, it, out),
            Part::ToolCall(it) => self.tool_use(at, it, out),
            Part::ToolResult(it) => self.tool_result(at, it, out),
            Part::Other(it) if it.format == ANTHROPIC => {
                out.extend_from_slice(it.value.text().as_bytes());
            }
            _ => self.as_text(at, it, out),
        }
    }

    /// Writes the object of a part with these member values, and its unknown members except `skip`.
    pub(super) fn object(
        &mut self,
        at: usize,
        (extra, skip): (&Extra, Option<&str>),
        shape: &Shape,
        values: &[Value<'_>],
        out: &mut Vec<u8>,
    ) {
        let raw = self.members(extra, at, skip);
        self.objects.object(at, (&raw, self.plan(extra)), shape, values, out);
    }

    fn text(&mut self, at: usize, it: &Text, out: &mut Vec<u8>) {
        let is_bare = self.plan(&it.extra).variant(block::TYPE) == block::TYPE_BARE;
        if is_bare && it.extra.is_empty() {
            return msg_json::write_str(out, &it.text);
        }
        self.text_block(at, &it.extra, &it.text, out);
    }

    fn as_text(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.text_losses(at, it);
        self.text_block(at, it.extra(), text_of_part(it).unwrap_or_default(), out);
    }

    fn text_block(&mut self, at: usize, extra: &Extra, text: &str, out: &mut Vec<u8>) {
        self.object(at, (extra, None), &block::TEXT, &["text".into(), text.into()], out);
    }

    fn thinking(&mut self, at: usize, it: &Reasoning, out: &mut Vec<u8>) {
        let thought = Thought::of(it);
        thought.lost(it).for_each(|name| self.objects.losses.member(Some(at), name));
        let (text, signature) = match thought {
            Thought::Sealed(data) => return self.redacted(at, it, data, out),
            Thought::Open { text, signature } => (text, signature),
        };
        let plan = self.plan(&it.extra);
        let keeps_empty = signature.is_none()
            && plan.has(block::SIGNATURE)
            && it.extra.get(&ANTHROPIC, "signature").is_none();
        let signature = match signature {
            None if keeps_empty && plan.variant(block::SIGNATURE) == block::SIGNATURE_NULL => {
                Value::Json(b"null")
            }
            None if keeps_empty => "".into(),
            it => it.into(),
        };
        let values = ["thinking".into(), (&*text).into(), signature];
        self.object(at, (&it.extra, None), &block::THINKING, &values, out);
    }

    fn redacted(&mut self, at: usize, it: &Reasoning, data: &str, out: &mut Vec<u8>) {
        let values = ["redacted_thinking".into(), data.into()];
        self.object(at, (&it.extra, None), &block::REDACTED, &values, out);
    }

    fn tool_use(&mut self, at: usize, it: &ToolCall, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("signature", it.signature.is_some())]);
        self.objects.kind_losses(at, &it.kind);
        let plan = self.plan(&it.extra);
        let has_input = plan.may_have(call::INPUT) || !it.arguments.text().trim_ascii().is_empty();
        let input = self.objects.arguments(at, it, plan.variant(call::INPUT));
        let input = has_input.then_some(&input).into();
        let values = ["tool_use".into(), (&it.id).into(), (&it.name).into(), input];
        self.object(at, (&it.extra, None), &call::SHAPE, &values, out);
    }

    fn tool_result(&mut self, at: usize, it: &ToolResult, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("name", it.name.is_some())]);
        self.objects.kind_losses(at, &it.kind);
        let parts: Vec<_> =
            it.content.parts().iter().filter(|it| self.fits_result(at, it)).collect();
        let plan = self.plan(&it.extra);
        let is_raw = |name| it.extra.get(&ANTHROPIC, name).is_some();
        let has_content = plan.may_have(result::CONTENT) || !parts.is_empty();
        let has_id = plan.may_have(result::CALL_ID) || !it.call_id.is_empty();
        let says_error = plan.was_false(result::IS_ERROR);
        let has_error = it.is_error || (says_error && !is_raw("is_error"));
        let content = self.result_content(at, &parts, plan.variant(result::CONTENT));
        let is_error = if it.is_error { "true" } else { "false" };
        let values = [
            "tool_result".into(),
            has_id.then_some(it.call_id.as_str()).into(),
            has_content.then_some(&content).into(),
            has_error.then_some(is_error).map_or(Value::Absent, |it| Value::Json(it.as_bytes())),
        ];
        self.object(at, (&it.extra, None), &result::SHAPE, &values, out);
    }

    /// Whether a part can be in a result, which cannot contain a result (AN-8).
    fn fits_result(&mut self, at: usize, it: &Part) -> bool {
        if let Part::ToolResult(_) = it {
            self.objects.losses.part(at, &it.kind_of_source());
            return false;
        }
        self.fits(at, it)
    }

    /// The value of a result's `content`; `variant` is that of the source.
    fn result_content(&mut self, at: usize, parts: &[&Part], variant: u8) -> Vec<u8> {
        let mut out = Vec::new();
        match parts {
            [] if variant == result::CONTENT_NULL => out.extend_from_slice(b"null"),
            [] if variant != result::CONTENT_ARRAY => out.extend_from_slice(b"\"\""),
            [one] if variant != result::CONTENT_ARRAY && self.is_plain(one) => {
                self.string(at, one, &mut out);
            }
            all => msg_json::Writer::new(&mut out).array(all, |out, one| {
                out.value(|out| self.block(at, one, out));
            }),
        }
        out
    }
}

// Images and documents: the `source` for their single member in the model (AN-10, AN-11).

/// The content of a `source`.
pub(super) enum Source<'m> {
    /// Base64 and its type.
    Base64(DataUrl<'m>),
    /// A text, and whether it had another type than plain.
    Text { text: String, retyped: bool },
    /// A URL.
    Url(&'m str),
    /// An uploaded file.
    File(&'m str),
}

impl Source<'_> {
    /// The type, the shape, and the value of the first member after the type.
    fn parts(&self) -> (&'static str, &'static Shape, &str) {
        match self {
            Self::Base64(it) => ("base64", &source::INLINE, it.media_type),
            Self::Text { .. } => ("text", &source::INLINE, "text/plain"),
            Self::Url(url) => ("url", &source::URL, url),
            Self::File(id) => ("file", &source::FILE, id),
        }
    }

    fn data(&self) -> &str {
        match self {
            Self::Base64(it) => it.data,
            Self::Text { text, .. } => text,
            Self::Url(_) | Self::File(_) => "",
        }
    }
}

impl Writer<'_> {
    /// The source of an image; `None` if the format cannot hold it.
    pub(super) fn image_source<'m>(&self, it: &'m Image) -> Option<Source<'m>> {
        let is_url = self.objects.plan(&it.extra, 1).variant(source::TYPE) == source::TYPE_URL;
        let inline = it.url.as_deref().filter(|it| DataUrl::is(it) && !is_url);
        let source = match (inline, it.url.as_deref()) {
            (Some(url), _) => DataUrl::parse(url).map(Source::Base64),
            (None, Some(url)) => Some(Source::Url(url)),
            (None, None) => None,
        };
        source.or_else(|| it.file_id.as_deref().map(Source::File))
    }

    /// The source of a document; `None` if the format cannot hold it.
    pub(super) fn document_source<'m>(&self, it: &'m File) -> Option<Source<'m>> {
        let inline = it.data.as_deref().and_then(|data| self.inline(it, data));
        inline
            .or_else(|| it.url.as_deref().map(Source::Url))
            .or_else(|| it.file_id.as_deref().map(Source::File))
    }

    fn inline<'m>(&self, it: &'m File, data: &'m str) -> Option<Source<'m>> {
        let url = DataUrl::of(data, it.media_type.as_deref())?;
        let was_base64 =
            self.objects.plan(&it.extra, 1).variant(source::TYPE) == source::TYPE_BASE64;
        let essence = url.essence();
        if was_base64 || essence == "application/pdf" {
            return Some(Source::Base64(url));
        }
        let text = essence.starts_with("text/").then(|| url.text())??;
        Some(Source::Text { text, retyped: !url.media_type.eq_ignore_ascii_case("text/plain") })
    }

    pub(super) fn image(&mut self, at: usize, it: &Image, out: &mut Vec<u8>) {
        let Some(source) = self.image_source(it) else { return };
        let lost = [
            ("url", it.url.is_some() && matches!(source, Source::File(_))),
            ("file_id", it.file_id.is_some() && !matches!(source, Source::File(_))),
            ("detail", it.detail.is_some()),
            ("media_type", DataUrl::lacks_type(it.media_type.as_deref(), it.url.as_deref())),
        ];
        self.objects.losses.members(Some(at), &lost);
        let inner = self.source_object(at, &it.extra, &source);
        let values = ["image".into(), Value::Json(&inner)];
        self.object(at, (&it.extra, Some(SOURCE)), &block::IMAGE, &values, out);
    }

    pub(super) fn document(&mut self, at: usize, it: &File, out: &mut Vec<u8>) {
        let Some(source) = self.document_source(it) else { return };
        self.document_losses(at, it, &source);
        let inner = self.source_object(at, &it.extra, &source);
        let values = ["document".into(), Value::Json(&inner), it.filename.as_deref().into()];
        self.object(at, (&it.extra, Some(SOURCE)), &block::DOCUMENT, &values, out);
    }

    fn document_losses(&mut self, at: usize, it: &File, source: &Source<'_>) {
        let is_inline = matches!(source, Source::Base64(_) | Source::Text { .. });
        let says_type = |it: &File| match source {
            Source::Base64(url) => it.media_type.as_deref() == Some(url.media_type),
            Source::Text { .. } => !it.data.as_deref().is_some_and(DataUrl::is),
            _ => false,
        };
        let is_retyped = matches!(source, Source::Text { retyped: true, .. });
        let lost = [
            ("data", it.data.is_some() && !is_inline),
            ("url", it.url.is_some() && !matches!(source, Source::Url(_))),
            ("file_id", it.file_id.is_some() && !matches!(source, Source::File(_))),
            ("media_type", is_retyped || (it.media_type.is_some() && !says_type(it))),
        ];
        self.objects.losses.members(Some(at), &lost);
    }

    /// The object of a source, with the unknown members that it had.
    fn source_object(&mut self, at: usize, extra: &Extra, source: &Source<'_>) -> Vec<u8> {
        let (raw, plan) = self.objects.inner(at, extra, SOURCE);
        let (kind, shape, first) = source.parts();
        let is_inline = matches!(source, Source::Base64(_) | Source::Text { .. });
        let is_text = matches!(source, Source::Text { .. });
        // The type of a text is plain, unless the source had another or none.
        let has_own = is_text && has(&raw, "media_type");
        let has_type = !has_own && (!is_text || plan.may_have(source::MEDIA_TYPE));
        let values = [
            kind.into(),
            (!is_inline || has_type).then_some(first).into(),
            is_inline.then_some(source.data()).into(),
        ];
        self.objects.inner_object(at, (&raw, plan), shape, &values)
    }
}

fn has(raw: &[RawMember<'_>], name: &str) -> bool {
    raw.iter().any(|it| it.name == name)
}
