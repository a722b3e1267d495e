//! The columns of lists under construction: MESSAGE and SEGMENT, and the column of STREAM (SC-10).

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Int32Builder};
use arrow_schema::DataType;
use msg_core::Diagnostic;
use msg_document::{CallRow, MessageRow, StreamRow, TextSegment};

use crate::output::{Build, Diagnostics, Full, Lists, Presence, Texts, done, int};
use crate::reports::{Answer, Report, error, value};
use crate::types::{self, Width};

/// MESSAGE
pub(crate) struct Messages {
    width: Width,
    presence: Presence,
    index: Int32Builder,
    role: Texts,
    name: Texts,
    text: Texts,
    calls: Lists<Calls>,
    result_ids: Lists<Texts>,
    native: Texts,
}

impl Messages {
    pub(crate) fn lists(width: Width) -> Lists<Self> {
        let calls = Lists::new(DataType::Struct(types::call(width)), Calls::new(width));
        let items = Messages {
            width,
            presence: Presence::default(),
            index: Int32Builder::new(),
            role: Texts::small(),
            name: Texts::small(),
            text: Texts::new(width),
            calls,
            result_ids: Lists::new(DataType::Utf8, Texts::small()),
            native: Texts::new(width),
        };
        Lists::new(DataType::Struct(types::message(width)), items)
    }
}

impl Build<MessageRow> for Messages {
    fn push(&mut self, it: Option<MessageRow>) -> Result<(), Full> {
        self.presence.push(it.is_some());
        let text = |of: fn(&MessageRow) -> &str| it.as_ref().map_or("", of);
        self.index.append_value(it.as_ref().map_or(0, |it| int(it.index)));
        self.role.push(Some(text(|it| &it.role)))?;
        self.name.push(it.as_ref().and_then(|it| it.name.as_deref()))?;
        self.text.push(Some(text(|it| &it.text)))?;
        self.native.push(Some(text(|it| &it.native)))?;
        let (calls, ids) = it.map(|it| (it.calls, it.result_ids)).unwrap_or_default();
        self.calls.push(Some(calls))?;
        self.result_ids.push(Some(ids))
    }

    fn finish(&mut self) -> ArrayRef {
        let members = vec![
            done(&mut self.index),
            self.role.finish(),
            self.name.finish(),
            self.text.finish(),
            self.calls.finish::<CallRow>(),
            self.result_ids.finish::<String>(),
            self.native.finish(),
        ];
        self.presence.structs(types::message(self.width), members)
    }
}

/// The calls of a message.
struct Calls {
    width: Width,
    presence: Presence,
    id: Texts,
    name: Texts,
    arguments: Texts,
}

impl Calls {
    fn new(width: Width) -> Self {
        let (id, name, arguments) = (Texts::small(), Texts::small(), Texts::new(width));
        Calls { width, presence: Presence::default(), id, name, arguments }
    }
}

impl Build<CallRow> for Calls {
    fn push(&mut self, it: Option<CallRow>) -> Result<(), Full> {
        self.presence.push(it.is_some());
        let text = |of: fn(&CallRow) -> &str| it.as_ref().map_or("", of);
        self.id.push(Some(text(|it| &it.id)))?;
        self.name.push(Some(text(|it| &it.name)))?;
        self.arguments.push(Some(text(|it| &it.arguments)))
    }

    fn finish(&mut self) -> ArrayRef {
        let members = vec![self.id.finish(), self.name.finish(), self.arguments.finish()];
        self.presence.structs(types::call(self.width), members)
    }
}

/// SEGMENT
pub(crate) struct Segments {
    width: Width,
    presence: Presence,
    kind: Texts,
    text: Texts,
    server_name: Texts,
    tool_name: Texts,
    arguments: Texts,
    complete: BooleanBuilder,
}

impl Segments {
    pub(crate) fn lists(width: Width) -> Lists<Self> {
        let items = Segments {
            width,
            presence: Presence::default(),
            kind: Texts::small(),
            text: Texts::new(width),
            server_name: Texts::small(),
            tool_name: Texts::small(),
            arguments: Texts::new(width),
            complete: BooleanBuilder::new(),
        };
        Lists::new(DataType::Struct(types::segment(width)), items)
    }
}

impl Build<TextSegment> for Segments {
    fn push(&mut self, it: Option<TextSegment>) -> Result<(), Full> {
        let call = it.as_ref().and_then(|it| it.call.as_ref());
        self.presence.push(it.is_some());
        self.kind.push(Some(it.as_ref().map_or("", |it| it.kind)))?;
        self.text.push(it.as_ref().and_then(|it| it.text.as_deref()))?;
        self.server_name.push(call.map(|it| it.server_name.as_str()))?;
        self.tool_name.push(call.and_then(|it| it.tool_name.as_deref()))?;
        self.arguments.push(call.map(|it| it.arguments.get()))?;
        self.complete.append_option(call.map(|it| it.complete));
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        let members = vec![
            self.kind.finish(),
            self.text.finish(),
            self.server_name.finish(),
            self.tool_name.finish(),
            self.arguments.finish(),
            done(&mut self.complete),
        ];
        self.presence.structs(types::segment(self.width), members)
    }
}

/// STREAM
pub(crate) struct Streams {
    width: Width,
    presence: Presence,
    message: Texts,
    finish_reason: Texts,
    usage: Texts,
    model: Texts,
    id: Texts,
    complete: BooleanBuilder,
    errors: Lists<Diagnostics>,
    warnings: Lists<Diagnostics>,
    error: Diagnostics,
}

impl Streams {
    pub(crate) fn new(width: Width) -> Self {
        Streams {
            width,
            presence: Presence::default(),
            message: Texts::new(width),
            finish_reason: Texts::small(),
            usage: Texts::small(),
            model: Texts::small(),
            id: Texts::small(),
            complete: BooleanBuilder::new(),
            errors: Diagnostics::lists(),
            warnings: Diagnostics::lists(),
            error: Diagnostics::new(),
        }
    }
}

impl Report<StreamRow> for Streams {
    fn push(&mut self, answer: Answer<StreamRow>, _: Option<&Diagnostic>) -> Result<(), Full> {
        let it = value(&answer);
        self.presence.push(answer.is_some());
        self.message.push(it.and_then(|it| it.message.as_deref()))?;
        self.finish_reason.push(it.and_then(|it| it.finish_reason.as_deref()))?;
        self.usage.push(it.and_then(|it| it.usage.as_deref()))?;
        self.model.push(it.and_then(|it| it.model.as_deref()))?;
        self.id.push(it.and_then(|it| it.id.as_deref()))?;
        self.complete.append_option(it.and_then(|it| it.complete));
        self.errors.push(it.map(|it| &it.errors))?;
        self.warnings.push(it.map(|it| &it.warnings))?;
        self.error.push(error(&answer))
    }

    fn finish(&mut self) -> ArrayRef {
        let members = vec![
            self.message.finish(),
            self.finish_reason.finish(),
            self.usage.finish(),
            self.model.finish(),
            self.id.finish(),
            done(&mut self.complete),
            self.errors.finish(),
            self.warnings.finish(),
            self.error.finish(),
        ];
        self.presence.structs(types::stream(self.width), members)
    }
}
