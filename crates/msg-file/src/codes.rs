//! What the diagnostic codes of this crate mean, which is also what is said of a finding. A sentence that
//! names something of the file is made where it is found, not here.

use msg_core::CodeInfo;

/// The codes of message files, for reading, writing and the store.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::warning(
        "msgfile::cell-lost",
        "MF-45",
        "a cell that was written is no longer in the file",
    ),
    CodeInfo::info("msgfile::editor-file", "MF-45", "an editor may have the file open"),
    CodeInfo::warning(
        "msgfile::no-sidecar",
        "MF-41",
        "no lock file can be made, so there is no journal",
    ),
    CodeInfo::warning(
        "msgfile::agent-bad-value",
        "MF-16, MF-17",
        "an attribute of an agent has a wrong value and is left out",
    ),
    CodeInfo::info(
        "msgfile::agent-implicit",
        "MF-14",
        "the output names no agent; the default agent's it is",
    ),
    CodeInfo::warning(
        "msgfile::agent-name-shadows-preset",
        "MF-17",
        "a temporary agent has the name of a preset one, which stays as it is",
    ),
    CodeInfo::error("msgfile::agent-unknown", "MF-28, MF-55", "no agent of that name takes part"),
    CodeInfo::info(
        "msgfile::agent-unknown-key",
        "MF-16",
        "a preset agent has an attribute that is not known",
    ),
    CodeInfo::warning(
        "msgfile::agent-unnamed",
        "MF-17",
        "the agent has neither name, title nor id",
    ),
    CodeInfo::warning(
        "msgfile::agents-bad-shape",
        "MF-16",
        "`agents` is neither a mapping of names to attributes nor a list of names and mappings with a `name`",
    ),
    CodeInfo::warning(
        "msgfile::attribute-junk",
        "MF-11",
        "something between the attributes is no attribute",
    ),
    CodeInfo::error(
        "msgfile::no-cell",
        "MF-60",
        "an edit of the messages that no cell of the file can take",
    ),
    CodeInfo::error("msgfile::bad-attribute", "MF-34", "an attribute could not be read back"),
    CodeInfo::error(
        "msgfile::bad-cell",
        "MF-34, MF-36, MF-39",
        "a cell could not be read back as it was meant",
    ),
    CodeInfo::error(
        "msgfile::bad-id",
        "MF-7, MF-34",
        "an id holds characters that an id may not have",
    ),
    CodeInfo::error("msgfile::bad-type", "MF-34", "a type could not be read back"),
    CodeInfo::error("msgfile::base64-invalid", "MF-24", "the body is no base64"),
    CodeInfo::info(
        "msgfile::body-indented-code",
        "MF-50",
        "the body begins indented and is shown as code",
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
        "the code cell has no fence; all of it is code",
    ),
    CodeInfo::warning(
        "msgfile::code-fence-unclosed",
        "MF-22",
        "the fence of the code cell is not closed; it goes to the end",
    ),
    CodeInfo::info(
        "msgfile::comma-separator",
        "MF-11",
        "attributes are separated by white space, not by commas",
    ),
    CodeInfo::warning(
        "msgfile::default-agent-unknown",
        "MF-17",
        "no agent of that name is known here",
    ),
    CodeInfo::warning(
        "msgfile::definition-detached",
        "MF-10",
        "the definition does not follow its heading",
    ),
    CodeInfo::warning(
        "msgfile::definition-in-footnote-block",
        "MF-10",
        "the definition stands in a footnote block",
    ),
    CodeInfo::warning(
        "msgfile::definition-missing",
        "MF-10",
        "the cell has an id but no definition",
    ),
    CodeInfo::info(
        "msgfile::definition-not-followed-by-blank",
        "MF-10",
        "the body begins directly below the definition",
    ),
    CodeInfo::warning(
        "msgfile::duplicate-attribute",
        "MF-11",
        "an attribute is there twice; the last one counts",
    ),
    CodeInfo::warning("msgfile::duplicate-id", "MF-15, MF-37", "an earlier cell has this id"),
    CodeInfo::warning("msgfile::duration-unparseable", "MF-25", "`duration` is no duration"),
    CodeInfo::info(
        "msgfile::ellipsis-ignored",
        "MF-11",
        "an ellipsis between the attributes is ignored",
    ),
    CodeInfo::info(
        "msgfile::exec-of-non-code-cell",
        "MF-14",
        "the output hangs below a cell that holds no code",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-bad-value",
        "MF-4",
        "a key of the frontmatter has a value of the wrong shape",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-invalid-yaml",
        "MF-4",
        "the frontmatter is no valid YAML and is not interpreted",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-not-mapping",
        "MF-4",
        "the frontmatter is no mapping and is not interpreted",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-too-deep",
        "MF-4",
        "the frontmatter is nested too deeply and is not interpreted",
    ),
    CodeInfo::error(
        "msgfile::frontmatter-too-large",
        "MF-4",
        "the frontmatter is too large and is not interpreted",
    ),
    CodeInfo::warning(
        "msgfile::frontmatter-unclosed",
        "MF-4",
        "the frontmatter has no closing line and is read as text",
    ),
    CodeInfo::warning(
        "msgfile::heading-missing-ref",
        "MF-10",
        "the heading has no id; its definition's is taken",
    ),
    CodeInfo::error(
        "msgfile::history-unknown-value",
        "MF-19",
        "`history` has an unknown value and is read as `exclude`",
    ),
    CodeInfo::warning(
        "msgfile::id-case-collision",
        "MF-50",
        "another cell's id differs in case only",
    ),
    CodeInfo::warning(
        "msgfile::id-mismatch",
        "MF-10",
        "heading and definition have different ids; the heading's counts",
    ),
    CodeInfo::warning("msgfile::invalid-utf8", "MF-2", "the bytes are no UTF-8"),
    CodeInfo::error("msgfile::io", "MF-42", "the file system refused something"),
    CodeInfo::error("msgfile::locked", "MF-41", "somebody else holds the lock of the file"),
    CodeInfo::warning(
        "msgfile::marker-before-section",
        "MF-5",
        "a marker before the section is text",
    ),
    CodeInfo::info("msgfile::marker-in-fence", "MF-8", "a marker inside a fence is text"),
    CodeInfo::info("msgfile::near-marker", "MF-6", "the line looks like a cell marker but is text"),
    CodeInfo::warning("msgfile::newer-format", "MF-4, MF-36", "the file is of a newer format"),
    CodeInfo::error("msgfile::no-agent", "MF-37, MF-57", "nobody is there to answer"),
    CodeInfo::info("msgfile::no-final-newline", "MF-44", "the file does not end with a newline"),
    CodeInfo::error(
        "msgfile::no-such-cell",
        "MF-37, MF-56",
        "there is no cell that could be meant",
    ),
    CodeInfo::error("msgfile::too-many-cells", "MF-59", "the file has too many cells for its size"),
    CodeInfo::error("msgfile::nonce-exhausted", "MF-37", "every nonce that was offered is taken"),
    CodeInfo::error(
        "msgfile::not-activated",
        "MF-36",
        "a Markdown file holds no record that could be appended to",
    ),
    CodeInfo::error(
        "msgfile::not-a-message-file",
        "MF-3",
        "a file of another kind, without any cell, is not written to",
    ),
    CodeInfo::error(
        "msgfile::not-replaceable",
        "MF-46",
        "the file is no regular file with one name",
    ),
    CodeInfo::warning("msgfile::nul-bytes", "MF-2", "there are NUL bytes"),
    CodeInfo::warning("msgfile::orphan-exec-output", "MF-14", "the output belongs to no code cell"),
    CodeInfo::warning("msgfile::orphan-reply", "MF-26", "`reply_to` names no earlier cell"),
    CodeInfo::warning(
        "msgfile::orphan-summary",
        "MF-20",
        "the summary neither belongs to a cell nor covers any",
    ),
    CodeInfo::warning("msgfile::orphan-tool-call", "MF-14", "the call belongs to no turn"),
    CodeInfo::warning("msgfile::orphan-tool-result", "MF-14", "the result belongs to no call"),
    CodeInfo::warning(
        "msgfile::output-before-message",
        "MF-26",
        "there is nothing earlier that this could answer",
    ),
    CodeInfo::error(
        "msgfile::output-file-escapes-directory",
        "MF-24",
        "`output_file` does not stay in the file's folder",
    ),
    CodeInfo::error(
        "msgfile::section-not-found",
        "MF-5, MF-36",
        "the section that the frontmatter names is not in the file",
    ),
    CodeInfo::warning(
        "msgfile::section-title-repeated",
        "MF-5",
        "several headings have the name of the section; this one counts",
    ),
    CodeInfo::warning(
        "msgfile::smart-quotes",
        "MF-11",
        "typographic quotes are read like straight ones",
    ),
    CodeInfo::warning("msgfile::summary-covers-nothing", "MF-20", "`covers` names no earlier cell"),
    CodeInfo::warning(
        "msgfile::summary-missing",
        "MF-20",
        "the cell has no summary; its first paragraph stands in",
    ),
    CodeInfo::warning(
        "msgfile::temp-agent-system-prompt-ignored",
        "MF-17",
        "only preset agents have a system prompt",
    ),
    CodeInfo::info(
        "msgfile::text-after-section",
        "MF-50",
        "the heading ends the section: from here on nothing is sent to a model",
    ),
    CodeInfo::info("msgfile::time-not-rfc3339", "MF-25", "`time` is no date and time of RFC 3339"),
    CodeInfo::error("msgfile::too-large", "MF-1", "the file is larger than allowed"),
    CodeInfo::info("msgfile::tool-call-without-result", "MF-21", "the call has no result"),
    CodeInfo::warning(
        "msgfile::torn-tail",
        "MF-44",
        "the file ends inside the last cell's heading or definition",
    ),
    CodeInfo::warning(
        "msgfile::unclosed-fence",
        "MF-8",
        "the fence is not closed before the next complete heading and protects nothing",
    ),
    CodeInfo::warning(
        "msgfile::unknown-message-type",
        "MF-14",
        "the type of the message is not known; it is read as markdown",
    ),
    CodeInfo::info("msgfile::unregistered-agent", "MF-14", "an agent is known by its name only"),
    CodeInfo::error(
        "msgfile::unterminated-quote",
        "MF-11",
        "a quote is not closed; the value ends at the next white space",
    ),
    CodeInfo::error("msgfile::utf16-unsupported", "MF-2", "the file is UTF-16; only UTF-8 is read"),
    CodeInfo::error("msgfile::write-failed", "MF-42", "a write stopped early and was taken back"),
    CodeInfo::warning(
        "msgfile::yaml-duplicate-key",
        "MF-4",
        "a key of the frontmatter is there twice, and the first one counts",
    ),
    CodeInfo::error(
        "msgfile::yaml-refused",
        "MF-4",
        "an interpreted key holds an anchor, alias, tag or odd key",
    ),
];
