//! The diagnostic codes of this crate and their meaning. Messages with details are built where the problem is found;
//! hints for the model are in [`Code`](crate::Code).

use msg_core::{CodeInfo, codes};

/// The codes of reading model text, in the order of the documentation.
pub const CODES: &[CodeInfo] = codes! {
    error "xml::missing-tool-name" "XT-17" "missing tool name in a block";
    error "xml::invalid-tool-name" "XT-13, XT-17" "invalid character in a tool name";
    error "xml::duplicate-tool-name" "XT-15, XT-17" "two names or two servers for one call";
    error "xml::invalid-tool-body" "XT-10, XT-12, XT-17" "text in place of the arguments, or a `<tool>` without a call";
    error "xml::invalid-json" "XT-17, XT-27" "invalid JSON in a block";
    error "xml::truncated-tool-call" "XT-16" "the message ended inside a call";
    error "xml::tool-too-large" "XT-28" "block exceeds the size limit";
    error "xml::depth-limit" "XT-28" "arguments exceed the depth limit";
    error "xml::recovery-limit" "XT-29" "too many malformed blocks in one message";
    warning "xml::missing-close-tag" "XT-16, XT-23" "missing close tag";
    warning "xml::mismatched-close-tag" "XT-12, XT-23" "mismatched close tag";
    warning "xml::missing-tool-boundary" "XT-15" "second call in the same block";
    warning "xml::cdata-unterminated" "XT-24" "unterminated CDATA section";
    warning "xml::cdata-unescaped-terminator" "XT-24" "`]]>` inside a CDATA section";
    warning "xml::escaped-cdata" "XT-25" "CDATA section with escaped brackets";
    warning "xml::ambiguous-entities" "XT-26" "entities next to markup, kept as written";
    warning "xml::invalid-char-ref" "XT-26" "invalid character reference";
    warning "xml::dtd-ignored" "XT-12" "DOCTYPE in a block, ignored";
    warning "xml::stray-text-in-tool" "XT-12" "text between the elements of a block";
    warning "xml::stray-text-in-arguments" "XT-18" "text between parameters";
    warning "xml::arguments-not-object" "XT-18" "arguments are not an object";
    warning "xml::json-arguments" "XT-18" "arguments written as JSON text";
    warning "xml::json-repaired" "XT-27" "malformed JSON value, repaired";
    warning "xml::duplicate-arguments" "XT-15" "duplicate `<arguments>`";
    warning "xml::missing-arguments-wrapper" "XT-14" "parameters outside `<arguments>`";
    warning "xml::tool-name-in-attribute" "XT-13" "tool name written as an attribute";
    warning "xml::field-alias" "XT-14" "alias of an element name";
    warning "xml::tool-call-in-code-fence" "XT-5" "tool call in a code fence";
    warning "xml::unclosed-thinking" "XT-7" "unclosed thinking tag";
    warning "xml::stray-thinking-close" "XT-6" "thinking close tag without an open tag";
    warning "xml::stray-tool-close" "XT-10" "`</tool>` in text";
    warning "xml::foreign-tool-syntax" "XT-11" "tool call in an unsupported syntax";
    warning "xml::invalid-utf8" "XT-1" "invalid UTF-8";
    warning "xml::schema-mismatch" "XT-31" "value does not match its schema";
    warning "xml::missing-parameter" "XT-31" "missing required parameter";
    warning "xml::unknown-parameter" "XT-31" "unknown parameter";
    warning "xml::value-not-json" "XT-33" "value declared as JSON is not valid JSON";
};
