//! Writes a part as a block (BR-6 to BR-12, BR-14).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_codec::MediaKind;
use msg_codec::codec::{MediaSource, Purpose, RawMember, object_members, text_of_part};
use msg_core::{Extra, File, Origin, Part, Reasoning, Report, Severity, ToolCall, ToolResult};
use msg_json::Writer as Json;

use super::Writer;
use crate::converse::{BEDROCK, CACHE_POINT, CITATIONS, GUARD, Medium};
use crate::read::{Depth, block_of, members};
use crate::{Cache, SealedReasoning, Unsigned, WriteOptions, converse};

/// The content of an empty result: the service rejects an empty list (BR-7).
const NO_OUTPUT: &str = r#"[{"text":"(no content)"}]"#;

/// The canonical form of a part that was read, without a cache point.
pub(crate) fn canonical_block(part: &Part, depth: Depth) -> Vec<u8> {
    let (options, mut out) = (WriteOptions::canonical(), Vec::new());
    let _: Report = super::written(&options, Purpose::Return, |it| match depth {
        Depth::Message => it.block(0, part, &mut out),
        Depth::Result => it.result_block(0, part, &mut out),
    });
    out
}

/// A medium that has a block.
struct Found<'m> {
    kind: Medium,
    format: String,
    source: MediaSource<'m>,
}

