//! The diagnostic codes of this crate. Their meaning is also the message of a diagnostic, unless the message names
//! something of the file; those are built where the problem is found.

use msg_core::CodeInfo;

/// The codes of message files, for reading, writing and the store.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::warning("msgfile::cell-lost", "MF-45", "a written cell is missing from the file"),
    CodeInfo::info("msgfile::editor-file", "MF-45", "an editor may have the file open"),
    CodeInfo::warning(
        "msgfile::no-sidecar",
        "MF-41",
        "cannot create a lock file: appends have no journal",
    ),
    CodeInfo::warning(
        "msgfile::agent-bad-value",
        "MF-16, MF-17",
        "invalid value of an agent's attribute, ignored",
    ),
    CodeInfo::info(
        "msgfile::agent-implicit",
        "MF-14",
        "the output names no agent, assigned to the default agent",
    ),
    CodeInfo::warning(
        "msgfile::agent-name-shadows-preset",
        "MF-17",
        "a temporary agent has the name of a preset agent, which stays unchanged",
    ),
    CodeInfo::error("msgfile::agent-unknown", "MF-28, MF-55", "unknown agent"),
    CodeInfo::info("msgfile::agent-unknown-key", "MF-16", "unknown attribute of a preset agent"),
    CodeInfo::warning("msgfile::agent-unnamed", "MF-17", "the agent has no name, title or id"),
    CodeInfo::warning(
        "msgfile::agents-bad-shape",
        "MF-16",
        "`agents` is neither a mapping of names to attributes nor a list of names and mappings with a `name`",
    ),
    CodeInfo::warning("msgfile::attribute-junk", "MF-11", "invalid text between the attributes"),
    CodeInfo::error("msgfile::no-cell", "MF-60", "no cell of the file can hold the edited message"),
    CodeInfo::error(
        "msgfile::bad-attribute",
        "MF-34",
        "the attribute would not read back unchanged",
    ),
    CodeInfo::error(
        "msgfile::bad-cell",
        "MF-34, MF-36, MF-39",
        "the cell would not read back unchanged",
    ),
    CodeInfo::error("msgfile::bad-id", "MF-7, MF-34", "invalid character in an id"),
    CodeInfo::error("msgfile::bad-type", "MF-34", "the type would not read back unchanged"),
    CodeInfo::error("msgfile::base64-invalid", "MF-24", "the body is not valid base64"),
    CodeInfo::info(
        "msgfile::body-indented-code",
        "MF-50",
        "the body starts with an indent, which Markdown shows as code",
    ),
    CodeInfo::info(
        "msgfile::bound-by-position",
        "MF-14",
        "the output belongs to the code cell before it",
    ),
    CodeInfo::error("msgfile::changed-on-disk", "MF-46", "the file was changed after it was read"),
    CodeInfo::info(
        "msgfile::code-cell-without-fence",
        "MF-22",
        "the code cell has no fence, its whole body is code",
    ),
    CodeInfo::warning(
        "msgfile::code-fence-unclosed",
        "MF-22",
        "unclosed fence in a code cell, read to the end of the cell",
    ),
    CodeInfo::info(
        "msgfile::comma-separator",
        "MF-11",
        "expected white space between attributes, found a comma",
    ),
    CodeInfo::warning("msgfile::default-agent-unknown", "MF-17", "unknown default agent"),
    CodeInfo::warning(
        "msgfile::definition-detached",
        "MF-10",
        "the definition does not follow its heading",
    ),
    CodeInfo::warning(
        "msgfile::definition-in-footnote-block",
        "MF-10",
        "the definition is in a footnote block",
    ),
    CodeInfo::warning(
        "msgfile::definition-missing",
        "MF-10",
        "the cell has an id but no definition",
    ),
    CodeInfo::info(
        "msgfile::definition-not-followed-by-blank",
        "MF-10",
        "expected an empty line after the definition",
    ),
    CodeInfo::warning(
        "msgfile::duplicate-attribute",
        "MF-11",
        "duplicate attribute, the last one is used",
    ),
    CodeInfo::warning(
        "msgfile::duplicate-id",
        "MF-15, MF-37",
        "duplicate id, already used by an earlier cell",
    ),
    CodeInfo::warning(
        "msgfile::duration-unparseable",
        "MF-25",
        "`duration` is not a valid duration",
    ),
    CodeInfo::info(
        "msgfile::ellipsis-ignored",
        "MF-11",
        "ellipsis between the attributes, ignored",
    ),
    CodeInfo::info(
        "msgfile::exec-of-non-code-cell",
        "MF-14",
        "the output belongs to a cell without code",
    ),
    CodeInfo::error("msgfile::frontmatter-bad-value", "MF-4", "invalid value of a frontmatter key"),
    CodeInfo::error(
        "msgfile::frontmatter-invalid-yaml",
        "MF-4",
        "the frontmatter is not valid YAML, ignored",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-not-mapping",
        "MF-4",
        "the frontmatter is not a mapping, ignored",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-too-deep",
        "MF-4",
        "the frontmatter is nested too deeply, ignored",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-too-large",
        "MF-4",
        "the frontmatter is too large, ignored",
    ),
    CodeInfo::warning(
        "msgfile::frontmatter-unclosed",
        "MF-4",
        "unclosed frontmatter, read as text",
    ),
    CodeInfo::warning(
        "msgfile::heading-missing-ref",
        "MF-10",
        "the heading has no id, the id of its definition is used",
    ),
    CodeInfo::error(
        "msgfile::history-unknown-value",
        "MF-19",
        "unknown value of `history`, read as `exclude`",
    ),
    CodeInfo::warning(
        "msgfile::id-case-collision",
        "MF-50",
        "the id differs from another cell's id only in case",
    ),
    CodeInfo::warning(
        "msgfile::id-mismatch",
        "MF-10",
        "heading and definition have different ids, the heading's is used",
    ),
    CodeInfo::warning("msgfile::invalid-utf8", "MF-2", "invalid UTF-8"),
    CodeInfo::error("msgfile::io", "MF-42", "file system error"),
    CodeInfo::error("msgfile::locked", "MF-41", "the file is locked by another process"),
    CodeInfo::warning(
        "msgfile::marker-before-section",
        "MF-5",
        "cell marker before the section, read as text",
    ),
    CodeInfo::info("msgfile::marker-in-fence", "MF-8", "cell marker inside a fence, read as text"),
    CodeInfo::info(
        "msgfile::near-marker",
        "MF-6",
        "the line resembles a cell marker, read as text",
    ),
    CodeInfo::warning(
        "msgfile::newer-format",
        "MF-4, MF-36",
        "the file has a newer format version",
    ),
    CodeInfo::error("msgfile::no-agent", "MF-37, MF-57", "no agent to answer"),
    CodeInfo::info("msgfile::no-final-newline", "MF-44", "the file does not end with a newline"),
    CodeInfo::error("msgfile::no-such-cell", "MF-37, MF-56", "no such cell"),
    CodeInfo::error("msgfile::too-many-cells", "MF-59", "too many cells for the size of the file"),
    CodeInfo::error("msgfile::nonce-exhausted", "MF-37", "all offered nonces are in use"),
    CodeInfo::error(
        "msgfile::not-activated",
        "MF-36",
        "the Markdown file has no record to append to",
    ),
    CodeInfo::error(
        "msgfile::not-a-message-file",
        "MF-3",
        "not a message file: it has another extension and no cells",
    ),
    CodeInfo::error("msgfile::not-replaceable", "MF-46", "not a regular file with a single name"),
    CodeInfo::warning("msgfile::nul-bytes", "MF-2", "NUL bytes in the file"),
    CodeInfo::warning("msgfile::orphan-exec-output", "MF-14", "the output belongs to no code cell"),
    CodeInfo::warning("msgfile::orphan-reply", "MF-26", "`reply_to` names no earlier cell"),
    CodeInfo::warning(
        "msgfile::orphan-summary",
        "MF-20",
        "the summary neither belongs to a cell nor covers any",
    ),
    CodeInfo::warning("msgfile::orphan-tool-call", "MF-14", "the call belongs to no turn"),
    CodeInfo::warning("msgfile::orphan-tool-result", "MF-14", "the result belongs to no call"),
    CodeInfo::warning("msgfile::output-before-message", "MF-26", "no earlier message to answer"),
    CodeInfo::error(
        "msgfile::output-file-escapes-directory",
        "MF-24",
        "`output_file` leaves the folder of the file",
    ),
    CodeInfo::error(
        "msgfile::section-not-found",
        "MF-5, MF-36",
        "the section that the frontmatter names is not in the file",
    ),
    CodeInfo::warning(
        "msgfile::section-title-repeated",
        "MF-5",
        "several headings have the section's name, this one is used",
    ),
    CodeInfo::warning(
        "msgfile::smart-quotes",
        "MF-11",
        "typographic quotes, read as straight quotes",
    ),
    CodeInfo::warning("msgfile::summary-covers-nothing", "MF-20", "`covers` names no earlier cell"),
    CodeInfo::warning(
        "msgfile::summary-missing",
        "MF-20",
        "the cell has no summary, its first paragraph is used",
    ),
    CodeInfo::warning(
        "msgfile::temp-agent-system-prompt-ignored",
        "MF-17",
        "only preset agents have a system prompt",
    ),
    CodeInfo::info(
        "msgfile::text-after-section",
        "MF-50",
        "the heading ends the section: later text is not sent to a model",
    ),
    CodeInfo::info("msgfile::time-not-rfc3339", "MF-25", "`time` is not an RFC 3339 date and time"),
    CodeInfo::error("msgfile::too-large", "MF-1", "the file exceeds the size limit"),
    CodeInfo::info("msgfile::tool-call-without-result", "MF-21", "the call has no result"),
    CodeInfo::warning(
        "msgfile::torn-tail",
        "MF-44",
        "truncated file: it ends inside a heading or definition",
    ),
    CodeInfo::warning(
        "msgfile::unclosed-fence",
        "MF-8",
        "unclosed fence before the next heading, ignored",
    ),
    CodeInfo::warning(
        "msgfile::unknown-message-type",
        "MF-14",
        "unknown message type, read as Markdown",
    ),
    CodeInfo::info("msgfile::unregistered-agent", "MF-14", "the agent is not registered"),
    CodeInfo::error(
        "msgfile::unterminated-quote",
        "MF-11",
        "unterminated quote, the value ends at the next white space",
    ),
    CodeInfo::error("msgfile::utf16-unsupported", "MF-2", "the file is UTF-16, expected UTF-8"),
    CodeInfo::error("msgfile::write-failed", "MF-42", "incomplete write, undone"),
    CodeInfo::warning(
        "msgfile::yaml-duplicate-key",
        "MF-4",
        "duplicate frontmatter key, the first one is used",
    ),
    CodeInfo::error(
        "msgfile::yaml-refused",
        "MF-4",
        "anchor, alias, tag or unsupported key in a frontmatter value",
    ),
];
