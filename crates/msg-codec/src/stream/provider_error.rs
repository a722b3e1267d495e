//! Errors that a provider puts into its stream (OA-21). They are part of the result, not errors of
//! this crate: what was received before them is kept.

use std::borrow::Cow;

use msg_core::RawJson;
use serde::Serialize;

use crate::json::Json;

/// What a provider said went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ProviderError {
    /// Its sentence, or the whole error where there is none.
    pub message: String,
    /// Its kind, such as `server_error`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its code, a string or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<RawJson>,
    /// The request's parameter that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
}

impl ProviderError {
    /// An error of which only the sentence is known.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: None, code: None, param: None }
    }

    /// The error that the value of a member `error` is: a string, or an object, which may hold the
    /// error proper as its own `error`. Null, `""`, `{}` and other types are none.
    pub fn of_member(value: Json<'_>) -> Option<Self> {
        if let Some(text) = value.text() {
            return Some(Self::new(text));
        }
        let filled = value.members().next().is_some();
        if !filled {
            return None;
        }
        let inner = value.get("error").and_then(|inner| match inner.text() {
            Some(text) => Some(Self::new(text)),
            None => inner.members().next().is_some().then(|| Self::of_object(inner)),
        });
        Some(inner.unwrap_or_else(|| Self::of_object(value)))
    }

    /// The error that an event or body reports: in its member `error`, or beside it where that is just
    /// `true`. None if it reports none.
    pub fn of_event(error: Option<Json<'_>>, whole: Json<'_>) -> Option<Self> {
        match error {
            Some(it) if it.source() == "true" => Some(Self::of_object(whole)),
            it => it.and_then(Self::of_member),
        }
    }

    /// Whether an object that nobody recognises is an error of some server.
    pub(super) fn looks_like_one(object: Json<'_>) -> bool {
        let is =
            |member: &str| object.get(member).and_then(Json::text).is_some_and(|it| it == "error");
        let says = |member: &str| object.get(member).is_some_and(|it| it.filled().is_some());
        let details = object.get("detail").is_some_and(|it| it.is_array() || it.is_object());
        Self::of_event(object.get("error"), object).is_some()
            || is("object")
            || is("type")
            || details
            || (says("message") || says("detail")) && object.members().count() <= 4
    }

    /// The error that an object is.
    pub fn of_object(object: Json<'_>) -> Self {
        let [message, detail, kind, code, param] =
            object.pick(["message", "detail", "type", "code", "param"]);
        let text = |it: Option<Json<'_>>| it.and_then(Json::text).map(Cow::into_owned);
        let detail = || detail.and_then(|it| it.text().or_else(|| spoken(it)));
        let mut found = Self::new(text(message).unwrap_or_default());
        if found.message.is_empty() {
            found.message = detail().map_or_else(|| object.compact(), Cow::into_owned);
        }
        found.kind = text(kind);
        found.code = code.filter(|it| it.id().is_some()).map(Json::to_json);
        found.param = text(param);
        found
    }
}

/// A value that is no string, as text.
fn spoken(value: Json<'_>) -> Option<Cow<'_, str>> {
    (!value.is_null() && !value.is_string()).then(|| Cow::Owned(value.compact()))
}