impl Writer<'_> {
    /// Whether a part can be written.
    pub(super) fn has_place(&self, it: &Part) -> bool {
        match it {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
            Part::Reasoning(it) => self.keeps_reasoning(it),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.found(it).is_some(),
            Part::Other(it) => it.format == BEDROCK || it.format == Origin::Json,
            _ => false,
        }
    }

    /// [`Writer::has_place`]; reports each part that cannot be written once.
    pub(super) fn fits(&mut self, at: usize, it: &Part) -> bool {
        if self.options.cache == Cache::Drop && is_cache_point(it) {
            self.objects.losses.raw(Some(at), CACHE_POINT);
            return false;
        }
        let fits = self.has_place(it);
        match it {
            _ if fits => {}
            Part::Reasoning(_) if self.options.thinking == SealedReasoning::None => {
                self.objects.losses.as_asked(at, "reasoning is");
            }
            Part::Reasoning(_) => {
                let text = "reasoning without a signature is refused and left out";
                self.objects.losses.warn("convert::lost-part", Some(at), text);
            }
            _ => self.objects.losses.part(at, &it.kind_of_source()),
        }
        fits
    }

    fn keeps_reasoning(&self, it: &Reasoning) -> bool {
        let is_said = |it: &Option<String>| it.as_deref().is_some_and(|it| !it.is_empty());
        let is_sealed = is_said(&it.redacted) || is_said(&it.signature);
        let default = match self.purpose {
            Purpose::Convert => Unsigned::Drop,
            Purpose::Return => Unsigned::Keep,
        };
        let keeps = self.options.unsigned.unwrap_or(default) == Unsigned::Keep;
        self.options.thinking == SealedReasoning::Keep && (is_sealed || keeps && it.text.is_some())
    }

    /// Writes a part that has a place.
    pub(super) fn block(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        if let Some(source) = self.own_source(it, Depth::Message) {
            return out.extend_from_slice(source.as_bytes());
        }
        match it {
            Part::Other(it) if it.format == BEDROCK => {
                out.extend_from_slice(it.value.text().as_bytes());
            }
            Part::ToolCall(it) => self.tool_use(at, it, out),
            Part::ToolResult(it) => self.tool_result(at, it, out),
            Part::Reasoning(it) => self.reasoning(at, it, out),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.media(at, it, out),
            it => self.text(at, it, out),
        }
    }

    /// The source of a block whose meaning is unchanged.
    fn own_source<'b>(&self, it: &'b Part, depth: Depth) -> Option<&'b str> {
        let source = std::str::from_utf8(self.objects.layout(it.extra())?).ok()?;
        let mut own = it.clone();
        own.extra_mut().remove(&BEDROCK, CACHE_POINT);
        (block_of(source, depth) == own).then_some(source)
    }

    /// Writes a block: the member for its kind, then the unknown ones.
    fn wrapped(
        &mut self,
        at: usize,
        (kind, extra): (&str, &Extra),
        inner: &str,
        out: &mut Vec<u8>,
    ) {
        self.foreign(at, extra);
        let mut raw = Vec::new();
        for (name, value) in extra.iter(&BEDROCK) {
            let is_own = name == kind || matches!(name, CACHE_POINT | GUARD | CITATIONS);
            if !is_own {
                raw.push((name, value));
            }
        }
        Json::new(out).object(|it| {
            it.key(kind).raw(inner);
            raw.iter().for_each(|(name, value)| it.key(name).raw(value.text()));
        });
    }

    /// Reports members of other formats; a cache control is written after the block.
    fn foreign(&mut self, at: usize, extra: &Extra) {
        for (origin, name, value) in extra.all() {
            let is_control = matches!(origin, Origin::Anthropic | Origin::OpenAi)
                && name == "cache_control"
                && super::of_cache_control(value).is_some();
            if *origin != BEDROCK && !is_control && !super::is_breakpoint(origin, name) {
                self.objects.losses.raw(Some(at), format_args!("{origin}.{name}"));
            }
        }
    }

    fn text(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.text_losses(at, it);
        let text = text_of_part(it).unwrap_or_default();
        let extra = it.extra();
        if extra.get(&BEDROCK, GUARD).is_some() {
            let inner = inside(kept(extra, GUARD), "text").0;
            let inner = object(|it| it.key("text").str(text), &inner);
            let inner = object(|it| it.key("text").raw(&inner), &[]);
            return self.wrapped(at, (GUARD, extra), &inner, out);
        }
        if let Some(rest) = extra.get(&BEDROCK, CITATIONS).and_then(object_members) {
            let write = |it: &mut Json<'_>| {
                it.key("content")
                    .array([text], |it, text| it.object(|it| it.key("text").str(text)));
            };
            let inner = object(write, &rest);
            return self.wrapped(at, (CITATIONS, extra), &inner, out);
        }
        let inner = msg_json::to_text(|it| it.str(text));
        self.wrapped(at, ("text", extra), &inner, out);
    }

    fn tool_use(&mut self, at: usize, it: &ToolCall, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("signature", it.signature.is_some())]);
        self.objects.kind_losses(at, &it.kind);
        let input = self.objects.arguments(at, it, 0);
        let input = String::from_utf8(input).unwrap_or_default();
        let rest = kept(&it.extra, "toolUse");
        let write = |out: &mut Json<'_>| {
            out.key("toolUseId").str(&it.id);
            out.key("name").str(&it.name);
            out.key("input").raw(&input);
        };
        let inner = object(write, &rest);
        self.wrapped(at, ("toolUse", &it.extra), &inner, out);
    }

    fn tool_result(&mut self, at: usize, it: &ToolResult, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("name", it.name.is_some())]);
        self.objects.kind_losses(at, &it.kind);
        let parts: Vec<_> =
            it.content.parts().iter().filter(|it| self.fits_result(at, it)).collect();
        let mut content = Vec::new();
        if parts.is_empty() && self.purpose == Purpose::Convert {
            content.extend_from_slice(NO_OUTPUT.as_bytes());
            let text = "a result without content is refused, written as `(no content)`";
            self.objects.losses.warn("convert::value-changed", Some(at), text);
        } else {
            Json::new(&mut content).array(parts, |out, one| {
                out.value(|out| self.result_block(at, one, out));
            });
        }
        let content = String::from_utf8(content).unwrap_or_default();
        let rest = kept(&it.extra, "toolResult");
        let write = |out: &mut Json<'_>| {
            out.key("toolUseId").str(&it.call_id);
            out.key("content").raw(&content);
            if it.is_error {
                out.key("status").str("error");
            }
        };
        let inner = object(write, &rest);
        self.wrapped(at, ("toolResult", &it.extra), &inner, out);
    }

    /// Whether a part can be in a result: not a call, result, audio or cache point.
    fn fits_result(&mut self, at: usize, it: &Part) -> bool {
        let is_step = matches!(it, Part::ToolCall(_) | Part::ToolResult(_) | Part::Reasoning(_));
        let is_sound = self.found(it).is_some_and(|it| it.kind == Medium::Audio);
        if is_step || is_sound || !self.has_place(it) {
            self.objects.losses.part(at, &it.kind_of_source());
            return false;
        }
        if it.extra().get(&Origin::Anthropic, "cache_control").is_some() {
            self.objects.losses.raw(Some(at), "cache_control");
        }
        true
    }

    /// Writes a part of a result, where JSON objects have a block of their own.
    fn result_block(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        if let Some(source) = self.own_source(it, Depth::Result) {
            return out.extend_from_slice(source.as_bytes());
        }
        match it {
            Part::Other(json)
                if json.format == Origin::Json && json.value.text().starts_with('{') =>
            {
                self.wrapped(at, ("json", &json.extra), json.value.text(), out);
            }
            it => self.block(at, it, out),
        }
    }

    fn reasoning(&mut self, at: usize, it: &Reasoning, out: &mut Vec<u8>) {
        let is_said = |it: &Option<String>| it.as_deref().is_some_and(|it| !it.is_empty());
        let rest = kept(&it.extra, "reasoningContent");
        let is_sealed = is_said(&it.redacted) && !is_said(&it.signature);
        let lost = [
            ("text", is_sealed && is_said(&it.text)),
            ("summary", it.summary.as_ref().is_some_and(|it| !it.is_empty()) && it.text.is_some()),
            ("redacted", !is_sealed && is_said(&it.redacted)),
            ("encrypted", is_said(&it.encrypted)),
        ];
        self.objects.losses.members(Some(at), &lost);
        let inner = if is_sealed {
            let data = BASE64_STANDARD.encode(it.redacted.as_deref().unwrap_or_default());
            object(|out| out.key("redactedContent").str(&data), &rest)
        } else {
            let (own, others) = inside(rest, "reasoningText");
            let write = |out: &mut Json<'_>| {
                out.key("text").str(&it.display_text());
                let signature = it.signature.as_deref().filter(|it| !it.is_empty());
                out.optional("signature", signature, |it, text| it.str(text));
            };
            let text = object(write, &own);
            object(|out| out.key("reasoningText").raw(&text), &others)
        };
        self.wrapped(at, ("reasoningContent", &it.extra), &inner, out);
    }

    /// The block of a medium; `None` if the API has none. A medium read from another kind of block is written back to
    /// it (BR-8).
    fn found<'m>(&self, it: &'m Part) -> Option<Found<'m>> {
        let source = MediaSource::of(it, || None)?;
        let own = |kind: Medium, media_type: &str| {
            let word = kind.word_for(media_type).filter(|_| self.purpose == Purpose::Return)?;
            Some((kind, word.to_owned()))
        };
        let kind_of = |media_type: &str| match (it, MediaKind::of(media_type)) {
            (Part::Image(_), _) => Medium::Image,
            (_, MediaKind::Video) => Medium::Video,
            _ => Medium::Document,
        };
        let known = |it: (Medium, &str)| (it.0, it.1.to_owned());
        let (kind, format) = match (it, source.link, source.media_type.as_deref()) {
            (Part::Audio(it), _, media_type) => {
                let format = it.format.as_deref()?;
                let found = Medium::Audio.media_type(format).map(|_| (Medium::Audio, format));
                found.map(known).or_else(|| own(Medium::Audio, media_type?))?
            }
            (_, Some(url), _) if !url.starts_with("s3://") => return None,
            (_, Some(url), None) => known(converse::of_url(url)?),
            (_, _, Some(media_type)) => {
                let found = converse::of_type(media_type).map(known);
                found.or_else(|| own(kind_of(media_type), media_type))?
            }
            _ => return None,
        };
        let has_place = kind == Medium::Image || !matches!(it, Part::Image(_));
        has_place.then_some(Found { kind, format, source })
    }

    fn media(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        let Some(medium) = self.found(it) else { return };
        let has_name: &[_] = if medium.kind == Medium::Document { &["filename"] } else { &[] };
        medium.source.lose(at, it, has_name, &mut self.objects.losses);
        let name = medium.kind.name();
        let extra = it.extra();
        let guard = kept(extra, GUARD);
        let is_guarded = guard.iter().any(|it| it.name == "image");
        let rest = if is_guarded { inside(guard, "image").0 } else { kept(extra, name) };
        let (own, others) = inside(rest, "source");
        let source = match (medium.source.data, medium.source.link) {
            (Some(data), _) => object(|it| it.key("bytes").str(data), &own),
            (None, uri) => {
                let (link, own) = inside(own, "s3Location");
                let link = object(|it| it.key("uri").str(uri.unwrap_or_default()), &link);
                object(|it| it.key("s3Location").raw(&link), &own)
            }
        };
        let title = match (it, medium.kind) {
            (Part::File(it), Medium::Document) => Some(self.name(at, it)),
            _ => None,
        };
        let write = |it: &mut Json<'_>| {
            it.key("format").str(&medium.format);
            it.optional("name", title.as_ref(), |it, text| it.str(text));
            it.key("source").raw(&source);
        };
        let inner = object(write, &others);
        if is_guarded {
            let inner = object(|it| it.key("image").raw(&inner), &[]);
            return self.wrapped(at, (GUARD, extra), &inner, out);
        }
        self.wrapped(at, (name, extra), &inner, out);
    }

    /// The name of a document, which the API requires (BR-8).
    fn name(&mut self, at: usize, it: &File) -> String {
        self.n_documents += 1;
        if let Some(name) = it.filename.clone().filter(|it| !it.is_empty()) {
            return name;
        }
        let name = format!("document-{}", self.n_documents);
        let text = format!("a document without a name is called {name}");
        self.objects.losses.note(Severity::Info, "convert::name-synthesised", Some(at), text);
        name
    }
}

