//! Reads the members of one object: returns the known ones, keeps the unknown ones, and records the
//! order of all.

use std::borrow::Cow;

use msg_core::{Code, Diagnostic, Extra, Origin, RawJson, Report, Role, Severity, pointer_step};
use msg_json::{JsonError, JsonStr, Kind, Reader};

use super::layout::{Order, filled};
use super::shape::Shape;

/// More than the known members of any object here.
pub(crate) const CODES: usize = 12;

/// The members of an object while it is read.
pub struct Fields<'a> {
    shape: &'static Shape,
    order: Order,
    /// The source of known members that are not read immediately, by code.
    raw: [Option<&'a str>; CODES],
    /// The start of this object's unknown members in the context.
    from: usize,
}

impl<'a> Fields<'a> {
    /// The fields of an object that begins. Read its members with [`Fields::next`].
    pub fn new(shape: &'static Shape, cx: &Context<'a, '_>) -> Self {
        Self { shape, order: Order::default(), raw: [None; CODES], from: cx.unknown.len() }
    }

    /// Advances to the next known member, whose value must then be read. Unknown members are kept
    /// raw.
    pub fn next(
        &mut self,
        cx: &mut Context<'a, '_>,
        reader: &mut Reader<'a>,
    ) -> Result<Option<u8>, JsonError> {
        while let Some(key) = reader.next_key()? {
            match self.shape.find(&key.text) {
                (0, _) => {
                    if key.lone_surrogate {
                        cx.lone_surrogate_in_name();
                    }
                    let value = reader.raw_json()?;
                    self.unknown(cx, key.text, value);
                }
                (code, spelling) => {
                    self.known(cx, code);
                    self.order.spell(code, spelling);
                    return Ok(Some(code));
                }
            }
        }
        Ok(None)
    }

    /// Reads all members as raw values.
    pub fn read(
        shape: &'static Shape,
        cx: &mut Context<'a, '_>,
        reader: &mut Reader<'a>,
    ) -> Result<Self, JsonError> {
        let mut res = Self::new(shape, cx);
        reader.begin_object()?;
        while let Some(code) = res.next(cx, reader)? {
            res.set_raw(code, Some(reader.raw()?));
        }
        Ok(res)
    }

