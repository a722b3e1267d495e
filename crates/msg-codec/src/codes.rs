//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::{CodeInfo, codes};

/// The codes of streams, whatever their family.
pub const CODES: &[CodeInfo] = codes! {
    info "convert::id-synthesised" "GE-6" "a call without an id; an id was generated";
    warning "stream::invalid-utf8" "OA-16" "invalid UTF-8, replaced with U+FFFD";
    warning "stream::bare-json" "OA-16" "a JSON line without a field name";
    warning "stream::comment-in-data" "OA-16" "a comment sent as data";
    warning "stream::bad-json" "OA-16" "an event is not a JSON object, skipped";
    error "stream::event-too-large" "OA-16" "an event or body exceeds the size limit, dropped";
    warning "stream::ndjson" "OA-17" "the body is JSON Lines instead of one JSON document";
    error "stream::bad-frame" "BR-15" "a damaged or truncated frame of a binary event stream";
    warning "stream::unknown-event" "OA-22, OA-23, GI-20" "unknown event";
    warning "stream::several-responses" "OA-17" "the bytes contain more than one response";
    error "stream::foreign-format" "OA-17" "the stream is in an unsupported format, or not in the requested one";
    warning "stream::index-missing" "OA-19" "a fragment of a call has no index";
    warning "stream::index-reused" "OA-19" "several calls, or items of two kinds, use the same index";
    warning "stream::call-repeated" "OA-19" "duplicate call, ignored";
    warning "stream::id-changed" "OA-19" "the id of a call changed, the first one is used";
    warning "stream::id-synthesised" "OA-19" "a call without an id; an id was generated";
    warning "stream::name-repeated" "OA-19" "duplicate name of a call";
    warning "stream::name-fragment" "OA-19" "the name of a call arrived in pieces";
    warning "stream::name-changed" "OA-19" "the name of a call changed, the first one is used";
    warning "stream::empty-object-prefix" "OA-19" "an empty object before the arguments, dropped";
    warning "stream::arguments-object" "OA-19" "arguments sent as JSON instead of text";
    info "stream::arguments-empty" "OA-19" "a call without arguments, read as an empty object";
    warning "stream::arguments-incomplete" "OA-19" "a call was truncated before its arguments were complete";
    warning "stream::arguments-concatenated" "OA-19" "the arguments of one call are several objects";
    warning "stream::arguments-invalid" "OA-19" "arguments are not JSON";
    warning "stream::arguments-not-object" "OA-19" "arguments are JSON, but not an object";
    info "stream::finish-duplicate" "OA-20" "duplicate finish reason";
    warning "stream::finish-conflict" "OA-20" "conflicting finish reason, the first one is used";
    warning "stream::finish-promoted" "OA-20" "calls without the finish reason `tool_calls`";
    warning "stream::finish-demoted" "OA-20" "the finish reason `tool_calls` without a call";
    warning "stream::interleaved" "OA-18" "a thought after text, which the message has before it";
    warning "stream::data-after-finish" "OA-20" "output after the finish reason";
    warning "stream::data-after-end" "OA-20" "data after the end of the stream, not read";
    warning "stream::wrong-type" "MS-29" "a value of a wrong type, read as what it means";
    warning "stream::left-out" "MS-29" "a value that is of a wrong type or unknown there and has no place, left out";
    error "stream::provider-error" "OA-21" "the provider reported an error";
    error "stream::truncated" "OA-21" "the stream ended early";
    warning "stream::done-differs" "OA-22" "the final text differs from its deltas, the final text is used";
    warning "stream::lone-surrogate" "OA-24" "unpaired surrogate, replaced with U+FFFD";
    error "stream::limit" "OA-26" "the stream exceeds a limit, the rest was dropped";
};
