//! Sizes of messages and parts in UTF-8 bytes (MS-27, CA-20, CA-21). Token counts are another
//! crate's.

use crate::{Audio, Content, File, Image, Message, Part, Reasoning, ToolCall, ToolResult};

impl Message {
    /// Size in bytes of what the model reads: the sum over the parts (CA-20). Role, name and extra
    /// members count nothing.
    pub fn size(&self) -> usize {
        self.parts.iter().map(Part::size).sum()
    }

    /// Size in bytes of reasoning texts, signatures and sealed payloads (CA-21), which
    /// [`Message::size`] leaves out.
    pub fn reasoning_size(&self) -> usize {
        self.parts.iter().map(Part::reasoning_size).sum()
    }
}

impl Part {
    /// Size in bytes (CA-20). O(1) but for nested content, base64 and opaque JSON.
    ///
    /// ```
    /// use msg_core::{Part, ToolCall};
    ///
    /// let call = ToolCall::new("call_1", "read", "{}");
    /// assert_eq!(Part::ToolCall(call).size(), "call_1functionread{}".len());
    /// ```
    pub fn size(&self) -> usize {
        match self {
            Part::Text(it) | Part::Refusal(it) => it.text.len(),
            Part::Reasoning(_) => 0,
            Part::Image(it) => it.size(),
            Part::Audio(it) => it.size(),
            Part::File(it) => it.size(),
            Part::ToolCall(it) => it.size(),
            Part::ToolResult(it) => it.size(),
            Part::Other(it) => it.value.compact_len(),
        }
    }

    /// Size in bytes of reasoning and signatures (CA-21).
    pub fn reasoning_size(&self) -> usize {
        match self {
            Part::Reasoning(it) => it.size(),
            Part::ToolCall(it) => len(&it.signature),
            Part::ToolResult(it) => it.content.parts().iter().map(Part::reasoning_size).sum(),
            _ => 0,
        }
    }
}

impl ToolCall {
    /// Size in bytes: id, kind, name and arguments (CA-20).
    pub fn size(&self) -> usize {
        self.id.len() + self.kind.as_str().len() + self.name.len() + self.arguments.text().len()
    }
}

impl ToolResult {
    /// Size in bytes: id, name and content (CA-20).
    pub fn size(&self) -> usize {
        self.call_id.len() + len(&self.name) + self.content.size()
    }
}

impl Content {
    /// Size in bytes: the sum over the parts (CA-20).
    pub fn size(&self) -> usize {
        self.parts().iter().map(Part::size).sum()
    }
}

impl Reasoning {
    /// Size in bytes of texts, signature and payloads (CA-21).
    fn size(&self) -> usize {
        let summary: usize = self.summary.iter().flatten().map(String::len).sum();
        len(&self.text)
            + summary
            + len(&self.signature)
            + len(&self.redacted)
            + len(&self.encrypted)
    }
}

impl Image {
    fn size(&self) -> usize {
        self.url.as_ref().or(self.file_id.as_ref()).map_or(0, String::len)
    }
}

impl Audio {
    fn size(&self) -> usize {
        self.data.as_ref().map_or_else(|| len(&self.id), |it| decoded_len(it))
    }
}

impl File {
    fn size(&self) -> usize {
        let reference = self.file_id.as_ref().or(self.url.as_ref());
        self.data.as_ref().map_or_else(|| reference.map_or(0, String::len), |it| decoded_len(it))
    }
}

fn len(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

/// Bytes that a base64 text decodes to: ⌊3k/4⌋ for its k characters without `=` and white space. The
/// head of a `data:` URL is not part of the text.
fn decoded_len(data: &str) -> usize {
    let text = match data.strip_prefix("data:").and_then(|it| it.split_once(',')) {
        Some((_, text)) => text,
        None => data,
    };
    let characters = text.bytes().filter(|it| *it != b'=' && !it.is_ascii_whitespace()).count();
    characters * 3 / 4
}
