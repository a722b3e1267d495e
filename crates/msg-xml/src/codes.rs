//! The diagnostic codes of this crate and their meaning. Messages with details are built where the problem is found;
//! hints for the model are in [`Code`](crate::Code).

use msg_core::CodeInfo;

/// The codes of reading model text, in the order of the documentation.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error("xml::missing-tool-name", "XT-17", "missing tool name in a block"),
    CodeInfo::error("xml::invalid-tool-name", "XT-13, XT-17", "invalid character in a tool name"),
    CodeInfo::error(
        "xml::duplicate-tool-name",
        "XT-15, XT-17",
        "two names or two servers for one call",
    ),
    CodeInfo::error(
        "xml::invalid-tool-body",
        "XT-10, XT-12, XT-17",
        "text in place of the arguments, or a `<tool>` without a call",
    ),
    CodeInfo::error("xml::invalid-json", "XT-17, XT-27", "invalid JSON in a block"),
    CodeInfo::error("xml::truncated-tool-call", "XT-16", "the message ended inside a call"),
    CodeInfo::error("xml::tool-too-large", "XT-28", "block exceeds the size limit"),
    CodeInfo::error("xml::depth-limit", "XT-28", "arguments exceed the depth limit"),
    CodeInfo::error("xml::recovery-limit", "XT-29", "too many malformed blocks in one message"),
    CodeInfo::warning("xml::missing-close-tag", "XT-16, XT-23", "missing close tag"),
    CodeInfo::warning("xml::mismatched-close-tag", "XT-12, XT-23", "mismatched close tag"),
    CodeInfo::warning("xml::missing-tool-boundary", "XT-15", "second call in the same block"),
    CodeInfo::warning("xml::cdata-unterminated", "XT-24", "unterminated CDATA section"),
    CodeInfo::warning("xml::cdata-unescaped-terminator", "XT-24", "`]]>` inside a CDATA section"),
    CodeInfo::warning("xml::escaped-cdata", "XT-25", "CDATA section with escaped brackets"),
    CodeInfo::warning(
        "xml::ambiguous-entities",
        "XT-26",
        "entities next to markup, kept as written",
    ),
    CodeInfo::warning("xml::invalid-char-ref", "XT-26", "invalid character reference"),
    CodeInfo::warning("xml::dtd-ignored", "XT-12", "DOCTYPE in a block, ignored"),
    CodeInfo::warning("xml::stray-text-in-tool", "XT-12", "text between the elements of a block"),
    CodeInfo::warning("xml::stray-text-in-arguments", "XT-18", "text between parameters"),
    CodeInfo::warning("xml::arguments-not-object", "XT-18", "arguments are not an object"),
    CodeInfo::warning("xml::json-arguments", "XT-18", "arguments written as JSON text"),
    CodeInfo::warning("xml::json-repaired", "XT-27", "malformed JSON value, repaired"),
    CodeInfo::warning("xml::duplicate-arguments", "XT-15", "duplicate `<arguments>`"),
    CodeInfo::warning(
        "xml::missing-arguments-wrapper",
        "XT-14",
        "parameters outside `<arguments>`",
    ),
    CodeInfo::warning("xml::tool-name-in-attribute", "XT-13", "tool name written as an attribute"),
    CodeInfo::warning("xml::field-alias", "XT-14", "alias of an element name"),
    CodeInfo::warning("xml::tool-call-in-code-fence", "XT-5", "tool call in a code fence"),
    CodeInfo::warning("xml::unclosed-thinking", "XT-7", "unclosed thinking tag"),
    CodeInfo::warning(
        "xml::stray-thinking-close",
        "XT-6",
        "thinking close tag without an open tag",
    ),
    CodeInfo::warning("xml::stray-tool-close", "XT-10", "`</tool>` in text"),
    CodeInfo::warning("xml::foreign-tool-syntax", "XT-11", "tool call in an unsupported syntax"),
    CodeInfo::warning("xml::invalid-utf8", "XT-1", "invalid UTF-8"),
    CodeInfo::warning("xml::schema-mismatch", "XT-31", "value does not match its schema"),
    CodeInfo::warning("xml::missing-parameter", "XT-31", "missing required parameter"),
    CodeInfo::warning("xml::unknown-parameter", "XT-31", "unknown parameter"),
    CodeInfo::warning("xml::value-not-json", "XT-33", "value declared as JSON is not valid JSON"),
];
