//! What a reader carries along: which message it is in, what it found there, and the unknown
//! members of the objects that are open.

use std::borrow::Cow;

use msg_core::{Code, Diagnostic, RawJson, Report, Role, Severity};
use msg_json::{JsonError, JsonStr, Kind, Reader};

/// The state of a reader between objects.
pub struct Context<'a, 'r> {
    report: &'r mut Report,
    /// Findings about the message that is being read, not yet final.
    findings: Vec<Diagnostic>,
    /// Index of the message that is being read.
    pub message: usize,
    /// Unknown members of the open objects, the innermost last.
    pub unknown: Vec<(Cow<'a, str>, RawJson)>,
    /// A value was met that is of no kind which the reader knows.
    is_odd: bool,
    /// What was read is less than what was there.
    is_lossy: bool,
}

/// How much a [`Context`] held at some moment.
#[derive(Clone, Copy)]
pub struct Mark {
    findings: usize,
    unknown: usize,
}

impl<'a, 'r> Context<'a, 'r> {
    /// A context at the first message; findings go to the report.
    pub fn new(report: &'r mut Report) -> Self {
        let (findings, unknown) = (Vec::new(), Vec::new());
        Self { report, findings, message: 0, unknown, is_odd: false, is_lossy: false }
    }

    /// Nothing is odd about what is read from now on, until it is.
    pub(super) fn expect_nothing(&mut self) {
        (self.is_odd, self.is_lossy) = (false, false);
    }

    /// Whether something odd was met.
    pub(super) fn is_odd(&self) -> bool {
        self.is_odd || self.is_lossy
    }

    /// Whether something was met of which less was read than was there.
    pub(super) fn is_lossy(&self) -> bool {
        self.is_lossy
    }

    /// A value was met that is of no kind which the reader knows, and is carried as it is.
    pub fn odd(&mut self) {
        self.is_odd = true;
    }

    /// Something was met of which less was read than was there.
    pub(super) fn lossy(&mut self) {
        self.is_lossy = true;
    }

    /// The findings that are not final.
    pub(super) fn into_findings(self) -> Vec<Diagnostic> {
        self.findings
    }

    /// Takes the findings of another reader of the same message.
    pub(super) fn take_findings(&mut self, findings: Vec<Diagnostic>) {
        self.findings.extend(findings);
    }

    /// Notes a value of a wrong type that was read as what it means.
    pub fn wrong_kind(&mut self, sentence: String) {
        self.find(Severity::Warning, "message::wrong-type", sentence);
    }

    /// Ends a message: what was found in it is final.
    pub fn next_message(&mut self) {
        self.message += 1;
        self.flush();
    }

    /// As [`Context::next_message`], of an element that is or became part of the message at this place.
    pub fn next_message_at(&mut self, message: usize) {
        self.findings.iter_mut().for_each(|it| it.at.message = Some(message));
        self.next_message();
    }

    /// Makes the findings final.
    pub fn flush(&mut self) {
        self.report.extend(self.findings.drain(..));
    }

    /// A mark to go back to with [`Context::back_to`].
    pub fn mark(&self) -> Mark {
        Mark { findings: self.findings.len(), unknown: self.unknown.len() }
    }

    /// Takes back what was found since the mark: the value is carried raw after all.
    pub fn back_to(&mut self, mark: Mark) {
        self.findings.truncate(mark.findings);
        self.unknown.truncate(mark.unknown);
    }

    /// A text that goes into the model.
    pub fn text(&mut self, (text, lone_surrogate): (Cow<'_, str>, bool), member: &str) -> String {
        if lone_surrogate {
            self.lone_surrogate(member);
        }
        text.into_owned()
    }

    /// A string that goes into the model.
    pub fn string(&mut self, it: JsonStr<'_>, member: &str) -> String {
        self.text((it.text, it.lone_surrogate), member)
    }

    /// Notes half a surrogate pair in the text of a member.
    pub fn lone_surrogate(&mut self, member: &str) {
        self.is_lossy = true;
        let text = format!("half a surrogate pair in member {member} was read as U+FFFD");
        self.find(Severity::Warning, "message::lone-surrogate", text);
    }

    /// A name is text too, and two that differ in nothing else become one.
    pub fn lone_surrogate_in_name(&mut self) {
        self.is_lossy = true;
        let text = "half a surrogate pair in the name of a member was read as U+FFFD";
        self.find(Severity::Warning, "message::lone-surrogate", text.to_owned());
    }

    /// Notes a member of an unexpected type.
    pub fn wrong_type(&mut self, member: &str) {
        self.is_odd = true;
        let text = format!("member {member} has an unexpected type and is carried as it is");
        self.find(Severity::Warning, "message::wrong-type", text);
    }

    /// Notes a value whose meaning is clear, in a shape that the API does not take.
    pub fn shape(&mut self, sentence: impl Into<String>) {
        self.find(Severity::Info, "message::shape", sentence.into());
    }

    /// Notes a member that came twice.
    pub fn duplicate(&mut self, member: &str) {
        self.is_lossy = true;
        let text = format!("member {member} is there more than once, the last one counts");
        self.find(Severity::Warning, "message::duplicate-member", text);
    }

    /// Notes a member that came twice beside the messages.
    pub(super) fn duplicate_in_body(&mut self, member: &str) {
        let text = format!("member {member} is there more than once, the last one counts");
        let code = Code::new("message::duplicate-member");
        self.findings.push(Diagnostic::new(Severity::Warning, code, text));
    }

    /// The role that a word means; another spelling of it is noted (MS-2).
    pub fn role(&mut self, word: &str) -> Role {
        let Some(role) = Role::spelling(word) else { return Role::from(word) };
        let text = format!("role {word} was read as {}", role.as_str());
        self.find(Severity::Info, "message::role-spelling", text);
        role
    }

    /// The word of a role, before which the reader stands; none if it is no string.
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
