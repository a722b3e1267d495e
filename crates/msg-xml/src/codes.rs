//! What the diagnostic codes of this crate mean. Sentences about one finding are made where it is
//! found, hints for the model stand beside [`Code`](crate::Code).

use msg_core::CodeInfo;

/// The codes of reading model text, in the order of the documentation.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error("xml::missing-tool-name", "XT-17", "no name in a block"),
    CodeInfo::error(
        "xml::invalid-tool-name",
        "XT-13, XT-17",
        "a name with characters that no tool has",
    ),
    CodeInfo::error(
        "xml::duplicate-tool-name",
        "XT-15, XT-17",
        "two names or servers for one call",
    ),
    CodeInfo::error(
        "xml::invalid-tool-body",
        "XT-10, XT-12, XT-17",
        "text where arguments should be, or a `<tool>` that holds no call",
    ),
    CodeInfo::error("xml::invalid-json", "XT-17, XT-27", "a JSON body that is no JSON"),
    CodeInfo::error("xml::truncated-tool-call", "XT-16", "the message ended inside a call"),
    CodeInfo::error("xml::tool-too-large", "XT-28", "a block over the size limit"),
    CodeInfo::error("xml::depth-limit", "XT-28", "nesting over the depth limit"),
    CodeInfo::error("xml::recovery-limit", "XT-29", "too many blocks needed a second reading"),
    CodeInfo::warning("xml::missing-close-tag", "XT-16, XT-23", "a close tag is missing"),
    CodeInfo::warning(
        "xml::mismatched-close-tag",
        "XT-12, XT-23",
        "a close tag closes something else",
    ),
    CodeInfo::warning(
        "xml::missing-tool-boundary",
        "XT-15",
        "a second call began in the same block",
    ),
    CodeInfo::warning("xml::cdata-unterminated", "XT-24", "a CDATA section without `]]>`"),
    CodeInfo::warning("xml::cdata-unescaped-terminator", "XT-24", "`]]>` inside a CDATA section"),
    CodeInfo::warning("xml::escaped-cdata", "XT-25", "a CDATA section with escaped brackets"),
    CodeInfo::warning(
        "xml::ambiguous-entities",
        "XT-26",
        "entities beside markup, kept as written",
    ),
    CodeInfo::warning("xml::invalid-char-ref", "XT-26", "a character reference to nothing"),
    CodeInfo::warning("xml::dtd-ignored", "XT-12", "a DOCTYPE in a block"),
    CodeInfo::warning("xml::stray-text-in-tool", "XT-12", "text between the elements of a block"),
    CodeInfo::warning("xml::stray-text-in-arguments", "XT-18", "text between parameters"),
    CodeInfo::warning("xml::arguments-not-object", "XT-18", "arguments that are no object"),
    CodeInfo::warning("xml::json-arguments", "XT-18", "arguments as JSON text"),
    CodeInfo::warning("xml::json-repaired", "XT-27", "a value was JSON that needed mending"),
    CodeInfo::warning("xml::duplicate-arguments", "XT-15", "a second `<arguments>`"),
    CodeInfo::warning(
        "xml::missing-arguments-wrapper",
        "XT-14",
        "parameters outside `<arguments>`",
    ),
    CodeInfo::warning("xml::tool-name-in-attribute", "XT-13", "the name as an attribute"),
    CodeInfo::warning("xml::field-alias", "XT-14", "another word for an element of the format"),
    CodeInfo::warning("xml::tool-call-in-code-fence", "XT-5", "a call in a code fence"),
    CodeInfo::warning("xml::unclosed-thinking", "XT-7", "thinking that was never closed"),
    CodeInfo::warning(
        "xml::stray-thinking-close",
        "XT-6",
        "a thinking close tag without its open tag",
    ),
    CodeInfo::warning("xml::stray-tool-close", "XT-10", "`</tool>` in text"),
    CodeInfo::warning("xml::foreign-tool-syntax", "XT-11", "a call in a syntax that is not read"),
    CodeInfo::warning("xml::invalid-utf8", "XT-1", "bytes that are no UTF-8"),
    CodeInfo::warning("xml::schema-mismatch", "XT-31", "a value that does not fit its schema"),
    CodeInfo::warning("xml::missing-parameter", "XT-31", "a required parameter that a call lacks"),
    CodeInfo::warning(
        "xml::unknown-parameter",
        "XT-31",
        "a parameter that the schema does not list",
    ),
    CodeInfo::warning("xml::value-not-json", "XT-33", "a value that was announced as JSON"),
];
