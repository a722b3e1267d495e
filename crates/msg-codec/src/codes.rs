//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, not here.

use msg_core::CodeInfo;

/// The codes of streams, whatever their family.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::info("convert::id-synthesised", "GE-6", "a call without an id got one"),
    CodeInfo::warning("stream::invalid-utf8", "OA-16", "bytes that are not UTF-8 became U+FFFD"),
    CodeInfo::warning("stream::bare-json", "OA-16", "a line of JSON came without its field name"),
    CodeInfo::warning("stream::comment-in-data", "OA-16", "a comment came as data"),
    CodeInfo::warning("stream::bad-json", "OA-16", "an event is not a JSON object and was skipped"),
    CodeInfo::error(
        "stream::event-too-large",
        "OA-16",
        "an event or body is larger than allowed and was dropped",
    ),
    CodeInfo::warning(
        "stream::ndjson",
        "OA-17",
        "a body is not one JSON document and was read by lines",
    ),
    CodeInfo::error(
        "stream::bad-frame",
        "BR-15",
        "a frame of a binary event stream is damaged or cut off",
    ),
    CodeInfo::warning(
        "stream::unknown-event",
        "OA-22, OA-23, GI-20",
        "an event that the API does not have",
    ),
    CodeInfo::warning(
        "stream::several-responses",
        "OA-17",
        "the bytes hold more than one response",
    ),
    CodeInfo::error(
        "stream::foreign-format",
        "OA-17",
        "the stream is of a format that is not read, or not the one that was asked for",
    ),
    CodeInfo::warning("stream::index-missing", "OA-19", "a fragment of a call has no index"),
    CodeInfo::warning(
        "stream::index-reused",
        "OA-19",
        "an index is used by more than one call, or by items of two kinds",
    ),
    CodeInfo::warning("stream::call-repeated", "OA-19", "a whole call came again and was ignored"),
    CodeInfo::warning("stream::id-changed", "OA-19", "the id of a call changed; the first counts"),
    CodeInfo::warning(
        "stream::id-synthesised",
        "OA-19",
        "a call came without an id and was given one",
    ),
    CodeInfo::warning("stream::name-repeated", "OA-19", "the name of a call came again"),
    CodeInfo::warning("stream::name-fragment", "OA-19", "the name of a call came in pieces"),
    CodeInfo::warning(
        "stream::name-changed",
        "OA-19",
        "the name of a call changed; the first counts",
    ),
    CodeInfo::warning(
        "stream::empty-object-prefix",
        "OA-19",
        "an empty object before the arguments was dropped",
    ),
    CodeInfo::warning(
        "stream::arguments-object",
        "OA-19",
        "arguments came as JSON instead of text",
    ),
    CodeInfo::info(
        "stream::arguments-empty",
        "OA-19",
        "a call without arguments got an empty object",
    ),
    CodeInfo::warning(
        "stream::arguments-incomplete",
        "OA-19",
        "a call was cut off before its arguments were complete",
    ),
    CodeInfo::warning(
        "stream::arguments-concatenated",
        "OA-19",
        "the arguments of one call are several objects",
    ),
    CodeInfo::warning("stream::arguments-invalid", "OA-19", "arguments are not JSON"),
    CodeInfo::warning("stream::arguments-not-object", "OA-19", "arguments are JSON, but no object"),
    CodeInfo::info("stream::finish-duplicate", "OA-20", "the finish reason came again"),
    CodeInfo::warning(
        "stream::finish-conflict",
        "OA-20",
        "another finish reason came; the first counts",
    ),
    CodeInfo::warning(
        "stream::finish-promoted",
        "OA-20",
        "calls came without the finish reason tool_calls",
    ),
    CodeInfo::warning(
        "stream::finish-demoted",
        "OA-20",
        "the finish reason tool_calls came without a call",
    ),
    CodeInfo::warning("stream::data-after-finish", "OA-20", "output came after the finish reason"),
    CodeInfo::warning(
        "stream::data-after-end",
        "OA-20",
        "data came after the stream said that it was over, and was not read",
    ),
    CodeInfo::warning(
        "stream::wrong-type",
        "MS-29",
        "a value of a wrong type was read as what it means",
    ),
    CodeInfo::warning(
        "stream::left-out",
        "MS-29",
        "a value of a wrong type that means nothing in its place was left out",
    ),
    CodeInfo::error("stream::provider-error", "OA-21", "the provider reported an error"),
    CodeInfo::error("stream::truncated", "OA-21", "the stream stopped before its end"),
    CodeInfo::warning(
        "stream::done-differs",
        "OA-22",
        "a final text differs from its deltas and wins",
    ),
    CodeInfo::warning("stream::lone-surrogate", "OA-24", "half a surrogate pair became U+FFFD"),
    CodeInfo::error("stream::limit", "OA-26", "the stream went over a limit; the rest was dropped"),
];