    /// The name of a known member.
    pub(crate) fn name(&self, code: u8) -> &'static str {
        self.shape.name(code)
    }

    /// The source text of a known member.
    pub fn raw(&self, code: u8) -> Option<&'a str> {
        self.raw[usize::from(code)]
    }

    /// Sets or removes the source text of a known member. Without it, the member is in the model.
    pub fn set_raw(&mut self, code: u8, value: Option<&'a str>) {
        self.raw[usize::from(code)] = value;
    }

    /// Takes a known member into the model if it is a string; values of other types stay raw.
    pub fn text(&mut self, cx: &mut Context<'a, '_>, code: u8) -> Option<String> {
        let text = text_of(self.raw(code)?)?;
        self.set_raw(code, None);
        Some(cx.text(text, self.shape.name(code)))
    }

    /// As [`Fields::text`], and reports values that are neither a string nor null.
    pub fn text_or_report(&mut self, cx: &mut Context<'a, '_>, code: u8) -> Option<String> {
        let res = self.text(cx, code);
        if self.raw(code).is_some_and(|it| it != "null") {
            cx.wrong_type(self.shape.name(code));
        }
        res
    }

    /// Records the variant of a known member.
    pub fn vary(&mut self, code: u8, variant: u8) {
        self.order.vary(code, variant);
    }

    /// Whether the source had this member.
    pub fn has(&self, code: u8) -> bool {
        self.order.seen() & (1 << code) != 0
    }

    /// The known members that are in the model, as bits: those that are not raw.
    pub fn in_model(&self) -> u32 {
        let raw = (0..CODES).filter(|it| self.raw[*it].is_some());
        self.order.seen() & !raw.fold(0, |bits, it| bits | 1 << it)
    }

    /// Whether there are members that are not in the model.
    pub fn has_extra(&self, cx: &Context<'a, '_>) -> bool {
        cx.unknown.len() > self.from || self.raw.iter().any(Option::is_some)
    }

    /// Moves all members that are not in the model into `extra`, in source order.
    pub fn move_extra(&mut self, cx: &mut Context<'a, '_>, origin: &Origin, extra: &mut Extra) {
        if !self.has_extra(cx) {
            return;
        }
        if self.raw.iter().flatten().any(|it| *it != "null") {
            cx.odd();
        }
        let mut unknown = cx.unknown.drain(self.from..);
        let mut doubles = Vec::new();
        for (at, &slot) in self.order.slots().iter().enumerate() {
            let code = slot & 0x1f;
            if code != 0 {
                if let Some(value) = self.raw[usize::from(code)] {
                    extra.insert(origin.clone(), self.shape.name(code), kept(value));
                }
            } else if let Some((name, value)) = unknown.next()
                && extra.insert(origin.clone(), name, value).is_some()
            {
                doubles.push(at);
            }
        }
        drop(unknown);
        if !doubles.is_empty() {
            cx.lossy();
        }
        self.order.remove(&doubles);
    }

    /// Moves the members that are not in the model into a separate object; `None` if there are
    /// none.
    pub fn move_object(&mut self, cx: &mut Context<'a, '_>) -> Option<RawJson> {
        if !self.has_extra(cx) {
            return None;
        }
        let mut extra = Extra::default();
        self.move_extra(cx, &Origin::Json, &mut extra);
        let members = extra.all().map(|(_, name, value)| (name, value.text()));
        Some(object_of(members))
    }

    /// Whether the canonical writer, which writes the members in `canonical`, restores the object.
    pub fn is_canonical(&self, canonical: u32) -> bool {
        self.order.is_canonical(self.in_model(), canonical)
    }

    /// The recorded order, as slots.
    pub fn slots(&self) -> &[u8] {
        self.order.slots()
    }

    /// The recorded order, as a section of a layout.
    pub fn section(&self) -> &[u8] {
        filled(self.slots())
    }

    fn known(&mut self, cx: &mut Context<'a, '_>, code: u8) {
        if !self.order.known(code) {
            cx.duplicate(self.shape.name(code));
            self.raw[usize::from(code)] = None;
        }
    }

    fn unknown(&mut self, cx: &mut Context<'a, '_>, name: Cow<'a, str>, value: RawJson) {
        self.order.unknown();
        cx.unknown.push((name, value));
    }
}

/// A source text that the reader has already validated as one value.
fn kept(source: &str) -> RawJson {
    RawJson::new(source).expect("the reader has walked over this value")
}

// The state of a reader: the current message, its findings, and the unknown members of the open objects.

/// The state of a reader between objects.
pub struct Context<'a, 'r> {
    report: &'r mut Report,
    /// Findings about the current message, not yet final.
    findings: Vec<Diagnostic>,
    /// Index of the message that is being read.
    pub message: usize,
    /// The unknown members of the open objects, innermost last.
    pub unknown: Vec<(Cow<'a, str>, RawJson)>,
    /// Whether a value of an unknown kind was found.
    is_odd: bool,
    /// Whether something was read incompletely.
    is_lossy: bool,
}

const CARRIED: &str = " and is carried as it is";

impl Context<'_, '_> {
    /// Whether a finding is about a value without a meaning at its place, so writing it again changes nothing.
    pub fn is_carried(it: &Diagnostic) -> bool {
        it.code == "message::wrong-type" && it.message().ends_with(CARRIED)
    }
}

/// The amount of state in a [`Context`] at some moment.
#[derive(Clone, Copy)]
pub struct Mark {
    findings: usize,
    unknown: usize,
}

impl<'a, 'r> Context<'a, 'r> {
    /// A context at the first message. Findings go to the report.
    pub fn new(report: &'r mut Report) -> Self {
        let (findings, unknown) = (Vec::new(), Vec::new());
        Self { report, findings, message: 0, unknown, is_odd: false, is_lossy: false }
    }

    /// Resets both flags and returns their previous values.
    pub(crate) fn expect_nothing(&mut self) -> (bool, bool) {
        (std::mem::take(&mut self.is_odd), std::mem::take(&mut self.is_lossy))
    }

    /// Adds flags returned by [`Context::expect_nothing`].
    pub(crate) fn expect_also(&mut self, (is_odd, is_lossy): (bool, bool)) {
        self.is_odd |= is_odd;
        self.is_lossy |= is_lossy;
    }