/// Whether a part is a separate cache point (BR-9).
pub(super) fn is_cache_point(it: &Part) -> bool {
    let Part::Other(it) = it else { return false };
    let has_point = || {
        object_members(&it.value)
            .is_some_and(|it| it.iter().any(|it| it.name == CACHE_POINT && it.value != "null"))
    };
    it.format == BEDROCK && has_point()
}

/// The unknown members of the object with this name.
fn kept<'b>(extra: &'b Extra, name: &str) -> Vec<RawMember<'b>> {
    extra.get(&BEDROCK, name).and_then(object_members).unwrap_or_default()
}

/// The members of the object with this name, and those beside it.
fn inside<'b>(mut all: Vec<RawMember<'b>>, name: &str) -> (Vec<RawMember<'b>>, Vec<RawMember<'b>>) {
    let at = all.iter().position(|it| it.name == name);
    let inner = at.and_then(|it| members(all.remove(it).value));
    (inner.unwrap_or_default(), all)
}

/// An object of some members, and unknown ones after them.
fn object(write: impl FnOnce(&mut Json<'_>), rest: &[RawMember<'_>]) -> String {
    msg_json::to_text(|it| {
        it.object(|it| {
            write(it);
            rest.iter().for_each(|one| it.key(&one.name).raw(one.value));
        });
    })
}
