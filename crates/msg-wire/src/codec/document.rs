//! What the documents of both families have in common: a bare list, or an object that one member
//! tells to be a request or a response (OA-3, OA-14). What these hold is the form's own.

use msg_core::{
    Error, Report,
    json::{JsonError, Kind, Reader},
};

use super::Context;
use crate::ReadOptions;

/// How a form's documents are told apart.
pub struct DocumentForm {
    /// The member of a request that holds its messages, and the kinds that it may have.
    pub request: (&'static str, &'static [Kind]),
    /// The member of a response that holds its messages; an array.
    pub response: &'static str,
    /// What the error says that was expected.
    pub expected: &'static str,
}

/// What a document is.
pub enum DocumentShape {
    /// An array of messages.
    List,
    /// An object that is a request.
    Request,
    /// An object that is a response.
    Response,
}

/// Reads a document within the limits; `build` reads what the shape promises.
pub fn read_document<'a, T>(
    json: &'a [u8],
    options: &ReadOptions,
    form: &DocumentForm,
    build: impl FnOnce(DocumentShape, &mut Reader<'a>, &mut Context<'a, '_>) -> Result<T, Error>,
) -> Result<(T, Report), crate::Error> {
    if json.len() > options.max_bytes {
        return Err(crate::Error::TooLarge { limit: options.max_bytes });
    }
    let mut reader = Reader::new(json).map_err(Error::from)?;
    let mut report = Report::new();
    let mut cx = Context::new(&mut report);
    let res = read_shaped(&mut reader, &mut cx, form, build)?;
    cx.flush();
    Ok((res, report))
}

fn read_shaped<'a, 'r, T>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, 'r>,
    form: &DocumentForm,
    build: impl FnOnce(DocumentShape, &mut Reader<'a>, &mut Context<'a, 'r>) -> Result<T, Error>,
) -> Result<T, Error> {
    let Some(shape) = shape(reader, form)? else {
        return Err(unknown(reader, form.expected)?);
    };
    let res = build(shape, reader, cx)?;
    reader.finish()?;
    Ok(res)
}

fn shape(reader: &mut Reader<'_>, form: &DocumentForm) -> Result<Option<DocumentShape>, JsonError> {
    match reader.peek()? {
        Kind::Array => Ok(Some(DocumentShape::List)),
        Kind::Object => object_shape(reader.clone(), form),
        _ => Ok(None),
    }
}

/// Looks ahead for the member that tells a request from a response; a request wins.
fn object_shape(
    mut reader: Reader<'_>,
    form: &DocumentForm,
) -> Result<Option<DocumentShape>, JsonError> {
    let (request, kinds) = form.request;
    let mut res = None;
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let kind = reader.peek()?;
        if key.text == request && kinds.contains(&kind) {
            return Ok(Some(DocumentShape::Request));
        }
        if key.text == form.response && kind == Kind::Array {
            res = Some(DocumentShape::Response);
        }
        reader.raw()?;
    }
    Ok(res)
}

/// The error for a document that is none of ours, unless it is not even JSON.
fn unknown(reader: &mut Reader<'_>, expected: &'static str) -> Result<Error, JsonError> {
    let offset = reader.next_offset();
    reader.raw()?;
    reader.finish()?;
    Ok(Error::Shape { message: None, expected, offset })
}