    /// Whether a value of an unknown kind was found.
    pub(crate) fn is_odd(&self) -> bool {
        self.is_odd || self.is_lossy
    }

    /// Whether something was read incompletely.
    pub(crate) fn is_lossy(&self) -> bool {
        self.is_lossy
    }

    /// Marks that a value of an unknown kind was found and is carried unchanged.
    pub fn odd(&mut self) {
        self.is_odd = true;
    }

    /// Marks that something was read incompletely.
    pub(crate) fn lossy(&mut self) {
        self.is_lossy = true;
    }

    /// The findings that are not final.
    pub(crate) fn into_findings(self) -> Vec<Diagnostic> {
        self.findings
    }

    /// Adds the findings of another reader of the same message.
    pub(crate) fn take_findings(&mut self, findings: Vec<Diagnostic>) {
        self.findings.extend(findings);
    }

    /// Reports a value of the wrong type that was interpreted.
    pub fn wrong_kind(&mut self, sentence: String) {
        self.find(Severity::Warning, "message::wrong-type", sentence);
    }

    /// Ends a message: its findings are final.
    pub fn next_message(&mut self) {
        self.message += 1;
        self.flush();
    }

    /// As [`Context::next_message`], for an element that belongs to the message with this index.
    pub fn next_message_at(&mut self, message: usize) {
        self.findings.iter_mut().for_each(|it| it.at.message = Some(message));
        self.next_message();
    }

    /// Makes the findings final.
    pub fn flush(&mut self) {
        self.report.extend(self.findings.drain(..));
    }

    /// The state before the messages of a body, for [`Context::start_again`].
    pub(crate) fn start(&self) -> (usize, usize) {
        (self.message, self.report.len())
    }

    /// Resets to the state before the messages: what was read and found since does not count.
    pub(crate) fn start_again(&mut self, (message, found): (usize, usize)) {
        self.message = message;
        self.findings.clear();
        self.report.truncate(found);
    }

    /// A mark for [`Context::back_to`].
    pub fn mark(&self) -> Mark {
        Mark { findings: self.findings.len(), unknown: self.unknown.len() }
    }

    /// Discards the findings since the mark, because the value is carried raw.
    pub fn back_to(&mut self, mark: Mark) {
        self.findings.truncate(mark.findings);
        self.unknown.truncate(mark.unknown);
    }

    /// A text for the model.
    pub fn text(&mut self, (text, lone_surrogate): (Cow<'_, str>, bool), member: &str) -> String {
        if lone_surrogate {
            self.lone_surrogate(member);
        }
        text.into_owned()
    }

    /// A string for the model.
    pub fn string(&mut self, it: JsonStr<'_>, member: &str) -> String {
        self.text((it.text, it.lone_surrogate), member)
    }

    /// Reports an unpaired surrogate in the text of a member.
    pub fn lone_surrogate(&mut self, member: &str) {
        self.is_lossy = true;
        let text = format!("unpaired surrogate in member {member}, read as U+FFFD");
        self.find(Severity::Warning, "message::lone-surrogate", text);
    }

    /// Reports an unpaired surrogate in a member name. Two names that differ only in it become
    /// equal.
    pub fn lone_surrogate_in_name(&mut self) {
        self.is_lossy = true;
        let text = "unpaired surrogate in the name of a member, read as U+FFFD";
        self.find(Severity::Warning, "message::lone-surrogate", text.to_owned());
    }

    /// Reports a member of an unexpected type.
    pub fn wrong_type(&mut self, member: &str) {
        self.is_odd = true;
        let text = format!("member {member} has an unexpected type{CARRIED}");
        self.find(Severity::Warning, "message::wrong-type", text);
    }

    /// Reports a value with a clear meaning, but in a shape that the API refuses.
    pub fn shape(&mut self, sentence: impl Into<String>) {
        self.find(Severity::Info, "message::shape", sentence.into());
    }

    /// Reports a duplicate member.
    pub fn duplicate(&mut self, member: &str) {
        self.is_lossy = true;
        let text = format!("duplicate member {member}, the last one is used");
        self.find(Severity::Warning, "message::duplicate-member", text);
    }

    /// Notes a duplicate member beside the messages.
    pub(crate) fn duplicate_in_body(&mut self, member: &str) {
        let text = format!("duplicate member {member}, the last one is used");
        let code = Code::new("message::duplicate-member");
        self.findings.push(Diagnostic::new(Severity::Warning, code, text));
    }

    /// Notes a list of messages beside those that are read.
    pub(crate) fn unread_messages(&mut self, member: &str) {
        self.unread_member(
            member,
            &format!("a conversation of its own and is not read (`--field {member}` reads it)"),
        );
    }

    /// Reports a member beside the messages that contains text of the conversation and is not in the API of
    /// the format.
    pub fn unread(&mut self, member: &str) {
        self.unread_member(member, "not part of this format and is not read");
    }

    /// As [`Context::unread`], for a member beside another one of the same kind that is read.
    pub fn unread_beside(&mut self, member: &str, read: &str) {
        self.unread_member(member, &format!("there beside {read} and is not read"));
    }

    fn unread_member(&mut self, member: &str, what: &str) {
        let code = Code::new("message::unread-messages");
        let text = format!("member {member} is {what}");
        let pointer = format!("/{}", pointer_step(member));
        self.findings.push(Diagnostic::warning(code, text).at_pointer(pointer));
    }

    /// The role that a word means. Alternative spellings are reported (MS-2).
    pub fn role(&mut self, word: &str) -> Role {
        let Some(role) = Role::spelling(word) else { return Role::from(word) };
        let text = format!("role {word} was read as {}", role.as_str());
        self.find(Severity::Info, "message::role-spelling", text);
        role
    }

    /// The role word at the reader; `None` if it is not a string.
    pub fn role_word(
        &mut self,
        reader: &mut Reader<'a>,
    ) -> Result<Option<Cow<'a, str>>, JsonError> {
        if reader.peek()? != Kind::String {
            return reader.raw().map(|_| None);
        }
        let it = reader.string()?;
        if it.lone_surrogate {
            self.lone_surrogate("role");
        }
        Ok(Some(it.text))
    }

    fn find(&mut self, severity: Severity, code: &'static str, text: String) {
        let finding = Diagnostic::new(severity, Code::new(code), text).at_message(self.message);
        self.findings.push(finding);
    }
}

// Raw members, borrowed from their owner, on the way into or out of an object.

/// A member whose value is written unchanged.
pub struct RawMember<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its value: JSON text.
    pub value: &'a str,
}

impl<'a> RawMember<'a> {
    /// The members of a format in an [`Extra`], except those in `skip`.
    pub fn all_of(extra: &'a Extra, origin: &'a Origin, skip: &[&str]) -> Vec<RawMember<'a>> {
        if extra.is_empty() {
            return Vec::new();
        }
        let own = extra.iter(origin).filter(|(name, _)| !skip.contains(name));
        own.map(|(name, value)| RawMember { name: Cow::Borrowed(name), value: value.text() })
            .collect()
    }
}

/// The members of a raw object; `None` if it is not an object.
pub fn object_members(raw: &RawJson) -> Option<Vec<RawMember<'_>>> {
    let mut reader = Reader::from_text(raw.text());
    reader.begin_object().ok()?;
    let mut res = Vec::new();
    while let Some(key) = reader.next_key().ok()? {
        res.push(RawMember { name: key.text, value: reader.raw().ok()? });
    }
    Some(res)
}

/// An object with these members.
pub fn object_of<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> RawJson {
    RawJson::written(|it| it.object(|it| members.for_each(|(name, value)| it.key(name).raw(value))))
}

/// The text of a raw value that is a string, and whether half of a surrogate pair was replaced in
/// it.
pub fn text_of(raw: &str) -> Option<(Cow<'_, str>, bool)> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    let res = msg_json::unescape(inner);
    Some((res.text, res.lone_surrogate))
}

/// The first `type` of an object, if it is a string; the reader is at the object.
pub fn type_of(mut reader: Reader<'_>) -> Result<Option<Cow<'_, str>>, JsonError> {
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = reader.raw()?;
        if key.text == "type" {
            return Ok(text_of(value).map(|it| it.0));
        }
    }
    Ok(None)
}
